"""Links between hosts on real sockets: one to each, encrypted, and only between hosts of the database."""

import gc
import os
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from stat import S_IMODE
from typing import cast

import pytest
import trio
import trio.testing
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec import Struct
from msgspec.structs import replace
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.exits import ConfigError
from server.host.abroad import Handed
from server.net.guard import Guard
from server.net.stream_wire import StreamWire
from server.peers import identity
from server.peers.channel import FarEnd
from server.peers.leases import Peer
from server.peers.link import Serve
from server.peers.links import AGAIN, BRIEF, HANDSHAKE, RECENT, REFUSALS, STRANGERS, Links, listening
from server.peers.messages import Open
from tests.hang import HANG
from tests.ports import refusing
from tests.server.net.test_listening import FEW
from tests.server.net.test_tls import streams

Connect = Callable[[], Awaitable[trio.SocketStream]]

ONE, OTHER, STRANGER = identity.made(), identity.made(), identity.made()


def served(wire: FarEnd, opened: Open) -> None:
    raise AssertionError("nobody is relayed here")


@asynccontextmanager
async def hosts(
    *peers: tuple[identity.Identity, Peer | None], serve: Serve = served
) -> AsyncIterator[list[Links]]:
    """Each with what it proves to be, and what the database says of it; None: as it is."""
    async with trio.open_nursery() as nursery:
        known: list[Peer] = []
        found: list[Links] = []
        for number, (own, said) in enumerate(peers, 1):
            listeners = await listening("127.0.0.1:0")
            address = f"127.0.0.1:{listeners[0].socket.getsockname()[1]}"
            peer = said or Peer(number, "", own.fingerprint, own.certificate, "0")
            known.append(replace(peer, address=address))
            links = Links(own, lambda number=number: [each for each in known if each.id != number], serve)
            links.host = number
            found.append(links)
            nursery.start_soon(links.run, listeners)
        yield found
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def at_port(
    host: int, *others: Peer, said: list[str] | None = None
) -> AsyncIterator[tuple[Links, Connect]]:
    """The links of a host that is `ONE`, and a way to connect to them."""
    links, listeners = Links(ONE, lambda: others, served), await listening("127.0.0.1:0")
    links.host = host
    connect = partial(trio.open_tcp_stream, *listeners[0].socket.getsockname())
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(links.run, listeners)
            yield links, connect
            nursery.cancel_scope.cancel()
    if said is not None:
        said += [each["event"] for each in logs]


def known(number: int, address: str = "127.0.0.1:1", *, alive: bool = True) -> Peer:
    """The host that is `OTHER`, as the database knows it."""
    return Peer(number, address, OTHER.fingerprint, OTHER.certificate, "0", alive=alive)


async def relayed(source: Links, peer: int) -> bytes:
    """What a bot hears that has come to one host and plays at another."""
    link = source.to(peer)
    assert link is not None
    bot, ours = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        handed = Handed("tcp", StreamWire(ours, Guard(nursery)), "", ((b"hello", 0.0),), lambda: None)
        nursery.start_soon(link.take, handed)
        heard = await bot.receive_some()
        await bot.aclose()
    return bytes(heard)


def greet(wire: FarEnd, opened: Open) -> None:
    """A bot is served in no time."""
    wire.send_now(b"welcome")
    wire.close()


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


async def test_bots_are_relayed_over_a_link_whichever_host_has_dialled(autojump_clock: MockClock) -> None:
    """Catches a link that is cut as soon as bots have come to both hosts."""
    async with hosts((ONE, None), (OTHER, None), serve=greet) as (one, other):
        linked = list[int]()
        for links in (one, other):
            links.linked = lambda link: linked.append(link.peer)
        await until_linked(one, 2)
        await until_linked(other, 1)
        assert sorted(linked) == [1, 2], "each has told those who have something to say to the other"
        for _ in range(3):
            assert await relayed(one, 2) == await relayed(other, 1) == b"welcome"


@pytest.mark.parametrize(("number", "alive"), [(1, True), (3, False)], ids=["came first", "dead"])
async def test_a_host_that_came_first_or_is_dead_may_not_dial_and_only_the_former_is_dialled(
    autojump_clock: MockClock, number: int, alive: bool
) -> None:
    """Catches two links between two hosts, and one to a host from which others have taken over."""
    said: list[str] = []
    async with at_port(2, known(number, alive=alive), said=said) as (links, connect):
        context = identity.context(OTHER, [ONE.certificate], server=False)
        async with trio.SSLStream(await connect(), context) as stream:
            with suppress(trio.BrokenResourceError):
                assert await stream.receive_some() == b""
        assert links.to(number) is None
    assert ("a host cannot be reached" in said) is alive


async def test_no_host_dials_one_that_is_dead_or_came_later_or_one_to_which_it_has_a_link(
    autojump_clock: MockClock,
) -> None:
    """Catches a link that is cut, with all that it carries, four times a second."""
    (nobody,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    address = f"127.0.0.1:{nobody.socket.getsockname()[1]}"
    async with at_port(2, known(1, address, alive=False), known(3, address)):
        with trio.move_on_after(4 * AGAIN):
            await nobody.accept()
            raise AssertionError("nobody is to be dialled there")
    context = identity.context(OTHER, [ONE.certificate], server=True)
    async with (
        at_port(2, known(1, address)) as (links, _),
        trio.SSLStream(await nobody.accept(), context, server_side=True) as stream,
    ):
        await stream.do_handshake()
        await until_linked(links, 1)
        with trio.move_on_after(4 * AGAIN):
            await nobody.accept()
            raise AssertionError("one link is enough")
    await nobody.aclose()


async def test_the_latest_link_to_a_host_is_the_one_that_counts(autojump_clock: MockClock) -> None:
    """A host may dial again before the other has noticed that the earlier link is cut. Catches one that is
    then without a link for as long as its newer one lasts.
    """
    context = identity.context(OTHER, [ONE.certificate], server=False)
    streams: list[trio.SSLStream[trio.SocketStream]] = []
    found: list[object] = []
    async with at_port(1, known(2)) as (links, connect):
        for _ in range(2):
            streams.append(trio.SSLStream(await connect(), context))
            await streams[-1].do_handshake()
            while (link := links.to(2)) is None or link in found:  # noqa: ASYNC110 - nobody tells
                await trio.sleep(0.01)
            found.append(link)
        for stream, left in zip(streams, (found[1], None), strict=True):
            await trio.aclose_forcefully(stream)
            await trio.sleep(0.1)
            assert links.to(2) is left


async def test_a_link_that_was_lost_is_dialled_again_and_its_problem_is_over_once_it_lasts(
    autojump_clock: MockClock,
) -> None:
    async with hosts((ONE, None), (OTHER, None)) as (one, other):
        await until_linked(other, 1)
        first = other.to(1)
        assert first is not None
        with capture_logs():
            await trio.aclose_forcefully(first._stream)
            await trio.sleep(AGAIN / 2)
            assert (one.to(2), other.to(1)) == (None, None)
            assert [*one.problems()] == []
            assert ["it ends at once" in each.said for each in other.problems()] == [True]
            await until_linked(other, 1)
            await trio.sleep(AGAIN)
            assert len([*other.problems()]) == 1, "it may end at once again"
            await trio.sleep(BRIEF)
            assert [*other.problems()] == []
            again = other.to(1)
            assert again is not None
            await trio.aclose_forcefully(again._stream)
            await trio.sleep(AGAIN / 2)
            assert [*other.problems()] == [], "it had lasted"


@pytest.mark.parametrize("dialled", [False, True])
async def test_whoever_says_nothing_has_no_longer_for_it_than_a_handshake_may_take(
    autojump_clock: MockClock, dialled: bool
) -> None:
    """Catches a host that waits for ever at a port where something else listens, or for a stranger."""
    (silent,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    address = f"127.0.0.1:{silent.socket.getsockname()[1]}"
    async with at_port(2, known(1 if dialled else 3, address)) as (links, connect):
        stranger = await (silent.accept() if dialled else connect())
        begun = trio.current_time()
        await end_of(stranger)
        assert trio.current_time() - begun == pytest.approx(HANDSHAKE, abs=AGAIN)
        await trio.testing.wait_all_tasks_blocked()
        reasons = [each.said.rpartition(": ")[2] for each in links.problems()]
        assert reasons == [f"no handshake within {HANDSHAKE:g} s"] * dialled
    await stranger.aclose()
    await silent.aclose()


async def test_what_strangers_did_is_no_problem_any_more_after_a_while(autojump_clock: MockClock) -> None:
    """And few of them are none: hosts that have just come are refused, too."""
    said: list[str] = []
    async with at_port(1, said=said) as (links, connect):

        async def come(times: int) -> None:
            for _ in range(times):
                async with await connect() as stranger:
                    await stranger.send_eof()
                    await end_of(stranger)

        await come(REFUSALS - 1)
        assert [*links.problems()] == []
        await come(REFUSALS)
        assert ["links are refused" in each.said for each in links.problems()] == [True]
        await trio.sleep(RECENT)
        assert [*links.problems()] == []
        await come(1)
        assert [*links.problems()] == [], "those of a minute ago do not count"
    assert sum("links are refused" in each for each in said) == 1, "the log has room for more than that"


def issued(authority: identity.Identity) -> identity.Identity:
    """An identity whose certificate another host has signed."""
    own = identity.made()
    signer = x509.load_pem_x509_certificate(authority.certificate.encode())
    signed = x509.load_pem_x509_certificate(own.certificate.encode())
    key = serialization.load_pem_private_key(authority.key.encode(), None)
    made = (
        x509.CertificateBuilder()
        .subject_name(signed.subject)
        .issuer_name(signer.subject)
        .public_key(signed.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(signed.not_valid_before_utc)
        .not_valid_after(signed.not_valid_after_utc)
        .sign(cast("ec.EllipticCurvePrivateKey", key), hashes.SHA256())
    )
    chain = made.public_bytes(serialization.Encoding.PEM).decode() + authority.certificate
    return identity.Identity(chain, own.key)


async def test_no_host_can_sign_for_another_on_either_side(autojump_clock: MockClock) -> None:
    """OpenSSL takes what a known one has signed; fingerprints alone say who is a host."""
    posing = issued(OTHER)
    (theirs,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    address = f"127.0.0.1:{theirs.socket.getsockname()[1]}"
    for number in (1, 3):
        server = number == 1  # the host that came first is dialled
        context = identity.context(posing, [ONE.certificate], server=server)
        async with at_port(2, known(number, address)) as (links, connect):
            plain = await (theirs.accept() if server else connect())
            async with trio.SSLStream(plain, context, server_side=server) as stream:
                await stream.do_handshake()
                with suppress(trio.BrokenResourceError):
                    assert await stream.receive_some() == b""
            assert links.to(number) is None
    await theirs.aclose()


async def test_nothing_older_than_tls_1_3_is_spoken_on_either_side(autojump_clock: MockClock) -> None:
    for server in (False, True):
        older = identity.context(OTHER, [ONE.certificate], server=not server)
        older.minimum_version = older.maximum_version = ssl.TLSVersion.TLSv1_2
        own = identity.context(ONE, [OTHER.certificate], server=server)
        one, other = trio.testing.memory_stream_pair()
        ends = [
            trio.SSLStream(one, own, server_side=server),
            trio.SSLStream(other, older, server_side=not server),
        ]

        async def shake(end: trio.SSLStream[trio.abc.Stream]) -> None:
            with pytest.raises(trio.BrokenResourceError):
                await end.do_handshake()
            await trio.aclose_forcefully(end)

        async with trio.open_nursery() as nursery:
            for end in ends:
                nursery.start_soon(shake, end)


class Watched(Struct):
    """An identity whose key is asked for just before it is written into a file."""

    own: identity.Identity
    folder: Path
    seen: list[tuple[int, int]]  # the modes of the file and of its folder

    @property
    def certificate(self) -> str:
        return self.own.certificate

    @property
    def key(self) -> str:
        (file,) = self.folder.glob("*/*")
        self.seen.append((S_IMODE(file.stat().st_mode), S_IMODE(file.parent.stat().st_mode)))
        return self.own.key


@pytest.mark.skipif(sys.platform == "win32", reason="there files have no such modes")
def test_no_other_user_can_read_a_key_and_it_is_nowhere_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever this process allows others by default."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    watched = Watched(ONE, tmp_path, [])
    before = os.umask(0)
    try:
        identity.context(cast("identity.Identity", watched), [OTHER.certificate], server=True)
    finally:
        os.umask(before)
    assert watched.seen == [(0o600, 0o700)]
    assert [*tmp_path.iterdir()] == []


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
    dialled: list[str] = []

    def peers() -> list[Peer]:
        dialled.append(at)
        return [Peer(1, at, ONE.fingerprint, ONE.certificate, "0")]

    links = Links(OTHER, peers, served)
    links.host = 2
    with capture_logs() as logs, refusing() as port, trio.fail_after(HANG):
        at = f"127.0.0.1:{port}"
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


async def test_while_strangers_shake_hands_with_a_host_everybody_else_gets_turns() -> None:
    """Catches a tenth of a second without moves, as often as somebody has sixty of them begin at once."""
    between = list[int]()
    shaken = 0

    async def come(stranger: trio.SSLStream[trio.SocketStream], may: trio.Event) -> None:
        nonlocal shaken
        await may.wait()
        await stranger.do_handshake()
        shaken += 1

    async with at_port(1, known(2)) as (_, connect):
        context = identity.context(STRANGER, [ONE.certificate], server=False)
        strangers = [trio.SSLStream(await connect(), context) for _ in range(STRANGERS)]
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                may = trio.Event()
                for stranger in strangers:
                    nursery.start_soon(come, stranger, may)
                await trio.testing.wait_all_tasks_blocked()
                may.set()
                while shaken < STRANGERS:
                    before = shaken
                    await trio.lowlevel.checkpoint()
                    between.append(shaken - before)
        for stranger in strangers:
            await trio.aclose_forcefully(stranger)
    assert max(between) <= FEW


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
