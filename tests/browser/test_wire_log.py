"""The wire log of a match in a real browser: authors and the organiser get to it by a form, with a token."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LOOKS, look_at, token_of, visitor
from tests.server.served import Served

pytestmark = pytest.mark.slow

MATCH = "santorini-1"  # that is over: its messages are the longest, and there are many of them


def give(page: Page, token: str) -> None:
    page.get_by_label("The bot’s token").fill(token)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="What was said")).to_be_visible()


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_the_wire_log_of_a_match(
    browser: Browser, arena: Served, axe: str, look: str
) -> None:
    players = arena.get(f"/api/matches/{MATCH}")[1]["players"]
    organiser = (arena.data / "organiser-token").read_text().strip()
    with visitor(browser, arena.http, look, bypass_csp=True) as author:
        page = author.open("/")
        for token, names in ((token_of(players[1]), players[1:]), (organiser, players)):
            author.go(page, f"/matches/{MATCH}")
            give(page, token)
            sides = page.get_by_role("region")
            expect(sides).to_have_count(len(names))
            for name, side in zip(names, sides.all(), strict=True):
                assert side.get_attribute("aria-label") == f"Messages of {name}"
                for sender in ("bot", "host"):
                    assert side.locator(f"tbody tr.from-{sender}").count() > 0, (name, sender)
            look_at(page, axe, f"wire-of-{len(names)}-{look}", whole=False)
        assert author.complaints == []
        author.go(page, f"/matches/{MATCH}/wire")
        look_at(page, axe, f"wire-form-{look}")
        give(page, "nobody's token, and no guess either")
        expect(page.get_by_role("alert")).to_contain_text("neither the token of a bot in this match")
        look_at(page, axe, f"wire-refused-{look}")
