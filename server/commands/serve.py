"""`quintain serve`: its flags, and which of them contradict each other. `server/serve.py` does the rest."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import trio
from cyclopts import Parameter
from cyclopts.validators import Number

from server import without_rich as without_rich  # before everything that logs
from server.commands.flags import Count, Entrants, Flag, TournamentFlags, Whole
from server.commands.formats import FormatName
from server.commands.games import GameName
from server.config import Settings, settings, with_tournament
from server.exits import ConfigError
from server.logs import set_up
from server.show.child import Started, started_early
from server.show.conduit import POSSIBLE

if TYPE_CHECKING:
    from server.workers.starting import Started as StartedWorker

Workers = Annotated[int | None, Whole, Parameter(validator=Number(gte=1, lte=64))]
Spread = Annotated[int | None, Whole, Parameter(validator=Number(gte=2))]
Port = Annotated[int | None, Whole, Parameter(validator=Number(gte=0, lte=65535))]


def serve(
    *,
    bind: str | None = None,
    tcp: Port = None,
    websocket: Port = None,
    http: Port = None,
    data: str | None = None,
    store: str | None = None,
    config: str | None = None,
    tournament: str | None = None,
    game: GameName | None = None,
    format: FormatName | None = None,
    entrants: Entrants = None,
    rounds: Count = None,
    how: TournamentFlags | None = None,
    until_done: Flag = False,
    json: Flag = False,
    workers: Workers = None,
    spread: Spread = None,
    peers: str | None = None,
    advertise: str | None = None,
    show: Annotated[Literal[0, 1] | None, Whole] = None,
    log_level: Literal["debug", "info", "warning", "error"] | None = None,
    log_format: Literal["text", "json"] | None = None,
) -> int:
    """Start a host, and hold tournaments until told to stop.

    Once every port is open, one line on standard output gives the addresses.
    Ctrl-C stops the host, and the next start goes on with the matches in play.
    Those that cannot go on have two seconds to finish, unless you press it twice.

    Example: any free ports, and everything kept in a folder of its own:

        quintain serve --tcp 0 --websocket 0 --http 0 --data friday

    Parameters
    ----------
    bind
        The address to listen on: 127.0.0.1 and ::1 unless set; 0.0.0.0 is all of IPv4, :: all of IPv6.
    tcp
        The port for TCP: 8000 unless set; 0 picks a free one.
    websocket
        The port for websockets: 8001 unless set.
    http
        The port for HTTP: 8080 unless set.
    data
        The folder that everything is kept in: quintain-data unless set.
    store
        A database instead of a file in that folder: postgresql://USER@HOST/NAME.
    config
        The configuration file: quintain.toml, if there is one, unless set.
    tournament
        A tournament to hold, or to continue if it exists with the same terms; needs --game.
    entrants
        Take no more than this many, and start when they have come, unless --start-at says when.
    rounds
        How many rounds, where the format leaves it open.
    until_done
        End when the tournament has ended, with the final standings. A ladder has no end: press Ctrl-C.
    json
        Standings as one JSON object instead of a table.
    workers
        How many processes play, each with some of the tournaments: 1 unless set.
    spread
        With several workers, all of them play a tournament with more bots than this: 200 unless set.
    peers
        ADDRESS:PORT to listen on for other hosts that share the database in --store; port 0 picks a free one.
    advertise
        ADDRESS:PORT at which they reach this host, if it is a different one.
    show
        1 unless set: pages have a process of their own; 0, for very small machines: they have none.
    log_level
        How much is logged on standard error: info unless set.
    log_format
        text or json, one event a line: unless set, text on a terminal and json elsewhere.
    """
    flags: dict[str, Any] = {
        "bind": bind,
        "ports": _given({"tcp": tcp, "websocket": websocket, "http": http}),
        "data": data,
        "store": store,
        "log_level": log_level,
        "log_format": log_format,
        "workers": workers,
        "spread": spread,
        "peers": peers,
        "advertise": advertise,
        "show": show,
    }
    if (tournament is None) != (game is None):
        raise ConfigError("--tournament and --game go together: a name, and what is played")
    about = {"format": format, "entrants": entrants, "rounds": rounds}
    about |= (how or TournamentFlags()).given()
    if tournament is None and (given := _given(about)):
        named = ", ".join(f"--{key.replace('_', '-')}" for key in given)
        raise ConfigError(f"{named}: expected --tournament as well")
    if until_done and tournament is None:
        raise ConfigError("--until-done needs a --tournament to wait for")
    found = settings(config, os.environ, _given(flags))
    if until_done and found.peers:
        raise ConfigError("--until-done: a host with --peers goes on when a tournament has ended")
    asked = None if tournament is None else _given({"name": tournament, "game": game, **about})
    if asked is not None:
        found = with_tournament(found, asked)
    output = set_up(found.log_level, found.log_format, found.limits.log_lines)
    # What all processes need is imported before one becomes several, and threads come after that.
    from server.serve import serve as host

    pages = _show() if found.show and POSSIBLE else None
    until = tournament if until_done else None
    with started_early(pages) as first, _workers(found, first) as early, output.in_a_thread():
        serving = partial(host, found, until_done=until, as_json=json, output=output, asked=asked)
        return trio.run(partial(serving, first=first, early=early))


def _show() -> Callable[[int, int], int]:
    """What runs in the process for pages, with all that it needs: a host without pages does not import it."""
    from server.show.__main__ import main

    return main


def _workers(found: Settings, first: Started | None) -> "AbstractContextManager[Sequence[StartedWorker]]":
    """The processes that play beside this one; without pages, a host says that there cannot be any."""
    if found.workers == 1 or first is None:
        return nullcontext(())
    from server.workers.__main__ import main
    from server.workers.starting import started_early as workers_started_early

    return workers_started_early(found.workers - 1, main)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, {})}
