"""A person plays in a real browser: every game, by mouse, touch and keyboard."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocket, WebSocketRoute, expect

from games.brains import greedy
from games.catalogue import catalogue
from server.host.host import STOPPING
from tests.browser.conftest import fits, look_at, order, visitor
from tests.effort import IS_CAMPAIGN, tries
from tests.hang import wait_for
from tests.ports import free_ports
from tests.server.served import Served

pytestmark = pytest.mark.slow

ENOUGH = tries(4, 7)  # moves by hand, one of each way; a match that still goes on is resigned then
# Spots are lines in one and fields in the other; around them all is alike.
AXED = ("hexagon-dots", "tic-tac-toe")
READY = """(before) => {
    const { ply } = document.querySelector("[data-board]").dataset;
    const over = document.querySelector("[data-status] a") !== null;
    return over || (Number(ply ?? -1) > before && document.querySelector(".spot") !== null);
}"""  # it is over, or there is something new to play


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    host = Served(tmp_path_factory.mktemp("by-hand"), "--log-level", "error")
    yield host
    host.kill()


def test_a_person_plays_every_game_by_hand(browser: Browser, axe: str, serve: Any) -> None:
    served = serve("--log-level", "error")
    for game in catalogue():
        with visitor(browser, served.http, has_touch=True) as person:
            page = person.open(f"/games/{game}/play?against=random&name=Ann")
            sent = played(page, served, game)
            link = page.locator("[data-status] a")
            expect(link).to_be_visible()
            name = (link.get_attribute("href") or "").removeprefix("/matches/")
            _, told = served.get(f"/api/matches/{name}")
            assert sorted(told["kinds"]) == ["house", "person"]
            assert (told["score"], told["ending"]) in ((None, "played"), (None, "resigned"))
            assert [told["players"].index("Ann")] == [told["kinds"].index("person")]
            assert len(sent) >= min(ENOUGH, len(told["moves"]) // 2)
            assert not person.noted(page)
            assert not person.complaints
            person.go(page, f"/games/{game}/play?against=first&name=Ann")
            expect(page.locator("[data-move]").first).to_be_visible()
            resign = page.locator("[data-resign]")
            if IS_CAMPAIGN or game in AXED:
                look_at(page, axe, f"by hand {game}")
                resign.dispatch_event("click")  # not by a pointer: this may have taken longer than a turn
            else:
                fits(page, f"by hand {game}")
                resign.click()
            expect(page.locator("[data-status]")).to_contain_text("You have lost")


def test_without_scripts_the_page_says_that_it_needs_them(browser: Browser, served: Served) -> None:
    with visitor(browser, served.http, java_script_enabled=False) as person:
        page = person.open("/games/tic-tac-toe/play?against=first&name=Ann")
        status = page.locator("[data-status]")
        said = status.evaluate("(element) => element.innerText")  # locators pass over noscript
        assert said.startswith("This page needs scripts")


def test_the_page_is_no_wider_than_its_window(browser: Browser, served: Served) -> None:
    """Catches a link beside the board that was, where there is just room for two columns."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/quoridor/play")
        for width in (320, 991, 992, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_second_click_is_no_answer_to_the_next_question(browser: Browser, served: Served) -> None:
    """Catches a spot that can still be clicked when its move has been sent: in this game that loses."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/tic-tac-toe/play?against=first&name=Ann")
        expect(page.locator("[data-move]").first).to_be_visible()
        left = page.evaluate("""() => {
            const spot = document.querySelector("[data-move]");
            spot.dispatchEvent(new MouseEvent("click", {bubbles: true}));
            return document.querySelectorAll("[data-move]").length;
        }""")
        assert left == 0
        expect(page.locator("[data-move]").first).to_be_visible()
        assert page.locator("[data-status] a").count() == 0, "it goes on"


def test_a_slip_at_the_keyboard_loses_nothing(browser: Browser, served: Served) -> None:
    """Catches a typed move that nobody can play and that is sent: in this game that loses."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/tic-tac-toe/play?against=first&name=Dan")
        expect(page.locator("[data-move]").first).to_be_visible()
        marked = page.locator("[data-move]").count()
        page.locator("#typed").fill("NQ")
        page.locator("#typed").press("Enter")
        expect(page.locator("[data-status]")).to_have_text(
            '"NQ" is not among the moves that are marked on the board; nothing was played.'
        )
        assert page.locator("[data-move]").count() == marked
        page.locator("#typed").fill(page.locator("[data-move]").last.get_attribute("data-move") or "")
        page.locator("#typed").press("Enter")
        expect(page.locator("[data-board]")).not_to_have_attribute("data-ply", re.compile("[01]"))
        page.locator("[data-resign]").click()
        expect(page.locator("[data-status]")).to_contain_text("Dan resigned")


def test_a_typed_move_may_have_more_than_one_blank_between_its_parts(
    browser: Browser, served: Served
) -> None:
    """Catches a move that is refused with words in which it looks like one that is marked."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/santorini/play?against=first&name=Lou")
        expect(page.locator("[data-move]").first).to_be_visible()
        page.locator("#typed").fill(" 2   3 ")
        page.locator("#typed").press("Enter")
        expect(page.locator("[data-board]")).not_to_have_attribute("data-ply", "0")


def test_whoever_plays_by_hand_enters_no_tournament(browser: Browser, serve: Any) -> None:
    """Two who wanted to try a board began an event of two, and were its whole field."""
    host = serve("--log-level", "error", "--tournament", "cup", "--game", "connect-4", "--entrants", "2")
    with visitor(browser, host.http) as person, visitor(browser, host.http) as other:
        pages = [who.open("/games/connect-4/play?against=") for who in (person, other)]
        wait_for(lambda: any(page.locator("[data-move]").count() for page in pages))
        page = person.open("/tournaments/cup")
        expect(page.locator("#progress")).to_contain_text("0 entrants")


def test_whoever_plays_by_keyboard_is_at_the_board_when_the_other_has_moved(
    browser: Browser, served: Served
) -> None:
    """Catches a focus that is lost while the other thinks: each move then began at the top of the page."""
    with visitor(browser, served.http) as person, visitor(browser, served.http) as other:
        pages = [
            who.open(f"/games/connect-4/play?against={against}&name={name}")
            for who, name, against in ((person, "Eva", "Fay"), (other, "Fay", "Eva"))
        ]
        wait_for(lambda: any(page.locator("[data-move]").count() for page in pages))
        first, second = sorted(pages, key=lambda page: page.locator("[data-move]").count(), reverse=True)
        first.locator("[data-move]").first.press("Enter")
        expect(first.locator("[data-board]")).to_have_attribute("data-ply", "1")
        second.locator("[data-move]").first.click()
        expect(first.locator("[data-move]").first).to_be_focused()
        first.locator("[data-resign]").click()
        expect(second.locator("[data-status] a")).to_be_visible()


def test_a_tab_whose_copy_plays_on_says_so_and_does_not_come_back(browser: Browser, served: Served) -> None:
    """Catches two tabs with the same token that take one match from each other, again and again."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/connect-4/play?against=first&name=Uma")
        expect(page.locator("[data-move]").first).to_be_visible()
        with page.expect_popup() as opened:
            page.evaluate("void open(location.href)")  # it has what this tab remembers, as a duplicate has
        copy = opened.value
        expect(copy.locator("[data-move]").first).to_be_visible()
        expect(page.locator("[data-status]")).to_have_text("You are playing in another tab now.")
        expect(page.locator("[data-typed]")).to_be_hidden()
        assert page.locator("[data-move]").count() == 0
        connections: list[WebSocket] = []
        page.on("websocket", lambda each: connections.append(each))
        copy.locator("[data-resign]").click()
        expect(copy.locator("[data-status]")).to_contain_text("Uma resigned")
        assert not connections


def test_whoever_waits_for_an_opponent_comes_back_to_a_host_that_is_started_again(
    browser: Browser, served: Served
) -> None:
    """Catches a page for which the refusal of a host that is about to stop is the last word."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/connect-4/play")
        opened: list[WebSocketRoute] = []

        def stops_first(near: WebSocketRoute) -> None:
            opened.append(near)
            if len(opened) > 1:
                near.connect_to_server()
            else:
                near.on_message(lambda said: refuse(near))

        page.route_web_socket("**/play", stops_first)
        person.go(page, "/games/connect-4/play?against=first&name=Ned")
        expect(page.locator("[data-move]").first).to_be_visible()
        assert len(opened) == 2


def refuse(near: WebSocketRoute) -> None:
    near.send(json.dumps({"type": "refused", "reason": STOPPING}))
    near.close()


def test_the_clock_of_whoever_is_to_move_runs(browser: Browser, served: Served) -> None:
    """Catches a clock that stands still while a person thinks, and then has run out."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/tic-tac-toe/play?against=first&name=Cas")
        expect(page.locator("[data-move]").first).to_be_visible()
        before = left(page)
        wait_for(lambda: left(page)["Cas"] < before["Cas"] - 1)
        assert left(page)["first"] == before["first"]
        page.locator("[data-resign]").click()
        expect(page.locator("[data-status] a")).to_be_visible()


def left(page: Page) -> dict[str, int]:
    """Seconds that each has, as the page shows them."""
    shown = page.locator("[data-clocks]").inner_text()
    return {name: int(seconds) for name, seconds in re.findall(r"(\w+) (\d+) s", shown)}


def test_when_it_is_over_nothing_is_left_to_click(browser: Browser, served: Served) -> None:
    """Catches a spot whose move was sent, and that stays when the end comes before the next board does."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/tic-tac-toe/play?against=first&name=Bea")
        expect(page.locator("[data-move]").first).to_be_visible()
        page.route("**/hand?*", lambda route: route.fulfill(json={"ply": None, "board": None}))
        page.locator("[data-move]").first.click()
        page.locator("[data-resign]").click()
        expect(page.locator("[data-status] a")).to_be_visible()
        assert page.locator(".spot").count() == 0


def played(page: Page, served: Served, game: str) -> list[str]:
    """Play as the greedy brain would, until it is over or has been enough; returns what was played."""
    rules, sent = catalogue()[game], list[str]()
    choose, before = greedy(rules, 1), -1
    while True:
        wait_for(partial(page.evaluate, READY, before))
        if page.locator(".spot").count() == 0:
            return sent
        if len(sent) == ENOUGH:
            page.locator("[data-resign]").click()
            expect(page.locator("[data-status] a")).to_be_visible()
            return sent
        ply = int(page.locator("[data-board]").get_attribute("data-ply") or 0)
        _, told = served.get(f"/api/matches/open-{game}-1")
        position = rules.start()
        for move in told["moves"][:ply]:
            position = position.play(rules.read(move, position))
        shown = page.locator("[data-move]").evaluate_all("(all) => all.map((each) => each.dataset.move)")
        assert shown == [rules.short(move) for move in position.moves()], (
            "whatever may be played, and no more"
        )
        short = rules.short(choose(position, lambda: False))
        spot = page.locator(f'[data-move="{short}"]')
        match len(sent) % 4:
            case 0:
                spot.click()
            case 1:
                spot.tap()
            case 2:
                spot.press("Enter")
            case _:
                page.locator("#typed").fill(short)
                page.locator("#typed").press("Enter")
        sent.append(short)
        before = ply


def test_whoever_goes_back_to_a_match_that_is_over_sees_its_end_and_begins_no_other(
    browser: Browser, served: Served
) -> None:
    with visitor(browser, served.http) as person:
        page = person.open("/games/tic-tac-toe/play?against=first")
        expect(page.locator("[data-move]").first).to_be_visible()
        name = page.locator("[data-name]").input_value()
        page.locator("[data-resign]").click()
        said = page.locator("[data-status]")
        expect(said).to_contain_text("You have lost")
        before, ended = said.inner_text(), len(matches_of(served, name))
        for _ in range(2):
            said.locator("a").click()
            expect(page).to_have_url(re.compile("/matches/"))
            page.go_back()
            expect(said).to_have_text(before)
            expect(page.locator("[data-name]")).to_have_value(name)
            expect(page.locator("[data-board] svg")).to_be_visible()
        assert len(matches_of(served, name)) == ended
        page.get_by_role("button", name="Play").click()
        expect(page.locator("[data-move]").first).to_be_visible()


def test_whoever_was_away_when_a_match_ended_sees_its_end_and_begins_no_other(
    browser: Browser, serve: Any
) -> None:
    """A match against the host's own player is void if the host is killed."""
    first = serve("--log-level", "error", http=free_ports(1)[0])
    with visitor(browser, first.http) as person:
        page = person.open("/games/tic-tac-toe/play?against=first&name=Gil")
        said = page.locator("[data-status]")
        expect(page.locator("[data-move]").first).to_be_visible()
        token = (first.data / "organiser-token").read_text().strip()
        order(first, token, "/open-tic-tac-toe/freeze")  # once this is kept, so is whatever came before it
        first.kill()
        expect(said).to_contain_text("The connection is lost")
        second = serve("--log-level", "error", http=first.http)
        expect(said).to_contain_text("Nobody has won: the host stopped while it was being played.")
        (ended,) = matches_of(second, "Gil")
        expect(said.locator("a")).to_have_attribute("href", f"/matches/{ended}")
        expect(page.locator("[data-move]")).to_have_count(0)
        expect(page.locator("[data-resign]")).to_be_hidden()


def test_whoever_has_the_browser_keep_nothing_plays_and_comes_back(browser: Browser, serve: Any) -> None:
    """As where all cookies are blocked: then a page that asks for what was kept gets an error."""
    host = serve("--log-level", "error")
    with visitor(browser, host.http) as person:
        page = person.open("/games/connect-4/play")
        page.add_init_script(KEEPS_NOTHING)
        page.clock.install()
        lines = Lines(page)
        person.go(page, "/games/connect-4/play?against=first&name=Kim")
        spots = page.locator("[data-move]")
        expect(spots.first).to_be_visible()
        lines.cut()
        spots.first.click()
        page.clock.run_for(4_500)
        wait_for(lambda: page.evaluate("true") and lines.opened == 2)
        expect(spots.first).to_be_visible()
        assert person.complaints == []


KEEPS_NOTHING = """Object.defineProperty(window, "sessionStorage", {
    get() { throw new DOMException("The operation is insecure.", "SecurityError"); },
});"""


def test_whoever_has_lost_the_network_goes_on_over_another_connection(
    browser: Browser, served: Served
) -> None:
    """Nothing is said where a network goes: what is sent is never answered, and nothing is heard."""
    with visitor(browser, served.http) as person:
        page = person.open("/games/connect-4/play")
        page.clock.install()
        lines = Lines(page)
        person.go(page, "/games/connect-4/play?against=first&name=Zoe")
        spots, said = page.locator("[data-move]"), page.locator("[data-status]")
        spots.nth(3).focus()
        page.clock.run_for(10_500)
        expect(said).to_contain_text("Your move")
        expect(spots.nth(3)).to_be_focused()
        assert lines.opened == 1
        for silence, how in (
            (4_500, spots.first.click),
            (14_500, lambda: None),
        ):  # with a move, without
            expect(spots.first).to_be_visible()
            lines.cut()
            how()
            page.clock.run_for(silence)
            expect(said).to_contain_text("Your move")
        assert lines.opened == 3
        expect(spots.first).to_be_visible()
        spots.first.click()
        expect(page.locator("[data-board]:not([data-ply='0'])")).to_be_visible()
        assert person.complaints == []


class Lines:
    """The connections of a page to the host, which can be cut without a word."""

    def __init__(self, page: Page) -> None:
        self.opened = 0
        self._cut = 0  # how many of the first
        page.route_web_socket("**/play", self._open)

    def cut(self) -> None:
        self._cut = self.opened

    def _open(self, near: WebSocketRoute) -> None:
        self.opened += 1
        number, far = self.opened, near.connect_to_server()
        near.on_message(lambda said: far.send(said) if number > self._cut else None)
        far.on_message(lambda told: near.send(told) if number > self._cut else None)
        near.on_close(lambda code, reason: None)  # nor is the host told that


def matches_of(served: Served, name: str) -> list[str]:
    """The matches in play, or over, in which somebody of that name has played."""
    _, told = served.get("/api/tournaments/open-tic-tac-toe/matches")
    return [each["match"] for each in told["matches"] if name in each["players"]]
