"""The organiser's desk in a real browser: from the printed link to frozen standings."""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.bots import Bot
from tests.browser.conftest import ELSEWHERE, Visitor, look_at, visitor
from tests.hang import wait_for
from tests.server.run import quintain
from tests.server.served import Served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("desk"), "--log-level", "error")
    yield served
    served.kill()


def first_link(host: Served) -> str:
    """What was printed at the first start."""
    assert host.process.stderr is not None
    for line in host.process.stderr:
        if found := re.search(rf"http://127\.0\.0\.1:{host.http}(/admin/login\?secret=\S+)", line):
            return found[1]
    raise AssertionError("no link was printed")


def another_link(host: Served) -> str:
    url = f"http://127.0.0.1:{host.http}"
    code, out, errors = quintain("admin-link", "--url", url, "--data", str(host.data))
    assert (code, out.startswith(url)) == (0, True), errors
    return out.strip().removeprefix(url)


def log_in(organiser: Visitor, link: str) -> Page:
    page = organiser.open(link)
    page.get_by_role("button", name="Open the desk").click()
    expect(page.get_by_role("heading", name="Tournaments")).to_be_visible()
    return page


def open_cup(page: Page, name: str, entrants: int, game: str = "tic-tac-toe") -> None:
    page.get_by_role("link", name="New tournament").first.click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Format").select_option("double-round-robin")
    page.get_by_role("spinbutton", name="Entrants").fill(str(entrants))
    page.get_by_role("button", name="Open the tournament").click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def invite(page: Page, name: str) -> dict[str, Any]:
    """The hello that the page shows, to be pasted."""
    page.get_by_label("Invite a bot named").fill(name)
    page.get_by_role("button", name="Invite", exact=True).click()
    hello = json.loads(page.locator("pre", has_text='{"type":"hello"').first.inner_text())
    assert page.locator("pre.token").inner_text() == hello["token"]
    page.get_by_role("link", name="cup").first.click()
    return hello


def standings(page: Page) -> list[list[str]]:
    return page.evaluate(
        "[...document.querySelectorAll('.standings tbody tr')].map((row) =>"
        " [...row.children].slice(0, 5).map((cell) => cell.innerText.trim()))"
    )


def test_an_organiser_holds_a_tournament_from_the_desk(browser: Browser, host: Served) -> None:
    link = first_link(host)
    with visitor(browser, host.http) as organiser, visitor(browser, host.http) as somebody:
        page = log_in(organiser, link)
        open_cup(page, "cup", 3)
        hellos = [invite(page, name) for name in ("ada", "bela", "coco")]
        expect(page.locator(".entrants")).to_contain_text("missing since")
        for hello in hellos:
            Bot(host.tcp, hello["name"], "tic-tac-toe", token=hello["token"])
        wait_for(lambda: host.get("/api/tournaments/cup")[1]["state"] == "finished")
        page.reload()
        live = standings(page)
        page.get_by_role("button", name="Freeze the public standings").click()
        expect(page.locator(".state-frozen")).to_be_visible()
        page.get_by_role("link", name="Disqualify ada").click()
        expect(page.get_by_role("heading", name="Disqualify ada?")).to_be_visible()
        would = page.evaluate(
            "[...document.querySelectorAll('.preview tbody tr')].map((row) =>"
            " [0, 2, 3].map((index) => row.children[index].innerText.trim()))"
        )
        assert page.locator("tr.changed").count() > 0
        page.get_by_label("Why").fill("two bots in one")
        page.get_by_role("button", name="Disqualify ada").click()
        expect(page.locator(".entrants")).to_contain_text("disqualified")
        became = standings(page)
        assert [[row[0], row[1].split()[0], row[2]] for row in became] == would
        public = somebody.open("/tournaments/cup")
        expect(public.locator("#standings")).to_contain_text("The standings are frozen")
        assert standings(public) == live != became
        page.get_by_role("button", name="Unfreeze the public standings").click()
        expect(public.locator("#standings")).not_to_contain_text("The standings are frozen")
        assert standings(public) == became
        page.get_by_role("link", name="Audit").click()
        said = page.evaluate(
            "[...document.querySelectorAll('.audit th[scope=row]')].map((cell) => cell.innerText)"
        )
        assert said == ["unfreeze", "disqualify", "freeze", *["invite"] * 3, "open", "login"]
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("heading", name="The organiser’s desk")).to_be_visible()
        assert organiser.complaints == somebody.complaints == []
        organiser.go(page, "/admin")
        expect(page.get_by_role("heading", name="Not here")).to_be_visible()


def test_the_desk_knows_its_own_forms_at_a_name_without_tls(
    browser: Browser, serve: Any, tmp_path: Path
) -> None:
    """There no browser says in another way than by `Origin` that a form is from the desk itself."""
    (tmp_path / "quintain.toml").write_text(f'hosts = ["{ELSEWHERE}"]')
    host = serve("--log-level", "error")
    with visitor(browser, host.http) as organiser:
        page = organiser.open("/")
        page.goto(f"http://{ELSEWHERE}:{host.http}{another_link(host)}")
        page.get_by_role("button", name="Open the desk").click()
        expect(page.get_by_role("heading", name="Tournaments")).to_be_visible()
        open_cup(page, "cup", 3)


# Labels that stand beside the field of another one, and not beside their own.
APART = """() => [...document.querySelectorAll("form.line label")].filter((label) => {
    const line = (each) => { const box = each.getBoundingClientRect(); return (box.top + box.bottom) / 2; };
    const beside = (each) => Math.abs(line(each) - line(label)) < 10;
    const others = [...label.form.elements].filter((each) => each !== label.control && each.labels?.length);
    return !beside(label.control) && others.some(beside);
}).map((label) => label.innerText)"""


def test_a_label_is_never_beside_the_field_of_another_alone(browser: Browser, host: Served) -> None:
    """Catches "affiliation" behind the field for a bot's name on a phone, where lines are short."""
    with visitor(browser, host.http) as organiser:
        page = log_in(organiser, another_link(host))
        open_cup(page, "narrow", 2, "santorini")
        page.get_by_label("Invite a bot named").fill("zoe")
        page.get_by_role("button", name="Invite", exact=True).click()
        organiser.go(page, "/admin/tournaments/narrow")
        expect(page.get_by_label("affiliation")).to_be_visible()
        for width in (1400, 900, 700, 500, 390, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(APART) == [], width


def test_all_times_at_the_desk_are_in_the_reader_s_zone(browser: Browser, host: Served) -> None:
    """Those of absences and orders were in UTC, beside standings in the reader's zone."""
    with visitor(browser, host.http, timezone_id="Pacific/Kiritimati", locale="en-GB") as organiser:
        page = log_in(organiser, another_link(host))
        open_cup(page, "far-away", 2, "quoridor")  # bots of other tests would come to it
        organiser.go(page, "/admin/audit")
        expect(page.locator("time[data-local]")).to_have_count(0)
        shown = page.locator("time").first
        told = datetime.fromisoformat(shown.get_attribute("datetime") or "")
        there = told.astimezone(timezone(timedelta(hours=14)))
        assert shown.inner_text() == f"{there.day} {there:%b %Y, %H:%M:%S}"
        assert shown.get_attribute("title") == f"{told:%Y-%m-%d %H:%M:%S UTC}"


def test_axe_finds_nothing_at_the_desk(browser: Browser, host: Served, axe: str) -> None:
    cup = "looked-at"
    with visitor(browser, host.http, bypass_csp=True) as organiser:
        page = organiser.open(another_link(host))
        look_at(page, axe, "desk-login")
        page.get_by_role("button", name="Open the desk").click()
        open_cup(page, cup, 4)
        look_at(page, axe, "desk-empty")
        page.get_by_label("Invite a bot named").fill("greta")
        page.get_by_role("button", name="Invite", exact=True).click()
        look_at(page, axe, "desk-invited")
        for name in ("dot", "eli", "fay"):
            Bot(host.tcp, name, "tic-tac-toe")
        wait_for(lambda: len(host.get(f"/api/tournaments/{cup}")[1]["entrants"]) == 4)
        organiser.go(page, f"/admin/tournaments/{cup}")
        page.get_by_role("button", name="Start").click()
        wait_for(
            lambda: len(host.get(f"/api/tournaments/{cup}")[1]["entrants"]) == 4 and decided(host, cup) >= 6
        )
        organiser.go(page, f"/admin/tournaments/{cup}")
        page.get_by_role("button", name="Freeze the public standings").click()
        for name, path in {
            "overview": "/admin",
            "create": "/admin/create?game=santorini",
            "tournament": f"/admin/tournaments/{cup}",
            "preview": f"/admin/tournaments/{cup}/disqualify?name=dot",
            "refused": f"/admin/tournaments/{cup}/disqualify?name=nobody",
            "audit": "/admin/audit",
            "away": "/admin/nowhere",
        }.items():
            organiser.go(page, path)
            look_at(page, axe, f"desk-{name}")


def decided(host: Served, cup: str) -> int:
    return host.get(f"/api/tournaments/{cup}")[1]["played"]


def test_a_button_that_is_tapped_twice_gives_its_order_once(browser: Browser, host: Served) -> None:
    """Catches a link that is spent without opening the desk: of two answers, a browser takes the last."""
    with visitor(browser, host.http) as organiser:
        page = organiser.open(another_link(host))
        button = page.get_by_role("button", name="Open the desk").bounding_box()
        assert button is not None
        answered: list[int] = []

        def tap() -> None:
            page.mouse.click(button["x"] + 5, button["y"] + 5)

        def answer_after_another_tap(route: Route) -> None:
            answer = route.fetch(max_redirects=0)
            answered.append(answer.status)
            if len(answered) == 1:
                tap()
            route.fulfill(response=answer)

        page.route("**/admin/login", answer_after_another_tap)
        tap()
        expect(page.get_by_role("heading", name="Tournaments")).to_be_visible()
        assert (answered, organiser.complaints) == ([303], [])
