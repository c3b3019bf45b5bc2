"""One game address of Hexagon Dots: what is seen there, and by whom.

A `Gate` is an address that bots may join a game at. Before the match it says
what is waited for, then it shows the match, and afterwards how that ended.
Whoever observes is streamed the Game and then every change, a line of JSON each.

What a Game and a Delta look like is here too; who may do what at a gate is
`server/doors/hexagondots.py`'s business, and what a bot is told
`server/doors/hexagon_bot.py`'s.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec.json import encode

from games.hexagondots import GAME, HexagonDots, hexagons_shown, lines_shown, players_shown
from server.http import JSON, Chunks, Exchange, Response
from tournament.events import AnyEvent, Began, Ended, Ending, Moved
from tournament.match import Match

LINES = (("Content-Type", "application/x-ndjson"), ("X-Content-Type-Options", "nosniff"))


class Guest(Protocol):
    """A bot that has come through a gate and is not done."""

    name: str

    @property
    def waits(self) -> bool:
        """It has a place in the game of this address, which has not begun."""
        ...


class Gate:
    def __init__(self, path: str, options: Mapping[str, int], fixed: bool, at: float) -> None:
        """`fixed` if those who join play each other on this very board; else the host deals the match."""
        self.path = path
        self.options = options
        self.fixed = fixed
        self.at = at  # when it was made
        self.guests: dict[Guest, None] = {}  # in the order of coming
        self.taken = False  # its game has begun
        self._match: Match | None = None  # the last that began for anybody who joined here …
        self._told = 0  # … how much of it was told to observers …
        self._game: tuple[int, bytes] = (-1, b"")  # … and how it was shown last, after so many plies
        self._observers: dict[Chunks, None] = {}

    @property
    def waiting(self) -> list[Guest]:
        return [guest for guest in self.guests if guest.waits]

    @property
    def open(self) -> bool:
        """Somebody can still join the game."""
        return not self.taken and len(self.waiting) < 2

    @property
    def why_not(self) -> str:
        """Why nobody can."""
        if self._match is None:
            return "two have joined this game already"
        first, second = self._match.names
        ended = self._match.result
        return f"{first} and {second} play this game" if ended is None else f"the game is over: {ended.why}"

    @property
    def over(self) -> bool:
        return self._match is not None and self._match.result is not None

    @property
    def idle(self) -> bool:
        """Nobody needs it."""
        return not self.guests and (self._match is None or self.over)

    def game(self) -> bytes:
        """The Game as it stands."""
        if self._match is None:
            names = [guest.name for guest in self.waiting]
            return encode(initiating(self.options, names))
        version = self._match.ply + self.over
        if self._game[0] != version:
            self._game = version, encode(whole(self._match))
        return self._game[1]

    def shown(self) -> Response:
        return Response(200, JSON, self.game())

    def begin(self, match: Match) -> None:
        """A match has begun for somebody who joined here."""
        if match is not self._match:
            self._match, self._told, self._game = match, 0, (-1, b"")
            match.log.follow(lambda event: self._tell(match, event))

    def observe(self, exchange: Exchange) -> None:
        chunks = exchange.stream(200, LINES)
        chunks.put(self.game() + b"\n")
        if self.over:
            chunks.close()
        else:
            self._observers[chunks] = None
            exchange.on_gone(lambda: self._observers.pop(chunks, None))

    def close(self) -> None:
        """The address is no more."""
        for chunks in tuple(self._observers):
            chunks.close()
        self._observers.clear()

    def _tell(self, match: Match, event: AnyEvent) -> None:
        if match is not self._match or not self._observers:
            return
        match event:
            case Moved() if match.verdict is not None:
                pass  # the last, which is told with the end
            case Began() | Moved() | Ended():
                news = encode(delta(match, self._told)) + b"\n"
                for chunks in tuple(self._observers):
                    chunks.put(news)
                if isinstance(event, Ended):
                    self.close()
            case _:
                pass
        self._told = match.ply


def initiating(options: Mapping[str, int], names: list[str]) -> dict[str, Any]:
    """The Game before it begins."""
    players = [{"name": name, "score": 0} for name in names]
    return {**options, "lines": [], "hexagons": [], "players": players, "state": "initiating"}


def whole(match: Match) -> dict[str, Any]:
    """The Game."""
    position: HexagonDots = match.position
    players, board = _players(match), position.board
    opening = HexagonDots(board)
    return {
        "rows": board.rows,
        "cols": board.cols,
        "lines": lines_shown(opening, position, players),
        "hexagons": hexagons_shown(opening, position, players),
        "players": players,
        "state": _state(match),
    }


def delta(match: Match, since: int) -> dict[str, Any]:
    """What has come to the Game after so many plies, in the order of its coming."""
    players = _players(match)
    drawn = zip(match.moves[since:], match.positions[since:], strict=False)
    return {
        "lines": [{"endpoints": move, "owner": players[before.turn]} for move, before in drawn],
        "hexagons": hexagons_shown(match.positions[since], match.position, players),
        "players": players,
        "state": _state(match),
    }


def _players(match: Match) -> list[object]:
    """With their scores; who lost in another way than by these is disqualified."""
    players, ended = players_shown(match.position, match.names), match.result
    if ended is None or ended.ending in (Ending.PLAYED, Ending.VOID):
        return players
    return [
        player if seat == ended.winner else {"name": name, "score": "disqualified"}
        for seat, (player, name) in enumerate(zip(players, match.names, strict=True))
    ]


def _state(match: Match) -> str:
    return "in play" if match.result is None else "completed"


GAME_NAME = GAME.name
