"""What is installed works outside of the repository, and is in nobody's way.

The wheels are built once and installed by name, without any index, into an environment that has
nothing but the dependencies. The first match there is the one of `docs/first-match.md`.
"""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen
from zipfile import ZipFile

import pytest
from msgspec import Struct

from tests.hang import HANG, wait_for
from tests.server.served import ROOT

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/first-match.md").read_text()
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-index", "--no-deps")
STRANGERS = ("server.py", "games.py", "tournament.py", "quintain_bot.py")  # that lie in the same folder


class Place(Struct, frozen=True):
    """An environment, and a folder to work in."""

    python: Path
    site: Path
    folder: Path

    def environment(self) -> dict[str, str]:
        """That of somebody who has never heard of this repository."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QUINTAIN"))
        }
        path = os.pathsep.join((str(self.python.parent), os.environ["PATH"]))
        return kept | {"PATH": path, "XDG_STATE_HOME": str(self.folder / "states"), "COLUMNS": "100"}

    def start(self, *words: str, folder: str = ".") -> "subprocess.Popen[str]":
        return subprocess.Popen(
            words,
            cwd=self.folder / folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> str:
        process = self.start(*words)
        out, errors = process.communicate(timeout=HANG)
        assert process.returncode == 0, errors
        return out


def build(project: Path, into: Path) -> None:
    """Make a wheel, as pip would have it made."""
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", into)
    subprocess.run(command, cwd=project, stderr=subprocess.DEVNULL, check=True, timeout=HANG)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    for project in (ROOT, ROOT / "clients/python"):
        build(project, folder / "wheels")
    # That of the checkout can be seen as well, by way of the dependencies, and is not meant.
    files = ("--no-compile", "--ignore-installed", *(folder / "wheels").glob("*.whl"))
    subprocess.run([*PIP, "--python", python, "install", *OFFLINE, *files], check=True, timeout=HANG)
    (folder / "work").mkdir()
    for name in STRANGERS:
        (folder / "work" / name).write_text("raise SystemExit('somebody else’s')")
    return Place(python, site, folder / "work")


def installed(place: Place, project: str) -> set[str]:
    (record,) = place.site.glob(f"{project}-*.dist-info/RECORD")
    files = {line.split(",")[0] for line in record.read_text().splitlines()}
    return {file for file in files if "__pycache__" not in file}


def test_each_wheel_has_one_name_at_the_top_and_no_two_wheels_have_the_same(place: Place) -> None:
    """Catches a top-level `server` or `games`, which other projects have as well."""
    tops = {
        project: {
            file.split("/")[0]
            for file in installed(place, project)
            if ".dist-info/" not in file and not file.endswith(".pyc")  # which may be kept elsewhere
        }
        for project in ("quintain", "quintain_bot")
    }
    assert tops == {"quintain": {"quintain", ".."}, "quintain_bot": {"quintain_bot"}}
    files = [file for file in installed(place, "quintain") if not file.endswith(".pyc")]
    outside = {file for file in files if file.startswith("..")}
    assert {Path(file).name for file in outside} == {"quintain"}, "the command"


def checkout(*parts: str) -> list[str]:
    """The files of the repository, or of these parts of it, and none that git ignores."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "--deduplicate", *parts]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    return [file for file in found.stdout.splitlines() if (ROOT / file).exists()]


def test_whatever_the_repository_has_of_the_program_is_in_the_wheel(place: Place) -> None:
    """Catches a page, a picture or a starter that works in a checkout alone."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    sources = wheel["sources"] | wheel["force-include"]
    assert {"games", "tournament", "server", "clients", "docs/protocols"} <= set(sources)
    expected = {
        f"{target}{file.removeprefix(source)}"
        for file in checkout(*sources)
        for source, target in sources.items()
        if f"{file}/".startswith(f"{source}/")
    }
    # These two are there under the names that they are imported by.
    expected -= {"quintain/server/installed.py", "quintain/server/starters/python/quintain_bot.py"}
    has = {file for file in installed(place, "quintain") if file.startswith("quintain/")}
    assert has == expected


def test_the_wheel_of_a_commit_is_always_the_same(place: Place, tmp_path: Path) -> None:
    """It does not depend on the folder, on when and for whom files were written, or on what git ignores."""
    for file in checkout():
        copy = tmp_path / "elsewhere" / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / file).read_bytes())
        copy.chmod(0o600 | (ROOT / file).stat().st_mode & 0o100)
        os.utime(copy, (10**9, 10**9))
    for ignored in ("clients/python/dist/a.whl", "clients/javascript/node_modules/a/a.js", "server/a.pyc"):
        rubbish = tmp_path / "elsewhere" / ignored
        rubbish.parent.mkdir(parents=True, exist_ok=True)
        rubbish.write_text("built here")
    build(tmp_path / "elsewhere", tmp_path / "wheels")
    (there,), (here,) = (
        [*folder.glob("quintain-*.whl")] for folder in (tmp_path / "wheels", place.folder.parent / "wheels")
    )
    assert names_and_sums(there) == names_and_sums(here)
    assert there.read_bytes() == here.read_bytes()


def names_and_sums(wheel: Path) -> set[tuple[str, int]]:
    with ZipFile(wheel) as opened:
        return {(file.filename, file.CRC) for file in opened.infolist()}


def test_the_version_is_that_of_the_wheel(place: Place) -> None:
    (metadata,) = place.site.glob("quintain-*.dist-info/METADATA")
    assert f"\nVersion: {place.run('quintain', '--version').strip()}\n" in metadata.read_text()


def test_whoever_imports_quintain_can_import_its_parts_and_nobody_else_can(place: Place) -> None:
    names = "games.game", "tournament.match", "server.config", "quintain_bot"
    program = f"import quintain, {', '.join(names)}; print({', '.join(f'{name}.__file__' for name in names)})"
    found = place.run(str(place.python), "-P", "-c", program).split()
    assert all(Path(file).is_relative_to(place.site / "quintain") for file in found)
    search = "from importlib.util import find_spec; print(*map(find_spec, ('games', 'server', 'tournament')))"
    assert str(place.site) not in place.run(str(place.python), "-P", "-c", search)


def test_the_client_is_a_package_of_its_own_and_has_types(place: Place) -> None:
    program = "import quintain_bot; print(quintain_bot.__file__)"
    client = Path(place.run(str(place.python), "-P", "-c", program).strip())
    assert client == place.site / "quintain_bot/__init__.py"
    assert client.read_text() == (ROOT / "clients/python/quintain_bot.py").read_text()
    assert client.with_name("py.typed").exists()


Terminal = list[tuple[str, list[str]]]  # commands with what they print


def terminals() -> list[Terminal]:
    found: list[Terminal] = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        found.append([])
        for line in block.splitlines():
            if line.startswith("$ "):
                found[-1].append((line[2:], []))
            elif found[-1]:
                found[-1][-1][1].append(line)
            else:
                found[-1].append(("", [line]))
    return found


def shape(line: str) -> str:
    """A line of the page or of a terminal, without what differs from one machine and match to the next."""
    line = re.sub(r"secret=\S+", "SECRET", re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", line))
    line = re.sub(r"kept in /\S*/", "kept in FOLDER/", line)
    line = re.sub(r"(\S+) against (\S+)$", lambda names: " against ".join(sorted(names.groups())), line)
    return re.sub(r": (won|lost|drawn) \(.*\)", ": RESULT", line)


@pytest.fixture
def running() -> Iterator[list["subprocess.Popen[str]"]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def printed(process: "subprocess.Popen[str]", lines: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(lines)]


def status(url: str) -> int:
    try:
        with urlopen(url, timeout=HANG) as answer:  # noqa: S310 - our own host
            return answer.status
    except HTTPError as error:
        with error:
            return error.code


def test_the_first_match_of_the_page_is_played_outside_of_the_repository(
    place: Place, running: list["subprocess.Popen[str]"]
) -> None:
    """The host has two processes, as with its users, and strangers' files of our names lie beside it."""
    host, mine, opponent, told = terminals()
    began = time.monotonic()
    ((serve, ready),) = host
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    running.append(place.start(*serve.split(), *ports))
    (line,) = printed(running[0], 1)
    assert shape(line) == shape(ready[-1])
    (tcp,), (http,) = (re.findall(rf"{door}=(\S+)", line) for door in ("tcp", "http"))
    url = f"tcp://{tcp}"

    (new, written), (cd, _), (run, connected) = mine
    assert place.run(*new.split()).splitlines() == written
    running.append(place.start("env", f"QUINTAIN_URL={url}", *run.split(), folder=cd.removeprefix("cd ")))
    assert [*map(shape, printed(running[1], len(connected)))] == [*map(shape, connected)]

    ((bot, met),) = opponent
    said = place.run(*bot.split(), "--url", url).splitlines()
    assert [*map(shape, said)] == [*map(shape, met)]
    assert [*map(shape, printed(running[1], len(told[0][1])))] == [*map(shape, told[0][1])]
    print(f"from the start of the host to the end of the match: {time.monotonic() - began:.1f} s")
    page = f"http://{http}/matches/open-connect-4-1"
    assert f"<{page.replace(http, '127.0.0.1:8080')}>" in PAGE
    wait_for(lambda: status(page) == 200, "the process for pages")
    running[0].send_signal(signal.SIGINT)
    _, log = running[0].communicate(timeout=HANG)
    assert {*map(shape, ready[:-1])} <= {*map(shape, log.splitlines())}


def test_no_page_has_anybody_install_what_an_index_has_under_our_name() -> None:
    """Catches `pip install --find-links wheels quintain`: a higher version of somebody else's would win."""
    pages = "\n".join(page.read_text() for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")))
    named = re.findall(r"^(?:pip install|pipx|uvx) .*\bquintain\b.*", pages, re.MULTILINE)
    assert {line.split()[0] for line in named} == {"pip", "pipx", "uvx"}
    assert all(re.search(r" (--from |--spec |)wheels/quintain-\*\.whl", line) for line in named)


def test_the_function_on_the_page_is_the_starters() -> None:
    (choose,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert choose in (ROOT / "clients/python/bot.py").read_text()


@pytest.mark.campaign  # two dozen processes
def test_the_demo_runs_outside_of_the_repository(place: Place) -> None:
    assert place.run("quintain", "demo", "--seconds", "3").count("finished") == 5
