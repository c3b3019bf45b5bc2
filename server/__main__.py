"""The command `quintain`.

Heavy things are imported by the commands that need them, so that help comes at
once. What a command does is elsewhere; here is what it is called, what it takes
and which exit code it ends with: 0 done, 1 failed, 2 usage or configuration,
130 interrupted.
"""

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Literal

import trio
from cyclopts import App, CycloptsError, Parameter
from cyclopts.validators import Number

from server.config import ConfigError, Settings, settings
from server.logs import LEVELS, set_up

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would fight the host's for the processors

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
EXAMPLES = """
Example: a round robin of four Santorini bots that ends with the standings:

    quintain serve --tournament friday --game santorini --entrants 4 --until-done
"""


def _version() -> str:
    try:
        return version("quintain")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0+checkout"


app = App(
    name="quintain", help=f"A tournament host for bots that play board games.\n{EXAMPLES}", version=_version
)
app["--help"].group = app["--version"].group = "Also"

Port = Annotated[int | None, Parameter(validator=Number(gte=0, lte=65535))]


@app.command
def serve(
    *,
    bind: str | None = None,
    tcp: Port = None,
    websocket: Port = None,
    http: Port = None,
    data: str | None = None,
    config: str | None = None,
    tournament: str | None = None,
    game: str | None = None,
    format: str = "round-robin",
    entrants: Annotated[int | None, Parameter(validator=Number(gte=2))] = None,
    rounds: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    until_done: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
    log_level: Literal["debug", "info", "warning", "error"] | None = None,
) -> int:
    """Open the doors and hold tournaments until told to stop.

    When all doors listen, one line on standard output says where. Ctrl-C once
    lets what is being played come to its end; twice stops at once.

    Example: any free ports, and everything kept in a folder of its own:

        quintain serve --tcp 0 --websocket 0 --http 0 --data friday

    Parameters
    ----------
    bind
        The address to listen on: 127.0.0.1 unless set; 0.0.0.0 for all.
    tcp
        The port for TCP: 8000 unless set; 0 picks a free one.
    websocket
        The port for websockets: 8001 unless set.
    http
        The port for HTTP: 8080 unless set.
    data
        The folder that everything is kept in: quintain-data unless set.
    config
        A configuration file: quintain.toml, if it is there, unless set.
    tournament
        The name of a tournament to hold; needs --game.
    game
        Its game: tic-tac-toe, connect-4, santorini, quoridor or hexagon-dots.
    format
        Its format: round-robin, double-round-robin, swiss, knockout, gauntlet or ladder.
    entrants
        It starts by itself when so many have come, and takes no more.
    rounds
        How many rounds, where the format leaves that open.
    until_done
        End when the tournament has ended, with the final standings.
    json
        Standings as one JSON object instead of a table.
    log_level
        How much is logged on standard error: info unless set.
    """
    flags: dict[str, Any] = {
        "bind": bind,
        "ports": _given({"tcp": tcp, "websocket": websocket, "http": http}),
        "data": data,
        "log_level": log_level,
    }
    if (tournament is None) != (game is None):
        raise ConfigError("--tournament and --game go together: a name, and what is played")
    if until_done and tournament is None:
        raise ConfigError("--until-done needs a --tournament to wait for")
    found = settings(config, os.environ, _given(flags))
    if tournament is not None:
        wanted = {"name": tournament, "game": game, "format": format, "entrants": entrants, "rounds": rounds}
        found = _with_tournament(found, _given(wanted))
    if found.log_level not in LEVELS:
        raise ConfigError(f"log_level: expected one of {', '.join(LEVELS)}, not {found.log_level!r}")
    set_up(found.log_level)
    from server.serve import serve as host

    return trio.run(lambda: host(found, until_done=tournament if until_done else None, as_json=json))


def main() -> None:
    """Run, and leave with the right code: a line for what is the organiser's fault, a traceback for ours."""
    code: int | None = FAILED
    try:
        code = app(exit_on_error=False, print_error=True, result_action="return_value")
    except* CycloptsError:
        code = MISUSED  # what was wrong has been said
    except* ConfigError as errors:
        print(f"quintain: {_first(errors)}", file=sys.stderr)  # noqa: T201
        code = MISUSED
    except* KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, {})}


def _with_tournament(found: Settings, wanted: dict[str, Any]) -> Settings:
    from msgspec import convert, structs

    from server.config import TournamentSettings

    return structs.replace(found, tournament=(*found.tournament, convert(wanted, TournamentSettings)))


def _first(errors: ExceptionGroup[ConfigError]) -> ConfigError:
    """Nurseries wrap what is raised in them; there is one error at the bottom."""
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


if __name__ == "__main__":
    main()
