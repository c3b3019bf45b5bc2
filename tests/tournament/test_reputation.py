"""Who is dealt to last: bots that have bound their opponents for nothing."""

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.tournament.world import first, play, silent, table
from tournament import reputation
from tournament.events import Ended, Ending
from tournament.format import Draw, Entrant, Terms
from tournament.match import Match
from tournament.pairing import ladder, open_table
from tournament.reputation import LASTING, Reputation

GAME = catalogue()["tic-tac-toe"]
NAMES = ("ann", "bob")
FORMATS = pytest.mark.parametrize("draw", [open_table.draw, ladder.draw], ids=["open", "ladder"])


def left(at: float = 0.0, *, excused: bool = True) -> tuple[Match, Ended]:
    """A match that ann has left."""
    match = Match(GAME, NAMES, at, excused=(excused, excused))
    match.leave(0, at)
    assert match.verdict is not None
    return match, match.verdict


def late(moves: int) -> tuple[Match, Ended]:
    """A match in which somebody ran out of time after so many moves."""
    match = Match(GAME, NAMES, 0.0)
    for seat, move in enumerate(("C", "NW", "SE")[:moves]):
        match.play(seat % 2, move, 0.0)
    match.flag(1000.0)
    assert match.verdict is not None
    return match, match.verdict


def comes_last(known: Reputation, name: str, now: float = 0.0) -> bool:
    return known.comes_last("tic-tac-toe", name, now)


@pytest.mark.parametrize("excused", [True, False])
def test_whoever_left_twice_comes_last_and_its_opponent_does_not(excused: bool) -> None:
    known = Reputation()
    known.note(*left(excused=excused))
    assert not comes_last(known, "ann"), "anybody's connection can break once"
    known.note(*left(excused=excused))
    assert comes_last(known, "ann")
    assert not comes_last(known, "bob")
    assert not known.comes_last("quoridor", "ann", 0.0), "in another game"


@pytest.mark.parametrize(("moves", "loser"), [(0, "ann"), (1, "bob")])
def test_whoever_let_a_first_move_run_out_comes_last_at_once(moves: int, loser: str) -> None:
    known = Reputation()
    match, verdict = late(moves)
    known.note(match, verdict)
    assert [name for name in NAMES if comes_last(known, name, verdict.at)] == [loser]


def test_whoever_runs_out_of_time_later_is_only_slow() -> None:
    known = Reputation()
    for _ in range(3):
        match, verdict = late(2)
        known.note(match, verdict)
    assert not [name for name in NAMES if comes_last(known, name, verdict.at)]


def test_it_is_forgotten_after_ten_minutes_without_a_fault() -> None:
    known = Reputation()
    known.note(*left(0.0))
    known.note(*left(LASTING - 1))
    assert comes_last(known, "ann", 2 * LASTING - 2)
    assert not comes_last(known, "ann", 2 * LASTING)
    known.note(*left(3 * LASTING))
    assert not comes_last(known, "ann", 3 * LASTING), "it begins anew"


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reputation, "REMEMBERED", 2)
    known = Reputation()
    for name in ("ann", "cas", "dee"):
        match = Match(GAME, (name, "bob"), 0.0)
        match.flag(1000.0)
        known.note(match, Ended(0.0, 1, Ending.TIME, ""))
    assert [name for name in ("ann", "cas", "dee") if comes_last(known, name)] == ["cas", "dee"]


@FORMATS
def test_whoever_comes_last_is_drawn_after_all_others(draw: Draw) -> None:
    here = [Entrant("ghost", last=True), Entrant("ann"), Entrant("bob"), Entrant("cas")]
    for seed in range(20):
        names = {name for pairing in draw(here[:3], [], [], Terms(seed=seed)) for name in pairing.names}
        assert names == {"ann", "bob"}
        pairings = draw(here, [], [], Terms(seed=seed))
        assert len(pairings) == 2, "and nobody is locked out"


@FORMATS
def test_whoever_comes_last_plays_if_nobody_else_is_there(draw: Draw) -> None:
    for other in (Entrant("ann"), Entrant("ann", last=True)):
        (pairing,) = draw([Entrant("ghost", last=True), other], [], [], Terms())
        assert set(pairing.names) == {"ghost", "ann"}


async def test_at_an_open_table_a_stopped_program_is_dealt_to_once_and_then_last(
    autojump_clock: MockClock,
) -> None:
    """Two honest bots that are free at the same time play each other, whoever has met whom less often."""
    async with table("tic-tac-toe") as (here, nursery):
        for name, behave in (("ghost", silent), ("ann", first)):
            nursery.start_soon(play, here.come(name), behave)
            await here.tournament.enter(name)
        await trio.sleep(30.0)
        nursery.start_soon(play, here.come("bob"), first)
        await here.tournament.enter("bob")
        await trio.sleep(200.0)
    of_the_ghost = [match for match in here.concluded() if "ghost" in match.players]
    assert len(of_the_ghost) == 2, "the second while nobody else was there"
    assert len(here.concluded()) > 10
