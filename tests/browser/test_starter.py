"""The starter in JavaScript, as it is, on a page in a real browser: over websocket, from another site."""

import functools
import http.server
import threading
from collections.abc import Callable, Iterator

import pytest
import quintain_bot
from legal_moves import legal_moves
from playwright.sync_api import Browser

from tests.clients.starters import GAMES
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow

PLAY = """
    async ([game, url]) => {
        const { play } = await import("./quintain.mjs");
        const { legalMoves } = await import("./legal_moves.mjs");
        return await play(game, (turn) => legalMoves(game, turn)[0], { url, name: "page-bot", quiet: true });
    }
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Not on the terminal of the tests."""


@pytest.fixture
def site() -> Iterator[str]:
    """A site that has the starter's files."""
    handler = functools.partial(Quiet, directory=str(ROOT / "clients/javascript"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join(HANG)


@pytest.mark.parametrize("game", GAMES if IS_CAMPAIGN else GAMES[:1])
def test_the_starter_plays_a_tournament_on_a_page(
    game: str, browser: Browser, site: str, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = serve("--tournament", "cup", "--game", game, "--entrants", "2")
    monkeypatch.setenv("XDG_STATE_HOME", str(host.folder))
    address = f"tcp://127.0.0.1:{host.tcp}"
    opponent = threading.Thread(
        target=quintain_bot.run,
        args=(lambda turn: legal_moves(game, turn)[0],),
        kwargs={"game": game, "name": "bob", "url": address},
        daemon=True,
    )
    opponent.start()
    page = browser.new_page()
    page.goto(site)
    standings = page.evaluate(PLAY, [game, f"ws://127.0.0.1:{host.websocket}"])
    assert page.evaluate("Object.keys(localStorage)") == [f"quintain 127.0.0.1-{game}-page-bot"]
    page.close()
    opponent.join(HANG)
    assert sorted(row["name"] for row in standings["rows"]) == ["bob", "page-bot"]
    _, match = host.get("/api/matches/cup-1")
    assert match["ending"] == "played"
