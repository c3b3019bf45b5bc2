"""The wire log of a match in a real browser: authors and the organiser get to it by a form, with a token."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import faults, fits, look_at, token_of, visitor
from tests.effort import IS_CAMPAIGN
from tests.server.served import Served

pytestmark = pytest.mark.slow

LONG = "santorini-1"  # that is over: its messages are the longest, and there are many of them
SHORT = "tic-tac-toe-1"  # axe, which looks at each of them, takes seconds over the others


def give(page: Page, token: str) -> None:
    page.get_by_label("The bot’s token").fill(token)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="What was said")).to_be_visible()


@pytest.mark.parametrize("match", [LONG, SHORT])
def test_the_wire_log_of_a_match_fits_and_axe_finds_nothing_on_a_short_one(
    browser: Browser, arena: Served, axe: str, match: str
) -> None:
    players = arena.get(f"/api/matches/{match}")[1]["players"]
    organiser = (arena.data / "organiser-token").read_text().strip()
    with visitor(browser, arena.http, bypass_csp=True) as author:
        page = author.open("/")
        for token, names in ((token_of(players[1]), players[1:]), (organiser, players)):
            author.go(page, f"/matches/{match}")
            give(page, token)
            sides = page.get_by_role("region")
            expect(sides).to_have_count(len(names))
            for name, side in zip(names, sides.all(), strict=True):
                assert side.get_attribute("aria-label") == f"Messages of {name}"
                for sender in ("bot", "host"):
                    assert side.locator(f"tbody tr.from-{sender}").count() > 0, (name, sender)
            fits(page, f"wire-of-{len(names)}-{match}", whole=False)
            if match == SHORT or IS_CAMPAIGN:
                assert faults(page, axe) == []
        assert author.complaints == []


def test_axe_finds_nothing_where_the_wire_log_is_asked_for(browser: Browser, arena: Served, axe: str) -> None:
    with visitor(browser, arena.http, bypass_csp=True) as author:
        page = author.open(f"/matches/{SHORT}/wire")
        look_at(page, axe, "wire-form")
        give(page, "nobody's token, and no guess either")
        expect(page.get_by_role("alert")).to_contain_text("neither the token of a bot in this match")
        look_at(page, axe, "wire-refused")
