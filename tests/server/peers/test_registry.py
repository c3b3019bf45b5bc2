"""Hosts and leases in a real database: who gets what, when somebody is silent."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count

import psycopg
import pytest

from server.exits import Unavailable
from server.peers import registry as in_database
from server.peers.leases import LENGTH, Card, Granted
from server.peers.registry import LAPSED, RENEW, TAKE, PostgresRegistry
from server.store.postgres import Postgres
from tests.hang import HANG
from tests.server.store.far import far
from tests.server.store.postgresql import Server
from tournament.entries import Entry

pytestmark = pytest.mark.slow

SHORT = 0.5  # seconds of a lease
MINUTE = 60.0
CARD = Card("127.0.0.1:1", "aa", "", "0")


@pytest.fixture
def join(url: str) -> Iterator[Callable[[], tuple[PostgresRegistry, int]]]:
    """Registers one more host, each with a session of its own."""
    with ExitStack() as stack:

        def join() -> tuple[PostgresRegistry, int]:
            registry = stack.enter_context(closing(PostgresRegistry(url)))
            return registry, registry.register(CARD)

        yield join


def held(granted: Granted, host: int) -> set[str]:
    assert granted.leases is not None
    return {name for name, lease in granted.leases.items() if lease.host == host}


def silence(url: str, host: int) -> None:
    """As if it had not been heard of for a minute."""
    with psycopg.connect(url) as session:
        session.execute("UPDATE hosts SET expiry = expiry - interval '1 minute' WHERE id = %s", (host,))


def test_a_new_tournament_is_one_hosts_alone(join: Callable[[], tuple[PostgresRegistry, int]]) -> None:
    (one, first), (other, second) = join(), join()
    epoch = one.open(first, "cup")
    assert epoch is not None
    assert other.open(second, "cup") is None
    assert held(other.renew(second, -1, willing=True), first) == {"cup"}
    one.remove(first, "cup")
    again = other.open(second, "cup")
    assert again is not None
    assert again > epoch


def test_nobody_takes_what_a_host_holds_that_renews(join: Callable[[], tuple[PostgresRegistry, int]]) -> None:
    (one, first), (other, second) = join(), join()
    one.open(first, "cup")
    one.renew(first, -1, willing=True)
    assert held(other.renew(second, -1, willing=True), second) == set()


def test_a_host_that_waited_for_the_database_takes_nothing_from_others_that_may_have_waited_too(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Catches a host that took over from all others when the database had stood still for seconds."""
    one, first = join()
    one.open(first, "cup")
    one.open(first, "free")
    one.release(first, ["free"])
    silence(url, first)
    now = count(0.0, LENGTH)  # each look at the clock is so much later
    with closing(PostgresRegistry(url, now=lambda: next(now))) as other:
        second = other.register(CARD)
        assert held(other.renew(second, -1, willing=True), second) == {"free"}
    assert held(one.renew(first, -1, willing=True), first) == {"cup"}


def test_nobody_takes_over_because_the_clock_of_the_database_was_set_forward(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Then all leases lapse at once, and the first host that renews would take everything from the others."""
    one, first = join()
    one.open(first, "cup")
    clock = {"behind": 0.0, "now": 0.0}
    with closing(
        PostgresRegistry(url, wall=lambda: time.time() - clock["behind"], now=lambda: clock["now"])
    ) as other:
        second = other.register(CARD)

        def taken(at: float) -> set[str]:
            clock["now"] = at
            return held(other.renew(second, -1, willing=True), second)

        other.renew(second, -1, willing=True, patient=True)
        silence(url, first)
        clock["behind"] = MINUTE
        for at in (0.25, 0.3, 1.2):
            assert taken(at) == set()
        assert taken(1.5) == {"cup"}, "its host has not renewed since"


def test_the_tournaments_of_a_host_that_is_silent_are_shared_out_under_greater_epochs(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    (one, first), (other, second), (third_one, third) = join(), join(), join()
    names = {f"cup-{number}" for number in range(5)}
    epochs = [one.open(first, name) for name in names]
    silence(url, first)
    mine, theirs = (
        registry.renew(host, -1, willing=True) for registry, host in ((other, second), (third_one, third))
    )
    shares = held(mine, second), held(theirs, third)
    assert shares[0] | shares[1] == names
    assert sorted(map(len, shares)) == [2, 3]
    assert theirs.leases is not None
    assert min(lease.epoch for lease in theirs.leases.values()) > max(each for each in epochs if each)
    assert held(one.renew(first, -1, willing=True), first) == set(), "it learns that it has lost them"


def test_a_host_that_was_silent_and_that_nobody_has_robbed_goes_on(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    registry, host = join()
    epoch = registry.open(host, "cup")
    silence(url, host)
    granted = registry.renew(host, -1, willing=True)
    assert granted.leases is not None
    assert granted.leases["cup"].epoch == epoch


def test_leases_are_read_again_only_when_they_have_changed(
    join: Callable[[], tuple[PostgresRegistry, int]],
) -> None:
    (one, first), (other, second) = join(), join()
    known = other.renew(second, -1, willing=True).changes
    assert other.renew(second, known, willing=True).leases is None
    one.open(first, "cup")
    assert held(other.renew(second, known, willing=True), first) == {"cup"}


def test_a_host_that_drains_takes_nothing_and_gives_what_it_has(
    join: Callable[[], tuple[PostgresRegistry, int]],
) -> None:
    (one, first), (other, second) = join(), join()
    for name in ("cup", "league"):
        one.open(first, name)
    other.open(second, "ladder")
    one.release(first, ("cup", "league", "ladder"))
    granted = one.renew(first, -1, willing=False)
    assert held(granted, first) == set()
    assert [peer.draining for peer in granted.peers] == [True, False]
    assert held(other.renew(second, -1, willing=True), second) == {"cup", "league", "ladder"}


def test_a_host_that_starts_takes_nothing_and_is_not_listed_as_draining(
    join: Callable[[], tuple[PostgresRegistry, int]],
) -> None:
    (one, first), (other, second) = join(), join()
    one.open(first, "cup")
    one.release(first, ["cup"])

    def listed() -> list[tuple[bool, bool]]:
        granted = one.renew(first, -1, willing=False)
        return [(peer.draining, peer.starting) for peer in granted.peers]

    assert listed() == [(True, False), (False, True)], "from when it is registered"
    assert held(other.renew(second, -1, willing=False, starting=True), second) == set()
    assert listed() == [(True, False), (False, True)]
    assert held(other.renew(second, -1, willing=True), second) == {"cup"}
    assert listed() == [(True, False), (False, False)]


def test_a_host_that_renews_while_another_takes_from_it_waits_and_sees_it(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Catches a renewal that believes what was so before: two hosts would hold one tournament."""
    registry, host = join()
    registry.open(host, "cup")
    silence(url, host)
    with psycopg.connect(url) as taking:
        lapsed = [row[0] for row in taking.execute(LAPSED)]
        taking.execute(TAKE, (99, lapsed, 99, lapsed))
        with pytest.raises(Unavailable):  # it is kept waiting for longer than it waits
            registry.renew(host, -1, willing=True)
        taking.commit()
    assert held(registry.renew(host, -1, willing=True), host) == set()


def test_hosts_that_died_long_ago_are_forgotten_when_one_comes_unless_they_hold_something(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Catches a host that was started again and again for days: every renewal went through all its lives."""
    (one, first), (other, second), (third_one, third) = join(), join(), join()
    one.open(first, "cup")
    other.open(second, "league")
    other.remove(second, "league")
    known = third_one.renew(third, -1, willing=False).changes
    with psycopg.connect(url) as session:
        session.execute("UPDATE hosts SET heartbeat = heartbeat - interval '2 days' WHERE id <> %s", (third,))
    _, fourth = join()
    with psycopg.connect(url) as session:
        left = session.execute("SELECT id FROM hosts ORDER BY id").fetchall()
    assert left == [(first,), (third,), (fourth,)]
    assert third_one.renew(third, known, willing=False).leases is None, "no lease has changed"


def test_a_host_renews_in_one_round_trip_however_many_hosts_and_tournaments_there_are(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Catches leases that lapse where the database is far away: a second is only so many round trips."""
    with far(url) as (way, there), closing(PostgresRegistry(there)) as registry:
        host = registry.register(CARD)
        granted: list[Granted] = []

        def trips(changes: int, *, willing: bool = True) -> int:
            """Of a renewal that takes nothing from others, which may be too slow to renew here."""
            return way.made(
                lambda: granted.append(registry.renew(host, changes, willing=willing, patient=True))
            )

        assert trips(-1) == 1
        assert trips(granted[-1].changes) == 1
        assert way.made(lambda: registry.open(host, "cup")) == 1
        others = [join() for _ in range(3)]
        for number in range(100):
            other, holder = others[number % 3]
            other.open(holder, f"cup-{number}")
        assert trips(granted[-1].changes) == 1
        assert granted[-1].leases is not None
        assert len(granted[-1].leases) == 101
        assert trips(granted[-1].changes) == 1
        assert granted[-1].leases is None
        assert trips(granted[-1].changes, willing=False) == 1
        assert way.made(lambda: registry.release(host, ["cup"])) == 1


def test_taking_over_takes_two_round_trips_more_for_all_that_is_taken(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    one, first = join()
    names = {f"cup-{number}" for number in range(100)}
    for name in names:
        one.open(first, name)
    silence(url, first)
    with far(url) as (way, there), closing(PostgresRegistry(there)) as registry:
        host = registry.register(CARD)
        granted: list[Granted] = []
        assert way.made(lambda: granted.append(registry.renew(host, -1, willing=True))) == 3
    assert held(granted[0], host) == names


def test_what_one_host_had_alone_is_adopted_but_for_what_is_deleted(url: str) -> None:
    with closing(Postgres(url)) as alone:
        alone.write(
            [
                Entry(1, "cup", 1.0, "opened", "opened", "{}"),
                Entry(2, "old", 1.0, "opened", "opened", "{}"),
                Entry(3, "old", 1.0, "turned", None, '{"type":"turned","state":"deleted"}'),
                Entry(4, "new", 1.0, "opened", "opened", "{}"),
                Entry(5, "new", 1.0, "turned", None, '{"type":"turned","state":"deleted"}'),
                Entry(6, "new~2", 1.0, "opened", "opened", "{}"),
            ]
        )
    with closing(PostgresRegistry(url)) as registry:
        host = registry.register(CARD)
        assert held(registry.renew(host, -1, willing=True), host) == {"cup", "new"}


def test_leases_lapse_by_the_clock_of_the_database_and_no_sooner(
    join: Callable[[], tuple[PostgresRegistry, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_database, "LENGTH", SHORT)
    (one, first), (other, second) = join(), join()
    one.open(first, "cup")
    begun = time.monotonic()
    one.renew(first, -1, willing=True)
    while held(other.renew(second, -1, willing=True), second) == set():
        assert time.monotonic() - begun < HANG
    assert time.monotonic() - begun > SHORT / 2


def test_a_host_that_the_database_does_not_know_is_told_so(
    join: Callable[[], tuple[PostgresRegistry, int]],
) -> None:
    registry, _ = join()
    with pytest.raises(Unavailable, match="knows no host 99"):
        registry.renew(99, -1, willing=True)


def test_a_host_that_is_stopped_while_it_renews_keeps_nobody_from_taking_over(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Catches a row that stays locked for as long as nobody ends the transaction."""
    (one, first), (other, second) = join(), join()
    one.open(first, "cup")
    one._in_session(lambda session: session.execute("BEGIN"))
    renewal = (False, False, LENGTH, 0.0, first, CARD.fingerprint)
    one._in_session(lambda session: session.execute(RENEW, renewal))
    begun = time.monotonic()
    while held(other.renew(second, -1, willing=True), second) == set():
        assert time.monotonic() - begun < HANG
    with pytest.raises(Unavailable):
        one.renew(first, -1, willing=True)
    assert held(one.renew(first, -1, willing=True), first) == set()


def test_a_database_that_stands_still_is_waited_for_no_longer_than_a_statement_may_take(
    server: Server, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    """Catches a request of a bot's that waits for as long as the database does, behind a renewal."""
    registry, host = join()
    with server.standing_still(), pytest.raises(Unavailable, match="has not answered in time"):
        registry.renew(host, -1, willing=True)
    registry.renew(host, -1, willing=True)


def test_a_host_that_only_holds_on_keeps_what_it_has_and_takes_nothing(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    (one, first), (other, second) = join(), join()
    one.open(first, "cup")
    one.release(first, ["cup"])
    one.open(first, "league")
    known = one.renew(first, -1, willing=False, starting=True).changes
    silence(url, first)
    assert one.hold(first) == known
    with psycopg.connect(url) as session:
        rows = session.execute("SELECT starting, expiry > clock_timestamp() FROM hosts ORDER BY id")
        assert rows.fetchall()[0] == (True, True)
        assert session.execute("SELECT host FROM leases WHERE tournament = 'cup'").fetchall() == [(None,)]
    assert held(other.renew(second, -1, willing=True), second) == {"cup"}


def test_a_host_that_holds_on_too_late_hears_that_others_have_taken_something(
    url: str, join: Callable[[], tuple[PostgresRegistry, int]]
) -> None:
    (one, first), (other, second) = join(), join()
    one.open(first, "cup")
    known = one.renew(first, -1, willing=True).changes
    silence(url, first)
    assert held(other.renew(second, -1, willing=True), second) == {"cup"}
    assert one.hold(first) != known
    with pytest.raises(Unavailable, match="the database knows no host 99"):
        one.hold(99)
