"""Proxies: a client that comes through one is who it says; what anybody else says counts for nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from server.http.exchange import Exchange
from server.http.wire import Response
from server.net.admission import Admission
from server.net.limits import Limits
from server.net.proxies import Proxies
from tests.server.served import Served
from tests.server.web import get, serving
from tests.server.windowed import windowed_pair

OURS = Proxies(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"])
PROXY = "192.0.2.1"  # as simulated connections come from

HERE = Proxies(["127.0.0.0/8"])

addresses = st.ip_addresses().map(str) | st.sampled_from(
    ["10.1.2.3", "192.0.2.1", "unknown", "", "10.1.2.3:80"]
)


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.7", "203.0.113.5", "198.51.100.7"),  # nobody we know
        ("10.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("10.0.0.1", "1.2.3.4, 203.0.113.5", "203.0.113.5"),  # came with a header of its own
        ("10.0.0.1", "203.0.113.5,\t10.9.9.9", "203.0.113.5"),  # two of ours in a row
        ("10.0.0.1", "203.0.113.5, 198.51.100.7, 10.9.9.9", "198.51.100.7"),  # and another's before them
        ("10.0.0.1", "10.9.9.9", "10.9.9.9"),  # from within
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.5, unknown", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.5:4711", "203.0.113.5"),  # as some proxies write it
        ("10.0.0.1", "1.2.3.4, 203.0.113.5:4711, 10.9.9.9:80", "203.0.113.5"),
        ("10.0.0.1", "[2001:db9::1]:4711", "2001:db9::1"),
        ("10.0.0.1", "[2001:db9::1]", "2001:db9::1"),
        ("10.0.0.1", "203.0.113.5:", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.5:4711:4711", "10.0.0.1"),
        ("10.0.0.1", "[]:4711", "10.0.0.1"),
        ("10.0.0.1", "unknown, 10.9.9.9", "10.9.9.9"),
        ("192.0.2.1", "2001:DB9:0::1", "2001:db9::1"),
        ("192.0.2.2", "203.0.113.5", "192.0.2.2"),
        ("2001:db8::1", "::ffff:203.0.113.5", "203.0.113.5"),
        ("::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("", "203.0.113.5", ""),
    ],
)
def test_the_last_that_no_proxy_of_ours_has_is_the_client(peer: str, forwarded: str, client: str) -> None:
    assert OURS.client(peer, forwarded) == client


@given(st.lists(addresses), st.lists(addresses), st.sampled_from(["10.0.0.1", "198.51.100.7"]))
def test_nothing_that_a_client_writes_makes_it_another(
    written: list[str], added: list[str], peer: str
) -> None:
    """Catches reading from the beginning: nothing before an address that is not ours is ever looked at."""
    honest = ["203.0.113.5", *added]
    assert OURS.client(peer, ", ".join([*written, *honest])) == OURS.client(peer, ", ".join(honest))


async def test_connections_of_a_proxy_are_not_counted(autojump_clock: MockClock) -> None:
    admission = Admission(Limits(connections_per_address=3), proxies=OURS)
    for peer in [PROXY] * 9 + ["198.51.100.7"] * 9:
        admission.admit(windowed_pair(peer=peer)[0])
    assert len(admission) == 9 + 3


async def test_over_http_each_request_is_of_whom_the_proxy_names(autojump_clock: MockClock) -> None:
    def say_who(exchange: Exchange) -> None:
        exchange.respond(Response(body=exchange.request.peer.encode()))

    asked = [
        get("/", "X-Forwarded-For: 203.0.113.5"),
        get("/", "X-Forwarded-For: 203.0.113.5", "x-forwarded-for: 203.0.113.6"),
        get("/", "Forwarded: for=203.0.113.7"),
    ]
    for proxies, expected in (
        (OURS, [b"203.0.113.5", b"203.0.113.6", PROXY.encode()]),
        (Proxies(), [PROXY.encode()] * 3),
    ):
        async with serving(say_who) as server:
            visitor = Admission(Limits(), proxies=proxies).admit(windowed_pair(peer=PROXY)[0])
            client = server.connect(visitor=visitor)
            assert [(await client.ask(request)).body for request in asked] == expected


def hello(name: str, token: str, client: str) -> str:
    said = f'{{"type":"hello","name":"{name}","game":"quoridor","token":"{token}"}}'
    return (
        f"POST /play HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: {client}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n{said}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("proxies", [["127.0.0.1"], []], ids=["a proxy of ours", "anybody"])
def test_whoever_guesses_tokens_through_a_proxy_of_ours_shuts_out_itself_alone(
    proxies: list[str], tmp_path: Path
) -> None:
    """And where nobody said that it is ours, to name another address each time helps nobody."""
    (tmp_path / "quintain.toml").write_text(
        f"proxies = {proxies}\nlimits.wrong_tokens = {{ credits = 2, seconds = 60.0 }}\n"
    )
    host = Served(tmp_path)
    clients = ("198.51.100.1", *["203.0.113.5"] * 3, "203.0.113.6", "203.0.113.7")  # the first takes the name
    try:
        statuses = [host.ask(hello("ann", f"{client} has another idea", client))[0] for client in clients]
    finally:
        host.kill()
    assert statuses == [201, 403, 403, 429, *([403, 403] if proxies else [429, 429])]


def test_a_proxy_on_this_machine_is_believed_at_both_of_its_addresses() -> None:
    """A host on loopback listens on both, and a proxy that is told `localhost` may take either."""
    for peer in ("127.0.0.1", "::1"):
        assert HERE.client(peer, "203.0.113.5") == "203.0.113.5"
    for other in (OURS, Proxies(["127.0.0.2"]), Proxies(["::1"])):
        assert "127.0.0.1" not in other
    assert "::1" not in OURS
