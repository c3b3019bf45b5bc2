"""The pages in a real browser, while real bots play through real doors."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from threading import Semaphore
from typing import Any

import pytest
from playwright.sync_api import Browser, FloatRect, Page, Route, expect

from games.catalogue import catalogue
from server.pages import formatting
from server.pages.tables import PAGE
from tests.browser.bots import Bot
from tests.browser.conftest import BOTS, GAMES, LOOKS, faults, order, picture, plies, visitor, within
from tests.browser.hostile import PAYLOADS
from tests.effort import IS_CAMPAIGN, tries
from tests.hang import HANG, wait_for
from tests.ports import free_ports
from tests.server.served import Served

pytestmark = pytest.mark.slow

QUIET = ("--log-level", "error")  # nobody reads what a host says: a full pipe would hold it up
PAGES = {
    "home": "/",
    "tournaments": "/tournaments",
    "tournament": "/tournaments/quoridor",
    "tournament in play": "/tournaments/live",
    "standings": "/tournaments/connect-4/standings",
    "schedule": "/tournaments/connect-4/schedule",
    "match": "/matches/quoridor-1",
    "live match": "/matches/live-1",
    "embedded": "/embed/matches/santorini-1",
    "bot": "/bots/ada",
    "games": "/games",
    "game": "/games/hexagon-dots",
    "protocol": "/protocols/house",
    "wall": "/wall",
    "wall of one": "/wall/live",
    "missing": "/matches/nowhere-1",
}


def table(page: Page, selector: str) -> list[list[str]]:
    """The cells of a table's rows, as they are read."""
    return page.evaluate(
        "(selector) => [...document.querySelectorAll(`${selector} tbody tr`)].map((row) =>"
        " [...row.children].map((cell) => cell.innerText.trim()))",
        selector,
    )


def test_boards_move_and_the_standings_settle_to_the_apis(browser: Browser, serve: Any) -> None:
    cup = ("--tournament", "cup", "--game", "connect-4", "--format", "round-robin", "--entrants", "4")
    served = serve(*QUIET, *cup)
    with visitor(browser, served.http) as spectator:
        page, home = spectator.open("/tournaments/cup"), spectator.open("/")
        expect(page.locator("#progress")).to_contain_text("registering")
        for each in (page, home):
            each.evaluate(
                """() => {
                    window.boards = new Set();
                    const note = () => document.querySelectorAll(".card svg")
                        .forEach((svg) => boards.add(svg.outerHTML));
                    new MutationObserver(note).observe(document.body, { subtree: true, childList: true });
                }"""
            )
        for name in ("ada", "bela", "coco", "dot"):
            Bot(served.tcp, name, "connect-4", think=0.02)
        expect(page.locator("#progress")).to_contain_text("finished")
        expect(home.locator("#tournaments")).to_contain_text("won by")
        _, told = served.get("/api/tournaments/cup/standings")
        expected = [
            [
                str(row["rank"]),
                row["name"],
                formatting.points(row["points"]),
                str(row["played"]),
                f"{row['wins']}–{row['draws']}–{row['losses']}",
            ]
            for row in told["rows"]
        ]
        wait_for(lambda: [row[:5] for row in table(page, ".standings")] == expected)  # a second later
        ratings = [cells[-3].split()[0] for cells in table(page, ".standings")]
        assert ratings == [formatting.signed(row["rating"]) for row in told["rows"]]
        assert len(table(page, ".crosstable")) == 4
        assert page.evaluate("boards.size") > 1, "boards that were seen in passing"
        assert home.evaluate("boards.size") > 1
        for each in (page, home):
            assert each.evaluate("document.querySelectorAll('*').length") <= 2000
            assert spectator.noted(each) == []
        assert spectator.complaints == []


@pytest.mark.parametrize("name", GAMES)
def test_the_replay_of_a_match_shows_every_position(browser: Browser, arena: Served, name: str) -> None:
    _, told = arena.get(f"/api/matches/{name}-1")
    game = catalogue()[name]
    position = game.start()
    with visitor(browser, arena.http) as spectator:
        page = spectator.open(f"/matches/{name}-1")
        page.keyboard.press("Home")
        expect(page.locator("[data-where]")).to_have_text("the beginning")
        assert shown(page) == drawn(game.draw(position, None))
        steps = page.evaluate(WALK, [min(len(told["moves"]), STEPS), 1000 * HANG])
        for ply, (written, (where, board)) in enumerate(zip(told["moves"], steps, strict=False), 1):
            move = game.read(written, position)
            words = game.spelled(move, position)
            position = position.play(move)
            assert where == f"move {ply} of {len(told['moves'])}: {words}"
            assert drawn(board) == drawn(game.draw(position, move)), ply
        assert ply == len(steps)
        expect(page).to_have_url(re.compile(rf"\?ply={ply}$"))
        page.reload()
        assert shown(page) == drawn(game.draw(position, move))
        assert spectator.complaints == []


# In most games that is all of a match; in the others men stand, move and are built around.
STEPS = tries(25, 1000)

# Within the page: to ask a browser about each of a hundred moves takes longer than all the rest.
WALK = """async ([count, limit]) => {
    const where = document.querySelector("[data-where]"), seen = [], last = Date.now() + limit;
    for (let ply = 1; ply <= count; ply++) {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        while (!where.textContent.startsWith(`move ${ply} of`) && Date.now() < last)
            await new Promise(requestAnimationFrame);
        seen.push([where.textContent.trim(), document.querySelector("#board svg").outerHTML]);
    }
    return seen;
}"""


def shown(page: Page) -> str:
    return ET.canonicalize(page.evaluate("document.querySelector('#board svg').outerHTML"))


def drawn(svg: str) -> str:
    return ET.canonicalize(svg)


def test_a_replay_plays_by_itself_and_can_be_scrubbed(browser: Browser, arena: Served) -> None:
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/tic-tac-toe-1?ply=1")
        where = page.locator("[data-where]")
        page.keyboard.press("Space")
        expect(where).to_contain_text("move 3 of")
        page.keyboard.press("Space")
        page.locator("[data-scrubber]").fill("2")
        expect(where).to_contain_text("move 2 of")
        page.locator("#moves li a").nth(3).click()
        expect(where).to_contain_text("move 4 of")
        expect(page.locator("#moves a[aria-current]")).to_have_count(1)
        assert spectator.complaints == []


@pytest.mark.parametrize("status", [None, 503])
def test_a_replay_says_that_a_move_cannot_be_loaded_and_goes_on_when_it_can(
    browser: Browser, arena: Served, status: int | None
) -> None:
    """Catches a slider that is elsewhere than the board, while nothing says why."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/santorini-1")
        page.on("pageerror", lambda error: errors.append(str(error)))
        errors: list[str] = []
        where, scrubber = page.locator("[data-where]"), page.locator("[data-scrubber]")
        last = scrubber.input_value()
        page.route(
            "**/frames?*", lambda route: route.abort() if status is None else route.fulfill(status=status)
        )
        scrubber.fill("2")
        expect(where).to_have_text("move 2 cannot be loaded just now; try again")
        expect(scrubber).to_have_value(last)
        page.unroute("**/frames?*")
        scrubber.fill("2")
        expect(where).to_contain_text("move 2 of")
        assert errors == []


def test_a_replay_says_that_a_move_is_on_its_way(browser: Browser, arena: Served) -> None:
    """Catches a step that does nothing for minutes: a network that is gone fails no request."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/santorini-1")
        held: list[Route] = []
        page.route("**/frames?*", lambda route: held.append(route))
        page.locator("[data-scrubber]").fill("2")
        expect(page.locator("[data-where]")).to_have_text("move 2 is being loaded")
        for route in held:
            route.continue_()
        expect(page.locator("[data-where]")).to_contain_text("move 2 of")


ALLOWED = 100 / 30_000  # changes of its address that a page in Safari has in a ms; with any more, it raises
NOTED = """() => {
    window.changes = 0;
    const change = history.replaceState.bind(history);
    history.replaceState = (...how) => { window.changes += 1; change(...how); };
}"""


def test_the_address_of_a_replay_changes_only_as_often_as_every_browser_allows(
    browser: Browser, arena: Served
) -> None:
    """As long as an arrow key is held down or the slider is drawn, and then it leads to what is shown."""
    steps, pace = 30, 100  # ms
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/quoridor-1?ply=0")
        page.clock.install(time=0)
        page.reload()
        page.evaluate(NOTED)
        page.clock.pause_at(10_000)
        for ply in range(1, steps + 1):
            page.keyboard.press("ArrowRight")
            expect(page.locator("[data-where]")).to_contain_text(f"move {ply} of")
            page.clock.run_for(pace)
        page.clock.run_for(1000)
        expect(page).to_have_url(re.compile(rf"\?ply={steps}$"))
        assert page.evaluate("changes") < ALLOWED * (steps * pace + 1000)


TABBED = (
    """() => [...document.querySelectorAll("#moves, #moves a")].filter((each) => each.tabIndex >= 0).length"""
)
FOCUSED = "document.activeElement.closest('#moves li')?.value"


def test_the_tab_key_stops_once_in_the_list_of_moves_and_arrow_keys_reach_them_all(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/tic-tac-toe-1?ply=2")
        where, count = page.locator("[data-where]"), page.locator("#moves a").count()
        page.locator("#moves a[tabindex='0']").focus()
        assert page.evaluate(FOCUSED) == 2
        for key, step in (("ArrowDown", 1), ("ArrowUp", -1), ("ArrowLeft", -1), ("ArrowRight", 1)):
            before = page.evaluate(FOCUSED)
            page.keyboard.press(key)
            expect(where).to_contain_text(f"move {before + step} of")
            assert (page.evaluate(FOCUSED), page.evaluate(TABBED)) == (before + step, 1)
        page.keyboard.press("End")
        expect(where).to_contain_text(f"move {count} of")
        assert page.evaluate(FOCUSED) == count
        page.keyboard.press("Home")
        expect(where).to_have_text("the beginning")
        page.keyboard.press("Enter")
        expect(where).to_contain_text("move 1 of")
        spectator.go(page, "/matches/live-1")
        for pinned in (False, True):  # to an earlier move
            if pinned:
                page.keyboard.press("Home")
                expect(where).to_have_text("the beginning")
            listed = page.locator("#moves li").count()
            live.release()
            expect(page.locator("#moves li").nth(listed)).to_be_attached()
            wait_for(lambda: page.evaluate(TABBED) == 1)
        assert spectator.complaints == []


def test_a_live_match_is_followed_unless_somebody_looks_back(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/live-1")
        moves = page.locator("#moves li")
        before = moves.count()
        live.release()
        expect(moves.nth(before)).to_be_attached()
        _, told = arena.get("/api/matches/live-1")
        expect(page.locator("[data-where]")).to_contain_text(f"of {len(told['moves'])}")
        page.keyboard.press("Home")
        expect(page.locator("[data-where]")).to_have_text("the beginning")
        still, count = shown(page), moves.count()
        live.release()
        expect(moves.nth(count)).to_be_attached()
        assert shown(page) == still
        for used in page.locator("[data-used]").all():
            expect(used).to_have_text("< 1 ms")
        page.keyboard.press("End")
        expect(page.locator(".clock.running")).to_have_count(1)
        one = page.locator(".clock.running").text_content()
        wait_for(lambda: page.locator(".clock.running").text_content() != one)
        assert spectator.complaints == []


def test_whoever_looks_back_in_a_live_match_sees_how_many_moves_there_are_by_now(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/live-1?ply=1")
        where, made = page.locator("[data-where]"), plies(arena)
        expect(where).to_contain_text(f"move 1 of {made}: ")
        words = where.inner_text().partition(": ")[2]
        live.release()
        expect(where).to_have_text(f"move 1 of {made + 1}: {words}")
        assert spectator.complaints == []


def test_the_links_to_the_next_move_and_to_the_end_of_a_live_match_lead_to_what_there_is_by_now(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """Whoever opens them in another tab follows the address alone."""
    with visitor(browser, arena.http) as spectator:
        made = plies(arena)
        page = spectator.open(f"/matches/live-1?ply={made}")
        live.release()
        for link in ("on", "last"):
            expect(page.locator(f'[data-to="{link}"]')).to_have_attribute("href", f"?ply={made + 1}")
        page.keyboard.press("Home")
        expect(page.locator('[data-to="on"]')).to_have_attribute("href", "?ply=1")
        live.release()
        expect(page.locator('[data-to="last"]')).to_have_attribute("href", f"?ply={made + 2}")
        expect(page.locator('[data-to="on"]')).to_have_attribute("href", "?ply=1")
        assert spectator.complaints == []


def test_whoever_goes_to_the_end_of_a_live_match_has_its_address_though_a_move_comes_meanwhile(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """Catches the address of an earlier move, which is shown when the page is loaded again."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/live-1")
        moves = page.locator("#moves li")
        page.keyboard.press("Home")
        expect(page).to_have_url(re.compile(r"\?ply=0$"))
        held: list[Route] = []
        page.route("**/frames?*", lambda route: held.append(route))

        def go_on() -> None:
            count = moves.count()
            live.release()
            expect(moves.nth(count)).to_be_attached()

        go_on()
        page.keyboard.press("End")
        wait_for(lambda: page.evaluate("true") and held)
        go_on()
        for each in held:
            each.continue_()
        expect(page).to_have_url(re.compile(r"/matches/live-1$"))
        assert spectator.complaints == []


def test_a_click_leads_where_it_was_pressed_though_the_board_changes_meanwhile(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """Catches boards that can hardly be clicked: what was pressed is no more when it is let go."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/")
        board, elsewhere = page.locator(".card .board").first, page.locator("h1")
        for let_go in (elsewhere, board):
            expect(board).to_be_visible()
            board.hover()
            page.mouse.down()
            page.evaluate(
                "() => { window.heard = new Promise((heard) => document.addEventListener('live', heard)) }"
            )
            before, made = board.inner_html(), plies(arena)
            live.release()
            wait_for(lambda made=made: plies(arena) > made)
            page.evaluate("heard")
            let_go.hover()
            page.mouse.up()
            if let_go is elsewhere:  # then the board is shown as it is by now
                wait_for(lambda before=before: board.inner_html() != before)
        page.wait_for_url("**/matches/live-1")
        assert spectator.complaints == []


def test_the_list_of_moves_has_no_gap_where_a_page_begins_long_before_the_latest_move(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """As of a match with more moves than a page lists, opened at one of the first."""

    def as_if_long(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r'<li value="3">.*</ol>', "</ol>", answer.text()))

    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/")
        page.route("**/matches/live-1?ply=1", as_if_long)
        spectator.go(page, "/matches/live-1?ply=1")
        moves = page.locator("#moves li")
        expect(moves).to_have_count(2)
        for latest in range(plies(arena) + 1, plies(arena) + 3):
            live.release()
            wait_for(lambda latest=latest: moves.last.get_attribute("value") == str(latest))
            numbers = moves.evaluate_all("(moves) => moves.map((move) => move.value)")
            assert numbers == [*range(numbers[0], latest + 1)]
            assert page.locator("#moves").get_attribute("data-first") == str(numbers[0])
        assert spectator.complaints == []


def test_a_large_board_is_not_blank_until_the_picture_of_the_next_move_has_come(
    browser: Browser, serve: Any
) -> None:
    served, turns = serve(*QUIET), Semaphore(0)
    token = (served.data / "organiser-token").read_text().strip()
    large = {"rows": 31, "cols": 31}
    order(served, token, "", name="cup", game="hexagon-dots", entrants=2, options=large)
    for name in ("ada", "bela"):
        Bot(served.tcp, name, "hexagon-dots", turns=turns)
    wait_for(lambda: served.get("/api/matches/cup-1")[0] == 200)
    with visitor(browser, served.http) as spectator:
        for path, place in (("/matches/cup-1", "#board"), ("/", ".card .board")):
            page = spectator.open(path)
            board = page.locator(f"{place} img")
            expect(board).to_be_visible()
            page.evaluate(
                """() => {
                    window.blank = 0;
                    const look = () => document.querySelectorAll(".board img")
                        .forEach((picture) => { blank += picture.complete && picture.naturalWidth ? 0 : 1; });
                    new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
                }"""
            )
            before = board.get_attribute("src")
            turns.release()
            expect(board).not_to_have_attribute("src", before or "")
            assert page.evaluate("blank") == 0, path
        assert spectator.complaints == []


def test_what_had_the_focus_has_it_after_an_update_and_what_was_scrolled_stays_so(
    browser: Browser, serve: Any
) -> None:
    """Catches a link of the schedule that loses the focus to another of the same bot."""
    cup = ("--tournament", "cup", "--game", "tic-tac-toe", "--format", "round-robin", "--entrants", "4")
    served, turns = serve(*QUIET, *cup), Semaphore(0)
    for name in ("ada", "bela", "coco", "dot"):
        Bot(served.tcp, name, "tic-tac-toe", turns=turns)
    wait_for(lambda: served.get("/api/matches/cup-1")[0] == 200)
    with visitor(browser, served.http, look="phone") as spectator:
        page = spectator.open("/tournaments/cup")
        links, around = page.locator("#schedule a[href='/bots/ada']"), page.locator("#standings .wide")
        expect(links).to_have_count(3)
        links.nth(1).focus()
        around.evaluate("(around) => { around.scrollLeft = 40 }")
        mark = (
            "(places) => places.forEach((each) => document.getElementById(each).firstElementChild.old = true)"
        )
        page.evaluate(mark, ["schedule", "standings"])
        turns.release(17)  # enough for one of the two matches to end
        gone = "(place) => !document.getElementById(place).firstElementChild.old"
        wait_for(lambda: page.evaluate(gone, "schedule") and page.evaluate(gone, "standings"))
        expect(links.nth(1)).to_be_focused()
        assert around.evaluate("(around) => around.scrollLeft") == 40
        around.focus()
        page.evaluate(mark, ["standings"])
        turns.release(40)
        wait_for(lambda: page.evaluate(gone, "standings"))
        expect(around).to_be_focused()
        assert spectator.complaints == []


def test_the_page_of_a_live_match_gets_what_belongs_to_its_end(
    browser: Browser, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place and the focus of whoever looks stay; once it is void, the frame elsewhere says so too."""
    monkeypatch.setenv("QUINTAIN_GRADING", "true")
    cup = ("--tournament", "cup", "--game", "tic-tac-toe", "--format", "round-robin", "--entrants", "2")
    served, turns = serve(*QUIET, *cup), Semaphore(0)
    for name in ("ada", "bela"):
        Bot(served.tcp, name, "tic-tac-toe", turns=turns, says={"spent": 0.01, "note": "so I think"})
    wait_for(lambda: served.get("/api/matches/cup-1")[0] == 200)
    with visitor(browser, served.http) as spectator:
        page, framed = spectator.open("/matches/cup-1"), spectator.open("/embed/matches/cup-1")
        turns.release()
        expect(page.locator("#moves li")).to_have_count(1)
        page.keyboard.press("Home")
        expect(page.locator("[data-where]")).to_have_text("the beginning")
        page.locator("#token").type("half of it")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        turns.release(20)
        expect(page.locator("#grades")).to_contain_text("the share of moves that kept a win or a draw")
        expect(page.locator("#about")).to_contain_text("lasted")
        expect(page.locator("#as-text")).to_contain_text("as text")
        expect(page.locator("#receipt")).to_contain_text("Receipt")
        expect(page.locator("#moves .note")).to_have_count(page.locator("#moves li").count())
        for each in (page, framed):
            expect(each.locator("#state")).to_contain_text("by its own clock")
        token = (served.data / "organiser-token").read_text().strip()
        order(served, token, "/cup/void", match="cup-1", why="a cable")
        for each in (page, framed):
            expect(each.locator("#state")).to_contain_text("Void: counts for nothing")
        expect(page.locator("[data-where]")).to_have_text("the beginning")
        expect(page.locator("#token")).to_be_focused()
        expect(page.locator("#token")).to_have_value("half of it")
        assert len([each for each in asked if "/matches/cup-1?ply=0" in each]) <= 3
        assert spectator.complaints == []


def test_a_page_that_was_opened_after_the_end_hears_of_a_void_without_a_stream(
    browser: Browser, serve: Any
) -> None:
    """Whoever comes back to the page sees it: nothing is held open for that."""
    cup = ("--tournament", "cup", "--game", "tic-tac-toe", "--format", "round-robin", "--entrants", "2")
    served = serve(*QUIET, *cup)
    for name in ("ada", "bela"):
        Bot(served.tcp, name, "tic-tac-toe")
    wait_for(lambda: served.get("/api/tournaments/cup")[1]["state"] == "finished")
    with visitor(browser, served.http) as spectator:
        page, framed = spectator.open("/matches/cup-1"), spectator.open("/embed/matches/cup-1")
        for each in (page, framed):
            expect(each.locator("#state")).not_to_contain_text("Void")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        token = (served.data / "organiser-token").read_text().strip()
        order(served, token, "/cup/void", match="cup-1", why="a cable")
        for each in (page, framed):
            each.evaluate("dispatchEvent(new Event('focus'))")
            expect(each.locator("#state")).to_contain_text("Void: counts for nothing")
        assert [each for each in asked if "/matches/cup-1?ply=" in each], "what else there is comes with it"
        assert not [each for each in asked if "/live" in each]
        assert spectator.complaints == []


def test_a_page_finds_its_host_again_after_a_restart(browser: Browser, serve: Any) -> None:
    """Until then it says so at the edge of the window, whatever part of a long page somebody looks at."""
    first = serve(*QUIET, http=free_ports(1)[0])
    with visitor(browser, first.http, "phone") as spectator:
        page = spectator.open("/")
        expect(page.locator("#tournaments")).to_contain_text("There is no tournament yet")
        first.kill()
        expect(page.locator("[data-connection]")).to_contain_text("cannot be reached")
        expect(page.locator("[data-connection]")).to_be_in_viewport(ratio=1)
        expect(page.locator("footer")).not_to_be_in_viewport()
        second = serve(*QUIET, "--tournament", "later", "--game", "quoridor", http=first.http)
        assert second.http == first.http
        expect(page.locator("#tournaments")).to_contain_text("later")
        expect(page.locator("[data-connection]")).to_be_hidden()


def test_a_page_that_is_no_more_does_not_say_that_its_host_cannot_be_reached(
    browser: Browser, serve: Any
) -> None:
    """As when somebody comes back to a tab, and the tournament in it was deleted meanwhile."""
    first = serve(*QUIET, "--tournament", "cup", "--game", "quoridor", http=free_ports(1)[0])
    with visitor(browser, first.http) as spectator:
        page = spectator.open("/tournaments/cup")
        expect(page.locator("#progress")).to_contain_text("registering")
        first.kill()
        expect(page.locator("[data-connection]")).to_contain_text("cannot be reached")
        serve(*QUIET, "--data", "anew", http=first.http)
        expect(page.locator("[data-connection]")).to_contain_text("does not have this page now")


def test_a_page_that_nobody_touches_shows_the_next_tournament_of_its_name(
    browser: Browser, serve: Any
) -> None:
    """As a projector after the rehearsal: also what its stream does not send is the next one's."""
    host = serve(*QUIET)
    token = (host.data / "organiser-token").read_text().strip()
    order(host, token, "", name="cup", game="quoridor")
    with visitor(browser, host.http) as spectator:
        wall, page = spectator.open("/wall/cup"), spectator.open("/tournaments/cup")
        expect(wall.locator("#groups")).to_contain_text("Quoridor")
        order(host, token, "/cup/delete")
        expect(wall.locator("#groups")).to_contain_text("deleted")
        expect(page.locator("#progress")).to_contain_text("deleted")
        order(host, token, "", name="cup", game="santorini")
        expect(wall.locator("#groups")).to_contain_text("Santorini")
        expect(page.locator(".subtitle")).to_contain_text("Santorini")
        expect(page.locator("#progress")).to_contain_text("registering")


def test_everything_can_be_read_without_a_script(browser: Browser, arena: Served) -> None:
    with visitor(browser, arena.http, java_script_enabled=False) as spectator:
        page = spectator.open("/tournaments/quoridor")
        for name in BOTS:
            expect(page.locator(".standings")).to_contain_text(name)
        page.locator(".crosstable td a").first.click()
        expect(page.locator("#board svg")).to_be_visible()
        page.get_by_label("One move back").click()
        expect(page.locator("[data-where]")).to_contain_text("move ")
        assert "?ply=" in page.url
        moves = page.locator("#moves a").count()
        assert page.evaluate(TABBED) > moves  # the list, to be scrolled, and each move


@pytest.mark.parametrize("scripts", [True, False])
def test_the_graph_points_at_the_move_on_the_board_or_at_none(
    browser: Browser, arena: Served, scripts: bool
) -> None:
    """Catches one that points at the first move beside the last board, which only a script mends."""
    with visitor(browser, arena.http, java_script_enabled=scripts) as spectator:
        cursor = spectator.open("/matches/tic-tac-toe-1").locator(".graph-cursor")
        shown = cursor.evaluate("(line) => getComputedStyle(line).display !== 'none'")
        assert shown == scripts


# Over hundreds of moves, or a page as long as a book, axe takes seconds; short ones have the same in them.
SHORTER = {"match": "/matches/tic-tac-toe-1", "protocol": "/protocols/mcp"}


def test_axe_finds_nothing_on_any_page(browser: Browser, arena: Served, axe: str) -> None:
    with visitor(browser, arena.http, bypass_csp=True) as spectator:
        page = spectator.open("/")
        for name, path in (PAGES if IS_CAMPAIGN else PAGES | SHORTER).items():
            spectator.go(page, path)
            assert faults(page, axe) == [], name


# In the dark the colours are others, at which axe looks, and nothing is wider.
@pytest.mark.parametrize(
    "look", [pytest.param(look, marks=pytest.mark.campaign) if look == "dark" else look for look in LOOKS]
)
def test_every_page_fits_and_can_be_looked_at(browser: Browser, arena: Served, look: str) -> None:
    """After `make campaign` the pictures are in `.cache/screenshots`, for people."""
    with visitor(browser, arena.http, look) as spectator:
        page = spectator.open("/")
        for name, path in PAGES.items():
            spectator.go(page, path)
            assert within(page), f"{name} is too wide"
            assert spectator.noted(page) == [], name
            whole = name != "protocol"  # which is as long as a book
            picture(page, f"{name.replace(' ', '-')}-{look}", whole)
            if look == "light":
                text_is_as_large_as_its_reader_has_set_it(page, name)


def text_is_as_large_as_its_reader_has_set_it(page: Page, name: str) -> None:
    """Catches a size in pixels, which overrules what somebody with weak eyes has chosen in the browser."""
    session = page.context.new_cdp_session(page)
    session.send("Page.setFontSizes", {"fontSizes": {"standard": 24, "fixed": 20}})
    chosen = page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    assert chosen == 24 or "wall" in name
    for look in ("phone", "light"):
        page.set_viewport_size(LOOKS[look]["viewport"])
        assert within(page), f"{name} is too wide with large text"
    session.send("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
    session.detach()


def test_a_board_is_seen_whole_beside_which_there_is_no_room(browser: Browser, arena: Served) -> None:
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/santorini-1")
        page.set_viewport_size({"width": 980, "height": 600})
        board = page.locator("#board").bounding_box()
        assert board is not None
        assert board["height"] <= 600


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A host on which bots have said how much time they spent, and one has a name that is long."""
    cup = ("--tournament", "cup", "--game", "connect-4", "--format", "double-round-robin", "--entrants", "2")
    served = Served(tmp_path_factory.mktemp("timed"), *QUIET, *cup)
    for name in ("greedy-connect-4", "one-with-a-name-that-is-long-1"):
        Bot(served.tcp, name, "connect-4", says={"spent": 0.0123})
    wait_for(lambda: served.get("/api/tournaments/cup")[1]["state"] == "finished")
    yield served
    served.kill()


def test_on_paper_boards_are_equally_wide_whatever_names_the_bots_have(browser: Browser, serve: Any) -> None:
    served, turns = serve(*QUIET), Semaphore(0)
    for game, name in (("quoridor", "W" * 32), ("connect-4", "b"), ("santorini", "c"), ("tic-tac-toe", "d")):
        for each in (name, "x"):
            Bot(served.tcp, each, game, turns=turns)
    with visitor(browser, served.http) as spectator:
        page = spectator.open("/")
        expect(page.locator(".card")).to_have_count(4)
        page.emulate_media(media="print")
        widths = page.locator(".card").evaluate_all("(cards) => cards.map((card) => card.offsetWidth)")
        assert max(widths) - min(widths) <= 1, widths
        page.set_viewport_size({"width": 794, "height": 1123})  # A4
        assert within(page)


HEIGHTS = """(texts) => texts.map((text) =>
    text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize))"""  # of letters, in pixels


def test_each_result_of_a_pair_is_large_enough_for_a_finger_and_labels_for_an_eye(
    browser: Browser, timed: Served, axe: str
) -> None:
    """Catches results of the same pair that stand so close that a finger hits the next one."""
    with visitor(browser, timed.http, bypass_csp=True) as spectator:
        page = spectator.open("/tournaments/cup")
        expect(page.locator(".crosstable td a")).to_have_count(4)
        assert faults(page, axe) == []
        page.set_viewport_size({"width": 360, "height": 800})
        for path in ("/matches/cup-1", "/bots/greedy-connect-4"):
            spectator.go(page, path)
            heights = page.locator("svg .curve-text").evaluate_all(HEIGHTS)
            assert len(heights) >= 4, path
            assert min(heights) >= 8.5, path


@pytest.mark.parametrize("scripts", [True, False])
def test_a_match_fits_where_it_is_narrow_or_in_two_columns_whatever_bots_say_of_their_time(
    browser: Browser, timed: Served, scripts: bool
) -> None:
    with visitor(browser, timed.http, java_script_enabled=scripts) as spectator:
        page = spectator.open("/")
        for path in ("/matches/cup-1", "/embed/matches/cup-1"):
            spectator.go(page, path)
            expect(page.locator(".seats").first).to_contain_text("by its own clock")
            for width in (320, 414, 420, 1000, 1200):
                page.set_viewport_size({"width": width, "height": 900})  # the board is as wide as it may
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
                for score in page.locator(".seats .score").all():
                    box = score.bounding_box()
                    assert box is not None
                    assert box["x"] + box["width"] <= width, (path, width)
                name = page.locator(".seats th a").first.bounding_box()
                assert name is not None
                assert name["width"] > 100, (path, width)


def test_boards_stand_in_pairs_on_the_phones_that_most_people_have(browser: Browser, hostile: int) -> None:
    """Catches eight boards one below the other, with the tournaments five screens further down."""
    with visitor(browser, hostile, look="phone") as spectator:
        page = spectator.open("/")
        page.set_viewport_size({"width": 360, "height": 800})
        expect(page.locator(".card").nth(2)).to_be_visible()  # those that have just ended stay a moment
        tops = page.locator(".place:not(:empty)").evaluate_all(
            "(places) => places.map((place) => place.getBoundingClientRect().top)"
        )
        assert tops[0] == tops[1] < tops[2]
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_projector_shows_a_single_board_as_large_as_it_can(browser: Browser, arena: Served) -> None:
    with visitor(browser, arena.http) as spectator:
        board = spectator.open("/wall").locator(".card .board").first
        expect(board).to_be_visible()
        boxes: list[FloatRect] = []  # there is none in the moment in which a move replaces the board
        wait_for(lambda: boxes.extend(filter(None, [board.bounding_box()])) or boxes)
        assert boxes[0]["height"] > 0.6 * LOOKS["light"]["viewport"]["height"]


def test_a_projector_is_no_wider_than_its_screen_whoever_has_won(browser: Browser, serve: Any) -> None:
    served = serve(*QUIET, "--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2")
    for letter in "MW":  # the widest there are
        Bot(served.tcp, letter * 32, "tic-tac-toe")
    wait_for(lambda: served.get("/api/tournaments/cup")[1]["state"] == "finished")
    with visitor(browser, served.http) as spectator:
        page = spectator.open("/wall/cup")
        page.set_viewport_size({"width": 1280, "height": 720})
        expect(page.locator(".winner")).to_contain_text(re.compile("M{32}|W{32}"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_projector_tells_the_pairings_that_come_next_apart(browser: Browser, serve: Any) -> None:
    """Catches "ann - bob cas - dan", as if bob played cas."""
    served = serve(*QUIET)
    token = (served.data / "organiser-token").read_text().strip()
    for cup in ("cup", "other"):  # with one alone, each pairing has a line
        order(served, token, "", name=cup, game="tic-tac-toe", format="double-round-robin", entrants=4)
        for name in ("ann", "bob", "cas", "dan"):
            Bot(served.tcp, f"{name}-{cup}", "tic-tac-toe", turns=Semaphore(0))
    with visitor(browser, served.http) as spectator:
        coming = spectator.open("/wall").locator(".group").first.locator(".next")
        expect(coming.locator("span")).to_have_count(2)
        # In one look: the part may be put in anew at any moment.
        one, other = coming.evaluate("""(element) => [...element.querySelectorAll("span")]
            .map((each) => each.getBoundingClientRect().toJSON())""")
        assert other["y"] > one["y"] or other["x"] - one["right"] > one["height"] / 2


def test_no_name_and_no_reason_runs_a_script(browser: Browser, hostile: int) -> None:
    assert len(set(PAYLOADS)) >= 200
    with visitor(browser, hostile) as spectator:
        page = spectator.open("/")
        expect(page.locator(".card").nth(2)).to_be_visible()  # those that have just ended stay a moment
        board = page.locator(".card").first.inner_html()
        wait_for(lambda: page.locator(".card").first.inner_html() != board)  # over the stream too
        assert spectator.noted(page) == []
        every = tries(48, 6)  # tables have them all; so many are some of each of the ways around
        matches = [f"/matches/evil-{number}" for number in range(1, len(PAYLOADS) + 1, every)]
        bots = [formatting.bot_address(name) for name in PAYLOADS[::every]]
        tables = ["/tournaments/evil", "/tournaments/evil/standings", "/tournaments/open-tic-tac-toe"]
        tables += ["/tournaments/evil/schedule", "/tournaments/evil/schedule?page=3"]
        for path in (*tables, *matches, *bots):
            spectator.go(page, path)
            assert spectator.noted(page) == [], path
            assert page.locator("script:not([src])").count() == 0
        names = set[str]()
        for number in range(1, -(-len(PAYLOADS) // PAGE) + 1):
            spectator.go(page, f"/tournaments/evil/standings?page={number}")
            assert spectator.noted(page) == [], number
            assert page.locator("script:not([src])").count() == 0
            names |= {row[1] for row in table(page, ".standings")}
        assert names == {" ".join(name.split()) for name in PAYLOADS}
        assert spectator.complaints == []


def test_with_the_reader_s_own_colours_what_a_colour_says_is_still_there(
    browser: Browser, arena: Served
) -> None:
    """As in the high contrast of Windows, where backgrounds and borders all become the reader's."""
    coloured = "(one) => getComputedStyle(one).backgroundColor"
    with visitor(browser, arena.http, forced_colors="active") as spectator:
        page = spectator.open("/matches/quoridor-1?ply=2")
        first, second = (page.locator(f".seats .seat-{seat} .disc").evaluate(coloured) for seat in (0, 1))
        assert first != second
        current = page.locator("#moves a[aria-current]").evaluate(coloured)
        assert current != page.locator("#moves a:not([aria-current])").first.evaluate(coloured)
        page = spectator.open("/")
        under = "(one) => getComputedStyle(one).borderBottomColor"
        links = page.locator(".masthead nav a")
        assert links.nth(0).evaluate(under) != links.nth(1).evaluate(under)
