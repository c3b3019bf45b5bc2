"""The starters of `clients/`, as `quintain new` writes them, built and run as their README says.

What is built is kept in `.cache/starters` until the sources, the command or the compiler are others.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest

from server.commands.new import GAME, GAMES, PLACE, STARTERS, new
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG
from tests.lacking import lacking
from tests.server.served import ROOT

KEPT = ROOT / ".cache/starters"

TOOLS = {
    "python": "python3",
    "javascript": "node",
    "c": "cc",
    "cpp": "c++",
    "java": "javac",
    "go": "go",
    "rust": "rustc",
    "ruby": "ruby",
}
# The Python of the tests comes first: where versions are managed, to look for one takes longer than to start.
PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
# A test has no time for what compilers do thoroughly, which Java does while it runs.
HASTY = {
    "-O": "-Copt-level=0",
    "-O2": "-O0",
    "java": "java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "javac": "javac -J-XX:TieredStopAtLevel=1",
}
LANGUAGES = tuple(language for language in STARTERS if language in TOOLS)  # those that speak the protocol
HERE = tuple(language for language in LANGUAGES if shutil.which(TOOLS[language]))


def needed(language: str) -> None:
    """Skip, under continuous integration too: a language that nobody uses on a machine need not be on it."""
    if language not in HERE:
        pytest.skip(f"{TOOLS[language]} is not here: the starter in {STARTERS[language].title} is left out")


def as_a_user_that_the_system_does_not_know() -> tuple[str, ...]:
    """What to run a command under, for that; it may read and write what root may."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    if shutil.which("setpriv") is None:
        lacking("there is no setpriv here")
    right = "dac_override"
    return ("setpriv", "--reuid=1234567", f"--inh-caps=+{right}", f"--ambient-caps=+{right}")


def hasty(command: str) -> str:
    """The command, so that it takes less of a processor; as it is in the campaign."""
    return command if IS_CAMPAIGN else " ".join(HASTY.get(word, word) for word in command.split(" "))


def lines(language: str) -> str:
    """Of the protocol and of the bot."""
    files = (PLACE / language / name for name in STARTERS[language].files)
    counts = {file.stem.lower(): len(file.read_text().splitlines()) for file in files}
    return f"{counts.get('quintain', counts.get('protocol'))} + {counts['bot']}"


class Workshop:
    """A folder for each language, with its bot built."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.states = folder / "states"  # where tokens are kept
        self._started: list[subprocess.Popen[str]] = []

    def build(self, language: str) -> None:
        self._write(language)
        if STARTERS[language].build:
            folder, kept = self.folder / language, KEPT / language / self._made_of(language)
            if not kept.exists():
                self._compile(language)
                self._keep(folder, kept)
            shutil.copytree(kept, folder, dirs_exist_ok=True)

    def build_with(self, language: str, usual: str, other: str) -> None:
        """With something else in the place of a text in its protocol. This is not kept."""
        self._write(language)
        ((file, text),) = (
            (file, file.read_text())
            for file in (self.folder / language / name for name in STARTERS[language].files)
            if usual in file.read_text()
        )
        file.write_text(text.replace(usual, other))
        if STARTERS[language].build:
            self._compile(language)

    def _write(self, language: str) -> None:
        with redirect_stdout(sys.stderr):
            new(language, game=GAME, folder=self.folder / language)

    def _compile(self, language: str) -> None:
        command = ["sh", "-c", hasty(self.commands(language)[0])]
        subprocess.run(command, cwd=self.folder / language, check=True, timeout=HANG)

    def _made_of(self, language: str) -> str:
        compiler = Path(shutil.which(TOOLS[language]) or "").resolve()
        whole = hashlib.sha256(f"{compiler} {compiler.stat().st_mtime_ns} {IS_CAMPAIGN}".encode())
        for file in sorted((self.folder / language).iterdir()):  # the README has the command
            whole.update(f"{file.name}\n".encode() + file.read_bytes())
        return whole.hexdigest()

    def _keep(self, folder: Path, kept: Path) -> None:
        """Whole or not at all, whoever else builds the same at this time, and in place of what was there."""
        shutil.rmtree(kept.parent, ignore_errors=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as beside:
            made = shutil.copytree(folder, Path(beside) / "made")
            with suppress(OSError):  # somebody else was faster
                made.rename(kept)

    def commands(self, language: str) -> list[str]:
        return re.findall(r"```sh\n(.*?)\n```", (self.folder / language / "README.md").read_text(), re.DOTALL)

    def start(
        self,
        language: str,
        port: int = 0,
        game: str = GAME,
        name: str = "",
        url: str = "",
        under: Sequence[str] = (),
    ) -> "subprocess.Popen[str]":
        """What the README says, with the game as an argument where it is not the one that was asked for.

        It runs `under` another command, if there is one.
        """
        run = self.commands(language)[1 if STARTERS[language].build else 0]
        environment = {
            "PATH": PATH,
            "QUINTAIN_URL": url or f"tcp://127.0.0.1:{port}",
            "QUINTAIN_NAME": name or f"{language}-bot",
            "XDG_STATE_HOME": str(self.states),
        }
        bot = subprocess.Popen(
            [*under, "sh", "-c", f"exec {hasty(run)} {game}"],
            cwd=self.folder / language,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(bot)
        return bot

    def close(self) -> None:
        """End whatever still runs, which is nothing unless a test has failed."""
        for bot in self._started:
            if bot.poll() is None:
                bot.kill()
                bot.communicate()


__all__ = ["GAME", "GAMES", "HERE", "LANGUAGES", "PATH", "Workshop", "needed"]
