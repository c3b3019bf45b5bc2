"""The Arena's protocol as a dialect: any game that its commands can express, over HTTP."""

from server.config import Settings
from server.host.host import Host
from server.http.origins import Origins
from server.protocols.arena import advanced
from server.protocols.arena.door import Arena
from server.protocols.arena.guest import DOOR
from server.protocols.arena.messages import games
from server.protocols.dialect import Dialect, OverHttp


def _serve(host: Host, settings: Settings) -> Arena:
    return Arena(host, settings.evaluation, settings.bind, origins=Origins(settings.origins))


DIALECT = Dialect(
    name=DOOR,
    title="the Arena",
    carried_by=(OverHttp(serve=_serve),),
    games=games(),
    prepare=advanced.prepare,
)
