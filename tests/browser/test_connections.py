"""A browser has six connections to a host for all of its tabs: pages take no more of them than they need.

What a page was not sent meanwhile, it is sent once it can be seen again.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Semaphore, Thread

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.bots import Bot
from tests.browser.conftest import plies, visitor
from tests.hang import wait_for
from tests.server.served import Served

pytestmark = pytest.mark.slow

# A browser without a window shows all of its tabs, so a page is told what is seen of it.
HIDDEN = """
let seen = "hidden";
Object.defineProperty(document, "visibilityState", { get: () => seen });
globalThis.become = (state) => { seen = state; document.dispatchEvent(new Event("visibilitychange")); };
"""
STEPS = 30
# As the page's own script looks, and after it.
NOTE_WHAT_IS_IN_VIEW = """() => {
    const note = (seen) => { window.inView = seen.at(-1).isIntersecting; };
    new IntersectionObserver(note, { rootMargin: "200px" }).observe(document.getElementById("place-0"));
}"""
NOTE_WHAT_IS_SAID = """() => {
    window.said = [];
    const place = document.querySelector("[data-connection]");
    new MutationObserver(() => said.push(place.textContent)).observe(place, { childList: true });
}"""
NOTE_OPENED = """() => {
    window.opened = 0;
    window.EventSource = class extends EventSource {
        constructor(address) {
            super(address);
            this.addEventListener("open", () => setTimeout(() => { opened += 1; }));
        }
    };
}"""


def test_a_page_has_a_stream_while_it_is_seen_and_none_in_a_tab_behind_others(
    browser: Browser, arena: Served
) -> None:
    """Catches seven tabs, opened one after the other behind the first, after which no page loads any more."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        begun: list[str] = []
        ended: list[str] = []
        page.on("request", lambda request: begun.append(request.url) if "/live?" in request.url else None)
        page.on("requestfailed", lambda request: ended.append(request.url))
        page.clock.install()
        page.add_init_script(HIDDEN)
        spectator.go(page, "/tournaments/live")
        page.wait_for_load_state("load")
        page.clock.run_for(60_000)
        assert begun == []
        page.evaluate("become('visible')")
        wait_for(lambda: page.evaluate("true") and begun)
        page.clock.run_for(20_000)
        assert (len(begun), ended) == (1, [])
        page.evaluate("become('hidden')")
        page.clock.run_for(5_000)
        wait_for(lambda: page.evaluate("true") and ended)
        assert spectator.complaints == []


def test_clocks_stand_still_while_the_host_cannot_be_reached_and_go_on_when_it_is_back(
    browser: Browser, arena: Served
) -> None:
    """Catches a clock that runs down to 0.0 though nobody knows whether it does on the host."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.clock.install()
        page.route("**/live?*", lambda route: route.abort())
        for path in ("/wall/live", "/matches/live-1", "/embed/matches/live-1"):
            spectator.go(page, path)
            expect(page.locator("[data-connection]")).to_contain_text("cannot be reached")
            clock = page.locator(".clock.running")
            stands = clock.inner_text()
            page.clock.run_for(10_000)
            assert clock.inner_text() == stands
        page.unroute("**/live?*")
        page.clock.run_for(60_000)
        expect(page.locator("[data-connection]")).to_be_empty()
        wait_for(lambda: page.evaluate("true") and clock.inner_text() != stands)


def test_a_page_whose_host_is_away_behind_a_proxy_does_not_say_that_the_page_is(
    browser: Browser, arena: Served
) -> None:
    """A proxy answers all the same, with 502: while the host was restarted, all pages seemed to be gone."""

    def without_host(route: Route) -> None:
        asked = route.request
        if asked.method == "HEAD" or "/live?" in asked.url:
            route.fulfill(status=502)
        else:
            route.continue_()

    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.route("**/*", without_host)
        for path in ("/wall/live", "/matches/live-1", "/embed/matches/live-1"):
            spectator.go(page, path)
            expect(page.locator("[data-connection]")).to_contain_text("cannot be reached")


def test_a_page_behind_a_proxy_that_keeps_what_a_stream_brings_does_not_say_that_its_host_is_away(
    browser: Browser, arena: Served
) -> None:
    """Such a proxy lets everything else through: whoever loads the page again sees the present."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.clock.install()
        kept: list[Route] = []
        page.route("**/live?*", lambda route: kept.append(route))
        spectator.go(page, "/tournaments/quoridor")
        wait_for(lambda: page.evaluate("true") and kept)
        with page.expect_response(lambda answer: answer.request.method == "HEAD"):
            page.clock.fast_forward(60_000)
        expect(page.locator("[data-connection]")).to_contain_text("Load the page again")


def test_a_page_that_hears_nothing_says_so_until_it_does(browser: Browser, arena: Served) -> None:
    """A proxy that lets nothing but the head of a stream through was taken for a host that is back."""
    with at_the_first_page(browser, arena) as (page, _), heads_alone() as port:
        page.route("**/live?*", lambda route: route.continue_(url=f"http://127.0.0.1:{port}/"))
        page.evaluate(NOTE_OPENED)
        for n in (1, 2):
            page.clock.fast_forward(60_000)
            page.clock.run_for(5_000)
            wait_for(lambda n=n: page.evaluate("opened") == n)
        assert page.locator("[data-connection]").inner_text() != ""
        page.unroute("**/live?*")
        page.clock.fast_forward(60_000)
        page.clock.run_for(5_000)
        expect(page.locator("[data-connection]")).to_be_empty()


def test_a_page_that_has_nothing_to_say_shows_no_place_for_it_in_an_older_browser(
    browser: Browser, arena: Served
) -> None:
    """One that does not know `:has` drops every rule with it in a list: two empty boxes were seen."""

    def as_if_older(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(":has(", ":knows-nothing-of("))

    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.route("**/quintain.css", as_if_older)
        for path in ("/", "/matches/live-1", "/wall/live", "/embed/matches/live-1"):
            spectator.go(page, path)
            expect(page.locator(".connection")).to_have_count(2)
            assert [each.is_visible() for each in page.locator(".connection").all()] == [False, False]


def test_a_page_waits_for_a_sign_of_life_for_as_long_as_the_host_may_be_silent(
    browser: Browser, arena: Served
) -> None:
    """Catches a page that gives up a host which was told to give signs of life less often than others."""

    def as_if_told(route: Route) -> None:
        answer = route.fetch()
        body = answer.text().replace('data-heartbeat="15.0"', 'data-heartbeat="60.0"')
        route.fulfill(response=answer, body=body)

    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.clock.install()
        for gives_up in (True, False):
            if not gives_up:
                page.route("**/tournaments/quoridor", as_if_told)
            with page.expect_response("**/live?*"):
                spectator.go(page, "/tournaments/quoridor")
            page.evaluate(NOTE_WHAT_IS_SAID)
            page.clock.run_for(120_000)
            assert page.evaluate("said.length > 0") == gives_up


def test_a_page_on_a_machine_that_has_slept_connects_again_as_soon_as_it_looks(
    browser: Browser, arena: Served
) -> None:
    """The clock of its script had slept as well: for 40 seconds it showed what was an hour before."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.clock.install()
        with page.expect_response("**/live?*"):
            spectator.go(page, "/tournaments/quoridor")
        page.evaluate(NOTE_WHAT_IS_SAID)
        page.clock.run_for(10_000)
        assert page.evaluate("said.length") == 0
        page.clock.set_system_time(page.evaluate("Date.now() + 3_600_000"))
        page.clock.run_for(10_000)
        assert page.evaluate("said.length") > 0


def test_a_key_that_is_held_down_asks_for_the_boards_of_a_match_once(browser: Browser, arena: Served) -> None:
    """The answer has many boards: catches a request for each step until the first answer has come.

    The first has the boards from one move back on, and the second those from where the key was let go.
    """
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/matches/hexagon-dots-1")
        last = int(page.locator("[data-scrubber]").get_attribute("max") or 0)
        held: list[Route] = []
        page.route("**/frames?*", lambda route: held.append(route))
        for _ in range(STEPS):
            page.keyboard.press("ArrowLeft")
        wait_for(lambda: page.evaluate("true") and held)
        first = len(held)
        for each in held:
            each.continue_()
        wait_for(lambda: page.evaluate("true") and len(held) > first)
        held[first].continue_()
        expect(page.locator("[data-where]")).to_contain_text(f"move {last - STEPS} of {last}")
        assert len(held) == 2
        assert spectator.complaints == []


@contextmanager
def heads_alone() -> Iterator[int]:
    """The port of somebody who begins every stream, and never says anything over it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        streams: list[socket.socket] = []

        def begin() -> None:
            with suppress(OSError):
                while True:
                    stream, _ = listener.accept()
                    streams.append(stream)
                    stream.recv(65_536)
                    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")

        Thread(target=begin, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        for stream in streams:
            stream.close()


@contextmanager
def at_the_first_page(browser: Browser, arena: Served) -> Iterator[tuple[Page, Callable[[bool], None]]]:
    """The page, with the board of the live match in view, and what scrolls it out of view and in again."""
    with visitor(browser, arena.http) as spectator:
        page = spectator.open("/games/quoridor")
        page.set_viewport_size({"width": 400, "height": 200})
        page.clock.install()
        with page.expect_response("**/live?*"):
            spectator.go(page, "/")
        expect(page.locator("#place-0 .from")).to_contain_text(f"move {plies(arena)}")
        page.evaluate(NOTE_WHAT_IS_IN_VIEW)

        def scroll(seen: bool) -> None:
            page.evaluate(f"scrollTo(0, {0 if seen else 100_000})")
            wait_for(lambda: page.evaluate("window.inView") == seen)
            page.clock.run_for(1_000)

        yield page, scroll


def test_a_board_that_is_back_in_view_before_the_host_has_answered_goes_on(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """Catches a board that stands still though it is seen, where the way to the host takes a while."""
    with at_the_first_page(browser, arena) as (page, scroll):
        held: list[Route] = []
        page.route("**/live?*", lambda route: held.append(route))
        scroll(False)
        wait_for(lambda: page.evaluate("true") and held)
        assert "hidden=place-0" in held[-1].request.url
        scroll(True)
        page.unroute("**/live?*")  # which lets those go on that are held
        made = plies(arena)
        live.release()
        expect(page.locator("#place-0 .from")).to_contain_text(f"move {made + 1}")


def test_a_board_that_is_back_in_view_is_as_it_is_by_now_though_it_was_asked_for_in_vain(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """Catches a board that stays as it was when it went out of view: if its match has ended, for good."""
    with at_the_first_page(browser, arena) as (page, scroll):
        with page.expect_response("**/live?*hidden=place-0*"):
            scroll(False)
        made = plies(arena)
        live.release()
        wait_for(lambda: plies(arena) > made)
        visiting = Bot(arena.tcp, "visiting", "quoridor")
        expect(page.locator("#tables")).to_contain_text("visiting")  # and with it all that is in view
        visiting.leave()
        page.route("**/live?*", lambda route: route.abort())
        scroll(True)
        expect(page.locator("[data-connection]")).to_contain_text("cannot be reached")
        page.unroute("**/live?*")
        page.clock.run_for(5_000)
        expect(page.locator("#place-0 .from")).to_contain_text(f"move {made + 1}")


def test_two_fingers_on_a_page_bring_nothing_back_that_was_there_before(
    browser: Browser, arena: Served, live: Semaphore
) -> None:
    """Catches a board that goes back by a move when they are lifted."""
    with at_the_first_page(browser, arena) as (page, _):
        made = plies(arena)
        page.dispatch_event("#place-0 article", "pointerdown")
        live.release()
        wait_for(lambda: plies(arena) > made)
        visiting = Bot(arena.tcp, "two fingers", "quoridor")
        expect(page.locator("#tables")).to_contain_text("two fingers")  # and with it all that was before
        page.dispatch_event("#tables", "pointerdown")
        visiting.leave()
        live.release()
        latest = page.locator("#place-0 .from")
        expect(latest).to_contain_text(f"move {made + 2}")
        page.dispatch_event("#tables", "pointerup")
        page.clock.run_for(1_000)
        assert f"move {made + 2}" in latest.inner_text()
