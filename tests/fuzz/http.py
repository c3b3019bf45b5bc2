"""The HTTP door: the Arena, Hexagon Dots, the house protocol, the API, pages, and whatever HTTP may be."""

from collections.abc import Mapping
from random import Random

from games import hexagondots
from server.config import Evaluation
from server.host.host import Host
from server.http.routes import routed
from server.http.service import Http
from server.net.addresses import Url
from server.net.outbound import Caller, Forbidden
from server.pages.door import Pages
from server.protocols.api.door import Api
from server.protocols.arena.door import Arena
from server.protocols.arena.messages import FLIP
from server.protocols.hexagon_dots.door import HexagonDots
from server.protocols.house.sessions import HouseHttp
from tests.fuzz.ground import Attended, Door, Served
from tests.fuzz.sessions import Hear, Say, Step, Tongue
from tests.server.transcripts import at_once
from tournament.player import Player

SIZE = b"#size#"  # stands for the length of the body
HELD = 20.0  # seconds that a bot waits for somebody to play with
DEEP = b"[" * 1500  # which no parser likes
ORGANISER = "the-organisers-token"


def asks(method: str, path: str, body: bytes = b"", *headers: str, on: int = 0, asked: bool = False) -> Say:
    lines = (f"{method} {path} HTTP/1.1", "Host: a", f"Content-Length: {SIZE.decode()}", *headers)
    return Say("\r\n".join((*lines, "", "")).encode() + body, on=on, asked=asked)


def get(path: str, *headers: str, on: int = 0) -> Say:
    return Say("\r\n".join((f"GET {path} HTTP/1.1", "Host: a", *headers, "", "")).encode(), on=on)


def packed(message: bytes, random: Random) -> bytes:
    """With the length that its body has, or, sometimes, in chunks."""
    head, end, body = message.partition(b"\r\n\r\n")
    if not body or random.randrange(10):
        return message.replace(SIZE, b"%d" % len(body), 1)
    half = random.randrange(len(body) + 1)
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (body[:half], body[half:]) if chunk)
    return (
        head.replace(b"Content-Length: " + SIZE, b"Transfer-Encoding: chunked") + end + chunks + b"0\r\n\r\n"
    )


READS = (
    *map(
        get, ("/api/games", "/api/tournaments", "/api/tournaments/quiet", "/api/tournaments/quiet/standings")
    ),
    *map(get, ("/api/tournaments/open-tic-tac-toe/standings?format=csv", "/api/tournaments/quiet/matches")),
    *map(
        get, ("/api/tournaments/open-hexagon-dots/export", "/api/matches/quiet-1", "/api/matches/nothing-1")
    ),
    *map(get, ("/healthz", "/readyz", "/metrics", "/openapi.json", "/games", "/evaluations/r-$name$")),
    *map(
        get, ("/", "/favicon.ico", "/%2e%2e/%2e%2e/etc/passwd", "/a%00b", "/%ff", "/%", "//", "/?%zz=1", "/#")
    ),
    *(get(path, on=3) for path in ("/api/events", "/api/events?after=0", "/api/matches/quiet-1/events")),
    *(
        get(f"/api/matches/open-{game}-1/events", on=4)
        for game in ("tic-tac-toe", "quoridor", "hexagon-dots")
    ),
    get("/api/matches/$match$/events", "Last-Event-ID: 2", on=3),
    get("/api/events", "Last-Event-ID: 99999999999999999999"),
    *map(get, ("/tournaments/quiet", "/tournaments/quiet/standings", "/tournaments/quiet/schedule?page=7")),
    *map(get, ("/matches/quiet-1", "/matches/$match$?ply=3", "/embed/matches/quiet-1", "/bots/$name$")),
    *map(get, ("/matches/quiet-1/frames?from=1", "/matches/quiet-1/board.svg?ply=999999", "/bots?name=%00")),
    *map(get, ("/static/x/../../y", "/static//", "/protocols/arena", "/games/quoridor", "/robots.txt")),
    *(get(f"/live?page=/{page}", on=3) for page in ("", "tournaments/quiet", "matches/quiet-1", "%00")),
    *(
        get(f"/live?page=/matches/open-{game}-1&hidden=a,b&missed=board,a", "Last-Event-ID: -1", on=4)
        for game in ("tic-tac-toe", "hexagon-dots")
    ),
    asks("HEAD", "/api/games"),
    asks("HEAD", "/api/events"),
    asks("OPTIONS", "*"),
    asks("DELETE", "/api/tournaments/quiet"),
)
ORDERS = tuple(
    asks("POST", path, body, f"Authorization: {token}")
    for token in (f"Bearer {ORGANISER}", "Bearer wrong", "Basic YTpi", "Bearer \xff")
    for path, body in (
        (
            "/api/tournaments",
            b'{"name":"t-$name$","game":"tic-tac-toe","entrants":64,"format":"swiss","rounds":3}',
        ),
        ("/api/tournaments/t-$name$/withdraw", b'{"name":"$name$","preview":true}'),
        ("/api/tournaments/t-$name$/void", b'{"match":"t-$name$-1","why":"x"}'),
    )
)
STRANGE = tuple(
    Say(text, raw=True)
    for text in (
        b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        b"GET /\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://\xff/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
        b"POST /play HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2;a=b\r\nab\r\n0\r\nX: y\r\n\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n",
        b"POST /play HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nslow",
        b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n",
        b"GET /%b HTTP/1.1\r\nHost: a\r\n\r\n" % (b"a" * 3000),
        b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 50,
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    )
)
ANYTIME = (*READS, *ORDERS, *STRANGE)


def often(*said: Say) -> tuple[Say, ...]:
    """As often as all that can be said at any time."""
    return said * (len(ANYTIME) // len(said)) + ANYTIME


def arena(game: str) -> Tongue:
    join, play = f"/{game}/join", f"/{game}/play/$battleid$"
    flip = b'{"action":"%b"}' % FLIP.encode()
    return Tongue(
        game=game,
        enter=(
            asks("POST", join, b'{"name":"$name$"}'),
            Hear(HELD),
            get(f"/{game}/start/$battleid$", on=1),
        ),
        answers=(
            asks("POST", play, b"$move$", on=2, asked=True),
            asks(
                "POST", play, b"$form$", "Content-Type: application/x-www-form-urlencoded", on=2, asked=True
            ),
            asks("POST", play, b"$move$", on=2),
        ),
        also=often(
            asks("POST", join, b'{"name":"$name$","token":"$token$"}'),
            asks("POST", join, b'{"name":"$name$","teamUrl":"http://$name$.example"}'),
            asks("POST", join, b"name=$name$", "Content-Type: application/x-www-form-urlencoded"),
            asks("POST", join, b'{"name":"$name$","tournament":"quiet"}', on=3),
            get(f"/{game}/start/$battleid$", on=3),
            get(f"/{game}/start/$battleid$?x=y", on=1),
            get(f"/{game}/start/00000000-0000-0000-0000-000000000000", on=3),
            asks("POST", play, flip, on=2),
            asks("POST", play, flip, on=3),
            asks("POST", play, b'{"action":"putSymbol","position":"\\ud800"}', on=2),
            asks("POST", play, b"[1,2", on=2),
            asks("POST", play, b'{"action":"putSymbol","x":' + DEEP, on=2),
        ),
        listens=1,
    )


def called(game: str) -> Tongue:
    """Somebody who wants to be called, or evaluated."""
    where = '"teamUrl":"http://$name$.example:8000/a"'
    enter: tuple[Step, ...] = (
        asks("POST", f"/{game}/join", f'{{"name":"$name$",{where}}}'.encode()),
        asks("POST", f"/{game}/evaluate", f'{{{where},"runId":"r-$name$"}}'.encode(), on=3),
        Hear(on=3),
    )
    told = arena(game)
    return Tongue(game=game, enter=(*enter, told.enter[-1]), answers=told.answers, also=told.also, listens=1)


def dots(enter: Say) -> Tongue:
    moves, token = "$location$/moves", "X-Turn-Token: $xturntoken$"
    return Tongue(
        game="hexagon-dots",
        enter=(enter, Hear(), asks("POST", "$location$/players", b'{"name":"$name$"}')),
        answers=(
            asks("POST", moves, b"$move$", token, asked=True),
            asks("POST", moves, b"$move$", token),
            asks("POST", moves, b"$move$", token, on=1),
        ),
        also=often(
            asks("POST", "$location$/observers", on=2),
            asks("POST", "$location$/players", b'{"name":"$name$"}', on=3),
            asks("POST", "$location$/players", b'{"name":"$rival$"}', on=3),
            asks("POST", moves, b"$move$", "X-Turn-Token: 0", on=3),
            asks("POST", moves, DEEP, token),
            asks("POST", "/", b'{"rows":31,"cols":31}', on=3),
            get("$location$", on=3),
            get("/match", on=3),
        ),
    )


def house(game: str) -> Tongue:
    hello = b'{"type":"hello","name":"$name$","game":"%b"%b}'
    again = hello % (game.encode(), b',"token":"$token$"')
    here = "/play/$session$"
    return Tongue(
        game=game,
        enter=(asks("POST", "/play", hello % (game.encode(), b"")), Hear(), get(here, on=1)),
        answers=(
            asks("POST", here, b'{"type":"move","move":$move$}', asked=True),
            asks("POST", here, b"$short$", asked=True),
            asks("POST", here, b'{"type":"move","match":"$match$","ply":$ply$,"move":$move$}'),
        ),
        also=often(
            asks("POST", "/play", again, on=3),
            get(here, "Last-Event-ID: 1", on=1),
            get(f"{here}?after=$seq$", on=2),
            get(f"{here}?after=99", on=2),
            get(f"{here}?after=-1", on=2),
            asks("POST", here, b'{"type":"state"}'),
            asks("POST", here, b'{"type":"bye"}'),
            asks("POST", here, b'"\\ud800"'),
            asks("POST", here, DEEP),
            asks("POST", here, b'["\\ud800"]'),
            asks("PUT", here, b"{}"),
        ),
        listens=1,
    )


class Telephone(Caller):
    """Calls nobody in earnest, and some do not pick up."""

    async def check(self, url: Url) -> None:
        if not url.host.endswith(".example"):
            raise Forbidden("nobody has this number")

    async def post(self, url: Url, body: bytes) -> bool:
        return len(url.host) % 3 != 0


def serve(host: Host) -> Served:
    arena, dots, play = (
        Arena(host, Evaluation(), "127.0.0.1", Telephone()),
        HexagonDots(host, hexagondots.GAME),
        HouseHttp(host),
    )
    pages = Pages(host, run=at_once)
    http = Http(routed((arena, dots, play, Api(host, ORGANISER)), pages), host.guard, host.limits)

    def waits(attended: Attended) -> bool:
        """A request is held, or answered bit by bit; whoever holds it wants to know if its client goes."""
        exchanges = (each._exchange for each in http._connections if each._wire is attended.wire)
        return any(exchange is not None and exchange.callbacks for exchange in exchanges)

    def guests(who_are_called: bool = False) -> set[Player]:
        found = (guest for guest in arena._guests._guests.values() if guest.url or not who_are_called)
        return {guest.attendance.visit.player for guest in found if guest.attendance.visit}

    def called() -> set[Player]:
        return guests(who_are_called=True)

    def left() -> Mapping[str, int]:
        return {
            "HTTP connections": len(http._connections),
            "sessions of the house protocol": len(play._sessions),
            "bots at Hexagon Dots": len(dots._namesakes._count),
            "bots at the Arena": sum(not host.roll.awaits(bot.name, bot.game) for bot in guests() - called()),
            "spectators of pages": len(pages.live),
            "battles": len(arena._battles) + len(arena._sides),
        }

    return Served(http.attend, waits, left, called)


DOOR = Door(
    name="http",
    tongues=(
        arena("tic-tac-toe"),
        arena("quoridor"),
        dots(get("/match")),
        *map(house, ("tic-tac-toe", "connect-4", "santorini", "hexagon-dots")),
    ),
    odd=(
        called("tic-tac-toe"),
        called("quoridor"),
        *(dots(asks("POST", "/", b'{"rows":3,"cols":3}')) for _ in range(3)),
        Tongue(game="", enter=(Hear(0.1),), answers=ANYTIME),
        Tongue(game="", enter=(Hear(0.1),), answers=STRANGE),
    ),
    pack=packed,
    serve=serve,
    timeout=85.0,
)
