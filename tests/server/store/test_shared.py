"""A database that hosts share: what it refuses, and what it keeps once."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from typing import Any, cast

import psycopg
import pytest

from server.exits import ConfigError, Unavailable
from server.store.journal import Jot
from server.store.postgres import Astray, Postgres
from server.store.postgres_database import BEGIN, Connection, at_once
from server.store.shared import TURN, SharedPostgres
from tests.server.store.far import far
from tests.server.store.postgresql import Server
from tests.server.store.test_postgres import cut
from tournament.chain import START, heads
from tournament.entries import Entry
from tournament.store import Conflict, Stale

pytestmark = pytest.mark.slow


@pytest.fixture
def hosts(url: str) -> Iterator[tuple[SharedPostgres, SharedPostgres]]:
    """Two, of which the first holds the cup, with epoch 1."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(closing(SharedPostgres(url))) for _ in range(2))
        first.host, second.host = 1, 2
        take(url, "cup", 1, 1)
        yield first, second


def take(url: str, tournament: str, host: int, epoch: int) -> None:
    with psycopg.connect(url) as session:
        session.execute(
            "INSERT INTO leases VALUES (%s, %s, %s) ON CONFLICT (tournament) DO UPDATE"
            " SET host = excluded.host, epoch = excluded.epoch",
            (tournament, host, epoch),
        )


def entry(ticket: int, epoch: int, key: str | None = None, tournament: str = "cup") -> Entry:
    return Entry(ticket, tournament, 1.0, "entered", key, f'{{"ticket":{ticket}}}', epoch=epoch)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("since", [0, 1, 2])
def test_a_host_that_has_read_what_another_wrote_does_not_go_on_where_that_is_gone(
    server: Server, url: str, hosts: tuple[SharedPostgres, SharedPostgres], since: int
) -> None:
    """Catches one that showed for ever what was lost, and missed whatever others wrote in its place."""
    writer, reader = hosts
    writer.write([entry(1, epoch=1), entry(2, epoch=1)])
    assert [each.number for each in reader.kept()] == [1, 2]
    writer.close()
    server.execute("DELETE FROM journal WHERE number > 1", url)
    cut(server)
    with closing(SharedPostgres(url)) as again:  # goes on from there before the other one looks
        again.host = 1
        take(url, "next", 1, 1)
        again.write([entry(ticket, epoch=1, tournament="next") for ticket in range(5, 5 + since)])
        with pytest.raises(Astray, match="put back to an older state"):
            reader.write([])


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("known", ["from its start", "by reading"])
def test_what_was_written_in_place_of_what_is_gone_does_not_hide_that_it_is_gone(
    server: Server, url: str, hosts: tuple[SharedPostgres, SharedPostgres], known: str
) -> None:
    """Catches a host that read on, before it wrote, in a database that had gone back."""
    writer, reader = hosts
    writer.write([entry(1, epoch=1), entry(2, epoch=1)])
    with ExitStack() as stack:
        if known == "from its start":
            reader = stack.enter_context(closing(SharedPostgres(url)))
        assert [each.number for each in reader.kept()] == [1, 2]
        writer.close()
        server.execute("DELETE FROM journal WHERE number > 1", url)
        cut(server)
        again = stack.enter_context(closing(SharedPostgres(url)))
        again.host = 1
        take(url, "next", 1, 1)
        again.write([entry(ticket, epoch=1, tournament="next") for ticket in (5, 6, 7)])
        for use in (lambda: list(reader.kept(2)), lambda: reader.write([])):
            with pytest.raises(Astray, match="put back to an older state"):
                use()


class Overtaken:
    """A session whose answers others hear before the host does."""

    def __init__(self, session: Connection, overtake: Callable[[], object]) -> None:
        self._session = session
        self._overtake = overtake

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def execute(self, *asked: Any) -> Any:
        answer = self._session.execute(*asked)
        self._overtake()
        return answer


class Overtakes(SharedPostgres):
    """A host that reads on while it is told, over another session, how far the journal goes."""

    overtake: Callable[[], object] | None = None

    def _locked(self) -> Connection:
        session = super()._locked()
        return session if self.overtake is None else cast("Connection", Overtaken(session, self.overtake))


@pytest.mark.usefixtures("hasty")
def test_what_is_written_and_read_while_a_host_looks_how_far_the_journal_goes_is_not_taken_for_lost(
    server: Server, url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """Catches a host that ended, now and then, when the server was restarted under two of them."""
    writer, tickets = hosts[0], count(2)
    writer.write([entry(1, epoch=1)])
    with closing(Overtakes(url)) as engine:

        def overtake() -> None:
            writer.write([entry(next(tickets), epoch=1)])
            list(engine.kept(1))

        engine.overtake = overtake
        cut(server)
        engine.write([])
        assert next(tickets) > 2


def test_what_carries_a_stale_epoch_is_refused_and_nothing_of_it_is_kept(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    zombie, holder = hosts
    zombie.write([entry(1, epoch=1)])
    take(url, "cup", 2, 2)
    for rows in (
        [entry(2, epoch=1)],
        [entry(2, epoch=0)],
        [entry(2, epoch=-1)],
        [entry(2, epoch=3)],
        [Jot("cup-1", 1, "[]", "[]", epoch=1)],
        [Jot("cup-1.2", 1, "[]", "[]")],
        [entry(2, epoch=2), Jot("cup-1", 1, "[]", "[]", epoch=1)],
        [entry(2, epoch=1, tournament="cup~2")],
    ):
        with pytest.raises(Stale, match=r"another host holds cup$"):
            zombie.write(rows)
    holder.write([entry(1, epoch=2), Jot("cup-1", 1, '["C"]', "[1]", epoch=2)])
    with pytest.raises(Stale):
        zombie.write([Jot("cup-1", 1, '["N"]', "[1]", epoch=1)])
    assert [each.body for each in holder.kept()] == ['{"ticket":1}'] * 2
    assert [each.moves for each in holder.jotted()] == ['["C"]']


def test_a_lease_cannot_be_taken_between_a_write_and_its_commit(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """Catches a look at the lease that locks nothing: the taker would commit in between."""
    with psycopg.connect(url) as writing, psycopg.connect(url, autocommit=True) as taking:
        writing.execute(
            "INSERT INTO journal (number, tournament, at, kind, body, epoch)"
            " VALUES (1, 'cup', 1, 'x', '{}', 1)"
        )
        found = taking.execute("SELECT tournament FROM leases FOR UPDATE SKIP LOCKED").fetchall()
        assert found == []
        writing.commit()
        assert taking.execute("SELECT tournament FROM leases FOR UPDATE SKIP LOCKED").fetchall() == [("cup",)]


def test_hosts_number_what_they_write_in_the_order_of_their_commits(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """Catches numbers given in advance: a reader would pass one that is committed later."""
    take(url, "league", 2, 2)
    seen: list[int] = []

    def write(host: SharedPostgres, tournament: str, epoch: int) -> None:
        for ticket in range(1, 31):
            host.write([entry(ticket, epoch, tournament=tournament)])

    writing = [
        threading.Thread(target=write, args=each)
        for each in zip(hosts, ("cup", "league"), (1, 2), strict=True)
    ]
    for each in writing:
        each.start()
    while any(each.is_alive() for each in writing):
        seen += [row.number for row in hosts[0].kept(max(seen, default=0))]
    seen += [row.number for row in hosts[0].kept(max(seen, default=0))]
    assert seen == list(range(1, 61))
    for tournament in ("cup", "league"):
        own = [row for row in hosts[0].kept() if row.tournament == tournament]
        expected = heads(own, {tournament: START})[-1]
        (more,) = hosts[0 if tournament == "cup" else 1].write(
            [entry(31, 1 + (tournament != "cup"), tournament=tournament)]
        )
        assert more == heads([entry(31, 0, tournament=tournament)], {tournament: expected})[0]


def test_what_a_host_writes_again_because_it_does_not_know_is_there_once(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    first, second = hosts
    take(url, "league", 2, 2)
    (head,) = first.write([entry(1, 1)])
    second.write([entry(1, 2, tournament="league")])  # the same ticket, and another host's
    assert first.write([entry(1, 1), entry(2, 1, "entered ann")])[0] == head
    again = first.write([entry(1, 1), entry(2, 1, "entered ann"), entry(3, 1)])
    assert again[0] == head
    assert len(set(again)) == 3
    assert len(list(first.kept(0, "cup"))) == 3
    with pytest.raises(Conflict):
        first.write([entry(3, 1, tournament="other")])


@pytest.mark.usefixtures("hasty")
def test_a_host_that_shares_and_one_that_does_not_refuse_each_other(url: str) -> None:
    with closing(SharedPostgres(url)):
        with pytest.raises(ConfigError, match=r"another host is using it: .* only with --peers$"):
            Postgres(url)
        with closing(SharedPostgres(url)):
            pass
    with (
        closing(Postgres(url)),
        pytest.raises(ConfigError, match=r"a host that shares it with nobody, without --peers, is using it$"),
    ):
        SharedPostgres(url)


@pytest.mark.usefixtures("hasty")
def test_a_host_alone_is_bound_by_no_lease_and_a_zombie_of_before_is_refused(
    server: Server, url: str
) -> None:
    zombie = SharedPostgres(url)
    zombie.host = 1
    take(url, "cup", 1, 7)
    zombie.write([entry(1, 7)])
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quintain'"
    )
    with closing(Postgres(url)) as alone:
        alone.write([entry(alone.last() + 1, 0)])
        with pytest.raises(Unavailable, match=re.escape("without --peers")):
            zombie.write([entry(2, 7)])
    with pytest.raises(Stale):
        zombie.write([entry(2, 7)])
    zombie.close()


def test_a_host_that_is_stopped_while_it_writes_keeps_nobody_from_writing(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """Catches a turn to write that nobody ends."""
    stopped, other = hosts
    take(url, "league", 2, 2)
    assert stopped._writer is not None
    at_once(stopped._writer, BEGIN, TURN)
    other.write([entry(1, 2, tournament="league")])
    stopped.write([entry(1, 1)])
    assert [row.tournament for row in other.kept()] == ["league", "cup"]


def test_a_zombie_that_contradicts_the_holder_is_told_that_it_is_none(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """And not that facts contradict each other, which is a fault of the host's."""
    zombie, holder = hosts
    take(url, "cup", 2, 2)
    holder.write([entry(1, 2, "concluded cup-1")])
    with pytest.raises(Stale):
        zombie.write([entry(2, 1, "concluded cup-1")])


def test_a_write_takes_two_round_trips_whatever_is_written_and_one_if_it_is_only_moves(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """Catches a database that is far away, and for which all hosts wait while one of them has its turn."""
    for number in range(20):
        take(url, f"cup{number}", 1, 2)
    cups = [entry(100 + number, 2, tournament=f"cup{number}") for number in range(20)]
    results = [entry(200 + number, 1, f"concluded cup-{number}") for number in range(50)]
    moves = [Jot(f"cup-{number}", 1, "[]", "[]", epoch=1) for number in range(50)]
    with far(url) as (way, there), closing(SharedPostgres(there)) as host:
        host.host = 1
        assert way.made(lambda: host.write([entry(1, 1)])) == 2
        assert way.made(lambda: host.write(cups)) == 2
        assert way.made(lambda: host.write(moves)) == 1
        assert way.made(lambda: host.write(results[:40])) == 2
        assert way.made(lambda: host.write([])) == 1
        assert way.made(lambda: host.write([*cups, *results])) == 5, "two in vain, and one to undo that"
        assert way.made(lambda: list(host.kept())) == 1
    assert [row.body for row in hosts[0].kept()] == [row.body for row in (entry(1, 1), *cups, *results)]


def test_facts_come_to_the_database_before_a_host_has_its_turn(
    url: str, hosts: tuple[SharedPostgres, SharedPostgres]
) -> None:
    """Catches a draw of 124,750 pairings that is never kept: a turn ends if nothing comes for a second."""
    rows = [Entry(number, "cup", 1.0, "drew", None, f'{number}"' * 100_000, epoch=1) for number in (1, 2)]
    size = sum(len(row.body) for row in rows)
    with far(url) as (way, there), closing(SharedPostgres(there)) as host:
        host.host = 1
        for written in (rows[:1], rows):  # the second time, one of them is there
            host.write(written)
            assert way.said[-2] > sum(len(row.body) for row in written)
            assert way.said[-1] < size / 100
    assert [row.body for row in hosts[0].kept()] == [row.body for row in rows]


def test_whatever_a_fact_says_is_kept_as_it_is(hosts: tuple[SharedPostgres, SharedPostgres]) -> None:
    """Catches a quotation that some character ends."""
    said = ["NULL", "", "{}", '{"why":"\\n\\"é"}', "it's", "%s", "a,b", "\\", "\n"]
    hosts[0].write(
        [Entry(ticket, "cup", 1.0, "x", None, each, epoch=1) for ticket, each in enumerate(said, 1)]
    )
    assert [row.body for row in hosts[1].kept()] == said
