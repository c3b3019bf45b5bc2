"""All trials of a client, and the findings: each fault once, with the exchange that shows it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from msgspec import Struct
from msgspec.structs import replace

from server.programs.interrupts import later
from server.programs.wire import rules
from server.programs.wire.client import Broke, Client, Line
from server.programs.wire.command import Command
from server.programs.wire.doors import Doors
from server.programs.wire.scripted_host import ScriptedHost
from server.programs.wire.trials import TRIALS, Terms, Trial


class Finding(Struct, frozen=True):
    """A fault of the client."""

    trials: tuple[str, ...]  # the trials that it broke
    why: str  # what happened in the first of them
    rule: str  # the protocol's sentence
    exchange: tuple[Line, ...]  # what was said both ways until then


class Findings(Struct, frozen=True):
    tried: tuple[str, ...]  # the names of the trials
    found: tuple[Finding, ...]

    def broke(self, trial: str) -> bool:
        return any(trial in finding.trials for finding in self.found)


Begin = Callable[[], Command | None]  # starts the client; returns None if somebody starts it by hand
Step = Callable[[str], None]  # called with the trial that begins


def _nothing(trial: str) -> None:
    """A step of which nobody is told."""


def findings(
    doors: Doors, begin: Begin, terms: Terms, step: Step = _nothing, trials: Sequence[Trial] = TRIALS
) -> Findings:
    """Put a client through the trials. A client that fails the first trial is tried no further."""
    found: dict[object, Finding] = {}
    tried: list[str] = []
    for trial in trials:
        step(trial.name)
        tried.append(trial.name)
        if (finding := _tried(trial, doors, begin, terms)) is not None:
            mark, new = finding
            known = found.get(mark)
            found[mark] = new if known is None else replace(known, trials=known.trials + new.trials)
            if trial is trials[0]:
                break
    return Findings(tuple(tried), tuple(found.values()))


def _tried(trial: Trial, doors: Doors, begin: Begin, terms: Terms) -> tuple[object, Finding] | None:
    """The finding, if there is one, with a value that is equal for the same fault."""
    with ExitStack() as ending:
        with later():  # or an interrupt at its very start would leave the client running
            if (command := begin()) is not None:
                ending.callback(doors.cut)
                ending.callback(command.end)
        client = Client(doors, command, terms.timeout)
        ending.callback(client.hang_up, "the trial is over")
        host = ScriptedHost(client, terms.game)
        try:
            host.welcome()
            trial.run(host, terms)
            host.finish()
        except Broke as broke:
            rule = broke.rule or rules.sentence(trial.rule, client.door, terms.game.faults)
            mark = rule if broke.mark is None else broke.mark
            return mark, Finding((trial.name,), str(broke), rule, tuple(client.exchange))
    return None
