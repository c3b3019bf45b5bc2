"""`quintain verify`: whether an export is consistent, and whether it has what a receipt was given for."""

import re
import sys
from pathlib import Path

from server.commands.flags import File, Flag
from server.exits import DONE, FAILED, Failure, Misuse
from server.net.escaping import json_line, safe
from server.programs.terminal import say, share, size_of

WIDE = 400  # characters of a finding that are printed


def verify(file: File, /, *, receipt: str | None = None, json: Flag = False) -> int:
    """Replay every match of an export, and report what does not follow.

    Every match is replayed by the rules, pairings and standings are worked out
    anew, and the chain of hashes of the facts is followed. Each finding is
    printed on a line of its own, with the line of the file. Exit code 0 if
    everything follows, else 1.

    Example: a file that `quintain tournament export` has written:

        quintain verify friday.jsonl

    Parameters
    ----------
    file
        JSON Lines, as `quintain export` and the HTTP API write them; - is standard input.
    receipt
        A head of the chain, as a match's end or page gives it: the file has it unless something was changed.
    json
        One JSON object instead: tournaments, matches, moves, chains, and findings with line and why.
    """
    if receipt is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", receipt):
        raise Misuse(f"--receipt: expected 64 hexadecimal digits, not {safe(receipt)!r}")
    from server.export.verify import PASSES, bounded_lines, verify

    try:
        with (
            sys.stdin.buffer if file == "-" else Path(file).open("rb") as source,
            share("verify", PASSES * size_of(source)) as more,
        ):
            verdict = verify(bounded_lines(source), receipt, more)
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from None
    if json:
        say(json_line(verdict))
    else:
        for finding in verdict.findings:
            say(f"line {finding.line}: {safe(finding.why, cut=WIDE)}")
        for chain in verdict.chains:
            say(safe(str(chain), cut=WIDE))
        if receipt is not None and verdict.receipt_found:
            say(f"the receipt {receipt} is a head of it: nothing before it was changed")
        counted = ((verdict.tournaments, "tournament"), (verdict.matches, "match"), (verdict.moves, "move"))
        what = ", ".join(_number(count, one) for count, one in counted)
        wrong = "everything follows"
        if found := len(verdict.findings):
            wrong = "1 thing does not follow" if found == 1 else f"{found:,} things do not follow"
        say(f"{safe(file)}: {wrong}: {what}")
    return FAILED if verdict.findings else DONE


def _number(count: int, one: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {'matches' if one == 'match' else one + 's'}"
