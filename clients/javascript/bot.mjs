// A bot for any of the games: any legal move. Better ideas go into `choose`.
//
//     node bot.mjs              against a host on this machine
//     node bot.mjs santorini    another game
//
// QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called.
import { play } from "./quintain.mjs";
import { legalMoves } from "./legal_moves.mjs";

const GAME = "connect-4";

/** `turn.state` is the position, `moves` are all that may be played: return one of them. */
function choose(turn, moves) {
  return moves[Math.floor(Math.random() * moves.length)];
}

const game = process.argv[2] ?? GAME;
try {
  await play(game, (turn) => choose(turn, legalMoves(game, turn)));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
