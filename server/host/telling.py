"""What the log says about tournaments: a line for each event, for whoever reads it at three in the morning.

`server/protocols/common/attendance.py` logs bots that come and go.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from heapq import nsmallest

import structlog
import trio

from server.host.view import HeldTournament
from server.net.pauses import WithPauses
from tournament.facts import (
    AnyFact,
    Concluded,
    Dealt,
    Disqualified,
    Drew,
    EndedEarly,
    NoShow,
    RoundBegan,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.record import Record

SHOWN = 3  # names of missing bots, in a line that has to be short
MINUTE = 60.0
SECOND = 1.0  # between two looks at how things are
AT_A_TIME = 16  # tournaments that are looked at before other tasks get their turn

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def starts_in_the_past(name: str) -> None:
    log.warning("the time to start is past: a tournament begins as soon as it has enough", tournament=name)


def opened(record: Record, by: str | None = None) -> None:
    said = record.opened
    log.info("tournament opened", tournament=record.name, game=said.game, format=said.format, by=by)


def restored(tournaments: int, playing: int) -> None:
    """Log at the start what the host goes on with, if there is anything."""
    if tournaments:
        log.info("going on with what was kept", tournaments=tournaments, matches_in_play=playing)


def told(tournament: HeldTournament, fact: AnyFact) -> None:
    """Log a fact that is safe and in the record."""
    record = tournament.record
    match fact:  # the most frequent first: trying a class that a fact does not have takes long
        case Concluded():
            _verdict(fact)
        case Drew() | Dealt():
            pass
        case Turned(state=State.RUNNING) if record.drawn or record.ended:
            log.info("tournament resumed", tournament=record.name)
        case Turned(state=State.RUNNING):
            log.info("tournament begun", tournament=record.name, entrants=record.contestants)
        case Turned(state=State.FINISHED):
            log.info("tournament finished", tournament=record.name, matches=record.ended)
        case Turned(state=state):
            log.info(f"tournament {state.value}", tournament=record.name)
        case RoundBegan(round=round):
            log.info("round begun", tournament=record.name, round=round)
        case NoShow(name=name):
            log.info("not checked in", tournament=record.name, player=name)
        case EndedEarly():
            log.info("ended early", tournament=record.name, decided=record.decided, drawn=record.pairings)
        case Withdrew(name=name):
            log.info("withdrawn", tournament=record.name, player=name)
        case Disqualified(name=name, why=why):
            log.info("disqualified", tournament=record.name, player=name, why=why)
        case Voided(match=match, why=why):
            log.info("voided", match=match, why=why)
        case _:
            pass


def _verdict(fact: Concluded) -> None:
    log.bind().debug(  # without `bind`, structlog looks in vain for `debug`, at the end of every match
        "over",
        match=fact.match,
        players=fact.players,
        winner=None if fact.winner is None else fact.players[fact.winner],
        ending=fact.ending.value,
        why=fact.why,
        fault=None if fact.fault is None else fact.fault.value,
    )


async def keep_shown(
    tournaments: Callable[[], Mapping[str, HeldTournament]],
    played: Callable[[], int],
    show: Callable[[str], None],
) -> None:
    """Show how things are, once a second, until cancelled; then show nothing any more."""
    moves = played()
    try:
        while True:
            await trio.sleep(SECOND)
            before, moves = moves, played()
            now, playing, missing = time.time(), 0, dict[str, float]()
            async for each in WithPauses(tournaments().values(), AT_A_TIME):
                playing += len(each.matches)
                missing |= {one.name: now - one.since for one in each.missing()}
            show(status(playing, (moves - before) / SECOND, missing))
    finally:
        show("")


def status(playing: int, moves_a_second: float, missing: Mapping[str, float]) -> str:
    """How things are, in a line: `missing` says for how many seconds a bot has been waited for."""
    parts = [f"{playing} match{'' if playing == 1 else 'es'}", f"{moves_a_second:.0f} moves/s"]
    if missing:
        longest = nsmallest(SHOWN, missing.items(), key=lambda each: (-each[1], each[0]))
        names = [f"{name} ({_duration(seconds)})" for name, seconds in longest]
        parts.append("missing: " + ", ".join([*names, *_more(len(missing) - SHOWN)]))
    return " · ".join(parts)


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"{count} more"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < MINUTE else f"{seconds / MINUTE:.0f} min"
