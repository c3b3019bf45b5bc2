"""Look-ups of names: what they return, and whom they keep waiting."""

from ipaddress import ip_address
from socket import AI_NUMERICHOST
from threading import Event

import pytest
import trio
from trio.testing import MockClock

from server.net.addresses import IP, LOOPBACK
from server.net.look_ups import AT_ONCE, EACH, LookUps
from tests.hang import HANG


async def test_a_name_has_the_addresses_that_the_system_knows() -> None:
    with trio.fail_after(HANG):
        found = await LookUps().addresses("localhost")
    assert found
    assert all(any(address in network for network in LOOPBACK) for address in found)


async def test_names_that_nobody_answers_for_hold_up_nothing_but_names(autojump_clock: MockClock) -> None:
    """Neither the threads that everything shares nor addresses wait for them."""
    answered, asked = Event(), list[bytes]()

    def ask(name: bytes, flags: int) -> list[IP]:
        if flags == AI_NUMERICHOST:
            if name != b"127.0.0.1":
                raise OSError("it is a name")
            return [ip_address("127.0.0.1")]
        asked.append(name)
        answered.wait(HANG)
        return []

    look_ups, given_up = LookUps(ask), 0
    shared = trio.to_thread.current_default_thread_limiter()

    async def wait_for(name: str) -> None:
        nonlocal given_up
        with trio.move_on_after(3) as timeout:
            await look_ups.addresses(name)
        given_up += timeout.cancelled_caught

    try:
        async with trio.open_nursery() as nursery:
            for number in range(int(shared.total_tokens)):
                nursery.start_soon(wait_for, f"{number}.example")
        assert given_up == shared.total_tokens
        assert len(asked) <= AT_ONCE
        assert shared.borrowed_tokens == 0
        assert await look_ups.addresses("127.0.0.1") == [ip_address("127.0.0.1")]
    finally:
        answered.set()


async def test_the_names_of_one_client_keep_those_of_another_waiting_for_nothing(
    autojump_clock: MockClock,
) -> None:
    answered, asked = Event(), list[bytes]()

    def ask(name: bytes, flags: int) -> list[IP]:
        if flags == AI_NUMERICHOST:
            raise OSError("it is a name")
        asked.append(name)
        if name != b"honest.example":
            answered.wait(HANG)
        return [ip_address("192.0.2.1")]

    look_ups = LookUps(ask)

    async def wait_for(name: str) -> None:
        with trio.move_on_after(3):
            await look_ups.addresses(name, "2001:db8::/64")

    try:
        async with trio.open_nursery() as nursery:
            for number in range(2 * AT_ONCE):
                nursery.start_soon(wait_for, f"{number}.example")
        assert len(asked) <= EACH
        assert await look_ups.addresses("honest.example", "192.0.2.2") == [ip_address("192.0.2.1")]
    finally:
        answered.set()


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1"])
async def test_an_address_may_be_written_in_any_way_that_the_system_reads(host: str) -> None:
    assert await LookUps().addresses(host) == [ip_address("127.0.0.1")]
