"""What worker 0 tells all workers, and where it sends bots and requests: the test is their processes."""

import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
from msgspec import Struct

from games.catalogue import BadCatalogue
from server.host.abroad import Wanted
from server.host.claims import Replaced
from server.host.host import Host
from server.host.secrets import token_digest
from server.host.visits import REPLACED, Present
from server.http.exchange import Exchange
from server.http.wire import Request
from server.net.admission import Admission
from server.net.limits import Limits
from server.show.feed import Teller
from server.show.lending import Lending
from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from server.store.sqlite_reader import SqliteReader
from server.workers.__main__ import _loaded, _record
from server.workers.directory import OWN
from server.workers.messages import (
    Alone,
    GiveWay,
    Hold,
    Keep,
    Kept,
    Key,
    KeyGone,
    Listen,
    Listened,
    Meet,
    Moved,
    NeedTable,
    Ready,
    Status,
    StoodStill,
    TableHeld,
    TokenReplaced,
    ToldEnd,
    Trouble,
)
from server.workers.requests import Belonging, Reading
from server.workers.spread import Spread
from server.workers.workers import Workers, facts_of
from tests.crashes.world import at_once
from tests.hang import HANG
from tests.server.workers.linked import Process, linked
from tests.server.workers.records import record
from tournament.desk import Desk
from tournament.entries import entry
from tournament.facts import AnyFact, Chose, Opened, Ordered, Sealed, State, Turned

GAME, OTHER = "connect-4", "santorini"
LIMITS = Limits()

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there hosts have several workers")
TOKEN = "ann-keeps-this-secret"


class Beside:
    """Worker 0, and two workers whose processes are the test."""

    def __init__(self, ledger: Ledger, stack: ExitStack, show: Lending | None) -> None:
        self._stack = stack
        self.host = Host(LIMITS, ledger)
        spread = Spread(self.host, Teller(self.host, lambda: 0), 1)
        self.workers = Workers(3, self.host, ledger, LIMITS, Admission(LIMITS), show, Reading(), spread)
        self.processes: dict[int, Process] = {
            number: stack.enter_context(linked(worker)) for number, worker in self.workers._workers.items()
        }

    async def open(self, name: str, game: str = GAME) -> int:
        """Open a tournament; returns the number of the worker that holds it."""
        await self.host.found(name, Opened(game, "round-robin", entrants=4))
        return self.workers._directory.worker(name)

    async def open_table(self) -> int:
        """Open the table of the game as for a bot; returns the number of the worker that holds it."""
        number = self.workers._directory.table(GAME)
        self.processes[number].say(NeedTable(GAME))
        self.workers._hear_now()
        await self.until(number, TableHeld)
        return number

    def holder(self, wanted: Wanted) -> int:
        found = self.workers.holder(wanted)
        return next((number for number, worker in self.workers._workers.items() if worker is found), OWN)

    def heard(self, number: int, kind: type) -> list[Any]:
        """What a worker was told of one kind; all else that it has been told is forgotten."""
        return [each for each in self.processes[number].heard() if isinstance(each, kind)]

    def start_again(self, number: int) -> None:
        """The process of a worker has ended, and another one runs, which is not ready yet."""
        worker = self.workers._workers[number]
        worker._end_all()
        self.processes[number] = self._stack.enter_context(linked(worker))

    async def until(self, number: int, kind: type) -> list[Struct]:
        """All that a worker is told up to a message of that kind, which comes soon."""
        said = self.processes[number].heard()
        while not any(isinstance(each, kind) for each in said):
            await trio.lowlevel.checkpoint()
            said += self.processes[number].heard()
        return said

    @asynccontextmanager
    async def keeping(self, number: int) -> AsyncIterator[Process]:
        """Keep what a worker asks for, as while its process runs."""
        worker = self.workers._workers[number]
        keeper = worker._keeper = worker._clerk(worker.say)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(keeper.run)
            yield self.processes[number]
            keeper.close()


@asynccontextmanager
async def beside(folder: Path, show: Lending | None = None) -> AsyncIterator[Beside]:
    """`show` is the way to the process for pages."""
    with closing(Sqlite(folder / "quintain.sqlite")) as engine, ExitStack() as stack, trio.fail_after(HANG):
        ledger = Ledger(engine, at_once)
        found = Beside(ledger, stack, show)
        async with trio.open_nursery() as nursery:
            await nursery.start(found.host.run)
            found.workers._nursery = nursery
            yield found
            nursery.cancel_scope.cancel()


SEALED = Sealed("a digest")


@pytest.mark.parametrize(
    "facts",
    [(), (SEALED,), (SEALED, Chose(7, "a salt")), (Turned(State.RUNNING),), (SEALED, Turned(State.RUNNING))],
)
def test_a_worker_holds_a_tournament_as_it_was_opened(facts: tuple[AnyFact, ...]) -> None:
    opened = record("cup", *facts)
    held = _record(Hold("cup", opened.kept_as, facts_of(opened), ()))
    for what in ("name", "kept_as", "opened", "sealed", "chose", "state"):
        assert getattr(held, what) == getattr(opened, what), what


async def test_each_tournament_is_held_by_one_worker_and_its_bots_go_there(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        held = {name: await here.open(name) for name in ("one", "two", "three")}
        assert sorted(held.values()) == [0, 1, 2]
        for number in (1, 2):
            holds = here.heard(number, Hold)
            assert [each.name for each in holds] == [name for name, by in held.items() if by == number]
        for name, number in held.items():
            assert (name in here.host.tournaments) == (number == OWN)
            assert here.holder(Wanted("ann", GAME, name, TOKEN)) == number
            here.workers._directory.moved(number, (GAME, "ann"), None)  # it was refused


@pytest.mark.parametrize("game", [GAME, "hexagon-dots"])
async def test_a_host_does_not_start_with_a_tournament_that_a_worker_cannot_go_on_with(
    tmp_path: Path, game: str
) -> None:
    """Catches a worker that is started again and again for it, while all its other bots wait at the door."""
    opened = Opened(game, "round-robin", options={"rows": 4})
    with closing(Sqlite(tmp_path / "quintain.sqlite")) as engine:
        engine.write([entry(1, "cup", 1.0, opened), entry(2, "cup", 1.0, Turned(State.RUNNING))])
    told = pytest.RaisesExc(BadCatalogue, match="cup cannot go on: .*rows")
    with pytest.RaisesGroup(told, flatten_subgroups=True):
        async with beside(tmp_path):
            pass


async def test_a_bot_is_led_by_what_workers_have_said_and_worker_0_has_not_heard(tmp_path: Path) -> None:
    """Catches a bot that is refused because of a place that it has left, or is in two places."""
    async with beside(tmp_path) as here:
        held = {await here.open(name): name for name in ("one", "two", "three")}
        place = Present(held[1], token_digest(TOKEN).hex(), shared=False)
        elsewhere = Wanted("ann", GAME, held[2], TOKEN)
        here.workers._directory.moved(1, (GAME, "ann"), place)
        assert here.holder(elsewhere) == 1, "which says that it may not leave"
        here.processes[1].say(Moved((GAME, "ann"), None))
        assert here.holder(elsewhere) == 2


async def test_a_bot_that_takes_over_from_itself_gives_way_where_it_was(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        table = here.workers._directory.table(GAME)
        held = {await here.open(name): name for name in ("one", "two", "three")}
        place = Present(f"open-{GAME}", token_digest(TOKEN).hex(), shared=False)
        here.workers._directory.moved(table, (GAME, "ann"), place)
        other = next(number for number in (1, 2) if number != table)
        assert here.holder(Wanted("ann", GAME, held[other], "a stranger's")) == table
        assert not any(here.heard(number, GiveWay) for number in (1, 2))
        assert here.holder(Wanted("ann", GAME, held[other], TOKEN)) == other
        assert here.heard(table, GiveWay) == [GiveWay((GAME, "ann"))]
        assert here.heard(other, GiveWay) == []


async def test_a_bot_gives_way_in_worker_0_as_in_any_other(tmp_path: Path) -> None:
    """Catches one name in two places, of which one is with the process that leads bots to theirs."""
    async with beside(tmp_path) as here:
        held = {await here.open(name): name for name in ("one", "two", "three")}
        visit = here.host.reception.arrive("ann", GAME, token=TOKEN)
        told: list[str] = []
        visit.replaced = told.append
        visit.player.move_to(f"open-{GAME}")
        here.host.reception.moved(visit.key)
        assert here.holder(Wanted("ann", GAME, held[1], "a stranger's")) == OWN, "which refuses it"
        assert told == []
        assert here.holder(Wanted("ann", GAME, held[1], TOKEN)) == 1
        assert told == [REPLACED]


async def test_a_request_goes_to_whoever_made_its_secret_also_if_that_has_not_been_heard_yet(
    tmp_path: Path,
) -> None:
    async with beside(tmp_path) as here:
        whose = here.workers._whose
        reading = Reading()

        def asked(secret: str) -> int:
            request = Request("GET", f"/play/{secret}", {}, {}, b"", "", 0.0, secure=False)
            found = reading.asked(request)
            assert found is not None
            return whose(found)

        assert asked("nobody's") == OWN
        for number in (1, 2):
            here.processes[number].say(Key(f"made by {number}"))
        assert [asked("made by 1"), asked("made by 2"), asked("nobody's")] == [1, 2, OWN]
        here.host.on_key("made by 1")
        assert asked("made by 1") == OWN, "its bot has moved here"
        for number in (1, 2):
            here.processes[number].say(KeyGone("made by 2"))
            here.workers._hear_now()
            assert asked("made by 2") == (2 if number == 1 else OWN), "only whoever has it can give it up"


async def test_a_model_that_has_just_joined_elsewhere_is_led_there(tmp_path: Path) -> None:
    """Catches a session that leads to where its model had joined before, if that is heard too late."""
    async with beside(tmp_path) as here:
        joins = Belonging(wanted=Wanted("ann", GAME, None), needs=("session",))
        plays = Belonging(keys=("session",), moves=True)
        for number in (1, 2, 1):
            here.workers._whose(joins)
            here.processes[number].say(Key("session"))
            assert here.workers._whose(plays) == number
        for number in (2, 1):
            here.workers._whose(joins)
            here.processes[number].say(Key("session"))
        assert here.workers._whose(plays) == 1


async def test_a_request_goes_to_whoever_holds_what_its_path_names(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        held = {name: await here.open(name) for name in ("one", "two", "three")}
        answered: list[str] = []

        def answer(exchange: Exchange) -> None:
            answered.append(exchange.request.path)

        app = here.workers.beside(answer)
        for number, worker in here.workers._workers.items():
            worker.lending.answer = lambda exchange, number=number: answered.append(f"worker {number}")
        table = here.workers._directory.table(GAME)
        paths = {f"/api/tournaments/{name}": number for name, number in held.items()}
        paths |= {f"/api/tournaments/open-{GAME}/pause": table, "/api/tournaments": OWN}
        for path, number in paths.items():
            answered.clear()
            request = Request("POST", path, {}, {}, b"", "", 0.0, secure=False)
            app(cast("Exchange", SimpleNamespace(request=request)))
            assert answered == [path if number == OWN else f"worker {number}"]


async def test_what_happens_in_worker_0_itself_is_in_the_directory_as_well(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        held = {await here.open(name): name for name in ("one", "two", "three")}
        directory, own = here.workers._directory, held[OWN]
        await Desk(here.host.tournaments[own]).invite("ann", lambda: token_digest(TOKEN).hex())
        assert [each.name for each in directory.entered("ann", GAME)] == [own]
        assert directory.expects("ann", GAME)
        await here.host.delete(here.host.tournaments[own], "organiser")
        assert [*directory.of(OWN)] == []
        assert await here.open(own) == OWN, "it has nothing else to do"


async def test_a_table_that_a_bot_needs_is_opened_once_and_whoever_needs_it_learns_of_that(
    tmp_path: Path,
) -> None:
    async with beside(tmp_path) as here:
        number = here.workers._directory.table(GAME)
        assert number != OWN
        other = 3 - number
        for asks, opens in ((other, False), (number, True), (number, False), (other, False)):
            here.processes[asks].say(NeedTable(GAME))
            here.workers._hear_now()
            said = await here.until(asks, TableHeld)
            holds = [each for each in said if isinstance(each, Hold)]
            assert [each.name for each in holds] == [f"open-{GAME}"] * opens
            assert here.heard(3 - asks, Hold) == []
        assert here.holder(Wanted("ann", GAME, None, TOKEN)) == number


async def test_what_an_organiser_did_in_any_worker_is_in_the_audit(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        held = {await here.open(name): name for name in ("one", "two", "three")}
        ordered = Ordered("organiser", "pause", "")
        async with here.keeping(1) as process:
            process.say(Keep(7, held[1], 1.0, (Turned(State.RUNNING), ordered)))
            here.workers._hear_now()
            await here.until(1, Kept)
        assert [(each.tournament, each.fact) for each in here.host.audit] == [(held[1], ordered)]
        assert here.workers.held[held[1]].record.state is State.RUNNING


async def test_a_worker_knows_what_was_ordered_of_its_tournaments_and_so_does_one_in_its_place(
    tmp_path: Path,
) -> None:
    """Catches the page of a tournament that says nothing of the orders from before its worker began."""
    async with beside(tmp_path) as here:
        for name in ("one", "two", "three"):
            await here.host.found(name, Opened(GAME, "round-robin"), f"whoever wants {name}")
        for number in (1, 2):
            (hold,) = here.heard(number, Hold)
            assert [each.fact for each in hold.orders] == [
                Ordered(f"whoever wants {hold.name}", "open", hold.name)
            ]
            with closing(SqliteReader(tmp_path / "quintain.sqlite")) as reader:
                records, orders = _loaded(reader, tmp_path, (hold.kept_as,))
            assert [*records] == [hold.name]
            assert [(each.tournament, each.fact) for each in orders] == [
                (each.tournament, each.fact) for each in hold.orders
            ]


async def test_a_worker_is_told_whenever_the_games_change_that_it_alone_holds(tmp_path: Path) -> None:
    """Catches a worker that lets a bot in without asking, which has a place with another."""
    async with beside(tmp_path) as here:
        number = here.workers._directory.table(GAME)
        here.processes[number].say(NeedTable(GAME))
        here.workers._hear_now()
        said = await here.until(number, TableHeld)
        assert [each for each in said if isinstance(each, Alone)] == [Alone(frozenset([GAME]))]
        assert await here.open("cup") != number
        assert here.heard(number, Alone) == [Alone(frozenset())]
        await here.open("another", OTHER)
        assert here.heard(number, Alone) == [], "that is nothing new"


async def test_a_process_that_is_started_again_meets_the_others_and_hears_who_has_heard_of_ends(
    tmp_path: Path,
) -> None:
    async with beside(tmp_path) as here:
        held = {await here.open(name): name for name in ("one", "two", "three")}
        for number in (1, 2):
            here.processes[number].say(Ready())
            here.workers._hear_now()
        assert here.heard(1, Meet) == [Meet(OWN), Meet(2)]
        assert here.heard(2, Meet) == [Meet(OWN), Meet(1)]
        here.host.untold.note(held[1], "ann")
        here.host.untold.note(held[2], "bob")
        here.host.untold.note(held[OWN], "dee")
        here.processes[1].say(Ready())
        here.workers._hear_now()
        assert here.heard(1, ToldEnd) == [ToldEnd(held[1], "ann")]
        assert here.heard(2, ToldEnd) == []
        here.host.untold.on_told(held[2], "cas")
        assert (here.heard(1, ToldEnd), here.heard(2, ToldEnd)) == ([], [ToldEnd(held[2], "cas")])


async def test_a_token_that_is_replaced_while_a_worker_has_no_process_is_of_no_use_in_its_next_one(
    tmp_path: Path,
) -> None:
    """Whoever had stolen it would play on in the tournaments with which that one goes on."""
    async with beside(tmp_path) as here:
        here.processes[2].say(Ready())
        here.workers._hear_now()
        replaced = [Replaced("ann", GAME, before, after) for before, after in (("a", "b"), ("b", "c"))]
        here.host.claims.replaced(replaced[0])
        here.workers._workers[1]._end_all()
        here.host.claims.replaced(replaced[1])
        here.start_again(1)
        here.processes[1].say(Ready())
        here.workers._hear_now()
        for number in (1, 2):
            assert here.heard(number, TokenReplaced) == [TokenReplaced(each) for each in replaced]


async def test_a_worker_that_asks_is_told_that_requests_were_passed_on_and_before_that_of_a_standstill(
    tmp_path: Path,
) -> None:
    async with beside(tmp_path) as here:
        here.processes[1].say(Listen())
        here.workers._hear_now()
        here.host.timekeeper.wake = trio.current_time() - 1.0
        *before, last = await here.until(1, Listened)
        assert last == Listened()
        for said in (before, here.heard(2, StoodStill)):
            assert any(isinstance(each, StoodStill) and each.seconds > 0.5 for each in said)


async def test_a_tournament_that_goes_on_after_its_end_has_another_end_of_which_nobody_has_heard(
    tmp_path: Path,
) -> None:
    """Catches a bot that waits at the open table, because it had been told of the end before."""
    async with beside(tmp_path) as here:
        held = {await here.open(name): name for name in ("one", "two", "three")}
        for name in held.values():
            here.host.untold.note(name, "ann")
        everywhere = {(name, "ann") for name in held.values()}
        for state in (State.RUNNING, State.FINISHED):
            await here.workers._hear(held[1], [Turned(state)])
            assert {*here.host.untold.heard()} == everywhere, "it may hear of it before this process does"
        await here.workers._hear(held[1], [Turned(State.RUNNING)])
        assert {*here.host.untold.heard()} == everywhere - {(held[1], "ann")}


async def test_it_is_said_which_workers_are_starting_and_moves_of_all_are_counted(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        workers = here.workers
        assert workers.not_ready() == "workers 1 and 2 are starting"
        for number, moves in ((1, 3), (2, 4)):
            here.processes[number].say(Ready())
            here.processes[number].say(Status(moves, ()))
        workers._hear_now()
        assert (workers.not_ready(), workers.moves) == ("", 7)
        workers._workers[1]._end_all()
        assert (workers.not_ready(), workers.moves) == ("worker 1 is starting", 7)


async def test_all_workers_hear_that_nothing_can_be_kept(tmp_path: Path) -> None:
    async with beside(tmp_path) as here:
        for trouble in ("the disk is full", ""):
            here.workers._ledger._set_trouble(trouble)
            for number in (1, 2):
                assert here.heard(number, Trouble) == [Trouble(trouble)]
