"""Show's view of a host is the host's own, whatever it missed: laws over a tournament on a virtual clock."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from math import inf
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from server.exits import Unavailable, Unusable
from server.host.archiving import EVERY, archive_old
from server.host.group import Group
from server.host.happened import happened
from server.host.host import Host
from server.net.guard import Guard
from server.show.feed import (
    AT_ONCE,
    Alive,
    Answer,
    Draw,
    Happened,
    Holders,
    Journal,
    Latest,
    Look,
    Message,
    Question,
    Rank,
    Seen,
    Teller,
    Watched,
    framed,
    hear,
    say,
)
from server.show.mirror import RETRY, Mirror, MirroredTournament
from server.show.replica import Replica
from server.store import snapshots
from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from server.store.sqlite_database import connected
from server.store.sqlite_reader import SqliteReader
from tests.crashes.world import at_once
from tests.steps import steps_taken
from tests.turns import taking_turns
from tournament.entries import Entry
from tournament.events import Moved, Refused
from tournament.facts import (
    AnyFact,
    CheckedIn,
    Dealt,
    Drew,
    Entered,
    NoShow,
    Opened,
    Released,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import Pairing, Terms
from tournament.player import Player
from tournament.presence import Missing
from tournament.record import PIECE, Record
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

pytestmark = pytest.mark.slow

NAMES = ("ada", "bob", "eve", "joe")
CUP = Opened("connect-4", "round-robin", 4, Terms(seed=3))


class Stage:
    """A host whose bots play, and everything that show would be given."""

    def __init__(self, folder: Path) -> None:
        path = folder / "journal"
        self.engine = Sqlite(path)
        self.reader = SqliteReader(path)
        ledger = Ledger(self.engine, at_once)
        self.host = Host(store=ledger, timekeeper=Timekeeper(inf), wall=trio.current_time, whole=False)
        self.host.boards.run = at_once
        self.teller = Teller(self.host, lambda: ledger.safe)

    @property
    def cup(self) -> Tournament:
        return self.host.tournaments["cup"]

    async def play(
        self, nursery: trio.Nursery, names: Sequence[str] = NAMES, tournament: str = "cup"
    ) -> None:
        if tournament == "cup":
            await self.host.open("cup", CUP)
        for name in names:
            visit = await self.host.arrive(name, CUP.game, tournament=tournament, keeps=False)
            nursery.start_soon(_play, visit.player)


async def _play(player: Player) -> None:
    """Some seconds for each move, and now and then one that may not be played."""
    async for seat in player:
        match = seat.match
        async for _ in match.log.read():
            if seat.to_move:
                choice = crc32(f"{player.name} {match.moves}".encode())
                await trio.sleep(1 + choice % 16 / 8)
                if seat.to_move:
                    moves = list(match.position.moves())
                    seat.play(match.game.write(moves[choice % len(moves)]))


@asynccontextmanager
async def staged(folder: Path) -> AsyncGenerator[tuple[Stage, trio.Nursery]]:
    stage = Stage(folder)
    with closing(stage.engine), closing(stage.reader):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.host.run)
            await stage.play(nursery)
            yield stage, nursery
            nursery.cancel_scope.cancel()


def never(question: Question) -> None:
    raise AssertionError("nobody was to be asked")


@asynccontextmanager
async def mirrored(
    stage: Stage,
    lost: frozenset[type[Message]] = frozenset(),
    asked: Callable[[Question], None] = never,
    folder: Path | None = None,
) -> AsyncGenerator[tuple[Mirror, list[Message]]]:
    """Show's view, which is told everything except what is lost on the way; `folder` has its snapshots."""
    ours, theirs = trio.testing.memory_stream_one_way_pair()
    told: list[Message] = []
    async with trio.open_nursery() as nursery:
        mirror = Mirror(stage.reader, Guard(nursery), at_once, folder=folder)

        def take(message: Message) -> None:
            if type(message) not in lost:
                told.append(message)
                if isinstance(message, Draw | Rank):
                    asked(message)
                elif not isinstance(message, Latest):
                    mirror.take(message)

        await mirror.load()
        nursery.start_soon(mirror.run)
        nursery.start_soon(stage.teller.tell, ours)
        nursery.start_soon(hear, theirs, Message, take)
        yield mirror, told
        nursery.cancel_scope.cancel()


async def test_whoever_tells_may_be_gone_without_having_read_what_it_was_told() -> None:
    """Catches a show that ends with a traceback because play has ended first."""
    ours, theirs = trio.socket.socketpair()
    async with trio.SocketStream(ours) as play, trio.SocketStream(theirs) as show:
        await show.send_all(b"nobody reads this")
        await say(play, [Journal(5)])
        await play.aclose()
        heard: list[Message] = []
        await hear(show, Message, heard.append)
        assert heard == [Journal(5)]


def known(record: Record) -> object:
    """What a record says, as far as anybody is shown it."""
    return (
        record.state,
        list(record.entrants),
        record.results.remembered(),
        record.standings(),
        dict(record.dealt),
        list(record.open),
    )


def expect_the_same(mirror: Mirror, stage: Stage) -> None:
    """Of tournaments that are over."""
    assert mirror.tournaments.keys() == stage.host.tournaments.keys()
    for name, held in mirror.tournaments.items():
        played = stage.host.tournaments[name]
        assert known(held.record) == known(played.record)
        assert held.eta() == played.eta()
        assert held.matches.keys() == played.matches.keys() == set()


def expect_the_same_matches(mirror: Mirror, stage: Stage) -> None:
    """Of those in play, when nothing is on its way to show."""
    held = mirror.tournaments["cup"]
    assert held.matches.keys() == stage.cup.matches.keys()
    for name, replica in held.matches.items():
        there = stage.cup.matches[name]
        assert replica.log.events[1:] == there.log.events[1:]
        assert replica.positions == there.positions
        assert (replica.names, replica.options) == (there.names, there.options)
        assert (replica.to_move, replica.result) == (there.to_move, there.result)
        assert replica.clock.state == there.clock.state
        assert replica.deadline == there.deadline


async def settle() -> None:
    """Until what has happened has been told and read."""
    await trio.sleep(1.05)  # on a virtual clock


async def test_show_sees_what_is_played_and_kept_as_play_does(tmp_path: Path, autojump_clock: object) -> None:
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, told):
        looked = 0
        while stage.cup.record.state is not State.FINISHED:
            await trio.sleep(7.3)
            # Whoever looks between a move and the next tick of the feed sees less: so when nothing is new.
            before = [len(match.log.events) for match in stage.cup.matches.values()]
            await trio.sleep(0.06)
            if before == [len(match.log.events) for match in stage.cup.matches.values()]:
                await trio.testing.wait_all_tasks_blocked()
                expect_the_same_matches(mirror, stage)
                looked += 1
        await settle()
        expect_the_same(mirror, stage)
        assert looked > 10
        moves = [
            e for each in told if isinstance(each, Happened) for e in each.events if isinstance(e, Moved)
        ]
        assert len(moves) > 50, "live matches are told move by move"


@pytest.mark.parametrize("seconds", [3, 90, 10_000])
async def test_a_show_that_comes_late_knows_what_the_first_knows(
    tmp_path: Path, autojump_clock: object, seconds: float
) -> None:
    async with staged(tmp_path) as (stage, _):
        await trio.sleep(seconds)
        async with mirrored(stage) as (mirror, _):
            await settle()
            await stage.cup.finished()
            await settle()
            expect_the_same(mirror, stage)
            assert mirror.tournaments["cup"].matches == {}


async def test_a_show_that_begins_with_a_snapshot_knows_what_one_without_knows(
    tmp_path: Path, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MANY", 1)  # little is much here
    async with staged(tmp_path) as (stage, nursery):
        await stage.play(nursery, ("ann", "ben"), "open-connect-4")
        before = 0
        for seconds in (3, 90, 200):
            await trio.sleep(seconds)
            async with mirrored(stage, folder=tmp_path) as (mirror, _):
                assert mirror.snapshot > before
                before = mirror.snapshot
                await trio.sleep(60)
                await settle()
                for name, held in mirror.tournaments.items():
                    played = stage.host.tournaments[name]
                    assert known(held.record) == known(played.record)
                    assert held.matches.keys() == played.matches.keys()


async def test_what_is_long_over_is_archived_by_play_and_by_show(
    tmp_path: Path, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a host whose memory grows with every tournament that it has ever held."""
    after = 2 * EVERY  # instead of an hour, in which the stage has much to do
    monkeypatch.setattr("server.host.archiving.AFTER", after)
    async with staged(tmp_path) as (stage, nursery), mirrored(stage) as (mirror, _):
        nursery.start_soon(archive_old, mirror.records, at_once, trio.current_time)
        await stage.cup.finished()
        await settle()
        expect_the_same(mirror, stage)
        records = stage.cup.record, mirror.tournaments["cup"].record
        before = [known(record) for record in records]
        assert [record.archived for record in records] == [None, None]
        await trio.sleep(after + 2 * EVERY)
        assert all(record.archived is not None and "results" not in vars(record) for record in records)
        assert [known(record) for record in records] == before
        assert stage.cup.missing() == []
        await stage.cup.keep(Turned(State.RUNNING), Voided("cup-1", "a cable"))
        await settle()
        await stage.cup.finished()
        await settle()
        expect_the_same(mirror, stage)
        assert [record.archived for record in records] == [None, None]
        assert len(records[1].endings) == 7


async def test_a_long_table_is_worked_out_before_anybody_asks_and_a_short_one_is_not(
    tmp_path: Path, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path) as (stage, nursery):
        await stage.play(nursery, ("ann", "ben"), "open-connect-4")
        await trio.sleep(400)
        async with mirrored(stage, folder=tmp_path) as (mirror, _):
            mirror.boards.run = at_once
            lengths = sorted(len(held.record.results.decisions) for held in mirror.tournaments.values())
            monkeypatch.setattr("server.show.mirror.LONG", lengths[0])  # little is much here
            assert lengths[0] < lengths[1]
            await mirror.warm()
            assert mirror.boards.made == len(lengths) - 1
            assert mirror.versions.made == 1, "for the pages of bots in that game"


async def test_a_second_show_is_told_live_matches_from_their_beginning(
    tmp_path: Path, autojump_clock: object
) -> None:
    async with staged(tmp_path) as (stage, _):
        async with mirrored(stage):
            await trio.sleep(9)
        async with mirrored(stage) as (mirror, _):
            await trio.sleep(0.01)
            await trio.testing.wait_all_tasks_blocked()
            assert stage.cup.matches
            expect_the_same_matches(mirror, stage)


async def test_what_the_feed_did_not_tell_is_in_the_journal(tmp_path: Path, autojump_clock: object) -> None:
    """As when show was busy for so long that the ends of matches were dropped."""
    async with staged(tmp_path) as (stage, _), mirrored(stage, frozenset({Happened})) as (mirror, _):
        ended: list[object] = []
        mirror.on_begun.append(lambda held, match: match.log.follow(ended.append))
        await stage.cup.finished()
        await settle()
        expect_the_same(mirror, stage)
        assert len(ended) > 100, "whoever follows a match is told its moves and its end all the same"


async def test_a_fact_of_a_tournament_that_is_not_there_hides_no_other(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches pages that are gone on every host because of one row that nobody should have written."""
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        await stage.host.store.keep("nowhere", 0.0, [Entered("ann")])
        await stage.host.store.keep("cup~2", 0.0, [Entered("ann")])
        await stage.host.open("league", CUP)
        await mirror.catch_up()
        assert [*mirror.tournaments] == ["cup", "league"]
        assert [*mirror.tournaments["cup"].record.entrants] == [*stage.cup.record.entrants]


@pytest.mark.parametrize("late", [False, True])
async def test_a_match_whose_game_fails_here_hides_nothing_else(
    late: bool, tmp_path: Path, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches pages of all games that are gone, for as long as one of them fails."""

    def fail(held: MirroredTournament, fact: Dealt) -> Replica:
        raise ZeroDivisionError

    monkeypatch.setattr(MirroredTournament, "begin", fail)
    async with staged(tmp_path) as (stage, _):
        while late and not stage.cup.record.dealt:
            await stage.cup.changed()
        async with mirrored(stage) as (mirror, _):
            await stage.cup.finished()
            await mirror.catch_up()
            assert mirror.tournaments["cup"].record.ended == stage.cup.record.ended > 0
            assert not mirror.tournaments["cup"].replicas
            assert mirror.guard.caught.total() == len(stage.cup.record.matches)
            mirror.guard.caught.clear()


@pytest.mark.parametrize("late", [False, True])
async def test_what_was_on_its_way_when_its_tournament_was_deleted_is_no_fault(
    late: bool, tmp_path: Path, autojump_clock: object
) -> None:
    """Catches errors in the log whenever a tournament was deleted as bots came."""
    async with staged(tmp_path) as (stage, _):
        facts = Turned(State.DELETED), Released("ada")
        await stage.host.store.keep("friday", 1.0, [CUP, *facts[:late]])
        with capture_logs() as logs:
            async with mirrored(stage) as (mirror, _):
                await stage.host.store.keep("friday", 2.0, facts[late:])
                await mirror.catch_up()
                assert mirror.tournaments.keys() == {"cup"}
        assert not [each for each in logs if each["log_level"] == "error"]


async def test_a_row_that_cannot_be_read_holds_up_nobody_who_looks(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches pages whose process ended, and ended again after each start."""
    spoil = "UPDATE journal SET body = 'x' || body WHERE number = ?"
    mend = "UPDATE journal SET body = substr(body, 2) WHERE number = ?"
    async with staged(tmp_path) as (stage, _), mirrored(stage, frozenset({Journal})) as (mirror, _):
        await stage.host.open("league", CUP)
        number = stage.engine.last()
        with closing(connected(tmp_path / "journal")) as other:
            other.execute(spoil, (number,))
            await mirror.catch_up()
            assert [*mirror.tournaments] == ["cup"]
            assert f"entry {number}" in mirror.guard.damage
            with pytest.raises(Unusable):  # which another process may be able to do
                await mirror.read_up_to(number)
            other.execute(mend, (number,))
            await trio.sleep(2 * RETRY)
            await mirror.catch_up()
            assert [*mirror.tournaments] == ["cup", "league"]


class GoesAway(SqliteReader):
    """A database that says how far its journal goes, and is away before anything of it is read."""

    away = False

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterator[Entry]:
        if self.away:
            raise Unavailable("the database is away")
        return super().kept(after, tournament)


async def test_a_journal_that_goes_away_while_it_is_read_holds_up_nobody_who_looks(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches pages for which everybody waited as long as the database was away."""
    async with staged(tmp_path) as (stage, nursery):
        stage.reader.close()
        stage.reader = reader = GoesAway(tmp_path / "journal")
        async with mirrored(stage, frozenset({Journal})) as (mirror, _):
            await stage.host.open("league", CUP)
            number, reader.away = stage.engine.last(), True
            done = trio.Event()

            async def read() -> None:
                await mirror.read_up_to(number)
                done.set()

            nursery.start_soon(read)
            for _ in range(3):
                with trio.fail_after(2 * RETRY):
                    await mirror.catch_up()
                assert [*mirror.tournaments] == ["cup"]
                await trio.sleep(2 * RETRY)
            assert not done.is_set(), "a round is not drawn by what was kept before"
            reader.away = False
            await trio.sleep(2 * RETRY)
            await mirror.catch_up()
            assert [*mirror.tournaments] == ["cup", "league"]
            assert done.is_set()


async def test_without_the_journal_nothing_is_taken_for_known(tmp_path: Path, autojump_clock: object) -> None:
    async with staged(tmp_path) as (stage, _), mirrored(stage, frozenset({Journal})) as (mirror, _):
        before = {name: known(held.record) for name, held in mirror.tournaments.items()}
        await stage.cup.finished()
        assert {name: known(held.record) for name, held in mirror.tournaments.items()} == before


async def test_nobody_is_said_to_be_missing_who_has_checked_in_or_is_out_as_far_as_the_journal_says(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches a no-show that was missing for a second after the start, and the missing of what is over."""

    async def missing(held: MirroredTournament, *facts: AnyFact) -> list[str]:
        await league.keep(*facts)
        await mirror.catch_up()
        return [each.name for each in held.missing()]

    async with staged(tmp_path) as (stage, _), mirrored(stage, frozenset({Seen})) as (mirror, _):
        await stage.host.open("league", Opened("connect-4", "round-robin", start_at=1e6, check_in=60.0))
        league = stage.host.tournaments["league"]
        for name in "abcd":
            await league.enter(name)
        await mirror.catch_up()
        mirror.take(await stage.teller.seen())  # and nothing more is told
        held = mirror.tournaments["league"]
        assert await missing(held) == ["a", "b", "c", "d"]
        assert await missing(held, CheckedIn("a")) == ["b", "c", "d"]
        assert await missing(held, NoShow("b"), Turned(State.RUNNING)) == ["a", "c", "d"]
        assert await missing(held, Withdrew("c", False)) == ["a", "d"]
        assert await missing(held, Turned(State.FINISHED)) == []


async def test_what_was_told_of_a_tournament_before_the_journal_had_it_is_known(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches an event to which nobody had come, and of which nobody was said to be missing."""
    async with staged(tmp_path) as (stage, nursery):
        mirror = Mirror(stage.reader, Guard(nursery), at_once)
        mirror.take(Seen({"cup": 5.0}, {}, {"cup": [Missing("ada", 0.0)]}))
        await mirror.load()
        held = mirror.tournaments["cup"]
        assert (held.eta(), held.missing()) == (5.0, [Missing("ada", 0.0)])
        again = mirror._add(Record("cup", CUP, kept_as="cup~2"))
        assert (again.eta(), again.missing()) == (None, ()), "the first of that name was deleted"


async def test_nothing_can_be_kept_while_any_process_that_plays_says_so(
    tmp_path: Path, autojump_clock: object
) -> None:
    async with staged(tmp_path) as (stage, nursery):
        mirror = Mirror(stage.reader, Guard(nursery), at_once)
        assert not mirror.trouble
        mirror.take(Seen({}, {}, {}, "the disk is full"), "one")
        mirror.take(Seen({}, {}, {}), "other")
        assert mirror.trouble == "the disk is full"
        mirror.take(Seen({}, {}, {}), "one")
        assert not mirror.trouble


async def test_however_many_tournaments_there_are_others_get_their_turns_while_they_are_looked_at(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches a loop that stood still twice a second, for a third of a second, while somebody looked."""
    async with staged(tmp_path) as (stage, _):
        await trio.sleep(1)
        for number in range(4 * AT_ONCE):
            await stage.host.open(f"cup-{number}", CUP)
        async with taking_turns() as turns:
            await trio.lowlevel.checkpoint()
            before = turns.taken
            seen = await stage.teller.seen()
        assert turns.taken - before >= 3
        assert seen.eta.keys() == {"cup"}


async def test_what_is_told_twice_a_second_costs_nothing_for_tournaments_that_are_over(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches a look at all of them: with 20,000, one spectator cost play 7 % of a processor for ever."""
    taken: list[int] = []
    async with staged(tmp_path) as (stage, _):
        await trio.sleep(1)
        for many in (2 * AT_ONCE, 10 * AT_ONCE):
            for number in range(many):
                over = Record(f"over-{many}-{number}", CUP)
                over.add(Turned(State.FINISHED))
                stage.host.hold(over)
            async with taking_turns() as turns:
                await trio.lowlevel.checkpoint()
                before = turns.taken
                assert (await stage.teller.seen()).eta.keys() == {"cup"}
                taken.append(turns.taken - before)
    assert taken[1] <= taken[0] + 1


async def test_what_is_told_twice_a_second_is_taken_in_without_a_look_at_all_tournaments(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches 22 ms in which nobody got a page, twice a second, on a host with 20,000 tournaments."""
    steps: list[int] = []
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        for many in (100, 200):
            for number in range(many):
                mirror._add(Record(f"cup-{many}-{number}", CUP))
            some = [f"cup-{many}-{number}" for number in range(2)]
            mirror.take(Seen({some[0]: 1.0}, {}, {}))
            steps.append(steps_taken(lambda some=some: mirror.take(Seen({some[1]: 2.0}, {}, {}))))
            assert [mirror.tournaments[name].eta() for name in some] == [None, 2.0]
    assert steps[0] == steps[1]


async def test_the_teller_forgets_matches_that_are_over_and_told(
    tmp_path: Path, autojump_clock: object
) -> None:
    async with staged(tmp_path) as (stage, _):
        async with mirrored(stage):
            await stage.cup.finished()
            await settle()
        assert not stage.teller.following


async def test_what_a_bot_sent_that_no_encoding_can_hold_is_told_quoted(
    tmp_path: Path, autojump_clock: object
) -> None:
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        await trio.sleep(1)
        match = next(iter(stage.cup.matches.values()))
        huge = 10**4000
        match.log.append(Refused(0.0, 0, match.ply, huge, "too much", 1))
        match.log.append(Refused(0.0, 0, match.ply, "\ud800", "no text", 2))
        await trio.sleep(0.06)
        told = [
            e.sent for e in mirror.tournaments["cup"].matches[match.name].log.events if isinstance(e, Refused)
        ]
        assert told == ["a number of more than 60 digits", r'"\ud800"']


async def test_whoever_has_changed_something_and_looks_sees_the_change(
    tmp_path: Path, autojump_clock: object
) -> None:
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        for number in range(20):
            await stage.host.open(f"more-{number}", CUP)
            await mirror.catch_up()
            assert f"more-{number}" in mirror.tournaments


async def test_nothing_is_kept_of_what_is_told_after_the_journal_had_the_end(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Whoever looks has the journal read at once, and play tells of the end some milliseconds later."""
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        while stage.cup.record.state is not State.FINISHED:
            await trio.sleep(0.02)
            await mirror.catch_up()
        await settle()
        assert mirror._early == {}


async def test_a_match_is_not_taken_for_one_of_that_name_in_a_tournament_that_was_deleted(
    tmp_path: Path, autojump_clock: object
) -> None:
    """Catches a match that seemed to be over, as the earlier one had ended, from its first move on."""
    async with staged(tmp_path) as (stage, nursery):
        await stage.cup.finished()  # while there is no show …
        await stage.host.delete(stage.cup, "ann")
        async with mirrored(stage) as (mirror, _):  # … and the next one is told what none was told
            await settle()
            await stage.play(nursery, ("kim", "lou", "max", "ned"))
            await settle()
            expect_the_same_matches(mirror, stage)
            assert mirror._early == {}


class OtherHosts(Group):
    """There are some; who holds what is all that is known of them."""

    def __init__(self) -> None:
        self.at: Mapping[str, str] = {"cup": "here", "long-ago": "there"}

    def holders(self) -> Mapping[str, str]:
        return self.at

    def hosts(self) -> list[dict[str, Any]]:
        return []

    def health(self) -> Any:
        return None


async def test_who_holds_what_is_told_when_it_changes(tmp_path: Path, autojump_clock: object) -> None:
    """Catches telling of all tournaments that ever were twice a second, since one is being played."""
    async with staged(tmp_path) as (stage, _):
        stage.host.group = group = OtherHosts()
        async with mirrored(stage) as (mirror, told):
            await trio.sleep(10.0)
            assert mirror.holders == {"cup": "here", "long-ago": "there"}
            group.at = {"cup": "there"}
            await trio.sleep(10.0)
            assert mirror.holders == {"cup": "there"}
        assert sum(isinstance(each, Seen) for each in told) > 5, "how long it takes still is foreseen"
        assert sum(isinstance(each, Holders) for each in told) == 2
        async with mirrored(stage) as (mirror, _):
            await trio.sleep(1.0)
            assert mirror.holders == {"cup": "there"}, "a show that was started again"


@pytest.mark.parametrize(
    "path", ["/tournaments/cup", "/wall/cup/", "/api/tournaments/cup/matches", "/", "/wall"]
)
async def test_whoever_lists_matches_that_another_host_plays_sees_them_as_they_stand(
    tmp_path: Path, autojump_clock: object, path: str
) -> None:
    """Catches a list in which a long match has no move yet, because nobody had looked at it before."""
    async with staged(tmp_path) as (stage, nursery), mirrored(stage, frozenset({Happened})) as (_, _told):
        await trio.sleep(10.0)
        mirror = Mirror(stage.reader, Guard(nursery), at_once, address="here")
        await mirror.load()
        mirror.holders = {"cup": "there"}
        playing = mirror.tournaments["cup"].matches

        async def tell() -> None:
            """As the host that holds them does, a moment after it was asked."""
            while not (watched := mirror.watched()):  # noqa: ASYNC110
                await trio.sleep(0.1)
            for name in watched:
                mirror.take(happened(name, 0, stage.cup.matches[name]))

        nursery.start_soon(tell)
        await mirror.look_at(path)
        assert {name: match.ply for name, match in playing.items()} == {
            name: match.ply for name, match in stage.cup.matches.items()
        }
        assert all(match.ply for match in playing.values())
        mirror.holders = {"cup": "here"}
        assert not mirror.watched(), "the feed tells what is played here"


async def test_a_hundred_who_look_share_two_looks_at_the_journal(
    tmp_path: Path, autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        looks = 0
        last = stage.reader.last

        def counted() -> int:
            nonlocal looks
            looks += 1
            return last()

        monkeypatch.setattr(stage.reader, "last", counted)
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(mirror.catch_up)
        assert looks in (1, 2)


async def test_others_have_their_turns_while_a_large_draw_is_taken_in(
    tmp_path: Path, autojump_clock: object
) -> None:
    """All pages stood still for 1.8 s when a round robin of 1,200 began."""
    count, seen = 4 * PIECE, set[int]()
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, _):
        await stage.host.open("league", CUP)
        await mirror.catch_up()
        drawn = mirror.tournaments["league"].record.drawn
        pairings = tuple([Pairing(number, 1, "ada", "bob") for number in range(1, count + 1)])

        async def look() -> None:
            while len(drawn) < count:
                await trio.lowlevel.checkpoint()
                seen.add(len(drawn))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            await stage.host.store.keep("league", 0.0, [Drew(pairings)])
            await mirror.catch_up()
    assert seen & {PIECE, 2 * PIECE, 3 * PIECE}


async def test_messages_are_heard_whole_wherever_they_are_cut() -> None:
    told: list[list[Any]] = [[Look(1), Alive("?")], [], [Watched(("cup-1", "cup-2"))]]
    written = b"".join(framed(msgspec.msgpack.encode(messages)) for messages in told)
    for cut in range(len(written)):
        ours, theirs = trio.testing.memory_stream_one_way_pair()
        heard: list[Any] = []
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hear, theirs, Answer, heard.append)
            for piece in (written[:cut], written[cut:]):
                await ours.send_all(piece)
                await trio.testing.wait_all_tasks_blocked()
            await ours.aclose()
        assert heard == [message for messages in told for message in messages], cut


@pytest.mark.parametrize(
    "unknown", [b"\xc1", msgspec.msgpack.encode([{"type": "of-tomorrow"}]), msgspec.msgpack.encode(Look(1))]
)
async def test_after_a_message_of_another_version_nothing_more_is_heard(unknown: bytes) -> None:
    """Catches a host that ended, and all its matches with it, when its package had been replaced under it."""
    ours, theirs = trio.testing.memory_stream_one_way_pair()
    heard: list[Any] = []
    for content in (msgspec.msgpack.encode([Look(1)]), unknown, msgspec.msgpack.encode([Look(2)])):
        await ours.send_all(framed(content))
    with capture_logs() as logs:
        await hear(theirs, Answer, heard.append)
    assert heard == [Look(1)]
    assert [each["event"] for each in logs] == ["a message of the other process cannot be read"]
