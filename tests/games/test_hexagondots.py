"""Laws of Hexagon Dots, its wire, and what it says to the author of a bot."""

import pickle
from functools import partial
from itertools import pairwise, product
from random import Random
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from games.game import BadOption, Illegal, Outcome, typed
from games.hexagondots import (
    ENDS,
    GAME,
    MOST,
    HexagonDots,
    Line,
    Point,
    board,
    hexagons_shown,
    lines_shown,
    neighbours,
    owner,
    players_shown,
    scores,
)
from tests.effort import tries
from tests.games.play import random_match, refusal

SIZES = [(3, 3), (3, 4), (3, 5), (5, 3), (5, 5), (7, 6), (9, 4), (MOST, MOST)]
reason = partial(refusal, GAME)
each_size = pytest.mark.parametrize(("rows", "cols"), SIZES)


def sides(centre: Point) -> list[str]:
    """The six sides of a hexagon, as they are typed."""
    around = neighbours(centre)
    pairs = [
        (one, other) for one, other in product(around, around) if one < other and other in neighbours(one)
    ]
    return [GAME.short(pair) for pair in pairs]


def play(position: HexagonDots, *moves: str) -> HexagonDots:
    for move in moves:
        position = position.play(GAME.read(move, position))
    return position


def decoded(shown: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(shown))


@each_size
def test_a_board_has_as_many_lines_as_the_formula_says(rows: int, cols: int) -> None:
    long, short = (rows - 1) // 2, (rows + 1) // 2
    count = 2 * (rows - 1) * (cols - 1) + short * (cols - 2) + long * (cols - 1)
    assert len(list(GAME.start(rows, cols).moves())) == len(board(rows, cols).lines) == count


def test_the_smallest_board_has_twelve_lines_and_one_hexagon() -> None:
    assert len(board(3, 3).lines) == 12
    assert list(board(3, 3).centres) == [(1, 1)]


@each_size
def test_points_and_their_neighbours_are_those_of_the_rules(rows: int, cols: int) -> None:
    points = {(row, col) for row in range(rows) for col in range(cols if row % 2 else cols - 1)}
    assert board(rows, cols).points == points
    for r, c in points:
        s = (r + 1) % 2
        assert set(neighbours((r, c))) == {
            (r, c - 1), (r, c + 1), (r - 1, c + s - 1), (r - 1, c + s), (r + 1, c + s), (r + 1, c + s - 1)
        }  # fmt: skip
        assert list(neighbours((r, c))) == sorted(neighbours((r, c)))


@each_size
def test_moves_are_sorted_by_row_and_then_column(rows: int, cols: int) -> None:
    moves = list(GAME.start(rows, cols).moves())
    assert moves == sorted(moves)
    assert all(one < other for one, other in moves)


@each_size
def test_the_two_hexagons_beside_a_line_never_overlap(rows: int, cols: int) -> None:
    geometry = board(rows, cols)
    centres = {bit: centre for centre, bit in geometry.centres.items()}
    for line, bit in geometry.lines.items():
        hexagons = geometry.beside[line]
        assert len(hexagons) <= 2
        assert all(hexagon.sides & bit and hexagon.sides.bit_count() == 6 for hexagon in hexagons)
        assert all((hexagon.closes & geometry.every_line).bit_count() == 6 for hexagon in hexagons)
        if len(hexagons) == 2:
            one, other = (centres[hexagon.bit] for hexagon in hexagons)
            assert other not in neighbours(one)
            assert not hexagons[0].seen & hexagons[1].bit
            assert not hexagons[0].closes & hexagons[1].sides
            assert not hexagons[0].closes & hexagons[1].bit


def test_the_last_side_captures_and_draws_again() -> None:
    *five, last = sides((1, 1))
    position = play(GAME.start(5, 5), *five)
    assert (position.turn, scores(position)) == (1, (0, 0))
    position = play(position, last)
    assert (position.turn, scores(position)) == (1, (0, 1))
    assert play(position, "3,3 3,4").turn == 0  # and a line that captures nothing passes the turn


def test_one_line_that_completes_two_hexagons_is_two_points_and_one_more_turn() -> None:
    shared = "2,0 2,1"
    assert shared in sides((1, 1))
    assert shared in sides((3, 1))
    others = [side for side in sides((1, 1)) + sides((3, 1)) if side != shared]
    position = play(GAME.start(5, 3), *others, "1,1 2,0")
    assert (position.turn, scores(position)) == (1, (0, 0))
    position = play(position, shared)
    assert scores(position) == (0, 2)
    assert position.outcome == Outcome(1, "second captured more hexagons, 2 to 0")

    position = play(play(GAME.start(7, 5), *others), shared)  # the same, where the game goes on
    assert position.outcome is None
    assert (position.turn, scores(position)) == (0, (2, 0))
    position = play(position, "0,2 0,3")
    assert position.turn == 1


def test_only_the_first_of_two_hexagons_that_overlap_is_captured() -> None:
    last = "0,1 0,2"
    assert last in sides((1, 2))
    position = play(GAME.start(3, 5), *(side for side in sides((1, 2)) if side != last), *sides((1, 1)))
    assert sum(scores(position)) == 1
    after = play(position, last)
    hexagon = after.board.hexagons[1, 2]
    assert (after.first | after.second) & hexagon.sides == hexagon.sides  # all six are there, and yet
    assert scores(after) == scores(position)
    assert after.turn == 1 - position.turn


@pytest.mark.parametrize("spokes", [0, 3, 6])
def test_spokes_neither_help_nor_hinder(spokes: int) -> None:
    drawn = [GAME.short((min(point, (1, 1)), max(point, (1, 1)))) for point in neighbours((1, 1))][:spokes]
    *five, last = sides((1, 1))
    position = play(GAME.start(3, 3), *drawn, *five)
    assert scores(position) == (0, 0)
    assert sum(scores(play(position, last))) == 1


def test_the_game_ends_when_no_line_is_left_though_some_were_never_drawn() -> None:
    position = play(GAME.start(3, 3), *sides((1, 1)))
    assert position.outcome == Outcome(1, "second captured more hexagons, 1 to 0")
    assert list(position.moves()) == []
    assert (position.first | position.second).bit_count() == 6 + 1
    for line in board(3, 3).lines:
        assert reason(position, GAME.short(line)) == "the game is over"


@pytest.mark.parametrize("last", board(3, 4).lines)
def test_any_line_may_be_the_last_and_the_game_goes_on_until_it_is_drawn(last: Line) -> None:
    position = GAME.start(3, 4)
    while others := [move for move in position.moves() if move != last]:
        position = position.play(others[0])
    if position.outcome is None:
        position = position.play(last)
    else:
        assert any(end in board(3, 4).centres for end in last)  # a spoke: its hexagon was captured before
    assert position.outcome is not None


def test_under_hexagons_the_game_ends_when_no_hexagon_is_left_to_capture() -> None:
    """(1, 2) overlaps both others: with the first of these it is gone, with the second there is none."""
    *most, last = sides((1, 1)) + [side for side in sides((1, 3)) if side not in sides((1, 1))]
    position = play(GAME.start(3, 5, "hexagons"), *most)
    assert (sum(scores(position)), position.outcome) == (1, None)
    over = play(position, last)
    assert over.outcome == Outcome(None, "both captured as many hexagons, 1 each")
    assert list(over.moves()) == []
    still_open = play(GAME.start(3, 5), *most, last)
    assert still_open.outcome is None
    for line in board(3, 5).lines:
        assert reason(over, GAME.short(line)) == "the game is over"
    for line in still_open.moves():
        assert owner(over, board(3, 5).lines[line]) is None, "what was not drawn is not shown as drawn"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (3, 5), (5, 5), (7, 6)])
def test_filling_in_changes_no_score(rows: int, cols: int, seed: int) -> None:
    moves, positions = random_match(GAME, {"rows": rows, "cols": cols}, Random(seed))
    position = GAME.start(rows, cols, "hexagons")
    for move, usual in zip(moves, positions, strict=False):
        if position.outcome is not None:
            break
        assert (position.turn, scores(position)) == (usual.turn, scores(usual))
        assert list(position.moves()) == list(usual.moves())
        position = position.play(move)
    assert position.outcome == positions[-1].outcome
    assert scores(position) == scores(positions[-1])
    assert GAME.show(position, ("Ann", "Bob")).keys() == GAME.show(positions[-1], ("Ann", "Bob")).keys()


def test_positions_of_games_that_end_in_other_ways_are_not_equal() -> None:
    """Not even where both are over, with the same line."""
    usual, short = GAME.start(3, 3), GAME.start(3, 3, "hexagons")
    for side in sides((1, 1)):
        assert usual != short
        usual, short = play(usual, side), play(short, side)
    assert usual.outcome == short.outcome is not None
    assert usual != short
    assert play(GAME.start(3, 3, "hexagons"), *sides((1, 1))) == short == pickle.loads(pickle.dumps(short))  # noqa: S301 - our own bytes


def test_a_board_is_kept_once_however_its_games_end() -> None:
    boards = [GAME.start(MOST, MOST, end).board for end in ENDS]
    assert boards[0].lines is boards[1].lines
    assert boards[0].beside is boards[1].beside


def test_hexagons_are_worked_out_by_the_moves_that_need_them() -> None:
    """Anybody may ask for a board of any size, and all matches wait for it."""
    board.cache_clear()
    position = GAME.start(MOST, MOST)
    assert position.board.hexagons == {}
    for known, line in enumerate(list(position.moves())[::100], 1):
        position = position.play(line)
        assert len(position.board.hexagons) <= 2 * known


def test_equal_scores_are_a_draw() -> None:
    matches = (random_match(GAME, {"rows": 5, "cols": 5}, Random(seed)) for seed in range(50))
    drawn = [match.last for match in matches if match.last.outcome.winner is None]
    assert drawn
    for position in drawn:
        first, second = scores(position)
        assert first == second
        assert position.outcome.why == f"both captured as many hexagons, {first} each"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (3, 4), (5, 5), (7, 6)])
def test_a_match_keeps_the_laws_of_lines_and_hexagons(rows: int, cols: int, seed: int) -> None:
    moves, positions = random_match(GAME, {"rows": rows, "cols": cols}, Random(seed))
    geometry = board(rows, cols)
    for move, (before, after) in zip(moves, pairwise(positions), strict=True):
        gained = [now - then for then, now in zip(scores(before), scores(after), strict=True)]
        assert gained[1 - before.turn] == 0
        assert gained[before.turn] in (0, 1, 2)
        assert (after.turn == before.turn) == (gained[before.turn] > 0)
        captured = {centre for centre, bit in geometry.centres.items() if (after.first | after.second) & bit}
        assert not any(point in captured for centre in captured for point in neighbours(centre))
        open_lines = set(after.moves())
        assert move not in open_lines
        assert not any(point in captured for line in open_lines for point in line)
    over = positions[-1]
    first, second = scores(over)
    winner = None if first == second else 0 if first > second else 1
    assert over.outcome.winner == winner
    assert over.first & over.second == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(tries(1, 5)))
def test_what_may_be_played_is_exactly_what_is_listed(seed: int) -> None:
    points = [(row, col) for row in range(-1, 6) for col in range(-1, 5)]
    pairs: list[Line] = list(product(points, points))
    for position in random_match(GAME, {"rows": 5, "cols": 3}, Random(seed)).positions:
        legal = set(position.moves())
        for line in pairs:
            if line in legal:
                position.play(line)
            else:
                with pytest.raises(Illegal):
                    position.play(line)


def test_a_refusal_names_the_rule() -> None:
    position = play(GAME.start(5, 5), *sides((1, 1)), "3,3 3,4")
    assert reason(position, "0,0 0,1").startswith("0,0 0,1 is already drawn, by ")
    assert reason(position, "3,4 3,3") == "3,3 3,4 is already drawn, by second"
    assert reason(position, "1,1 1,2") == (
        "1,1 1,2 touches a captured hexagon: no line may end at its centre any more"
    )
    off = "the board has 5 rows of 4 and 5 points by turns"
    assert reason(position, "0,3 0,4") == f"row 0, column 4 is not on the board: {off}"
    assert reason(position, "4,0 5,0") == f"row 5, column 0 is not on the board: {off}"
    assert reason(position, "99,0 99,0") == f"row 99, column 0 is not on the board: {off}"
    assert reason(position, "2,2 2,2").startswith("2,2 2,2 is not a line")
    assert reason(position, "2,0 2,2") == "the points of 2,0 2,2 are not adjacent"
    assert reason(position, [{"row": -1, "col": 0}, {"row": 0, "col": 0}]) == (
        f"row -1, column 0 is not on the board: {off}"
    )
    huge = reason(position, [{"row": 10**5000, "col": 0}, {"row": 0, "col": 0}])
    assert huge == f"row a number of more than 60 digits, column 0 is not on the board: {off}"


def test_a_line_that_was_drawn_to_a_centre_is_refused_as_drawn_and_not_as_touching() -> None:
    position = play(GAME.start(5, 5), "1,1 1,2", *sides((1, 1)))
    assert reason(position, "1,1 1,2") == "1,1 1,2 is already drawn, by first"


def test_the_ends_of_a_line_may_come_in_any_order() -> None:
    position = GAME.start()
    ends = [{"row": 0, "col": 0}, {"row": 1, "col": 1}]
    line = ((0, 0), (1, 1))
    assert GAME.read(ends, position) == GAME.read(ends[::-1], position) == line
    assert GAME.read("0,0 1,1", position) == GAME.read(typed("1,1 0,0"), position) == line
    assert GAME.write(line) == ends
    assert GAME.short(line) == "0,0 1,1"
    big = GAME.start(MOST, MOST)
    for move in big.moves():
        assert GAME.read(decoded(GAME.write(move)), big) == GAME.read(GAME.short(move), big) == move


ZERO = {"row": 0, "col": 0}
JUNK: list[object] = [
    None, True, 0, 1, 1.0, 10**4000, "", "1", "1.0", "١", "+1", "1_0", "0,0", "0,0 0", "0,0 0,1 ", " 0,0 0,1",
    "0,0 0,1\n", "0,0  0,1", "0,0\t0,1", "0, 0 0,1", "0,0,0,1", "0,0 0,1 0,2", "00,0 0,1", "+0,0 0,1",
    "-0,0 0,1", "-1,0 0,0", "0,0 0,1_0", "0,0 0,١", "0,0 0,１", "0,0 0,1.0", "0,0 0,1x", "0,0 0,100",
    "0,0 0," + "1" * 4000,
    "0,0 " * 4000, "x" * 100_000, [], {}, [0, 0], [0, 0, 0, 1], [[0, 0], [0, 1]], ZERO, [ZERO], [ZERO] * 3,
    [ZERO, None], [ZERO, 1], [ZERO, []], [ZERO, {}], [ZERO, {"row": 0}], [ZERO, {"col": 1}], [ZERO, "0,1"],
    [ZERO, {"Row": 0, "Col": 1}], [ZERO] * 10_000,
    *([ZERO, {"row": 0, "col": bad}] for bad in (1.0, True, "1", None, [], [1], {}, "", "١", float("nan"))),
    *([{"row": bad, "col": 1}, ZERO] for bad in (0.0, False, "0", None, [], {})),
]  # fmt: skip


@pytest.mark.parametrize("sent", JUNK, ids=map(str, range(len(JUNK))))
def test_what_is_no_line_is_refused_with_what_is_expected(sent: object) -> None:
    with pytest.raises(Illegal) as refused:
        GAME.read(sent, GAME.start())
    assert str(refused.value).startswith(
        'expected the two ends of a line, [{"row":0,"col":0},{"row":0,"col":1}]'
    )
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("sent", "came"),
    [
        ([ZERO, {"row": 0}], "one end came as row 0 without a col"),
        ([{"col": 1}, ZERO], "one end came as col 1 without a row"),
        ([ZERO, {"row": 0, "col": 1.0}], "one end came as row 0, col 1.0"),
        ([{"row": "0", "col": 1}, ZERO], 'one end came as row "0", col 1'),
        ([ZERO, "0,1"], 'one end came as "0,1"'),
        ([ZERO, {}], "one end came as an object of 0"),
    ],
    ids=repr,
)
def test_the_end_that_is_not_a_point_is_named(sent: object, came: str) -> None:
    with pytest.raises(Illegal) as refused:
        GAME.read(sent, GAME.start())
    assert str(refused.value).endswith(", and " + came)


def test_a_number_that_is_no_row_or_column_is_read_but_not_played() -> None:
    for number in (10**4000, -(10**4000), 10**5000, 2**63, 31, -1):
        for far in ({"row": number, "col": 0}, {"row": 0, "col": number}):
            assert "is not on the board" in reason(GAME.start(), [ZERO, far])
            assert "is not on the board" in reason(GAME.start(), [far, ZERO])


def test_a_bad_number_of_rows_is_refused() -> None:
    for rows in (True, 5.0, "5", None, [], 0, 1, 2, 4, -3, 33, 10**5000):
        with pytest.raises(BadOption, match="rows has to be an odd number from 3 to 31, not "):
            GAME.opening({"rows": rows})


def test_a_bad_number_of_columns_is_refused() -> None:
    for cols in (True, 5.0, "5", None, [], 0, 2, -3, 32, 10**5000):
        with pytest.raises(BadOption, match="cols has to be a number from 3 to 31, not "):
            GAME.opening({"cols": cols})


def test_a_bad_end_is_refused_with_the_choices() -> None:
    wrong: list[object] = [
        None,
        True,
        1,
        10**5000,
        "",
        "Lines",
        "lines ",
        "hexagon",
        "x" * 10_000,
        [],
        {},
        ["lines"],
    ]
    for end in wrong:
        with pytest.raises(BadOption, match='end has to be "lines" or "hexagons", not ') as refused:
            GAME.opening({"end": end})
        assert len(str(refused.value)) < 120
    assert GAME.opening({"end": "lines"}) == GAME.opening({}) != GAME.opening({"end": "hexagons"})


def test_positions_are_equal_by_their_size_and_lines_wherever_their_board_came_from() -> None:
    position = play(GAME.start(5, 3), "0,0 0,1")
    board.cache_clear()
    again = play(GAME.start(5, 3), "0,0 0,1")
    assert position.board is not again.board
    assert position == again == pickle.loads(pickle.dumps(position))  # noqa: S301 - our own bytes
    assert hash(position) == hash(again)
    assert GAME.start(5, 3) != GAME.start(3, 5)
    assert GAME.start() == GAME.start(5, 5)


def test_the_game_object_of_the_wire() -> None:
    names = ("JF2", "JF1")
    assert decoded(GAME.show(GAME.start(5, 3), names)) == {
        "rows": 5,
        "cols": 3,
        "lines": [],
        "hexagons": [],
        "players": [{"name": "JF2", "score": 0}, {"name": "JF1", "score": 0}],
        "state": "in play",
    }
    over = play(GAME.start(3, 3), *reversed(sides((1, 1))))
    loser, winner = {"name": "JF2", "score": 0}, {"name": "JF1", "score": 1}

    def line(*ends: Point, owner: object) -> object:
        return {"endpoints": [{"row": row, "col": col} for row, col in ends], "owner": owner}

    assert decoded(GAME.show(over, names)) == {
        "rows": 3,
        "cols": 3,
        "lines": [
            line((0, 0), (0, 1), owner=winner),
            line((0, 0), (1, 0), owner=loser),
            line((0, 1), (1, 2), owner=winner),
            line((1, 0), (2, 0), owner=loser),
            line((1, 2), (2, 1), owner=winner),
            line((2, 0), (2, 1), owner=loser),
        ],
        "hexagons": [{"center": {"row": 1, "col": 1}, "owner": winner}],
        "players": [loser, winner],
        "state": "completed",
    }


@pytest.mark.parametrize("seed", range(5))
def test_what_came_since_an_earlier_position_adds_up_to_the_whole(seed: int) -> None:
    moves, positions = random_match(GAME, {"rows": 7, "cols": 5}, Random(seed))
    whole: Any = GAME.show(positions[-1], ("Ann", "Bob"))
    owners = players_shown(positions[-1], ("Ann", "Bob"))
    for step in (1, 7, len(moves)):
        cuts = [*positions[:-1:step], positions[-1]]
        lines = [line for before, after in pairwise(cuts) for line in lines_shown(before, after, owners)]
        hexagons = [
            found for before, after in pairwise(cuts) for found in hexagons_shown(before, after, owners)
        ]
        assert len(lines) == len(moves)
        for each, everything in ((lines, whole["lines"]), (hexagons, whole["hexagons"])):
            assert sorted(each, key=repr) == sorted(everything, key=repr)
        if step == 1:
            assert [shown["endpoints"] for shown in decoded(lines)] == [GAME.write(move) for move in moves]


@pytest.mark.parametrize("seed", range(5))
def test_the_evaluation_is_bounded_and_the_seats_see_it_alike(seed: int) -> None:
    assert GAME.evaluate is not None
    for position in random_match(GAME, {}, Random(seed)).positions:
        mirrored = HexagonDots(
            position.board, position.second, position.first, position.closed, 1 - position.turn
        )
        assert -1 <= GAME.evaluate(position) == -GAME.evaluate(mirrored) <= 1


def test_a_captured_hexagon_is_worth_more_than_one_that_could_be_captured() -> None:
    assert GAME.evaluate is not None
    *five, last = sides((1, 1))
    ready = play(GAME.start(), *five)  # second could take it
    assert GAME.evaluate(GAME.start()) == 0
    assert GAME.evaluate(play(ready, last)) < GAME.evaluate(ready) < 0


def test_a_hexagon_that_overlaps_a_captured_one_is_worth_nothing() -> None:
    assert GAME.evaluate is not None
    last = "0,1 0,2"
    for rest in ([], [last]):
        drawn = [side for side in sides((1, 2)) if side != last]
        position = play(GAME.start(3, 5), *drawn, *sides((1, 1)), *rest)
        assert abs(GAME.evaluate(position)) == 1 / 3  # the captured one of three


def picture(position: HexagonDots, last: Line | None = None) -> tuple[str, list[ElementTree.Element]]:
    parts = list(ElementTree.fromstring(GAME.draw(position, last)).iter())  # noqa: S314 - our own drawing
    return next(part.text or "" for part in parts if part.tag.endswith("title")), parts


def test_the_drawing_shows_points_lines_by_their_owner_captures_and_scores() -> None:
    position = play(GAME.start(5, 5), *sides((1, 1)))
    _, parts = picture(position)
    words = [part.text for part in parts if part.tag.endswith("text")]
    assert sum(part.tag.endswith("circle") for part in parts) == len(position.board.points)
    assert sum(part.tag.endswith("polygon") for part in parts) == 1
    assert "2nd" in words  # in the hexagon
    assert {"first 0", "second 1"} <= set(words)
    strokes = [part.attrib for part in parts if part.tag.endswith("line")]
    assert len(strokes) == 6 + 2  # two are the key
    for stroke in strokes:
        assert ("second" in stroke["stroke"]) == ("stroke-dasharray" in stroke)


def test_the_drawing_names_every_row_and_column() -> None:
    words = [part.text for part in picture(GAME.start(5, 7))[1] if part.tag.endswith("text")]
    for row in range(5):
        assert str(row) in words
    assert [words.count(str(number)) for number in range(8)] == [3, 3, 3, 3, 3, 2, 1, 0]


def test_the_drawing_marks_the_last_move() -> None:
    position = play(GAME.start(), "0,0 0,1", "0,1 1,2")
    last = ((0, 1), (1, 2))
    strokes = [part.attrib for part in picture(position, last)[1] if part.tag.endswith("line")]
    (mark,) = [stroke for stroke in strokes if "mark" in stroke["stroke"]]
    ends = ("x1", "y1", "x2", "y2")
    assert [mark[end] for end in ends] in [
        [stroke[end] for end in ends] for stroke in strokes if "second" in stroke["stroke"]
    ]
    assert not any("mark" in part.attrib.get("stroke", "") for part in picture(position)[1])


def test_the_title_says_the_state_in_words() -> None:
    assert picture(GAME.start())[0] == "Hexagon Dots, first to move: 0 of 49 lines drawn, score 0 to 0"
    assert picture(play(GAME.start(3, 3), *sides((1, 1))))[0] == (
        "Hexagon Dots, second captured more hexagons, 1 to 0: 6 of 12 lines drawn, score 0 to 1"
    )
