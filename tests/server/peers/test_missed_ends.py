"""Ends of tournaments that several hosts hold: one of them tells a bot, whichever it comes to, and once."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from server.host.claims import Replaced
from server.host.host import Host
from server.host.secrets import token_digest
from server.host.unwelcome import Unwelcome
from server.peers.messages import Knows, Message, ToldEnd
from server.peers.requests import AT_A_TIME
from tests.server.peers.several import One, Shared, link, several
from tests.server.protocols.lists import Telephone
from tests.server.protocols.room import Guest
from tournament.desk import Desk
from tournament.facts import Opened, State

GAME = "tic-tac-toe"
HEARD = 1.0  # seconds in which another host has heard what this one has just done
TOKENS = {name: f"{name}-keeps-this-secret" for name in ("ann", "bob")}


class Roaming:
    """Bots, each of whose connections comes to the next host."""

    def __init__(self, hosts: Sequence[Host], connect: Callable[[str], Any], nursery: trio.Nursery) -> None:
        self.hosts = hosts
        self._connect = connect
        self._nursery = nursery

    async def hello(self, name: str, door: str = "tcp") -> Guest:
        guest = Guest(await self._connect(door))
        self._nursery.start_soon(guest.listen)
        await self.say_hello(guest, name)
        return guest

    async def say_hello(self, guest: Guest, name: str) -> None:
        await guest.end.say(hello(name))
        await trio.sleep(HEARD)

    async def ask(self, request: str) -> Any:
        """The body of the answer, which is JSON."""
        end = await self._connect("http")
        await end.say(request)
        answer: str = await end.hear()
        return msgspec.json.decode(answer[min(answer.find(each) for each in "[{" if each in answer) :])


def hello(name: str) -> str:
    said = {"type": "hello", "name": name, "game": GAME, "token": TOKENS[name]}
    return msgspec.json.encode(said).decode()


async def told(guest: Guest) -> list[tuple[str, Any]]:
    return [(each["type"], each.get("tournament")) for each in await guest.messages()]


@asynccontextmanager
async def ann_missed_it(door: str = "tcp") -> AsyncIterator[Roaming]:
    """The cup is over, which Bob has heard, while Ann was away."""
    async with several(3) as (hosts, doors), trio.open_nursery() as nursery:
        await hosts[2].table(GAME)
        cup = await hosts[0].found("cup", Opened(GAME, "round-robin", 2))
        await trio.sleep(HEARD)
        bots = Roaming(hosts, lambda door: doors[door](), nursery)
        ann, bob = [await bots.hello(name, door) for name in TOKENS]
        await ann.end.close()
        await bob.end.say('{"type":"resign"}')
        await trio.sleep(HEARD)
        assert cup.record.state is State.FINISHED
        assert (await told(bob))[-2:] == [("end", None), ("standings", "cup")]
        await bob.end.close()
        yield bots
        nursery.cancel_scope.cancel()


@pytest.mark.slow
@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_whoever_missed_the_end_is_told_once_by_whichever_host_it_comes_to(
    door: str, autojump_clock: MockClock
) -> None:
    async with ann_missed_it(door) as bots:
        ann = await bots.hello("ann", door)
        assert await told(ann) == [("welcome", "cup"), ("standings", "cup")]
        await bots.say_hello(ann, "ann")
        assert await told(ann) == [("welcome", None)]
        await ann.end.close()
        for name in [*TOKENS] * len(bots.hosts):
            guest = await bots.hello(name, door)
            assert (await told(guest))[:1] == [("welcome", None)]
            await guest.end.close()


@pytest.mark.slow
async def test_so_is_whoever_comes_by_requests(autojump_clock: MockClock) -> None:
    async with ann_missed_it() as bots:
        come = partial(bots.ask, f"POST /play {hello('ann')}")
        welcome = await come()
        assert welcome["tournament"] == "cup"
        (standings,) = await bots.ask(f"GET /play/{welcome['session']}?after=1")
        assert (standings["type"], standings["final"]) == ("standings", True)
        await trio.sleep(HEARD)
        for _ in bots.hosts:
            assert (await come())["tournament"] is None


@pytest.mark.slow
@pytest.mark.parametrize("which", range(3))
async def test_so_is_whoever_has_heard_of_an_earlier_end_and_missed_the_last(
    which: int, autojump_clock: MockClock
) -> None:
    """Catches hosts that believe for ever that it has heard: it waited at the open table for nothing."""
    async with several(3) as (hosts, doors), trio.open_nursery() as nursery:
        await hosts[2].table(GAME)
        await hosts[0].found("cup", Opened(GAME, "round-robin", 2))
        cup = hosts[0].tournaments["cup"]
        await trio.sleep(HEARD)
        bots = Roaming(hosts, lambda door: doors[door](), nursery)
        ann, bob = [await bots.hello(name) for name in TOKENS]
        await bob.end.say('{"type":"resign"}')
        await trio.sleep(HEARD)
        await ann.end.say('{"type":"state"}')  # it has read the standings
        await trio.sleep(HEARD)
        await Desk(cup).void(*cup.record.matches, "for a test")
        await trio.sleep(HEARD)
        await ann.end.close()
        await bob.end.say('{"type":"resign"}')
        await trio.sleep(HEARD)
        assert cup.record.state is State.FINISHED
        for _ in range(which):
            await (await doors["tcp"]()).close()  # the next connection comes to the next host
        assert await told(await bots.hello("ann")) == [("welcome", "cup"), ("standings", "cup")]
        nursery.cancel_scope.cancel()


async def test_a_host_that_starts_is_told_by_the_others_who_has_heard(autojump_clock: MockClock) -> None:
    """Catches bots that hear of an end once more from each host that was started again."""
    database = Shared(trio.current_time)
    async with trio.open_nursery() as nursery:
        before, after = One(database), One(database)
        for one in (before, after):
            await one.run(nursery)
            one.doors(Telephone())
        before.host.untold.note("cup", "ann")
        link(nursery, after, before)
        await trio.sleep(HEARD)
        assert list(after.host.untold.heard()) == [("cup", "ann")]
        nursery.cancel_scope.cancel()


async def test_a_host_that_starts_after_an_end_tells_whoever_has_heard_of_that_of_the_next_one(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that waits at the open table for a tournament that went on and was over again."""
    database = Shared(trio.current_time)
    async with trio.open_nursery() as nursery:
        before, after = One(database), One(database)
        await before.run(nursery)
        doors = before.doors(Telephone())
        bots = Roaming([before.host], lambda door: doors[door](), nursery)
        await before.host.found("cup", Opened(GAME, "round-robin", 2))
        cup = before.host.tournaments["cup"]
        ann, bob = [await bots.hello(name) for name in TOKENS]
        await bob.end.say('{"type":"resign"}')
        await trio.sleep(HEARD)
        await ann.end.say('{"type":"state"}')  # it has read the standings
        await trio.sleep(HEARD)
        await after.run(nursery)
        doors = after.doors(Telephone())
        link(nursery, after, before)
        await trio.sleep(HEARD)
        await Desk(cup).void(*cup.record.matches, "for a test")
        await trio.sleep(HEARD)
        await ann.end.close()
        await bob.end.say('{"type":"resign"}')
        await trio.sleep(HEARD)
        assert cup.record.state is State.FINISHED
        assert await told(await bots.hello("ann")) == [("welcome", "cup"), ("standings", "cup")]
        nursery.cancel_scope.cancel()


async def test_a_host_that_starts_is_told_by_the_others_which_tokens_were_replaced(
    autojump_clock: MockClock,
) -> None:
    """Catches one that was stolen, and that is good for what that host goes on with."""
    database = Shared(trio.current_time)
    async with trio.open_nursery() as nursery:
        before, after = One(database), One(database)
        for one in (before, after):
            await one.run(nursery)
            one.doors(Telephone())
        stolen, new = TOKENS.values()
        replaced = Replaced("ann", GAME, token_digest(stolen).hex(), token_digest(new).hex())
        after.host.reception.restore("ann", GAME, replaced.before, "cup")
        before.host.claims.replaced(replaced)
        link(nursery, after, before)
        await trio.sleep(HEARD)
        with pytest.raises(Unwelcome, match="not its token"):
            after.host.reception.arrive("ann", GAME, token=stolen)
        assert after.host.reception.arrive("ann", GAME, token=new).returned
        nursery.cancel_scope.cancel()


class Told(trio.abc.Instrument):
    """In place of a link: what a host is told, and how much of it in one step of a task, at the most."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.most = self._before = 0

    def say(self, message: Message) -> None:
        self.messages.append(message)

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.most = max(self.most, len(self.messages) - self._before)
        self._before = len(self.messages)


async def test_a_host_plays_on_while_it_tells_another_all_that_it_has_to_know(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that stands still whenever another one is started, the longer the older it is."""
    many = 3 * AT_A_TIME
    async with trio.open_nursery() as nursery:
        one = One(Shared(trio.current_time))
        await one.run(nursery)
        one.doors(Telephone())
        for number in range(many):
            one.host.on_key(f"secret-{number}")
            one.host.untold.note(f"cup-{number % 10}", f"bot-{number}")
        told = Told()
        trio.lowlevel.add_instrument(told)
        one.links.linked(told)
        await trio.sleep(HEARD)
        nursery.cancel_scope.cancel()
    keys = [each.key for each in told.messages if isinstance(each, Knows)]
    assert keys == [f"secret-{number}" for number in range(many)]
    ends = {(each.tournament, each.name) for each in told.messages if isinstance(each, ToldEnd)}
    assert len(ends) == many
    assert 0 < told.most <= AT_A_TIME
