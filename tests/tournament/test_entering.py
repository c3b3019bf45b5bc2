"""Taking in a crowd that comes at once: in few commits, and as if they had come one by one."""

from collections.abc import Sequence

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.tournament.world import World
from tournament.entering import AT_A_TIME
from tournament.facts import AnyFact, Entered, Opened, Seated, State
from tournament.refusals import Refusal
from tournament.store import Memory

CROWD = [f"bot-{number}" for number in range(4 * AT_A_TIME)]


class Slow(Memory):
    """A store that takes a virtual second for each commit."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[Sequence[AnyFact]] = []

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        with trio.CancelScope(shield=True):
            await trio.sleep(1.0)
        self.commits.append(facts)
        return await super().keep(tournament, when, facts)


class Doors:
    """Where bots come to a tournament, and what became of them."""

    def __init__(self, store: Memory, room: int | None = None) -> None:
        self.world = World(Opened("tic-tac-toe", "round-robin", room), store)
        self.came: list[str] = []
        self.entered: list[str] = []
        self.refused: list[str] = []

    async def come(self, name: str) -> None:
        self.came.append(name)
        try:
            await self.world.tournament.enter(name, seated=Seated(name, "tcp", "127.0.0.1"))
        except Refusal:
            self.refused.append(name)
        else:
            assert name in self.world.tournament.record.seats
            self.entered.append(name)


async def test_a_crowd_is_taken_in_by_few_commits_in_the_order_in_which_it_came(
    autojump_clock: MockClock,
) -> None:
    store = Slow()
    doors = Doors(store)
    async with trio.open_nursery() as nursery:
        for name in CROWD:
            nursery.start_soon(doors.come, name)
    assert list(doors.world.tournament.record.entrants) == doors.came
    assert len(store.commits) == len(CROWD) / AT_A_TIME


async def test_what_is_ordered_after_a_crowd_came_waits_for_few_commits(autojump_clock: MockClock) -> None:
    store = Slow()
    doors = Doors(store)
    record = doors.world.tournament.record
    async with trio.open_nursery() as nursery:
        for name in CROWD:
            nursery.start_soon(doors.come, name)
        await trio.sleep(0.5)  # all of them wait
        await doors.world.desk.start()
        assert (record.state, len(record.entrants)) == (State.RUNNING, len(CROWD))
    assert trio.current_time() == len(store.commits) == len(CROWD) / AT_A_TIME + 1


async def test_no_more_are_taken_in_than_there_is_room_for(autojump_clock: MockClock) -> None:
    room = AT_A_TIME + 7
    doors = Doors(Slow(), room)
    async with trio.open_nursery() as nursery:
        for name in CROWD:
            nursery.start_soon(doors.come, name)
    assert list(doors.world.tournament.record.entrants) == doors.came[:room]
    assert sorted(doors.entered) == sorted(doors.came[:room])
    assert sorted(doors.refused) == sorted(doors.came[room:])


async def test_all_that_were_taken_in_have_gone_on_before_anything_else_is_decided(
    autojump_clock: MockClock,
) -> None:
    doors = Doors(Slow())
    async with trio.open_nursery() as nursery:
        for name in CROWD[:AT_A_TIME]:
            nursery.start_soon(doors.come, name)
        await trio.sleep(0.5)  # they are being kept
        async with doors.world.tournament.deciding:
            assert len(doors.entered) == len(doors.world.tournament.record.entrants)


async def test_whoever_goes_away_meanwhile_is_not_taken_in_and_keeps_nobody_else_out(
    autojump_clock: MockClock,
) -> None:
    doors = Doors(Slow())
    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as gone:
            await doors.world.tournament.deciding.acquire()
            for name in CROWD[:10]:
                gone.start_soon(doors.come, name)
            for name in CROWD[10:20]:
                nursery.start_soon(doors.come, name)
            await wait_all_tasks_blocked()
            gone.cancel_scope.cancel()
        doors.world.tournament.deciding.release()
    assert sorted(doors.world.tournament.record.entrants) == sorted(CROWD[10:20])


async def test_one_of_two_who_enter_the_same_name_is_kept(autojump_clock: MockClock) -> None:
    store = Slow()
    doors = Doors(store)
    async with trio.open_nursery() as nursery:
        for name in CROWD[:10] * 2:
            nursery.start_soon(doors.come, name)
    facts = [fact for commit in store.commits for fact in commit if isinstance(fact, Entered)]
    assert sorted(fact.name for fact in facts) == sorted(CROWD[:10])
    assert len(doors.entered) == 20
