"""How worker 0 starts all workers, tells them what concerns each, drains and stops them: the test is their
processes.
"""

from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit, setrlimit
from typing import Any, cast

import pytest
import trio
import trio.testing

from server.host.abroad import Wanted
from server.host.secrets import token_digest
from server.pages.desk.sessions import Session, Sessions
from server.show.conduit import Conduit, Feed, ToShow
from server.show.lending import Lending
from server.workers.directory import OWN
from server.workers.messages import (
    Alive,
    Alone,
    Begin,
    Counted,
    Drain,
    Drained,
    Figures,
    Keep,
    Kept,
    Meet,
    Ready,
    Sitting,
    Status,
    Stop,
    Stopped,
    Tell,
    ToldEnd,
)
from server.workers.requests import Belonging
from server.workers.starting import conduit_pair
from tests.server.workers.linked import Process, only_on_linux
from tests.server.workers.test_worker_0 import GAME, LIMITS, OTHER, TOKEN, Beside, beside
from tournament.facts import Claimed, Disqualified, Entered, State, Turned

pytestmark = only_on_linux

SESSION = Session(1.0, "a form's token")


def all_ready(here: Beside) -> None:
    for process in here.processes.values():
        process.say(Ready())
    here.workers._hear_now()


@pytest.mark.parametrize("sessions", [None, Sessions()], ids=["no desk", "a desk"])
async def test_every_worker_begins_with_what_the_others_have_heard_and_the_host_once_all_are_ready(
    tmp_path: Path, sessions: Sessions | None
) -> None:
    """Catches a bot that comes to a host that is ready, and waits at the door of a worker that is not."""
    async with beside(tmp_path) as here, trio.open_nursery() as nursery:
        table = await here.open_table()
        assert await here.open("cup", OTHER) == 3 - table
        here.workers._ledger._set_trouble("the disk is full")
        if sessions is not None:
            sessions.take(b"earlier", SESSION)
        begun, ready = dict[int, Begin](), {number: trio.Event() for number in here.processes}

        async def run(
            number: int,
            begin: Callable[[], Begin],
            task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
        ) -> None:
            begun[number] = begin()
            await ready[number].wait()
            task_status.started()

        for number, worker in here.workers._workers.items():
            worker.run = partial(run, number)
        started = trio.Event()

        async def start() -> None:
            settings, addresses = cast("Any", "settings"), cast("Any", "addresses")
            await nursery.start(here.workers.run, settings, addresses, "the organiser's", sessions)
            started.set()

        nursery.start_soon(start)
        for number in ready:
            await trio.testing.wait_all_tasks_blocked()
            assert not started.is_set()
            ready[number].set()
        await started.wait()
        sitting = None if sessions is None else ((b"earlier", SESSION),)
        for number, held, games in ((table, f"open-{GAME}", {GAME}), (3 - table, "cup", {OTHER})):
            expected = Begin(
                cast("Any", "settings"),
                cast("Any", "addresses"),
                "the organiser's",
                (here.workers.held[held].record.kept_as,),
                "the disk is full",
                here.workers._directory.alone(number),
                sitting,
            )
            assert begun[number] == expected
            assert expected.alone <= games
        if sessions is not None:
            for process in here.processes.values():
                process.heard()
            sessions.told(b"later", SESSION)
            assert [here.heard(number, Sitting) for number in (1, 2)] == [[Sitting(b"later", SESSION)]] * 2
        nursery.cancel_scope.cancel()


async def test_a_host_waits_for_all_its_workers_to_drain_and_to_stop(tmp_path: Path) -> None:
    """Catches a host that ends while a worker has matches to end, or goodbyes to say."""
    async with beside(tmp_path) as here, trio.open_nursery() as nursery:
        all_ready(here)
        farewells: list[str] = []
        for worker in here.workers._workers.values():
            worker.lending.drain = farewells.append
        stop = partial(here.workers.stop, "the host stops")
        for order, told, said in ((here.workers.drain, Drain(), Drained()), (stop, Stop(), Stopped())):
            over = trio.Event()

            async def carry_out(order: Callable[[], Any] = order, over: trio.Event = over) -> None:
                await order()
                over.set()

            nursery.start_soon(carry_out)
            await trio.testing.wait_all_tasks_blocked()
            for number, process in here.processes.items():
                assert here.heard(number, type(told)) == [told]
                await trio.testing.wait_all_tasks_blocked()
                assert not over.is_set()
                process.say(said)
                here.workers._hear_now()
            await over.wait()
        assert farewells == ["the host stops"] * 2, "for requests that they were to answer"


async def test_all_workers_tell_the_process_for_pages_again_when_it_was_started_again(
    tmp_path: Path,
) -> None:
    """Catches pages on which nothing happens any more in the tournaments of other workers."""
    show = Lending(LIMITS)
    async with beside(tmp_path, show) as here, trio.open_nursery() as nursery:
        here.processes[1].say(Ready())
        here.workers._hear_now()
        assert here.heard(1, Tell) == [], "there is nobody to tell"
        for _ in range(2):
            ours, theirs = conduit_pair()
            with ours, theirs:
                nursery.start_soon(show.connect, ours)
                await trio.testing.wait_all_tasks_blocked()
                assert here.heard(1, Tell) == [Tell()]
                assert here.heard(2, Tell) == [], "it is told nothing before it is ready"
                pages = Process(cast("Any", Conduit(theirs, ToShow, inf)))
                assert pages.heard() == [Feed()]
                theirs.close()
                await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()


async def test_a_worker_that_is_ready_when_no_file_is_left_plays_and_show_is_told_of_it_when_there_is_one(
    tmp_path: Path,
) -> None:
    """Catches a host that ends, with all that its other workers play."""
    show = Lending(LIMITS)
    async with beside(tmp_path, show) as here, trio.open_nursery() as nursery:
        here.workers.let_in()
        worker = here.workers._workers[1]
        ours, theirs = conduit_pair()
        with ours, theirs:
            nursery.start_soon(show.connect, ours)
            await trio.testing.wait_all_tasks_blocked()
            here.processes[1].say(Ready())
            soft, hard = getrlimit(RLIMIT_NOFILE)
            setrlimit(RLIMIT_NOFILE, (0, hard))  # what is open stays open
            try:
                here.workers._hear_now()
            finally:
                setrlimit(RLIMIT_NOFILE, (soft, hard))
            assert worker.ready
            assert here.heard(1, Tell) == here.heard(1, Meet) == []
            nursery.start_soon(worker._beat)
            assert Tell() in await here.until(1, Alive)
            nursery.cancel_scope.cancel()


async def test_a_bot_hears_from_worker_0_that_it_was_taken_out_of_the_tournament_of_another_worker(
    tmp_path: Path,
) -> None:
    """And is led to its next place once any worker has told it, also if that has not been heard here yet."""
    async with beside(tmp_path) as here:
        table = await here.open_table()
        number = await here.open("cup")
        assert number not in (OWN, table)
        ann = Wanted("ann", GAME, None, TOKEN)
        out = Disqualified("ann", "it was two bots")
        came = Entered("ann"), Claimed("ann", token_digest(TOKEN).hex())
        facts = (*came, Turned(State.RUNNING), out)
        kept_as = here.workers.held["cup"].record.kept_as
        async with here.keeping(number) as process:
            process.say(Keep(1, kept_as, here.host.wall(), facts))
            here.workers._hear_now()
            await here.until(number, Kept)
        assert here.holder(ann) == OWN
        here.processes[number].say(ToldEnd(kept_as, "ann"))
        assert here.holder(ann) == table


async def test_a_request_goes_to_where_its_bot_plays_or_where_the_table_of_its_game_is(
    tmp_path: Path,
) -> None:
    async with beside(tmp_path) as here:
        table = here.workers._directory.table(GAME)
        assert table != OWN
        number = await here.open("cup")
        assert number not in (OWN, table)
        whose = here.workers._whose
        assert whose(Belonging(game=GAME)) == table
        assert whose(Belonging(wanted=Wanted("ann", GAME, "cup", TOKEN))) == number


@pytest.mark.parametrize("own_first", [False, True])
async def test_a_worker_is_alone_with_a_game_once_the_last_tournament_elsewhere_is_over(
    tmp_path: Path, own_first: bool
) -> None:
    """Whichever worker held that. Catches one that asks worker 0 about every bot for as long as it runs."""
    async with beside(tmp_path) as here:
        table = await here.open_table()
        held = {await here.open(name): name for name in ("one", "two")}
        assert held.keys() == {OWN, 3 - table}
        here.heard(table, Alone)
        for own in (own_first, not own_first):
            assert here.heard(table, Alone) == [], "there is one yet"
            if own:
                await here.host.delete(here.host.tournaments[held[OWN]], "organiser")
                continue
            kept_as = here.workers.held[held[3 - table]].record.kept_as
            async with here.keeping(3 - table) as process:
                process.say(Keep(1, kept_as, here.host.wall(), (Turned(State.FINISHED),)))
                here.workers._hear_now()
                await here.until(3 - table, Kept)
        assert here.heard(table, Alone) == [Alone(frozenset([GAME]))]


async def test_figures_of_all_workers_are_added_with_those_of_processes_that_have_ended(
    tmp_path: Path,
) -> None:
    async with beside(tmp_path) as here:

        def counted() -> dict[str, object]:
            return {each.name: each.samples[0].value for each in here.workers.figures(())}

        assert counted() == {}
        for number in (1, 2):
            figures = tuple(
                Figures(name, kind, "", (Counted({}, number),))
                for name, kind in (("moves_total", "counter"), ("matches", "gauge"))
            )
            here.processes[number].say(Status(number, figures))
        here.workers._hear_now()
        assert counted() == {"moves_total": 3, "matches": 3}
        here.workers._workers[2]._end_all()
        assert counted() == {"moves_total": 3, "matches": 1}


async def test_what_happens_while_a_worker_has_no_process_is_told_to_nobody(tmp_path: Path) -> None:
    """Its next process hears of all that when it begins."""
    async with beside(tmp_path) as here:
        all_ready(here)
        assert len(here.heard(1, Meet)) == 2
        here.workers._workers[1]._end_all()
        ours, theirs = conduit_pair()
        with ours:
            here.workers._workers[1].meet(2, theirs)
            assert ours.recv(1) == b"", "the other worker sees that nobody is there"
        here.workers._workers[1].say(Drain())
        assert here.processes[1].heard() == []
