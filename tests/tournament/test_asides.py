"""What there is of a match beside its moves, when the match goes on after a restart."""

from random import Random
from typing import Any

import msgspec
import pytest

from games.catalogue import catalogue
from games.game import Illegal, Pace, quoted
from tests.tournament.test_lent import GAMES, befall
from tournament import asides
from tournament.asides import Aside, Trouble
from tournament.causes import as_text
from tournament.events import Credited, Disconnected, Ended, Ending, Moved, Refused, Returned
from tournament.match import REFUSALS, Match
from tournament.notes import MOST

NAMES = ("ann", "bob")
EPOCH, LATER = 1e9, 1e9 + 500.0  # of two processes


def begun(game: str, epoch: float = EPOCH, **kept: Any) -> Match:
    return Match(catalogue()[game], NAMES, 0.0, pace=Pace(), epoch=epoch, decided=kept_quiet, **kept)


def kept_quiet(match: Match, verdict: Ended) -> None:
    """Nobody announces it."""


def resumed(match: Match, plies: int | None = None) -> Match:
    """The match, in a process that knows what a store has kept of it: no more than so many plies."""
    moves, times = match.moves[:plies], match.times[:plies]
    written = msgspec.json.encode(match.asides[: asides.before(match.asides, len(moves))])
    read = msgspec.json.decode(written, type=list[Aside])
    found = begun(match.game.name, LATER, kept=(moves, times), asides=read)
    for seat in (0, 1):
        found.hold(seat, 30.0, 0.0)
    return found


def told(match: Match) -> list[object]:
    """What has happened, by the wall clock, and what was said."""
    known = [
        (type(event), event.ply, round(match.wall(event.at), 3), getattr(event, "seat", None))
        for event in match.log.events
        if isinstance(event, Refused | Disconnected | Returned | Credited)
    ]
    return [*known, match.notes, match.thinking(), match.moves]


@pytest.mark.parametrize("seed", range(40))
def test_a_match_that_goes_on_knows_what_was_said_and_what_went_wrong_before(seed: int) -> None:
    chance = Random(seed)
    match = begun(chance.choice(GAMES))
    befall(match, chance, chance.randrange(1, 12), 0.0)
    if match.verdict is None:
        again = resumed(match)
        assert told(again) == told(match)
        assert told(resumed(again)) == told(match)


def test_what_belongs_to_moves_that_were_not_kept_is_forgotten_with_them() -> None:
    match = begun("connect-4")
    for ply in range(4):
        match.play(ply % 2, ply, float(ply), thought=0.5, note=f"ply {ply}")
    with pytest.raises(Illegal):
        match.play(0, 9, 5.0)
    again = resumed(match, 2)
    assert [each.note for each in again.notes] == ["ply 0", "ply 1"]
    assert again.thinking()[0] == (0.5, 0.5)
    assert not [each for each in again.log.events if isinstance(each, Refused)]


def test_a_note_of_a_move_that_was_not_kept_is_kept_once_when_that_is_played_again() -> None:
    match = begun("tic-tac-toe")
    for ply, field in enumerate(("NW", "C", "N", "S")):
        match.play(ply % 2, field, float(ply), thought=0.5)
    match.play(0, "NE", 5.0, thought=0.5, note="three in a row")
    assert match.verdict is not None, "and nobody has kept the result"
    again = resumed(match)
    for seat in (0, 1):
        again.here(seat, 1.0)
    again.play(0, "NE", 2.0, thought=0.25, note="once more")
    assert [each.note for each in again.notes] == ["once more"]
    assert again.thinking()[0] == (1.25, 1.0)


@pytest.mark.parametrize(
    "sent",
    [
        "nowhere",
        "",
        'a "quoted" ü\n',
        "x" * 300,
        "y" * 98 + '"' * 9,
        99,
        10**30,
        None,
        True,
        1.5,
        [1, 2],
        [9] * 99,
        {"no": "ü"},
        {"no": "x" * 300},
        quoted("nowhere"),
        quoted([9] * 99),
    ],
    ids=lambda sent: str(sent)[:20],
)
def test_what_was_refused_is_told_as_before(sent: object) -> None:
    match = begun("connect-4")
    with pytest.raises(Illegal):
        match.play(0, sent, 1.0)
    again = resumed(match)
    before, after = (each.log.events[1] for each in (match, again))
    assert isinstance(before, Refused)
    assert isinstance(after, Refused)
    assert as_text(after.sent) == as_text(before.sent)
    assert quoted(after.sent) == quoted(before.sent) or as_text(before.sent).endswith("…")


def test_refusals_are_counted_on() -> None:
    match = begun("connect-4")
    for _ in range(REFUSALS - 1):
        with pytest.raises(Illegal):
            match.play(0, 9, 1.0)
    again = resumed(match)
    again.here(0, 1.0)
    with pytest.raises(Illegal):
        again.play(0, 9, 2.0)
    assert again.verdict is not None
    assert again.verdict.ending is Ending.ILLEGAL
    assert f"{REFUSALS} moves were refused" in again.verdict.why


def test_the_room_for_notes_is_that_of_one_match() -> None:
    """Catches a match that has room for as many notes again after a restart."""
    match = begun("quoridor")
    most, back_and_forth = MOST // 500, ("e2", "e8", "e1", "e9")
    for ply in range(most - 1):
        match.play(ply % 2, back_and_forth[ply % 4], 1.0, note="x" * 500)
    again = resumed(match)
    for seat in (0, 1):
        again.here(seat, 1.0)
    for ply in range(most - 1, most + 1):
        again.play(ply % 2, back_and_forth[ply % 4], 2.0, note="x" * 500)
    assert len(again.notes) == most


def test_whoever_was_away_when_the_host_stopped_has_returned_when_it_is_back() -> None:
    match = begun("connect-4")
    match.away(1, 40.0, 1.0)
    again = resumed(match)
    for seat in (0, 1):
        again.here(seat, 5.0)
    told = [type(event) for event in again.log.events[1:]]
    assert told == [Disconnected, Returned]


def test_what_led_to_an_end_is_told_with_the_times_at_which_it_happened() -> None:
    match = begun("connect-4")
    with pytest.raises(Illegal):
        match.play(0, 9, 2.0)
    match.play(0, 3, 4.0)
    again = resumed(match)
    for seat in (0, 1):
        again.here(seat, 5.0)
    again.resign(1, 6.0)
    assert again.verdict is not None
    assert [round(again.wall(each.at)) for each in again.verdict.cause] == [EPOCH + 2]


def test_what_is_kept_of_a_match_that_cannot_go_on_says_what_led_to_that() -> None:
    match = begun("connect-4")
    match.play(0, 3, 1.0, note="the middle")
    match.away(1, 40.0, 2.0)
    assert [each.note for each in asides.noted(match.asides)] == ["the middle"]
    assert [each.at for each in asides.led(match.asides)] == [EPOCH + 2.0]


def test_what_led_to_that_is_told_in_the_order_in_which_it_became_known() -> None:
    """Catches a relayed bot, whose second message seems to have arrived before the first."""
    match = begun("connect-4")
    for at in (2.5, 2.25, 3.0):
        with pytest.raises(Illegal):
            match.play(0, 9, at)
    match.away(1, 40.0, 2.75)
    assert [each.at - EPOCH for each in asides.led(match.asides)] == [2.5, 2.5, 3.0, 3.0]


def test_a_move_alone_leaves_nothing_beside_it() -> None:
    match = begun("connect-4")
    match.play(0, 3, 1.0)
    assert match.asides == []
    assert isinstance(match.log.events[-1], Moved)
    assert not any(isinstance(each, Trouble) for each in match.asides)
