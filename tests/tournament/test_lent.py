"""A match that goes from one process to another stands there as it stood; and what stands in its place."""

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from games.game import Illegal, Pace, quoted
from tournament.events import Disconnected, Ended, Ending, Fault, Refused
from tournament.lent import Beginning, Course, Lent, Report, Travelling
from tournament.match import LOSSES, Match
from tournament.notes import MOST, size
from tournament.thinking import UNTOLD
from tournament.timekeeper import Timekeeper

GAMES = ("connect-4", "quoridor", "santorini", "tic-tac-toe")


def beginning(game: str) -> Beginning:
    pace = Pace(bank=60.0, gain=1.0, turn=20.0)
    return Beginning(game, ("ann", "bob"), "cup-1", pace, {}, True, (False, False), 5.0, 30.0, 20, 1e9, None)


def kept_quiet(match: Match, verdict: Ended) -> None:
    """Nobody announces it."""


def lent(told: list[str]) -> Lent:
    return Lent(
        beginning("connect-4"),
        0.0,
        kept_quiet,
        lambda: told.append("recalled"),
        lambda _: told.append("safe"),
    )


def travelled(match: Travelling, at: float) -> Travelling:
    """The match as it stands in another process, which was told of it in a message."""
    content = msgspec.msgpack.encode((match.beginning, match.course))
    known, course = msgspec.msgpack.decode(content, type=tuple[Beginning, Course])
    arrived = Travelling(known, at, kept_quiet)
    arrived.go_on(course)
    return arrived


def befall(match: Match, chance: Random, steps: int, at: float) -> float:
    """So many things that happen to a match: moves, refusals, absences, notes."""
    for _ in range(steps):
        if match.verdict is not None:
            break
        at += chance.random()
        seat: int = match.position.turn
        match chance.randrange(10):
            case 0:
                with pytest.raises(Illegal):
                    match.play(seat, {"no": "move"}, at)
            case 1:
                match.away(1 - seat, at + 30.0, at)
            case 2:
                match.here(1 - seat, at)
            case 3:
                match.credit(0.5, at)
            case 4:
                match.pause(at)
            case 5:
                match.resume(at)
            case _:
                move = chance.choice(list(match.position.moves()))
                match.play(seat, match.game.write(move), at, at, 0.1, "so it is")
    return at


def seen(match: Match, at: float) -> tuple[Any, ...]:
    """All that anybody can learn of it."""
    return (
        match.log.events,
        match.positions,
        match.to_move,
        match.left(at),
        match.deadline,
        match.verdict,
        match.thinking(),
        match.notes,
        match.moves_and_times(),
        match.cause,
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_match_that_travels_goes_on_as_one_that_stays(seed: int) -> None:
    chance = Random(seed)
    about = beginning(chance.choice(GAMES))
    stays, leaves = Travelling(about, 0.0, kept_quiet), Travelling(about, 0.0, kept_quiet)
    before, after = chance.randrange(12), Random(seed + 1)
    at = befall(stays, Random(seed), before, 0.0)
    befall(leaves, Random(seed), before, 0.0)
    if leaves.verdict is not None:
        return
    arrived = travelled(leaves, at + 1.0)
    assert seen(arrived, at) == seen(stays, at)
    then = befall(stays, after, 200, at)
    befall(arrived, Random(seed + 1), 200, at)
    for match in (stays, arrived):
        match.flag(then + 100.0)
    assert seen(arrived, then) == seen(stays, then)


def test_whoever_loses_on_time_after_a_journey_is_told_what_it_had_sent_before() -> None:
    """Catches a bot that was told nothing of its message that was no move, because it had come back since."""
    played = Travelling(beginning("connect-4"), 0.0, kept_quiet)
    played.meant[0], played.ignored[0] = (0, 3), (0, "this is not JSON")
    arrived = travelled(played, 1.0)
    for match in (played, arrived):
        match.flag(100.0)
    assert arrived.verdict == played.verdict
    assert arrived.verdict is not None
    assert arrived.verdict.why.endswith("; its last message had no effect: this is not JSON")


def test_a_match_that_travels_again_and_again_has_the_bounds_of_one_that_stays() -> None:
    """Catches a journey after which there is room for more notes, or for more incidents of a seat."""
    about, chance = beginning("quoridor"), Random(1)
    stays, travels = Travelling(about, 0.0, kept_quiet), Travelling(about, 0.0, kept_quiet)
    for ply in range(100):
        at, seat = 1.0 * ply, stays.position.turn
        move = stays.game.write(chance.choice(list(stays.position.moves())))
        for match in (stays, travels):
            for each in (1, 0, 1)[ply % 2 :]:  # one seat more often than the other
                match.away(each, at + 30.0, at)
                match.here(each, at)
            match.play(seat, move, at, note="n" * 400)
        if stays.verdict is not None:
            break
        travels = travelled(travels, at)
    assert seen(travels, at) == seen(stays, at)
    assert sum(size(each.note) for each in travels.notes) == MOST
    assert len([each for each in travels.log.events if isinstance(each, Disconnected)]) == 2 * LOSSES


async def test_a_match_that_comes_home_while_time_stands_still_there_goes_on_here(
    autojump_clock: MockClock,
) -> None:
    """Catches a match whose clocks stand still for ever: the bots that were silent could not lose it."""
    there, here = Timekeeper(), Timekeeper()
    played = Travelling(beginning("connect-4"), trio.current_time(), kept_quiet)
    there.watch(played)
    await trio.sleep(5.0)
    there.pause()
    await trio.sleep(7.0)
    home = travelled(played, trio.current_time())
    here.watch(home)
    assert home.deadline == played.clock.since + 20.0 + 7.0
    assert home.left(trio.current_time()) == (15.0, 20.0)


def test_a_stand_in_has_its_match_come_home_before_anything_is_done_with_it() -> None:
    told: list[str] = []
    stand_in, played = lent(told), Travelling(beginning("connect-4"), 0.0, kept_quiet)
    played.play(0, 3, 1.0)
    stand_in.leave(1, 2.0)
    assert stand_in.verdict is None
    assert told == ["recalled"]
    home = stand_in.come_home(played.course, 2.0)
    stand_in.carry_out(home)
    assert home.verdict is not None
    assert (home.verdict.ending, home.moves) == (Ending.LEFT, [3])
    assert home.moves is stand_in.moves, "the store goes on with the list that it has"


ORDERS: dict[str, Callable[[Match], None]] = {
    "hold": lambda match: match.hold(1, 3.0, 2.0, lost=True),
    "hold one that has moved": lambda match: match.hold(0, 3.0, 2.0),
    "away": lambda match: match.away(1, min(90.0, 2.0 + match.early_grace(1)), 2.0),
    "away for less long": lambda match: match.away(0, 3.0, 2.0, lost=False),
    "cut off": lambda match: match.cut_off(1, "too many messages", 2.0),
    "leave": lambda match: match.leave(1, 2.0, out=True),
    "here": lambda match: match.here(1, 2.0),
    "resign": lambda match: match.resign(1, 2.0),
    "forfeit": lambda match: match.forfeit(1, "flip", "nothing was wrong", 2.0),
    "void": lambda match: match.void("a cable", 2.0, Fault.HOST),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_what_is_ordered_of_a_stand_in_happens_to_its_match_as_if_it_had_never_been_away(
    order: Callable[[Match], None],
) -> None:
    told: list[str] = []
    stand_in, stays, leaves = lent(told), *(Travelling(beginning("connect-4"), 0.0, kept_quiet) for _ in "ab")
    for played in (stays, leaves):
        played.away(1, 30.0, 0.5)
        played.play(0, 3, 1.0, note="so it is")
    order(stand_in)
    assert told == ["recalled"]
    assert stand_in.asides == []
    home = stand_in.come_home(leaves.course, 2.0)
    stand_in.carry_out(home)
    order(stays)
    assert seen(home, 2.0) == seen(stays, 2.0)
    assert home.asides == stays.asides
    for match in (home, stays):
        match.flag(4.0)
        match.flag(1e9)
    assert seen(home, 1e9) == seen(stays, 1e9)


def test_a_stand_in_knows_only_what_it_has_heard_until_its_match_is_over() -> None:
    stand_in = lent([])
    stand_in.hear((3, 2), (1.0, 0.5), ())
    assert stand_in.moves_and_times() == ((3, 2), (1.0, 0.5))
    assert not stand_in.has_moved(0)
    assert not stand_in.has_moved(1)
    assert (stand_in.thinking(), stand_in.notes) == (UNTOLD, ())


def test_a_stand_in_reports_what_was_played_and_waits_for_both_bots() -> None:
    told: list[str] = []
    stand_in, played = lent(told), Travelling(beginning("connect-4"), 0.0, kept_quiet)
    for ply, move in enumerate((0, 1, 0, 1, 0, 1, 0)):
        played.play(ply % 2, move, ply + 1.0)
    report = msgspec.msgpack.decode(msgspec.msgpack.encode(played.outcome), type=Report)
    stand_in.conclude(report)
    assert stand_in.moves_and_times() == played.moves_and_times()
    assert stand_in.verdict == played.verdict
    assert stand_in.both_have_moved
    stand_in.announce()
    stand_in.when_told(lambda: told.append("free"))
    assert told == ["safe"]
    stand_in.told()
    stand_in.when_told(lambda: told.append("free at once"))
    assert told == ["safe", "free", "free at once"]


def test_whoever_is_home_again_is_free_when_both_connections_are() -> None:
    told: list[str] = []
    played = Travelling(beginning("connect-4"), 0.0, kept_quiet)
    home = lent(told).come_home(played.course, 1.0)
    home.when_told(lambda: told.append("free"))
    home.arrived()
    assert told == []
    home.arrived()
    assert told == ["free"]


def test_what_no_message_can_hold_travels_as_everybody_sees_it() -> None:
    played, sent = Travelling(beginning("connect-4"), 0.0, kept_quiet), 10**40
    with pytest.raises(Illegal):
        played.play(0, sent, 1.0)
    for _ in range(2):
        played = travelled(played, 0.0)
    refused = played.log.events[1]
    assert isinstance(refused, Refused)
    assert quoted(refused.sent) == quoted(sent)
    played.resign(0, 2.0)
    assert played.verdict is not None
    assert len(played.verdict.cause) == 1, "it may have led to the end, though nobody has moved"
