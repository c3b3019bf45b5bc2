import java.io.IOException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A bot for any of the games: any legal move. Better ideas go into {@link #choose}.
 *
 * <p>QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called; an argument names another game.
 */
public final class Bot {
    private static final String GAME = "connect-4";

    /** Returns one of the moves, which are all that may be played; {@code turn.get("state")} is the position. */
    static String choose(Quintain.Json turn, List<String> moves) {
        return moves.get(ThreadLocalRandom.current().nextInt(moves.size()));
    }

    public static void main(String[] arguments) throws InterruptedException {
        String game = arguments.length > 0 ? arguments[0] : GAME;
        try {
            new Quintain(game, (turn, you) -> choose(turn, LegalMoves.of(game, turn, you))).play();
        } catch (IOException error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
    }
}
