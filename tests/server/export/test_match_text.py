"""A match as text: people can read it, and it is read back as the same match."""

import re
from itertools import accumulate
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.catalogue import catalogue
from games.game import Game, Pace
from server.export.json_views import causes_shown, match_shown
from server.export.match_import import checked
from server.export.match_text import BadText, read, text
from server.export.words import in_words
from tests.tournament.test_causes import EVERY_KIND
from tournament.causes import Refused, Returned
from tournament.events import Ending, Moved
from tournament.facts import Concluded, Drew, Entered, Opened
from tournament.format import Pairing
from tournament.match import Match
from tournament.record import Record

GAMES = [pytest.param(game, id=game.name) for game in catalogue().values()]
NAMES = ("ann", 'b"o|b: #1')


def record(game: Game[Any, Any], names: tuple[str, str] = NAMES, **chosen: Any) -> Record:
    made = Record("cup", Opened(game.name, "round-robin", **chosen))
    for fact in (*map(Entered, names), Drew((Pairing(1, 1, *names),))):
        made.add(fact)
    return made


def played(game: Game[Any, Any], names: tuple[str, str] = NAMES, plies: int = 10_000) -> Concluded:
    """A random match, to its end or resigned before it."""
    random, position = Random(plies), game.start()
    moves: list[Any] = []
    while position.outcome is None and len(moves) < min(plies, (game.ply_limit or 10_000) - 1):
        move = random.choice([*position.moves()])
        moves.append(game.write(move))
        position = position.play(move)
    times = tuple(round(random.random() / 1000, 6) for _ in moves)
    told = (1 - position.turn, Ending.RESIGNED, f"{names[position.turn]} resigned")
    if position.outcome is not None:
        told = (position.outcome.winner, Ending.PLAYED, position.outcome.why)
    winner, ending, why = told
    score = (0.5, 0.5) if winner is None else (1.0 - winner, float(winner))
    return Concluded(
        "cup-1", 1, names, winner, ending, why, score, tuple(moves), times,
        began=1_770_000_000.125, ended=1_770_000_060.5,
    )  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("plies", [0, 3, 40, 10_000])
def test_what_was_written_is_read_back_as_the_same_match(game: Game[Any, Any], plies: int) -> None:
    tournament, match = record(game), played(game, plies=plies)
    found = read(text(tournament, match))
    assert found.concluded == match
    shown, findings = checked(found)
    assert findings == []
    assert msgspec.to_builtins(shown) == msgspec.to_builtins(match_shown(tournament, match, full=True))


@given(said=st.lists(st.text(max_size=12), min_size=6, max_size=6))
def test_words_of_any_kind_are_read_back_as_they_were(said: list[str]) -> None:
    tournament, match, one, other, version, why = said
    game = catalogue()["tic-tac-toe"]
    kept = msgspec.structs.replace(
        played(game, plies=3), match=match, players=(one, other), versions=(version, None), why=why
    )
    made = record(game)
    made.name = tournament
    found = read(text(made, kept))
    assert (found.tournament, found.concluded) == (tournament, kept)


def test_what_was_left_on_a_clock_is_what_the_referee_told_after_the_move() -> None:
    game, pace, names = catalogue()["connect-4"], Pace(bank=3.0, gain=0.5), ("ann", "bob")
    times = (0.25, 1.0, 2.0, 2.5, 1.25)  # the last but one takes all that there is
    match = msgspec.structs.replace(played(game, names, plies=len(times)), times=times)
    referee = Match(game, names, 0.0, pace=pace)
    for move, now in zip(match.moves, accumulate(times), strict=True):
        referee.play(referee.position.turn, move, now)
    told = [f"{event.left:.3f} s left" for event in referee.log.events if isinstance(event, Moved)]
    fields = [
        field
        for line in text(record(game, names, pace=pace), match).splitlines()
        for field in line.split(" | ")
    ]
    assert [field for field in fields if field.endswith("left")] == told


def test_a_person_sees_who_played_what_when_and_what_was_refused() -> None:
    game = catalogue()["santorini"]
    match = msgspec.structs.replace(
        played(game, ("ann", "bob"), plies=5), cause=(Refused(1_770_000_001.0, 0, 2, "e99", "no such field"),)
    )
    lines = text(record(game, ("ann", "bob")), match).splitlines()
    assert {"player 1: ann", "player 2: bob", "began: 2026-02-02T02:40:00.125Z"} <= set(lines)
    assert "# ann: e99 was refused: no such field" in lines
    moves = [line for line in lines if " | " in line]
    assert re.fullmatch(r"  1 \| player 1 \| \d \d \| 0\.\d{6} s \| place \(\d,\d\)", moves[0])
    assert re.fullmatch(r"  5 \| player 1 \| [12] \d \d \| 0\.\d{6} s \| worker [12] → \(\d,\d\)", moves[4])


def test_each_cause_is_told_once_between_the_moves_where_it_happened() -> None:
    game, names = catalogue()["santorini"], ("ann", "bob")
    causes = [Returned(0.5, 0, 5), *EVERY_KIND]  # the others at ply 2, or with the end
    match = msgspec.structs.replace(played(game, names, plies=5), cause=tuple(causes))
    lines = [line for line in text(record(game, names), match).splitlines() if re.match(r"#| *\d+ \|", line)]
    assert "".join("#" if line[0] == "#" else line[:3].strip() for line in lines) == "12####345###"
    for cause in causes_shown(causes):
        assert sum(line.endswith(in_words(cause, names)) for line in lines) == 1


@pytest.mark.parametrize(
    ("was", "becomes", "expected"),
    [
        ("quintain match 1", "match 1", "as the first line"),
        ("game: tic-tac-toe", "game: chess", "expected one of"),
        ("match: cup-1\n", "", "no line 'match:'"),
        ("options: {}", "options: {", "options: "),
        ("options: {}", 'options: {"size":9}', "no option"),
        ("ending: played", "ending: lost", "ending: expected one of"),
        ("  2 | player 2", "  3 | player 2", "expected move 2, of player 2"),
        ("  2 | player 2", "  2 | player 1", "expected move 2, of player 2"),
        ("  2 | player 2 |", "  2 | player 2 | e99 |", "line "),
        ("options: {}", 'options: "\\ud800"', "options: "),
        ("began: 2026", "began: yesterday 2026", "expected a time"),
        (".125Z", ".125", "expected a time"),  # which would be another one on each machine
        ("began: 2026-02-02T02:40:00.125Z", "began: 0001-01-01T00:00:00+14:00", "expected a time"),
        ("began: 2026-02-02T02:40:00.125Z", "began: 9999-12-31T23:59:59-14:00", "expected a time"),
        ("began: 2026-02-02T02:40:00.125Z", "began: 9999-12-31T23:59:59.9999Z", "expected a time"),
        ("round: 1", "round: -1", "round: "),
        ("round: 1", "round: 99999999999999999999", "round: "),
        ("\n\n", "\nsomething else\n", "expected a key with its value, or a move"),
    ],
)
def test_what_is_no_match_is_refused_with_its_place(was: str, becomes: str, expected: str) -> None:
    game = catalogue()["tic-tac-toe"]
    written = text(record(game), played(game))
    assert was in written
    with pytest.raises(BadText, match=re.escape(expected)):
        read(written.replace(was, becomes, 1))


@pytest.mark.parametrize(
    ("pace", "expected"), [(Pace(bank=3.0, gain=0.5), " s left"), (Pace(turn=9.0), "no bank")]
)
def test_what_was_left_on_a_clock_has_to_follow_from_what_was_spent(pace: Pace, expected: str) -> None:
    """Catches a printed clock that nobody had looked at."""
    game, names = catalogue()["connect-4"], ("ann", "bob")
    match = msgspec.structs.replace(played(game, names, plies=3), times=(0.25, 1.0, 2.0))
    lines = text(record(game, names, pace=pace), match).splitlines()
    assert checked(read("\n".join(lines)))[1] == []
    for number in (number for number, line in enumerate(lines) if " | " in line):
        begin = lines[number].split(" | ")[:4]
        spoilt = [*lines[:number], " | ".join((*begin, "2.345 s left")), *lines[number + 1 :]]
        (finding,) = checked(read("\n".join(spoilt)))[1]
        assert re.fullmatch(f"line {number + 1}: expected .*{expected}.*, not 2.345 s", finding)


@pytest.mark.parametrize("ply", range(5))
def test_a_move_that_cannot_be_played_is_refused_with_its_own_line(ply: int) -> None:
    """Catches a last move that had no line to be named, and ended in a traceback."""
    game = catalogue()["tic-tac-toe"]
    lines = text(record(game), played(game, plies=5)).splitlines()
    moves = [number for number, line in enumerate(lines) if " | " in line]
    number, taken = moves[ply], lines[moves[0]].split(" | ")[2]
    start, player, _, *rest = lines[number].split(" | ")
    for wrong, why in (("zz", "is not a field"), *([(taken, "is taken")] if ply else [])):
        lines[number] = " | ".join((start, player, wrong, *rest))
        with pytest.raises(BadText, match=f"^line {number + 1}: .*{why}"):
            read("\n".join(lines))
