"""What happens in a match.

Events are all that anybody learns about a match: bots, spectators, the store and
the scheduler read the same list (`tournament/log.py`) and compute the rest.
"""

from enum import StrEnum
from typing import Any

from msgspec import Struct

from tournament.causes import Cause


class Ending(StrEnum):
    """Why a match stopped, as opposed to how the rules of its game ended it."""

    PLAYED = "played"  # to its end by the rules, or to the limit of plies
    ILLEGAL = "illegal"  # by an illegal move, where that costs the match; or by one refusal too many
    TIME = "time"  # a clock ran out
    LEFT = "left"  # a player was gone too long, or never came
    RESIGNED = "resigned"
    VOID = "void"  # counts for nothing: the host failed, neither player was there, or an organiser voided it


class Fault(StrEnum):
    """Whose fault it was that a match was not played to its end."""

    BOT = "bot"  # it broke a rule, ran out of time, left or never came
    NETWORK = "network"  # its connection was known to be lost or dead, and not made again in time
    HOST = "host"  # our own: such a match is void, and never lost


CUT_SHORT = "the host stopped while it was being played"  # why a match that could not go on is void
HOST_FAILED = "a fault of the host"  # why a match in which something of ours failed is void
NOBODY = "neither player was there"  # why a match is void: each pairing is forgiven this once


def absences(name: str) -> tuple[str, str]:
    """Why a match is void: a player was gone before both had moved. It left, or it never came."""
    return f"{name} left before both had moved", f"{name} did not come"


class Event(Struct, frozen=True, gc=False):
    """`at` is the event loop's time, in seconds; only differences mean something.

    An event is never part of a reference cycle, so the garbage collector need not track it.
    """

    at: float


class Began(Event, frozen=True, gc=False, tag="began"):
    names: tuple[str, str]


class Moved(Event, frozen=True, gc=False, tag="moved"):
    """A move was played. The position after it is `match.positions[ply]`."""

    seat: int
    ply: int  # 1 for the first move
    move: Any  # as the game writes it
    spent: float  # seconds of thinking
    left: float | None  # on the mover's clock after the move; None: no limit


class Refused(Event, frozen=True, gc=False, tag="refused"):
    """A move could not be read or may not be played; nothing has changed."""

    seat: int
    ply: int  # of the position, which has not changed
    sent: Any
    why: str  # in words for the author of the bot
    count: int  # this seat's refusals so far


class Incident(Event, frozen=True, gc=False):
    """An incident of a match. It is kept and shown, and no protocol tells the players of it."""

    ply: int  # moves that had been played


class Disconnected(Incident, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="disconnected"):
    """A seat lost its connection; it may come back."""

    seat: int
    why: str = ""  # where the host hung up: what the bot had done


class Returned(Incident, frozen=True, gc=False, kw_only=True, tag="returned"):
    """A seat has come back."""

    seat: int


class Credited(Incident, frozen=True, gc=False, kw_only=True, tag="credited"):
    """The host stood still, and gave that time back to whoever was thinking."""

    seconds: float


class Ended(Event, frozen=True, gc=False, tag="ended"):
    """The last event of every match."""

    winner: int | None
    ending: Ending
    why: str  # what decided it, and what led to that
    fault: Fault | None = None  # None: it was played, resigned, or voided by an organiser
    cause: tuple[Cause, ...] = ()  # what led to it, oldest first
    brief: str = ""  # what decided it, if `why` says more

    @property
    def decided_by(self) -> str:
        """The sentence for protocols that are older than causes."""
        return self.brief or self.why


AnyEvent = Began | Moved | Refused | Disconnected | Returned | Credited | Ended
