"""`quintain import-match`: a match from its text, played again by the rules."""

import sys
from pathlib import Path

from server.commands.flags import File, Flag
from server.exits import DONE, FAILED, Failure
from server.net.escaping import json_line, safe
from server.programs.terminal import say


def import_match(file: File, /, *, json: Flag = False) -> int:
    """Read a match from its text, and replay it by the rules.

    Every move, clock and ending is checked as `quintain verify` does it. The
    match is printed; nothing is kept, and no tournament changes. Exit code 1 if
    something does not follow.

    Example: a match that `quintain replay friday-1 --text` has written:

        quintain import-match friday-1.txt

    Parameters
    ----------
    file
        A text as `quintain replay --text` writes it; - is standard input.
    json
        The match as one JSON object, as in the HTTP API.
    """
    from server.export.match_import import checked
    from server.export.match_text import LONGEST, BadText, read

    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
            content = source.read(4 * LONGEST)
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from None
    try:
        match = read(content.decode("utf-8-sig"))  # some editors put a mark at the beginning
    except UnicodeDecodeError:
        raise Failure(f"{file}: expected UTF-8") from None
    except BadText as error:
        raise Failure(f"{file}: {error}") from None
    shown, findings = checked(match)
    if json:
        say(json_line(shown | {"findings": findings}))
    else:
        from server.commands.results import listed

        if shown:  # and not only a format that there is not
            say(listed(shown))
        for why in findings:
            say(f"it does not follow: {safe(why)}")
    return FAILED if findings else DONE
