"""Which names lead to a host on loopback."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.net.hosts import Hosts, expected_hosts, host_and_path, is_oneself, is_this_machine

OURS = ("localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.255.0.9", "127.1", "2130706433", "0x7f.1")
OURS += ("[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", socket.gethostname())  # noqa: S104
OTHERS = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.localhost", "x")
OTHERS += (
    "10.0.0.1",
    "[2600::1]",
    "::1",
    "[::1",
    "localhost:1:1",
    "localhost:x",
    "a, localhost",
    "@",
    "[]",
)
LISTED = Hosts(["arena.example", "Club.Example.", "10.0.0.7", "[2600::7]"])


@pytest.mark.parametrize("port", ["", ":", ":80", ":8080", ":99999"])
@pytest.mark.parametrize("name", OURS)
def test_this_machine_is_named_by_its_addresses_and_names_whatever_the_port(name: str, port: str) -> None:
    assert is_this_machine(name + port)
    assert name + port in Hosts()
    assert not LISTED.objection(name + port)


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_name_is_ours(name: str) -> None:
    assert not is_this_machine(name)
    for expected in (Hosts(), LISTED):
        assert name not in expected
        assert "`hosts`" in expected.objection(name)


@pytest.mark.parametrize("name", ["arena.example", "ARENA.example:8443", "club.example", "10.0.0.7"])
def test_a_name_that_is_listed_is_ours_but_does_not_say_that_somebody_is_on_this_machine(name: str) -> None:
    assert name in LISTED
    assert name not in Hosts()
    assert not is_this_machine(name)


@pytest.mark.parametrize(
    "listed",
    ["", " ", "https://arena.example", "arena.example:80", "arena example", "*", "a/b", "-a", "ä.example"],
)
def test_what_is_no_name_cannot_be_listed(listed: str) -> None:
    with pytest.raises(ValueError, match="expected a name or an address"):
        Hosts([listed])


def test_names_are_expected_only_where_nobody_else_can_connect() -> None:
    for bind in ("127.0.0.1", "localhost", "::1", "127.9.9.9"):
        expected = expected_hosts(bind, ["arena.example"])
        assert expected is not None
        assert "arena.example" in expected
    for bind in ("0.0.0.0", "::", "10.0.0.7"):  # noqa: S104
        assert expected_hosts(bind, []) is None


@given(st.text(max_size=300))
def test_whatever_a_header_says_there_is_an_answer_of_printable_letters(named: str) -> None:
    assert (named in LISTED) == (LISTED.objection(named) == "")
    assert LISTED.objection(named).isprintable()


@pytest.mark.parametrize(
    ("target", "named", "rest"),
    [
        (b"http://a/b?c", b"a", b"/b?c"),
        (b"HTTPS://a:80?c", b"a:80", b"/?c"),
        (b"http://[::1]:80", b"[::1]:80", b"/"),
        (b"http:///b", b"", b"http:///b"),
        (b"ftp://a/b", b"", b"ftp://a/b"),
        (b"//a/b", b"", b"//a/b"),
        (b"/http://a/b", b"", b"/http://a/b"),
        (b"*", b"", b"*"),
    ],
)
def test_a_whole_address_as_a_target_names_a_host(target: bytes, named: bytes, rest: bytes) -> None:
    assert host_and_path(target) == (named, rest)


@pytest.mark.parametrize("port", ["", ":8080"])
def test_only_loopback_leads_every_machine_to_itself(port: str) -> None:
    """Catches a note on invitations with the name of this machine that nobody else can follow them."""
    for name in ("localhost", "127.0.0.1", "127.1", "0.0.0.0", "[::1]"):  # noqa: S104
        assert is_oneself(name + port)
    for name in {socket.gethostname(), "arena.example.org", "192.0.2.1", "[2001:db8::1]"} - {"localhost"}:
        assert not is_oneself(name + port)
