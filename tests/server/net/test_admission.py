"""Who gets in and who goes, on simulated connections."""

import pytest
from structlog.testing import capture_logs

from server.net.admission import Admission, Visitor
from server.net.limits import Limits
from server.net.proxies import Proxies
from tests.server.windowed import End, windowed_pair

LIMITS = Limits(connections_per_address=3, unauthenticated=5, spare_files=2)
PROXY = "203.0.113.1"


class Gate:
    """Admits simulated connections and knows which of them are still open."""

    def __init__(self, limits: Limits = LIMITS, files: float = 1000) -> None:
        self.admission = Admission(limits, files, Proxies([PROXY]))
        self.ends: list[End] = []
        self.visitors: list[Visitor | None] = []

    def come(self, *peers: str) -> None:
        for peer in peers:
            end, _ = windowed_pair(peer=peer)
            self.ends.append(end)
            self.visitors.append(self.admission.admit(end))

    def introduce(self, number: int, peer: str) -> bool:
        visitor = self.visitors[number]
        assert visitor is not None
        return visitor.introduced_as(peer)

    def knows(self, *numbers: int) -> None:
        for number in numbers:
            visitor = self.visitors[number]
            assert visitor is not None
            visitor.authenticated()

    @property
    def here(self) -> list[int]:
        """The numbers of those that were admitted and not driven out."""
        return [
            number
            for number, (end, visitor) in enumerate(zip(self.ends, self.visitors, strict=True))
            if visitor is not None and end.open
        ]


async def test_the_oldest_stranger_of_an_address_makes_room() -> None:
    gate = Gate()
    gate.come("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.1", "192.0.2.1")
    assert gate.here == [1, 2, 3, 4]
    gate.knows(2)
    gate.come("192.0.2.1", "192.0.2.1")
    assert gate.here == [1, 2, 5, 6]


async def test_an_address_whose_connections_are_all_known_gets_no_other() -> None:
    gate = Gate()
    gate.come(*["192.0.2.1"] * 3)
    gate.knows(0, 1, 2)
    gate.come("192.0.2.1", "192.0.2.2")
    assert gate.here == [0, 1, 2, 4]


async def test_whoever_finds_no_room_or_makes_room_is_in_the_log_with_the_limit_that_says_so() -> None:
    """A class behind one gateway sees closed connections, and only the organiser can raise the limit."""
    gate = Gate(files=11)

    def cut(*peers: str) -> list[tuple[str, bool]]:
        with capture_logs() as logs:
            gate.come(*peers)
        assert all(each["event"] == "cut" for each in logs)
        return [(each["peer"], "limits.connections_per_address allows 3" in each["why"]) for each in logs]

    assert cut(*["192.0.2.1"] * 3) == []
    assert cut("192.0.2.1") == [("192.0.2.1", True)]
    gate.knows(1, 2, 3)
    assert cut("192.0.2.1") == [("192.0.2.1", True)]
    assert gate.here == [1, 2, 3]
    assert cut(*(f"192.0.2.{number}" for number in range(2, 7))) == []
    assert cut("192.0.2.7") == [("192.0.2.2", False)], "a stranger in place of another"
    gate.knows(*range(6, 11))
    assert cut("192.0.2.8", "127.0.0.1") == [("192.0.2.8", False)], "there are no files"


async def test_when_there_are_too_many_strangers_the_oldest_goes_and_the_known_stay() -> None:
    gate = Gate()
    gate.come(*(f"192.0.2.{number}" for number in range(5)))
    gate.knows(1)
    gate.come("192.0.2.5", "192.0.2.6", "192.0.2.7")
    assert gate.here == [1, 3, 4, 5, 6, 7]
    assert len(gate.admission) == 6


async def test_where_all_files_are_open_strangers_make_room_and_the_known_do_not() -> None:
    gate = Gate(files=6)
    gate.come(*(f"192.0.2.{number}" for number in range(4)))
    gate.knows(0, 1, 3)
    gate.come("192.0.2.4")
    assert gate.here == [0, 1, 3, 4]
    gate.knows(4)
    gate.come("192.0.2.5", "127.0.0.1")
    assert gate.here == [0, 1, 3, 4]


async def test_where_all_files_are_open_an_address_makes_room_for_itself_or_for_nobody() -> None:
    gate = Gate(files=6)
    gate.come("192.0.2.9", *["192.0.2.1"] * 3)
    gate.knows(1, 2)
    gate.come("192.0.2.1")
    assert gate.here == [0, 1, 2, 4], "in place of the other of its address, and of no third"
    gate.knows(4)
    gate.come("192.0.2.1")
    assert gate.here == [0, 1, 2, 4], "it cannot come in, so nobody goes"


async def test_where_all_files_are_open_even_the_own_machines_strangers_make_room_after_all_others() -> None:
    gate = Gate(files=6)
    gate.come("127.0.0.1", "192.0.2.1", "::1", "")
    gate.knows(2)
    gate.come("127.0.0.1")
    assert gate.here == [0, 2, 3, 4], "an older connection from this machine stays, while there are others"
    gate.come("192.0.2.2")
    assert gate.here == [2, 3, 4, 5]
    gate.knows(3, 4, 5)
    gate.come("127.0.0.1")
    assert gate.here == [2, 3, 4, 5]
    assert len(gate.admission) == 4


async def test_whoever_leaves_makes_room_once() -> None:
    gate = Gate()
    gate.come(*["192.0.2.1"] * 3)
    gate.knows(0, 1, 2)
    assert gate.visitors[0] is not None
    gate.visitors[0].leave()
    gate.visitors[0].leave()
    gate.come("192.0.2.1", "192.0.2.1")
    assert gate.here == [0, 1, 2, 4]
    assert len(gate.admission) == 3


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.1.2.3", "::1", ""])
async def test_ones_own_machine_may_come_as_often_as_it_likes_unless_told_otherwise(peer: str) -> None:
    gate = Gate()
    gate.come(*[peer] * 50)
    assert len(gate.here) == 50
    strict = Gate(Limits(connections_per_address=3, trust_loopback=False))
    strict.come(*[peer] * 50)
    assert len(strict.here) == (3 if peer else 50)


async def test_a_customers_64_bits_of_ipv6_are_one_address() -> None:
    gate = Gate()
    gate.come(*(f"2001:db8:0:1::{number:x}" for number in range(4)), "2001:db8:0:2::1")
    assert gate.here == [1, 2, 3, 4]


async def test_whoever_comes_by_a_proxy_is_counted_where_it_comes_from() -> None:
    gate = Gate()
    gate.come("192.0.2.1", *[PROXY] * 5)
    assert all(gate.introduce(number, "192.0.2.1") for number in (1, 2, 3))
    assert gate.here == [1, 2, 3, 4, 5], "the oldest stranger from there has made room"
    gate.knows(1, 2, 3)
    assert not gate.introduce(4, "192.0.2.1")
    assert gate.introduce(5, "192.0.2.2")


async def test_a_proxy_s_connection_that_was_driven_out_before_it_is_introduced_counts_nowhere() -> None:
    """Catches an address that fills up with connections which are not there."""
    gate = Gate(files=4)
    gate.come(PROXY, PROXY)
    for number in range(9):
        gate.come(PROXY)
        assert not gate.introduce(number, "192.0.2.1")
    gate.knows(9, 10)
    assert len(gate.admission) == 2
    assert gate.introduce(9, "192.0.2.1")
    assert gate.introduce(10, "192.0.2.1")


async def test_nothing_is_remembered_of_those_who_have_gone() -> None:
    """Catches a count for each address that has ever connected."""
    gate = Gate()
    gate.come("192.0.2.1", "192.0.2.2", "127.0.0.1")
    gate.knows(1)
    for visitor in gate.visitors:
        assert visitor is not None
        visitor.leave()
    admission = gate.admission
    assert [*admission._of_network, *admission._strangers, *admission._near] == []
    assert len(admission) == 0
