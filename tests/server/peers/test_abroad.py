"""What a host does with tournaments that it has come to hold, on a virtual clock."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from server.exits import Unavailable
from server.host.abroad import Handed, OutOfReach, Wanted
from server.host.host import OPEN, Host
from server.host.secrets import token_digest
from server.net.wire import Wire
from server.peers.abroad import Peers
from server.peers.following import AT_A_TIME
from server.peers.keeping import LeaseKeeper
from server.peers.leases import EVERY, Granted, Lease, Peer
from server.peers.ledger import SharedLedger
from server.store import snapshots
from server.store.journal import Jot
from server.store.ledger import RETRY, SOON
from server.store.shared import SharedPostgres
from tests.server.peers.test_keeping import CARD, Registry, here
from tests.server.peers.test_ledger import Rows
from tests.turns import taking_turns
from tournament import entries
from tournament.entries import Entry
from tournament.facts import AnyFact, Claimed, Disqualified, Drew, Entered, Opened, State, Turned
from tournament.format import Pairing
from tournament.record import PIECE, Record
from tournament.refusals import NotNow, Refusal
from tournament.store import Stale
from tournament.tournament import Tournament

pytestmark = pytest.mark.slow

BEFORE = 100  # bots that had entered before
FACTS: tuple[AnyFact, ...] = (Opened("tic-tac-toe", "round-robin"), Turned(State.RUNNING))


class Journal(Rows):
    """In which another host has opened a tournament and begun it."""

    at = 0.0  # when the other host has kept it
    facts: Sequence[AnyFact] = FACTS

    def __init__(self) -> None:
        super().__init__()
        self.read = 0  # rows that were read, again and again
        self.looks = 0  # how often what was jotted down was read

    def first(self) -> dict[str, int]:
        return {"cup": 1} if self.facts else {}

    def latest(self) -> dict[str, float]:
        before = self.read
        latest = {row.tournament: row.when for row in self.kept()}
        self.read = before
        return latest

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:
        rows = (entries.entry(number, "cup", self.at, fact, 1) for number, fact in enumerate(self.facts, 1))
        found = [row for row in rows if row.number > after]
        self.read += len(found)
        return found

    def jotted(self) -> Iterable[Jot]:
        self.looks += 1
        return ()


class Leases(Registry):
    """In which this host holds nothing at first."""

    def __init__(self) -> None:
        super().__init__()
        self.leases = {}

    async def change(self, leases: dict[str, Lease]) -> None:
        """Have the leases be these from now on, and wait until the host has heard of them."""
        self.leases, self.changes = leases, self.changes + 1
        await trio.sleep(2 * EVERY)


@asynccontextmanager
async def sharing(
    registry: Leases | None = None, rows: Journal | None = None, folder: Path | None = None
) -> AsyncGenerator[tuple[Host, Peers, Leases, trio.Nursery]]:
    """A host that runs, and is told of its leases."""
    registry, rows = registry or Leases(), rows or Journal()
    keeping = LeaseKeeper(registry, here, now=trio.current_time, sleep=trio.sleep)
    await keeping.register(CARD)
    ledger = SharedLedger(cast("SharedPostgres", rows), keeping, cast("Callable[..., Any]", here))
    peers = Peers(keeping, ledger, cast("SharedPostgres", rows), lambda _: None, cast("Any", here))
    host = Host(store=ledger, wall=trio.current_time, load=partial(peers.load, folder), whole=False)
    peers.serve(host)
    async with trio.open_nursery() as nursery:
        await nursery.start(keeping.run)
        await nursery.start(host.run)
        nursery.start_soon(peers.run)
        yield host, peers, registry, nursery
        nursery.cancel_scope.cancel()


async def test_what_another_host_gave_up_is_taken_up(autojump_clock: MockClock) -> None:
    async with sharing() as (host, _, registry, _):
        await registry.change({"cup": Lease(7, 2)})
        assert [*host.tournaments] == ["cup"]


async def test_moves_are_read_once_to_take_tournaments_up_and_not_remembered(
    autojump_clock: MockClock,
) -> None:
    rows = Journal()
    async with sharing(rows=rows) as (host, _, registry, _):
        registry.leases, registry.changes = {"cup": Lease(7, 2)}, 2
        before = rows.looks
        await trio.sleep(2 * EVERY)
        assert [*host.tournaments] == ["cup"]
        assert rows.looks == before + 1
        host.store.jotted()
        assert rows.looks == before + 2


async def test_whoever_waits_for_news_of_a_tournament_waits_for_a_request_made_after_it_asked(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches 404 for a tournament that another host has just opened, while the database takes its time."""
    async with sharing() as (_, peers, registry, _):
        slow = 0.8

        async def late(ask: Callable[[], Any], limiter: object = None) -> Any:
            found = ask()
            await trio.sleep(slow)
            return found

        monkeypatch.setattr(peers._keeping, "_in_thread", late)
        await trio.sleep(slow)
        registry.leases, registry.changes = {"cup": Lease(8, 2)}, 2
        asked = trio.current_time()
        await peers.renewed()
        assert peers._keeping.leases.all == {"cup": Lease(8, 2)}
        assert trio.current_time() - asked <= 2 * (slow + EVERY), "and no longer"


async def test_what_is_known_of_a_tournament_is_not_read_again_to_take_it_up(
    autojump_clock: MockClock,
) -> None:
    """Catches a takeover that takes the longer, the longer a tournament has been going on."""
    registry, rows = Leases(), Journal()
    registry.leases = {"cup": Lease(8, 1)}
    rows.facts = (*FACTS[:1], *(Entered(f"bot-{number}") for number in range(BEFORE)))
    async with sharing(registry, rows) as (host, _, _, _):
        await trio.sleep(2 * EVERY)
        rows.read = 0
        rows.facts = (*rows.facts, Entered("late"), Turned(State.RUNNING))
        await registry.change({"cup": Lease(7, 2)})
        record = host.tournaments["cup"].record
        assert record.state is State.RUNNING
        assert len(record.entrants) == BEFORE + 1
        assert rows.read == 2


async def test_a_host_that_starts_again_reads_only_what_was_kept_since_its_snapshot(
    autojump_clock: MockClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a start among several hosts that read all that they had ever kept: millions of matches."""
    monkeypatch.setattr(snapshots, "MANY", BEFORE)
    rows = Journal()
    rows.facts = (*FACTS[:1], *(Entered(f"bot-{number}") for number in range(BEFORE)))
    async with sharing(rows=rows, folder=tmp_path):
        rows.facts = (*rows.facts, Entered("late"), Turned(State.RUNNING))
    rows.read = 0
    async with sharing(rows=rows, folder=tmp_path) as (host, _, registry, _):
        assert rows.read < 10, "of a hundred: the last that is in the snapshot, and what came since"
        rows.at = 7.0
        rows.facts = (*rows.facts, Entered("later"))
        await registry.change({"cup": Lease(7, 2)})
        record = host.tournaments["cup"].record
        assert [*record.entrants][BEFORE - 1 :] == [f"bot-{BEFORE - 1}", "late", "later"]
        assert record.state is State.RUNNING


async def test_what_its_host_opened_just_before_it_died_is_taken_up_as_it_was(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that holds a tournament before it has heard of it, and follows nothing that it holds."""
    rows = Journal()
    rows.facts = ()

    class Dying(Leases):
        """Whoever hears that it holds the tournament has not read yet that it was opened."""

        def renew(
            self, host: int, changes: int, *, willing: bool, starting: bool = False, patient: bool = False
        ) -> Granted:
            if self.leases:
                rows.facts = (*FACTS[:1], Entered("ann"), Entered("bob"), *FACTS[1:])
            return super().renew(host, changes, willing=willing, starting=starting, patient=patient)

    registry = Dying()
    async with sharing(registry, rows) as (host, _, _, _):
        await registry.change({"cup": Lease(7, 2)})
        record = host.tournaments["cup"].record
        assert (record.state, [*record.entrants]) == (State.RUNNING, ["ann", "bob"])


async def test_a_host_that_stops_takes_up_nothing_more_and_is_not_willing_to(
    autojump_clock: MockClock,
) -> None:
    async with sharing() as (host, peers, registry, _):
        await host.stop()
        await registry.change({"cup": Lease(7, 2)})
        assert registry.willing[-1] is False
        assert not host.tournaments
        await peers.give_up()
        assert registry.leases["cup"].host is None


async def test_a_host_from_which_others_have_taken_over_ends_and_says_what_they_took(
    autojump_clock: MockClock,
) -> None:
    """Catches one that goes on with matches that are played elsewhere, and keeps nothing of them."""
    ends = pytest.RaisesExc(Stale, match="^other hosts have taken over cup, and this one ends$")
    with pytest.RaisesGroup(ends, flatten_subgroups=True):
        async with sharing() as (_, _, registry, _):
            await registry.change({"cup": Lease(7, 2)})
            await registry.change({"cup": Lease(8, 3)})
            await trio.sleep(4 * EVERY)


async def test_what_could_not_be_kept_is_as_soon_as_the_database_answers(autojump_clock: MockClock) -> None:
    """Catches clocks that stand, and results that nobody is told, for longer than they have to."""
    rows = Journal()
    async with sharing(rows=rows) as (host, _, registry, nursery):
        await registry.change({"cup": Lease(7, 2)})
        rows.away = registry.away = True
        nursery.start_soon(host.tournaments["cup"].keep, Entered("ann"))
        await trio.sleep(RETRY / 2)
        assert host.store.trouble
        rows.away = registry.away = False
        await trio.sleep(EVERY + SOON)
        assert not host.store.trouble


async def test_a_bot_hears_at_any_host_that_it_was_taken_out_of_what_another_one_holds(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is led to its next place instead, and never hears why it is dealt nothing."""
    registry, rows = Leases(), Journal()
    registry.leases = {"cup": Lease(8, 1)}
    claims = (Claimed(name, token_digest(f"{name}'s").hex()) for name in ("ann", "bob"))
    came = *(Entered(name) for name in ("ann", "bob")), *claims
    rows.facts = (*FACTS[:1], *came, *FACTS[1:], Disqualified("ann", "it was two bots"))
    async with sharing(registry, rows) as (_, peers, _, _):
        await trio.sleep(2 * EVERY)
        wanted = [Wanted(name, "tic-tac-toe", None, f"{name}'s") for name in ("ann", "bob")]
        assert [peers.where(each) for each in wanted] == [None, "cup"]


async def test_a_name_is_given_up_if_the_database_fails_before_a_tournament_is_opened(
    autojump_clock: MockClock,
) -> None:
    """Catches a name that is held for nothing, so that no host opens a tournament of it any more."""

    class Failing(Journal):
        facts = ()
        failing = False

        def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:
            if self.failing:
                raise Unavailable("it is away")
            return super().kept(after, tournament)

    class Opening(Leases):
        removed: Sequence[str] = ()

        def open(self, host: int, tournament: str) -> int | None:
            rows.failing = True
            return super().open(host, tournament)

        def remove(self, host: int, tournament: str) -> None:
            self.removed = (*self.removed, tournament)

    registry, rows = Opening(), Failing()
    async with sharing(registry, rows) as (_, peers, _, _):
        with pytest.raises(NotNow, match="the database does not answer: it is away"):
            await peers.is_free("cup")
        assert "cup" in peers._keeping.leases.held
        rows.failing = False
        await trio.sleep(2 * EVERY)
        assert registry.removed == ("cup",)
        assert "cup" not in peers._keeping.leases.held
        rows.failing = True
        with pytest.raises(NotNow, match="the database does not answer: it is away"):
            await peers.is_free("league")
        assert registry.removed == ("cup",), "that was not even asked for"


async def test_all_that_a_host_holds_is_given_up_in_one_request(autojump_clock: MockClock) -> None:
    """Catches a host whose second to stop in is over before thousands of requests have been answered."""

    class Counting(Leases):
        released: Sequence[Sequence[str]] = ()

        def release(self, host: int, tournaments: Sequence[str]) -> None:
            self.released = (*self.released, tournaments)
            super().release(host, tournaments)

    registry, rows = Counting(), Running()
    async with sharing(registry, rows) as (host, peers, _, _):
        await registry.change(dict.fromkeys(rows.names, Lease(7, 2)))
        await host.stop()
        await peers.give_up()
        assert [sorted(each) for each in registry.released] == [sorted(rows.names)]
        await peers.give_up()
        assert len(registry.released) == 1, "there is nothing left"


async def test_a_table_that_is_held_and_not_taken_up_yet_is_waited_for_and_not_opened(
    autojump_clock: MockClock,
) -> None:
    async with sharing() as (host, peers, registry, _):
        assert await peers.opens("connect-4")
        for lease in (Lease(7, 2), Lease(None, 2), Lease(8, 2)):
            registry.leases, registry.changes = {OPEN + "connect-4": lease}, registry.changes + 1
            peers._keeping.changed = lambda change: None
            await peers._keeping.renew()
            assert not await peers.opens("connect-4"), lease
            wanted = Wanted("ann", "connect-4", None)
            assert peers.where(wanted) == OPEN + "connect-4"
        with pytest.raises(Refusal):
            await host.table("connect-4")


async def test_a_bot_is_served_in_what_is_taken_over_only_when_what_was_played_there_goes_on(
    autojump_clock: MockClock,
) -> None:
    """Catches a request that is refused because its match is about to go on, and a bot that gives up then."""
    wanted = Wanted("ann", "tic-tac-toe", "cup")
    async with sharing() as (host, peers, registry, nursery):
        hold, early = host.hold, list[object]()

        def held(record: Record) -> Tournament:
            found = hold(record)
            early.append(peers.where(wanted))
            nursery.start_soon(caught_up)
            return found

        async def caught_up() -> None:
            await peers.caught_up()
            early.append(host.tournaments["cup"].gone_on.is_set())

        host.hold = held
        await registry.change({"cup": Lease(7, 2)})
        assert early == ["cup", True]
        assert peers.where(wanted) is None


async def test_a_bot_is_not_served_by_a_host_that_drains_once_another_one_holds_its_tournament(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that passes a bot to and fro between itself and nobody, and does nothing else."""
    async with sharing() as (host, peers, registry, _):
        await registry.change({"cup": Lease(7, 2)})
        await host.stop()
        await peers.give_up()
        await registry.change({"cup": Lease(8, 3)})
        assert "cup" in host.tournaments
        holder = peers.holder(Wanted("ann", "tic-tac-toe", "cup"))
        assert holder is not None
        handed = Handed("tcp", cast("Wire", None), "", ((b"hello", 0.0),), lambda: None)
        with pytest.raises(OutOfReach):
            await holder.take(handed)


async def test_the_first_bot_at_a_table_is_served_here_unless_another_host_was_quicker(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is refused because somebody at another host opens the table in the same moment."""
    async with sharing() as (host, peers, registry, _):
        ours, theirs = OPEN + "connect-4", OPEN + "tic-tac-toe"
        registry.leases = {theirs: Lease(8, 2)}  # which this host has not heard yet
        assert [peers.where(Wanted("ann", game, None)) for game in ("connect-4", "tic-tac-toe")] == [
            ours,
            theirs,
        ]
        assert [await peers.claimed(name) for name in (ours, theirs)] == [True, False]
        assert [peers.where(Wanted("ann", game, None)) for game in ("connect-4", "tic-tac-toe")] == [
            None,
            theirs,
        ]
        assert (await host.table("connect-4")).record.name == ours
        assert await peers.claimed(ours)
        assert not await peers.claimed("cup"), "no bot opens a tournament"


async def test_nobody_has_a_host_hold_the_table_of_a_game_that_there_is_not(
    autojump_clock: MockClock,
) -> None:
    """Catches strangers whose requests fill the database with leases, all of which every host reads."""
    async with sharing() as (_, peers, _, _):
        for name in (OPEN + "nothing", OPEN):
            assert not await peers.claimed(name)
        assert not peers._keeping.leases.held


async def test_a_table_that_a_host_holds_for_an_order_that_was_refused_is_its_for_the_next_order(
    autojump_clock: MockClock,
) -> None:
    """Catches a stranger whose order leaves the organiser's to wait for a host that was never there."""
    async with sharing() as (_, peers, registry, _):
        table = OPEN + "connect-4"
        assert await peers.claimed(table)
        await registry.change({table: Lease(7, 5)})
        assert await peers.claimed(table)


async def test_what_is_kept_after_a_takeover_is_not_earlier_though_the_other_host_s_clock_was_ahead(
    autojump_clock: MockClock,
) -> None:
    """Catches a record that verifying finds rearranged."""
    reader = Journal()
    reader.facts = ()
    async with sharing(rows=reader) as (host, _, registry, _):
        reader.at, reader.facts = trio.current_time() + 120.0, FACTS  # each of two clocks a minute off
        await registry.change({"cup": Lease(7, 2)})
        await host.tournaments["cup"].keep(Entered("ann"))
        assert reader.whens[-1] == reader.at


class Many(Journal):
    """In which other hosts have opened many tournaments, all but the last of which are over."""

    names = (*(f"cup-{number}" for number in range(20)), "ladder")
    ended: Sequence[AnyFact] = (Turned(State.FINISHED),)

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0  # times that it was read

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:
        self.asked += 1
        facts = [
            (name, fact)
            for name in self.names
            for fact in (*FACTS, *(() if name == self.names[-1] else self.ended))
        ]
        rows = (entries.entry(number, name, self.at, fact, 1) for number, (name, fact) in enumerate(facts, 1))
        return [row for row in rows if row.number > after and tournament in (None, row.tournament)]


async def test_what_is_not_over_is_taken_up_first_and_the_journal_is_read_once_for_all(
    autojump_clock: MockClock,
) -> None:
    """Catches a takeover that takes the longer, the more tournaments there have been."""
    registry, rows = Leases(), Many()
    registry.leases = dict.fromkeys(rows.names, Lease(8, 1))
    async with sharing(registry, rows) as (host, _, _, _):
        await trio.sleep(2 * EVERY)
        hold, held = host.hold, list[tuple[str, int]]()

        def noted(record: Record) -> Tournament:
            held.append((record.name, rows.asked))
            return hold(record)

        host.hold, rows.asked = noted, 0
        registry.leases, registry.changes = dict.fromkeys(rows.names, Lease(7, 2)), 2
        await trio.sleep(EVERY)
        assert held[0][0] == "ladder"
        assert {name for name, _ in held} == {*rows.names}
        assert held[0][1] == held[-1][1], "nothing was read in between"


class Growth(trio.abc.Instrument):
    """By how much something grows in one step of a task, at the most: all others wait for that step."""

    def __init__(self, count: Callable[[], int]) -> None:
        self.most = 0
        self._count = count
        self._before = count()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        now = self._count()
        self.most, self._before = max(self.most, now - self._before), now


class Running(Many):
    """In which none of the tournaments is over."""

    ended = ()


class Deleted(Many):
    """In which all tournaments but the last were deleted."""

    ended = (Turned(State.DELETED),)


async def test_a_name_of_which_there_is_no_tournament_any_more_is_free_when_its_host_has_died(
    autojump_clock: MockClock,
) -> None:
    """Catches a name that nobody can use again: its host died before it was opened, or as it was deleted."""
    removed: list[str] = []

    class Removing(Leases):
        def remove(self, host: int, tournament: str) -> None:
            removed.append(tournament)
            super().remove(host, tournament)

    registry, rows = Removing(), Deleted()
    async with sharing(registry, rows) as (host, peers, _, _):
        await registry.change(dict.fromkeys(("cup-3", "never-opened", "ladder"), Lease(7, 2)))
        assert sorted(removed) == ["cup-3", "never-opened"]
        assert [*host.tournaments] == ["ladder"]
        with trio.fail_after(EVERY):
            await peers.caught_up()


async def test_others_get_their_turns_while_many_tournaments_are_taken_up(autojump_clock: MockClock) -> None:
    """Catches a host that cannot renew its leases meanwhile, so that it loses what it has just gained."""
    registry, rows = Leases(), Running()
    registry.leases = dict.fromkeys(rows.names, Lease(8, 1))
    async with sharing(registry, rows) as (host, _, _, _):
        await trio.sleep(2 * EVERY)
        growth = Growth(lambda: len(host.tournaments))
        trio.lowlevel.add_instrument(growth)
        await registry.change(dict.fromkeys(rows.names, Lease(7, 2)))
        assert len(host.tournaments) == len(rows.names)
        assert growth.most == 1


async def test_others_get_their_turns_while_much_that_another_host_has_kept_is_taken_in(
    autojump_clock: MockClock,
) -> None:
    """Catches a host whose moves wait, four times a second, for all that other hosts have played."""
    registry, rows = Leases(), Journal()
    registry.leases = {"cup": Lease(8, 1)}
    async with sharing(registry, rows) as (host, peers, _, _):
        await trio.sleep(2 * EVERY)
        growth = Growth(lambda: len(host.known["cup"].record.entrants))
        trio.lowlevel.add_instrument(growth)
        rows.facts = (*FACTS, *(Entered(f"bot-{number}") for number in range(4 * AT_A_TIME)))
        await peers.read_on()
        assert len(host.known["cup"].record.entrants) == 4 * AT_A_TIME
        assert growth.most <= AT_A_TIME


async def test_others_get_their_turns_while_the_record_of_a_large_tournament_is_put_together() -> None:
    """Catches leases that lapse while a host takes up what it has not followed: of 124,750 matches, say."""
    rows = Journal()
    drawn = tuple([Pairing(number, 1, "ann", "bob") for number in range(1, 20 * PIECE + 1)])
    entered = [Entered(f"bot-{number}") for number in range(20 * AT_A_TIME)]
    rows.facts = (*FACTS[:1], *entered, Drew(drawn))
    async with sharing(rows=rows) as (_, peers, _, _), taking_turns() as turns:
        before = turns.taken
        record, _ = await peers._following.record("cup", None)
        assert record is not None
        assert len(record.entrants) == len(entered)
        assert len(record.drawn) == len(drawn)
        assert turns.taken - before > 45, (
            "twenty for the entrants, as many for the pairings, and to read these"
        )


async def test_others_get_their_turns_while_a_large_draw_that_another_host_has_kept_is_read(
    autojump_clock: MockClock,
) -> None:
    """Catches a host whose moves wait until it has read the pairings of a thousand entrants elsewhere."""
    registry, rows = Leases(), Journal()
    registry.leases = {"cup": Lease(8, 1)}
    names = [f"bot-{number}" for number in range(8 * PIECE)]
    drew = Drew(tuple([Pairing(number, 1, name, None) for number, name in enumerate(names, 1)]))
    async with sharing(registry, rows) as (host, peers, _, _):
        await trio.sleep(2 * EVERY)
        rows.facts = (*FACTS, *map(Entered, names), drew)
        async with taking_turns() as turns:
            await peers.read_on()
        assert [*host.known["cup"].record.drawn.values()] == [*drew.pairings]
        assert turns.taken > len(names) / AT_A_TIME + 12, "eight for the pairings, and as many to read them"


async def test_a_bot_waits_for_its_own_tournament_to_go_on_and_for_no_other(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that waits until all that its host has just taken over goes on."""
    registry, rows = Leases(), Many()
    registry.leases = dict.fromkeys(rows.names, Lease(8, 1))
    async with sharing(registry, rows) as (host, peers, _, nursery):
        await trio.sleep(2 * EVERY)
        hold, there = host.hold, dict[str, int]()

        async def wait(name: str) -> None:
            await peers.caught_up(name)
            there[name] = len(host.tournaments)
            assert all(map(peers.is_here, [name] if name else rows.names))

        def held(record: Record) -> Tournament:
            if not host.tournaments:
                nursery.start_soon(wait, "ladder")
                nursery.start_soon(wait, "")
            return hold(record)

        host.hold = held
        await registry.change(dict.fromkeys(rows.names, Lease(7, 2)))
        assert there["ladder"] < there[""] == len(rows.names)


async def test_a_host_that_has_only_begun_takes_over_only_if_no_other_one_does(
    autojump_clock: MockClock,
) -> None:
    other = Peer(8, "", "", "", "")
    async with sharing() as (_, peers, registry, _):
        for settled, others, willing in (
            (False, (other,), False),
            (False, (), True),
            (False, (replace(other, alive=False),), True),
            (False, (replace(other, draining=True),), True),
            (False, (replace(other, starting=True),), True),
            (True, (other,), True),
        ):
            peers.settled, registry.peers = settled, others
            await trio.sleep(4 * EVERY)
            assert registry.willing[-1] is willing, (settled, others)
