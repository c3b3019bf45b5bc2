"""Laws of Santorini, its wire, and what it says to the author of a bot."""

from collections.abc import Iterator
from functools import partial
from itertools import permutations
from random import Random
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from games import santorini
from games.game import BadOption, Illegal, Outcome, typed
from games.santorini import BIT, GAME, SIZE, Move, Santorini, levels, status, workers
from tests.effort import tries
from tests.games.play import random_match, refusal

FLAT = ("000000",) * SIZE
reason = partial(refusal, GAME)


def board(rows: tuple[str, ...], first: str, second: str, turn: int = 0, stuck: str = "loses") -> Santorini:
    """A position before a worker's move: floors row by row, and where the workers stand ("0 0, 2 3")."""
    floors = santorini.FLAT
    for y, row in enumerate(rows):
        for x, height in enumerate(row):
            for _ in range(int(height)):
                floors = santorini.raised(floors, BIT[x, y])
    standing = [
        tuple(BIT[tuple(map(int, place.split()))] for place in places.split(", "))
        for places in (first, second)
    ]
    return Santorini(floors, standing[turn], standing[1 - turn], turn, 0, stuck)


def play(position: Santorini, *moves: str) -> Santorini:
    for move in moves:
        position = position.play(GAME.read(move, position))
    return position


def plies(seed: int) -> Iterator[tuple[Santorini, Move, Santorini]]:
    """A random match: each position, the move, and the position after it."""
    match = random_match(GAME, {}, Random(seed))
    return zip(match.positions, match.moves, match.positions[1:], strict=False)


PLACED = play(GAME.start(), "1 1", "4 4", "1 4", "4 1")
BUILDING = play(PLACED, "1 2 2")
PHASES = {"placeWorker": GAME.start(), "moveWorker": PLACED, "build": BUILDING}


def test_seats_alternate_in_placing_and_then_move_and_build_before_the_other_does() -> None:
    turns = [(before.turn, status(before)) for before, _, _ in plies(1)]
    assert turns[:4] == [(0, "placeWorker"), (1, "placeWorker")] * 2
    pairs = [(seat, what) for seat in (0, 1) for what in ("moveWorker", "build")]
    assert turns[4:] == (pairs * len(turns))[: len(turns) - 4]


def test_workers_keep_the_number_of_their_placement() -> None:
    position = play(PLACED, "2 2 5", "2 4")
    assert workers(position) == ((BIT[1, 1], BIT[2, 5]), (BIT[4, 4], BIT[4, 1]))
    assert santorini.built(position.floors) == (BIT[2, 4], 0, 0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_every_match_ends_and_a_build_adds_one_floor_and_nothing_else_does(seed: int) -> None:
    match = list(plies(seed))
    for before, move, after in match:
        for field, bit in BIT.items():
            built = status(before) == "build" and field == move
            assert levels(after, bit) == levels(before, bit) + built
    assert match[-1][-1].outcome is not None
    assert len(match) <= 4 + 2 * 4 * SIZE * SIZE  # each turn uses up one floor of those there can be


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(tries(1, 5)))
def test_what_may_be_played_is_exactly_what_is_listed(seed: int) -> None:
    everything: list[Move] = [(x, y) for x in range(-1, 7) for y in range(-1, 7)]
    everything += [(w, x, y) for w in range(4) for x, y in everything]
    *match, over = random_match(GAME, {}, Random(seed)).positions
    for position in match:
        legal = list(position.moves())
        assert len(legal) == len(set(legal))
        for move in everything:
            if move in legal:
                position.play(move)
            else:
                with pytest.raises(Illegal):
                    position.play(move)
    for move in everything:
        with pytest.raises(Illegal, match="the game is over"):
            over.play(move)


@pytest.mark.parametrize("seed", range(20))
def test_there_is_always_something_to_build_on_the_field_that_was_left(seed: int) -> None:
    for before, move, after in plies(seed):
        if len(move) == 3 and after.outcome is None:
            left = before.mine[move[0] - 1]
            assert levels(before, left) <= 2
            assert left in {BIT[field] for field in after.moves()}


@pytest.mark.parametrize("corner", [(0, 0), (4, 0), (0, 4), (4, 4)])
def test_nobody_is_stuck_once_all_stand_not_even_crowded_into_a_corner(corner: tuple[int, int]) -> None:
    fields = [(corner[0] + dx, corner[1] + dy) for dx in (0, 1) for dy in (0, 1)]
    for places in permutations(fields):
        position = play(GAME.start(), *(GAME.short(place) for place in places))
        assert position.outcome is None
        assert list(position.moves())


@pytest.mark.parametrize("below", range(3))
@pytest.mark.parametrize("above", range(5))
def test_a_worker_climbs_one_floor_at_most_and_comes_down_any_number(below: int, above: int) -> None:
    position = board((f"{below}{above}0000", *FLAT[1:]), "0 0, 5 5", "5 0, 4 0")
    if above <= below + 1 and above < 4:
        after = play(position, "1 1 0")
        assert after.mine == (BIT[1, 0], BIT[5, 5])
        assert (after.outcome is not None) == (above == 3)
    elif above == 4:
        assert reason(position, "1 1 0") == "1 0 has 4 floors: nobody builds there or goes there any more"
    else:
        assert reason(position, "1 1 0") == (
            f"1 0 has {above} floors and worker 1 at 0 0 stands on {below}: one floor up at most"
        )


@pytest.mark.parametrize("turn", [0, 1])
def test_whoever_steps_on_the_third_floor_has_won_without_a_build(turn: int) -> None:
    rows = ("230000", *FLAT[1:])
    standing = ["0 0, 5 5", "5 0, 4 0"]
    position = play(board(rows, standing[turn], standing[1 - turn], turn), "1 1 0")
    assert position.outcome == Outcome(turn, f"{GAME.seats[turn]} stands on the third floor")
    assert list(position.moves()) == []
    assert status(position) == "gameOver"


def test_a_worker_builds_beside_itself_and_never_on_anybody_or_on_a_dome() -> None:
    rows = ("000000", "043200", *FLAT[2:])
    position = play(board(rows, "1 3, 5 5", "2 3, 4 0"), "1 1 2")
    assert reason(position, "1 1") == "1 1 has 4 floors: nobody builds there or goes there any more"
    assert reason(position, "2 3") == "2 3 is taken by worker 1 of second"
    assert reason(position, "1 2") == "1 2 is taken by worker 1 of first"
    assert reason(position, "3 1") == "3 1 is not next to worker 1 at 1 2"
    assert reason(position, "4 5") == "4 5 is not next to worker 1 at 1 2"  # though worker 2 is there
    assert levels(play(position, "2 1"), BIT[2, 1]) == 4
    assert levels(play(position, "1 3"), BIT[1, 3]) == 1


def test_a_refusal_to_move_or_place_says_which_rule() -> None:
    assert reason(PLACED, "1 1 3") == "1 3 is not next to worker 1 at 1 1"
    assert reason(PLACED, "2 1 4") == "1 4 is taken by worker 2 of first"
    assert reason(PLACED, "2 4 1") == "4 1 is taken by worker 2 of second"
    assert reason(play(GAME.start(), "3 3"), "3 3") == "3 3 is taken by worker 1 of first"


@pytest.mark.parametrize(("stuck", "winner"), [("loses", 0), ("draws", None)])
def test_whoever_cannot_move_at_the_beginning_of_a_turn_loses_or_draws_as_was_chosen(
    stuck: str, winner: int | None
) -> None:
    rows = ("001000", "222000", *FLAT[2:])
    position = play(board(rows, "3 1, 5 5", "0 0, 1 0", stuck=stuck), "1 3 0")
    free = play(position, "4 0")
    assert free.outcome is None
    assert list(free.moves()) == [(2, 2, 0)]
    over = play(position, "2 0")
    assert over.outcome is not None
    assert over.outcome.winner == winner
    assert over.outcome.why.startswith("second cannot move")
    assert list(over.moves()) == []
    shown: Any = GAME.show(over, ("Ann", "Bob"))
    assert shown[:2] == ["gameOver", "Ann" if winner == 0 else "Draw"]


def test_one_worker_that_can_move_is_enough() -> None:
    rows = ("020000", "220000", *FLAT[2:])
    for second, worker in (("0 0, 0 5", 2), ("0 5, 0 0", 1)):
        position = play(board(rows, "4 4, 5 5", second), "1 4 3", "4 4")
        assert position.outcome is None
        assert {move[0] for move in position.moves()} == {worker}


def test_an_unknown_way_to_end_is_refused_with_what_there_is() -> None:
    for stuck in (True, 1, None, "", "wins", "Loses", ["loses"], {"loses": 1}, 10**5000):
        with pytest.raises(BadOption, match='stuck has to be "loses" or "draws", not '):
            GAME.opening({"stuck": stuck})


def test_the_option_is_part_of_the_value() -> None:
    assert GAME.opening({"stuck": "loses"}) == GAME.start()
    assert GAME.opening({"stuck": "draws"}) != GAME.start()


JUNK: list[object] = [
    None, True, False, 0, 1, 1.0, -1, 10**5000, float("inf"), "", " ", "1", "1.0", "a b", "٢ ٣", "١", "+1",
    "1_0", "+1 2", "1_0 2", "-1 0", "0 -0", "00 1", "1  1", "1\t1", " 1 1", "1 1 ", "1 1\n", "1 1\r", "1,1",
    "[1,1]", "1 1 1 1", "6 0", "0 6", "1 1 6", "0 1 1", "3 1 1", "9" * 4000, "1 " * 4000, "1 1\0", "１ １",
    "x" * 100_000,
    [], [1], [1, 1, 1, 1], [1.0, 1], [1, True], [True, 1, 1], ["1", "1"], [None, 1], [[1, 1]], [1, [1]],
    [6, 0], [0, 6], [-1, 0], [10**5000, 1], [1, 1, 10**5000], [0, 1, 1], [3, 1, 1], [1, 1.0, 1], [1, 1, -1],
    [1] * 10_000, {}, {"x": 1, "y": 1}, {"move": [1, 1]}, [{"x": 1}, 1],
]  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("sent", JUNK, ids=map(str, range(len(JUNK))))
def test_what_is_no_move_is_refused_with_what_is_expected_now(phase: str, sent: object) -> None:
    text, listed, what = ("w x y", "w,x,y", "worker") if phase == "moveWorker" else ("x y", "x,y", "field")
    lists = "" if isinstance(sent, str) else f" or [{listed}]"  # "[1,1]" is refused, and not expected
    expected = f'"{text}"{lists}, a {what}'
    with pytest.raises(Illegal) as refused:
        GAME.read(sent, PHASES[phase])
    assert str(refused.value).startswith(f"expected {expected}")
    assert len(str(refused.value)) < 250


def test_a_move_of_another_phase_is_refused_with_what_is_expected_now() -> None:
    for sent in ("1 1 2", [1, 1, 2]):
        assert "a field for a worker" in reason(GAME.start(), sent)
        assert "a field to build on" in reason(BUILDING, sent)
    for sent in ("1 1", [1, 1]):
        assert "a worker, 1 or 2, and the field it moves to" in reason(PLACED, sent)
    over = play(board(("230000", *FLAT[1:]), "0 0, 5 5", "5 0, 4 0"), "1 1 0")
    for sent in ("1 1", "1 1 1", [1, 1], None):
        assert reason(over, sent) == "the game is over"


def test_lists_and_strings_are_read_alike() -> None:
    for position, sent, words in [
        (GAME.start(), [2, 3], "2 3"),
        (PLACED, [1, 2, 2], "1 2 2"),
        (BUILDING, [3, 3], "3 3"),
    ]:
        move = GAME.read(sent, position)
        assert move == GAME.read(words, position) == GAME.read(typed(words), position)
        assert GAME.write(move) == sent
        assert GAME.short(move) == words


def test_the_array_of_the_wire_follows_the_match() -> None:
    def shown(position: Santorini) -> list[Any]:
        return msgspec.json.decode(msgspec.json.encode(GAME.show(position, ("Ann", "Bob"))))

    flat = [[0] * 6] * 6
    position = GAME.start()
    assert shown(position) == ["placeWorker", "Ann", flat, ["Ann", []], ["Bob", []]]
    position = play(position, "0 1")
    assert shown(position) == ["placeWorker", "Bob", flat, ["Ann", [0, 1]], ["Bob", []]]
    position = play(position, "5 5", "2 3", "4 1")
    assert shown(position) == ["moveWorker", "Ann", flat, ["Ann", [0, 1, 2, 3]], ["Bob", [5, 5, 4, 1]]]
    position = play(position, "1 1 1")
    assert shown(position) == ["build", "Ann", flat, ["Ann", [1, 1, 2, 3]], ["Bob", [5, 5, 4, 1]]]
    position = play(position, "2 0")
    floors = [[0, 0, 1, 0, 0, 0], *flat[1:]]  # a row is a y
    assert shown(position) == ["moveWorker", "Bob", floors, ["Ann", [1, 1, 2, 3]], ["Bob", [5, 5, 4, 1]]]


def test_the_end_is_shown_with_the_winner_in_the_place_of_the_turn() -> None:
    rows = ("230000", *FLAT[1:])
    for turn, name in enumerate(("Ann", "Bob")):
        standing = ["0 0, 5 5", "5 0, 4 0"]
        over = play(board(rows, standing[turn], standing[1 - turn], turn), "1 1 0")
        shown: Any = GAME.show(over, ("Ann", "Bob"))
        assert shown[:2] == ["gameOver", name]


@pytest.mark.parametrize("seed", range(5))
def test_the_evaluation_is_bounded_and_the_seats_see_it_alike(seed: int) -> None:
    assert GAME.evaluate is not None
    assert GAME.evaluate(GAME.start()) == GAME.evaluate(PLACED) == 0
    for _, _, position in plies(seed):
        mirrored = Santorini(position.floors, position.mine, position.theirs, 1 - position.turn)
        assert -1 <= GAME.evaluate(position) == -GAME.evaluate(mirrored) <= 1


def test_standing_higher_is_better() -> None:
    rows = ("000000", "020000", "000000", "000000", "000020", "000000")
    assert GAME.evaluate is not None
    assert GAME.evaluate(board(rows, "1 1, 1 4", "4 1, 3 4")) > 0.1
    assert GAME.evaluate(board(rows, "4 1, 3 4", "1 1, 1 4", turn=1)) < -0.1


def picture(position: Santorini, last: Move | None = None) -> tuple[str, list[ElementTree.Element]]:
    svg = list(ElementTree.fromstring(GAME.draw(position, last)).iter())  # noqa: S314 - our own drawing
    title = next(part.text or "" for part in svg if part.tag.endswith("title"))
    return title, svg


def test_the_drawing_shows_floors_as_nested_squares_with_their_number_and_a_dome_for_the_fourth() -> None:
    rows = ("123400", *FLAT[1:])
    bare, built = (
        picture(board(FLAT, "0 5, 1 5", "2 5, 3 5"))[1],
        picture(board(rows, "0 5, 1 5", "2 5, 3 5"))[1],
    )

    def count(parts: list[ElementTree.Element], tag: str) -> int:
        return sum(part.tag.endswith(tag) for part in parts)

    assert count(built, "rect") - count(bare, "rect") == 1 + 2 + 3 + 3
    assert count(built, "circle") - count(bare, "circle") == 1
    assert count(built, "text") - count(bare, "text") == 4


def test_the_drawing_tells_the_seats_apart_by_shape_and_labels_their_workers() -> None:
    _, parts = picture(PLACED)
    discs = [part for part in parts if part.tag.endswith("circle")]
    squares = [part for part in parts if part.tag.endswith("rect") and "first" not in part.attrib["fill"]]
    assert ["first" in disc.attrib["fill"] for disc in discs] == [True, True]
    centres = {(float(disc.attrib["cx"]), float(disc.attrib["cy"])) for disc in discs}
    assert centres == {(67 + 70 * x, 67 + 70 * y) for x, y in ((1, 1), (1, 4))}
    assert sum("second" in part.attrib["fill"] for part in squares) == 2
    labels = [part.text for part in parts if part.tag.endswith("text") and "ground" in part.attrib["fill"]]
    assert sorted(labels) == ["1", "1", "2", "2"]


@pytest.mark.parametrize("position", [PLACED, BUILDING], ids=["placed", "moved"])
def test_the_drawing_marks_the_last_move(position: Santorini) -> None:
    last = (4, 1) if position is PLACED else (1, 2, 2)
    marks = [part for part in picture(position, last)[1] if "mark" in part.attrib.get("stroke", "")]
    x, y = last[-2:]
    assert [(float(mark.attrib["x"]), float(mark.attrib["y"])) for mark in marks] == [
        (34 + 70 * x, 34 + 70 * y)
    ]
    assert not any("mark" in part.attrib.get("stroke", "") for part in picture(position)[1])


def test_the_title_says_the_state_in_words() -> None:
    assert picture(GAME.start())[0] == (
        "Santorini, first to place a worker: first on no field, second on no field; 0 floors built"
    )
    assert picture(BUILDING)[0] == (
        "Santorini, first to build: first on 2 2 and 1 4, second on 4 4 and 4 1; 0 floors built"
    )
    assert picture(play(BUILDING, "3 3"))[0].startswith("Santorini, second to move: ")
    assert picture(play(BUILDING, "3 3"))[0].endswith("; 1 floor built")
    over = play(board(("230000", *FLAT[1:]), "0 0, 5 5", "5 0, 4 0"), "1 1 0")
    assert picture(over)[0].startswith("Santorini, first stands on the third floor: ")
