"""A connection that another process serves for a while: all that it needs for that, and the way back.

It is lent with a request that is not answered yet, when nothing else is on its way. It comes
back with a request that the other process does not answer; or because it has ended; or because
the other process is gone.
"""

import socket
from collections.abc import Sequence
from typing import Protocol

from server.http.wire import Request, Response
from server.net.wire import Piece, Wire


class Lender(Protocol):
    """The connection, as the loan sees it."""

    def resume(self, ahead: Sequence[Piece], answer: Response | None, *, last: bool = False) -> None: ...
    def ended(self) -> None: ...
    def authenticated(self) -> None: ...


class Loan:
    __slots__ = ("_ahead", "_lender", "_wire", "passed", "pieces", "request")

    def __init__(
        self,
        lender: Lender,
        wire: Wire,
        passed: socket.socket,
        request: Request,
        begun: Piece,
        ahead: Sequence[Piece],
    ) -> None:
        self._lender = lender
        self._wire = wire
        self._ahead = ahead
        self.passed = passed  # served by the other process through its own descriptor
        self.request = request
        self.pieces = (begun, *ahead)  # bytes of the request, and what was read after it

    def back(self, pieces: Sequence[Piece], now: float) -> None:
        """The other process has answered everything before these pieces."""
        left = self._wire.take_back()
        self._lender.resume([*pieces, (left, now)] if left else pieces, None)

    def untouched(self, answer: Response, now: float) -> None:
        """The other process could not take the connection, so `answer` is sent here."""
        left = self._wire.take_back()
        self._lender.resume([*self._ahead, (left, now)] if left else self._ahead, answer)

    def lost(self, answer: Response, now: float) -> None:
        """The other process is gone. Send `answer`, unless it had begun one: then end the connection."""
        written, read = self._wire.used()
        left = self._wire.take_back()
        if written:
            self._lender.ended()
        elif read:  # nobody knows where the next request begins
            self._lender.resume((), answer, last=True)
        else:
            self._lender.resume([*self._ahead, (left, now)] if left else self._ahead, answer)

    def close(self) -> None:
        """The connection has ended."""
        self._lender.ended()

    def leave(self) -> None:
        """The other process keeps the connection: close this end's descriptor and nothing else."""
        self._wire.take_back()
        self._wire.close()
        self._lender.ended()

    def authenticated(self) -> None:
        self._lender.authenticated()
