"""The status of the answer, over HTTP, to a bot that may not come in: the same for every dialect."""

from server.host.unwelcome import ComeAgain, TooOften, Unwelcome
from server.http.head import retry_after

Headers = tuple[tuple[str, str], ...]


def status_of(why: Unwelcome | None, other: int, *, draining: bool) -> tuple[int, Headers]:
    """The status, and headers that go with it; `other` is for all reasons that have none of their own."""
    if draining or isinstance(why, ComeAgain):
        return 503, ()
    if isinstance(why, TooOften):
        return 429, (retry_after(why.seconds),)
    return other, ()
