"""Calling addresses that strangers gave: what is connected to, what is sent, and what is put up with."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
import trio
import trio.testing
import trustme
from msgspec.structs import replace
from trio.testing import MockClock

from server.net.addresses import IP, LOOPBACK, taken_apart
from server.net.limits import Limits
from server.net.outbound import Forbidden, Outbound, over_sockets
from tests.effort import tries
from tests.hang import HANG
from tests.server.windowed import End, windowed_pair

EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))
BODY = b'{"battleId":"b"}'
BOT = "http://1.2.3.4:5000/tic-tac-toe"

Serve = Callable[[trio.abc.Stream], Awaitable[object]]  # what a bot's server does with a connection


class Net:
    """A network of simulated connections, and the names in it."""

    def __init__(
        self, nursery: trio.Nursery, servers: Mapping[str, Serve], names: Mapping[str, list[str]]
    ) -> None:
        self.nursery = nursery
        self.servers = servers
        self.names = names
        self.asked: list[str] = []  # every look-up …
        self.tried: list[str] = []  # … and every connection
        self.ends: list[End] = []

    async def connect(self, address: IP, port: int) -> trio.abc.Stream:
        self.tried.append(str(address))
        await trio.lowlevel.checkpoint()
        if str(address) not in self.servers:
            raise ConnectionRefusedError("nobody is there")
        theirs, ours = windowed_pair()
        self.ends.append(ours)
        self.nursery.start_soon(self.servers[str(address)], theirs)
        return ours

    async def look_up(self, name: str, whose: str) -> list[IP]:
        self.asked.append(name)
        await trio.lowlevel.checkpoint()
        found = self.names.get(name, [name])
        if not found or not all(":" in address or address[-1:].isdigit() for address in found):
            raise OSError("nobody knows that name")
        return [ip_address(each) for each in found]


@asynccontextmanager
async def net(serve: Serve | None = None, **names: list[str]) -> AsyncIterator[Net]:
    """One in which `serve` is at 1.2.3.4 and at 2600::1."""
    async with trio.open_nursery() as nursery:
        servers = {} if serve is None else {"1.2.3.4": serve, "2600::1": serve}
        here = Net(nursery, servers, {name.replace("_", "."): found for name, found in names.items()})
        yield here
        nursery.cancel_scope.cancel()


def calls(here: Net, limits: Limits | None = None, **how: Any) -> Outbound:
    return Outbound(limits or Limits(), EVERYTHING, here.connect, look_up=here.look_up, **how)


async def heard(stream: trio.abc.Stream) -> bytes:
    """A request."""
    got = b""
    while not got.endswith(BODY):
        received = await stream.receive_some()
        assert received, got
        got += received
    return got


async def answers(stream: trio.abc.Stream, answer: bytes = b"HTTP/1.1 500 Oops\r\n\r\n") -> None:
    await heard(stream)
    await stream.send_all(answer)
    await stream.aclose()


async def says_nothing(stream: trio.abc.Stream) -> None:
    await trio.sleep_forever()


# What is sent


@pytest.mark.parametrize(
    ("url", "target", "host"),
    [
        (BOT, b"/tic-tac-toe", b"1.2.3.4:5000"),
        ("http://1.2.3.4", b"/", b"1.2.3.4"),
        ("http://1.2.3.4:443/?run=1", b"/?run=1", b"1.2.3.4:443"),
        ("http://[2600::1]:80/x", b"/x", b"[2600::1]"),
        ("http://bots_example/x", b"/x", b"bots_example"),
    ],
)
async def test_a_call_is_one_request_exactly_like_this(
    url: str, target: bytes, host: bytes, autojump_clock: MockClock
) -> None:
    got: list[bytes] = []

    async def serve(stream: trio.abc.Stream) -> None:
        got.append(await heard(stream))
        await stream.send_all(b"HTTP/1.1 302 Found\r\nLocation: http://1.2.3.4:5000/\r\n\r\n")
        assert not await stream.receive_some(), "it sent more"
        await stream.aclose()

    async with net(serve) as here:
        here.names["bots_example"] = ["1.2.3.4"]  # type: ignore[index]
        assert await calls(here).post(taken_apart(url), BODY)
        await trio.testing.wait_all_tasks_blocked()
        assert len(here.tried) == 1, "a redirect is not followed"
    assert got == [
        b"POST " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\nUser-Agent: quintain\r\n"
        b"Content-Type: application/json\r\nContent-Length: 16\r\nConnection: close\r\n\r\n" + BODY
    ]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00",
        b"HTTP/1.1 500 Oops\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
        b"SSH-2.0\r\n",
    ],
)
async def test_whatever_comes_back_is_as_good_as_any_other(answer: bytes, autojump_clock: MockClock) -> None:
    async with net(partial(answers, answer=answer)) as here:
        assert await calls(here).post(taken_apart(BOT), BODY)
        assert trio.current_time() == 0.0, "the end of the answer is the end of the call"


async def test_a_kilobyte_of_an_answer_without_end_is_read(autojump_clock: MockClock) -> None:
    sent = 0

    async def floods(stream: End) -> None:
        nonlocal sent
        await heard(stream)
        with trio.move_on_after(60):
            try:
                while True:
                    sent += await stream.send_some(b"x" * 100)
            except trio.BrokenResourceError:
                return

    async with net(floods) as here:
        assert await calls(here).post(taken_apart(BOT), BODY)
        assert trio.current_time() < 1.0
        await trio.testing.wait_all_tasks_blocked()
        assert here.ends[0]._closed
        assert sent < 70_000, "no more than the network itself holds"


async def hangs_up(stream: End) -> None:
    stream.reset()


async def resets_later(stream: End) -> None:
    await heard(stream)
    stream.reset()


async def test_a_connection_that_is_lost_is_no_error(autojump_clock: MockClock) -> None:
    async with net(resets_later) as here:
        assert await calls(here).post(taken_apart(BOT), BODY)
    async with net(hangs_up) as here:
        await calls(here).post(taken_apart(BOT), BODY)  # was it sent? nobody can say
    async with net() as here:
        assert not await calls(here).post(taken_apart(BOT), BODY)
        assert not await calls(here).post(taken_apart("http://nobody.example"), BODY)


async def test_a_bot_that_does_not_answer_is_hung_up_on(autojump_clock: MockClock) -> None:
    async with net(says_nothing) as here:
        assert await calls(here).post(taken_apart(BOT), BODY), "it was sent, and that counts"
        assert trio.current_time() == 5.0
        assert here.ends[0]._closed


async def test_a_bot_that_answers_drop_by_drop_is_hung_up_on(autojump_clock: MockClock) -> None:
    async def trickles(stream: trio.abc.Stream) -> None:
        await heard(stream)
        for _ in range(100):
            await stream.send_all(b"H")
            await trio.sleep(0.4)

    async with net(trickles) as here, trio.open_nursery() as nursery:
        nursery.start_soon(calls(here).post, taken_apart(BOT), BODY)
        await trio.sleep(5.1)
        assert here.ends[0]._closed
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("slow", ["look up", "connect", "send"])
async def test_a_call_during_which_the_host_stands_still_is_made(
    slow: str, autojump_clock: MockClock
) -> None:
    """Catches bots that miss a match because the machine of the host was paused while it called them."""
    got = list[bytes]()

    async def hears(stream: trio.abc.Stream) -> None:
        await trio.sleep(0.3)
        got.append(await heard(stream))

    async def stand_still() -> None:
        await trio.sleep(0.1)
        autojump_clock.jump(60.0)

    class Slow(Net):
        async def connect(self, address: IP, port: int) -> trio.abc.Stream:
            await trio.sleep(0.3 if slow == "connect" else 0.0)
            return await super().connect(address, port)

        async def look_up(self, name: str, whose: str) -> list[IP]:
            await trio.sleep(0.3 if slow == "look up" else 0.0)
            return await super().look_up(name, whose)

    async with trio.open_nursery() as nursery:
        here = Slow(nursery, {"1.2.3.4": hears}, {})
        outbound = calls(here)
        nursery.start_soon(stand_still)
        await outbound.check(taken_apart(BOT))
        assert await outbound.post(taken_apart(BOT), BODY)
        nursery.cancel_scope.deadline = trio.current_time() + 1.0
        await trio.sleep(0.5)
        assert len(got) == 1
        nursery.cancel_scope.cancel()


async def test_connecting_and_looking_up_may_take_three_seconds(autojump_clock: MockClock) -> None:
    class Slow(Net):
        async def connect(self, address: IP, port: int) -> trio.abc.Stream:
            await trio.sleep_forever()
            raise AssertionError

    async with trio.open_nursery() as nursery:
        here = Slow(nursery, {}, {})
        outbound = calls(here)
        assert not await outbound.post(taken_apart(BOT), BODY)
        assert trio.current_time() == 3.0


# Whom it goes to

OTHERS = ["1.2.3.4", "2600::1"]  # that may be called


@pytest.mark.parametrize(
    "own", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1"]
)
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_name_is_called_only_if_all_its_addresses_may_be(
    own: str, place: int, autojump_clock: MockClock
) -> None:
    async with net(answers, bots_example=[*OTHERS[:place], own, *OTHERS[place:]]) as here:
        url = taken_apart("http://bots.example/")
        with pytest.raises(Forbidden, match="nothing that this host may call"):
            await calls(here).check(url)
        assert not await calls(here).post(url, BODY)
        assert here.tried == []


async def test_a_name_is_looked_up_once_for_a_call(autojump_clock: MockClock) -> None:
    """And what it stood for then is called, whatever it stands for a moment later."""
    async with net(answers) as here:

        class Rebinding(dict[str, list[str]]):
            def get(self, name: str, default: Any = None) -> list[str]:
                return ["1.2.3.4"] if here.asked.count(name) == 1 else ["127.0.0.1"]

        here.names = Rebinding()
        outbound = calls(here)
        assert await outbound.post(taken_apart("http://bots.example/"), BODY)
        assert (here.asked, here.tried) == (["bots.example"], ["1.2.3.4"])
        assert not await outbound.post(taken_apart("http://bots.example/"), BODY)
        assert here.tried == ["1.2.3.4"]


async def test_the_addresses_of_a_name_are_tried_in_turn_and_not_all_of_them(
    autojump_clock: MockClock,
) -> None:
    dead = [f"9.9.9.{number}" for number in range(10)]
    async with net(answers, near_example=[*dead[:2], "1.2.3.4"], far_example=[*dead, "1.2.3.4"]) as here:
        outbound = calls(here)
        assert await outbound.post(taken_apart("http://near.example/"), BODY)
        assert here.tried == [*dead[:2], "1.2.3.4"]
        here.tried.clear()
        assert not await outbound.post(taken_apart("http://far.example/"), BODY)
        assert here.tried == dead[:4]


@pytest.mark.parametrize("silent", [1, 2, 3])
async def test_a_name_is_called_if_one_of_its_addresses_answers_and_those_before_are_silent(
    silent: int, autojump_clock: MockClock
) -> None:
    """As with a bot that has an address of IPv6 too, which leads nowhere from here."""

    class Swallowing(Net):
        async def connect(self, address: IP, port: int) -> trio.abc.Stream:
            if str(address) not in self.servers:
                await trio.sleep_forever()
            return await super().connect(address, port)

    async with trio.open_nursery() as nursery:
        addresses = [f"2600::9:{number}" for number in range(silent)]
        here = Swallowing(nursery, {"1.2.3.4": answers}, {"bots.example": [*addresses, "1.2.3.4"]})
        assert await calls(here).post(taken_apart("http://bots.example/"), BODY)
        assert trio.current_time() < Limits().connect_seconds
        nursery.cancel_scope.cancel()


async def test_an_address_that_refuses_at_once_leaves_its_time_to_those_after_it(
    autojump_clock: MockClock,
) -> None:
    """Catches a server that is far away, and is given up with half of the time unused."""
    limits = Limits()

    class Distant(Net):
        async def connect(self, address: IP, port: int) -> trio.abc.Stream:
            if str(address) in self.servers:
                await trio.sleep(0.9 * limits.connect_seconds)
            return await super().connect(address, port)

    async with trio.open_nursery() as nursery:
        here = Distant(nursery, {"1.2.3.4": answers}, {"bots.example": ["2600::9", "1.2.3.4"]})
        assert await calls(here, limits).post(taken_apart("http://bots.example/"), BODY)
        nursery.cancel_scope.cancel()


async def test_servers_that_keep_the_host_waiting_keep_no_call_for_another_client_waiting_for_long(
    autojump_clock: MockClock,
) -> None:
    limits = Limits(calls_at_once=2)
    async with net(says_nothing) as here, trio.open_nursery() as nursery:
        here.servers = {**here.servers, "2600::1": answers}
        outbound = calls(here, limits)
        for number in range(20):
            slow = replace(taken_apart(f"http://1.2.3.4:{5000 + number}/"), origin="2001:db8::/64")
            nursery.start_soon(outbound.post, slow, BODY)
        await trio.testing.wait_all_tasks_blocked()
        assert await outbound.post(replace(taken_apart("http://[2600::1]/"), origin="192.0.2.1"), BODY)
        assert trio.current_time() <= limits.call_seconds
        nursery.cancel_scope.cancel()


async def test_where_nothing_is_listed_nobody_is_called(autojump_clock: MockClock) -> None:
    async with net(answers) as here:
        outbound = Outbound(Limits(), (), here.connect, look_up=here.look_up)
        with pytest.raises(Forbidden, match="this host calls nobody"):
            await outbound.check(taken_apart(BOT))
        assert not await outbound.post(taken_apart(BOT), BODY)
        assert here.tried == []


async def test_loopback_is_called_for_whoever_is_on_this_machine_and_for_nobody_else(
    autojump_clock: MockClock,
) -> None:
    """Whatever the name stood for when it was checked: a call is made for whoever asked for it."""
    async with net(answers, bots_example=["1.2.3.4"]) as here:
        here.servers = {"127.0.0.1": answers, "1.2.3.4": answers}
        outbound = calls(here, from_here=LOOPBACK)
        for address, called_for in (("http://127.0.0.1:5000/", True), ("http://1.2.3.4:5000/", False)):
            for from_here in (True, False):
                url = replace(taken_apart(address), from_here=from_here)
                assert await outbound.post(url, BODY) is (from_here is called_for)
                if from_here is called_for:
                    await outbound.check(url)
                else:
                    with pytest.raises(Forbidden):
                        await outbound.check(url)
        stranger = taken_apart("http://bots.example/")
        await outbound.check(stranger)
        here.names = {"bots.example": ["127.0.0.1"]}
        here.tried.clear()
        assert not await outbound.post(stranger, BODY)
        assert here.tried == []


async def test_whoever_may_have_nobody_called_is_told_so_before_anything_is_looked_up(
    autojump_clock: MockClock,
) -> None:
    async with net(answers, bots_example=["127.0.0.1"]) as here:
        outbound = Outbound(Limits(), (), here.connect, from_here=LOOPBACK, look_up=here.look_up)
        told: set[str] = set()
        for address in ("http://bots.example/", "http://nobody.example/", "http://127.0.0.1:5000/"):
            with pytest.raises(Forbidden) as forbidden:
                await outbound.check(taken_apart(address))
            told.add(str(forbidden.value))
        assert len(told) == 1
        assert (here.asked, here.tried, trio.current_time()) == ([], [], 0.0)


async def test_an_address_that_may_be_called_passes_the_check(autojump_clock: MockClock) -> None:
    async with net(bots_example=OTHERS) as here:
        await calls(here).check(taken_apart("http://bots.example/"))
        with pytest.raises(Forbidden, match=r"nobody\.example is not known"):
            await calls(here).check(taken_apart("http://nobody.example/"))
        assert here.tried == []


@pytest.mark.parametrize(
    "host", ["a" * 64 + ".example", "a..example", ".", "-", "_", "1.2.3.4.5", "0x", "256.1"]
)
async def test_a_name_that_cannot_be_is_nobodys(host: str, autojump_clock: MockClock) -> None:
    async with net(answers) as here:
        here.names = {host: []}
        with pytest.raises(Forbidden):
            await calls(here).check(taken_apart(f"http://{host}/"))
        assert not await calls(here).post(taken_apart(f"http://{host}/"), BODY)
        assert here.tried == []


# How often


async def test_a_server_is_called_once_a_second_and_others_meanwhile(autojump_clock: MockClock) -> None:
    times: list[tuple[str, float]] = []
    async with net(answers, other_example=["1.2.3.4"]) as here:
        outbound = calls(here)

        async def call(url: str) -> None:
            assert await outbound.post(taken_apart(url), BODY)
            times.append((url, trio.current_time()))

        async with trio.open_nursery() as nursery:
            for path in "abc":
                nursery.start_soon(call, f"http://1.2.3.4:5000/{path}")
            nursery.start_soon(call, "http://other.example/")
        assert sorted(time for url, time in times if "other" not in url) == [0.0, 1.0, 2.0]
        assert ("http://other.example/", 0.0) in times


@pytest.mark.parametrize("dead", [0, 1, 3])
async def test_a_server_with_many_names_is_called_as_seldom_as_with_one(
    dead: int, autojump_clock: MockClock
) -> None:
    """Or whoever has a name server could have this host flood anybody."""
    spelled = ["1.2.3.4", "::ffff:1.2.3.4"]
    names = {
        f"n{number}_example": [*[f"9.9.9.{number + 20 * each}" for each in range(dead)], spelled[number % 2]]
        for number in range(20)
    }
    times: list[float] = []

    async def note(stream: trio.abc.Stream) -> None:
        times.append(trio.current_time())
        await answers(stream)

    async with net(note, **names) as here:
        outbound = calls(here)
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(outbound.post, taken_apart(f"http://n{number}.example/"), BODY)
    assert times == [*map(float, range(20))]


async def test_many_at_one_server_are_called_one_after_the_other_and_none_is_left_out(
    autojump_clock: MockClock,
) -> None:
    """As bots are that share the server of a provider: those who came last lost their matches uncalled."""
    many = 100
    done: list[bool] = []
    async with net(answers) as here:
        outbound = calls(here)

        async def call() -> None:
            done.append(await outbound.post(taken_apart(BOT), BODY))

        async with trio.open_nursery() as nursery:
            for _ in range(many):
                nursery.start_soon(call)
    assert done == [True] * many


async def test_calls_that_are_given_up_delay_no_other(autojump_clock: MockClock) -> None:
    """Or whoever has calls made that nobody waits for, as to cases that are over, keeps all bots waiting."""
    names = {f"n{number}_example": ["1.2.3.4"] for number in range(100)}
    async with net(answers, **names) as here:
        outbound = calls(here)
        for name in names:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(outbound.post, taken_apart(f"http://{name.replace('_', '.')}/"), BODY)
                await trio.testing.wait_all_tasks_blocked()
                nursery.cancel_scope.cancel()
        assert await outbound.post(taken_apart("http://1.2.3.4/"), BODY)
        assert trio.current_time() <= 2.0


async def test_eight_are_called_at_once(autojump_clock: MockClock) -> None:
    async with net(says_nothing) as here, trio.open_nursery() as nursery:
        outbound = calls(here)
        for port in range(5000, 5020):
            nursery.start_soon(outbound.post, taken_apart(f"http://1.2.3.4:{port}"), BODY)
        for waves in (8, 16, 20):
            await trio.sleep(0.1)
            assert len(here.tried) == waves
            await trio.sleep(5.0)


@pytest.mark.slow
async def test_servers_that_were_called_long_ago_are_forgotten(autojump_clock: MockClock) -> None:
    async with net() as here:
        outbound = calls(here, Limits(call_pause_seconds=0.001))
        for port in range(20_000, 20_000 + tries(1_200, 3_000)):
            await outbound.post(taken_apart(f"http://1.2.3.4:{port}"), BODY)
            await trio.sleep(0.002)
        assert len(outbound._next) <= 1000


# TLS


@pytest.mark.parametrize(
    ("certified", "asked", "trusted"),
    [
        ("bots.example", "bots.example", True),
        ("other.example", "bots.example", False),
        ("1.2.3.4", "1.2.3.4", True),
        ("bots.example", "1.2.3.4", False),
    ],
)
async def test_over_tls_the_server_has_to_be_whom_the_address_names(
    certified: str, asked: str, trusted: bool, autojump_clock: MockClock
) -> None:
    authority = trustme.CA()
    theirs, ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert(certified).configure_cert(theirs)
    authority.configure_trust(ours)
    names: list[str | None] = []
    theirs.sni_callback = lambda socket, name, context: names.append(name)
    got: list[bytes] = []

    async def serve(stream: trio.abc.Stream) -> None:
        tls = trio.SSLStream(stream, theirs, server_side=True)
        try:
            got.append(await heard(tls))
        except (trio.BrokenResourceError, AssertionError):
            return

    async with net(serve, bots_example=["1.2.3.4"]) as here:
        assert await calls(here, tls=ours).post(taken_apart(f"https://{asked}/"), BODY) == trusted
        assert len(got) == trusted
        assert names == ([None] if asked[0].isdigit() else [asked])


async def test_a_server_that_knows_no_tls_is_not_called_over_it(autojump_clock: MockClock) -> None:
    async def shouts(stream: trio.abc.Stream) -> None:
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with net(shouts) as here:
        assert not await calls(here).post(taken_apart("https://1.2.3.4/"), BODY)


# Over real sockets

# Everything that leads to loopback, and whatever else is nobody's to call. No name here is looked up outside.
LOOPBACKS = """
    127.0.0.1 127.1 127.0.1 127.8.8.8 127.255.255.254 0177.0.0.1 0177.1 0x7f.0.0.1 0x7f.1 0x7F000001
    0x7f.0x0.0x0.0x1 2130706433 017700000001 00000177.1 localhost LOCALHOST [::1] [0:0:0:0:0:0:0:1]
    [0::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:127.1.1.1] 0 0.0.0.0 00.0 0x0 [::] [::ffff:0.0.0.0]
    [0000::]
"""
ELSEWHERE = """
    10.0.0.1 10.1 167772161 0x0a000001 012.0.0.1 172.16.0.1 172.31.255.254 192.168.1.1 0xc0a80101
    192.168.257 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 100.64.0.1 198.18.0.1 192.0.0.1
    192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
    4294967295 [::127.0.0.1] [::7f00:1] [::ffff:10.0.0.1] [::ffff:169.254.169.254] [::ffff:0:127.0.0.1]
    [64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b:1::1] [2002:7f00:1::]
    [2002:a00:1::] [2001:0:7f00:1::] [2001:db8::1] [3fff::1] [fc00::1] [fd12:3456::1] [fe80::1] [fec0::1]
    [ff02::1] [ff05::2] [100::1] [5f00::1]
"""


class Canary:
    """Listens on loopback, in both families where there are two, and counts who comes."""

    def __init__(self) -> None:
        self.came = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        self.came += 1
        async with stream:
            await answers(stream)

    async def listen(self, nursery: trio.Nursery) -> int:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        with suppress(OSError):  # this machine has no IPv6, or somebody has that port
            listeners += await trio.open_tcp_listeners(port, host="::1")
        nursery.start_soon(trio.serve_listeners, self.serve, listeners)
        return port


async def test_no_way_of_writing_it_leads_to_what_is_nobodys_to_call() -> None:
    hosts = LOOPBACKS.split() + ELSEWHERE.split()
    assert len(hosts) >= 60
    tried: list[str] = []

    async def connect(address: IP, port: int) -> trio.abc.Stream:
        tried.append(str(address))
        if address.is_loopback or address.is_unspecified:
            return await over_sockets(address, port)
        raise OSError("a test does not connect to that")

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            canary = Canary()
            port = await canary.listen(nursery)
            outbound = Outbound(Limits(call_pause_seconds=0.0), EVERYTHING, connect)
            for host in hosts:
                url = taken_apart(f"http://{host}:{port}/")
                with pytest.raises(Forbidden):
                    await outbound.check(url)
                assert not await outbound.post(url, BODY), host
            assert (tried, canary.came) == ([], 0)
            outbound = Outbound(Limits(call_pause_seconds=0.0), LOOPBACK)
            reached = [
                host for host in hosts if await outbound.post(taken_apart(f"http://{host}:{port}/"), BODY)
            ]
            assert {"127.0.0.1", "127.1", "0x7f.1", "2130706433", "0177.0.0.1", "localhost"} <= {*reached}
            assert {*reached} <= {*LOOPBACKS.split()}, "loopback and nothing else, where it is allowed"
            assert canary.came == len(reached)
            nursery.cancel_scope.cancel()


async def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            bot, proxy = Canary(), Canary()
            port, elsewhere = await bot.listen(nursery), await proxy.listen(nursery)
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, f"http://127.0.0.1:{elsewhere}")
            assert await Outbound(Limits(), LOOPBACK).post(taken_apart(f"http://127.0.0.1:{port}"), BODY)
            assert (bot.came, proxy.came) == (1, 0)
            nursery.cancel_scope.cancel()
