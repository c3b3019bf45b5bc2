"""House players, whom a bot asks for by name and who are there at once."""

from collections.abc import Sequence

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.thinker import Busy, Failed
from server.host.unwelcome import Unwelcome
from tests.server.host.inside import Inside
from tests.server.protocols.fours import DISCONNECTED, END, Bot, ignored, over, place, play_on, table
from tests.server.protocols.room import SlowToDeal
from tournament.events import Ending
from tournament.facts import AnyFact
from tournament.match import Match
from tournament.store import Memory


async def test_random_is_there_at_once_as_often_as_it_is_asked_for(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann = Bot(host)
        for _ in range(8):
            await ann.tell("start", id="Ann", against="random")
            assert ann.told, "nobody waits for a house player"
            assert (await play_on(ann))[-1] == END
        assert trio.current_time() == 0.0, "no time has passed"
        assert {match.players for match in table(host).matches.values()} <= {
            ("Ann", "random"),
            ("random", "Ann"),
        }
        assert len(table(host).matches) == 8
        assert table(host).standings() == [], "they are in nobody's rating"


async def test_random_plays_legal_moves_that_differ_from_match_to_match(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann = Bot(host)
        for _ in range(8):
            await ann.tell("start", id="Ann", against="random")
            await play_on(ann)
        openings = set()
        for match in await over(host):
            theirs = match.moves[match.players.index("random") :: 2]
            openings.add(theirs[:3])
        assert len(openings) > 4


async def test_many_may_play_against_the_house_at_once(autojump_clock: MockClock) -> None:
    async with place() as host:
        bots = [Bot(host) for _ in range(10)]
        for number, bot in enumerate(bots):
            await bot.tell("start", id=f"bot{number}", against="random")
        assert all(bot.told for bot in bots)
        assert len(host.tournaments["open-connect-4"].matches) == 10
        for bot in bots:
            assert (await play_on(bot))[-1] == END
        await trio.testing.wait_all_tasks_blocked()
        assert list(host.lobby.players()) == []


async def test_a_house_player_meets_its_challenger_and_nobody_else(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, cas = Bot(host), Bot(host)
        await cas.start("Cas")
        await ann.tell("start", id="Ann", against="random")
        assert ann.told
        assert cas.heard() == []


class Slow(Memory):
    """A store that takes as long as it is told to."""

    async def keep(self, tournament: str, at: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        await trio.sleep(1.0)
        return await super().keep(tournament, at, facts)


async def test_a_house_player_goes_with_a_challenger_who_does_not_wait(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, again = Bot(host), Bot(host)
        await ann.tell("start", id="Ann", against="random")
        assert await again.start("Ann", against="random") == [], "those two are playing already"
        assert [player.name for player in host.lobby.players()].count("random") == 2
        await again.gone()
        assert sorted(player.name for player in host.lobby.players()) == ["Ann", "random"]


@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5, 3.5, 4.5])
async def test_so_it_does_if_that_happens_while_either_is_coming(
    seconds: float, autojump_clock: MockClock
) -> None:
    async with place(store=Slow()) as host:
        ann = Bot(host)
        await ann.tell("start", id="Ann", against="random")
        await trio.sleep(seconds)
        await ann.gone()
        await trio.sleep(100.0)
        assert list(host.lobby.players()) == []


async def test_the_one_to_blame_is_the_challenger_that_leaves_a_match_which_is_about_to_begin(
    autojump_clock: MockClock,
) -> None:
    names = ("Ann", "Bob", "Cas", "Dan", "Eve", "Fay")
    async with place(store=SlowToDeal()) as host:
        for name in names:
            bot = Bot(host)
            await bot.tell("start", id=name, against="random")
            await bot.gone()
            await trio.sleep(10.0)
        matches = table(host).matches.values()
        assert {match.players[0] for match in matches} > {"random"}, "either side may be the challenger's"
        assert [match.why for match in matches] == [f"{name} left before both had moved" for name in names]
        assert list(host.lobby.players()) == []


async def test_whoever_leaves_a_house_player_has_lost(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann = Bot(host)
        await ann.tell("start", id="Ann", against="random")
        if ann.seat() == 1:
            await ann.tell("move", move=3)
        await trio.sleep(1.0)
        await ann.tell("move", move=3)
        await trio.sleep(1.0)
        await ann.gone()
        (match,) = table(host).matches.values()
        assert (match.ending, match.why) == (Ending.LEFT, "Ann left the match")


@pytest.mark.parametrize("name", ["random", "aima"])
async def test_nobody_else_has_the_name_of_a_house_player(name: str, autojump_clock: MockClock) -> None:
    async with place() as host:
        reserved = f'"{name}" is a reserved id used for a reference player'
        assert await Bot(host).start(name) == [ignored({"type": "start", "id": name}, reserved)]
        with pytest.raises(Unwelcome, match="reserved"):
            await host.arrive(name.upper(), "connect-4")
        with pytest.raises(Unwelcome, match="reserved"):
            await host.arrive(name, "quoridor")


async def test_in_a_tournament_nobody_of_the_house_comes(autojump_clock: MockClock) -> None:
    cup = {"tournament": "cup", "game": "connect-4", "format": "round-robin", "entrants": "2"}
    async with place(cup) as host:
        ann = Bot(host)
        assert await ann.start("Ann", against="random") == []
        assert list(host.tournaments["cup"].record.entrants) == ["Ann"]
        assert [player.name for player in host.lobby.players()] == ["Ann"]


async def test_aima_takes_half_a_second_for_a_move(autojump_clock: MockClock) -> None:
    async with place() as host:
        host.thinker = thinker = Inside()
        ann = Bot(host)
        await ann.tell("start", id="Ann", against="aima")
        assert (await play_on(ann))[-1] == END
        (match,) = await over(host)
        moves = match.moves[match.players.index("aima") :: 2]
        assert thinker.asked == [("connect-4", "alphabeta", 0.5)] * len(moves)
        assert trio.current_time() == pytest.approx(0.5 * len(moves))
        assert match.winner == match.players.index("aima"), "who drops discs from left to right is no match"


async def test_aima_moves_at_once_where_too_many_are_thinking(autojump_clock: MockClock) -> None:
    async with place() as host:
        host.thinker = thinker = Inside(*[Busy("no child is free")] * 50)
        ann = Bot(host)
        await ann.tell("start", id="Ann", against="aima")
        assert (await play_on(ann))[-1] == END
        (match,) = await over(host)
        assert len(thinker.asked) == len(match.moves[match.players.index("aima") :: 2])
        assert trio.current_time() == 0.0, "no time has passed"


@pytest.mark.parametrize("failure", [Failed("no child survives it"), ValueError("a fault of ours")], ids=repr)
async def test_a_match_in_which_the_house_cannot_think_counts_for_nothing(
    failure: Exception, autojump_clock: MockClock
) -> None:
    async with place() as host:
        host.thinker = Inside(failure)
        ann = Bot(host)
        await ann.tell("start", id="Ann", against="aima")
        assert (await play_on(ann))[-1] == DISCONNECTED
        (match,) = table(host).matches.values()
        assert (match.ending, match.why) == (Ending.VOID, "a fault of the host")
        assert host.guard.caught.total() == (not isinstance(failure, Failed))
        host.guard.caught.clear()


async def test_a_thought_that_comes_too_late_is_not_played(autojump_clock: MockClock) -> None:
    async with place() as host:
        host.thinker = Inside()
        ann, seen = Bot(host), list[Match]()
        host.on_begun.append(lambda tournament, match: seen.append(match))
        await ann.tell("start", id="Ann", against="aima")
        if ann.seat() == 1:
            await ann.tell("move", move=3)
        await ann.gone()
        await trio.sleep(10.0)
        assert seen[0].result is not None
        assert seen[0].result.ending is Ending.VOID
        assert seen[0].ply == ann.seat() % 2, "of aima's no move came"
        assert not host.guard.caught
