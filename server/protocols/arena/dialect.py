"""The Arena's protocol as a dialect: Tic-Tac-Toe and Quoridor over HTTP, the same choreography."""

from server.protocols.arena.door import GAMES, Arena
from server.protocols.dialect import Dialect, OverHttp

DIALECT = Dialect(
    name="arena",
    title="the Arena",
    carried_by=(OverHttp(serve=lambda host, settings: Arena(host, settings.evaluation, settings.bind)),),
    games=GAMES,
)
