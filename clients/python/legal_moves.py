"""The legal moves of the five games, in their short form, from the `turn` that `choose` is given.

Copy it next to your bot, or write your own: `legal_moves("connect-4", turn)` returns `[0, 1, 2, …]`.
"""

SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def legal_moves(game, turn):
    return MOVES[game](turn)


def tic_tac_toe(turn):
    names = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
    return [names[field] for field, symbol in enumerate(turn["state"]["board"]) if symbol is None]


def connect_4(turn):
    return [column for column in range(7) if turn["state"][6 * column + 5] == 0]  # its top is empty


def santorini(turn):
    """To build, the worker that has just moved is needed: `last` says where it stands."""
    status, _, floors, first, second = turn["state"]
    taken = {tuple(workers[n : n + 2]) for _, workers in (first, second) for n in range(0, len(workers), 2)}
    free = [(x, y) for x in range(6) for y in range(6) if (x, y) not in taken and floors[y][x] < 4]
    if status == "placeWorker":
        return [f"{x} {y}" for x, y in free]
    if status == "build":
        _, x, y = turn["last"]
        return [f"{to[0]} {to[1]}" for to in free if _near((x, y), to)]
    mine = (second if turn["you"] == "second" else first)[1]
    return [
        f"{worker} {to[0]} {to[1]}"
        for worker, (x, y) in ((1, mine[:2]), (2, mine[2:]))
        for to in free
        if _near((x, y), to) and floors[to[1]][to[0]] <= floors[y][x] + 1
    ]


def _near(one, other):
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) == 1


def quoridor(turn):
    """Steps, and every wall that overlaps and crosses none and leaves both pawns a way."""
    state, seat = turn["state"], int(turn["you"] == "second")
    walls = {(ord(wall[0]) - 97, int(wall[1]) - 1, wall[2]) for wall in state["walls"]}
    pawns = [(ord(square[0]) - 97, int(square[1]) - 1) for square in state["pawns"]]
    steps = [_square(to) for to in _steps(walls, pawns[seat], pawns[1 - seat])]
    if state["left"][seat] == 0:
        return steps
    places = [(column, row, way) for column in range(8) for row in range(8) for way in "hv"]
    return steps + [_square(wall) + wall[2] for wall in places if _fits(walls, wall, pawns)]


def _fits(walls, wall, pawns):
    if walls & _clashes(*wall):
        return False
    return _arrives(walls | {wall}, pawns[0], 8) and _arrives(walls | {wall}, pawns[1], 0)


def _square(place):
    return "abcdefghi"[place[0]] + str(place[1] + 1)


def _clashes(column, row, way):
    across, along = (1, 0) if way == "h" else (0, 1)
    ends = {(column + n * across, row + n * along, way) for n in (-1, 0, 1)}
    return ends | {(column, row, "v" if way == "h" else "h")}


def _is_open(walls, square, side):
    """Whether a step leads to the next square on that side: neither the rim nor a wall is between."""
    column, row = square[0] + min(side[0], 0), square[1] + min(side[1], 0)
    if not (0 <= square[0] + side[0] < 9 and 0 <= square[1] + side[1] < 9):
        return False
    if side[0]:
        return not walls & {(column, row, "v"), (column, row - 1, "v")}
    return not walls & {(column, row, "h"), (column - 1, row, "h")}


def _steps(walls, mine, other):
    for side in SIDES:
        to = (mine[0] + side[0], mine[1] + side[1])
        if not _is_open(walls, mine, side):
            continue
        if to != other:
            yield to
        elif _is_open(walls, other, side):  # straight over the other pawn …
            yield (to[0] + side[0], to[1] + side[1])
        else:  # … or past it, where that is shut
            for turned in ((side[1], side[0]), (-side[1], -side[0])):
                if _is_open(walls, other, turned):
                    yield (to[0] + turned[0], to[1] + turned[1])


def _arrives(walls, pawn, goal):
    seen, look = {pawn}, [pawn]
    while look:
        here = look.pop()
        if here[1] == goal:
            return True
        around = [(here[0] + dx, here[1] + dy) for dx, dy in SIDES if _is_open(walls, here, (dx, dy))]
        look += [to for to in around if to not in seen]
        seen.update(around)
    return False


def hexagon_dots(turn):
    """Lines that are not drawn yet and end at no captured centre."""
    state = turn["state"]
    drawn = {tuple((end["row"], end["col"]) for end in line["endpoints"]) for line in state["lines"]}
    shut = {(hexagon["center"]["row"], hexagon["center"]["col"]) for hexagon in state["hexagons"]}
    points = [(row, col) for row in range(state["rows"]) for col in range(state["cols"] - 1 + row % 2)]
    there = set(points) - shut
    return [
        f"{row},{col} {to[0]},{to[1]}"
        for row, col in points
        if (row, col) in there
        for to in ((row, col + 1), (row + 1, col - row % 2), (row + 1, col - row % 2 + 1))
        if to in there and ((row, col), to) not in drawn
    ]


MOVES = {
    "tic-tac-toe": tic_tac_toe,
    "connect-4": connect_4,
    "santorini": santorini,
    "quoridor": quoridor,
    "hexagon-dots": hexagon_dots,
}
