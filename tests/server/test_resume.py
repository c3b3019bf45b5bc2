"""What a host still knows when it starts again, and what it does while nothing can be kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from games.game import Illegal
from server.host.host import Host
from server.host.unwelcome import Unwelcome
from server.host.visits import Visit
from server.store.ledger import RETRY, Ledger
from server.store.sqlite import Sqlite
from tests.crashes.world import at_once
from tests.server.store.faults import Faulty
from tests.tournament.world import first, kept_matches, play, silent
from tournament import record
from tournament.causes import Refused
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import Concluded, Opened, Ordered, State, Turned
from tournament.format import Terms
from tournament.player import Seat
from tournament.refusals import Refusal
from tournament.remembered import Abridged
from tournament.settling import CUT_SHORT
from tournament.timekeeper import Timekeeper

GAME = "tic-tac-toe"
TOKEN = "a token of sixteen characters"


class House:
    """A host on a journal on disk, as often as one likes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "quintain.sqlite"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Host]:
        self.engine = Faulty(Sqlite(self.path))
        host = Host(store=Ledger(self.engine, at_once), timekeeper=Timekeeper(inf), wall=trio.current_time)
        try:
            async with trio.open_nursery() as self.nursery:
                await self.nursery.start(host.run)
                yield host
                self.nursery.cancel_scope.cancel()
        finally:
            self.engine.engine.close()

    async def come(self, host: Host, name: str, behave: Any = first, **how: Any) -> Visit:
        visit = await host.arrive(name, GAME, **how)
        visit.acknowledge()
        self.nursery.start_soon(play, visit.player, behave)
        return visit


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


# Going on


async def test_a_match_that_was_cut_short_shows_what_was_played_of_it(
    house: House, autojump_clock: MockClock
) -> None:
    async with house.open() as host:
        await host.open("cup", Opened(GAME, "round-robin", 2))
        for name in ("ann", "bob"):
            await house.come(host, name, keeps=False)
        await trio.sleep(3.5)
        moves = list(host.tournaments["cup"].matches["cup-1"].moves)
        assert len(moves) == 3
    async with house.open() as host:
        for name in ("ann", "bob"):
            await house.come(host, name, keeps=False)
        cup = host.tournaments["cup"]
        await cup.finished()
        void, won = await kept_matches(cup)
        assert (void.match, void.ending, void.why, void.score) == ("cup-1", Ending.VOID, CUT_SHORT, None)
        assert [*void.moves] == moves
        assert void.times == pytest.approx((1.0, 1.0, 1.0))
        assert (won.match, won.players, won.ending) == ("cup-1.2", void.players, Ending.PLAYED)
        assert host.store.jotted() == {}


async def test_a_match_goes_on_however_often_its_host_is_started_again(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches moves that are written once more, or no more, after a restart."""
    moves: list[Any] = []
    for plies in (2, 4, 6):
        async with house.open() as host:
            if not host.tournaments:
                await host.open("cup", Opened(GAME, "round-robin", 2))
            for name in ("ann", "bob"):
                await house.come(host, name, token=f"{TOKEN} of {name}", resumes=True)
            await trio.sleep(2.5)
            match = host.tournaments["cup"].matches["cup-1"]
            assert len(match.moves) == plies
            assert match.times == pytest.approx([1.0] * plies)
            moves = [*match.moves]
    async with house.open() as host:
        await trio.sleep(1.0)
        match = host.tournaments["cup"].matches["cup-1"]
        assert match.moves == moves


async def test_the_record_of_a_match_that_went_on_says_all_that_was_said_in_it(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches notes, thinking times and refusals that only one life of the host knows of."""

    async def wordy(seat: Seat) -> None:
        async for _ in seat.match.log.read(len(seat.match.log.events) - 1):
            if seat.to_move:
                await trio.sleep(1.0)
                seat.play(seat.match.ply % 2, spent=0.5, note=f"in life {life}")

    for life in range(4):
        async with house.open() as host:
            if not host.tournaments:
                await host.open("cup", Opened("connect-4", "round-robin", 2))
            for name in ("ann", "bob"):
                visit = await host.arrive(name, "connect-4", token=f"{TOKEN} of {name}", resumes=True)
                visit.acknowledge()
                house.nursery.start_soon(play, visit.player, wordy)
            await trio.sleep(0.5)
            cup = host.tournaments["cup"]
            (match,) = cup.matches.values()
            with pytest.raises(Illegal):
                match.play(match.position.turn, 9, trio.current_time())
            await trio.sleep(2.0)
            (over,) = await kept_matches(cup) if life == 3 else [None]
    assert over is not None
    assert [noted.note for noted in over.notes] == [f"in life {ply // 2}" for ply in range(7)]
    assert over.thought == (2.0, 1.5)
    assert [(type(each), each.ply) for each in over.cause] == [(Refused, ply) for ply in (0, 2, 4, 6)]
    assert sorted(each.at for each in over.cause) == [each.at for each in over.cause]


async def test_that_a_host_hangs_up_as_it_stops_is_no_cause_of_how_a_match_ends(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches a record that says of both bots that they were disconnected."""
    for life in range(3):
        async with house.open() as host:
            if not host.tournaments:
                await host.open("cup", Opened("connect-4", "round-robin", 2))
            visits = [
                await host.arrive(name, "connect-4", token=f"{TOKEN} of {name}", resumes=True)
                for name in ("ann", "bob")
            ]
            for visit in visits:
                visit.acknowledge()
            await trio.sleep(1.0)
            (match,) = host.tournaments["cup"].matches.values()
            assert (match.interrupted, match.cause) == (life > 0, ())
            match.play(match.position.turn, 3, trio.current_time(), note="so it is")
            await host.stop()
            for visit in visits:
                visit.leave()
            assert len(match.notes) == life + 1


@pytest.mark.parametrize("plies", [1, 4])
async def test_the_first_match_of_bots_that_have_just_got_their_tokens_goes_on(
    plies: int, house: House, autojump_clock: MockClock
) -> None:
    """It is dealt before their tokens are known to have arrived. Whoever has moved keeps its name."""
    async with house.open() as host:
        visits = [await host.arrive(name, GAME, resumes=True) for name in ("ann", "bob")]
        await trio.sleep(0.1)
        (match,) = host.tournaments[f"open-{GAME}"].matches.values()
        for visit in visits:
            visit.acknowledge()
            house.nursery.start_soon(play, visit.player, first)
        await trio.sleep(plies + 0.5)
        assert len(match.moves) == plies
    async with house.open() as host:
        (match,) = host.tournaments[f"open-{GAME}"].matches.values()
        assert len(match.moves) == plies
        with pytest.raises(Unwelcome, match="taken"):
            await host.arrive(match.names[0], GAME)
        tokens = {visit.player.name: visit.token for visit in visits}
        for name in match.names:
            await house.come(host, name, token=tokens[name], resumes=True)
        await trio.sleep(30.0)
        over = host.tournaments[f"open-{GAME}"].record.matches[match.name]
        assert over.ending is Ending.PLAYED


async def test_after_a_restart_a_name_is_for_whoever_comes_if_its_token_was_not_seen_to_arrive(
    house: House, autojump_clock: MockClock
) -> None:
    async with house.open() as host:
        for name in ("ann", "bob"):
            await host.arrive(name, GAME, resumes=True)
        await trio.sleep(0.1)
        assert host.tournaments[f"open-{GAME}"].matches
    async with house.open() as host:
        for name in ("ann", "bob"):
            await house.come(host, name)
        await trio.sleep(30.0)
        endings = [each.ending for each in host.tournaments[f"open-{GAME}"].record.matches.values()]
        assert Ending.PLAYED in endings
        assert set(endings) <= {Ending.PLAYED, Ending.VOID}


async def test_a_cut_short_match_keeps_the_options_that_were_its_own(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches a record whose moves do not follow from the rules that it names."""
    async with house.open() as host:
        table = await host.table("hexagon-dots")
        players = [(await host.arrive(name, "hexagon-dots", ready=False)).player for name in ("ann", "bob")]
        table.challenge(players[0], players[1], {"rows": 3, "cols": 5})
        await trio.sleep(1.0)
        assert len(table.matches) == 1
    async with house.open() as host:
        await trio.sleep(1.0)
        (void,) = host.tournaments["open-hexagon-dots"].record.matches.values()
        assert void.options == {"rows": 3, "cols": 5}


async def test_a_name_stays_its_owners_over_a_restart(house: House, autojump_clock: MockClock) -> None:
    async with house.open() as host:
        await host.open("cup", Opened(GAME, "round-robin", 2))
        ann = await house.come(host, "ann", token=TOKEN)
        await trio.sleep(1.0)
        assert host.tournaments["cup"].record.claims == {"ann": sha256(TOKEN.encode()).hexdigest()}
        assert ann.token == TOKEN
    async with house.open() as host:
        for token in (None, "another token of some length"):
            with pytest.raises(Unwelcome, match="the name ann is taken"):
                await host.arrive("ann", GAME, token=token)
        back = await house.come(host, "ann", token=TOKEN)
        assert (back.player.place, back.returned) == ("cup", True)
        await house.come(host, "bob", keeps=False)
        await host.tournaments["cup"].finished()
        assert [row.points for row in host.tournaments["cup"].record.standings()] == [1.0, 0.0]
    async with house.open() as host:
        await host.arrive("ann", GAME)  # nobody counts on her any more: whoever comes may have the name


async def test_a_token_that_was_never_seen_to_arrive_claims_nothing(
    house: House, autojump_clock: MockClock
) -> None:
    async with house.open() as host:
        await host.open("cup", Opened(GAME, "round-robin", 2))
        await host.arrive("ann", GAME)
        await trio.sleep(1.0)
    async with house.open() as host:
        assert (await host.arrive("ann", GAME)).player.place == "cup"


@pytest.mark.slow
async def test_open_tables_and_ladders_go_on(house: House, autojump_clock: MockClock) -> None:
    async with house.open() as host:
        await host.open("climb", Opened(GAME, "ladder"))
        await Desk(host.tournaments["climb"]).start()
        for name in ("ann", "bob"):
            await house.come(host, name, tournament="climb")
        for name in ("cas", "dee"):
            await house.come(host, name, tournament=None)
        await trio.sleep(60.0)
        before = {name: list(each.record.matches) for name, each in host.tournaments.items()}
    async with house.open() as host:
        for name in ("ann", "bob"):
            await house.come(host, name, tournament="climb")
        for name in ("cas", "dee"):
            await house.come(host, name)
        await trio.sleep(60.0)
        for name, matches in before.items():
            now = list(host.tournaments[name].record.matches)
            assert now[: len(matches)] == matches
            assert len(now) > len(matches) + 2


async def test_what_organisers_did_is_known_for_ever(house: House, autojump_clock: MockClock) -> None:
    async with house.open() as host:
        await host.open("cup", Opened(GAME, "round-robin", 3), by="eve")
        for name in ("ann", "bob", "cas"):
            await house.come(host, name, silent)
        await trio.sleep(1.0)
        desk = Desk(host.tournaments["cup"], by="eve")
        await desk.pause()
        await desk.resume()
        await desk.void("cup-1", "a cable")
        await desk.disqualify("cas", "two bots in one")
        audit = [entry.fact for entry in host.audit]
    assert audit == [
        Ordered("eve", "open", "cup"),
        Ordered("eve", "pause"),
        Ordered("eve", "resume"),
        Ordered("eve", "void", "cup-1: a cable"),
        Ordered("eve", "disqualify", "cas: two bots in one"),
    ]
    async with house.open() as host:
        assert [entry.fact for entry in host.audit] == audit


@pytest.mark.slow
async def test_moves_of_old_matches_are_in_the_store_only(
    house: House, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "LATEST", 3)
    for again in range(2):
        async with house.open() as host:
            for name in ("ann", "bob"):
                await house.come(host, name, keeps=False)
            await trio.sleep(70.0)
            table = host.tournaments["open-tic-tac-toe"]
            matches = table.record.matches
            old = [match for match in matches.values() if isinstance(match, Abridged)]
            assert len(old) == len(matches) - 3 > 3 * (again + 1)
            assert all(match.moves == () and match.plies >= 5 for match in old if match.score)
            whole = await table.concluded(old[0].match)
            assert type(whole) is Concluded
            assert len(whole.moves) == len(whole.times) == old[0].plies
            assert (whole.winner, whole.why, whole.players) == (old[0].winner, old[0].why, old[0].players)


# While nothing can be kept


async def test_while_nothing_can_be_kept_all_stands_still_and_then_goes_on(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches a bot that loses on time, or a match that begins, while the disk is full."""
    with capture_logs():
        async with house.open() as host:
            await host.open("cup", Opened(GAME, "round-robin", 2))
            await host.open("league", Opened(GAME, "round-robin", 2))
            for name in ("ann", "bob"):
                await house.come(host, name, silent, tournament="cup")
            await house.come(host, "cas", tournament="league")
            await trio.sleep(2.0)
            match = host.tournaments["cup"].matches["cup-1"]
            left = match.left(trio.current_time())
            house.engine.first, house.engine.times = len(house.engine.batches), 100
            house.nursery.start_soon(house.come, host, "dee")
            await trio.sleep(90 * RETRY)
            assert host.store.trouble == "the disk is full"
            assert match.verdict is None
            assert match.left(trio.current_time()) == left
            assert not host.tournaments["league"].matches
            await trio.sleep(20 * RETRY)
            assert host.store.trouble == ""
            assert match.verdict is not None
            assert match.verdict.ending is Ending.TIME
            assert host.tournaments["league"].record.state is State.FINISHED


@pytest.mark.parametrize("drains_first", [True, False], ids=["trouble comes", "trouble is there"])
async def test_a_host_in_trouble_does_not_wait_for_what_it_cannot_keep(
    drains_first: bool, house: House, autojump_clock: MockClock
) -> None:
    """Catches a host that is asked to stop and waits for matches whose ends it can never tell of."""
    drained: list[float] = []

    async def drain() -> None:
        await host.drain()
        drained.append(trio.current_time())

    with capture_logs():
        async with house.open() as host:
            await host.open("cup", Opened(GAME, "round-robin", 2))
            for name in ("ann", "bob"):
                await house.come(host, name, silent)
            await trio.sleep(1.0)
            acts = [drain, Desk(host.tournaments["cup"]).pause]
            house.engine.first, house.engine.times = len(house.engine.batches), 10**6
            for act in acts if drains_first else reversed(acts):
                assert not drained, "it waits while all can be kept"
                house.nursery.start_soon(act)
                await trio.sleep(1.0)
            assert host.store.trouble
            assert host.draining
            assert host.tournaments["cup"].matches, "nobody has moved"
            assert drained == [2.0], "at once, when there is trouble and the host is to stop"


# Stopping


class Leaves:
    """A connection whose bot leaves when the host stops."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit

    def say_goodbye(self) -> None:
        self.visit.leave()


async def test_what_bots_do_when_the_host_says_goodbye_costs_them_nothing(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches a match that is lost by a connection which the host itself has closed."""
    async with house.open() as host:
        await host.open("cup", Opened(GAME, "round-robin", 2))
        visits = [await house.come(host, name, silent, keeps=False) for name in ("ann", "bob")]
        await trio.sleep(1.0)
        for visit in visits:
            host.on_stop.add(Leaves(visit))
        with trio.move_on_after(5.0):
            await host.drain()
        await host.stop()
        await trio.sleep(1.0)
    async with house.open() as host:
        await trio.sleep(1.0)
        (void,) = host.tournaments["cup"].record.matches.values()
        assert (void.ending, void.why) == (Ending.VOID, CUT_SHORT)


async def test_two_who_open_a_tournament_of_one_name_do_not_both(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches a second tournament under a name that is just being kept."""
    refused: list[str] = []

    async def open_cup(rounds: int) -> None:
        try:
            await host.open("cup", Opened(GAME, "swiss", 4, Terms(rounds)))
        except Refusal as refusal:
            refused.append(str(refusal))

    async with house.open() as host:
        async with trio.open_nursery() as nursery:
            for rounds in (3, 3, 4):
                nursery.start_soon(open_cup, rounds)
        assert refused == ["there is a tournament cup already"] * 2
        assert list(host.tournaments) == ["cup"]


async def test_two_who_need_an_open_table_at_once_open_it_once(
    house: House, autojump_clock: MockClock
) -> None:
    """Catches a journal that says twice that a table is open, which no journal of one host can."""
    async with house.open() as host:
        async with trio.open_nursery() as nursery:
            for name in ("ann", "bob"):
                nursery.start_soon(host.arrive, name, GAME)
        facts = [entry.fact for entry in host.store.kept() if isinstance(entry.fact, Turned)]
    assert facts == [Turned(State.RUNNING)]


async def test_a_match_that_is_voided_after_the_end_is_played_again(
    house: House, autojump_clock: MockClock
) -> None:
    async with house.open() as host:
        await host.open("cup", Opened(GAME, "round-robin", 2))
        for name in ("ann", "bob"):
            await house.come(host, name)
        cup = host.tournaments["cup"]
        await cup.finished()
        await Desk(cup).void("cup-1", "a cable")
        await cup.finished()
        assert list(cup.record.matches) == ["cup-1", "cup-1.2"]
        assert cup.record.matches["cup-1.2"].ending is Ending.PLAYED
