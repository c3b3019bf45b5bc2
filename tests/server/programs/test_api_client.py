"""The organiser's token, where commands find it, exports, and answers that no host gives.

`test_commands_host.py` has the rest of the client.
"""

import json
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from email.message import Message
from math import inf, nan
from pathlib import Path
from urllib.error import HTTPError

import pytest
import trustme

from server.exits import FAILED, MISUSED, ConfigError, Failure, Misuse
from server.programs.api_client import AT_ONCE, READINGS, Remote, soon
from server.programs.download import Download
from server.store.data_folder import TOKEN, VARIABLE, organiser_token
from tests.hang import HANG
from tests.server.run import quintain

NOBODY = "http://127.0.0.1:1"  # nothing is asked there


def test_a_token_may_come_with_the_end_of_its_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As it does from most files of secrets; the host and the commands read it alike."""
    monkeypatch.setenv(VARIABLE, "of my own choosing\r\n")
    assert organiser_token(tmp_path).text == "of my own choosing"
    with pytest.raises(Failure, match="no host answers"):
        Remote(NOBODY).post("tournaments")


@pytest.mark.parametrize("token", ["two\nlines", "schlüssel", "\x00"])
def test_a_token_that_no_request_can_carry_is_refused_with_a_sentence(token: str) -> None:
    with pytest.raises(Failure, match="one line of ASCII"):
        Remote(NOBODY, token).post("tournaments")


@pytest.mark.parametrize("token", ["two\nlines", "schlüssel"])
def test_no_host_starts_with_a_token_that_no_request_can_carry(
    token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Catches a host that says it is ready, and takes no order from anybody."""
    monkeypatch.setenv(VARIABLE, token)
    with pytest.raises(ConfigError, match=f"{VARIABLE}: expected one line of ASCII"):
        organiser_token(tmp_path)


def test_whoever_has_another_token_is_told_where_it_was_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Perhaps that of another host, whose data folder is where the command is given."""
    (tmp_path / TOKEN).write_text("of another host")
    no = b'HTTP/1.1 401 No\r\nContent-Length: 22\r\n\r\n{"error":"it is not."}\n'
    for token, environment, origin in (
        (None, "", str(tmp_path / TOKEN)),
        (None, "in the environment", VARIABLE),
        ("brought", "in the environment", "--token"),
    ):
        monkeypatch.setenv(VARIABLE, environment)
        with answering(no) as address, pytest.raises(Failure) as failure:
            Remote(f"http://{address}", token, str(tmp_path)).post("tournaments")
        assert str(failure.value) == f"it is not.; it was taken from {origin}"


@pytest.mark.parametrize(("status", "code"), [(b"400", MISUSED), (b"409", FAILED), (b"404", FAILED)])
def test_what_makes_no_sense_to_the_host_was_wrongly_used(status: bytes, code: int) -> None:
    no = b'HTTP/1.1 %b No\r\nContent-Length: 22\r\n\r\n{"error":"no game go"}\n' % status
    with answering(no) as address, pytest.raises(Failure, match="no game go") as failure:
        Remote(f"http://{address}", "token").post("tournaments")
    assert failure.value.code == code


def test_whoever_is_told_to_ask_again_at_once_does_so() -> None:
    """Catches a demo, or `quintain standings`, that fails because its host still works them out."""
    later = b'HTTP/1.1 503 Later\r\nRetry-After: 0\r\nContent-Length: 19\r\n\r\n{"error":"a while"}'
    there = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with answering(later) as busy, pytest.raises(Failure, match="a while"):
        Remote(f"http://{busy}", "token").post("tournaments")  # may have been done
    with answering(later, there) as address:
        assert Remote(f"http://{address}").get("games") == {}


def downloaded(remote: Remote) -> bytes:
    with Download() as found:
        remote.download_for_organiser(found, "tournaments", "friday", "export")
        return b"".join(found)


@pytest.mark.parametrize(("said", "wait"), [("0", AT_ONCE), ("1", 1.0), ("60", inf), ("-1", inf), ("", inf)])
def test_nobody_is_asked_again_without_a_pause(said: str, wait: float) -> None:
    """Catches hundreds of requests a second, to whatever says "at once" while a host is away."""
    headers = Message()
    headers["Retry-After"] = said
    assert soon(HTTPError("http://127.0.0.1", 503, "Later", headers, None)) == wait


@contextmanager
def answering(
    *answers: bytes, tls: ssl.SSLContext | None = None, heard: list[bytes] | None = None
) -> Generator[str]:
    """The address of something that gives a client each of these, whatever it is asked, and hangs up.

    `heard` is where it notes what it was asked.
    """

    def serve() -> None:
        for answer in answers:
            serve_one(answer)

    def serve_one(answer: bytes) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(HANG)
            try:
                asked = connection if tls is None else tls.wrap_socket(connection, server_side=True)
            except ssl.SSLError:  # the client does not go on
                return
            request = asked.recv(65536)
            if heard is not None:
                heard.append(request)
            asked.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(HANG)
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(HANG)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (b"this is no web server: the first line is the name of a bot\n", "does not speak HTTP"),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"match', "hung up in the middle of its answer"),
        (b'HTTP/1.1 409 No\r\nContent-Length: 99\r\n\r\n{"error', "the host answers with 409 No"),
        (b"HTTP/1.1 409 No\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60000, "the host answers with 409 No"),
        (b'HTTP/1.1 409 No\r\nContent-Length: 17\r\n\r\n{"error":"a\\nb"}\n', "^a b$"),
        (b"HTTP/1.1 302 Go\r\nLocation: http://[\r\n\r\n", "leads to what is no address"),
        (b"HTTP/1.1 302 Go\r\nLocation: http://a..b\r\n\r\n", "leads to what is no address"),
        (b"HTTP/1.1 304 No\r\n\r\n", "leads to another address, and no answer comes from there"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "is not a Quintain host"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "is not a Quintain host"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60000, "is not a Quintain host"),
    ],
)
def test_an_answer_that_no_host_gives_is_a_failure_in_a_sentence(answer: bytes, complaint: str) -> None:
    """Such as that of the TCP port, which somebody may take for the HTTP port."""
    with answering(answer) as address, pytest.raises(Failure, match=complaint):
        Remote(f"http://{address}").get("games")


def test_an_answer_without_what_was_asked_for_is_none_of_a_host() -> None:
    there = b'HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{"tournaments":[{"":1}]}'
    with answering(there) as address:
        found = Remote(f"http://{address}").get("games")
    for part, key in ((found, "games"), (found["tournaments"][0], "entrants")):
        with pytest.raises(Failure, match=f"is not a Quintain host: its answer has no '{key}'"):
            part[key]


def test_whoever_changes_places_while_a_table_is_read_is_in_it_once() -> None:
    """Catches a bot that was on both pages, and another on neither."""

    head = dict.fromkeys(("tournament", "game", "format", "state"), "") | {"frozen": False}
    row = {"rank": 1, "points": 0.0, "played": 0, "wins": 0, "draws": 0, "losses": 0}
    row |= {"rating": None, "interval": None}

    def page(*names: str, following: int | None) -> bytes:
        rows = [row | {"name": name} for name in names]
        body = json.dumps(head | {"rows": rows, "next": following}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    first, moved = page("ann", "bob", following=2), page("bob", following=None)
    last = page("cas", following=None)
    with answering(first, moved, first, last) as address:
        found = Remote(f"http://{address}").whole("rows", "tournaments", "cup", "standings")
    assert [row["name"] for row in found["rows"]] == ["ann", "bob", "cas"]
    with (
        answering(*[first, moved] * READINGS) as address,
        pytest.raises(Failure, match="changes while"),
    ):
        Remote(f"http://{address}").whole("rows", "tournaments", "cup", "standings")


@pytest.mark.parametrize("number", [inf, nan])
def test_a_number_that_json_does_not_have_is_said_before_anybody_is_asked(number: float) -> None:
    """Catches `--turn inf`, of which the host said that it is not JSON, at byte 77."""
    with pytest.raises(Misuse, match="expected numbers that are finite"):
        Remote(NOBODY, "token").post("tournaments", body={"pace": {"turn": number}})


def test_what_was_not_given_in_utf_8_is_said_before_anybody_is_asked() -> None:
    code, _, told = quintain("tournament", "invite", "friday", "caf\udce9", "--url", NOBODY, "--token", "x")
    assert (code, told) == (2, "quintain: expected words in UTF-8, not 'caf\\udce9'\n")


@pytest.mark.parametrize("kind", [b"text/html", b"application/json", b"text/plain"])
def test_what_somebody_else_says_is_no_table(kind: bytes) -> None:
    """Catches the page of another server in the file of a table, and the exit code 0."""
    page = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: 5\r\n\r\nMac\xdf\n" % kind
    with answering(page) as address, pytest.raises(Failure, match="is not a Quintain host"):
        Remote(f"http://{address}").text("tournaments", "friday", "standings", query="?format=csv")


@pytest.mark.parametrize("status", [b"301", b"302", b"303", b"307", b"308"])
def test_the_token_of_an_organiser_goes_nowhere_but_where_it_was_sent(status: bytes) -> None:
    """Catches an order that a proxy leads to its other port: it arrived as a request to read."""
    elsewhere = f"{NOBODY}/api/tournaments".encode()
    leads = b"HTTP/1.1 %b Go\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, elsewhere)
    for ask in (
        lambda remote: remote.post("tournaments"),
        downloaded,
    ):
        with answering(leads) as address, pytest.raises(Failure, match=f"leads to {elsewhere.decode()}"):
            ask(Remote(f"http://{address}", "a token"))


def test_whoever_exports_from_another_machine_sends_it_only_a_token_that_was_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Catches a token of one's own host that another organiser is shown, who gives an export to everybody."""
    (tmp_path / TOKEN).write_text("of a host on this machine")
    export = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: 3\r\n\r\n{}\n"
    for name, token, environment, sent in (
        ("127.0.0.1", None, "", b"Bearer of a host on this machine"),
        ("0.0.0.0", None, "", None),  # noqa: S104 - which leads here, and is no name of loopback
        ("0.0.0.0", "brought", "", b"Bearer brought"),  # noqa: S104
        ("0.0.0.0", None, "from outside", b"Bearer from outside"),  # noqa: S104
    ):
        monkeypatch.setenv(VARIABLE, environment)
        heard: list[bytes] = []
        with answering(*[export] * (2 if sent else 1), heard=heard) as address:
            there = f"http://{address.replace('127.0.0.1', name)}"
            found = downloaded(Remote(there, token, str(tmp_path)))
        assert found == b"{}\n"
        assert [sent in each if sent else b"Bearer" not in each for each in heard] == [True] * len(heard)


@pytest.mark.parametrize("said", ["Zürich", "\u2028\x85\x9b31m"])
def test_an_export_is_written_as_the_host_has_it_whatever_is_said_in_it(said: str, tmp_path: Path) -> None:
    """Catches letters that were escaped, so that its chain no longer held, and a note that ended a line."""
    lines = f'{{"note":"{said}","spent":1E-7}}\n{{}}\n'
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
    ask, file = ("tournament", "export", "friday", "--data", str(tmp_path), "--url"), tmp_path / "export"
    with answering((head + lines).encode()) as address:
        assert quintain(*ask, f"http://{address}", QUINTAIN_TOKEN="") == (0, lines, "")
    with answering((head + lines).encode()) as address:
        *_, told = quintain(*ask, f"http://{address}", "--output", str(file), QUINTAIN_TOKEN="")
    assert (file.read_bytes(), told) == (lines.encode(), f"2 lines are in {file}\n")


def test_a_file_that_holds_no_token_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / TOKEN).write_text("two\nlines\n")
    with pytest.raises(Failure, match=f"one line of ASCII, and the one from {tmp_path / TOKEN} is not"):
        Remote(NOBODY, data=str(tmp_path)).post("tournaments")


def test_a_host_without_tls_is_told_from_a_host_that_is_not_there() -> None:
    """Catches "no host answers" and the place of an error in Python's own code."""
    plain = b"HTTP/1.1 400 Bad Request\r\n\r\n"
    with (
        answering(plain) as address,
        pytest.raises(Failure, match=r"; a host without TLS is at http://$"),
    ):
        Remote(f"https://{address}").get("games")


def test_a_certificate_that_is_not_trusted_is_told_from_a_host_that_is_not_there() -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(tls)
    with (
        answering(b"", tls=tls) as address,
        pytest.raises(Failure, match=r"certificate of .* is not trusted here"),
    ):
        Remote(f"https://{address}").get("games")
