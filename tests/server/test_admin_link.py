"""The way to the desk of a real host: the link of the first start, and those of the command."""

import re
import socket
from pathlib import Path

import pytest

from tests.server.run import quintain
from tests.server.served import Served

pytestmark = pytest.mark.slow


def opened(host: Served, secret: str) -> int:
    """The answer to whoever presses the button."""
    body = f"secret={secret}"
    head = "POST /admin/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Content-Length: {len(body)}"
    with socket.create_connection(("127.0.0.1", host.http)) as connection:
        connection.sendall(f"{head}\r\n\r\n{body}".encode())
        return int(connection.makefile("rb").readline().split()[1])


def printed(host: Served) -> str:
    """What a host has said on standard error until it ended."""
    host.process.terminate()
    return host.end()[2]


def test_a_link_is_printed_at_the_first_start_and_by_the_command(tmp_path: Path) -> None:
    host = Served(tmp_path, "--log-level", "error")
    try:
        words = ("admin-link", "--url", f"http://127.0.0.1:{host.http}", "--data", str(host.data))
        code, out, errors = quintain(*words, QUINTAIN_TOKEN="")
        assert (code, errors) == (0, "")
        found = re.fullmatch(rf"http://127\.0\.0\.1:{host.http}/admin/login\?secret=([\w-]{{43}})\n", out)
        assert found is not None
        assert [opened(host, found[1]), opened(host, found[1])] == [303, 403]
        first = re.search(
            rf"at http://127\.0\.0\.1:{host.http}/admin/login\?secret=[\w-]{{43}}\n", printed(host)
        )
        assert first is not None
        host = Served(tmp_path, "--log-level", "error")
        assert "/admin/login" not in printed(host), "the second time there is the command"
    finally:
        host.kill()
