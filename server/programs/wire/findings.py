"""All the trials of a client, and what was found: each fault once, with the exchange that shows it."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from server.programs.wire import rules
from server.programs.wire.client import Broke, Client, Line
from server.programs.wire.command import Command
from server.programs.wire.doors import Doors
from server.programs.wire.scripted_host import ScriptedHost
from server.programs.wire.trials import TRIALS, Terms, Trial


class Finding(Struct, frozen=True):
    """A fault of the client's."""

    trials: tuple[str, ...]  # those that it has broken
    why: str  # what happened in the first of them
    rule: str  # the protocol's sentence
    exchange: tuple[Line, ...]  # what was said both ways until then


class Findings(Struct, frozen=True):
    tried: tuple[str, ...]  # the names of the trials
    found: tuple[Finding, ...]

    def broke(self, trial: str) -> bool:
        return any(trial in finding.trials for finding in self.found)


Begin = Callable[[], Command | None]  # starts the client; None: somebody else does
Step = Callable[[str], None]  # is told which trial begins


def _nothing(trial: str) -> None:
    """Where nobody looks."""


def findings(
    doors: Doors, begin: Begin, terms: Terms, step: Step = _nothing, trials: Sequence[Trial] = TRIALS
) -> Findings:
    """Put a client through the trials. One that fails in the first of them is tried no further."""
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
    """What was found, if anything was; and what makes it the same as another finding."""
    command = begin()
    client = Client(doors, command, terms.patience)
    host = ScriptedHost(client, terms.game)
    try:
        host.welcome()
        trial.run(host, terms)
        host.finish()
    except Broke as broke:
        rule = broke.rule or rules.sentence(trial.rule, client.door, terms.game.faults)
        mark = rule if broke.mark is None else broke.mark
        return mark, Finding((trial.name,), str(broke), rule, tuple(client.exchange))
    finally:
        client.hang_up("the trial is over")
        if command is not None:
            command.end()
            doors.cut()
    return None
