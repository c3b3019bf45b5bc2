"""Boards of matches that another host holds: who is told what, over links in memory."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from games.game import Pace
from games.tictactoe import GAME
from server.host.happened import Happened, happened
from server.peers.messages import Board, Message, Watch
from server.peers.watching import BEHIND, EVENTS, MOST, TICK, Watching
from server.show.replica import Replica
from tournament.match import Match

PACE = Pace(60.0)
NAMES = ("ann", "bob")


class Told:
    """A link's near end, with what was said on it."""

    def __init__(self) -> None:
        self.said: list[Message] = []
        self.waiting = 0

    def say(self, message: Message) -> None:
        self.said.append(message)

    def boards(self) -> list[Happened]:
        return [each.news for each in self.said if isinstance(each, Board)]


class Holding:
    """A host, as far as it has matches."""

    def __init__(self, *matches: Match) -> None:
        self.matches = {match.name: match for match in matches}
        self.tournaments = {"cup": self}


def begun(name: str = "cup-1") -> Match:
    return Match(GAME, NAMES, trio.current_time(), name=name, pace=PACE)


def played(match: Match, *moves: str) -> None:
    for move in moves:
        seat: Any = match.to_move
        match.play(seat, move, trio.current_time())


async def run(watching: Watching, host: Holding, seconds: float) -> None:
    with trio.move_on_after(seconds):
        await watching.run(host)  # type: ignore[arg-type]


async def test_a_host_asks_the_holder_of_what_is_looked_at_and_again_when_that_changes(
    autojump_clock: MockClock,
) -> None:
    link: Any = Told()
    watching = Watching(lambda: [link], lambda name: link if name == "cup" else None)
    watching.want(["cup-2", "mine-1", "cup-1"])
    await run(watching, Holding(), 5 * TICK)
    assert link.said == [Watch(("cup-1", "cup-2"))]
    watching.want([])
    await run(watching, Holding(), 5 * TICK)
    assert link.said[1:] == [Watch(())]


async def test_over_a_new_link_everything_is_asked_for_again(autojump_clock: MockClock) -> None:
    links: list[Any] = [Told()]
    watching = Watching(lambda: links, lambda name: links[0])
    watching.want(["cup-1"])
    await run(watching, Holding(), 2 * TICK)
    links[0] = Told()
    await run(watching, Holding(), 2 * TICK)
    assert links[0].said == [Watch(("cup-1",))]


async def test_a_link_that_is_gone_is_asked_and_told_nothing_more(autojump_clock: MockClock) -> None:
    gone: Any = Told()
    links, match = [gone], begun()
    watching = Watching(lambda: links, lambda name: gone if links else None)
    watching.want(["other-1"])
    watching.hear(gone, Watch(("cup-1",)))
    await run(watching, Holding(match), 2 * TICK)
    said = len(gone.said)
    assert said == 2
    links.clear()
    played(match, "NW")
    await run(watching, Holding(match), 2 * TICK)
    assert len(gone.said) == said


async def test_no_more_matches_are_asked_for_and_told_of_at_once_than_one_host_may(
    autojump_clock: MockClock,
) -> None:
    link: Any = Told()
    names = [f"cup-{number}" for number in range(MOST + 1)]
    watching = Watching(lambda: [link], lambda name: link)
    watching.want(names)
    watching.hear(link, Watch(tuple(names)))
    await run(watching, Holding(*map(begun, names)), 2 * TICK)
    assert link.said[0] == Watch(tuple(sorted(names[:MOST])))
    assert [each.match for each in link.boards()] == names[:MOST]


async def test_the_holder_tells_what_has_happened_once_and_only_while_it_is_asked_to(
    autojump_clock: MockClock,
) -> None:
    link: Any = Told()
    watching, match, other = Watching(lambda: [link], lambda name: None), begun(), begun("cup-2")
    played(match, "NW")
    watching.hear(link, Watch(("cup-1", "cup-9", "gone-1")))
    await run(watching, Holding(match, other), 5 * TICK)
    played(match, "N")
    await run(watching, Holding(match, other), 5 * TICK)
    assert [(each.match, each.first, len(each.events)) for each in link.boards()] == [
        ("cup-1", 0, 2),
        ("cup-1", 2, 1),
    ]
    watching.hear(link, Watch(()))
    played(match, "C")
    await run(watching, Holding(match, other), 5 * TICK)
    assert len(link.boards()) == 2


async def test_a_link_that_is_behind_is_told_nothing_more_until_it_is_not(autojump_clock: MockClock) -> None:
    link: Any = Told()
    watching, match = Watching(lambda: [link], lambda name: None), begun()
    link.waiting = BEHIND + 1
    watching.hear(link, Watch(("cup-1",)))
    await run(watching, Holding(match), 5 * TICK)
    assert not link.said
    link.waiting = 0
    await run(watching, Holding(match), 5 * TICK)
    assert link.said


async def test_what_is_told_makes_a_replica_by_the_clock_of_the_host_that_looks(
    autojump_clock: MockClock,
) -> None:
    """Catches times that mean nothing here: deadlines of an hour ago."""
    link: Any = Told()
    watching, match = Watching(lambda: [link], lambda name: None), begun()
    await trio.sleep(7.0)
    played(match, "NW", "N")
    watching.hear(link, Watch(("cup-1",)))
    await run(watching, Holding(match), 2 * TICK)
    (board,) = [each for each in link.said if isinstance(each, Board)]
    replica = Replica(GAME, NAMES, trio.current_time(), name="cup-1", pace=PACE)
    far = Watching(list, lambda name: link)
    far.take = lambda news: replica.hear(news.first, news.events, news.clock)
    then = trio.current_time()
    await trio.sleep(3600.0)
    far.hear(link, board)
    assert replica.moves == match.moves
    assert replica.clock.deadline - trio.current_time() == match.clock.deadline - board.now
    assert replica.log.events[-1].at - match.log.events[-1].at == 3600.0 + then - board.now


@pytest.mark.parametrize("here", [True, False])
async def test_what_is_told_by_a_host_that_holds_a_match_no_more_is_not_heeded(
    autojump_clock: MockClock, here: bool
) -> None:
    """Catches a board with a move that was never kept, by a host that stood still meanwhile."""
    former, holder = Told(), Told()
    links: list[Any] = [former, holder]
    heard: list[Happened] = []
    far = Watching(lambda: links, lambda name: None if here else links[1])
    far.take = heard.append
    match = begun()
    for link in links:
        far.hear(link, Board(happened("cup-1", 0, match), trio.current_time()))
    assert len(heard) == (0 if here else 1)


async def test_a_long_match_is_told_in_pieces(autojump_clock: MockClock) -> None:
    link: Any = Told()
    watching, match = Watching(lambda: [link], lambda name: None), begun()
    match.log.events += [match.log.events[0]] * (2 * EVENTS)
    watching.hear(link, Watch(("cup-1",)))
    await run(watching, Holding(match), 5 * TICK)
    assert [len(each.events) for each in link.boards()] == [EVENTS, EVENTS, 1]
    assert [each.clock is None for each in link.boards()] == [True, True, False]
