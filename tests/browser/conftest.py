"""A real browser, and hosts in processes of their own for it to look at."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.bots import Bot
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG, wait_for
from tests.lacking import lacking
from tests.server.served import ROOT, Served

ELSEWHERE = "arena.example"  # for a browser another machine, to which it speaks without TLS
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
)
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PICTURES = ROOT / ".cache" / "screenshots"  # for people to look at; nothing is compared with them
AXE = ROOT / "tests/browser/node_modules/axe-core/axe.min.js"
NOTE = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => violations.push(
        `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
    window.ran = () => violations.push("a script ran");
    window.alert = window.ran;
"""
expect.set_options(timeout=1000 * HANG)
SCHEMES: dict[Literal["dark", "light"], list[str]] = {"dark": ["color-contrast"], "light": []}  # by the rules
TARGETS = {"rules": {"target-size": {"enabled": True}}}  # beside axe's own rules: fingers find every link
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "is_mobile": True},
}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        lacking("there is no chromium: `make test` installs Debian's where it may")
    with sync_playwright() as playwright:
        with_fresh_profile = playwright.chromium.launch(executable_path=found, args=[*FLAGS])
        yield with_fresh_profile
        with_fresh_profile.close()


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.exists():
        lacking("axe-core is not installed: `make test` does it where there is a package index")
    return AXE.read_text()


class Visitor:
    """Somebody at a browser, and whatever it complained of."""

    def __init__(self, context: BrowserContext, port: int) -> None:
        self.port = port
        self.complaints: list[str] = []
        self._context = context
        context.add_init_script(NOTE)

    def open(self, path: str) -> Page:
        page = self._context.new_page()
        page.set_default_timeout(1000 * HANG)
        page.on("console", lambda said: self._complain(said.type, said.text))
        page.on("pageerror", lambda error: self._complain("error", str(error)))
        page.on("dialog", lambda dialog: self._complain("error", f"a dialog: {dialog.message}"))
        self.go(page, path)
        return page

    def go(self, page: Page, path: str) -> None:
        page.goto(f"http://127.0.0.1:{self.port}{path}", wait_until="domcontentloaded")

    def noted(self, page: Page) -> list[str]:
        """What ran that should not, or was kept from running by the policy alone."""
        return page.evaluate("violations")

    def _complain(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)


@contextmanager
def visitor(browser: Browser, port: int, look: str = "light", **options: Any) -> Iterator[Visitor]:
    context = browser.new_context(**LOOKS[look], **options)
    try:
        yield Visitor(context, port)
    finally:
        context.close()


def faults(page: Page, axe: str) -> list[tuple[str, str, str]]:
    """What axe finds on a page, in the light and in the dark: by which rule, where, and what would mend it.

    In the dark the colours are others, and nothing else is.
    """
    page.evaluate(axe)
    found: list[tuple[str, str, str]] = []
    for scheme, rules in SCHEMES.items():
        page.emulate_media(color_scheme=scheme)
        asked = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else TARGETS)
        told = page.evaluate("(asked) => axe.run(asked)", asked)
        found += [
            (f"{fault['id']} in the {scheme}", node["html"][:200], node["failureSummary"])
            for fault in told["violations"]
            for node in fault["nodes"]
        ]
    return found


def picture(page: Page, name: str, whole: bool = True) -> None:
    """Is kept for people by `make campaign`: to paint all pages takes longer than to look for faults."""
    if IS_CAMPAIGN:
        page.screenshot(path=PICTURES / f"{name}.png", full_page=whole)


def within(page: Page) -> bool:
    """Whether a page is no wider than its window: a phone would shrink it, and calls that its inner width."""
    assert page.viewport_size is not None
    return page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def fits(page: Page, name: str, whole: bool = True) -> None:
    """Also where it is as narrow as on a phone."""
    for look in ("phone", "light"):
        page.set_viewport_size(LOOKS[look]["viewport"])
        picture(page, f"{name}-{look}", whole)
        assert within(page), f"{name} is too wide"


def look_at(page: Page, axe: str, name: str) -> None:
    """Axe finds nothing, and the page fits."""
    assert faults(page, axe) == [], name
    fits(page, name)


@pytest.fixture(scope="session")
def live() -> Semaphore:
    """Each time that it is released, a move is made in the match that goes on."""
    return Semaphore(0)


def plies(host: Served) -> int:
    """Moves made so far in the match that goes on."""
    status, told = host.get("/api/matches/live-1")
    return len(told["moves"]) if status == 200 else 0


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory, live: Semaphore) -> Iterator[Served]:
    """A host on which a tournament of every game is over, and a match of Santorini is being played."""
    host = Served(tmp_path_factory.mktemp("host"), "--log-level", "error")
    try:
        token = (host.data / "organiser-token").read_text().strip()
        for game, brain in GAMES.items():
            order(host, token, "", name=game, game=game, format="round-robin", entrants=len(BOTS))
            for name in BOTS:
                Bot(host.tcp, name, game, brain=brain, token=token_of(name))
        for game in GAMES:
            wait_for(lambda game=game: host.get(f"/api/tournaments/{game}")[1]["state"] == "finished")
        order(host, token, "", name="live", game="santorini", entrants=2, pace={"turn": LIVE_TURN})
        for name in ("leo", "mia"):
            Bot(host.tcp, name, "santorini", turns=live)
        for _ in range(BEGUN):
            live.release()
        wait_for(lambda: plies(host) == BEGUN)
        yield host
    finally:
        host.kill()


GAMES = {
    "connect-4": "greedy",
    "hexagon-dots": "random",
    "quoridor": "greedy",
    "santorini": "random",
    "tic-tac-toe": "random",
}
BOTS = ("ada", "bela", "coco")
LIVE_TURN = 14_400.0  # seconds: nobody loses by the clock, however busy the machine is
BEGUN = 6  # moves in the match that goes on: the workers stand, and have been moved


def token_of(bot: str) -> str:
    """What it brings along to the arena."""
    return f"the token of {bot}, for tests alone"


def order(host: Served, token: str, what: str, **body: Any) -> None:
    """Something that an organiser wants done."""
    import json

    content = json.dumps(body)
    status, told = host.ask(
        f"POST /api/tournaments{what} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(content)}\r\n\r\n{content}"
    )
    assert status < 300, told


@pytest.fixture(scope="session")
def hostile() -> Iterator[int]:
    """The port of a host full of scripts by name."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.browser.hostile"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        ready = re.fullmatch(r"ready http=127\.0\.0\.1:(\d+)\n", process.stdout.readline())
        assert ready is not None
        yield int(ready[1])
    finally:
        process.kill()
        process.communicate()
