"""The example of `docs/add-a-dialect.md` is a dialect as good as those that are there.

It is installed as other people's dialects are, by entry point, in `tests/planted`. That it is found
there, and keeps the laws, is in `test_add_a_game.py`, with the same of the game in that folder.
"""

import re
import socket
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from shutil import copytree
from typing import TextIO

import msgspec
import pytest

from server.protocols.dialect import Channel, Dialect, OverHttp, OverTcp, OverWebsocket
from tests.docs.test_add_a_game import PLANTED, ROOT, python
from tests.hang import HANG
from tests.server.served import Served
from tests.server.transcripts import transcripts

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/add-a-dialect.md").read_text()


def test_the_example_on_the_page_is_the_planted_dialect() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert example == (PLANTED / "plain_words.py").read_text()


def test_its_page_on_the_page_is_the_planted_one() -> None:
    (page,) = re.findall(r"^````markdown\n(.*?)^````", PAGE, re.DOTALL | re.MULTILINE)
    assert page == (PLANTED / "plain-words.md").read_text()


def test_the_declaration_on_the_page_is_how_it_is_planted() -> None:
    (declared,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (entries,) = PLANTED.glob("*.dist-info/entry_points.txt")
    planted = ConfigParser()
    planted.read(entries)
    (entry,) = planted["quintain.dialects"].items()
    assert declared == '[project.entry-points."quintain.dialects"]\n{} = "{}"\n'.format(*entry)


@pytest.mark.parametrize("part", [Dialect, OverTcp, OverWebsocket, OverHttp, Channel])
def test_every_part_of_a_dialect_is_on_the_page(part: type[msgspec.Struct]) -> None:
    first_column = " ".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
    described = set(re.findall(r"`(?:channel\.)?(\w+)", first_column))
    known = {"host", "peer"} if part is Channel else set[str]()  # what a dialect only hands on
    assert {field.name for field in msgspec.structs.fields(part)} - known <= described


@pytest.fixture
def planted(serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch) -> Served:
    """A host in a process of its own that knows the example."""
    monkeypatch.setenv("PYTHONPATH", str(PLANTED))
    return serve()


def said_by(end: TextIO) -> str:
    return end.readline().rstrip("\n")


def test_the_match_on_the_page_is_played_with_a_host_that_is_served(planted: Served) -> None:
    """By two ends such as `nc`; and its page is a page of that host."""
    match = transcripts(PLANTED / "plain-words.md")[0]
    ends: dict[str, TextIO] = {}
    for line in match.lines:
        for who in line.who:
            if who not in ends:
                connection = socket.create_connection(("127.0.0.1", planted.tcp), HANG)
                ends[who] = connection.makefile("rw", newline="\n", encoding="utf-8")
                connection.close()
            if line.way == ">":
                ends[who].write(line.text + "\n")
                ends[who].flush()
            else:
                assert said_by(ends[who]) == line.text, line.number
    for end in ends.values():
        end.close()

    with socket.create_connection(("127.0.0.1", planted.http), HANG) as browser:
        browser.sendall(
            b"GET /protocols/plain-words HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        page = b"".join(iter(lambda: browser.recv(65536), b""))
    assert page.startswith(b"HTTP/1.1 200 ")
    assert b">Plain words</h1>" in page


def test_a_dialect_that_cannot_be_used_is_said_in_a_line(tmp_path: Path) -> None:
    """The page promises that it stops the start."""
    described = tmp_path / "broken-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[quintain.dialects]\nwords = nowhere.words:DIALECT\n")
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0", "--data", str(tmp_path / "data"))
    said = python(tmp_path, "-m", "server", "serve", *ports, code=2)
    why = "cannot be loaded: No module named 'nowhere'"
    assert f"quintain: entry point words = nowhere.words:DIALECT: {why}\n" in said
    assert "Traceback" not in said
    assert "ready" not in said


@pytest.mark.parametrize("page", [None, b"# \xe9"])
def test_a_dialect_whose_page_cannot_be_read_stops_the_start_in_a_line(
    page: bytes | None, tmp_path: Path
) -> None:
    """With a wheel that was made without the page, a host ended with a traceback."""
    installed = tmp_path / "installed"
    copytree(PLANTED, installed)
    (installed / "plain-words.md").unlink()
    if page is not None:
        (installed / "plain-words.md").write_bytes(page)
    said = python(installed, "-m", "server", "serve", "--tcp", "0", "--data", str(tmp_path / "data"), code=2)
    assert "quintain: entry point plain-words = plain_words:DIALECT: its page cannot be read: " in said
    assert "Traceback" not in said


def test_a_dialect_whose_page_is_no_path_stops_the_start_in_a_line(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    copytree(PLANTED, installed)
    source = installed / "plain_words.py"
    source.write_text(source.read_text().replace('Path(__file__).with_name("plain-words.md")', '"words.md"'))
    said = python(installed, "-m", "server", "serve", "--tcp", "0", "--data", str(tmp_path / "data"), code=2)
    assert "quintain: entry point plain-words = plain_words:DIALECT: its page cannot be read: " in said
    assert "Traceback" not in said


def test_workers_warn_of_a_dialect_that_says_of_no_bot_where_it_wants_to_play(
    tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    copytree(PLANTED, installed)
    source = installed / "plain_words.py"
    source.write_text(source.read_text().replace(", wanted=wanted", ""))
    monkeypatch.setenv("PYTHONPATH", str(installed))
    host = serve("--workers", "2", "--show", "1")
    host.process.terminate()
    _, _, said = host.end()
    (warning,) = [line for line in said.splitlines() if "some bots of a dialect will be refused" in line]
    assert "plain-words" in warning, "and of no dialect that says it"
