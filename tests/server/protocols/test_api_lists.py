"""Lists of the API in pages, and the stream of everything: nobody is given more than asked for."""

import csv
import gc
from collections.abc import Callable
from itertools import chain
from random import Random
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from games.catalogue import catalogue
from server.protocols.api.changes import ROWS, Changes, changed
from server.protocols.api.paging import FAR, MOST
from tests.server.protocols.test_api import GAME, TOKEN, Office, events, office
from tests.server.web import get
from tests.tournament.test_score_sheet import NAMES, event, play, play_and_keep
from tournament.facts import Entered, Froze, Opened, State, Turned, Withdrew
from tournament.record import Record
from tournament.score_sheet import board_of


async def held(here: Office, matches: int = 25) -> Record:
    """A tournament of which so many matches are over."""
    await here.host.open("cup", Opened(GAME, "swiss"))
    cup, random = here.host.tournaments["cup"], Random(1)
    for name in NAMES:
        cup.record.add(Entered(name))
    for _ in range(matches):
        await play_and_keep(cup, here.host.store, random, *random.sample(NAMES, 2))
    return cup.record


async def pages(here: Office, path: str, key: str, limit: int) -> list[Any]:
    """All pages, one after the other."""
    found, after = list[Any](), 0
    while after is not None:
        page = await here.read(f"{path}?after={after}&limit={limit}")
        assert 0 < len(page[key]) <= limit
        assert len(page[key]) == limit or page["next"] is None
        found += page[key]
        after = page["next"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 4, 7, MOST])
@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/api/tournaments", "tournaments"),
        ("/api/tournaments/cup", "entrants"),
        ("/api/tournaments/cup/standings", "rows"),
        ("/api/tournaments/cup/matches", "matches"),
    ],
)
async def test_the_pages_of_a_list_are_the_list(
    autojump_clock: MockClock, path: str, key: str, limit: int
) -> None:
    async with office() as here:
        await held(here)
        for number in range(9):
            await here.host.open(f"other-{number}", Opened(GAME, "swiss"))
        whole = await here.read(path)
        assert whole["next"] is None
        assert await pages(here, path, key, limit) == whole[key]
        assert (
            len(whole[key])
            == {"tournaments": 10 + len(catalogue()), "entrants": 8, "rows": 8, "matches": 25}[key]
        )


async def test_matches_in_play_come_after_those_that_are_over(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4)
        await here.come("ann", "bob", "cas", "dee")
        await trio.sleep(9.5)
        matches = await pages(here, "/api/tournaments/cup/matches", "matches", 1)
        one, other = await here.read("/api/tournaments/cup"), [each["ending"] for each in matches]
        assert other == ["played"] * one["played"] + [None] * len(one["playing"])
        assert one["played"]
        assert one["playing"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("after=-1", f"from 0 to {FAR}, not '-1'"),
        ("after=x", f"from 0 to {FAR}, not 'x'"),
        ("after=", f"from 0 to {FAR}, not ''"),
        (f"after={FAR + 1}", f"from 0 to {FAR}, not '{FAR + 1}'"),
        (f"after={10**30}", f"from 0 to {FAR}"),
        ("limit=0", f"from 1 to {MOST}, not '0'"),
        (f"limit={MOST + 1}", f"from 1 to {MOST}"),
        ("limit=%C2%B2", f"from 1 to {MOST}"),
    ],
)
@pytest.mark.parametrize("path", ["", "/cup", "/cup/standings", "/cup/matches"])
async def test_what_is_no_page_is_refused_in_words(
    autojump_clock: MockClock, path: str, query: str, words: str
) -> None:
    async with office() as here:
        await held(here, 0)
        assert words in (await here.read(f"/api/tournaments{path}?{query}", 400))["error"]


async def test_a_form_that_nothing_is_written_in_is_refused_in_words(autojump_clock: MockClock) -> None:
    async with office() as here:
        await held(here, 1)
        for path, forms in (
            ("tournaments/cup/standings", "json, csv or trf"),
            ("matches/cup-1", "json or text"),
        ):
            refused = await here.read(f"/api/{path}?format=xml", 400)
            assert refused["error"] == f"`format` is {forms}, not 'xml'"
        table = "/api/tournaments/cup/standings"
        assert (await here.read(f"{table}?format=json"))["rows"] == (await here.read(table))["rows"]


@pytest.mark.slow
async def test_a_page_past_the_end_is_empty(autojump_clock: MockClock) -> None:
    async with office() as here:
        await held(here)
        for path, key in (("", "tournaments"), ("/cup/standings", "rows"), ("/cup/matches", "matches")):
            page = await here.read(f"/api/tournaments{path}?after=1000")
            assert (page[key], page["next"]) == ([], None)


@pytest.mark.slow
async def test_csv_has_everybody_however_many_there_are(autojump_clock: MockClock) -> None:
    async with office() as here:
        record = await held(here)
        for number in range(2 * MOST):
            record.add(Entered(f"entrant {number}"))
        _, text = await here.text("/api/tournaments/cup/standings?format=csv")
        rows = list(csv.DictReader(text.splitlines()))
    assert [row["name"] for row in rows] == [row.name for row in record.standings()]


@pytest.mark.slow
async def test_standings_say_as_of_when_they_are_and_who_is_probably_the_strongest(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await held(here)
        here.host.boards._wall = lambda: 1_772_366_400.25
        shown = await here.read("/api/tournaments/cup/standings")
    assert shown["as_of"] == "2026-03-01T12:00:00.250Z"
    assert sum(row["first"] for row in shown["rows"]) == pytest.approx(1)


@pytest.mark.slow
async def test_standings_that_take_too_long_are_asked_for_again(autojump_clock: MockClock) -> None:
    async def slowly(work: Any) -> Any:
        await trio.sleep(60)
        return work()

    async with office() as here:
        record = await held(here)
        here.host.boards.run = slowly
        answer = await here.server.connect().ask(
            b"GET /api/tournaments/cup/standings HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        await trio.sleep(100)
        play(record, Random(2), *NAMES[:2])
        old = await here.read("/api/tournaments/cup/standings")
        assert sum(row["played"] for row in old["rows"]) == 2 * 25, "the latest that there is"


# The stream of everything


def told(heard: bytes) -> list[dict[str, Any]]:
    return [each for each in events(heard[heard.index(b"\r\n\r\n") + 4 :]) if each["type"] == "standings"]


def tell(here: Office, record: Record) -> None:
    """As the host does when a match is over."""
    for each in here.host.on_fact:
        each(here.host.tournaments["cup"], record.matches[record.endings[-1]])


@pytest.mark.slow
async def test_whoever_keeps_the_rows_that_changed_has_the_standings(autojump_clock: MockClock) -> None:
    """And is told at most once a second."""
    async with office() as here:
        record, random = await held(here), Random(3)
        feed = await here.listen("/api/events")
        await wait_all_tasks_blocked()
        known = {row["name"]: row for row in (await here.read("/api/tournaments/cup/standings"))["rows"]}
        for _ in range(50):
            play(record, random, *random.sample(NAMES, 2))
            tell(here, record)
            await trio.sleep(0.1)
        withdrew = Withdrew(NAMES[0], annulled=True)
        record.add(withdrew)
        for each in here.host.on_fact:
            each(here.host.tournaments["cup"], withdrew)
        await trio.sleep(5)
        heard = told(await feed.now())
        rows = (await here.read("/api/tournaments/cup/standings"))["rows"]
    assert 3 <= len(heard) <= 7
    assert all(each["entrants"] == len(NAMES) for each in heard)
    assert [each["as_of"] for each in heard] == sorted({each["as_of"] for each in heard})
    for each in heard:
        known |= {row["name"]: row for row in each["rows"]}
    last = [known[row["name"]] | {"ranks": row["ranks"]} for row in rows]  # these are in no event
    assert last == rows
    assert known[NAMES[0]]["out"] == "withdrawn"


async def test_of_a_tournament_that_is_over_nothing_is_kept_for_those_who_listen(
    autojump_clock: MockClock,
) -> None:
    """Catches a process for pages that grew with each tournament, as long as anybody listened."""
    async with office() as here:
        record, random = await held(here), Random(4)
        feed = await here.listen("/api/events")
        await trio.sleep(3)
        (changes,) = [
            each for each in gc.get_objects() if isinstance(each, Changes) and each._view is here.host
        ]
        assert changes._told.keys() == {"cup"}
        record.add(Turned(State.FINISHED))
        tell(here, record)
        await trio.sleep(5)
        assert not any((changes._told, changes._begun, changes._marked, changes._telling))
        play(record, random, *NAMES[:2])  # it was taken up again: whoever listens is told of all again
        tell(here, record)
        await trio.sleep(5)
        rows = (await here.read("/api/tournaments/cup/standings"))["rows"]
        (heard,) = told(await feed.now())
    known = {row["name"]: row for row in heard["rows"]}
    assert [known[row["name"]] | {"ranks": row["ranks"]} for row in rows] == rows


@pytest.mark.slow
async def test_whoever_comes_and_goes_again_and_again_has_little_worked_out(
    autojump_clock: MockClock,
) -> None:
    """Catches a stranger who does so: each time all tables were noted. Whoever stays misses nothing by it."""
    async with office() as here:
        record, done, run = await held(here), list[None](), here.host.boards.run

        async def counted(work: Callable[[], Any]) -> Any:
            done.append(None)
            return await run(work)

        await here.read("/api/tournaments/cup/standings")
        here.host.boards.run = counted
        for _ in range(100):
            feed = await here.listen("/api/events")
            await wait_all_tasks_blocked()
            feed.end.close()
            await wait_all_tasks_blocked()
        assert len(done) <= 2
        feed = await here.listen("/api/events")
        await wait_all_tasks_blocked()
        play(record, Random(2), *NAMES[:2])
        tell(here, record)
        await trio.sleep(3)
        (each,) = told(await feed.now())
        assert {row["name"] for row in each["rows"]} >= set(NAMES[:2])


async def test_rows_that_did_not_change_are_not_told(autojump_clock: MockClock) -> None:
    async with office() as here:
        record = await held(here)
        for number in range(50):
            record.add(Entered(f"idle {number:02}"))
        feed = await here.listen("/api/events")
        await trio.sleep(3)
        play(record, Random(4), *NAMES[:2])
        tell(here, record)
        await trio.sleep(3)
        tell(here, record)
        await trio.sleep(3)
        heard = told(await feed.now())
    (each,) = heard
    assert {row["name"] for row in each["rows"]} <= set(NAMES)
    assert each["entrants"] == len(NAMES) + 50


async def test_what_is_left_over_follows_a_second_later(autojump_clock: MockClock) -> None:
    async with office() as here:
        feed = await here.listen("/api/events")
        await wait_all_tasks_blocked()
        record = await held(here, 1)
        for number in range(2 * ROWS):
            record.add(Entered(f"idle {number:03}"))
        tell(here, record)
        heard: list[int] = []
        await trio.sleep(0.5)
        for _ in range(4):
            heard.append((await feed.now()).count(b"event: standings"))
            await trio.sleep(1)
    assert heard == [1, 1, 1, 0]


async def test_the_rows_of_a_tournament_with_the_name_of_a_deleted_one_are_told_anew(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        feed = await here.listen("/api/events")
        await wait_all_tasks_blocked()
        for _ in range(2):
            record = await held(here, 1)
            tell(here, record)
            await trio.sleep(3)
            await here.host.delete(here.host.tournaments["cup"], "the organiser")
        first, second = told(await feed.now())
    assert first["rows"] == second["rows"]


async def test_while_standings_are_frozen_nothing_is_told_of_them(autojump_clock: MockClock) -> None:
    async with office() as here:
        record = await held(here)
        record.add(Froze(True))
        feed = await here.listen("/api/events")
        await trio.sleep(3)
        play(record, Random(5), *NAMES[:2])
        tell(here, record)
        await trio.sleep(3)
        assert not told(await feed.now())


@pytest.mark.parametrize(
    "path",
    [
        "/api/tournaments/cup/standings?format=csv",
        "/api/tournaments/cup/standings?format=trf",
        f"/api/bots/{NAMES[0]}".replace(" ", "%20"),
        "/api/tournaments/cup/export",
    ],
)
async def test_while_standings_are_frozen_everybody_reads_what_they_were_and_the_organiser_what_they_are(
    path: str, autojump_clock: MockClock
) -> None:
    async with office() as here:
        record = await held(here)
        record.add(Froze(True))

        async def standings(*headers: str) -> str:
            """What is read there, but for the matches themselves, which everybody sees."""
            answer = await here.server.connect().ask(get(path, *headers))
            *_, last = answer.body.decode().splitlines()
            return last if path.endswith("/export") else answer.body.decode()

        before = await standings()
        cup, random = here.host.tournaments["cup"], Random(5)
        for _ in range(5):
            await play_and_keep(cup, here.host.store, random, *NAMES[:2])
        await trio.sleep(100.0)
        assert await standings() == before
        assert await standings(f"Authorization: Bearer {TOKEN}") != before


async def test_whoever_adds_up_the_matches_is_told_that_the_standings_are_frozen(
    autojump_clock: MockClock,
) -> None:
    """What is played is shown to everybody, and no longer what it adds up to."""
    async with office() as here:
        record = await held(here)
        plain = await here.read("/api/tournaments/cup/matches")
        record.add(Froze(True))
        frozen = await here.read("/api/tournaments/cup/matches")
    assert (plain["frozen"], frozen["frozen"]) == (False, True)


async def test_what_is_played_after_the_freezing_is_told_to_nobody_who_waited_for_a_table_before_it(
    autojump_clock: MockClock,
) -> None:
    """A table is made at most once a second, so there is time to freeze it while somebody waits for it."""
    async with office() as here, trio.open_nursery() as nursery:
        record, random, given = await held(here), Random(6), list[dict[str, Any]]()

        async def ask() -> None:
            given.append(await here.read("/api/tournaments/cup/standings"))

        feed = await here.listen("/api/events")
        await trio.sleep(3)
        await here.read("/api/tournaments/cup/standings")
        play(record, random, *NAMES[:2])
        await here.read("/api/tournaments/cup/standings")
        play(record, random, *NAMES[:2])
        tell(here, record)
        nursery.start_soon(ask)
        await trio.sleep(0.1)
        record.add(Froze(True))
        known = {row.name: row.played for row in record.public.standings()}
        play(record, random, *NAMES[:2])
        tell(here, record)
        await trio.sleep(5)
        heard = told(await feed.now())
    assert given[0]["frozen"]
    assert {row["name"]: row["played"] for row in given[0]["rows"]} == known
    assert heard
    assert all(row["played"] <= known[row["name"]] for each in heard for row in each["rows"])


def in_turn(board: Any, record: Record, known: dict[str, Any], most: int) -> list[list[str]]:
    """The names in each event, until nothing is left."""
    found: list[list[str]] = []
    while True:
        rows, left = changed(board, record, known, most)
        found.append([row["name"] for row in rows])
        known |= {row["name"]: row for row in rows}
        if not left:
            return found


def test_when_there_are_many_changes_those_who_played_come_first_and_the_rest_follow() -> None:
    names = tuple(f"bot {number:03}" for number in range(3 * ROWS))
    random, record = Random(6), event("swiss", names)
    known: dict[str, Any] = {}
    assert sorted(chain(*in_turn(board_of(record, 0.0), record, known, ROWS))) == sorted(names)
    play(record, random, *names[-2:])
    first, *rest = in_turn(board_of(record, 0.0), record, known, ROWS)
    assert set(names[-2:]) <= set(first[:2])
    assert [len(each) for each in (first, *rest)][:-1] == [ROWS] * len(rest)
    assert changed(board_of(record, 0.0), record, known, ROWS) == ([], 0)
    record.add(Withdrew(names[5], annulled=False))
    (row,), left = changed(board_of(record, 0.0), record, known, ROWS)
    assert (row["name"], row["out"], left) == (names[5], "withdrawn", 0)
