"""What goes between the two processes: whole messages, in order, with their descriptors, and nobody waits."""

import fcntl
import os
import socket

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from server.show.conduit import PACKET, Back, Conduit, Drain, Gone, Lend, ToPlay, ToShow
from tests.hang import HANG
from tests.server.show.lent import files_open, possible

pytestmark = [pytest.mark.slow, possible]

messages = st.one_of(
    st.builds(Gone, st.integers(0, 1 << 40)),
    st.builds(
        Back,
        st.integers(0, 1 << 40),
        st.lists(st.tuples(st.binary(max_size=3 * PACKET), st.floats(0, 1e9)), max_size=3).map(tuple),
    ),
)


def pair(most: float = 1000) -> tuple[Conduit[ToPlay], Conduit[ToShow], tuple[socket.socket, socket.socket]]:
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return Conduit[ToPlay](ends[0], ToPlay, most), Conduit[ToShow](ends[1], ToShow, most), ends


@given(st.lists(messages, max_size=20))
def test_messages_of_any_length_arrive_whole_and_in_order(said: list[ToPlay]) -> None:
    async def main() -> None:
        play, show, ends = pair()
        heard: list[ToPlay] = []
        with trio.fail_after(HANG), ends[0]:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(play.hear, lambda message, _: heard.append(message))
                async with trio.open_nursery() as speaking:
                    speaking.start_soon(show.hear, lambda *_: None)
                    for message in said:
                        show.say(message)
                    while len(heard) < len(said):
                        await trio.lowlevel.checkpoint()
                    speaking.cancel_scope.cancel()
                ends[1].close()
        assert heard == said

    trio.run(main)


async def test_a_descriptor_comes_with_its_message_and_is_not_inherited() -> None:
    play, show, ends = pair()
    with ends[0], ends[1], socket.socket() as passed, socket.socket() as closed:
        closed.close()
        play.say(Lend(1, "", False, ((b"x" * 2 * PACKET, 1.0),)), passed)
        play.say(Lend(2, "", False, ()), closed)
        heard: list[tuple[ToShow, int | None]] = []
        assert not show.hear_now(lambda *each: heard.append(each))
        (first, descriptor), (second, none) = heard
        assert isinstance(first, Lend)
        assert isinstance(second, Lend)
        assert (first.number, first.pieces, second.number, none) == (1, ((b"x" * 2 * PACKET, 1.0),), 2, None)
        assert descriptor is not None
        assert os.path.samestat(os.fstat(descriptor), os.fstat(passed.fileno()))
        assert fcntl.fcntl(descriptor, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
        os.close(descriptor)


async def test_what_the_other_end_does_not_take_waits_and_says_when_it_is_too_much() -> None:
    play, show, ends = pair(most=5)
    with trio.fail_after(HANG), ends[0], ends[1]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(play.hear, lambda *_: None)
            said = 0
            while not play.full:
                play.say(Drain(f"{said} " + "x" * 20_000))
                said += 1
            heard: list[ToShow] = []
            nursery.start_soon(show.hear, lambda message, _: heard.append(message))
            while len(heard) < said:
                await trio.lowlevel.checkpoint()
            assert [int(each.why.split()[0]) for each in heard if isinstance(each, Drain)] == [*range(said)]
            assert not play.full
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("most", "share"), [(8, 2), (3, 1)])
async def test_a_network_has_a_part_of_what_may_wait_until_that_is_taken(most: int, share: int) -> None:
    """Each has room for one, however few may wait; what nobody in particular causes is not counted."""
    play, show, ends = pair(most=most)
    with trio.fail_after(HANG), ends[0], ends[1]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(play.hear, lambda *_: None)
            while not play.waiting:  # beyond what the kernel takes
                play.say(Drain("x" * 20_000))
            for _ in range(share):
                assert not play.has_enough("one")
                play.say(Lend(1, "", False, ()), whose="one")
            assert play.has_enough("one")
            assert not play.has_enough("other")
            assert not play.has_enough("")
            nursery.start_soon(show.hear, lambda *_: None)
            while play.waiting:
                await trio.lowlevel.checkpoint()
            assert not play.has_enough("one")
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("unread", [True, False])
async def test_descriptors_on_their_way_to_an_end_that_is_closed_are_closed(unread: bool) -> None:
    before = files_open()
    play, show, ends = pair()
    with socket.socket() as passed:
        for number in range(20):
            play.say(Lend(number, "", False, ()), passed)
        if not unread:
            show.hear_now(lambda _, descriptor: os.close(descriptor or -1))
        ends[1].close()
        play.say(Lend(20, "", False, ()), passed)  # to nobody
        assert play.hear_now(lambda *_: None)
        ends[0].close()
    assert files_open() == before
