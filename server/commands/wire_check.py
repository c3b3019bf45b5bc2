"""`quintain check --wire`: the trials of `server/programs/wire/`, and their findings."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from games.game import Game
from server.exits import DONE, FAILED
from server.net.escaping import json_line, safe
from server.programs.interrupts import Interrupts
from server.programs.program import words_of
from server.programs.terminal import note, progress, say
from server.programs.wire.client import Line
from server.programs.wire.command import Command
from server.programs.wire.doors import Doors
from server.programs.wire.findings import Begin, Finding, Findings, findings
from server.programs.wire.trials import TRIALS, Terms

SHOWN = 12  # the last lines of an exchange; as JSON it has all
LONGEST = 300  # characters of such a line
WHO = {"bot": "bot>", "host": "bot<"}


def wire_check(words: Sequence[str], terms: Terms, *, json: bool) -> int:
    """Try a client that these words start; without any, one that somebody starts by hand."""
    with Interrupts(), closing(Doors()) as doors:  # or a SIGTERM would leave the client running
        if words:
            begin = _starting(words, doors)
        else:
            say(" ".join(f"{name}={address}" for name, address in doors.addresses.items()))
            begin = _waiting
        with progress("the client", len(TRIALS)) as step:
            found = findings(doors, begin, terms, step)
    if json:
        say(json_line(_as_json(words, terms.game, found)))
    else:
        say("\n".join(_in_words(found)))
    return FAILED if found.found else DONE


def _starting(words: Sequence[str], doors: Doors) -> Begin:
    """What starts the client; a single word is a command as in a shell."""
    command = words_of(words[0]) if len(words) == 1 else words
    return lambda: Command(command, doors.addresses)


def _waiting() -> None:
    note("waiting for the client: start it now, and again whenever this is said")


def _in_words(found: Findings) -> Iterator[str]:
    for name in found.tried:
        yield f"{'BROKE' if found.broke(name) else 'ok   '}  {name}"
    left_out = len(TRIALS) - len(found.tried)
    if left_out:
        yield f"       not tried: the other {left_out}, which are such matches with something that goes wrong"
    for number, finding in enumerate(found.found, 1):
        yield from ("", *_finding(number, finding))
    count = len(found.found)
    yield ""
    yield f"{count} {'fault was' if count == 1 else 'faults were'} found." if count else "Nothing broke."


def _finding(number: int, finding: Finding) -> Iterator[str]:
    yield f"{number}. {finding.why}"
    yield f"   in: {'; '.join(finding.trials)}"
    yield f'   the protocol: "{finding.rule}"'
    if len(finding.exchange) > SHOWN:
        yield f"   … {len(finding.exchange) - SHOWN} lines before"
    for line in finding.exchange[-SHOWN:]:
        yield f"   {_shown(line)}"


def _shown(line: Line) -> str:
    text = safe(line.text, cut=LONGEST)
    return f"{WHO[line.by]} {text}" if line.by else f"     [{text}]"


def _as_json(words: Sequence[str], game: Game[Any, Any], found: Findings) -> dict[str, Any]:
    checks = [{"check": name, "ok": not found.broke(name)} for name in found.tried]
    faults = [
        {
            "checks": finding.trials,
            "why": finding.why,
            "protocol": finding.rule,
            "exchange": [{"by": line.by or None, "text": line.text} for line in finding.exchange],
        }
        for finding in found.found
    ]
    named = {"command": list(words), "game": game.name, "ok": not found.found}
    return named | {"checks": checks, "findings": faults}
