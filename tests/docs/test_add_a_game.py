"""The example of `docs/add-a-game.md` is a game as good as the installed ones.

It is installed as other people's games are, by entry point, in `tests/planted`.
`make planted` puts it to all the fast tests.
"""

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import msgspec
import pytest

from games.catalogue import catalogue
from games.game import Game

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "tests/planted"
PAGE = (ROOT / "docs/add-a-game.md").read_text()


def python(path: Path | None, *arguments: str, code: int = 0) -> str:
    """What it says in a process that finds the packages of a folder, too."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    clean.pop("PYTHONPATH", None)
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=clean | ({} if path is None else {"PYTHONPATH": str(path)}),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_the_example_on_the_page_is_the_planted_game() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example == (PLANTED / "nim.py").read_text()


def test_the_declaration_on_the_page_is_how_it_is_planted() -> None:
    (declared,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (entries,) = PLANTED.glob("*.dist-info/entry_points.txt")
    planted = ConfigParser()
    planted.read(entries)
    (entry,) = planted["quintain.games"].items()
    assert declared == '[project.entry-points."quintain.games"]\n{} = "{}"\n'.format(*entry)


def test_every_field_of_a_game_is_on_the_page() -> None:
    described = set(re.findall(r"`(\w+)", " ".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))))
    assert {field.name for field in msgspec.structs.fields(Game)} <= described


def test_the_examples_keep_every_law_of_games_and_of_dialects() -> None:
    """They are found, and put to the laws; also the dialect of the other page: a start of pytest is dear."""
    dialects = [f"tests/server/protocols/test_dialect_{name}.py" for name in ("laws", "duties")]
    chosen = ("tests/games/test_laws.py", *dialects, "-k", "nim or plain")
    said = python(PLANTED, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-n", "0", *chosen)
    assert " passed" in said
    laws = set(re.findall(r"::(test_\w+)\[(nim|plain)[^]]*\] PASSED", said))
    assert len([law for law, of in laws if of == "nim"]) >= 20, "too few laws were put to the game"
    assert len([law for law, of in laws if of == "plain"]) >= 8, "too few laws were put to the dialect"


LISTING = """
from games.catalogue import catalogue
from server.protocols.catalogue import dialects
print(*catalogue())
print(*dialects())
"""


def test_the_examples_are_there_where_they_are_installed_and_nowhere_else() -> None:
    """Catches a game or dialect of that name that is there anyhow: the laws would be put to that one."""
    listings = (python(path, "-c", LISTING).splitlines() for path in (None, PLANTED))
    for name, without, found in zip(("nim", "plain-words"), *listings, strict=True):
        assert name not in without.split()
        assert found.split() == sorted([*without.split(), name])


FOR_ASSISTANTS = """
from games.catalogue import catalogue
from server.pages.addressed import ASSISTANTS
from server.pages.game import with_games
print(with_games(ASSISTANTS, catalogue()))
"""


def test_the_file_for_assistants_has_the_games_that_were_added() -> None:
    """The page of each game says that an assistant finds all it needs in it."""
    _, _, section = python(PLANTED, "-c", FOR_ASSISTANTS).partition("### Nim: `nim`\n")
    section, after, _ = section.partition("\n## Trying it\n")
    assert after
    (rules,) = re.findall(r'RULES = """\\\n(.*?)"""', PAGE, re.DOTALL)
    assert rules in section
    assert "- Seats: `first` begins, then `second`. An illegal move is refused" in section
    assert re.search(r'- Moves: `(\d) (\d)` or `{"heap":\1,"take":\2}`', section)
    assert re.search(r'- State: for instance `{"heaps":\[\d,\d,\d\]}`', section)


COMMANDS = ("serve", "bot", "play", "match", "check", "tournament create")
EVERY_HELP = """
import sys
from contextlib import suppress
from server.__main__ import main
for command in sys.argv[1:]:
    sys.argv = ["quintain", *command.split(), "--help"]
    with suppress(SystemExit):
        main()
    print("THE END")
"""


@pytest.mark.parametrize("path", [PLANTED, None], ids=["planted", "as it is"])
def test_help_lists_the_games_that_there_are(path: Path | None) -> None:
    """All commands in one process: what each would take alone is importing."""
    *helps, rest = python(path, "-c", EVERY_HELP, *COMMANDS).split("THE END")
    assert rest.strip() == ""
    assert len(helps) == len(COMMANDS)
    here = [name for name in catalogue() if name != "nim"]
    names = here if path is None else sorted([*here, "nim"])
    for command, said in zip(COMMANDS, helps, strict=True):
        listed = " ".join(re.sub("[│]", " ", said).split())
        assert f"{', '.join(names[:-1])} or {names[-1]}." in listed, command


@pytest.mark.parametrize("command", ["serve --help", "match --help", "bot greedy --game nim"])
def test_a_game_that_cannot_be_used_is_said_in_a_line(command: str, tmp_path: Path) -> None:
    described = tmp_path / "broken-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[quintain.games]\nnim = nowhere.nim:GAME\n")
    said = python(tmp_path, "-m", "server", *command.split(), code=2)
    assert said == (
        "quintain: entry point nim = nowhere.nim:GAME: cannot be loaded: No module named 'nowhere'\n"
    )
