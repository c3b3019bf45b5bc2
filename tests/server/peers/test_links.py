"""Links between hosts on real sockets: one to each, encrypted, and only between hosts of the database."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import pytest
import trio
from msgspec import Struct
from msgspec.structs import replace
from structlog.testing import capture_logs

from server.exits import ConfigError
from server.peers import identity
from server.peers.channel import FarEnd
from server.peers.leases import Peer
from server.peers.links import STRANGERS, Links, listening
from server.peers.messages import Open
from tests.hang import HANG
from tests.server.net.test_tls import streams

ONE, OTHER, STRANGER = identity.made(), identity.made(), identity.made()


def served(wire: FarEnd, opened: Open) -> None:
    raise AssertionError("nobody is relayed here")


@asynccontextmanager
async def hosts(*peers: tuple[identity.Identity, Peer | None]) -> AsyncIterator[list[Links]]:
    """Each with what it proves to be, and what the database says of it; None: as it is."""
    async with trio.open_nursery() as nursery:
        known: list[Peer] = []
        found: list[Links] = []
        for number, (own, said) in enumerate(peers, 1):
            listeners = await listening("127.0.0.1:0")
            address = f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
            peer = said or Peer(number, "", own.fingerprint, own.certificate, "0")
            known.append(replace(peer, address=address))
            links = Links(own, lambda number=number: [each for each in known if each.id != number], served)
            links.host = number
            found.append(links)
            nursery.start_soon(links.run, listeners)
        yield found
        nursery.cancel_scope.cancel()


async def until_linked(one: Links, peer: int) -> None:
    with trio.fail_after(HANG):
        while one.to(peer) is None:  # noqa: ASYNC110 - nobody tells
            await trio.sleep(0.01)


async def test_every_two_hosts_have_one_link() -> None:
    async with hosts((ONE, None), (OTHER, None), (STRANGER, None)) as found:
        for links in found:
            for peer in {1, 2, 3} - {links.host}:
                await until_linked(links, peer)
            assert links.to(links.host) is None


@pytest.mark.slow
async def test_whoever_has_another_certificate_than_the_database_says_is_refused() -> None:
    """Both by the one that dials, who comes later, and by the one that is dialled.

    Catches a warning of each: whoever has just come is refused once or twice by those who do not know it yet.
    """
    for posing in (1, 2):
        said = Peer(posing, "", OTHER.fingerprint, OTHER.certificate, "0")
        pair = ((STRANGER, said), (ONE, None)) if posing == 1 else ((ONE, None), (STRANGER, said))
        with capture_logs() as logs, trio.fail_after(HANG):
            async with hosts(*pair) as found:
                while sum("come to nothing" in each["event"] for each in logs) < 3:  # noqa: ASYNC110
                    await trio.sleep(0.01)
                assert not any(each["log_level"] == "warning" for each in logs[:3])
                assert found[2 - posing].to(posing) is None


async def test_why_a_host_cannot_be_reached_is_said_and_logged_once_until_it_changes() -> None:
    """Catches four lines a second, of which none says whether anybody listens there."""
    (nobody,) = await listening("127.0.0.1:0")
    at = f"127.0.0.1:{nobody.socket.getsockname()[1]}"
    await nobody.aclose()
    dialled: list[str] = []

    def peers() -> list[Peer]:
        dialled.append(at)
        return [Peer(1, at, ONE.fingerprint, ONE.certificate, "0")]

    links = Links(OTHER, peers, served)
    links.host = 2
    with capture_logs() as logs, trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(links.run, ())
            while len(dialled) < 4:  # noqa: ASYNC110 - nobody tells
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    (line,) = logs
    assert (line["event"], line["at"], line["why"]) == ("a host cannot be reached", at, "Connection refused")
    (problem,) = links.problems()
    assert problem.said == f"there is no link to host 1 at {at}: Connection refused"


@pytest.mark.parametrize(
    "address", ["", "8000", "127.0.0.1", "127.0.0.1:no", "127.0.0.1:70000", "192.0.2.1:0"]
)
async def test_an_address_where_nobody_can_listen_is_said_in_a_line(address: str) -> None:
    with pytest.raises(ConfigError, match=r"^peers: [^\n]+$"):
        await listening(address)


def test_every_identity_is_another_and_its_key_is_not_in_its_certificate() -> None:
    assert len({each.fingerprint for each in (ONE, OTHER, STRANGER)}) == 3
    assert "PRIVATE" in ONE.key
    assert "PRIVATE" not in ONE.certificate


@pytest.mark.slow
async def test_a_stranger_who_comes_again_and_again_is_told_on_both_sides() -> None:
    """Of two hosts the one that dials is not who the database says."""
    said = Peer(2, "", OTHER.fingerprint, OTHER.certificate, "0")
    with capture_logs() as logs, trio.fail_after(HANG):
        async with hosts((ONE, None), (STRANGER, said)) as (one, stranger):
            assert not [*one.problems(), *stranger.problems()]
            while not [*one.problems()] or not [*stranger.problems()]:  # noqa: ASYNC110 - nobody tells
                await trio.sleep(0.01)
            (refused,), (ended,) = one.problems(), stranger.problems()
            assert "no certificate of a host in the database" in refused.said
            assert "may not know this one" in ended.said
    (warning,) = (each for each in logs if "links are refused" in each["event"])
    assert warning["log_level"] == "warning"
    assert warning["latest"].startswith("127.0.0.1:")


class Counted(Struct):
    """An identity that counts how often a context was made of it."""

    own: identity.Identity
    times: int = 0

    @property
    def certificate(self) -> str:
        return self.own.certificate

    @property
    def key(self) -> str:
        self.times += 1
        return self.own.key


async def test_strangers_at_the_port_for_hosts_cost_little_and_keep_no_host_away() -> None:
    """Each took ten milliseconds of the loop that plays, and a file for five seconds."""
    own = Counted(ONE)
    other = Peer(2, "127.0.0.1:1", OTHER.fingerprint, OTHER.certificate, "0")
    links = Links(cast("identity.Identity", own), lambda: [other], served)
    links.host = 1
    listeners = await listening("127.0.0.1:0")
    port = listeners[0].socket.getsockname()[1]
    with capture_logs() as logs, trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(links.run, listeners)
            strangers = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(3 * STRANGERS)]
            for oldest in strangers[: 2 * STRANGERS]:
                await end_of(oldest)
            here = Peer(1, f"127.0.0.1:{port}", ONE.fingerprint, ONE.certificate, "0")
            arriving = Links(OTHER, lambda: [here], served)
            arriving.host = 2
            nursery.start_soon(arriving.run, await listening("127.0.0.1:0"))
            await until_linked(links, 2)
            assert own.times == 1
            await strangers[-1].send_all(b"no handshake")
            await end_of(strangers[-1])
            nursery.cancel_scope.cancel()
    for stranger in strangers:
        await trio.aclose_forcefully(stranger)
    (line,) = (each for each in logs if "come to nothing" in each["event"])
    assert line["peer"] == "127.0.0.1", "by which the budget of the log counts it"


async def test_a_host_that_takes_long_over_its_handshake_is_not_driven_out_by_strangers_from_elsewhere() -> (
    None
):
    """Catches a flood during which no host can join the others, or come back."""
    other = Peer(2, "127.0.0.1:1", OTHER.fingerprint, OTHER.certificate, "0")
    links = Links(ONE, lambda: [other], served)
    links.host = 1
    listeners = await listening("127.0.0.1:0")
    port = listeners[0].socket.getsockname()[1]
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(links.run, listeners)
            arriving = await trio.open_tcp_stream("127.0.0.1", port)
            strangers = [
                await trio.open_tcp_stream("127.0.0.1", port, local_address="127.77.0.1")
                for _ in range(3 * STRANGERS)
            ]
            for oldest in strangers[: 2 * STRANGERS]:
                await end_of(oldest)
            context = identity.context(OTHER, [ONE.certificate], server=False)
            async with trio.SSLStream(arriving, context) as stream:
                await stream.do_handshake()
                await until_linked(links, 2)
                nursery.cancel_scope.cancel()
    for stranger in strangers:
        await trio.aclose_forcefully(stranger)


class Fileless(Struct):
    """An identity for which no file can be opened."""

    own: identity.Identity

    @property
    def key(self) -> str:
        raise OSError("no space left on device")


async def test_a_link_for_which_there_is_no_file_is_refused_and_nothing_else() -> None:
    """Catches a host that ends: anybody may connect, and the disk may be full."""
    links = Links(cast("identity.Identity", Fileless(ONE)), tuple[Peer, ...], served)
    listeners = await listening("127.0.0.1:0")
    port = listeners[0].socket.getsockname()[1]
    with capture_logs() as logs, trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(links.run, listeners)
            for _ in range(2):
                async with await trio.open_tcp_stream("127.0.0.1", port) as stranger:
                    await end_of(stranger)
            nursery.cancel_scope.cancel()
    assert [each["why"] for each in logs] == ["no space left on device"] * 2


async def test_strangers_at_the_port_for_hosts_leave_nothing_behind() -> None:
    """Catches 50 KB for each of them until the collector looks, which is rare in a host."""
    links = Links(ONE, tuple[Peer, ...], served)
    listeners = await listening("127.0.0.1:0")
    port = listeners[0].socket.getsockname()[1]
    gc.collect()
    gc.disable()
    before = streams()
    try:
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(links.run, listeners)
                for said in (b"", b"no handshake"):
                    async with await trio.open_tcp_stream("127.0.0.1", port) as stranger:
                        await stranger.send_all(said)
                        await stranger.send_eof()
                        await end_of(stranger)
                nursery.cancel_scope.cancel()
        assert streams() == before
    finally:
        gc.enable()


async def end_of(stream: trio.SocketStream) -> None:
    """Wait until the other end has hung up, with or without an alert."""
    with suppress(trio.BrokenResourceError):
        while await stream.receive_some():
            pass


@pytest.mark.slow
async def test_a_host_that_ends_in_the_middle_of_a_handshake_leaves_no_connection_open() -> None:
    """Whatever is left open is told of when it is collected, which fails the test."""
    for steps in range(0, 60, 3):
        async with hosts((ONE, None), (OTHER, None)):
            for _ in range(steps):
                await trio.lowlevel.checkpoint()
    gc.collect()
