import java.util.*;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The legal moves of the five games, in their short form, from the turn that a bot is given and the bot's seat. */
public final class LegalMoves {
    private record Place(int x, int y) {
        Place plus(Place side) { return new Place(x + side.x, y + side.y); }
        boolean isBeside(Place other) { return Math.max(Math.abs(x - other.x), Math.abs(y - other.y)) == 1; }
    }

    private LegalMoves() {}

    public static List<String> of(String game, Quintain.Json turn, String you) {
        Quintain.Json state = turn.get("state");
        return switch (game) {
            case "tic-tac-toe" -> ticTacToe(state.get("board").items());
            case "connect-4" -> connect4(state.items());
            case "santorini" -> santorini(state.items(), turn.get("last").items(), you.equals("second") ? 1 : 0);
            case "quoridor" -> new Quoridor(state, you.equals("second") ? 1 : 0).moves();
            case "hexagon-dots" -> hexagonDots(state);
            default -> throw new IllegalArgumentException("there are no legal moves of " + game + " here");
        };
    }

    private static List<String> ticTacToe(List<Quintain.Json> board) {
        var names = List.of("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE");
        return names.stream().filter(name -> board.get(names.indexOf(name)).text().equals("null")).toList();
    }

    private static List<String> connect4(List<Quintain.Json> cells) {
        var open = IntStream.range(0, 7).filter(column -> cells.get(6 * column + 5).number() == 0); // its top is empty
        return open.mapToObj(String::valueOf).toList();
    }

    /** To build, the worker that has just moved is needed: the last move says where it stands. */
    private static List<String> santorini(List<Quintain.Json> state, List<Quintain.Json> last, int seat) {
        int[][] floors = rows(state.get(2));
        List<Place> workers = new ArrayList<>(), mine = new ArrayList<>();
        for (int each = 0; each < 2; each++) {
            var numbers = state.get(3 + each).items().get(1).items();
            for (int n = 0; n < numbers.size(); n += 2) {
                var worker = new Place(numbers.get(n).number(), numbers.get(n + 1).number());
                workers.add(worker);
                if (each == seat) mine.add(worker);
            }
        }
        var free = all(6, 6).filter(to -> floors[to.y][to.x] < 4 && !workers.contains(to)).toList();
        var moves = new ArrayList<String>();
        switch (state.get(0).string()) {
            case "placeWorker" -> free.forEach(to -> moves.add(to.x + " " + to.y));
            case "build" -> {
                var builder = new Place(last.get(1).number(), last.get(2).number());
                free.stream().filter(builder::isBeside).forEach(to -> moves.add(to.x + " " + to.y));
            }
            default -> {
                for (var from : mine)
                    for (var to : free)
                        if (from.isBeside(to) && floors[to.y][to.x] <= floors[from.y][from.x] + 1)
                            moves.add(mine.indexOf(from) + 1 + " " + to.x + " " + to.y);
            }
        }
        return moves;
    }

    /** Steps, and every wall that overlaps and crosses none and leaves both pawns a way. */
    private static final class Quoridor {
        private static final List<Place> SIDES =
            List.of(new Place(0, 1), new Place(1, 0), new Place(0, -1), new Place(-1, 0));
        private final Set<String> walls = new HashSet<>();
        private final List<Place> pawns;
        private final int seat, left;

        Quoridor(Quintain.Json state, int seat) {
            this.seat = seat;
            left = state.get("left").items().get(seat).number();
            state.get("walls").items().forEach(wall -> walls.add(wall.string()));
            pawns = state.get("pawns").items().stream().map(Quintain.Json::string)
                .map(name -> new Place(name.charAt(0) - 'a', name.charAt(1) - '1')).toList();
        }

        List<String> moves() {
            var moves = new ArrayList<>(steps(pawns.get(seat), pawns.get(1 - seat)).stream().map(to -> name(to.x, to.y)).toList());
            if (left > 0)
                all(8, 8).flatMap(at -> Stream.of('h', 'v').filter(way -> fits(at.x, at.y, way)).map(way -> name(at.x, at.y) + way))
                    .forEach(moves::add);
            return moves;
        }

        private boolean fits(int x, int y, char way) {
            int dx = way == 'h' ? 1 : 0, dy = 1 - dx;
            String wall = name(x, y) + way;
            if (walls.contains(wall) || walls.contains(name(x, y) + (way == 'h' ? 'v' : 'h'))
                || walls.contains(name(x + dx, y + dy) + way) || walls.contains(name(x - dx, y - dy) + way)) return false;
            walls.add(wall);
            boolean fits = arrives(pawns.get(0), 8) && arrives(pawns.get(1), 0);
            walls.remove(wall);
            return fits;
        }

        private List<Place> steps(Place mine, Place other) {
            var steps = new ArrayList<Place>();
            for (var side : SIDES) {
                if (!isOpen(mine, side)) continue;
                if (!mine.plus(side).equals(other)) steps.add(mine.plus(side));
                else if (isOpen(other, side)) steps.add(other.plus(side)); // straight over the other pawn …
                else // … or past it, where that is shut
                    for (var turned : List.of(new Place(side.y, side.x), new Place(-side.y, -side.x)))
                        if (isOpen(other, turned)) steps.add(other.plus(turned));
            }
            return steps;
        }

        /** Whether a step leads to the next square on that side: neither the rim nor a wall is between. */
        private boolean isOpen(Place from, Place side) {
            var to = from.plus(side);
            if (to.x < 0 || to.x > 8 || to.y < 0 || to.y > 8) return false;
            int x = Math.min(from.x, to.x), y = Math.min(from.y, to.y);
            return side.x != 0
                ? !walls.contains(name(x, y) + 'v') && !walls.contains(name(x, y - 1) + 'v')
                : !walls.contains(name(x, y) + 'h') && !walls.contains(name(x - 1, y) + 'h');
        }

        private boolean arrives(Place pawn, int goal) {
            var seen = new HashSet<>(Set.of(pawn));
            for (var look = new ArrayDeque<>(seen); !look.isEmpty();) {
                var here = look.pop();
                if (here.y == goal) return true;
                for (var side : SIDES)
                    if (isOpen(here, side) && seen.add(here.plus(side))) look.push(here.plus(side));
            }
            return false;
        }

        private static String name(int x, int y) {
            return (char) ('a' + x) + "" + (y + 1);
        }
    }

    /** Lines that are not drawn yet and end at no captured centre. */
    private static List<String> hexagonDots(Quintain.Json state) {
        int rows = state.get("rows").number(), cols = state.get("cols").number();
        Set<String> drawn = new HashSet<>(), there = new LinkedHashSet<>();
        all(rows, cols).filter(at -> at.y < cols - 1 + at.x % 2).forEach(at -> there.add(at.x + "," + at.y));
        state.get("hexagons").items().forEach(hexagon -> there.remove(point(hexagon.get("center"))));
        for (var line : state.get("lines").items()) {
            var ends = line.get("endpoints").items();
            drawn.add(point(ends.get(0)) + " " + point(ends.get(1)));
        }
        return there.stream().flatMap(from -> {
            int row = Integer.parseInt(from.split(",")[0]), col = Integer.parseInt(from.split(",")[1]), below = col - row % 2;
            var ends = Stream.of(row + "," + (col + 1), row + 1 + "," + below, row + 1 + "," + (below + 1));
            return ends.filter(there::contains).map(to -> from + " " + to).filter(line -> !drawn.contains(line));
        }).toList();
    }

    private static String point(Quintain.Json point) {
        return point.get("row").text() + "," + point.get("col").text();
    }

    private static int[][] rows(Quintain.Json rows) {
        return rows.items().stream().map(row -> row.items().stream().mapToInt(Quintain.Json::number).toArray()).toArray(int[][]::new);
    }

    /** Every pair of numbers below these two. */
    private static Stream<Place> all(int width, int height) {
        return IntStream.range(0, width * height).mapToObj(n -> new Place(n / height, n % height));
    }
}
