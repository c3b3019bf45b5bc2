"""Hexagon Dots over HTTP, as its players know it: games have addresses, and requests are held.

`POST /` makes a game, `POST <game>/players` joins it, `POST <game>/moves` plays;
an answer comes when it is the bot's turn. `GET /match` finds a game. Bodies are
JSON, whatever their Content-Type says; what is refused is told in plain words.

Two who join a game that somebody made play each other on that board, at the
open table. At an address that `GET /match` gave the host deals the match; and a
bot whose name a tournament awaits, or may take, is led there from any address.

What a bot is told is in `hexagon_bot.py`, what anybody sees of a game in
`hexagon_gate.py`; `docs/protocols/hexagon-dots.md` is the page for authors.
"""

import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache, partial
from typing import TypeVar

import msgspec
import trio
from msgspec import Struct

from games.game import BadOption
from games.hexagondots import GAME
from server.doors.farewell import when_over
from server.doors.hexagon_bot import Bot, plain
from server.doors.hexagon_gate import Gate
from server.doors.taped import TURN
from server.host import OPEN, Host
from server.http import JSON, Exchange, Response, json_response
from server.names import BadName, checked, key
from server.reception import Unwelcome

FRESH = 60.0  # seconds for which a game that somebody made is offered before anybody has joined it
SIZES = 512  # boards that are known to be in order: more than there are
DEFAULT = {"rows": 5, "cols": 5}  # the board of the open table

T = TypeVar("T")
Action = Callable[[Exchange], Awaitable[object] | None]
ActionAt = Callable[[Gate, Exchange], Awaitable[object] | None]


class Board(Struct, frozen=True):
    rows: int
    cols: int


class Joiner(Struct, frozen=True):
    name: str


class Bad(Exception):
    """A request that cannot be taken. The message is for the author of the bot."""


class HexagonDots:
    paths = frozenset({"", "g", "match", "games"})

    def __init__(self, host: Host) -> None:
        self._host = host
        self._gates: dict[str, Gate] = {}  # by path, in the order of their making
        self._idle: dict[Gate, None] = {}  # of these
        self._bots: dict[str, Bot] = {}  # that wait or play, by the key of their name
        self._tokens: dict[str, Bot] = {}
        self._done: deque[Bot] = deque()  # whose last requests can still be made again
        self._elsewhere: Mapping[str, tuple[str, Action]] = {
            "/": ("POST", self._create),
            "/match": ("GET", self._find),
            "/games": ("GET", self._list),
        }
        self._at_a_game: Mapping[str, tuple[str, ActionAt]] = {
            "players": ("POST", self._join),
            "moves": ("POST", self._move),
            "observers": ("POST", Gate.observe),
        }

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        method, path = exchange.request.method, exchange.request.path
        found = self._action(path)
        if found is None:
            exchange.respond(plain(404, f"there is no game at {path[:80]}"))
            return None
        allowed, action = found
        if method != allowed and (method, allowed) != ("HEAD", "GET"):
            exchange.respond(plain(405, f"{path[:80]} takes {allowed}, not {method}", ("Allow", allowed)))
            return None
        try:
            return action(exchange)
        except Bad as bad:
            exchange.respond(plain(400, str(bad)))
            return None

    def _action(self, path: str) -> tuple[str, Action] | None:
        """What can be done at a path, and by which method."""
        game, _, what = path.rpartition("/")
        if (gate := self._gates.get(game)) is not None and what in self._at_a_game:
            allowed, action = self._at_a_game[what]
            return allowed, partial(action, gate)
        if (gate := self._gates.get(path)) is not None:
            return "GET", partial(self._show, gate)
        return self._elsewhere.get(path)

    # Games

    def _create(self, exchange: Exchange) -> None:
        wanted = _read(exchange, Board, '{"rows":5,"cols":5}')
        try:
            _check(wanted.rows, wanted.cols)
        except BadOption as error:
            raise Bad(str(error)) from None
        self._locate(exchange, self._make({"rows": wanted.rows, "cols": wanted.cols}, fixed=True))

    def _find(self, exchange: Exchange) -> None:
        """Somebody who waits is first; then what was made just now; else the host finds an opponent."""
        now, free = trio.current_time(), [gate for gate in self._gates.values() if gate.open]
        gate = (
            next((gate for gate in free if gate.waiting), None)
            or next((gate for gate in free if gate.fixed and now - gate.at < FRESH), None)
            or next((gate for gate in free if not gate.fixed), None)
            or self._make(DEFAULT, fixed=False)
        )
        self._locate(exchange, gate)

    def _list(self, exchange: Exchange) -> None:
        games = [
            {"game": gate.path, **gate.options, "players": [bot.name for bot in gate.waiting]}
            for gate in self._gates.values()
            if gate.open
        ]
        exchange.respond(json_response(200, {"games": games}))

    def _show(self, gate: Gate, exchange: Exchange) -> None:
        exchange.respond(Response(200, JSON, gate.game()))

    def _locate(self, exchange: Exchange, gate: Gate) -> None:
        exchange.respond(Response(201, own=(("Location", gate.path),)))

    def _make(self, options: Mapping[str, int], fixed: bool) -> Gate:
        """A new address; of those that nobody needs the oldest go, where they are too many."""
        while len(self._idle) >= self._host.limits.games:
            oldest = next(gate for gate in self._gates.values() if gate in self._idle)
            del self._gates[oldest.path], self._idle[oldest]
            oldest.close()
        path = f"/g/{secrets.token_hex(4)}"
        while path in self._gates:
            path = f"/g/{secrets.token_hex(4)}"
        made = self._gates[path] = Gate(path, options, fixed, trio.current_time(), self._idle)
        return made

    # Bots

    def _join(self, gate: Gate, exchange: Exchange) -> Awaitable[object] | None:
        try:
            name = checked(_read(exchange, Joiner, '{"name":"ann"}').name, GAME.name)
        except BadName as error:
            raise Bad(str(error)) from None
        here = self._bots.get(key(name))
        if here is not None and here.away:
            here.join_again(exchange, gate)
        elif gate.open or self._host.tournament_for(name, GAME.name) is not None:
            return self._arrive(exchange, gate, name)
        else:
            exchange.respond(plain(410, gate.why_not))
        return None

    async def _arrive(self, exchange: Exchange, gate: Gate, name: str) -> None:
        try:
            visit = await self._host.arrive(
                name, GAME.name, keeps=False, reserved=True, peer=exchange.request.peer
            )
        except Unwelcome as refusal:
            exchange.respond(plain(503 if self._host.draining else 409, str(refusal)))
            return
        player, place = visit.player, visit.player.place or ""
        led = not place.startswith(OPEN)
        if exchange.gone or not (led or gate.open):
            visit.leave()
            exchange.respond(plain(410, gate.why_not))
            return
        exchange.authenticated()
        self._gates[gate.path] = gate  # it may have been dropped meanwhile, as nobody was there
        bot = self._bots[key(name)] = Bot(visit, gate, led, self._tokens, self._leave, self._host.wires)
        bot.join(exchange)
        if led:
            bot.stop_waiting = when_over(
                self._host, place, lambda tournament, fact: bot.dismiss(f"{tournament.record.name} is over")
            )
        if led or not gate.fixed:
            player.free()
        elif len(both := [bot for bot in gate.guests if bot.waits]) == 2:
            gate.taken = True
            self._host.tournaments[place].challenge(both[0].player, both[1].player, gate.options)

    def _move(self, gate: Gate, exchange: Exchange) -> None:
        token = exchange.request.headers.get(TURN.lower(), "")
        bot = self._tokens.get(token)
        if bot is not None and bot.gate is gate:
            bot.move(exchange, token)
        elif gate.over:
            exchange.respond(plain(410, gate.why_not))
        else:
            exchange.respond(plain(403, f"a move needs the {TURN} of the last answer"))

    def _leave(self, bot: Bot) -> None:
        """A bot has no more to come. For a while its last requests are answered as they were."""
        del self._bots[key(bot.name)]
        if bot.has_played:
            self._done.append(bot)
            if len(self._done) > self._host.limits.games:
                self._done.popleft().forget()


def _read(exchange: Exchange, kind: type[T], example: str) -> T:
    try:
        return msgspec.json.decode(exchange.request.body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Bad(f"expected {example}: {error}") from None


@lru_cache(SIZES)
def _check(rows: int, cols: int) -> None:
    """Raise `BadOption` for a board that cannot be. Building the largest takes 30 ms: once is enough."""
    GAME.opening({"rows": rows, "cols": cols})
