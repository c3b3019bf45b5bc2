"""The stream that keeps pages up to date: no gaps, few frames, and nobody pays for whoever does not read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
import trio
from markupsafe import Markup
from msgspec import json, structs
from trio.testing import MockClock

from games.catalogue import catalogue
from server.net.limits import Limits
from server.pages.live import LINGERS, MOST, REST, STANDS_STILL, Live
from server.pages.parts import BATCHES, ROOM, LivePage, Look
from server.pages.projector import ProjectorLook
from tests.server.pages.gallery import GAME, Gallery, Watcher, gallery
from tests.server.transcripts import hosting
from tests.server.web import get, serving
from tests.server.windowed import Weather
from tests.tournament.world import Behaviour, silent
from tournament.desk import Desk
from tournament.events import Ended
from tournament.facts import Opened
from tournament.format import Terms
from tournament.player import Seat

pytestmark = pytest.mark.slow

AWAY = 5  # the seed with which whoever is cut stays away until all it had is forgotten


def paced(think: float) -> Behaviour:
    """Plays the first legal move after so many seconds."""

    async def behave(seat: Seat) -> None:
        match = seat.match
        async for event in match.log.read():
            if isinstance(event, Ended):
                return
            if seat.to_move:
                await trio.sleep(think)
                seat.play(match.game.write(next(iter(match.position.moves()))))

    return behave


async def running(here: Gallery, *names: str, think: float = 1.0, **chosen: Any) -> None:
    game = chosen.get("game", GAME)
    await here.hold(entrants=len(names), **chosen)
    await here.come(*names, game=game, behave=paced(think))


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        ("/", "br, gzip"),
        pytest.param("/", "identity", marks=pytest.mark.campaign),
        pytest.param("/tournaments/cup", "br, gzip", marks=pytest.mark.campaign),
        ("/tournaments/cup", "identity"),
        ("/matches/cup-1", "br, gzip"),
        pytest.param("/matches/cup-1", "identity", marks=pytest.mark.campaign),
    ],
)
async def test_whoever_has_watched_all_along_sees_what_a_newcomer_sees(
    page: str, encoding: str, autojump_clock: MockClock
) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob", "cas")
        await trio.sleep(0.5)
        early = await here.watch(f"page={page}", f"Accept-Encoding: {encoding}")
        for _ in range(60):
            await trio.sleep(1.0)
            await early.look()
        late = await here.watch(f"page={page}")
        await trio.sleep(1.0)
        await early.look()
        await late.look()
    assert early.batches > 5
    assert late.batches == 1
    assert early.parts == late.parts
    assert early.items == late.items
    assert early.gaps == late.gaps == 0
    assert early.parts


@pytest.mark.parametrize(
    "seed", [0, AWAY, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(1, AWAY))]
)
@pytest.mark.parametrize("page", ["/", "/tournaments/cup", "/matches/cup-1"])
async def test_a_stream_that_is_cut_again_and_again_misses_nothing(
    page: str, seed: int, autojump_clock: MockClock
) -> None:
    random = Random(seed)
    async with gallery() as here:
        await running(here, "ann", "bob", "cas", think=0.3)
        await trio.sleep(0.1)
        kept = await here.watch(f"page={page}")
        for _ in range(12):
            await trio.sleep(random.random() * 3)
            await kept.look()
            kept.client.end.close()
            await trio.sleep(random.choice((0.0, 0.01, 2.0, 90.0 if seed == AWAY else 1.0)))
            again = await here.watch(f"page={page}", *([f"Last-Event-ID: {kept.id}"] if kept.id else []))
            again.parts, again.items, again.id = kept.parts, kept.items, kept.id
            kept = again
        await trio.sleep(30.0)
        await kept.look()
        fresh = await here.watch(f"page={page}")
        await trio.sleep(1.0)
        await fresh.look()
    assert kept.parts == fresh.parts
    assert kept.items == fresh.items
    assert kept.gaps == 0


async def test_a_game_that_fails_to_draw_costs_no_other_its_boards(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches one drawing that fails and stops the streams of all pages."""

    def draw(position: Any, last: object = None) -> str:
        return {None: "<svg></svg>"}[last]

    odd = structs.replace(catalogue()["connect-4"], draw=draw)
    monkeypatch.setattr("server.pages.story.catalogue", lambda: {**catalogue(), odd.name: odd})
    async with gallery() as here:
        await running(here, "ann", "bob")
        await here.hold("odd", 2, game=odd.name)
        await here.come("cas", "dan", game=odd.name, behave=paced(1.5))
        await trio.sleep(0.5)
        pages = ("/", "/wall", "/matches/cup-1", "/matches/odd-1")
        first, wall, match, failing = [await here.watch(f"page={page}") for page in pages]
        await trio.sleep(4.0)
        for each in (first, wall, match):
            await each.look()
        cards = dict.fromkeys((first.parts["place-0"], wall.parts["place-0"]))
        assert all("ann" in card and "<svg" in card for card in cards)
        assert "Connect-4 fails to draw this board" in first.parts["place-1"]
        assert len(match.items) == 4
        await failing.look()
        assert failing.parts["board"] == "<span>Connect-4 fails to draw this board</span>"
        assert len(failing.items) == 2, "its moves are told all the same"
        assert "Connect-4 fails to draw this board" in await here.read("/")
        assert "Connect-4 fails to draw this board" in await here.read("/tournaments/odd")
        for page in ("/matches/odd-1", "/matches/odd-1?ply=1", "/embed/matches/odd-1"):
            assert "Connect-4 fails to draw this board" in await here.read(page)
        frames = json.decode(await here.read("/matches/odd-1/frames"))["frames"]
        assert ["fails" in frame["board"] for frame in frames] == [bool(frame["ply"]) for frame in frames]
        await here.read("/matches/odd-1/board.svg", status=500)
        assert {place.split()[0] for place in here.host.guard.caught} == {"KeyError"}
        here.host.guard.caught.clear()
        here.server.guard.caught.clear()


@pytest.mark.parametrize("fails_at", ["read", "spell"])
async def test_a_game_that_fails_to_replay_a_match_costs_its_page_no_more_than_that(
    fails_at: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a page of errors in place of the moves before, the ending and the clocks."""

    def fail(told: Any, position: Any) -> Any:
        if (position.mine | position.theirs).bit_count() < 2:
            return (game.read if fails_at == "read" else game.spelled)(told, position)
        raise KeyError("?")

    game = catalogue()["connect-4"]
    odd = structs.replace(game, **{fails_at: fail})
    monkeypatch.setattr("server.pages.story.catalogue", lambda: {**catalogue(), odd.name: odd})
    async with gallery() as here:
        await running(here, "ann", "bob", game=odd.name)
        await trio.sleep(3.5)
        watcher = await here.watch("page=/matches/cup-1")
        await trio.sleep(0.5)
        await watcher.look()
        assert watcher.parts["board"] == "<span>Connect-4 fails to replay this match from here on</span>"
        assert len(watcher.items) == 2
        assert "Connect-4 fails to replay" in await here.read("/wall")
        await trio.sleep(60.0)
        await watcher.look()
        over = await here.read("/matches/cup-1")
        assert "Connect-4 fails to replay this match from here on" in over
        assert (over.count("<li value="), "ann wins" in over or "bob wins" in over) == (2, True)
        assert "<svg" in await here.read("/matches/cup-1?ply=1")
        assert {place.split()[0] for place in here.host.guard.caught} == {"KeyError"}
        here.host.guard.caught.clear()


async def test_a_page_goes_on_where_it_was_made(autojump_clock: MockClock) -> None:
    """What has not changed since the page was made is not sent; what has is."""
    async with gallery() as here:
        await running(here, "ann", "bob")
        await trio.sleep(2.5)
        page = await here.read("/matches/cup-1")
        (after,) = re.findall(r'data-after="([^"]+)"', page)
        watcher = await here.watch(f"page=/matches/cup-1&after={after}")
        await trio.sleep(0.2)
        await watcher.look()
        assert (watcher.parts, watcher.items) == ({}, [])
        watcher.items = re.findall(r"<li value.*?</li>", page)
        assert len(watcher.items) == 2
        await trio.sleep(1.0)
        await watcher.look()
    assert set(watcher.parts) == {"board", "state", "graph"}
    assert len(watcher.items) == 3
    assert watcher.gaps == 0


async def test_the_page_of_a_live_match_is_told_of_its_end_its_grades_and_that_it_is_void(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob")
        watcher = await here.watch("page=/matches/cup-1")
        await trio.sleep(0.5)
        page = await here.read("/matches/cup-1")
        await watcher.look()
        assert 'data-edition="live"' in page
        assert watcher.parts["edition"] == "live"
        await trio.sleep(30.0)
        await watcher.look()
        assert watcher.parts["edition"] == "over"
        page = await here.read("/matches/cup-1")
        assert 'data-edition="graded"' in page
        await trio.sleep(1.0)
        await watcher.look()
        assert watcher.parts["edition"] == "graded"
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        await trio.sleep(1.0)
        await watcher.look()
        page = await here.read("/matches/cup-1")
    assert watcher.parts["edition"] == "graded void"
    assert 'data-edition="graded void"' in page
    assert "Void: counts for nothing" in watcher.parts["state"]
    assert watcher.parts["state"].strip() in page


async def test_whoever_asks_again_as_soon_as_the_end_is_kept_gets_the_page_of_a_match_that_is_over(
    autojump_clock: MockClock,
) -> None:
    """Also before its players are told: until then it is among those in play."""
    async with gallery() as here:
        await running(here, "ann", "bob")
        await trio.sleep(0.5)
        matches = here.host.tournaments["cup"].matches
        untold = matches["cup-1"]
        await trio.sleep(30.0)
        matches["cup-1"] = untold
        page = await here.read("/matches/cup-1")
        del matches["cup-1"]
    assert 'data-edition="graded"' in page
    assert "Receipt: " in page


async def test_a_page_without_a_stream_can_ask_what_there_is_of_a_match_by_now(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob")
        await trio.sleep(0.5)
        assert await here.read("/matches/cup-1/edition") == "live"
        await trio.sleep(30.0)
        assert await here.read("/matches/cup-1/edition") == "over"
        await here.read("/matches/cup-1")
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        assert await here.read("/matches/cup-1/edition") == "graded void"
        for address in ("/matches/cup-1", "/embed/matches/cup-1"):  # or it would be loaded again and again
            assert 'data-edition="graded void"' in await here.read(address)
        await here.read("/matches/cup-9/edition", status=404)


async def test_there_are_at_most_twenty_frames_a_second(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        large = {"rows": 31, "cols": 31}
        await running(here, "ann", "bob", think=0.002, game="hexagon-dots", options=large)
        await trio.sleep(0.01)
        watcher = await here.watch("page=/matches/cup-1")
        for _ in range(20):
            await trio.sleep(0.05)
            await watcher.look()
        assert here.host.tournaments["cup"].matches["cup-1"].ply > 400
    assert 15 < watcher.batches <= 21
    assert len(watcher.items) > 400


@pytest.mark.parametrize("often", [1, 3])
async def test_nothing_is_sent_while_nothing_happens_but_signs_of_life_as_often_as_is_set(
    autojump_clock: MockClock, often: int
) -> None:
    async with gallery(Limits(heartbeat_seconds=15.0 / often)) as here:
        await here.hold(entrants=2)
        await here.come("ann")
        watcher = await here.watch("page=/tournaments/cup")
        await trio.sleep(1.0)
        await watcher.look()
        before, alive = watcher.batches, watcher.alive
        await trio.sleep(60.0)
        await watcher.look()
    assert watcher.batches == before
    assert watcher.alive == alive + 4 * often


async def test_a_client_that_comes_back_is_told_the_time_at_once_if_it_has_everything(
    autojump_clock: MockClock,
) -> None:
    """Its clocks stand still until then. They would jump if what it has were of an earlier run."""
    async with gallery() as here:
        await here.hold(entrants=2)
        await here.come("ann")
        first = await here.watch("page=/tournaments/cup")
        await trio.sleep(1.0)
        await first.look()
        for known, alive in ((first.id, 1), ("another-1", 0)):
            again = await here.watch(f"page=/tournaments/cup&after={known}")
            await again.look()
            assert again.alive == alive


async def test_a_deaf_spectator_is_cut_and_the_others_see_every_frame(autojump_clock: MockClock) -> None:
    limits = Limits(outbox_seconds=5.0)
    async with gallery(limits) as here:
        await here.come("ann", "bob", behave=paced(0.5))
        deaf = await here.watch("page=/", weather=Weather(window=4096))
        alert = await here.watch("page=/")
        for _ in range(40):
            await trio.sleep(0.5)
            await alert.look()
        assert len(here.pages.live) == 1
        late = await here.watch("page=/")
        await trio.sleep(1.0)
        await alert.look()
        await late.look()
        deaf.client.end.close()
    assert alert.batches > 30
    assert alert.parts == late.parts


async def test_whoever_reads_slowly_is_kept_no_more_than_one_frame_and_gets_the_latest(
    autojump_clock: MockClock,
) -> None:
    """Catches a queue of old boards for a slow reader, which would see the match minutes late."""
    async with gallery() as here:
        await running(here, "ann", "bob", think=0.1, game="hexagon-dots", options={"rows": 7, "cols": 7})
        slow = await here.watch("page=/matches/cup-1", weather=Weather(window=3000, latency=0.05))
        quick = await here.watch("page=/matches/cup-1")
        for _ in range(360):
            await trio.sleep(0.05)
            await slow.look()
            await quick.look()
    assert slow.batches < quick.batches / 2
    assert slow.parts == quick.parts
    assert slow.items == quick.items
    assert slow.gaps == 0


async def test_what_is_no_id_of_this_run_of_the_host_is_no_id(autojump_clock: MockClock) -> None:
    """Whoever comes with one gets all there is, though nothing changes any more."""
    async with gallery() as here:
        await running(here, "ann", "bob", think=50.0)
        first = await here.watch("page=/matches/cup-1")
        await trio.sleep(1.0)
        await first.look()
        run, _, tick = first.id.partition("-")
        assert int(tick) > 0
        strange = ("0badc0de-5", "5", "-", "x-y", "é", "9" * 30)
        for said in (*strange, f"{run}-", f"{run}-x", f"{run}-²", f"{run}--5", f"{run}-{'9' * 30}"):
            watcher = await here.watch(f"page=/matches/cup-1&after={quote(said)}")
            await trio.sleep(0.5)
            await watcher.look()
            assert watcher.parts, said
        again = await here.watch(f"page=/matches/cup-1&after={first.id}")
        await trio.sleep(0.5)
        await again.look()
        assert not again.parts, "this one has them"


async def test_boards_out_of_view_are_not_sent_until_they_are_in_view_again(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob", "cas", "dee")
        await here.read("/tournaments/cup")
        watcher = await here.watch("page=/tournaments/cup&hidden=place-1,nonsense")
        await trio.sleep(5.0)
        await watcher.look()
        assert "place-0" in watcher.parts
        assert "place-1" not in watcher.parts
        named = "place-1,nonsense" + 100 * ",place-1"
        again = await here.watch(f"page=/tournaments/cup&missed={named}", f"Last-Event-ID: {watcher.id}")
        await again.look()
        assert again.places == ["place-1"], "or a line of text would have many megabytes sent"


async def test_no_board_of_a_deleted_tournament_is_on_the_first_page(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob", think=3.0)
        watcher = await here.watch("page=/")
        await trio.sleep(200.0)
        await watcher.look()
        assert "/matches/cup-1" in watcher.parts["place-0"]
        await here.host.delete(here.host.tournaments["cup"], "the organiser")
        await trio.sleep(1.0)
        await watcher.look()
        assert watcher.parts["place-0"] == ""
        assert "/matches/cup-1" not in "".join(watcher.parts.values())


@pytest.mark.parametrize(("path", "place"), [("/tournaments/cup", "progress"), ("/wall/cup", "groups")])
async def test_an_open_page_says_that_its_tournament_was_deleted_and_nothing_of_matches(
    autojump_clock: MockClock, path: str, place: str
) -> None:
    """It was planned, and never had any."""
    async with gallery() as here:
        await here.hold()
        watcher = await here.watch(f"page={path}")
        await trio.sleep(2.0)
        await here.host.delete(here.host.tournaments["cup"], "the organiser")
        await trio.sleep(2.0)
        await watcher.look()
        assert "deleted" in watcher.parts[place]
        assert "matches" not in watcher.parts[place]


@pytest.mark.parametrize("path", ["/", "/tournaments/cup", "/wall", "/wall/cup"])
async def test_a_page_that_is_loaded_again_shows_the_present_without_a_script(
    autojump_clock: MockClock, path: str
) -> None:
    """Catches tables as they were when somebody last loaded the page, up to a minute ago."""
    async with gallery() as here:
        await here.hold(entrants=4)
        for count, name in enumerate(("ann", "bob", "cas"), 1):
            await here.come(name)
            await trio.sleep(LINGERS / 2)
            found = re.search(r"(\d) (?:of 4|entrant)", await here.read(path))
            assert found is not None
            assert int(found[1]) == count


async def test_a_page_that_nobody_has_open_is_forgotten_and_no_task_is_left(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob", think=3.0)
        watcher = await here.watch("page=/matches/cup-1")
        await trio.sleep(1.0)
        watcher.client.end.close()
        await trio.sleep(LINGERS - 10.0)
        assert [*here.pages.live._shown] == ["/matches/cup-1"], "for whoever only reconnects"
        await trio.sleep(2 * LINGERS)
        assert len(here.pages.live) == 0
        assert not here.pages.live._shown, "although nobody has asked for another page"
        other = await here.watch("page=/")
        await trio.sleep(1.0)
        assert [*here.pages.live._shown] == ["/"]
        other.client.end.close()


async def test_no_more_pages_that_nobody_has_open_are_kept_than_there_is_room_for(
    autojump_clock: MockClock,
) -> None:
    """Catches parts and boards of all matches that a stranger has asked for within the last minute."""
    async with gallery() as here:
        await running(here, "ann", "bob")
        await trio.sleep(60.0)
        for _ in range(2):
            watched = await here.watch("page=/")
            await trio.sleep(0.1)
            for number in range(MOST):
                await here.pages.live.ready(f"/wall/{number}", ProjectorLook(here.host, None))
            await here.watch("page=/matches/cup-1")
            (await here.watch("page=/tournaments/cup")).client.end.close()
            await trio.sleep(0.1)
            kept = [*here.pages.live._shown]
            assert len(kept) == MOST + 2, "and those that somebody has open"
            assert {"/", "/matches/cup-1", "/tournaments/cup"} < {*kept}
            assert "/wall/0" not in kept
            watched.client.end.close()
        assert await here.read("/")


async def test_a_page_is_shown_although_it_was_dropped_after_it_was_ready(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob")
        live, look = here.pages.live, ProjectorLook(here.host, None)
        shown = await live.ready("/wall", look)
        for number in range(MOST):
            await live.ready(f"/wall/{number}", look)
        assert "/wall" not in live._shown
        assert live.show("/wall", shown)["parts"]
        assert "/wall" not in live._shown


@pytest.mark.parametrize("address", ["elsewhere/", "elsewhere/wall", "x/tournaments/cup", "x/matches/cup-1"])
async def test_a_page_has_one_address_and_whoever_makes_up_another_gets_no_stream(
    autojump_clock: MockClock, address: str
) -> None:
    """Catches a stream of the first page under another address, which took the news from the real one's."""
    async with gallery() as here:
        await running(here, "ann", "bob")
        await trio.sleep(1.0)
        watcher = await here.watch(f"page={address}")
        await trio.sleep(1.0)
        assert watcher.client.end.here().startswith(b"HTTP/1.1 404 ")
        assert not here.pages.live._shown


async def test_the_first_page_is_whole_also_when_nobody_has_looked_at_it_for_a_while(
    autojump_clock: MockClock,
) -> None:
    """Catches a board that is left out because it was shown before, to somebody else, and has not changed."""
    async with gallery() as here:
        await running(here, "ann", "bob")
        early = await here.watch("page=/")
        await trio.sleep(60.0)  # until all is over, and nothing changes any more
        await early.look()
        before = await here.read("/")
        early.client.end.close()
        for _ in range(4):
            await trio.sleep(LINGERS)
            await here.read("/tournaments/cup")
        after, late = await here.read("/"), await here.watch("page=/")
        await trio.sleep(1.0)
        await late.look()
    assert 'href="/matches/cup-1"' in late.parts["place-0"]
    assert late.parts == early.parts
    assert after.count('href="/matches/cup-1"') == before.count('href="/matches/cup-1"') > 0


async def test_how_lots_are_drawn_is_on_the_page_as_soon_as_it_is_revealed(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.host.open("cup", Opened(GAME, "round-robin", 2, Terms(seed=None)))
        watcher = await here.watch("page=/tournaments/cup")
        await trio.sleep(1.0)
        await watcher.look()
        assert "Lots will be drawn by a seed that the host has chosen" in watcher.parts["lots"]
        await here.come("ann", "bob", behave=silent)
        await trio.sleep(2.0)
        await watcher.look()
        page = await here.read("/tournaments/cup")
    assert "Lots were drawn by the seed" in watcher.parts["lots"]
    assert f'id="lots">{watcher.parts["lots"]}</p>' in page


async def test_what_an_organiser_does_is_on_the_page_at_once(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await running(here, "ann", "bob", "cas")
        await trio.sleep(60.0)
        watcher = await here.watch("page=/tournaments/cup")
        await trio.sleep(1.0)
        desk = Desk(here.host.tournaments["cup"])
        await desk.disqualify("ann", "two bots in one")
        await trio.sleep(2.0)
        await watcher.look()
        assert "disqualified" in watcher.parts["standings"]


async def test_matches_that_are_over_stay_over_however_long_the_tables_take(
    autojump_clock: MockClock,
) -> None:
    """What was said with the tables was older than what had been said meanwhile."""

    async def slowly(work: Callable[[], Any]) -> Any:
        await trio.sleep(3.5)
        return work()

    async with gallery(run=slowly) as here:
        await here.hold(entrants=8)
        for n in range(8):
            await here.come(f"bot {n}", behave=paced(0.5 + 0.1 * n))
        await trio.sleep(0.1)
        watcher = await here.watch("page=/tournaments/cup")
        said: list[int] = []
        for _ in range(240):
            await trio.sleep(0.5)
            await watcher.look()
            said += [int(over) for over in re.findall(r">(\d+) of 28 ", watcher.parts.get("progress", ""))]
        assert said == sorted(said)
        assert len({*said}) > 3
        assert said[-1] == 28


PAGES = ("/", "/tournaments/cup", "/wall", "/wall/cup", "/matches/cup-1")


@pytest.mark.parametrize("address", PAGES)
async def test_every_page_that_goes_on_says_so_while_nothing_can_be_kept(
    address: str, autojump_clock: MockClock
) -> None:
    """Whoever looked saw a match in which nothing happened any more, and not a word of that."""
    async with gallery() as here:
        await running(here, "ann", "bob", think=50.0)
        watcher = await here.watch(f"page={address}")
        for trouble in ("", "the disk is full", ""):
            here.host.store.trouble = trouble
            await trio.sleep(1.0)
            await watcher.look()
            page = await here.read(address)
            for shown in (watcher.parts["trouble"], page):
                assert (STANDS_STILL in shown) == bool(trouble)


async def test_the_clock_of_the_page_is_that_of_the_host(autojump_clock: MockClock) -> None:
    """What is left on a clock is told as the time at which it runs out, and the host's own time."""
    async with gallery() as here:
        await here.hold(entrants=2)
        await here.come("ann", "bob", behave=silent)
        await trio.sleep(3.0)
        page = await here.read("/matches/cup-1")
        deadline = here.host.tournaments["cup"].matches["cup-1"].clock.deadline
        (until,) = re.findall(r'data-until="([0-9.]+)"', page)
        (now,) = re.findall(r'data-now="([0-9.]+)"', page)
        assert float(until) == pytest.approx(deadline, abs=0.001)
        assert float(now) == pytest.approx(trio.current_time(), abs=0.001)


class Growing(Look):
    """A page with a list."""

    tournament = ""

    def __init__(self) -> None:
        self.list: list[Markup] = []

    async def prepare(self) -> None:
        pass

    def items(self) -> Mapping[str, list[Markup]]:
        return {"moves": self.list}

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        yield from ()


def test_whoever_has_items_of_a_list_that_begins_anew_is_sent_all_of_it() -> None:
    """As when moves were taken back, and others were played."""
    look = Growing()
    shown = LivePage(look, 0.0)

    def sent(tick: int) -> str:
        """What is sent in a tick to those who have all that was sent before."""
        for _ in shown.update(lambda: tick, 0.0):
            pass
        return shown.batch(tick - 1, frozenset(), False).decode()

    look.list += map(Markup, "abc")
    assert '"html":"abc","from":0' in sent(1)
    look.list += map(Markup, "d")
    assert '"html":"d","from":3' in sent(2)
    for tick, anew in ((3, "abx"), (4, "abyzw")):
        look.list = [*map(Markup, anew)]
        assert f'"html":"{anew}","from":0' in sent(tick)
    look.list += map(Markup, "e")
    assert '"html":"e","from":5' in sent(5)


@pytest.mark.parametrize("items", ["abc", ["a" * 100] * 500, ["a" * 1000] * 500])
def test_what_is_kept_to_be_sent_again_is_bounded_however_many_places_clients_go_on_from(
    items: Sequence[str],
) -> None:
    """On a page that does not change, so that nothing else clears it."""
    look = Growing()
    look.list += map(Markup, items)
    shown = LivePage(look, 0.0)
    for _ in shown.update(lambda: 10 * BATCHES, 0.0):
        pass
    hides = frozenset[str](), frozenset({"board"})
    sent = {shown.batch(after, hidden, False) for after in range(10 * BATCHES) for hidden in hides}
    assert len(sent) == 1, "all are sent the whole list"
    assert len(shown._batches) <= BATCHES
    assert sum(map(len, shown._batches.values())) <= ROOM + len(*sent)


class Heavy(Look):
    """A page whose every look takes 4 ms, in four steps."""

    tournament = ""

    def __init__(self, clock: MockClock) -> None:
        self._clock = clock
        self.worked = 0.0
        self.looks = 0

    async def prepare(self) -> None:
        pass

    def items(self) -> Mapping[str, list[Markup]]:
        return {}

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        self.looks += 1
        for step in range(4):
            self._clock.jump(0.004)
            self.worked += 0.004
            yield f"part-{step}", Markup("{}").format(self.looks)


async def test_spectators_have_a_tenth_of_the_time_however_much_there_is_to_do() -> None:
    """And the players have a turn after each step of it."""
    clock = MockClock(autojump_threshold=0)
    look = Heavy(clock)
    turns = 0

    async def player() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.sleep(0.001)

    async def main() -> None:
        async with hosting({}) as (host, nursery):
            live = Live(host, trio.current_time, 15.0)
            await live.ready("/heavy", look)
            async with serving(lambda exchange: live.stream(exchange, "/heavy")) as server:
                client = server.connect()
                await client.end.send_all(get("/live"))
                nursery.start_soon(player)
                begun = trio.current_time()
                while look.looks < 30:
                    await trio.sleep(0.01)
                    await Watcher(client).client.now()
                assert look.worked <= (trio.current_time() - begun) / (1 + REST) * 1.1
                assert turns > 4 * look.looks

    await trio.to_thread.run_sync(lambda: trio.run(main, clock=clock))
