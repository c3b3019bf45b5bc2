"""Tables that are kept across a start: shown at once, and only where the journal is the same."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random

import pytest
import trio
from msgspec import structs
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.net.guard import open_guard
from server.show import kept_boards, mirror
from server.show.kept_boards import BoardKeeper, load, save
from server.show.mirror import Mirror
from server.store.caches import BOARDS
from server.store.sqlite import Sqlite
from tests.crashes.world import at_once
from tests.tournament.histories import history
from tournament import entries
from tournament.facts import HOST, AnyFact, Concluded, Dealt, Froze, Opened, Ordered
from tournament.score_sheet import Board, board_of

pytestmark = pytest.mark.slow

FORMATS = ("open", "ladder", "round-robin", "swiss", "knockout", "decide")
FACTS = 200


@pytest.fixture(autouse=True)
def short_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "LONG", 0)


def journal(folder: Path, format: str, facts: int = FACTS, seed: int = 1) -> Sqlite:
    """A journal with the first so many facts of a tournament that is called `cup`."""
    engine = Sqlite(folder / "quintain.sqlite")
    opened, following = history(format, Random(seed), FACTS)
    shown = (
        each for each in following if not isinstance(each, Froze)
    )  # frozen tables have records of their own
    happened: list[AnyFact] = [opened, *map(_without_options, shown)]
    missing = happened[engine.last() : facts]
    engine.write(
        [entries.entry(number, "cup", 0.0, each) for number, each in enumerate(missing, engine.last() + 1)]
    )
    return engine


def _without_options(fact: AnyFact) -> AnyFact:
    """Those of `history` are of no game."""
    return structs.replace(fact, options=None) if isinstance(fact, Dealt | Concluded) else fact


@asynccontextmanager
async def shown(engine: Sqlite, folder: Path) -> AsyncGenerator[tuple[Mirror, BoardKeeper]]:
    """A process for pages that has just started."""
    async with open_guard() as guard, trio.open_nursery() as nursery:
        show = Mirror(engine, guard, at_once)
        show.boards.run = at_once
        await show.load()
        keeper = BoardKeeper(show, engine, folder)
        await keeper.load()
        nursery.start_soon(show.run)
        yield show, keeper
        nursery.cancel_scope.cancel()


async def forever(work: object) -> Board:
    await trio.sleep_forever()
    raise AssertionError


async def test_a_table_is_there_after_a_start_before_it_has_been_computed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    with closing(journal(tmp_path, "ladder")) as engine:
        async with shown(engine, tmp_path) as (show, keeper):
            await show.warm()
            await keeper.keep()
            before = await show.board("cup")
        async with shown(engine, tmp_path) as (show, keeper):
            show.boards.run = forever
            begun = trio.current_time()
            _, board = await show.boards.public(show.tournaments["cup"].record)
            assert (board, trio.current_time()) == (before, begun)


async def test_a_table_that_is_out_of_date_is_shown_until_it_has_been_computed(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    with closing(journal(tmp_path, "ladder", FACTS // 2)) as engine:
        async with shown(engine, tmp_path) as (show, keeper):
            await show.warm()
            await keeper.keep()
            before = await show.board("cup")
    with closing(journal(tmp_path, "ladder")) as engine:
        async with shown(engine, tmp_path) as (show, keeper):
            record = show.tournaments["cup"].record
            assert before.version < record.version
            assert (await show.boards.public(record))[1] == before
            await show.boards.exact(record)
            assert (await show.boards.public(record))[1].rows == board_of(record, 0.0).rows


@pytest.mark.parametrize("format", FORMATS)
async def test_what_is_read_is_what_was_kept(tmp_path: Path, format: str, autojump_clock: MockClock) -> None:
    with closing(journal(tmp_path, format)) as engine:
        async with shown(engine, tmp_path) as (show, _):
            board = await show.board("cup")
        save(engine, tmp_path, {"cup": board}, engine.last())
        assert load(engine, tmp_path) == {"cup": board}


@pytest.mark.parametrize(
    ("spoiled", "why"),
    [("journal", "another journal"), ("rules", "another Quintain"), ("bytes", "damaged"), ("cut", "damaged")],
)
async def test_tables_of_another_journal_or_by_other_rules_are_not_shown(
    tmp_path: Path, spoiled: str, why: str, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    (tmp_path / "other").mkdir()
    with (
        closing(journal(tmp_path, "ladder")) as engine,
        closing(journal(tmp_path / "other", "ladder", seed=2)) as other,
    ):
        async with shown(engine, tmp_path) as (show, keeper):
            await show.warm()
            await keeper.keep()
        path = tmp_path / BOARDS
        content = path.read_bytes()
        if spoiled == "rules":
            monkeypatch.setattr(kept_boards, "RULES", 0)
        elif spoiled == "bytes":
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        elif spoiled == "cut":
            path.write_bytes(content[:20])
        with capture_logs() as logs:
            assert load(other if spoiled == "journal" else engine, tmp_path) == {}
    (said,) = logs
    assert why in said["why"]


async def test_the_table_of_what_was_archived_is_not_that_of_the_next_of_its_name(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    with closing(journal(tmp_path, "ladder")) as engine:
        async with shown(engine, tmp_path) as (show, _):
            board = await show.board("cup")
        next_one = Opened("connect-4", "open")
        engine.write([entries.entry(engine.last() + 1, "other", 0.0, next_one)])
        save(engine, tmp_path, {"cup": board}, engine.last())
        engine.take_out(["cup"], entries.entry(engine.last() + 1, HOST, 0.0, Ordered("somebody", "archive")))
        engine.write([entries.entry(engine.last() + 1, "cup", 0.0, next_one)])
        with capture_logs() as logs:
            assert load(engine, tmp_path) == {}
    (said,) = logs
    assert "taken out of the journal" in said["why"]


async def test_tables_are_written_only_if_one_is_new(tmp_path: Path, autojump_clock: MockClock) -> None:
    with closing(journal(tmp_path, "ladder")) as engine:
        async with shown(engine, tmp_path) as (show, keeper):
            await keeper.keep()
            assert not (tmp_path / BOARDS).exists()
            await show.warm()
            await keeper.keep()
            (tmp_path / BOARDS).unlink()
            await keeper.keep()
            assert not (tmp_path / BOARDS).exists()
        async with shown(engine, tmp_path) as (_, keeper):
            await keeper.keep()
            assert not (tmp_path / BOARDS).exists()


async def test_a_disk_that_is_full_is_said_and_costs_nothing_else(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    (tmp_path / f"{BOARDS}.part").mkdir()  # it cannot be written there
    with closing(journal(tmp_path, "ladder")) as engine:
        async with shown(engine, tmp_path) as (show, keeper):
            await show.warm()
            with capture_logs() as logs:
                await keeper.keep()
    assert [each["event"] for each in logs if each["log_level"] == "warning"] == [
        "no tables could be kept: the next start computes them first"
    ]
