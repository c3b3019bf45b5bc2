"""The starter in JavaScript, as it is, on a page in a real browser: over websocket, from another site."""

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from itertools import product

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


IN_A_WORKER = """
    ([game, url]) => new Promise((resolve) => {
        const code = `
            import { play } from "${location.href}quintain.mjs";
            import { legalMoves } from "${location.href}legal_moves.mjs";
            const choose = (turn) => legalMoves("${game}", turn)[0];
            postMessage(await play("${game}", choose, { url: "${url}", name: "page-bot", quiet: true }));
        `;
        const source = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        const worker = new Worker(source, { type: "module" });
        worker.onmessage = (event) => resolve(event.data);
        worker.onerror = (event) => resolve(event.message);
    })
"""  # where a page has what takes long thought


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


@pytest.mark.parametrize(
    ("game", "where"), [*product(GAMES if IS_CAMPAIGN else GAMES[:1], [PLAY]), (GAMES[0], IN_A_WORKER)]
)
def test_the_starter_plays_a_tournament_on_a_page(
    game: str,
    where: str,
    browser: Browser,
    site: str,
    serve: Callable[..., Served],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a worker, too, which has no local storage."""
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
    standings = page.evaluate(where, [game, f"ws://127.0.0.1:{host.websocket}"])
    kept = [f"quintain 127.0.0.1-{game}-page-bot"] if where == PLAY else []
    assert page.evaluate("Object.keys(localStorage)") == kept
    page.close()
    opponent.join(HANG)
    assert sorted(row["name"] for row in standings["rows"]) == ["bob", "page-bot"]
    _, match = host.get("/api/matches/cup-1")
    assert match["ending"] == "played"
