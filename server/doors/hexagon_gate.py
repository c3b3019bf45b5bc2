"""One game address of Hexagon Dots: what is seen there, and by whom.

A `Gate` is an address that bots may join a game at. Before the match it says
what is waited for, then it shows the match, and afterwards how that ended.
Whoever observes is streamed the Game and then every change, a line of JSON each.

What a Game and a Delta look like is here too; who may do what at a gate is
`server/doors/hexagondots.py`'s business, and what a bot is told
`server/doors/hexagon_bot.py`'s.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec.json import encode

from games.hexagondots import HexagonDots, hexagons_shown, lines_shown, players_shown
from server.http import Chunks, Exchange
from tournament.events import AnyEvent, Ended, Ending, Moved, Refused
from tournament.match import Match
from tournament.player import Player

LINES = (("Content-Type", "application/x-ndjson"), ("X-Content-Type-Options", "nosniff"))


class Guest(Protocol):
    """A bot that has come through a gate and is not done."""

    name: str
    player: Player

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
        self._match: Match | None = None  # the last that began for somebody who joined here, while it goes on
        self._told = 0  # so much of it was told to observers
        self._game = b""  # the Game as it was shown last …
        self._plies: int | None = None  # … after so many of them; None: it has changed in another way
        self._end: str | None = None  # in words, how the last match ended that is not followed by another
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
        """Why nothing can be done here, in words for somebody who wanted to."""
        if self._end is not None:
            return f"the game is over: {self._end}"
        if self._match is None:
            return "two have joined this game already"
        return "{} and {} play this game".format(*self._match.names)

    @property
    def over(self) -> bool:
        return self._end is not None

    @property
    def idle(self) -> bool:
        """Nobody plays or waits here."""
        return not self.guests and self._match is None

    def game(self) -> bytes:
        """The Game as it stands."""
        if self._match is not None and self._plies != self._match.ply:
            self._game, self._plies = encode(whole(self._match)), self._match.ply
        elif self._match is None and self._end is None:
            return encode(initiating(self.options, [guest.name for guest in self.waiting]))
        return self._game

    def begin(self, match: Match) -> None:
        """A match has begun for somebody who joined here."""
        if match is not self._match:
            self._match, self._plies, self._end = match, None, None
            self._say(lambda: delta(match, 0))
            self._told = match.ply
            match.log.follow(lambda event: self._tell(match, event), len(match.log.events))

    def observe(self, exchange: Exchange) -> None:
        chunks = exchange.stream(200, LINES)
        chunks.put(self.game() + b"\n")
        if self.over:
            chunks.close()
        else:
            self._observers[chunks] = None
            exchange.on_gone(lambda: self._observers.pop(chunks, None))

    def close(self) -> None:
        """Nothing more will happen here."""
        for chunks in tuple(self._observers):
            chunks.close()
        self._observers.clear()

    def _tell(self, match: Match, event: AnyEvent) -> None:
        if match is not self._match:
            return  # another has begun here meanwhile
        if isinstance(event, Moved) and match.verdict is not None:
            return  # the last move, which is told with the end
        if not isinstance(event, Refused):
            self._say(lambda: delta(match, self._told))
        self._told = match.ply
        if isinstance(event, Ended):
            self._game, self._end, self._match = encode(whole(match)), event.why, None
            self.close()

    def _say(self, news: Callable[[], object]) -> None:
        if self._observers:  # as nearly never
            line = encode(news()) + b"\n"
            for chunks in tuple(self._observers):
                chunks.put(line)


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
