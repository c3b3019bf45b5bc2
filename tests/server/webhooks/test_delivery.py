"""Webhooks from the journal: in order, at least once, over restarts, and each at its own pace."""

import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.config import Webhook
from server.store.sqlite import Sqlite
from server.webhooks.delivery import deliver
from server.webhooks.names import NamesOfReceivers
from server.webhooks.positions import FILE, Positions, begin, behind, key
from server.webhooks.posting import Undelivered
from tests.hang import HANG
from tournament import entries
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Entered, Opened, State, Turned

ONE, OTHER = "https://one.example/secret-path", "https://other.example/"
OPENED = Opened("connect-4", "swiss")


class Journal:
    """A journal that grows, and where webhooks go to."""

    def __init__(self, folder: Path) -> None:
        self.engine = Sqlite(folder / "quintain.sqlite")
        self.folder = folder
        self.got: dict[str, list[dict[str, Any]]] = {ONE: [], OTHER: []}  # what was taken
        self.tries: dict[str, list[float]] = {ONE: [], OTHER: []}  # when something was offered
        self.dead: set[str] = set()

    def add(self, *facts: AnyFact, tournament: str = "cup") -> None:
        number = self.engine.last()
        rows = [entries.entry(number + each, tournament, 1.0, fact) for each, fact in enumerate(facts, 1)]
        self.engine.write(rows)

    def play(self, first: int, last: int) -> None:
        self.add(*(won(number) for number in range(first, last + 1)))

    def matches(self, url: str = ONE) -> list[str]:
        return [each["match"] for each in self.got[url] if "match" in each]

    async def post(self, url: str, body: bytes, secret: str) -> None:
        await trio.lowlevel.checkpoint()
        self.tries[url].append(trio.current_time())
        if url in self.dead:
            raise Undelivered("nobody is there")
        self.got[url].append(msgspec.json.decode(body))

    @asynccontextmanager
    async def telling(self, *webhooks: Webhook, duties: Any = None) -> Any:
        """Webhooks are told meanwhile; leaving this is a crash."""
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                chosen = webhooks or (Webhook(ONE, "s"),)
                await deliver(chosen, self.engine, self.folder, duties=duties, post=self.post, in_thread=here)

            nursery.start_soon(run)
            await trio.testing.wait_all_tasks_blocked()
            yield
            nursery.cancel_scope.cancel()


async def here(work: Any, **options: Any) -> Any:
    """Instead of a thread."""
    await trio.lowlevel.checkpoint()
    return work()


def won(number: int) -> Concluded:
    return Concluded(f"cup-{number}", number, ("ann", "bob"), 0, Ending.PLAYED, "four in a line", (1.0, 0.0))


def names(first: int, last: int) -> list[str]:
    return [f"cup-{number}" for number in range(first, last + 1)]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path)
    yield journal
    journal.engine.close()


@pytest.mark.slow
async def test_what_happens_is_told_in_order_and_to_a_new_webhook_nothing_of_before(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.add(OPENED)
    journal.play(1, 3)
    async with journal.telling():
        journal.add(Turned(State.RUNNING), Entered("ann"))
        journal.play(4, 300)
        journal.add(Turned(State.PAUSED), Turned(State.RUNNING), Turned(State.FINISHED))
        await trio.sleep(5.0)
    assert journal.matches() == names(4, 300)
    assert [each["type"] for each in journal.got[ONE] if "match" not in each] == [
        "tournament.begun",
        "tournament.paused",
        "tournament.resumed",
        "tournament.ended",
    ]
    assert {each["game"] for each in journal.got[ONE]} == {"connect-4"}


async def test_each_hears_of_what_it_wants(journal: Journal, autojump_clock: MockClock) -> None:
    ends = Webhook(OTHER, "s", ("tournament.ended",))
    async with journal.telling(Webhook(ONE, "s"), ends):
        journal.add(OPENED, Turned(State.RUNNING))
        journal.play(1, 5)
        journal.add(Turned(State.FINISHED))
        await trio.sleep(5.0)
    assert [each["type"] for each in journal.got[OTHER]] == ["tournament.ended"]
    assert journal.matches() == names(1, 5)


async def test_what_it_does_not_want_is_done_with(journal: Journal, autojump_clock: MockClock) -> None:
    """Catches a webhook that is behind for ever, as the host's figures have it."""
    ends = Webhook(OTHER, "s", ("tournament.ended",))
    async with journal.telling(ends):
        journal.add(OPENED)
        journal.play(1, 5)
        await trio.sleep(5.0)
    assert behind(journal.folder / FILE, [ends], journal.engine.last()) == [0]


@pytest.mark.slow
async def test_nothing_is_lost_and_no_order_changes_over_restarts_at_any_time(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.add(OPENED)
    async with journal.telling():
        pass
    for first in range(1, 200, 20):
        journal.play(first, first + 19)
        async with journal.telling():
            for _ in range(first % 7):
                await trio.lowlevel.checkpoint()
    async with journal.telling():
        await trio.sleep(5.0)
    told = journal.matches()
    assert list(dict.fromkeys(told)) == names(1, 200)
    ids: dict[str, set[str]] = {}
    for each in journal.got[ONE]:
        ids.setdefault(each["match"], set()).add(each["id"])
    assert {len(each) for each in ids.values()} == {1}, "what is told again has the id that it had"


@pytest.mark.slow
async def test_a_dead_receiver_is_tried_less_and_less_often_and_delays_no_other(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.dead.add(ONE)
    journal.add(OPENED)
    with capture_logs() as logs:
        async with journal.telling(Webhook(ONE, "s"), Webhook(OTHER, "s")):
            journal.play(1, 50)
            await trio.sleep(1000.0)
            assert journal.matches(OTHER) == names(1, 50)
            assert journal.matches(ONE) == []
            assert len(journal.tries[ONE]) < 15
            journal.dead.clear()
            await trio.sleep(400.0)
    assert journal.matches(ONE) == names(1, 50)
    pauses = [round(later - earlier) for earlier, later in pairwise(journal.tries[ONE])]
    assert pauses[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert set(pauses[11:]) <= {0}, "then everything, one after the other"
    assert {line["webhook"] for line in logs} == {"https://one.example"}, "the path may be a secret"


async def test_receivers_for_whose_names_nobody_answers_hold_up_nothing_but_themselves(
    journal: Journal, autojump_clock: MockClock
) -> None:
    """Catches pages that waited for as long as the system went on asking for the names of webhooks."""
    answered, asked, borrowed = threading.Event(), set[bytes](), list[int]()
    shared = trio.to_thread.current_default_thread_limiter()

    def ask(name: bytes, *more: object) -> list[Any]:
        asked.add(name)
        answered.wait(HANG)
        return []

    many = int(shared.total_tokens) + 1
    webhooks = [Webhook(f"http://{number}.example/", "s") for number in range(many)]
    tell = partial(deliver, webhooks, journal.engine, journal.folder, in_thread=here)
    journal.add(OPENED)
    try:
        with capture_logs():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(tell, names=NamesOfReceivers(ask)))
                await trio.sleep(0.5)
                journal.play(1, 1)
                for _ in range(30):  # a look-up is given up after ten seconds, and begun again
                    await trio.sleep(1.0)
                    borrowed.append(shared.borrowed_tokens)
                nursery.cancel_scope.cancel()
    finally:
        answered.set()
    assert len(asked) == many, "nor does one wait for another"
    assert set(borrowed) == {0}, "no thread that everything shares is held"


@pytest.mark.parametrize("many", [2, 50])
async def test_how_often_positions_are_written_does_not_grow_with_the_webhooks_that_are_told_meanwhile(
    many: int, journal: Journal, autojump_clock: MockClock
) -> None:
    """Catches a write for each delivery: each takes as long as all, and one waits for another."""
    urls = [f"https://{number}.example/" for number in range(many)]
    told, writes, file = dict.fromkeys(urls, 0), 0, journal.folder / FILE

    async def post(url: str, body: bytes, secret: str) -> None:
        await trio.lowlevel.checkpoint()
        told[url] += 1

    async def in_thread(work: Any, **options: Any) -> Any:
        nonlocal writes
        await trio.lowlevel.checkpoint()
        before = file.read_bytes() if file.exists() else b""
        found = work()
        writes += file.read_bytes() != before if file.exists() else 0
        return found

    journal.add(OPENED)
    async with trio.open_nursery() as nursery:
        webhooks = [Webhook(url, "s") for url in urls]
        nursery.start_soon(
            partial(deliver, webhooks, journal.engine, journal.folder, post=post, in_thread=in_thread)
        )
        await trio.sleep(0.5)
        journal.play(1, 20)
        await trio.sleep(5.0)
        nursery.cancel_scope.cancel()
    assert set(told.values()) == {20}
    assert {Positions(file).of(url) for url in urls} == {journal.engine.last()}
    assert writes < 4 * 20, "a few for each event: not all deliveries end at once"


async def test_how_often_the_journal_is_looked_at_does_not_grow_with_the_webhooks_that_have_nothing_to_tell(
    journal: Journal, autojump_clock: MockClock
) -> None:
    """Catches a quarter of a processor for a thousand webhooks to which nothing happens."""

    async def looks(many: int) -> int:
        found = 0

        async def in_thread(work: Any, **options: Any) -> Any:
            nonlocal found
            found += 1
            return await here(work)

        async with trio.open_nursery() as nursery:
            webhooks = [Webhook(f"https://{number}.example/", "s") for number in range(many)]
            nursery.start_soon(
                partial(deliver, webhooks, journal.engine, journal.folder, in_thread=in_thread)
            )
            await trio.sleep(5.5)
            found = 0
            await trio.sleep(10.0)
            nursery.cancel_scope.cancel()
        return found

    journal.add(OPENED)
    assert await looks(1) == await looks(50) > 0


async def test_a_position_that_cannot_be_kept_holds_up_no_webhook(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.add(OPENED)
    webhooks = Webhook(ONE, "s"), Webhook(OTHER, "s")
    async with journal.telling(*webhooks):
        (journal.folder / f"{FILE}.part").mkdir()  # in the place of what is written before it is renamed
        journal.play(1, 5)
        with capture_logs() as logs:
            await trio.sleep(5.0)
        assert journal.matches(ONE) == journal.matches(OTHER) == names(1, 5)
        assert {line["webhook"] for line in logs} == {"https://one.example", "https://other.example"}
        (journal.folder / f"{FILE}.part").rmdir()
        journal.play(6, 6)
        await trio.sleep(5.0)
    assert Positions(journal.folder / FILE).of(OTHER) == journal.engine.last()


async def test_a_journal_that_was_restored_from_before_is_told_of_from_now_on(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.add(OPENED)
    Positions(journal.folder / FILE).keep({ONE: 1_000_000})
    with capture_logs() as logs:
        async with journal.telling():
            journal.play(1, 3)
            await trio.sleep(5.0)
    assert journal.matches() == names(1, 3)
    assert [line["event"] for line in logs] == ["the journal is older than what a webhook was told"]


async def test_what_happens_while_a_host_starts_on_a_restored_journal_is_told_from_the_first_entry_on(
    journal: Journal, autojump_clock: MockClock
) -> None:
    """Catches as many entries that nobody is told of as there were after the backup."""
    journal.add(OPENED)
    journal.play(1, 2)
    Positions(journal.folder / FILE).keep({ONE: journal.engine.last() + 4})
    with capture_logs() as logs:
        begin(journal.folder / FILE, [Webhook(ONE, "s")], journal.engine.last())
        journal.play(3, 7)
        async with journal.telling():
            await trio.sleep(5.0)
    assert journal.matches() == names(3, 7)
    assert [line["event"] for line in logs] == ["the journal is older than what a webhook was told"]
    assert "secret" not in str(logs)


async def test_positions_that_cannot_be_read_are_said_to_be_lost(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.add(OPENED)
    (journal.folder / FILE).write_bytes(b"{]")
    with capture_logs() as logs:
        async with journal.telling():
            journal.play(1, 1)
            await trio.sleep(5.0)
    assert journal.matches() == names(1, 1)
    assert "lost" in logs[0]["event"]


def test_a_figure_of_positions_that_cannot_be_read_just_now_is_left_out_and_nothing_is_said_to_be_lost(
    tmp_path: Path,
) -> None:
    """Catches a monitor that has a host say so whenever it can open no more files."""
    webhook, path = Webhook(ONE, "a long secret of ours"), tmp_path / FILE
    Positions(path).keep({ONE: 7})
    assert behind(path, [webhook], 9) == [2]
    with capture_logs() as logs:
        assert behind(tmp_path, [webhook], 9) == []  # a folder, which cannot be read either
    assert logs == []


def test_the_file_of_positions_has_no_address_in_it_and_is_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / FILE
    Positions(path).keep({ONE: 7})
    assert Positions(path).of(ONE) == 7
    assert Positions(path).of(OTHER) is None
    assert msgspec.json.decode(path.read_bytes()) == {key(ONE): 7}
    assert b"secret" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


class Shared:
    """What hosts that share a database know: which of them lives, and who has which duty."""

    def __init__(self) -> None:
        self.living = {1, 2}
        self.hosts: dict[str, int] = {}
        self.numbers: dict[str, int] = {}

    def of(self, host: int) -> "Share":
        return Share(self, host)


class Share:
    """One host's `Duties`."""

    def __init__(self, shared: Shared, host: int) -> None:
        self._shared = shared
        self._host = host

    def mine(self, duty: str) -> bool:
        if self._shared.hosts.get(duty) not in self._shared.living and self._host in self._shared.living:
            self._shared.hosts[duty] = self._host
        return self._shared.hosts.get(duty) == self._host

    def told(self, duty: str) -> int | None:
        return self._shared.numbers.get(duty)

    def keep(self, duty: str, number: int) -> None:
        if self._shared.hosts[duty] == self._host:
            self._shared.numbers[duty] = number


@asynccontextmanager
async def two_hosts(journal: Journal, shared: Shared) -> Any:
    """On one journal, each with a folder of its own."""
    one, other = Journal.__new__(Journal), Journal.__new__(Journal)
    for host, name in ((one, "one"), (other, "other")):
        vars(host).update(vars(journal), folder=journal.folder / name)
        host.folder.mkdir()
    async with one.telling(duties=shared.of(1)), other.telling(duties=shared.of(2)):
        yield one, other


async def test_one_of_several_hosts_tells_a_webhook_and_the_next_goes_on_where_it_died(
    journal: Journal, autojump_clock: MockClock
) -> None:
    journal.add(OPENED)
    shared = Shared()
    async with two_hosts(journal, shared) as (one, other):
        journal.play(1, 20)
        await trio.sleep(5.0)
        assert journal.matches() == names(1, 20)
        shared.living = {2}
        journal.play(21, 40)
        await trio.sleep(5.0)
        assert journal.matches() == names(1, 40)
        files = [Positions(each.folder / FILE).of(ONE) for each in (one, other)]
        assert files == [None, journal.engine.last()], "figures are those of the host that tells"


async def test_when_a_host_dies_before_it_had_anything_to_tell_the_next_goes_on_where_it_began(
    journal: Journal, autojump_clock: MockClock
) -> None:
    begin(journal.folder / FILE, [Webhook(ONE, "s")], journal.engine.last())  # as at its start
    shared = Shared()
    async with journal.telling(duties=shared.of(1)):
        pass
    shared.living = {2}
    journal.add(OPENED)
    journal.play(1, 5)
    (journal.folder / FILE).unlink()  # the next has a folder of its own
    async with journal.telling(duties=shared.of(2)):
        await trio.sleep(5.0)
    assert journal.matches() == names(1, 5)


async def test_a_host_that_can_have_no_duty_yet_tells_what_happens_from_its_start_on(
    journal: Journal, autojump_clock: MockClock
) -> None:
    """Catches a new webhook that is not told of what is opened while a host starts."""
    begin(journal.folder / FILE, [Webhook(ONE, "s")], journal.engine.last())
    shared = Shared()
    shared.living = set()
    async with journal.telling(duties=shared.of(1)):
        await trio.sleep(5.0)
        journal.add(OPENED)
        journal.play(1, 5)
        shared.living = {1}
        await trio.sleep(5.0)
    assert journal.matches() == names(1, 5)


@pytest.mark.slow
async def test_a_host_that_lost_a_webhook_while_it_was_dead_gives_it_up(
    journal: Journal, autojump_clock: MockClock
) -> None:
    """Catches a host that tells again, when the receiver is back, what another has told long since."""
    journal.add(OPENED)
    shared = Shared()
    async with two_hosts(journal, shared):
        await trio.sleep(2.0)
        journal.dead.add(ONE)
        journal.play(1, 5)
        await trio.sleep(30.0)
        shared.living = {2}
        await trio.sleep(30.0)
        journal.dead.clear()
        await trio.sleep(700.0)
        assert journal.matches() == names(1, 5)
