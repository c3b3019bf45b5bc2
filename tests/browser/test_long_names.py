"""The longest names there may be, on a phone: pages fit, figures stay in sight, short names stay whole."""

from collections.abc import Iterator
from threading import Semaphore

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.bots import Bot
from tests.browser.conftest import LOOKS, fits, order, visitor, within
from tests.browser.test_desk import another_link, log_in
from tests.hang import wait_for
from tests.server.served import Served

pytestmark = pytest.mark.slow

CUP = "the-annual-championship-of-very-long-names"
GROUP = "a-group-whose-name-has-as-many-characters-as-one-may-have"
PILED_UP = "\u0302" * 31
WIDE, SHORT = "W" * 32, "bea"  # the widest letter there is
LEFTWARDS = "אריאלה מבית הספר הגבוה לתכנות עש", "דבורה"  # written from right to left
EVENING = (
    "Wolfgang Amadeus Mozart the 2nd",
    "الفريق الأول من مدرسة البرمجة",
    "Learner of Group 7 (second)",
    "ann",
)
EVENING_CUPS = ("an-evening-with-many-long-names-of-which-none-is-cut-short", "friday-evening-cup", "cup")
PROJECTOR = {"width": 1280, "height": 720}
CUT_OFF = """(texts) => texts.filter((text) => text.scrollWidth > text.clientWidth
    || text.matches(".long") && text.scrollHeight > text.clientHeight).map((text) => text.textContent)"""
LEFTWARDS_CUP = {"name": "leftwards", "game": "tic-tac-toe", "entrants": 2}
PLACE = """(element, at) => {
    const letter = document.createRange();
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (text.nextNode()) {
        const found = text.currentNode.data.indexOf(at);
        if (found < 0) continue;
        letter.setStart(text.currentNode, found);
        letter.setEnd(text.currentNode, found + 1);
        return letter.getBoundingClientRect();
    }
}"""  # where the first of some letters stands
PAGES = (
    "/",
    "/wall",
    f"/tournaments/{CUP}",
    f"/tournaments/{CUP}/standings",
    f"/tournaments/{CUP}/schedule",
    f"/matches/{CUP}-1",
    f"/matches/{CUP}-1/wire",
    f"/embed/matches/{CUP}-1",
    f"/bots/{WIDE}",
    f"/groups/{GROUP}",
    f"/games/connect-4/play?name={WIDE}",
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("long-names"), "--log-level", "error")
    token = (served.data / "organiser-token").read_text().strip()
    order(served, token, "", name=CUP, game="connect-4", entrants=2, group=GROUP)
    for name in (WIDE, SHORT):
        Bot(served.tcp, name, "connect-4")
    wait_for(lambda: served.get(f"/api/tournaments/{CUP}")[1]["state"] == "finished")
    yield served
    served.kill()


@pytest.fixture(scope="module")
def evening(host: Served) -> Served:
    """The same host while matches of three tournaments are played, and others are next."""
    token = (host.data / "organiser-token").read_text().strip()
    for name, game in zip(EVENING_CUPS, ("connect-4", "santorini", "quoridor"), strict=True):
        order(host, token, "", name=name, game=game, entrants=len(EVENING))
        for bot in EVENING:
            Bot(host.tcp, bot, game, turns=Semaphore(0))
        wait_for(lambda name=name: host.get(f"/api/tournaments/{name}")[1]["state"] == "running")
    return host


def test_every_page_fits(browser: Browser, host: Served) -> None:
    with visitor(browser, host.http) as spectator:
        page = spectator.open("/")
        for path in PAGES:
            spectator.go(page, path)
            fits(page, f"long names {path.strip('/').replace('/', ' ')}")
        assert spectator.complaints == []


def test_the_desk_fits(browser: Browser, host: Served) -> None:
    with visitor(browser, host.http) as organiser:
        page = log_in(organiser, another_link(host))
        for path in ("", "/create", f"/tournaments/{CUP}", "/audit"):
            organiser.go(page, f"/admin{path}")
            fits(page, f"long names at the desk{path.replace('/', ' ')}")


def test_what_can_be_done_with_a_match_is_in_sight(browser: Browser, host: Served) -> None:
    with visitor(browser, host.http) as organiser:
        page = log_in(organiser, another_link(host))
        organiser.go(page, f"/admin/tournaments/{CUP}")
        for cell, words in ((2, f"{WIDE} – {WIDE}"), (3, f"{WIDE} wins: {WIDE} played an illegal move")):
            page.locator(f".list td:nth-child({cell})").last.evaluate(
                "(cell, words) => { cell.textContent = words; }", words
            )
        void = page.get_by_role("link", name=f"Void {CUP}-1").bounding_box()
        assert void is not None
        assert void["x"] + void["width"] <= LOOKS["light"]["viewport"]["width"]


def test_a_long_name_leaves_room_for_the_points_and_a_short_one_stays_on_its_line(
    browser: Browser, host: Served
) -> None:
    with visitor(browser, host.http, look="phone") as spectator:
        page = spectator.open(f"/tournaments/{CUP}")
        points = page.locator(".standings .points").first.bounding_box()
        assert points is not None
        assert points["x"] + points["width"] < LOOKS["phone"]["viewport"]["width"]
        spectator.go(page, f"/matches/{CUP}-1")
        lines = (
            page.locator(".names span")
            .filter(has_text=SHORT)
            .evaluate(
                "(name) => { const all = document.createRange(); all.selectNodeContents(name.lastChild);"
                " return new Set([...all.getClientRects()].map((line) => line.top)).size; }"
            )
        )
        assert lines == 1


def test_a_projector_is_no_wider_than_its_screen_after_thousands_of_matches(
    browser: Browser, host: Served
) -> None:
    """The figures are written into the page: to play for them takes too long."""
    with visitor(browser, host.http) as spectator:
        page = spectator.open(f"/wall/{CUP}")
        page.locator(".standings .figure:not(.rank)").evaluate_all(
            "(cells) => cells.forEach((cell) => {"
            " cell.textContent = cell.matches('.points') ? '6019½' : '5248–1543–5187'; })"
        )
        expect(page.locator(".standings .points").first).to_have_text("6019½")
        fits(page, "a projector after thousands of matches")


@pytest.mark.parametrize("path", ["/wall", f"/wall/{EVENING_CUPS[0]}"])
def test_a_projector_shows_all_of_an_evening_at_once_and_cuts_no_name(
    browser: Browser, evening: Served, path: str
) -> None:
    with visitor(browser, evening.http) as spectator:
        page = spectator.open(path)
        page.set_viewport_size(PROJECTOR)
        expect(page.locator(".card").first).to_be_visible()
        names = page.locator(".seat :is(a, .unknown), .groups :is(h2, th, .long, .next span)")
        assert names.evaluate_all(CUT_OFF) == []
        assert page.evaluate("document.documentElement.scrollHeight") == PROJECTOR["height"]


def test_a_phone_shows_whole_names_below_boards_and_who_met_whom(browser: Browser, evening: Served) -> None:
    with visitor(browser, evening.http, look="phone") as spectator:
        page = spectator.open("/")
        page.set_viewport_size({"width": 360, "height": 740})
        expect(page.locator(".card").first).to_be_visible()
        assert page.locator(".seat :is(a, .unknown)").evaluate_all(CUT_OFF) == []
        spectator.go(page, f"/tournaments/{CUP}/schedule")
        ends = page.locator(".schedule a").evaluate_all(
            "(links) => links.map((link) => link.getBoundingClientRect().right)"
        )
        assert max(ends) < 360, "both names and the result"


def test_the_heading_of_a_game_is_not_broken_at_its_hyphen_and_its_fields_look_like_others(
    browser: Browser, host: Served
) -> None:
    with visitor(browser, host.http, look="phone") as person:
        page = person.open("/games/connect-4/play")
        title = page.locator("h1 .whole")
        expect(title).to_have_text("Connect-4")
        assert title.evaluate("(title) => title.getClientRects().length") == 1
        looks = [
            page.locator(each).evaluate("(field) => getComputedStyle(field).borderRadius")
            for each in ("#name", "#against", "#typed")
        ]
        assert looks == [looks[1]] * 3


def test_names_that_are_written_from_right_to_left_keep_their_places_and_their_beginnings(
    browser: Browser, host: Served
) -> None:
    """Catches the first of two such names on the right, and a name that lacks its first letters."""
    order(host, (host.data / "organiser-token").read_text().strip(), "", **LEFTWARDS_CUP)
    for name in LEFTWARDS:
        Bot(host.tcp, name, "tic-tac-toe")
    wait_for(lambda: host.get(f"/api/tournaments/{LEFTWARDS_CUP['name']}")[1]["state"] == "finished")
    for name in LEFTWARDS:
        Bot(host.tcp, name, "quoridor", turns=Semaphore(0))
    with visitor(browser, host.http, look="phone") as spectator:
        page = spectator.open("/")
        players = host.get(f"/api/matches/{LEFTWARDS_CUP['name']}-1")[1]["players"]
        pair = page.locator(".lately small").filter(has_text="Tic-Tac-Toe")
        expect(pair).to_be_visible()
        first, second = (pair.evaluate(PLACE, name[:5]) for name in players)
        assert (first["top"], first["left"]) < (second["top"], second["left"])
        shown = page.locator(".seat .unknown").filter(has_text=LEFTWARDS[0])
        expect(shown).to_be_visible()
        frame, letter = shown.bounding_box(), shown.evaluate(PLACE, LEFTWARDS[0][0])
        assert frame is not None
        assert frame["x"] <= letter["left"] <= letter["right"] <= frame["x"] + frame["width"] + 1


@pytest.mark.parametrize(
    ("path", "name", "above"),
    [
        (f"/tournaments/{CUP}/standings", ".standings a", ".standings tbody tr"),
        ("/", ".lately a", "#lately-title"),
        (f"/matches/{CUP}-1", ".names span", ".subtitle"),
        (f"/matches/{CUP}-1", ".ending b", ".seats"),
    ],
)
def test_accents_that_are_piled_up_stay_within_their_row_or_text(
    browser: Browser, host: Served, path: str, name: str, above: str
) -> None:
    """Catches a name that writes over what is above it, which is somebody else's."""
    with visitor(browser, host.http) as spectator:
        page = spectator.open(path)
        written, seen = page.locator(name).last, page.locator(above).first
        written.evaluate("(name) => { name.textContent = 'e'; }")
        before = seen.screenshot()
        written.evaluate("(name, marks) => { name.textContent += marks; }", PILED_UP)
        assert seen.screenshot() == before


def test_nothing_is_cut_off_on_paper(browser: Browser, host: Served) -> None:
    token = (host.data / "organiser-token").read_text().strip()
    order(host, token, f"/{CUP}/describe", name=WIDE, affiliation="a" * 64, contact="c" * 200)
    with visitor(browser, host.http) as spectator:
        page = log_in(spectator, another_link(host))
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1123})  # A4, without margins
        for path in (f"/bots/{SHORT}", f"/admin/tournaments/{CUP}", "/admin/audit"):
            spectator.go(page, path)
            assert within(page), path
        spectator.go(page, f"/matches/{CUP}-1")
        whole = page.locator("#grades").evaluate(
            "(place) => { const list = document.createElement('ul'); list.className = 'causes';"
            " list.append(...Array.from({ length: 40 }, () => document.createElement('li')));"
            " list.childNodes.forEach((each) => { each.textContent = 'a mistake'; });"
            " place.replaceChildren(list); return list.scrollHeight <= list.clientHeight; }"
        )
        assert whole


def test_paper_has_the_marks_of_the_seats_and_the_progress_but_nothing_to_press(
    browser: Browser, host: Served
) -> None:
    """Browsers print no grounds unless they are told to, and these are nothing else."""
    with visitor(browser, host.http) as spectator:
        page = log_in(spectator, another_link(host))
        page.emulate_media(media="print")
        spectator.go(page, f"/admin/tournaments/{CUP}")
        expect(page.get_by_role("button").and_(page.locator(":visible"))).to_have_count(0)
        for path, marks in ((f"/matches/{CUP}-1", ".disc"), (f"/tournaments/{CUP}", "progress")):
            spectator.go(page, path)
            printed = "(marks) => marks.map((mark) => getComputedStyle(mark).printColorAdjust)"
            assert set(page.locator(marks).evaluate_all(printed)) == {"exact"}
        expect(page.locator(".boards")).to_be_hidden()  # nothing is played any more
