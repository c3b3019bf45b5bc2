"""Replicas of matches that another process goes on with, as after its host or its worker was killed."""

import pytest
from msgspec import structs
from structlog.testing import capture_logs

from games.connect4 import GAME, Connect4
from games.game import Illegal, Pace
from server.host.happened import happened
from server.pages.story import Story
from server.show.replica import Replica
from tests.server.pages.gallery import raised
from tournament.events import AnyEvent, Ended, Ending, Moved
from tournament.facts import Concluded, Opened
from tournament.match import Match
from tournament.record import Record

PACE = Pace(60.0)
NAMES = ("ann", "bob")


def begun(*kept: int) -> Match:
    """A match, or one that goes on with moves that were kept."""
    before = (kept, [1.0] * len(kept)) if kept else None
    match = Match(GAME, NAMES, 0.0, name="cup-1", pace=PACE, kept=before)
    if kept:
        for seat in (0, 1):
            match.here(seat, 1.0)
    return match


def played(match: Match, *moves: int) -> Match:
    for move in moves:
        match.play(match.position.turn, move, 2.0)
    return match


def refused(match: Match) -> Match:
    with pytest.raises(Illegal):
        match.play(match.position.turn, "nowhere", 2.0)
    return match


def heard(replica: Replica, match: Match, most: int = 200) -> None:
    """Tell all of a match from its beginning, at most so many events at once."""
    for first in range(0, len(match.log.events), most):
        news = happened(match.name, first, match, most)
        replica.hear(news.first, news.events, news.clock)


def replica() -> Replica:
    return Replica(GAME, NAMES, 0.0, name="cup-1", pace=PACE)


def told(match: Match) -> list[object]:
    """The moves by the events of a log, and what else there is."""
    return [each.move if isinstance(each, Moved) else type(each).__name__ for each in match.log.events[1:]]


def left(match: Match) -> Match:
    for seat in (0, 1):
        match.away(seat, 60.0, 2.0)
    return match


@pytest.mark.parametrize("most", [1, 2, 200])
def test_a_match_goes_on_after_what_was_not_kept_of_it(most: int) -> None:
    """Catches moves that are taken for others because somebody had come, gone or been refused before."""
    seen = replica()
    heard(seen, left(played(refused(played(begun(), 0)), 1)), most)
    another = begun(0, 1)
    heard(seen, another, most)
    heard(seen, played(another, 2, 3), most)
    assert told(seen) == [0, "Refused", 1, "Disconnected", "Disconnected", 2, 3]
    assert seen.positions == another.positions
    assert seen.to_move == another.to_move


@pytest.mark.parametrize("most", [1, 3, 200])
def test_what_is_told_once_more_is_not_doubled(most: int) -> None:
    """As over a new link to the same host."""
    seen, match = replica(), left(refused(played(begun(), 0, 1)))
    for _ in range(3):
        heard(seen, match, most)
        assert told(seen) == told(match)


@pytest.mark.parametrize("most", [1, 3, 200])
def test_what_went_wrong_before_a_match_went_on_is_told_once(most: int) -> None:
    match = left(refused(played(refused(begun()), 0, 1)))
    kept = match.moves, match.times
    again = Match(GAME, NAMES, 0.0, name="cup-1", pace=PACE, kept=kept, asides=match.asides)
    seen = replica()
    heard(seen, again, most)
    assert told(seen) == told(match)
    seen = replica()
    for each in (match, again):
        heard(seen, each, most)
        assert told(seen) == told(match)


@pytest.mark.parametrize("kept", [(0,), (0, 1)])
@pytest.mark.parametrize("later", [(), (3,), (3, 4, 5)])
def test_moves_that_were_not_kept_are_taken_back_and_whoever_follows_begins_anew(
    kept: tuple[int, ...], later: tuple[int, ...]
) -> None:
    seen, ends, follow = replica(), list[str](), list[AnyEvent]()
    heard(seen, played(begun(), 0, 1, 2))
    story = Story(Record("cup", Opened("connect-4", "round-robin")), seen, raised)
    story.complete()
    seen.log.follow(follow.append, 0, lambda: ends.append("end"))
    another = played(begun(*kept), *later)
    heard(seen, another)
    assert seen.positions == another.positions
    assert seen.moves == another.moves
    assert told(seen) == [*kept, *later]
    assert ends == ["end"]
    story.complete()
    assert story.positions == another.positions
    assert [ply.number for ply in story.plies] == [*range(1, 1 + another.ply)]


@pytest.mark.parametrize("told_by_then", [1, 2, 3])
@pytest.mark.parametrize("later", [(), (6,), (6, 6, 6, 6)])
def test_a_story_that_pauses_while_moves_are_taken_back_is_that_of_the_match_as_it_is(
    told_by_then: int, later: tuple[int, ...]
) -> None:
    seen = replica()
    heard(seen, played(begun(), 0, 1, 2, 0))
    story = Story(Record("cup", Opened("connect-4", "round-robin")), seen, raised)
    telling = story.tell()
    for _ in range(told_by_then):
        next(telling)
    heard(seen, played(begun(0), *later))
    for _ in telling:
        pass
    assert story.positions == seen.positions
    assert not story.ends_early


async def test_the_journal_has_the_last_word_on_the_moves() -> None:
    seen = replica()
    heard(seen, played(begun(), 0, 1, 2))
    moves = (0, 1, 3, 4, 6)
    fact = Concluded("cup-1", 0, NAMES, 0, Ending.PLAYED, "it has a line", (1.0, 0.0), moves, (1.0,) * 5)
    seen.conclude(fact, 9.0)
    assert seen.moves == [*moves]
    assert isinstance(seen.log.events[-1], Ended)


async def test_a_match_has_ended_when_the_journal_says_so_and_not_when_it_was_read() -> None:
    seen = Replica(GAME, NAMES, 0.0, name="cup-1", pace=PACE, epoch=1_000.0)
    heard(seen, played(begun(), 0))
    fact = Concluded("cup-1", 0, NAMES, 1, Ending.LEFT, "", (0.0, 1.0), (0,), (1.0,), ended=1_004.0)
    seen.conclude(fact, 9.0)
    assert seen.wall(seen.log.events[-1].at) == fact.ended


@pytest.mark.parametrize("most", [1, 200])
async def test_a_match_is_shown_up_to_a_move_that_its_game_does_not_take_back_and_then_its_end(
    most: int,
) -> None:
    """Catches a game that ends the process for pages, with the pages of all other games."""

    def read(sent: object, position: Connect4) -> int:
        if position.turn == 1:
            raise KeyError(sent)
        return GAME.read(sent, position)

    odd = structs.replace(GAME, read=read)
    seen = Replica(odd, NAMES, 0.0, name="cup-1", pace=PACE)
    with capture_logs() as logs:
        heard(seen, played(begun(), 0, 1, 2), most)
        assert told(seen) == [0]
        moves = (0, 1, 2, 1, 4)
        seen.conclude(Concluded("cup-1", 0, NAMES, 0, Ending.PLAYED, "", (1.0, 0.0), moves, (1.0,) * 5), 9.0)
    assert told(seen) == [0, "Ended"]
    assert [log["match"] for log in logs] == ["cup-1"]
