"""`quintain check`: the trials of `server/programs/trials.py`, and their results in sentences."""

from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from server.commands.flags import Flag
from server.commands.games import GameName, game_named
from server.exits import DONE, FAILED
from server.net.escaping import json_line
from server.programs.terminal import progress, say
from server.programs.trials import TRIALS, Broke, Ground, Trial


def check(
    bot: str,
    *,
    game: GameName,
    patience: Annotated[float, Parameter(validator=Number(gt=0))] = 10.0,
    json: Flag = False,
) -> int:
    """Try a program out, and say what broke.

    It plays whole games against two opponents, and then against what breaks
    bots on the day: opponents that are slow or leave, moves that are refused,
    connections that are lost, fields that it has never seen.

    Example:

        quintain check "python3 mybot.py" --game quoridor

    Parameters
    ----------
    bot
        The program and its arguments, as in a shell.
    patience
        Seconds for an answer.
    json
        What came of each trial, as one JSON object.
    """
    ground = Ground(bot, game_named(game), patience)
    broke: dict[str, str | None] = {}
    with progress(bot, len(TRIALS)) as step:
        for name, trial in TRIALS.items():
            broke[name] = _outcome(trial, ground)
            step()
    failed = sum(why is not None for why in broke.values())
    if json:
        checks = [{"check": name, "ok": why is None, "why": why} for name, why in broke.items()]
        say(json_line({"program": bot, "game": game, "ok": not failed, "checks": checks}))
    else:
        say("\n".join(line for name, why in broke.items() for line in _lines(name, why)))
        say(f"\n{failed} of {len(broke)} things broke." if failed else "\nNothing broke.")
    return FAILED if failed else DONE


def _outcome(trial: Trial, ground: Ground) -> str | None:
    try:
        trial(ground)
    except Broke as broke:
        return str(broke)
    return None


def _lines(name: str, why: str | None) -> Any:
    yield f"{'ok   ' if why is None else 'BROKE'}  {name}"
    if why is not None:
        yield f"       {why}"
