"""The Arena's protocol as a dialect: any game that its commands can express, over HTTP."""

from server.protocols.arena import advanced
from server.protocols.arena.door import Arena
from server.protocols.arena.messages import games
from server.protocols.dialect import Dialect, OverHttp

DIALECT = Dialect(
    name="arena",
    title="the Arena",
    carried_by=(OverHttp(serve=lambda host, settings: Arena(host, settings.evaluation, settings.bind)),),
    games=games(),
    prepare=advanced.prepare,
)
