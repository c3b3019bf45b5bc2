"""The line door: Santorini's memo by name alone, and the house protocol for any game."""

from functools import partial
from random import Random

from msgspec.structs import replace

from games.catalogue import catalogue
from server.host.host import Host
from server.protocols import tcp
from tests.fuzz.ground import Door, Served
from tests.fuzz.sessions import Hear, Say, Tongue

HOUSE_ALSO = tuple(
    map(
        Say,
        (
            b"",
            b"NaN",
            b'"\\ud800"',
            b'["\\ud800"]',
            b'{"type":"state"}',
            b'{"type":"resign"}',
            b'{"type":"resign","match":"$match$"}',
            b'{"type":"bye"}',
            b'{"type":"move","match":"$match$","ply":0,"move":$move$}',
            b'{"type":"move","match":"nowhere-1","ply":$ply$,"move":$move$}',
            b'{"type":"hello","name":"$name$","game":"tic-tac-toe","token":"$token$"}',
            b'{"type":"hello","name":"$rival$","game":"tic-tac-toe","token":"$token$"}',
            b'{"type":"hello","name":"$name$","game":"connect-4","tournament":"quiet"}',
        ),
    )
)
ALSO = (*HOUSE_ALSO, *map(Say, (b"\r", b"   \t", b"0 0", b"0  0", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")))


def hello(game: str, more: bytes = b"") -> Say:
    return Say(b'{"type":"hello","name":"$name$","game":"%b"%b}' % (game.encode(), more))


def moves() -> tuple[Say, ...]:
    """Ways to say one."""
    return (
        Say(b'{"type":"move","move":$move$}', asked=True),
        Say(b'{"type":"move","match":"$match$","ply":$ply$,"move":$move$}', asked=True),
        Say(b"$short$", asked=True),
        Say(b"$short$"),
    )


def house(game: str) -> Tongue:
    back = hello(game, b',"token":"$token$"')
    return Tongue(
        game=game,
        enter=(hello(game), Hear()),
        answers=moves(),
        also=(*ALSO, replace(back, on=1), replace(back, on=2)),
    )


MEMO = Tongue(
    game="santorini",
    enter=(Say(b"$name$"),),
    answers=(Say(b"$short$", asked=True), Say(b" $short$\r"), Say(b"$short$", asked=True)),
    also=ALSO,
)


def packed(message: bytes, random: Random) -> bytes:
    return message + b"\n"


def serve(host: Host) -> Served:
    return Served(partial(tcp.attend, host))


DOOR = Door(
    name="line",
    tongues=(MEMO, MEMO, MEMO, house("tic-tac-toe"), *map(house, catalogue())),
    pack=packed,
    serve=serve,
)
