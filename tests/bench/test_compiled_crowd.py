"""The bots in C that the bench measures with: they play by the rules, and what is wrong they say."""

import select
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.bench import compiled_crowd
from tests.bench.compiled_crowd import COMMAND, COMPILER, KINDS, SOURCES, CompiledCrowd, LoadFailed
from tests.bench.crowd import Address
from tests.bench.doors import ROWS
from tests.bench.server import Server
from tests.hang import HANG, wait_for
from tests.lacking import lacking
from tests.ports import refusing
from tests.server.served import Served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(select, "epoll"), reason="there is no epoll on this system"),
]

MATCHES = 3
TURN = 0.1  # seconds
OURS = {row.bots: row.door for row in ROWS.values()}
LONG = ("memo", "quoridor")  # matches, which it takes most of a second to draw
RELAYS = {row.reference: row for row in ROWS.values() if row.door != "http"}
POSTED = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


@pytest.fixture(autouse=True)
def compiler() -> None:
    if shutil.which(COMPILER) is None:
        lacking("there is no C compiler")


@pytest.fixture
def host(tmp_path: Path) -> Generator[Served]:
    served = Served(tmp_path, "--log-level", "error")
    yield served
    served.kill()


@contextmanager
def answering(said: bytes | None) -> Generator[Address]:
    """A server that says that to whatever it is sent; nothing: it hangs up; None: it is silent."""

    class Answering(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(ConnectionError):
                while self.request.recv(65536) and said != b"":
                    if said is not None:
                        self.request.sendall(said)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield ("127.0.0.1", server.server_address[1])
        finally:
            server.shutdown()
            serving.join()


def plays(kind: str, address: Address) -> None:
    """A crowd comes, plays until there was a move, and leaves."""
    crowd = CompiledCrowd(kind, MATCHES, address)
    try:
        wait_for(lambda: crowd.play(TURN) and crowd.took, "a move")
    finally:
        crowd.leave()
    assert all(0 < took < HANG for took in crowd.took)
    assert crowd.cpu > 0


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=[pytest.mark.slow] * (kind in LONG) + [pytest.mark.campaign] * (kind == "quoridor")
        )
        for kind in OURS
    ],
)
def test_matches_at_a_host_are_played_to_their_end_by_the_rules(host: Served, kind: str) -> None:
    game = KINDS[kind].game.name
    crowd = CompiledCrowd(kind, MATCHES, ("127.0.0.1", getattr(host, OURS[kind])))

    def ended() -> list[str]:
        crowd.play(TURN)
        matches = host.read(f"/api/tournaments/open-{game}/matches")["matches"]
        return [match["ending"] for match in matches if match["ending"] is not None]

    try:
        wait_for(ended, "the end of a match")
        assert set(ended()) == {"played"}
    finally:
        crowd.leave()


@pytest.mark.parametrize("reference", RELAYS)
def test_matches_at_a_relay_go_on(reference: str) -> None:
    row = RELAYS[reference]
    with Server("tests.bench.references", reference) as server:
        plays(row.bots_there, server.address(row.door))


def test_what_only_posts_needs_no_game() -> None:
    with answering(POSTED) as address:
        plays("posters", address)


def test_several_crowds_play_at_once(host: Served) -> None:
    with ExitStack() as stack:
        crowds = list[CompiledCrowd]()
        for kind, port in (("house", host.tcp), ("tic-tac-toe", host.http)):
            crowds.append(CompiledCrowd(kind, 1, ("127.0.0.1", port)))
            stack.callback(crowds[-1].leave)

        def all_moved() -> bool:
            for crowd in crowds:
                crowd.begin(TURN)
            return 0 not in [crowd.done() for crowd in crowds]

        wait_for(all_moved, "a turn in which both crowds moved")


@pytest.mark.parametrize(
    ("kind", "said", "why"),
    [
        ("memo", b"", "a bot was hung up on"),
        ("memo", None, "nobody was told anything for 0.05 s"),
        ("memo", b"the name bot0000 is taken\n", "was told the name bot0000 is taken"),
        ("memo", b'["gameOver","bot0000"]\n', "plies ended after 0"),
        ("house", b'{"type":"refused","reason":"no"}\n', 'was told {"type":"refused","reason":"no"}'),
        ("c4-arena", b"HTTP/1.1 400 Bad Request\r\n\r\n", "was told HTTP/1.1 400 Bad Request"),
        ("c4-arena", b"HTTP/1.1 101 \r\n\r\n\x81\x02{}", "was told {}"),
        ("quoridor", b"HTTP/1.1 500 \r\n\r\n", "was told HTTP/1.1 500"),
        ("tic-tac-toe", b"HTTP/1.1 423 \r\n\r\nlate", "a bot was too slow"),
        ("tic-tac-toe", POSTED, "was told {}"),
        ("hexagon-dots", b"HTTP/1.1 410 \r\n\r\nlate", "a bot was too slow"),
    ],
)
def test_what_no_bot_expects_is_an_error_with_its_words(kind: str, said: bytes | None, why: str) -> None:
    with answering(said) as address:
        crowd = CompiledCrowd(kind, 1, address, timeout=0.05 if said is None else 10)
        try:
            with pytest.raises(LoadFailed) as failed:
                crowd.play(10)
        finally:
            crowd.leave()
    assert why in str(failed.value)


def test_a_server_that_is_not_there_is_an_error() -> None:
    with refusing() as port, pytest.raises(LoadFailed, match="connect: Connection refused"):
        CompiledCrowd("memo", 1, ("127.0.0.1", port))


def test_nothing_in_it_deserves_a_warning() -> None:
    subprocess.run([*COMMAND, "-Werror", "-fsyntax-only", *SOURCES.glob("*.c")], check=True)


def test_it_is_said_that_a_compiler_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compiled_crowd, "PROGRAM", tmp_path / "load")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="a C compiler is needed"):
        compiled_crowd.compiled()
