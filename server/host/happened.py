"""What has happened in a match, told to another process: events from a number on, and the clock.

Times are by the clock of the process that tells. `moved` turns them into times by
another clock.
"""

from msgspec import Struct, structs

from games.game import quoted
from tournament.clock import ClockState
from tournament.events import AnyEvent, Refused
from tournament.match import Match


class Happened(Struct, frozen=True, tag="happened"):
    """Events of one match, from that number on in its log."""

    match: str
    first: int
    events: tuple[AnyEvent, ...]
    clock: ClockState | None


def happened(name: str, first: int, match: Match, most: int | None = None) -> Happened:
    """News of a match: at most `most` events; the clock comes with the last of all."""
    events = match.log.events[first : None if most is None else first + most]
    # What was refused may be what no encoding can hold.
    told = tuple(
        [
            structs.replace(event, sent=str(quoted(event.sent))) if isinstance(event, Refused) else event
            for event in events
        ]
    )
    latest = first + len(told) == len(match.log.events)
    return Happened(name, first, told, match.clock.state if latest and match.result is None else None)


def moved(news: Happened, seconds: float) -> Happened:
    """The news by a clock that is this many seconds ahead."""
    clock = news.clock
    if clock is not None:
        paused = None if clock.paused is None else clock.paused + seconds
        clock = structs.replace(clock, since=clock.since + seconds, paused=paused)
    events = tuple([structs.replace(event, at=event.at + seconds) for event in news.events])
    return structs.replace(news, events=events, clock=clock)
