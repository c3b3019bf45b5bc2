"""The line door: Santorini's memo by name alone, and the house protocol for any game."""

from functools import partial

from games.catalogue import catalogue
from server.doors import tcp
from tests.fuzz.ground import Door, Served
from tests.fuzz.sessions import Hear, Say, Tongue
from server.host import Host
from random import Random

ALSO = tuple(
    map(
        Say,
        (
            b"",
            b"\r",
            b"   \t",
            b"0 0",
            b"0  0",
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
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        ),
    )
)


def house(game: str) -> Tongue:
    hello = b'{"type":"hello","name":"$name$","game":"%b"}' % game.encode()
    again = b'{"type":"hello","name":"$name$","game":"%b","token":"$token$"}' % game.encode()
    return Tongue(
        game=game,
        enter=(Say(hello), Hear()),
        answers=(
            Say(b'{"type":"move","move":$move$}', asked=True),
            Say(b'{"type":"move","match":"$match$","ply":$ply$,"move":$move$}', asked=True),
            Say(b"$short$", asked=True),
            Say(b"$short$"),
        ),
        also=(*ALSO, Say(again, on=1)),
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
