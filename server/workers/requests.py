"""Where a request belongs: by the tournament that its path names, by a secret that it has, or by its bot.

Dialects over HTTP for certain games only know a battle, or a game's address, before they know whose it is.
So one worker holds all tournaments of such games, and all of these dialects' requests go there.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from server.host.abroad import Wanted
from server.host.opening import OPEN
from server.http.spelling import Spelling
from server.http.wire import Request
from server.net.budgets import address_of
from server.protocols.catalogue import carried
from server.protocols.dialect import OverHttp
from server.protocols.house.talk import wanted as wanted_by
from server.protocols.mcp.door import SESSION
from server.protocols.mcp.place import DOOR
from server.protocols.mcp.sessions import announced

# Tools for bots that have joined
AT_PLACE = frozenset({"wait", "position", "legal_moves", "move", "resign", "leave"})
ANYWHERE = frozenset({"", "initialize", "tools/call"})  # methods that any process answers, without a session
KEYS = 100_000  # secrets that are remembered: more than sessions can be open


class Belonging(Struct, frozen=True):
    """What says where a request belongs: the first of these fields that says anything."""

    tournament: str | None = None
    keys: tuple[str, ...] = ()  # secrets that some process has made, the surest first
    wanted: Wanted | None = None  # a bot comes with it
    game: str | None = None  # one of the games that are held together …
    opens: bool = False  # whether it is an order for which an open table is opened
    needs: tuple[str, ...] = ()  # whoever answers has to know one of these secrets, whoever has made it
    moves: bool = False  # whether a secret leads elsewhere as soon as its model joins there


class Arguments(Struct, frozen=True):
    name: object = None
    game: object = None
    tournament: object = None
    against: object = None
    token: object = None


class Parameters(Struct, frozen=True):
    name: str = ""
    arguments: Arguments = Arguments()


class ToolRequest(Struct, frozen=True):
    method: str = ""
    params: Parameters = Parameters()


_called = msgspec.json.Decoder(ToolRequest)


def together() -> list[frozenset[str]]:
    """Sets of games that one worker holds, because a dialect over HTTP plays these and no others."""
    groups: list[frozenset[str]] = []
    for dialect, _ in carried(OverHttp):
        if dialect.games is not None:
            group = frozenset(dialect.games)
            shared = [each for each in groups if each & group]
            groups = [each for each in groups if not each & group]
            groups.append(group.union(*shared))
    return groups


class Keys(OrderedDict[str, int]):
    """Secrets in requests, each with the number of who made it; those told or asked for last are remembered.

    Some dialects make a secret for every turn of a bot, and others one for a session of hours.
    """

    def __init__(self, most: int = KEYS) -> None:
        super().__init__()
        self._most = most

    def know(self, key: str, number: int) -> None:
        self[key] = number
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)

    def forget(self, key: str, number: int) -> bool:
        """Forget a secret if that is who has it by the latest word; returns whether that is so."""
        if self.get(key) != number:
            return False
        del self[key]
        return True

    def whose(self, key: str) -> int | None:
        """The number of who made a secret; None if that is not known."""
        number = self.get(key)
        if number is not None:
            self.move_to_end(key)
        return number


class Reading:
    """Reads from requests what says where they belong."""

    def __init__(
        self,
        doors: Iterable[tuple[Iterable[str], frozenset[str]]] = (),
        spelling: Spelling | None = None,
    ) -> None:
        """`doors` are the first parts of the paths of dialects, and the games that each plays."""
        self._spelling = spelling or Spelling()
        self._of_games = {
            part: Belonging(game=part if part in games else min(games))
            for parts, games in doors
            for part in parts
            if games
        }

    def asked(self, request: Request) -> Belonging | None:
        """What says where a request belongs; None: to no process in particular."""
        part = request.path[1:].partition("/")[0]
        if part and (asked := self._of_games.get(part)) is not None:
            return asked  # as for every move that is a request to one of these doors
        request = self._spelling.rightly(request)
        parts = request.path.strip("/").split("/")
        match parts:
            case ["api", "tournaments", name, _] if request.method == "POST":
                return Belonging(tournament=name, opens=True)
            case ["api", "tournaments", name, *_] | ["admin", "tournaments", name, *_]:
                return Belonging(tournament=name)
            case ["api", "matches", match, *_] | ["matches", match, *_]:
                return Belonging(tournament=match.rpartition("-")[0])
            case ["play"] if request.method == "POST":
                found = wanted_by(request.body)
                if found is None:
                    return None
                return Belonging(wanted=replace(found, address=address_of(request.peer)))
            case ["play", session, *_]:
                return Belonging(keys=(session,))
            case ["mcp"]:
                return _of_model(request)
            case _:
                return self._of_games.get(parts[0])


def _of_model(request: Request) -> Belonging | None:
    session = request.headers.get(SESSION)
    try:
        called = _called.decode(request.body or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        called = ToolRequest()
    arguments, tool = called.params.arguments, called.params.name
    needs = (session, announced(session)) if session else ()
    brought = arguments.token if isinstance(arguments.token, str) else None
    if called.method == "tools/call" and tool == "join":
        match arguments:
            case Arguments(name=str() as name, game=str() as game, tournament=str() | None as named):
                table = named if arguments.against is None else OPEN + game
                wanted = Wanted(name, game, table, brought, DOOR, address_of(request.peer))
                return Belonging(wanted=wanted, needs=needs)
            case _:
                return Belonging(needs=needs) if needs else None
    if called.method == "tools/call" and tool in AT_PLACE:
        return Belonging(keys=tuple(_given(brought, session)), moves=True)
    if not needs:
        return None
    if request.method == "DELETE" or called.method not in ANYWHERE:
        return Belonging(keys=needs, moves=True)
    return Belonging(needs=needs) if called.method == "tools/call" else None


def _given(*keys: str | None) -> Iterator[str]:
    return (key for key in keys if key)
