"""A round that show has drawn is the round that play would have drawn, and play always gets one."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path

import pytest
import trio
import trio.testing

from server.host.host import Host
from server.show.draws import TIMEOUT, Drawing, DrawsInShow, pieces
from server.show.feed import Question, Watched, say
from tests.hang import HANG
from tests.server.show.test_mirror import CUP, Stage, mirrored
from tournament.draws import as_drawn
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened
from tournament.format import Pairing
from tournament.record import PIECE, Record

pytestmark = pytest.mark.slow

SWISS = Opened("connect-4", "swiss")
PAIR = ("ann", "bob")


class Both:
    """A host with a tournament that has forty entrants, and a show that draws for it until it is gone."""

    def __init__(self, stage: Stage, draws: DrawsInShow, show: trio.abc.SendStream) -> None:
        self.stage = stage
        self.draws = draws
        self.show = show
        self.asked: list[Question] = []
        self.record: Record = stage.host.tournaments["cup"].record

    def here(self) -> Sequence[Pairing]:
        return drawn_of(self.record)


@asynccontextmanager
async def both(folder: Path, answers: bool = True, seconds: float = TIMEOUT) -> AsyncGenerator[Both]:
    stage = Stage(folder)
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.host.run)
            await stage.host.open("cup", SWISS)
            for number in range(40):
                await stage.cup.enter(f"bot {number}")
            draws = DrawsInShow(stage.teller, seconds)
            to_play, replies = trio.testing.memory_stream_one_way_pair()
            found = Both(stage, draws, to_play)

            def take(question: Question) -> None:
                found.asked.append(question)
                if answers:
                    drawing.take(question)

            async with mirrored(stage, asked=take) as (mirror, _):
                drawing = Drawing(mirror, to_play)
                nursery.start_soon(draws.hear, replies)
                await trio.testing.wait_all_tasks_blocked()
                yield found
            nursery.cancel_scope.cancel()
    stage.engine.close()
    stage.reader.close()


def drawn_of(record: Record) -> Sequence[Pairing]:
    """What is drawn for a record now."""
    return record.format.draw(list(record.entrants.values()), *record.past(), record.opened.terms)


def never() -> Sequence[Pairing]:
    raise AssertionError("play has drawn, and there is a show that does it")


async def test_show_draws_what_play_would_draw(tmp_path: Path) -> None:
    async with both(tmp_path) as found:
        drawn = await found.draws.draw(found.record, never)
        assert list(drawn) == list(found.here())
        assert len(drawn) == 20
        assert len(found.asked) == 1


async def test_what_a_process_has_kept_that_does_not_know_how_far_the_journal_goes_is_in_the_draw(
    tmp_path: Path,
) -> None:
    """As every worker but the first. Catches a round that is drawn for those who had come before."""
    async with both(tmp_path) as found:
        found.stage.teller.last = lambda: 0
        for number in range(40, 44):
            await found.stage.cup.enter(f"bot {number}")
        drawn = await found.draws.draw(found.record, never)
        assert list(drawn) == list(found.here())
        assert len(drawn) == 22


async def test_a_large_draw_comes_in_pieces_and_is_not_copied_again(tmp_path: Path) -> None:
    """Catches a million pairings that are read in one go, and freed in another: 0.4 s without a move."""
    async with both(tmp_path) as found:
        league = await found.stage.host.open("league", Opened("connect-4", "round-robin"))
        for number in range(40):
            await league.enter(f"bot {number}")
        drawn = await found.draws.draw(league.record, never)
        assert found.draws.heard > len(drawn) / PIECE > 1
        assert [*drawn] == [*drawn_of(league.record)]
        await league.keep(as_drawn(league.record, drawn))
        assert all(league.record.drawn[each.number] is each for each in drawn)


@pytest.mark.parametrize("count", [None, 0, 1, PIECE, PIECE + 1, 3 * PIECE])
def test_no_piece_of_a_draw_is_long_and_the_last_says_so(count: int | None) -> None:
    drawn = None if count is None else tuple([Pairing(number, 1, *PAIR) for number in range(count)])
    *others, last = pieces(7, drawn)
    assert not last.more
    assert all(each.more and each.pairings and len(each.pairings) == PIECE for each in others)
    if drawn is None:
        assert (others, last.pairings) == ([], None)
    else:
        assert len(last.pairings or ()) <= PIECE
        assert [*chain.from_iterable(each.pairings or () for each in (*others, last))] == [*drawn]


async def test_when_show_goes_in_the_middle_of_a_draw_play_does_it(tmp_path: Path) -> None:
    async with both(tmp_path, answers=False) as found:
        drawn: list[Sequence[Pairing]] = []

        async def draw() -> None:
            drawn.append(await found.draws.draw(found.record, found.here))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(draw)
            while not found.asked:
                await trio.lowlevel.checkpoint()
            assert drawn == []
            await found.show.aclose()
        assert drawn == [found.here()]
        assert await found.draws.draw(found.record, found.here) == found.here(), "and while there is none"
        assert len(found.asked) == 1


async def test_what_a_show_that_hangs_does_not_draw_play_does_and_asks_no_more_until_it_is_heard_again(
    tmp_path: Path,
) -> None:
    """Catches a tournament that stood still for ever, because its next round was never drawn."""
    async with both(tmp_path, answers=False, seconds=0.0) as found:
        for _ in range(2):
            assert await found.draws.draw(found.record, found.here) == found.here()
        await trio.testing.wait_all_tasks_blocked()
        assert len(found.asked) == 1
        await say(found.show, [Watched(())])
        await trio.testing.wait_all_tasks_blocked()
        assert await found.draws.draw(found.record, found.here) == found.here()
        await trio.testing.wait_all_tasks_blocked()
        assert len(found.asked) == 2


async def test_what_show_cannot_draw_play_does(tmp_path: Path) -> None:
    async with both(tmp_path) as found:
        unknown = Record("nowhere", CUP)
        assert await found.draws.draw(unknown, found.here) == found.here()


def won(number: int) -> tuple[AnyFact, ...]:
    """A match at the open table that the first of the pair wins."""
    match = f"open-connect-4-{number}"
    over = Concluded(match, number, PAIR, 0, Ending.PLAYED, "four in a row", (1.0, 0.0), (0,), (0.5,))
    return Drew((Pairing(number, number, *PAIR),)), Dealt(match, number), over


async def test_play_asks_show_how_a_table_without_an_end_stands(tmp_path: Path) -> None:
    """Catches a table of nothing but zeros: play remembers no results there but what they add up to."""
    async with both(tmp_path) as found:
        host = found.stage.host
        table = await host.table("connect-4")
        await table.keep(*map(Entered, PAIR))
        await table.keep(*won(1))
        host.boards.ranked = found.draws.rank
        asked = await host.boards.current(table.record)
        rows = [(row.name, row.points, row.played) for row in asked.rows]
        assert rows == [("ann", 1.0, 1), ("bob", 0.0, 1)]
        assert asked.rows[0].rating is not None
        await table.keep(*won(2))
        later = await host.boards.exact(table.record)
        assert [(row.name, row.points, row.played) for row in later.rows] == [
            ("ann", 2.0, 2),
            ("bob", 0.0, 2),
        ]
        await found.show.aclose()
        await table.keep(Entered("cas"))
        alone = await host.boards.exact(table.record)
        known = sorted((row.name, row.points, row.played) for row in alone.rows)
        assert known == [("ann", 2.0, 2), ("bob", 0.0, 2), ("cas", 0.0, 0)], "all but the ratings"


async def test_a_host_has_its_big_rounds_drawn_elsewhere_and_its_small_ones_at_once(
    tmp_path: Path, autojump_clock: object
) -> None:
    asked: list[str] = []
    host = Host()

    async def elsewhere(record: Record, draw: object) -> Sequence[Pairing]:
        asked.append(record.name)
        return ()

    host.elsewhere = elsewhere
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        for name, entrants in (("small", 8), ("big", 80)):
            held = await host.open(name, Opened("connect-4", "swiss", entrants))
            for number in range(entrants):
                await held.enter(f"bot {number}")
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert set(asked) == {"big"}
