"""The c4-arena's protocol as a dialect: Connect-4 over a websocket, at its root."""

from games.connect4 import GAME
from server.net.frames import NORMAL
from server.protocols.c4arena.talk import DOOR, C4Arena, wanted
from server.protocols.dialect import Dialect, OverWebsocket

DIALECT = Dialect(
    name=DOOR,
    title="the c4-arena",
    carried_by=(
        OverWebsocket(
            speak=C4Arena,
            goes_on=lambda channel, words: C4Arena(channel),
            path="/",
            code=NORMAL,
            wanted=wanted,
        ),
    ),
    games=(GAME.name,),
)
