"""The door for Hexagon Dots over HTTP: games have addresses, and requests are held.

`POST /` makes a game, `POST <game>/players` joins it, `POST <game>/moves` plays;
an answer comes when it is the bot's turn. `GET /match` finds a game, `GET /` and
`GET /games` list them. Bodies are JSON, whatever their Content-Type says; refusals
are plain text.

Two who join a game that somebody made play each other on that board, at the open
table; a name may play several of those at once. At an address from `GET /match`,
the host deals the match to a bot whose name nobody shares. A bot whose name a
tournament awaits, or may take, is led there from any address.

`bot.py` has what a bot is told, `namesakes.py` which bots there are, `gates.py` the addresses, and `gate.py`
what others see of a game;
`docs/protocols/hexagon-dots.md` is the page for authors.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec
import trio

from games.game import BadOption, Game
from server.host.abroad import Wanted as Led
from server.host.host import Host
from server.host.misfits import UNREADABLE, unreadable
from server.host.names import BadName, checked
from server.host.opening import OPEN
from server.host.returning import Awaited, way_back
from server.host.unwelcome import STOPPING, Unwelcome
from server.host.visits import Visit
from server.http.exchange import Exchange
from server.http.sharing import BOTS
from server.http.wire import JSON, NO_STORE, Request, Response, json_response
from server.net.budgets import address_of
from server.net.escaping import safe
from server.net.pauses import WithPauses
from server.net.turns import after_hang_ups
from server.protocols.common.http_tape import TURN
from server.protocols.common.unwelcome import status_of
from server.protocols.hexagon_dots.bot import Bot, plain
from server.protocols.hexagon_dots.gate import EnteredBot, Gate
from server.protocols.hexagon_dots.gates import Gates
from server.protocols.hexagon_dots.messages import GameWanted, Joiner
from server.protocols.hexagon_dots.namesakes import Namesakes

DOOR = "hexagon-dots"
MADE, FOUND_BY_HOST = "made", "found"  # kinds of addresses in a way back, by who arranges the match
SIZES = 512  # boards that are known to be valid: more than there are
AT_A_TIME = 50  # games that are listed before other tasks get their turn: there may be thousands

T = TypeVar("T")
Action = Callable[[Exchange], Awaitable[object] | None]
ActionAt = Callable[[Gate, Exchange], Awaitable[object] | None]


class Bad(Exception):
    """A request that cannot be taken. The message is for the author of the bot."""


class HexagonDots:
    paths = frozenset({"", "g", "match", "games"})
    sharing = BOTS
    old_paths = ("/match", "/games", "/g/*", "/g/*/players", "/g/*/moves", "/g/*/observers")

    def __init__(self, host: Host, game: Game[Any, Any]) -> None:
        self._host = host
        self._game = game
        self._in_order = lru_cache(SIZES)(self._check)
        self._gates = Gates(host)
        self._namesakes = Namesakes()  # bots that wait or play
        self._tokens: dict[str, Bot] = {}
        self._done: deque[Bot] = deque()  # bots whose last requests can still be repeated
        self._elsewhere: Mapping[str, Mapping[str, Action]] = {
            "/": {"GET": self._overview, "POST": self._create},
            "/match": {"GET": self._find},
            "/games": {"GET": self._list},
        }
        self._at_a_game: Mapping[str, tuple[str, ActionAt]] = {
            "players": ("POST", self._join),
            "moves": ("POST", self._move),
            "observers": ("POST", Gate.observe),
        }
        host.returning.listen(DOOR, self._await_return)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        method, path = exchange.request.method, exchange.request.path
        actions = self._actions(method, path)
        if actions is None:
            exchange.respond(plain(404, f"there is no game at {safe(path)}"))
            return None
        action = actions.get("GET" if method == "HEAD" else method)
        if action is None:
            why = f"{safe(path)} takes {' and '.join(actions)}, not {method}"
            exchange.respond(plain(405, why, ("Allow", ", ".join(actions))))
            return None
        try:
            return action(exchange)
        except Bad as bad:
            exchange.respond(plain(400, str(bad)))
            return None

    def _actions(self, method: str, path: str) -> Mapping[str, Action] | None:
        """What can be done at a path, by method; whoever joins may find a game that nobody knows of."""
        game, _, what = path.rpartition("/")
        joins = (method, what) == ("POST", "players")
        gate = self._gates.at(game) or (self._gates.opened_before(game) if joins else None)
        if gate is not None and what in self._at_a_game:
            method, action = self._at_a_game[what]
            return {method: partial(action, gate)}
        if (gate := self._gates.at(path)) is not None:
            return {"GET": partial(self._show, gate)}
        return self._elsewhere.get(path)

    def leads(self, request: Request) -> Iterable[Led | str]:
        """Where a request leads: games are made at the open table's host, entrants go to their own."""
        table = Led("anybody", self._game.name, OPEN + self._game.name)
        path, _, what = request.path.rpartition("/")
        if what == "moves":
            return (request.headers.get(TURN.lower(), ""), path, table)
        if what == "players":
            try:
                joiner = msgspec.json.decode(request.body, type=Joiner)
            except UNREADABLE:
                return (table,)
            if self._host.untold.why(self._comes(joiner.name, request.peer)):
                return ()
            return (Led(joiner.name, self._game.name, None), table)
        return (table,)

    def _comes(self, name: str, peer: str) -> Led:
        """A bot without a token as others recognise it."""
        return Led(name, self._game.name, None, door=DOOR, address=address_of(peer))

    def _is_nowhere(self, gate: Gate, name: str) -> bool:
        """Whether no host has told of a gate's address, and no tournament leads a bot from it."""
        return (
            self._gates.is_strange(gate) and self._host.placing.tournament_for(name, self._game.name) is None
        )

    # Games

    def _create(self, exchange: Exchange) -> None:
        wanted = _read(exchange, GameWanted, '{"rows":5,"cols":5}')
        try:
            self._in_order(wanted.rows, wanted.cols)
            self._game.opening({"end": wanted.end})
        except BadOption as error:
            raise Bad(str(error)) from None
        if not self._is_stopping(exchange):
            board, peer = msgspec.to_builtins(wanted), exchange.request.peer
            self._locate(exchange, self._gates.make(board, fixed=True, peer=peer))

    def _check(self, rows: int, cols: int) -> None:
        """Raise `BadOption` for an impossible board. Cached: building the largest takes 3 ms."""
        self._game.opening({"rows": rows, "cols": cols})

    def _find(self, exchange: Exchange) -> None:
        if not self._is_stopping(exchange):
            self._locate(exchange, self._gates.find(exchange.request.peer))

    async def _list(self, exchange: Exchange) -> None:
        games = [gate.offer() async for gate in WithPauses(self._gates, AT_A_TIME) if gate.open]
        exchange.respond(json_response(200, {"games": games}))

    async def _overview(self, exchange: Exchange) -> None:
        """The overview for the viewer of 2011, which looks twice a second for games that have begun."""
        games = [gate.outline() async for gate in WithPauses(self._gates, AT_A_TIME) if not gate.over]
        # A browser gets another answer at this address.
        exchange.respond(json_response(200, games, NO_STORE))

    def _show(self, gate: Gate, exchange: Exchange) -> None:
        exchange.respond(Response(200, JSON, gate.game()))

    def _is_stopping(self, exchange: Exchange) -> bool:
        """Whether nobody can come any more; if so, answer that."""
        if self._host.draining:
            exchange.respond(plain(503, STOPPING))
        return self._host.draining

    def _locate(self, exchange: Exchange, gate: Gate) -> None:
        exchange.respond(Response(201, own=(("Location", gate.path),)))

    # Bots

    def _join(self, gate: Gate, exchange: Exchange) -> Awaitable[object] | None:
        try:
            name = checked(_read(exchange, Joiner, '{"name":"ann"}').name)
        except BadName as error:
            raise Bad(str(error)) from None
        if self._namesakes.anybody(name):
            return self._join_after_hang_ups(gate.letting_in(), gate, exchange, name)
        return self._take_in(gate, exchange, name)

    async def _join_after_hang_ups(
        self, gate_stays: ExitStack, gate: Gate, exchange: Exchange, name: str
    ) -> None:
        """Have a bot join whose name is here: its hang-up may be on the way, and be read after this."""
        with gate_stays:
            await after_hang_ups()
            await self._let_go_of_vanished(gate, exchange.request.peer, name)
        if not exchange.gone and (joining := self._take_in(gate, exchange, name)) is not None:
            await joining

    async def _let_go_of_vanished(self, gate: Gate, peer: str, name: str) -> None:
        """Let go of the bot of that name that came from there, if its network is gone: it may be the same."""
        if (here := self._namesakes.somebody_at(name, gate)) is None:
            await self._host.arrivals.let_go_of_vanished(name, self._game.name, shared=gate.fixed, peer=peer)
        elif here.name == name and address_of(here.attendance.peer) == address_of(peer):
            await here.vanished()

    def _take_in(self, gate: Gate, exchange: Exchange, name: str) -> Awaitable[object] | None:
        if (back := self._namesakes.coming_back(name, gate)) is not None:
            try:
                self._host.reception.expect_no_seat_of_others(
                    name, self._game.name, DOOR, exchange.request.peer
                )
            except Unwelcome as refusal:
                exchange.respond(plain(409, str(refusal)))
                return None
            self._namesakes.be_at(back, gate)
            _serve(back, exchange, back.join_again, gate)
        elif self._is_nowhere(gate, name):
            if not gate.awaits_somebody:
                self._gates.forget(gate)
            exchange.respond(plain(404, f"there is no game at {safe(exchange.request.path)}"))
        elif self._namesakes.is_at(name, gate):
            exchange.respond(_twice(name))
        elif self._takes_in(gate) or self._host.placing.tournament_for(name, self._game.name) is not None:
            return self._let_in(gate.letting_in(), exchange, gate, name)
        else:
            exchange.respond(plain(410, gate.why_not))
        return None

    def _takes_in(self, gate: Gate) -> bool:
        return gate.takes_in_at(trio.current_time())

    async def _let_in(self, gate_stays: ExitStack, exchange: Exchange, gate: Gate, name: str) -> None:
        """Let a bot in. When this gets its turn, others may have made games, but not in place of this one."""
        with gate_stays:
            await self._arrive(exchange, gate, name)

    async def _arrive(self, exchange: Exchange, gate: Gate, name: str) -> None:
        game = self._game.name
        shared = gate.fixed and self._host.placing.tournament_for(name, game) is None
        peer, hung_up = exchange.request.peer, self._namesakes.hung_up
        comes = self._comes(name, peer)
        if why := self._host.untold.why(comes):  # it asks for its next match, and its last was the last
            self._host.untold.has_been_told(comes)
            exchange.respond(plain(410, why))
            return
        bot = Bot(self._host, name, gate, peer, self._tokens, hung_up, self._leave)
        try:
            visit = await bot.attendance.arrive(
                name, game, keeps=False, shared=shared, ready=False, door=DOOR
            )
        except Unwelcome as refusal:
            bot.attendance.lost()
            exchange.respond(self._answer_to(refusal))
            return
        if visit is None or exchange.gone or not (bot.led or self._takes_in(gate)):
            bot.attendance.lost()
            exchange.respond(plain(410, gate.why_not))
            return
        if self._namesakes.is_at(name, gate):  # another request was quicker
            bot.attendance.lost()
            exchange.respond(_twice(name))
            return
        self._gates.keep(gate)
        self._namesakes.add(bot)
        _serve(bot, exchange, partial(self._enter, bot), visit)

    def _answer_to(self, refusal: Unwelcome) -> Response:
        """What somebody who may not come in is told."""
        status, headers = status_of(refusal, 409, draining=self._host.draining)
        return plain(status, str(refusal), *headers)

    def _enter(self, bot: Bot, exchange: Exchange, visit: Visit) -> None:
        """Let a bot wait for its match; the second bot at a game that somebody made begins it."""
        gate, player = bot.gate, visit.player
        bot.join(exchange, visit)
        player.way_back = way_back(DOOR, f"{gate.path} {MADE if gate.fixed else FOUND_BY_HOST} {bot.secret}")
        player.options = gate.options
        if bot.led or not gate.fixed:
            player.set_ready(True)
        elif len(both := gate.waiting) == 2:
            gate.take()
            self._host.tournaments[player.place or ""].challenge(both[0], both[1], gate.options)

    def _move(self, gate: Gate, exchange: Exchange) -> Awaitable[object] | None:
        token = exchange.request.headers.get(TURN.lower(), "")
        bot = self._tokens.get(token)
        if bot is not None and bot.gate is gate:
            if bot.waits_with(token, exchange.request.body):
                return self._repeat_after_hang_ups(bot, exchange, token)
            _serve(bot, exchange, bot.move, token)
        elif (guest := gate.awaited(token)) is not None:
            _serve(guest, exchange, guest.return_with, token)
        elif gate.over:
            exchange.respond(plain(410, gate.why_not))
        else:
            exchange.respond(plain(403, f"a move needs the {TURN} of the last answer"))
        return None

    async def _repeat_after_hang_ups(self, bot: Bot, exchange: Exchange, token: str) -> None:
        """Take a request that was made twice, unless its client has hung up by the time all is read."""
        await after_hang_ups()
        if not exchange.gone:
            _serve(bot, exchange, bot.move, token)

    def _await_return(self, awaited: Awaited) -> None:
        """Let a bot go on with the match that the host's stop has interrupted."""
        path, made, secret = awaited.words.split(" ")
        player, match = awaited.player, awaited.seat.match
        gate = self._gates.at(path) or self._gates.open(path, match.options, made == MADE)
        self._host.on_key_of_game(path)
        hung_up = self._namesakes.hung_up
        bot = Bot(self._host, player.name, gate, "", self._tokens, hung_up, self._leave, secret)
        self._namesakes.add(bot)
        at_open_table = (player.place or "").startswith(OPEN)
        bot.await_return(self._host.reception.await_return(player, shared=gate.fixed and at_open_table))

    def _leave(self, bot: Bot) -> None:
        """Let a bot go. For a while its last requests get the same answers as before."""
        self._namesakes.remove(bot)
        if bot.has_played:
            self._done.append(bot)
            if len(self._done) > self._host.limits.games:
                self._done.popleft().forget()


def _serve(guest: EnteredBot, exchange: Exchange, take: Callable[[Exchange, T], None], what: T) -> None:
    """Take a guest's request. If that fails by a fault of ours, nobody loses a match by it."""
    try:
        take(exchange, what)
    except Exception as error:
        guest.failed(exchange, error)
        raise


def _read(exchange: Exchange, kind: type[T], example: str) -> T:
    try:
        return msgspec.json.decode(str(exchange.request.body, "utf-8"), type=kind)
    except UNREADABLE as error:
        raise Bad(f"expected {example}: {unreadable(error, 'body', exchange.request.body, kind)}") from None


def _twice(name: str) -> Response:
    return plain(409, f"the name {name} is taken: somebody is in this game under it")
