"""`quintain verify`: whether an export is consistent."""

import sys
from pathlib import Path

import msgspec

from server.commands.flags import File, Flag
from server.exits import DONE, FAILED, Failure
from server.logs import safe

WIDE = 400  # characters of a finding that are printed


def verify(file: File, /, *, json: Flag = False) -> int:
    """Replay every match of an export, and say what does not follow.

    Every match is replayed by the rules, and what all of it comes to is worked
    out anew. What does not follow is printed, a line for each, with the line of
    the file. Exit code 0 if all of it follows, else 1.

    Example: a file that `quintain tournament export` has written:

        quintain verify friday.jsonl

    Parameters
    ----------
    file
        JSON Lines, as `quintain export` and the HTTP API write them; - is standard input.
    json
        One JSON object instead: tournaments, matches, moves, and findings with line and why.
    """
    from server.export.verify import bounded_lines, verify

    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
            verdict = verify(bounded_lines(source))
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from None
    if json:
        print(msgspec.json.encode(verdict).decode())  # noqa: T201
    else:
        for finding in verdict.findings:
            print(f"line {finding.line}: {safe(finding.why, cut=WIDE)}")  # noqa: T201
        what = f"{verdict.tournaments} tournaments, {verdict.matches} matches, {verdict.moves} moves"
        wrong = f"{len(verdict.findings)} things do not follow" if verdict.findings else "all of it follows"
        print(f"{safe(file)}: {wrong}: {what}")  # noqa: T201
    return FAILED if verdict.findings else DONE
