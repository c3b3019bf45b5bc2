"""`python -m tests.clients`: seconds to a first match in each language, and a round robin of all.

The seconds are from `quintain new` to the end of a match against a house bot,
the host being there already; the build is included.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from server.commands.new import GAMES, STARTERS
from tests.clients.starters import GAME, HERE, LANGUAGES, Workshop, lines
from tests.hang import wait_for
from tests.server.served import ROOT, Served

HOUSE = (sys.executable, "-m", "server", "bot", "greedy", "--game", GAME, "--matches", "1")
NEW = (sys.executable, "-m", "server", "new", "--game", GAME)


def first_match(folder: Path, language: str) -> float:
    """Seconds until a match of the open table is over."""
    host, workshop = Served(folder), Workshop(folder / "workshop")
    began = time.monotonic()
    subprocess.run([*NEW, language, "--folder", str(folder / "new")], cwd=ROOT, check=True)
    workshop.build(language)  # writes it once more, which is nothing beside the command's own start
    bot = workshop.start(language, host.tcp)
    address = f"tcp://127.0.0.1:{host.tcp}"
    house = subprocess.Popen([*HOUSE, "--url", address], cwd=ROOT, stdout=subprocess.DEVNULL)
    ended = house.wait()
    seconds = time.monotonic() - began
    assert ended == 0, f"the house bot ended with {ended} before its match with {language} had"
    for process in (bot, house):
        process.kill()
        process.communicate()
    host.kill()
    return seconds


def round_robin(folder: Path, game: str) -> str:
    """The standings of all the languages that are here, best first."""
    flags = ("--tournament", "all", "--game", game, "--entrants", str(len(HERE)), "--until-done", "--json")
    host, workshop = Served(folder, *flags), Workshop(folder / "workshop")
    for language in HERE:
        workshop.build(language)
    bots = [workshop.start(language, host.tcp, game) for language in HERE]
    for bot in bots:
        bot.communicate()
    wait_for(lambda: host.process.poll() is not None)
    _, out, _ = host.end()
    rows = json.loads(out.splitlines()[-1])["rows"]
    return ", ".join(f"{row['name'].removesuffix('-bot')} {row['points']:g}" for row in rows)


def main() -> None:
    print("| language | lines: protocol + bot | seconds to a first match |\n|---|---|---|")
    for language in LANGUAGES:
        seconds = "left out: its tools are not here"
        if language in HERE:
            with tempfile.TemporaryDirectory() as folder:
                seconds = f"{first_match(Path(folder), language):.1f}"
        print(f"| {STARTERS[language].title} | {lines(language)} | {seconds} |", flush=True)
    for game in GAMES:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{game}: {round_robin(Path(folder), game)}", flush=True)


if __name__ == "__main__":
    main()
