"""Hexagon Dots over HTTP as a dialect."""

from games.hexagondots import GAME
from server.protocols.dialect import Dialect, OverHttp
from server.protocols.hexagon_dots.door import DOOR, HexagonDots

DIALECT = Dialect(
    name=DOOR,
    title="Hexagon Dots",
    carried_by=(OverHttp(serve=lambda host, settings: HexagonDots(host, GAME)),),
    games=(GAME.name,),
)
