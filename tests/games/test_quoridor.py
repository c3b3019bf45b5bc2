"""Laws of Quoridor, its notation, what it says to the author of a bot, and what its dearest check costs.

`steps_to` is the rule on ways to the goal put as plainly as can be: names of
squares, sets, and one square after another.
"""

from functools import partial
from itertools import combinations
from math import exp
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import svg
from games.game import Illegal, Outcome, Pace, typed
from games.quoridor import GAME, SQUARE, SQUARES, WALLS, Quoridor, distance, evaluate
from tests.effort import IS_CAMPAIGN, tries
from tests.games.play import refusal
from tests.steps import steps_taken

Walls = frozenset[str]

PARTS = {"columns": ["abcdefgh", "abc", "cdef", "fgh"], "rows": ["12345678", "123", "3456", "678"]}
DIRECTIONS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
GOAL_ROWS = ("9", "1")
RING = ["a4h", "c4h", "e4h", "g4h", "h5v", "h6h"]  # from rim to rim: whichever is last shuts off both
TRIES = 1000  # changes to a maze
reason = partial(refusal, GAME)


def position(
    first: str = "e1", second: str = "e9", walls: str = "", left: tuple[int, int] = (10, 10), turn: int = 0
) -> Quoridor:
    bits = sum(WALLS[name].bit for name in walls.split())
    return Quoridor((SQUARE[first], SQUARE[second]), bits, left, turn)


def play(before: Quoridor, moves: str) -> Quoridor:
    for move in moves.split():
        before = before.play(GAME.read(move, before))
    return before


def steps(before: Quoridor) -> set[str]:
    return {move for move in before.moves() if len(move) == 2}


def allowed(before: Quoridor, move: str) -> bool:
    try:
        before.play(move)
    except Illegal:
        return False
    return True


def beside(square: str, direction: str) -> str | None:
    """The square one further, or None where the board ends."""
    column, row = DIRECTIONS[direction]
    name = chr(ord(square[0]) + column) + chr(ord(square[1]) + row)
    return name if name in SQUARE else None


def parting(one: str, other: str) -> set[str]:
    """The names of the walls that can lie between two neighbours, from what the notation says."""
    (column, row), _ = sorted((one, other))
    before, below = chr(ord(column) - 1), chr(ord(row) - 1)
    names = (
        {f"{column}{row}h", f"{before}{row}h"}
        if one[0] == other[0]
        else {f"{column}{row}v", f"{column}{below}v"}
    )
    return names & set(WALLS)


NEXT = {
    square: {to: parting(square, to) for direction in DIRECTIONS if (to := beside(square, direction))}
    for square in SQUARES
}


def _clashes(name: str) -> set[str]:
    """Walls that part the same squares overlap; two of one place cross."""
    crossing = name[:2] + ("v" if name[2] == "h" else "h")
    cut = [pair for pair in combinations(SQUARES, 2) if pair[1] in NEXT[pair[0]] and name in parting(*pair)]
    return {crossing}.union(*(parting(*pair) for pair in cut))


CLASHES = {name: _clashes(name) for name in WALLS}


def steps_to(row: str, square: str, walls: Walls) -> tuple[bool, int]:
    """Whether there is a way to a row, and how many rounds of looking one step further it took to know."""
    seen, edge, rounds = {square}, {square}, 0
    while edge and not any(name[1] == row for name in edge):
        edge = {to for name in edge for to, between in NEXT[name].items() if walls.isdisjoint(between)} - seen
        seen |= edge
        rounds += 1
    return bool(edge), rounds


def both_have_a_way(before: Quoridor, walls: Walls) -> bool:
    pawns = zip(GOAL_ROWS, before.pawns, strict=True)
    return all(steps_to(row, SQUARES[square], walls)[0] for row, square in pawns)


def put(before: Quoridor) -> Walls:
    return frozenset(name for name, wall in WALLS.items() if before.walls & wall.bit)


@st.composite
def positions(draw: st.DrawFn) -> Quoridor:
    """Any pawns, and up to twenty walls that leave both a way, all over the board or in a part of it."""
    first = draw(st.sampled_from(SQUARES[:72]))
    second = draw(st.sampled_from([square for square in SQUARES[9:] if square != first]))
    pawns = position(first, second)
    random, many = draw(st.randoms(use_true_random=False)), draw(st.integers(0, 20))
    columns, rows = draw(st.sampled_from(PARTS["columns"])), draw(st.sampled_from(PARTS["rows"]))
    places = [name for name in WALLS if name[0] in columns and name[1] in rows]
    walls: Walls = frozenset()
    for name in random.sample(places, len(places)):
        if len(walls) < many and walls.isdisjoint(CLASHES[name]) and both_have_a_way(pawns, walls | {name}):
            walls |= {name}
    left = (10 - (len(walls) + 1) // 2, 10 - len(walls) // 2)
    return position(first, second, " ".join(walls), left, draw(st.integers(0, 1)))


# Notation


def test_there_are_81_squares_and_128_walls() -> None:
    assert {column + row for column in "abcdefghi" for row in "123456789"} == set(SQUARES)
    assert {
        square + way for square in SQUARES for way in "hv" if square[0] != "i" and square[1] != "9"
    } == set(WALLS)


def test_first_begins_on_e1_and_second_on_e9_with_ten_walls_each() -> None:
    start = GAME.start()
    assert GAME.show(start, ("ann", "bob")) == {"pawns": ["e1", "e9"], "walls": [], "left": [10, 10]}
    assert (start.turn, start.outcome, GAME.seats) == (0, None, ("first", "second"))
    assert (GAME.pace, GAME.faults, GAME.ply_limit) == (Pace(bank=60.0, gain=2.0), "forfeit", 200)


def test_a_wall_is_named_by_the_lower_left_of_the_squares_it_touches() -> None:
    across, upright = play(GAME.start(), "e3h"), play(GAME.start(), "e3v")
    for below, above in (("e3", "e4"), ("f3", "f4")):
        assert reason(position(below, walls="e3h"), above) == f"a wall lies between {below} and {above}"
    for left, right in (("e3", "f3"), ("e4", "f4")):
        assert reason(position(right, walls="e3v"), left) == f"a wall lies between {right} and {left}"
    assert (across.walls, upright.walls) == (WALLS["e3h"].bit, WALLS["e3v"].bit)
    assert steps(position("e4", walls="e3h")) == {"d4", "e5", "f4"}
    assert steps(position("g3", walls="e3h")) == {"f3", "h3", "g2", "g4"}
    assert steps(position("e5", walls="e3v")) == {"d5", "f5", "e4", "e6"}


@pytest.mark.parametrize("move", [*SQUARES, *WALLS])
def test_every_square_and_every_wall_is_read_as_an_object_and_as_a_short_word(move: str) -> None:
    action = "move" if move in SQUARES else "putWall"
    assert GAME.write(move) == {"action": action, "position": move}
    start = GAME.start()
    more = {"action": action, "position": move, "player": "x"}
    for sent in (GAME.write(move), more, typed(GAME.short(move))):
        assert GAME.read(sent, start) == move


NO_SQUARES = ["e10", "e0", "j1", "E2", "e", "2e", "e٢", "+e2", "ee", "", "e2 ", " e2", "e2\n", "\ud800"]
NO_WALLS = ["i4v", "a0h", "a9h", "e9v", "i1h", "E3h", "e3H", "e3x", "e3hh", "3eh", "e3h ", "e3h\0", "e٣h"]


@pytest.mark.parametrize("name", NO_SQUARES + NO_WALLS, ids=ascii)
def test_no_other_word_is_a_square_or_a_wall(name: str) -> None:
    start = GAME.start()
    assert "is neither a square from" in reason(start, name)
    assert 'the "position" of a "move" is a square' in reason(start, {"action": "move", "position": name})
    assert 'the "position" of a "putWall" is a wall' in reason(start, {"action": "putWall", "position": name})


def test_an_action_and_its_position_have_to_match() -> None:
    start = GAME.start()
    move, wall = {"action": "move", "position": "e3h"}, {"action": "putWall", "position": "e2"}
    assert reason(start, move) == 'the "position" of a "move" is a square from "a1" to "i9", not "e3h"'
    assert reason(start, wall).endswith('is a wall such as "e3h" or "e3v", from "a1h" to "h8v", not "e2"')


@pytest.mark.parametrize(
    "sent",
    [
        *(1.0, True, None, 5, 10**4000, float("nan"), [], ["e2"], {}, {"position": "e2"}, {"move": "e2"}),
        *({"action": "move"}, {"action": "putWall"}, {"action": "move", "position": ["e2"]}, {"action": {}}),
        *({"action": "move", "position": 2}, {"action": "MOVE", "position": "e2"}, {"action": ["move"]}),
        *({"action": "putWall", "position": None}, {"action": "(╯°□°)╯︵ ┻━┻"}, [{"action": "move"}]),
    ],
)
def test_what_is_no_move_is_illegal_with_a_sentence_that_says_what_is_expected(sent: Any) -> None:
    assert any(word in reason(GAME.start(), sent) for word in ("expected", "is a square", "is a wall"))


# Steps and jumps


def test_a_pawn_steps_to_the_neighbours_on_the_board() -> None:
    assert steps(position("e5")) == {"e6", "e4", "d5", "f5"}
    assert steps(position("a1")) == {"a2", "b1"}
    assert steps(position(second="i9", turn=1)) == {"i8", "h9"}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_pawn_jumps_straight_over_its_neighbour(direction: str) -> None:
    over = beside("e5", direction)
    beyond = beside(over or "", direction)
    others = {"e6", "e4", "d5", "f5"} - {over}
    assert steps(position("e5", over or "")) == others | {beyond}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_pawn_jumps_sideways_where_a_wall_is_behind_its_neighbour(direction: str) -> None:
    over = beside("e5", direction) or ""
    beyond = beside(over, direction) or ""
    others = {"e6", "e4", "d5", "f5"} - {over}
    sides = set(NEXT[over]) - {"e5", beyond}
    for wall in parting(over, beyond):
        assert steps(position("e5", over, wall)) == others | sides
    for side in sides:
        behind, between = parting(over, beyond), parting(over, side)
        pairs = [f"{one} {other}" for one in behind for other in between if other not in CLASHES[one]]
        assert pairs
        for pair in pairs:
            plain = {to for to in others if parting("e5", to).isdisjoint(pair.split())}
            assert steps(position("e5", over, pair)) == plain | sides - {side}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_jump_goes_over_a_wall(direction: str) -> None:
    over = beside("e5", direction) or ""
    for wall in parting("e5", over):
        assert steps(position("e5", over, wall)) == {"e6", "e4", "d5", "f5"} - {over}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("e8", "e9", {"d9", "f9", "e7", "d8", "f8"}),  # the board ends behind the other: sideways
        ("a8", "a9", {"b9", "a7", "b8"}),
        ("b9", "a9", {"a8", "b8", "c9"}),
        ("h5", "i5", {"i6", "i4", "g5", "h6", "h4"}),
        ("b1", "a1", {"a2", "c1", "b2"}),
        ("d1", "d2", {"d3", "c1", "e1"}),
        ("i4", "i3", {"i2", "i5", "h4"}),
        ("i1", "a2", {"h1", "i2"}),  # numbers of squares that are next to each other, not the squares
        ("a2", "i1", {"a1", "a3", "b2"}),
    ],
)
def test_jumps_at_the_edge_of_the_board(first: str, second: str, expected: set[str]) -> None:
    assert steps(position(first, second)) == expected
    assert steps(position(second, first, turn=1)) == expected


def test_a_step_or_a_jump_onto_the_goal_row_wins() -> None:
    before = position("e8", "e9")
    assert play(before, "d9").outcome == Outcome(0, "first has reached row 9")
    assert play(position("e2", "e3", turn=1), "e1").outcome == Outcome(1, "second has reached row 1")
    assert play(position("d2", "d1"), "c1").outcome is None  # the other's goal is nothing to a pawn


def test_a_game_that_is_over_has_no_moves() -> None:
    over = play(position("e8", "a5"), "e9")
    assert (list(over.moves()), over.outcome) == ([], Outcome(0, "first has reached row 9"))
    assert reason(over, "a4") == reason(over, "c3h") == "the game is over"


@pytest.mark.slow
def test_whoever_has_a_way_out_of_the_two_squares_of_the_pawns_has_a_step() -> None:
    """So a player without a move would stand in two squares shut off from the rest: nobody can."""
    checked = 0
    for here, neighbours in NEXT.items():
        if (ord(here[0]) + int(here[1])) % 2 and not IS_CAMPAIGN:
            continue  # as on a chessboard: of each two squares, one
        for there in neighbours:
            edges = [(here, to) for to in NEXT[here]] + [(there, to) for to in NEXT[there] if to != here]
            for chosen in range(1 << len(edges)):
                walls = {min(parting(*edge)) for at, edge in enumerate(edges) if chosen >> at & 1}
                free = {edge for edge in edges if walls.isdisjoint(parting(*edge))}
                inside = (here, there) in free
                ways_out = {(a, b) for a, b in free if {a, b} != {here, there} and (a == here or inside)}
                stands = position(here, there, " ".join(walls), left=(0, 0))
                assert bool(steps(stands)) == bool(ways_out)
                checked += 1
    assert checked > tries(10_000, 20_000)


# Walls


@pytest.mark.parametrize("name", WALLS)
def test_a_wall_keeps_off_just_those_that_overlap_or_cross_it(name: str) -> None:
    before = position(walls=name)
    assert {other for other in WALLS if not allowed(before, other)} == CLASHES[name]


def test_walls_that_only_touch_are_legal() -> None:
    assert CLASHES["e3h"] == {"d3h", "e3h", "f3h", "e3v"}
    assert CLASHES["a1v"] == {"a1v", "a2v", "a1h"}
    assert play(GAME.start(), "e3h g3h c3h d3v f3v e4v e2v g4v").left == (6, 6)


def test_a_wall_is_taken_from_the_supply_of_whoever_put_it() -> None:
    after = play(GAME.start(), "e3h e8 e2 c6v")
    assert (after.left, after.turn) == ((9, 9), 0)
    assert GAME.show(after, ("", "")) == {"pawns": ["e2", "e8"], "walls": ["c6v", "e3h"], "left": [9, 9]}


def test_without_walls_there_are_only_steps() -> None:
    spent = position(left=(0, 3))
    assert set(spent.moves()) == {"d1", "f1", "e2"}
    assert reason(spent, "c3h") == "first has no walls left"
    assert reason(position(left=(3, 0), turn=1), "c3h") == "second has no walls left"


@pytest.mark.parametrize("last", RING)
def test_the_wall_that_closes_the_board_is_refused_whichever_it_is(last: str) -> None:
    before = position(walls=" ".join(name for name in RING if name != last))
    assert last not in set(before.moves())
    assert reason(before, last) == f"{last} would leave first without a way to row 9"
    assert allowed(before, "a8h")


def test_shutting_one_pawn_off_is_enough_and_shutting_off_nobody_is_legal() -> None:
    corner = "a8h"
    assert reason(position("e1", "a9", corner), "b8v") == "b8v would leave second without a way to row 1"
    assert (
        reason(position("e1", "b9", "b8v", turn=1), corner) == "a8h would leave second without a way to row 1"
    )
    assert allowed(position("e1", "c9", corner), "b8v")
    assert reason(position("b1", "e9", "a1h"), "b1v") == "b1v would leave first without a way to row 9"
    assert allowed(position("e1", "a2", "a1h"), "b1v")


def test_pawns_are_no_obstacle_to_a_way() -> None:
    lane = position("a1", "a5", "a1v a3v a5v", left=(9, 8))
    assert allowed(lane, "a7v")  # first's only way leads through second
    assert distance(play(lane, "a7v"), 0) == 8


@pytest.mark.slow
@given(positions())
def test_a_wall_is_legal_just_where_it_clashes_with_none_and_leaves_both_a_way(before: Quoridor) -> None:
    """The search is left out for walls that cannot close a ring; the plain one never is."""
    there = put(before)
    legal = {
        name for name in WALLS if there.isdisjoint(CLASHES[name]) and both_have_a_way(before, there | {name})
    }
    expected = legal if before.left[before.turn] else set()
    assert {move for move in before.moves() if len(move) == 3} == expected
    assert {name for name in WALLS if allowed(before, name)} == expected


@given(positions())
def test_distances_are_those_of_a_plain_search(before: Quoridor) -> None:
    for seat, row in enumerate(GOAL_ROWS):
        assert (True, distance(before, seat)) == steps_to(row, SQUARES[before.pawns[seat]], put(before))


@given(positions())
def test_nobody_is_ever_without_a_step(before: Quoridor) -> None:
    assert steps(before)


# What a bot is told


@pytest.mark.parametrize(
    ("before", "sent", "told"),
    [
        (position(walls="e1h"), "e2", "a wall lies between e1 and e2"),
        (position(), "e4", "e4 is not next to e1"),
        (position(), "d2", "d2 is not next to e1"),
        (position("i1"), "a2", "a2 is not next to i1"),
        (position(), "e9", "e9 is taken by the other pawn"),
        (position("e5", "e6"), "e6", "e6 is taken by the other pawn"),
        (position(), "e1", "e1 is where the pawn of first stands already"),
        (position(walls="e3v"), "e3h", "e3h crosses e3v"),
        (position(walls="e3h"), "e3v", "e3v crosses e3h"),
        (position(walls="b6h"), "c6h", "c6h overlaps b6h"),
        (position(walls="c7v"), "c6v", "c6v overlaps c7v"),
        (position(walls="a1h h8v c7v"), "c6v", "c6v overlaps c7v"),
        (position(walls="c6h"), "c6h", "there is a wall at c6h already"),
        (position("e5", "e6", "e5h"), "e7", "a wall lies between e5 and e6"),
        (position("e5", "e6", "e6h"), "e7", "a wall lies between e6 and e7"),
        (position("e5", "e6", "e6h d5v"), "d6", "a wall lies between e6 and d6"),
        (position("e5", "e6"), "d6", "no jump goes sideways to d6 while the straight one to e7 is open"),
        (position("e5", "e6", "e5h"), "d6", "a wall lies between e5 and e6"),
    ],
)
def test_a_refusal_names_the_rule_and_the_squares(before: Quoridor, sent: str, told: str) -> None:
    assert sent not in set(before.moves())
    assert reason(before, sent) == told


# Positions, evaluation, drawing


def test_positions_are_values() -> None:
    one, other = play(GAME.start(), "e3h a1v e2 e8"), play(GAME.start(), "a1v e3h e2 e8")
    assert one == other
    assert hash(one) == hash(other)
    assert one != play(GAME.start(), "e3h a1v e2 d9")


def turned(before: Quoridor) -> Quoridor:
    """The board turned by half, the seats exchanged."""
    first, second = before.pawns
    names = [SQUARES[70 - SQUARE[name[:2]]] + name[2] for name in put(before)]
    walls = sum(WALLS[name].bit for name in names)
    return Quoridor((80 - second, 80 - first), walls, before.left[::-1], 1 - before.turn)


@given(positions())
def test_what_is_good_for_one_seat_is_as_bad_for_the_other(before: Quoridor) -> None:
    assert evaluate(turned(before)) == pytest.approx(-evaluate(before))
    assert -1 < evaluate(before) < 1


def test_nearer_is_better_and_so_are_the_move_and_a_wall_in_hand() -> None:
    assert evaluate(position("e3")) > evaluate(position("e2")) > evaluate(position())
    assert evaluate(position(turn=0)) > 0 > evaluate(position(turn=1))
    assert evaluate(position(left=(5, 5))) > evaluate(position(left=(4, 5)))
    assert (
        evaluate(position("a1", walls="d8h"))
        > evaluate(position("a1"))
        > evaluate(position("a1", walls="a1h"))
    )
    assert evaluate(play(position("e8", "a5"), "e9")) == 1
    assert evaluate(play(position("a5", "e2", turn=1), "e1")) == -1


def test_a_drawing_shows_pawns_walls_and_supplies_and_marks_the_last_move() -> None:
    before, walls = play(GAME.start(), "e3h e8 c6v"), 2
    plain, marked_wall = GAME.draw(before), GAME.draw(before, "c6v")
    after = play(before, "e7")
    for picture in (plain, marked_wall, GAME.draw(after, "e7")):
        root = ElementTree.fromstring(picture)  # noqa: S314
        shapes = [child for child in root if child.get("fill") == svg.INK and child.tag.endswith("rect")]
        assert len(shapes) == walls + 2 * 10
        assert len([shape for shape in shapes if shape.get("opacity")]) == walls
        words = {child.text for child in root if child.tag.endswith("text")}
        assert words == {*"abcdefghi", *"123456789", "first", "second"}
        bold = {child.text for child in root if child.get("font-weight") and child.get("font-size") == "18"}
        assert sum(child.tag.endswith("circle") for child in root) == (
            3 if picture == GAME.draw(after, "e7") else 2
        )
        assert bold == {"first" if picture == GAME.draw(after, "e7") else "second"}
    assert svg.MARK not in plain
    assert ElementTree.fromstring(marked_wall).find(f".//*[@stroke='{svg.MARK}'][@height='102']") is not None  # noqa: S314
    ring = ElementTree.fromstring(GAME.draw(after, "e7")).find(f".//*[@stroke='{svg.MARK}']")  # noqa: S314
    assert ring is not None
    assert ring.tag.endswith("circle")


def test_the_title_of_a_drawing_says_the_state_in_words() -> None:
    assert (
        "<title>Quoridor, first to move: first on e2 with 10 walls left, second on e9 with 9 walls left; "
        "walls at c6v</title>"
    ) in GAME.draw(play(GAME.start(), "e2 c6v"))
    over = play(position("e8", "a5", left=(1, 0)), "e9")
    assert "Quoridor, first has reached row 9: first on e9 with 1 wall left, second" in GAME.draw(over)
    assert "walls at no place yet" in GAME.draw(GAME.start())


# The dearest check


def rounds(before: Quoridor) -> int:
    """What a search for both ways takes."""
    walls = put(before)
    return sum(
        steps_to(row, SQUARES[pawn], walls)[1] for row, pawn in zip(GOAL_ROWS, before.pawns, strict=True)
    )


def maze(seed: int) -> Quoridor:
    """A position with nineteen walls at most and two long ways: the best that annealing comes by."""
    random, names = Random(seed), list(WALLS)
    here = best = GAME.start()
    for at in range(TRIES):
        walls, pawns = put(here), [SQUARES[pawn] for pawn in here.pawns]
        if random.random() < 0.3:
            pawns = [random.choice(SQUARES[:72]), random.choice(SQUARES[9:])]
        else:
            new = random.choice(names)
            walls = frozenset({name for name in walls if new not in CLASHES[name]} | {new})
            walls -= {random.choice(sorted(walls))} if len(walls) > 19 else set()
        after = position(*pawns, walls=" ".join(walls))
        if pawns[0] == pawns[1] or not both_have_a_way(after, walls):
            continue
        longer, warmth = rounds(after) - rounds(here), 3 * (1 - at / TRIES) + 0.05
        if longer >= 0 or random.random() < exp(longer / warmth):
            here = after
            best = max(best, here, key=rounds)
    return best


@pytest.mark.slow
def test_the_dearest_check_that_a_search_finds_takes_few_steps() -> None:
    """Some 3,000 of the interpreter's: far less than a millisecond, which `make bench` measures."""
    before = maze(seed=0)
    assert rounds(before) > 3 * rounds(GAME.start())
    assert max(steps_taken(partial(allowed, before, wall)) for wall in WALLS) < 10_000
