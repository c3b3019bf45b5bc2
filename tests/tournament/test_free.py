"""Who is dealt to where many wait: an answer costs little, and nobody is passed over for ever."""

from collections import Counter

import pytest
import trio
from trio.testing import MockClock

from tests.steps import steps_taken
from tests.tournament.world import Behaviour, World, play, silent, table
from tournament.events import NOBODY, Ending
from tournament.facts import Dealt, Drew
from tournament.free import Free
from tournament.lobby import WAITING, Lobby
from tournament.match import Match
from tournament.player import Player, Seat

GAME = "tic-tac-toe"


def anywhere(player: Player) -> bool:
    return True


def company(*came: tuple[str, str | None]) -> tuple[Free, list[Player]]:
    """Players who came in this order, each with whom alone it came for."""
    free, lobby = Free(), Lobby()
    players = [lobby.enter(name, GAME) for name, _ in came]
    for player, (_, against) in zip(players, came, strict=True):
        player.meet_only(against)
        free.add(player)
    return free, players


def shown(free: Free, most: int = WAITING) -> list[str]:
    return [player.name for player in free.first(most, anywhere, choosy=True)]


def test_whoever_has_waited_longest_comes_first_and_the_answer_is_in_the_order_of_arrival() -> None:
    free, players = company(("ann", None), ("bob", None), ("cas", None))
    assert shown(free, 2) == ["ann", "bob"]
    free.add(players[0])  # has played, and is free again
    assert shown(free, 2) == ["bob", "cas"]
    free.add(players[1])
    assert shown(free, 2) == ["ann", "cas"]


def test_whoever_came_for_one_is_shown_while_that_one_is_free_for_it() -> None:
    free, (ann, bob) = company(("ann", "bob"), ("bob", None))
    assert shown(free) == ["ann", "bob"]
    free.remove(bob)
    assert shown(free) == []
    bob.meet_only("cas")
    free.add(bob)
    assert shown(free) == []
    bob.meet_only("ann")
    free.add(bob)
    assert shown(free) == ["ann", "bob"]
    free.remove(ann)
    assert shown(free) == []


def test_whoever_waits_for_somebody_who_is_not_here_takes_nobodys_place() -> None:
    waiting = [(f"waits-{number}", f"away-{number}") for number in range(WAITING)]
    ring = [(f"ring-{number}", f"ring-{(number + 1) % WAITING}") for number in range(WAITING)]
    free, _ = company(*waiting, *ring, ("ann", "bob"), ("bob", "ann"), ("cas", None), ("cas", None))
    assert shown(free) == ["ann", "bob", "cas"]


def test_whoever_is_no_longer_free_is_forgotten() -> None:
    free, (ann, _) = company(("ann", None), ("bob", "ann"))
    ann.reserved = True
    assert shown(free) == []
    ann.reserved = False
    free.add(ann)
    assert shown(free) == ["ann", "bob"]


def test_a_look_costs_the_same_however_many_wait_for_somebody_who_is_not_here() -> None:
    def effort(count: int) -> int:
        waiting = [(f"waits-{number}", f"away-{number}") for number in range(count)]
        free, _ = company(*waiting, ("ann", None), ("bob", None))
        return steps_taken(lambda: shown(free))

    assert effort(500) == effort(5)


async def crowd(here: World, nursery: trio.Nursery, count: int, behave: Behaviour) -> None:
    for number in range(count):
        player = here.come(f"bot-{number}")
        nursery.start_soon(play, player, behave)
        await here.tournament.enter(player.name)


async def leaves_it(seat: Seat) -> None:
    """Have the match void after a second."""
    await trio.sleep(1.0)
    seat.leave()


async def test_bots_that_came_for_absent_opponents_keep_nobody_from_playing(
    autojump_clock: MockClock,
) -> None:
    """Catches a bound on the bots to compare that counts those who can meet nobody."""
    async with table(GAME) as (here, nursery):
        for number in range(WAITING + 1):
            player = here.come(f"waits-{number}")
            player.meet_only(f"away-{number}")
            await here.tournament.enter(player.name)
        await crowd(here, nursery, 2, silent)
        here.tournament.wake()
        await trio.sleep(1.0)
        assert [match.names for match in here.tournament.matches.values()] == [("bot-0", "bot-1")]


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_many_who_wait_begin_some_at_a_time(autojump_clock: MockClock, format: str) -> None:
    """Catches a ladder that weighs a thousand against a thousand, while everybody else's moves wait."""
    async with table(GAME, format) as (here, nursery):
        await here.desk.pause()
        await crowd(here, nursery, 3 * WAITING, silent)
        await here.desk.resume()
        await trio.sleep(1.0)
        assert len(here.tournament.matches) == 3 * WAITING // 2
        drawn = [len(fact.pairings) for fact in here.told if isinstance(fact, Drew)]
        assert max(drawn) <= WAITING // 2


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_with_few_matches_at_once_all_of_many_bots_play(autojump_clock: MockClock, format: str) -> None:
    """Catches a choice by arrival, where those who came first are always the first to be free again."""
    in_play = Counter[int]()

    def begun(match: Match) -> None:
        in_play[len(here.tournament.matches)] += 1

    async with table(GAME, format, at_once=8, begun=begun) as (here, nursery):
        await crowd(here, nursery, WAITING + 20, leaves_it)
        here.tournament.wake()
        await trio.sleep(60.0)
        dealt = [fact.pairing for fact in here.told if isinstance(fact, Dealt)]
        played = {name for number in dealt for name in here.tournament.record.drawn[number].names}
        assert len(played) == WAITING + 20
        assert max(in_play) == 8, "and never more at once"


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_nothing_is_drawn_before_what_was_drawn_earlier_has_begun(
    autojump_clock: MockClock, format: str
) -> None:
    """Catches a table with more bots than may play, which draws the same pairs again and again, for ever."""
    async with table(GAME, format, at_once=2) as (here, nursery):
        await crowd(here, nursery, 20, leaves_it)
        here.tournament.wake()
        for _ in range(20):
            await trio.sleep(0.7)
            names = [name for pairing in here.tournament.record.open.values() for name in pairing.names]
            assert len(set(names)) == len(names)


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_nothing_is_drawn_that_cannot_begin(autojump_clock: MockClock, format: str) -> None:
    async with table(GAME, format, at_once=1) as (here, nursery):
        for number in range(4):
            nursery.start_soon(play, here.come(f"bot-{number}"), silent)
            await here.tournament.enter(f"bot-{number}")
            await trio.sleep(1.0)
        record = here.tournament.record
        assert [*record.drawn] == [*record.dealt.values()] == [1]


@pytest.mark.parametrize("format", ["open", "ladder"])
@pytest.mark.parametrize("gone", ["first", "second"])
async def test_what_was_drawn_for_somebody_who_has_gone_since_is_void_and_others_play(
    autojump_clock: MockClock, format: str, gone: str
) -> None:
    """Catches a table that waits for whoever has gone, where more were drawn than may play at once."""
    async with table(GAME, format, at_once=1) as (here, nursery):
        await here.desk.pause()
        await crowd(here, nursery, 6, leaves_it)
        await here.desk.resume()
        await trio.sleep(0.5)
        record = here.tournament.record
        assert (len(record.dealt), len(record.open)) == (1, 2)
        waiting = next(iter(record.open.values()))
        for player in [*here.lobby.players()]:
            if player.name == getattr(waiting, gone):
                player.retire()
        await trio.sleep(1.0)
        (void,) = (fact for fact in here.concluded() if fact.players == waiting.names)
        assert (void.ending, void.why, void.score, void.began) == (Ending.VOID, NOBODY, None, None)
        assert len(record.dealt) == 1
        assert not record.open.keys() & {waiting.number}
