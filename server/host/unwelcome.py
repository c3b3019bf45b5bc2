"""Why a bot cannot come in, or not just now."""

from math import ceil

from server.net.limits import Rate

LATER = "come again later"  # by these words clients know a refusal that is not meant for ever
STOPPING = "the host is about to stop: come again later"
ELSEWHERE = "that is held by another process of this host: come again later, over a new connection"


class Unwelcome(Exception):
    """A bot cannot come in. The message is for its author."""


class TooOften(Unwelcome):
    """Too much of something came from one address: over HTTP, the status of the answer is 429."""

    def __init__(self, why: str, rate: Rate) -> None:
        super().__init__(why)
        self.seconds = until_next(rate)


class Guessing(TooOften):
    """Too many wrong tokens: the door has to close the connection."""


class TooManyNames(TooOften):
    """Too many new names."""


class Out(Unwelcome):
    """An organiser has taken it out of its tournament: over HTTP, the status of the answer is 410."""


class ComeAgain(Unwelcome):
    """It cannot come in just now, which is no fault of its own: it may say the same again later.

    Its client knows that by the words in which it is told so: after any other refusal it stays away.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why if LATER in why else f"{why}: {LATER}")


class PlaysElsewhere(ComeAgain):
    """Its place is in another process: it has to come again, over a new connection."""


def until_next(rate: Rate) -> int:
    """Seconds until whoever has spent all credits has one again."""
    return ceil(rate.seconds / max(rate.credits, 1))  # nobody at all may come where it is 0


def wait_for_next(rate: Rate) -> str:
    """How long to wait, in words by which clients recognise that they may come again."""
    seconds = until_next(rate)
    return "wait for a minute" if seconds <= 60 else f"come again later, in {seconds} seconds"
