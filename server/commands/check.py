"""`quintain check`: the trials of `server/programs/trials.py`, and their results in sentences.

Clients, with `--wire`, are tried in `wire_check.py`.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from games.game import Game
from server.commands.flags import Decimal, Flag, Positive
from server.commands.games import GameName, game_named
from server.exits import DONE, FAILED, Misuse
from server.net.escaping import json_line
from server.programs.interrupts import Interrupts
from server.programs.running_time import RunningTime
from server.programs.terminal import progress, say
from server.programs.trials import TRIALS, Broke, Ground, Trial

SLOW = 1.5  # seconds that an opponent or a network takes, unless something else is asked for


def check(
    *bot: str,
    game: GameName,
    wire: Flag = False,
    timeout: Annotated[float, Decimal, Parameter(validator=Number(gt=0))] = 10.0,
    slow: Positive = None,
    json: Flag = False,
) -> int:
    """Test a program or a client, and say what broke.

    A program plays whole games against two opponents, and then faces what
    breaks bots on the day: opponents that are slow or leave, refused moves,
    lost connections, and fields that it has never seen.

    With --wire, a client in any language is tested by a host that sends
    messages in pieces, loses connections, is restarted, or lets another
    connection take over. Whatever breaks is shown with the messages and the
    protocol's sentence on it. The client is started for each trial by the
    command after --, in which {tcp}, {websocket} and {http} stand for
    addresses; without a command the addresses are printed, and whatever
    connects is tested.

    Example: a program, and then a client that connects by itself:

        quintain check "python3 mybot.py" --game quoridor

        quintain check --wire --game quoridor -- node client.mjs tcp://{tcp}

    Parameters
    ----------
    bot
        The program and its arguments, as in a shell; with --wire, a command.
    wire
        Try a client of the house protocol.
    timeout
        Seconds to wait for an answer.
    slow
        With --wire: seconds that a slow opponent or a slow network takes: 1.5 unless set.
    json
        The result of each trial, as one JSON object.
    """
    rules = game_named(game)
    if wire:
        from server.commands.wire_check import Terms, wire_check

        return wire_check(bot, Terms(rules, timeout, SLOW if slow is None else slow), json=json)
    if slow is not None:
        raise Misuse("--slow: expected --wire as well")
    if len(bot) != 1:
        raise Misuse(f"expected one program, with its arguments in quotes, and got {len(bot)} words")
    return _check_program(bot[0], rules, timeout, json=json)


def _check_program(bot: str, game: Game[Any, Any], timeout: float, *, json: bool) -> int:
    broke: dict[str, str | None] = {}
    with (
        Interrupts(),  # or a SIGTERM would leave the program running
        RunningTime() as now,
        progress(bot, len(TRIALS)) as step,
    ):
        ground = Ground(bot, game, timeout, now)
        for name, trial in TRIALS.items():
            broke[name] = _outcome(trial, ground)
            step()
    failed = sum(why is not None for why in broke.values())
    if json:
        checks = [{"check": name, "ok": why is None, "why": why} for name, why in broke.items()]
        say(json_line({"program": bot, "game": game.name, "ok": not failed, "checks": checks}))
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


def _lines(name: str, why: str | None) -> Iterator[str]:
    yield f"{'ok   ' if why is None else 'BROKE'}  {name}"
    if why is not None:
        yield f"       {why}"
