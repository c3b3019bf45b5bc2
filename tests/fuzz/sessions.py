"""What a session is: steps. And how one is drawn, from what the bots of a protocol say.

A step's text may hold names between two `$`, which stand for what its session
knows by the time it is sent: its own `$name$`, a legal `$move$` and `$short$`,
and what it was told, as `$token$` or `$battle$`.
"""

from collections.abc import Sequence
from random import Random
from typing import Literal

from msgspec import Struct

Edit = tuple[int, int, bytes]  # at this place, so many bytes are replaced by these

PATIENT, HASTY = 7.0, 0.4  # seconds that somebody listens for an answer: an opponent may think as long


class Say(Struct, frozen=True):
    """Send a message over one of the session's connections, which is opened when it is first needed."""

    text: bytes
    on: int = 0
    asked: bool = False  # only if its next move is waited for
    raw: bool = False  # these bytes as they are, and no message of the protocol
    times: int = 1
    edits: tuple[Edit, ...] = ()  # in what is sent in the end
    cuts: tuple[int, ...] = ()  # where that is cut into pieces


class Hear(Struct, frozen=True):
    """Read what comes, and wait for it so many seconds at most."""

    seconds: float = PATIENT
    on: int = 0


class Wait(Struct, frozen=True):
    """Do nothing, and read nothing."""

    seconds: float


class Leave(Struct, frozen=True):
    """End a connection: say no more, close it with whatever is unread, or reset it."""

    how: Literal["finish", "close", "reset"] = "close"
    on: int = 0


Step = Say | Hear | Wait | Leave


class Tongue(Struct, frozen=True, kw_only=True):
    """What the bots of one protocol say in one game."""

    game: str
    enter: tuple[Step, ...]  # to come in
    answers: tuple[Say, ...]  # any of these is a move; an honest bot uses the first
    also: tuple[Say, ...] = ()  # what else may be said, rightly or not
    listens: int = 0  # the connection on which questions come


def draw(tongues: Sequence[Tongue], random: Random) -> list[Step]:
    """A session as an honest bot might have it, of any length."""
    tongue = random.choice(tongues)
    steps = list(tongue.enter)
    for _ in range(random.choice((0, 1, 1, 2, 3, 5, 12))):
        said = [random.choice(tongue.answers)]
        if tongue.also and random.random() < 0.3:
            said.insert(random.randrange(2), random.choice(tongue.also))
        steps += (Hear(random.choice((HASTY, PATIENT)), tongue.listens), *said)
    if random.random() < 0.5:
        steps.append(Leave(random.choice(("finish", "close", "reset"))))
    return steps
