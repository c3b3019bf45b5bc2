"""The command `quintain`: its parts, and its exit code.

Commands are listed in `server/commands/`, and imported only when needed, so that
help comes at once.
"""

from server import interrupted_early

if __name__ == "__main__":
    interrupted_early.leave_at_once()  # importing what follows takes most of a start

import os
import re
import sys
from collections.abc import Sequence, Set
from difflib import get_close_matches
from io import TextIOWrapper
from typing import Any

from cyclopts import (
    App,
    Argument,
    CycloptsError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from server import failing_game
from server.commands import COMMANDS
from server.exits import FAILED, INTERRUPTED, MISUSED, Failure, first_of
from server.programs.printing import printing
from server.version import own_version

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads would fight the host's for the processors

BOUND = re.compile(r"\. Must be ([<>]=?) (\S+)$")  # how the parser says that a number is out of bounds
BOUNDS = {">=": "{} or more", ">": "more than {}", "<=": "{} or less", "<": "less than {}"}
TOO_LATE = "after -- no word is an option: {} has to stand before it"

HELP = """A tournament host for bots that play board games.

Example: a round robin of four Santorini bots that ends with the standings:

    quintain serve --tournament cup --game santorini --entrants 4 --until-done
"""


class CommandLine(App):
    """The parser. Its help and version are results, too: one line says why they cannot be written."""

    def help_print(self, *args: Any, **kwargs: Any) -> None:
        with printing():
            super().help_print(*args, **kwargs)

    def version_print(self, *args: Any, **kwargs: Any) -> None:
        with printing():
            super().version_print(*args, **kwargs)


def command_line(words: Sequence[str]) -> App:
    """The parser of these words, which imports only the commands that they name."""
    app = CommandLine(name="quintain", help=HELP, help_format="plaintext", version=own_version)
    app["--help"].group = app["--version"].group = "Also"
    for name, (where, summary) in COMMANDS.items():
        told = None if name in words else summary  # a summary would replace its whole help
        app.command(f"server.commands.{where}", name=name, help=told)
    return app


def main() -> None:
    """Run, and leave with the right code: a line for what is somebody else's fault, a traceback for ours."""
    code: int | None = FAILED
    _open_missing_streams()
    sys.excepthook = failing_game.told
    output: object = sys.stdout
    if isinstance(output, TextIOWrapper):
        output.reconfigure(errors="backslashreplace")  # a letter that it does not have is no reason to fail
    try:
        interrupted_early.leave_as_usual()
        app = command_line(sys.argv[1:])
        code = app(exit_on_error=False, print_error=False, verbose=False, result_action="return_value")
    except* CycloptsError as misread:
        from server.programs.terminal import note

        note(f"quintain: {_sentence(first_of(misread))}")
        code = MISUSED
    except* Failure as failures:
        from server.programs.terminal import note

        failure = first_of(failures)
        note(f"quintain: {failure}")
        code = failure.code
    except* BrokenPipeError:  # the reader of our output has gone, and need not be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except* KeyboardInterrupt:
        code = INTERRUPTED
    except* UnicodeEncodeError:
        from server.programs.terminal import note

        if (word := _not_utf8(sys.argv)) is None:
            raise
        note(f"quintain: expected words in UTF-8, not {word!r}")
        code = MISUSED
    except* bad_catalogue() as faults:
        from server.programs.terminal import note

        note(f"quintain: {first_of(faults)}")
        code = MISUSED
    sys.exit(code)


def _open_missing_streams() -> None:
    """Open the standard streams that the process was started without.

    Else they would be None, and what is opened next, such as the journal, would get their descriptors.
    The processes that this one starts have them, too.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode)  # noqa: SIM115 - for as long as the process lives
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def bad_catalogue() -> tuple[type[Exception], ...]:
    """The exceptions for unusable games or dialects; empty if none was looked for."""
    module = sys.modules.get("games.catalogue")
    return () if module is None else (module.BadCatalogue,)


def _sentence(misread: CycloptsError) -> str:
    """What is wrong with the words of a command; the parser's own sentence has full stops in the middle."""
    from server.net.escaping import in_quotes, safe

    said = " ".join(map(safe, str(misread).split())).removesuffix(".")
    late = _late(sys.argv)
    match misread:
        case UnusedCliTokensError(unused_tokens=[word, *_]):
            got = f"expected nothing more, and got {in_quotes(word)}"
            return f"{got}; words that belong together stand in quotes"
        case UnknownCommandError(unused_tokens=[word, *_], app=App() as app):
            near = get_close_matches(word, app, n=1)
            lists = " ".join(("quintain", *(misread.command_chain or ())))
            hint = f"did you mean {near[0]}?" if near else f"`{lists} --help` lists them"
            return f"there is no command {in_quotes(word)}: {hint}"
        case UnknownOptionError(token=token) if (option := token.keyword or token.value) in late:
            return TOO_LATE.format(in_quotes(option))
        case MissingArgumentError(argument=Argument(name=option)) if option in late:
            return TOO_LATE.format(in_quotes(option))
        case MissingArgumentError(argument=Argument() as missing) if not missing.tokens:
            if misread.keyword is None and "Did you mean" not in said:
                name = missing.name if missing.index is None else missing.name.lstrip("-").upper()
                command = " ".join(misread.command_chain or ())
                return f"{name} is missing; `quintain {command} --help` has an example"
        case _:
            pass
    said = BOUND.sub(lambda found: f": expected {BOUNDS[found[1]].format(found[2])}", said)
    return said.replace(". Choose from", "; choose from")


def _late(words: Sequence[str]) -> Set[str]:
    """The words that stand only after `--`, without their values: none of them is an option."""
    at = words.index("--") if "--" in words else len(words)
    before, after = ({word.partition("=")[0] for word in part} for part in (words[:at], words[at + 1 :]))
    return after - before


def _not_utf8(words: Sequence[str]) -> str | None:
    """A word that was not given in UTF-8: it may name a file, and cannot be sent to anybody."""
    return next((word for word in words if any("\ud800" <= letter <= "\udfff" for letter in word)), None)


if __name__ == "__main__":
    main()
