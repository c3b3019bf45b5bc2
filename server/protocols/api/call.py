"""One request to the API, as the functions that answer it see it."""

import hmac
from collections.abc import Awaitable, Callable

from msgspec import Struct

from server.export.signing import Signer
from server.host.boards import LONGEST
from server.host.host import Host
from server.host.view import View
from server.host.wire_reader import WireReader
from server.http.exchange import Exchange
from server.http.wire import Response
from server.net.one_for_all import OneForAll
from server.protocols.api.export_places import ExportPlaces
from server.protocols.api.streams import Feed
from tournament.record import Record
from tournament.score_sheet import Board

# What they return: the whole answer, now or later; None if the exchange is answered in another way.
Answer = Response | Awaitable[Response | None] | None


class Asked(Struct, frozen=True):
    exchange: Exchange
    organisers: bytes  # the token of the organiser

    @property
    def token(self) -> bytes:
        """The token that the request brings; b"" if it brings none."""
        return self.exchange.request.bearer

    @property
    def organiser(self) -> bool:
        """Whether the request brings the organiser's token."""
        return hmac.compare_digest(self.token, self.organisers)

    @property
    def by(self) -> str:
        """Who gives the order, for the audit: there is only one organiser's token."""
        return f"the organiser, from {self.exchange.request.peer}"


class Look(Asked, frozen=True):
    """A request that is answered wherever tournaments can be seen."""

    view: View
    feed: Feed
    signer: Signer | None  # the host's key
    exports: ExportPlaces

    def seen(self, record: Record) -> Record:
        """The record for standings: while they are frozen, only an organiser sees the present one."""
        return record if self.organiser else record.public

    async def board(self, record: Record, longest: float = LONGEST) -> tuple[Record, Board]:
        """The record as above, and its standings; raises `NoBoard` if there are none by then."""
        if self.organiser:
            return record, await self.view.boards.current(record, longest)
        return await self.view.boards.public(record, longest)


class Call(Asked, frozen=True):
    """A request that is answered where matches are played: an order, or a question about the host."""

    host: Host
    wires: WireReader
    login: Callable[[], str] | None  # makes a path that opens the desk, once; None where there is no desk
    figures: OneForAll[str]
