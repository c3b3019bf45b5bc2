"""The Arena over HTTP: which request does what, in any game.

Bots join, or are evaluated; they open the stream of a battle and send commands
to it. `docs/protocols/arena.md` is the page for their authors. What a battle
tells is in `battle.py`, who plays in `guest.py`, evaluations in `evaluation.py`;
which games there are is in `messages.py`, and in which of them bots are
evaluated in `cases.py`.
"""

from codecs import BOM_UTF8
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar, Unpack

import msgspec

from server.config import Evaluation
from server.host.abroad import Wanted
from server.host.host import Host
from server.host.misfits import UNREADABLE, unreadable
from server.host.returning import Awaited
from server.host.unwelcome import STOPPING
from server.http.exchange import Exchange
from server.http.head import HttpError, form
from server.http.origins import NO_ORIGINS, Origins, is_from_here
from server.http.sharing import BOTS
from server.http.wire import PRIVATE, Request, json_response, refused, takes_only
from server.net.addresses import callable_networks
from server.net.escaping import safe
from server.net.outbound import Caller, Outbound
from server.net.turns import after_hang_ups
from server.protocols.arena.battle import Battle, Extras
from server.protocols.arena.cases import CASES
from server.protocols.arena.evaluation import Evaluate, Evaluations
from server.protocols.arena.guest import DOOR, Join
from server.protocols.arena.guests import Guests
from server.protocols.arena.invitations import Invitations
from server.protocols.arena.messages import STREAM, Command, ended, games
from server.protocols.dialect import Hint
from tournament.match import Match
from tournament.player import Player, Seat

T = TypeVar("T")
Action = Callable[[Exchange], Awaitable[object] | None]
NO_FORMS = (b"[", b'"', b"<", b"--")  # beginnings of JSON that is no object, of XML, of multipart/form-data


def old_paths(games: Iterable[str]) -> tuple[str, ...]:
    """All paths that bots know from the old system, in these games."""
    return (
        *(f"/{game}/{what}" for game in games for what in ("play/*", "start/*", "join", "evaluate")),
        "/evaluations/*",
    )


class Arena:
    sharing = BOTS

    def __init__(
        self,
        host: Host,
        settings: Evaluation,
        bind: str,
        caller: Caller | None = None,
        origins: Origins = NO_ORIGINS,
    ) -> None:
        """`caller` calls bots; without one, they are called over the network, as the settings allow."""
        self._games = games()
        self.paths = frozenset({*self._games, "evaluations"})
        self.old_paths = old_paths(self._games)
        self._host = host
        self._origins = origins
        from_here = callable_networks(settings.networks, bind)
        listed = from_here if settings.networks else ()
        invitations = Invitations(caller or Outbound(host.limits, listed, from_here=from_here))
        self._guests = Guests(host, invitations, self._enrol)
        self._evaluations = Evaluations(host, invitations, self._enrol)
        self._battles: dict[str, Battle] = {}
        self._sides: dict[Match, dict[int, Battle]] = {}
        self._awaited: dict[Seat, tuple[Battle, Player]] = {}  # after a restart: not yet joined again
        self._past: OrderedDict[str, tuple[str, list[bytes]]] = OrderedDict()  # the game, and what was told
        host.returning.listen(DOOR, self._await_return)
        host.returning.listen_called(self._guests.recall)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        method, path = exchange.request.method, exchange.request.path
        allowed, action = self._action(path.split("/")[1:])
        if action is None:
            exchange.respond(refused(404, f"there is nothing at {safe(path)}"))
        elif method not in allowed:
            exchange.respond(takes_only(exchange.request, *allowed))
        else:
            return action(exchange)
        return None

    def _action(self, parts: list[str]) -> tuple[Sequence[str], Action | None]:
        """The methods of a path, and the action that it stands for."""
        match parts:
            case [game, "play", name] if game in self._games:
                return ("POST",), lambda exchange: self._play(exchange, game, name)
            case [game, "start", name] if game in self._games:
                return ("GET",), lambda exchange: self._start(exchange, game, name)
            case ["evaluations", name]:
                return ("GET", "HEAD"), lambda exchange: self._tell_standing(exchange, name)
            case [game, "join"] if game in self._games:
                return ("POST",), lambda exchange: self._join(exchange, game)
            case [game, "evaluate"] if game in CASES:
                return ("POST",), lambda exchange: self._evaluate(exchange, game)
            case _:
                return (), None

    def leads(self, request: Request) -> Iterable[Wanted | Hint | str]:
        match request.path.split("/")[1:]:
            case [game, "join"] if game in self._games:
                try:
                    asked = _read(request, Join)
                except HttpError:
                    return ()
                wanted = Wanted(asked.name, game, asked.tournament, asked.token)
                return () if self._host.untold.why(wanted) else (Hint(asked.token or ""), wanted)
            case [_, "start" | "play", name] | ["evaluations", name]:
                return (name,)
            case [game, "evaluate"] if game in CASES:
                try:
                    return (_read(request, Evaluate).runId or "",)  # it may be somebody's already, elsewhere
                except HttpError:
                    return ()
            case _:
                return ()

    async def _join(self, exchange: Exchange, game: str) -> None:
        asked = _read(exchange.request, Join)
        if asked.teamUrl is not None:
            self._origins.check(exchange.request)
        await self._guests.join(exchange, game, asked)

    # Battles

    def _await_return(self, awaited: Awaited) -> None:
        """Make a battle that the host's stop has interrupted known by its name again."""
        seat, player = awaited.seat, awaited.player
        opened, elsewhere = partial(self._came_back, player), partial(self._host.reception.is_held, player)
        if elsewhere():
            return
        battle = self._enrol(seat, name=awaited.words, opened=opened, ended=player.away, elsewhere=elsewhere)
        self._awaited[seat] = battle, player

    def _came_back(self, player: Player) -> None:
        """Its bot has got the name of its battle, and its token with it."""
        player.back()
        self._host.reception.trust(player.name, player.game, player)

    def _enrol(self, seat: Seat, **extras: Unpack[Extras]) -> Battle:
        """The battle of a seat: a new one, unless one is awaited there after a restart."""
        if seat in self._awaited:
            battle, _ = self._awaited.pop(seat)
            battle.belong(**extras)
            return battle
        host, sides = self._host, self._sides.setdefault(seat.match, {})
        battle = Battle(seat, sides, host.guard, host.limits, self._closed, **extras)
        self._battles[battle.name] = battle
        host.on_key_of_game(battle.name)
        return battle

    def _closed(self, battle: Battle) -> None:
        """Keep what was told, for a while, and nothing else."""
        del self._battles[battle.name]
        self._awaited.pop(battle.seat, None)
        if all(each.over.is_set() for each in self._sides.get(battle.match, {}).values()):
            self._sides.pop(battle.match, {}).clear()  # or both would keep each other alive
        self._past[battle.name] = battle.match.game.name, battle.told
        while len(self._past) > self._host.limits.battles_kept:
            forgotten, _ = self._past.popitem(last=False)
            self._host.on_key_of_game_gone(forgotten)

    def _start(self, exchange: Exchange, game: str, name: str) -> Awaitable[object] | None:
        battle = self._find(game, name)
        if battle is not None and battle.streaming:
            return self._start_after_hang_ups(exchange, game, name)
        self._stream(exchange, game, name)
        return None

    async def _start_after_hang_ups(self, exchange: Exchange, game: str, name: str) -> None:
        """Open a stream in place of another, unless its own client has hung up by the time all is read."""
        await after_hang_ups()
        if not exchange.gone:
            self._stream(exchange, game, name)

    def _stream(self, exchange: Exchange, game: str, name: str) -> None:
        if (battle := self._find(game, name)) is not None:
            exchange.authenticated()
            try:
                battle.start(exchange)
            except Exception as error:
                battle.failed(error)
                raise
            return
        told = self._told(game, name)
        stream = exchange.stream(200, STREAM)
        for event in told:
            stream.put(event)
        stream.close()

    def _play(self, exchange: Exchange, game: str, name: str) -> None:
        if (battle := self._find(game, name)) is None:
            self._told(game, name)
            raise ended()
        exchange.authenticated()
        try:
            battle.play(exchange, lambda: _read(exchange.request, Command))
        except Exception as error:
            battle.failed(error)
            raise

    def _find(self, game: str, name: str) -> Battle | None:
        battle = self._battles.get(name)
        if battle is None or battle.match.game.name != game:
            return None
        if battle.seat in self._awaited and self._host.reception.is_held(self._awaited[battle.seat][1]):
            return None  # its bot has come back over another protocol
        return battle

    def _told(self, game: str, name: str) -> list[bytes]:
        """All events of a battle that is over; raises `HttpError` if there was none."""
        of, told = self._past.get(name, ("", []))
        if of == game:
            return told
        if self._evaluations.awaits(game, name):
            raise HttpError(
                409, "battle not started: the cases of an evaluation are played one after another"
            )
        raise HttpError(404, "Battle not found")

    # Evaluations

    async def _evaluate(self, exchange: Exchange, game: str) -> None:
        self._origins.check(exchange.request)
        asked = _read(exchange.request, Evaluate)
        if self._host.draining:
            raise HttpError(503, STOPPING)
        request = exchange.request
        run = await self._evaluations.begin(game, asked, peer=request.peer, from_here=is_from_here(request))
        named = {} if asked.runId is not None else {"runId": run.name}
        exchange.respond(json_response(200, {"battleIds": [*run.cases], "errors": {}, **named}, *PRIVATE))

    def _tell_standing(self, exchange: Exchange, name: str) -> None:
        run = self._evaluations.find(name)
        if run is None:
            raise HttpError(404, "there is no evaluation with this runId, or it was long ago")
        exchange.respond(json_response(200, run.standing(), *PRIVATE))


def _read(request: Request, kind: type[T]) -> T:
    """The body of a request: JSON if it looks like it, whatever its Content-Type, and otherwise a form."""
    body = given = request.body.strip()
    try:
        if body.startswith((b"{", BOM_UTF8)):  # no form begins with a byte order mark: say that it is there
            return msgspec.json.decode(str(body, "utf-8"), type=kind)  # what is passed over is UTF-8 as well
        if body and not (body.startswith(NO_FORMS) or "json" in request.headers.get("content-type", "")):
            given = form(body)
            return msgspec.convert(given, kind)
    except UNREADABLE as error:
        raise HttpError(400, f"the body cannot be read: {unreadable(error, 'body', given, kind)}") from None
    raise HttpError(400, "expected a JSON object or a form (application/x-www-form-urlencoded) as the body")
