"""Somebody watches every match through the API's event streams, and must be told all of it."""

from types import SimpleNamespace
from typing import Any

from server.http.exchange import Answers, Exchange
from server.http.wire import Headers, Request, Response
from server.protocols.api.streams import stream_match
from tournament.match import Match
from tournament.tournament import Tournament

REQUEST = Request("GET", "", {}, {}, b"", "", 0.0, False)
SILENT: Any = SimpleNamespace(begin=lambda chunks: None, end=lambda chunks: None)  # only events


class Spectator(Answers):
    """Has one connection for each match, and reads whatever comes at once."""

    def __init__(self) -> None:
        self.events = 0  # it was told of in all
        self._told: dict[Exchange, int] = {}  # events of a match that is not over
        self._matches: dict[Exchange, Match] = {}

    def watch(self, tournament: Tournament, match: Match) -> None:
        exchange = Exchange(REQUEST, self)
        self._told[exchange] = 0
        self._matches[exchange] = match
        stream_match(exchange, tournament, match.name, SILENT)

    @property
    def misled(self) -> list[str]:
        """The matches that were not told to their end."""
        return [
            f"{match.name}: a spectator was told {self._told[exchange]} of {len(match.log.events)} events"
            for exchange, match in self._matches.items()
            if match.log.closed
        ]

    def open(self, exchange: Exchange, status: int, headers: Headers) -> None:
        assert status == 200

    def put(self, exchange: Exchange, content: bytes) -> None:
        self._told[exchange] += 1
        self.events += 1

    def close(self, exchange: Exchange) -> None:
        match = self._matches[exchange]
        if self._told[exchange] == len(match.log.events):
            del self._told[exchange], self._matches[exchange]

    def respond(self, exchange: Exchange, response: Response) -> None:
        raise AssertionError(f"a stream was asked for, not {response}")

    async def drained(self, exchange: Exchange) -> bool:
        return True

    def authenticated(self) -> None:
        pass  # there is no connection
