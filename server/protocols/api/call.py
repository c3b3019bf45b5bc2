"""One request to the API, as the functions that answer it see it."""

import hmac
from collections.abc import Awaitable, Callable

from msgspec import Struct

from server.host.host import Host
from server.host.wire_reader import WireReader
from server.http.exchange import Exchange
from server.http.wire import Response
from server.protocols.api.streams import Feed
from tournament.record import Record

# What they return: the whole answer, now or later; None where it has been seen to by other means.
Answer = Response | Awaitable[Response | None] | None


class Call(Struct, frozen=True):
    exchange: Exchange
    host: Host
    feed: Feed
    wires: WireReader
    login: Callable[[], str] | None  # makes a path that opens the desk, once; None where there is no desk
    organisers: bytes  # the token of the organiser

    @property
    def token(self) -> bytes:
        """What the request brings; b"" is none."""
        scheme, _, token = self.exchange.request.headers.get("authorization", "").partition(" ")
        return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""

    @property
    def organiser(self) -> bool:
        """Whether it brings the organiser's token."""
        return hmac.compare_digest(self.token, self.organisers)

    @property
    def by(self) -> str:
        """Whoever has the organiser's token, of which there is one, for the audit."""
        return f"the organiser, from {self.exchange.request.peer}"

    def seen(self, record: Record) -> Record:
        """What standings are made of: while they are frozen, only an organiser sees more."""
        return record if self.organiser else record.public
