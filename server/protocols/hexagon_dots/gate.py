"""One game address of Hexagon Dots: what is seen there, and by whom.

A `Gate` is an address that bots may join a game at. Before the match it says
what is waited for, then it shows the match, and afterwards how that ended.
Whoever observes is streamed the Game and then every change, a line of JSON each.

What a Game and a Delta look like is here too; who may do what at a gate is
`server/protocols/hexagon_dots/door.py`'s business, and what a bot is told
`server/protocols/hexagon_dots/bot.py`'s.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from msgspec.json import encode

from games.hexagondots import HexagonDots, hexagons_shown, lines_shown, players_shown
from server.http.exchange import Chunks, Exchange
from tournament.events import AnyEvent, Ended, Ending, Moved
from tournament.match import Match
from tournament.player import Player

Standing = tuple[HexagonDots, tuple[str, str], Ended | None]  # a position, the players' names, the end

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
    def __init__(
        self, path: str, options: Mapping[str, Any], fixed: bool, at: float, idle: dict["Gate", None]
    ) -> None:
        """`fixed` if those who join play each other on this very board; else the host deals the match.

        A gate is among the `idle` ones, which many share, while nobody plays or waits here.
        """
        self.path = path
        self.options = options
        self.fixed = fixed
        self.at = at  # when it was made
        self.guests: dict[Guest, None] = {}  # in the order of coming; see `enter` and `leave`
        self.taken = False  # its game has begun
        self._match: Match | None = None  # the last that began for somebody who joined here, while it goes on
        self._told = 0  # so much of it was told to the observers, if there are any
        self._game = b""  # the Game as it was shown last …
        self._plies: int | None = None  # … after so many of them; None: it has changed in another way
        self._last: Standing | None = None  # what it came to, when nobody has been shown that yet
        self._end: str | None = None  # in words, how the last match ended that is not followed by another
        self._observers: dict[Chunks, None] = {}
        self._idle = idle
        self._settle()

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

    def enter(self, guest: Guest) -> None:
        self.guests[guest] = None
        self._settle()

    def leave(self, guest: Guest) -> None:
        del self.guests[guest]
        self._settle()

    def game(self) -> bytes:
        """The Game as it stands."""
        if self._match is not None and self._plies != self._match.ply:
            self._game, self._plies = encode(whole(*standing(self._match))), self._match.ply
        elif self._last is not None:
            self._game, self._last = encode(whole(*self._last)), None
        elif self._match is None and self._end is None:
            return encode(initiating(self.options, (guest.name for guest in self.waiting)))
        return self._game

    def offer(self) -> dict[str, Any]:
        """What somebody is told of it who looks for a game to join."""
        rows, cols = self.options["rows"], self.options["cols"]
        players = [guest.name for guest in self.waiting]
        return {"game": self.path, "rows": rows, "cols": cols, "players": players}

    def outline(self) -> dict[str, Any]:
        """The Game without what was drawn in it, and an `id`: the path as the viewer of 2011 wants it."""
        if self._match is None:
            rows, cols = self.options["rows"], self.options["cols"]
            players, state = _newcomers(guest.name for guest in self.waiting), "initiating"
        else:
            position, names, ended = standing(self._match)
            rows, cols = position.board.rows, position.board.cols
            players, state = _players(position, names, ended), _state(ended)
        return {"id": self.path[1:], "rows": rows, "cols": cols, "players": players, "state": state}

    def begin(self, match: Match) -> None:
        """A match has begun for somebody who joined here."""
        if match is not self._match:
            self._match, self._plies, self._last, self._end = match, None, None, None
            self._settle()
            self._told = 0
            self._say(match)
            match.log.follow(partial(self._tell, match), len(match.log.events))

    def observe(self, exchange: Exchange) -> None:
        chunks = exchange.stream(200, LINES)
        chunks.put(self.game() + b"\n")
        if self.over:
            chunks.close()
        else:
            self._observers[chunks] = None
            self._told = 0 if self._match is None else self._match.ply
            exchange.on_gone(lambda: self._observers.pop(chunks, None))

    def close(self) -> None:
        """Nothing more will happen here."""
        for chunks in tuple(self._observers):
            chunks.close()
        self._observers.clear()

    def _tell(self, match: Match, event: AnyEvent) -> None:
        if match is not self._match:
            return  # another has begun here meanwhile
        if isinstance(event, Moved):
            if match.verdict is None:  # else it is the last move, which is told with the end
                self._say(match)
        elif isinstance(event, Ended):
            self._say(match)
            self._last, self._end, self._match = standing(match), event.why, None
            self._settle()
            self.close()

    def _settle(self) -> None:
        if self.guests or self._match is not None:
            self._idle.pop(self, None)
        else:
            self._idle[self] = None

    def _say(self, match: Match) -> None:
        """Tell what is new, if there is anybody to tell, as nearly never."""
        if self._observers:
            line = encode(delta(match, self._told)) + b"\n"
            self._told = match.ply
            for chunks in tuple(self._observers):
                chunks.put(line)


def initiating(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The Game before it begins."""
    return {
        "rows": options["rows"],
        "cols": options["cols"],
        "lines": [],
        "hexagons": [],
        "players": _newcomers(names),
        "state": "initiating",
    }


def standing(match: Match) -> Standing:
    """What makes the Game of it."""
    return match.position, match.names, match.result


def whole(position: HexagonDots, names: tuple[str, str], ended: Ended | None) -> dict[str, Any]:
    """The Game."""
    board, players = position.board, _players(position, names, ended)
    opening = HexagonDots(board)
    return {
        "rows": board.rows,
        "cols": board.cols,
        "lines": lines_shown(opening, position, players),
        "hexagons": hexagons_shown(opening, position, players),
        "players": players,
        "state": _state(ended),
    }


def delta(match: Match, since: int) -> dict[str, Any]:
    """What has come to the Game after so many plies, in the order of its coming."""
    ended, positions = match.result, match.positions[since:]
    players = _players(positions[-1], match.names, ended)
    return {
        "lines": [
            {"endpoints": move, "owner": players[before.turn]}
            for move, before in zip(match.moves[since:], positions, strict=False)
        ],
        "hexagons": hexagons_shown(positions[0], positions[-1], players),
        "players": players,
        "state": _state(ended),
    }


def _newcomers(names: Iterable[str]) -> list[object]:
    return [{"name": name, "score": 0} for name in names]


def _players(position: HexagonDots, names: tuple[str, str], ended: Ended | None) -> list[object]:
    """With their scores; who lost in another way than by these is disqualified."""
    players = players_shown(position, names)
    if ended is None or ended.ending in (Ending.PLAYED, Ending.VOID):
        return players
    return [
        player if seat == ended.winner else {"name": name, "score": "disqualified"}
        for seat, (player, name) in enumerate(zip(players, names, strict=True))
    ]


def _state(ended: Ended | None) -> str:
    return "in play" if ended is None else "completed"
