"""What one address may use up."""

import pytest

from server.net.budgets import MOST, Budgets, address_of
from server.net.limits import Rate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("127.0.0.1", "::1"),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"),
        ("192.0.2.7", "::ffff:192.0.2.7"),
        ("fe80::1%eth0", "fe80::2%eth0"),
        ("", ""),
    ],
)
def test_what_one_customer_has_is_one_address(one: str, other: str) -> None:
    assert address_of(one) == address_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("192.0.2.7", "192.0.2.8"), ("2001:db8:1:2::1", "2001:db8:1:3::1"), ("127.0.0.1", "192.0.2.7")],
)
def test_what_two_have_are_two(one: str, other: str) -> None:
    assert address_of(one) != address_of(other)


def test_an_address_is_itself_once_more() -> None:
    for peer in ("127.0.0.1", "::1", "192.0.2.7", "2001:db8::1", "", "a socket"):
        assert address_of(address_of(peer)) == address_of(peer)


def test_each_address_has_its_own_credits_which_come_back() -> None:
    budgets = Budgets(Rate(2, 10.0))
    assert [budgets.take("192.0.2.1", 0.0) for _ in range(3)] == [True, True, False]
    assert budgets.take("192.0.2.2", 0.0)
    assert [budgets.take("192.0.2.1", 5.0) for _ in range(2)] == [True, False]


def test_however_many_addresses_come_only_so_many_are_remembered() -> None:
    budgets = Budgets(Rate(1, 10.0))
    for number in range(3 * MOST):
        assert budgets.take(f"2001:db8:{number:x}::1", 0.0)
    assert len(budgets) == MOST
    assert not budgets.take(f"2001:db8:{3 * MOST - 1:x}::1", 0.0), "the latest are"


def test_the_address_that_spent_longest_ago_is_forgotten_first() -> None:
    """Catches somebody with many addresses who has all of his credits again at the one that counts."""
    budgets = Budgets(Rate(1, 1e9))
    assert budgets.take("192.0.2.1", 0.0)
    for number in range(3 * MOST):
        budgets.take(f"10.0.{number // 256}.{number % 256}", 0.0)
        if number % (MOST // 2) == 0:
            assert not budgets.take("192.0.2.1", 0.0)
