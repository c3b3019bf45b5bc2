"""Several bots at once, each in a thread of its own, and what their league came to."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import combinations
from typing import Any

from tests.hang import HANG
from tests.server.served import Served


def together(host: Served, *bots: Callable[[], Any]) -> None:
    """Has them all play to the end. Where one fails the host goes, so that nobody waits for that one."""
    with ThreadPoolExecutor(len(bots)) as threads:
        running = [threads.submit(bot) for bot in bots]
        try:
            for over in as_completed(running, HANG):
                over.result()
        except BaseException:
            host.kill()
            raise


def matches(host: Served, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """The matches of a league whose bots have played all of them: everybody has met everybody, once."""
    status, told = host.get("/api/tournaments/league/matches")
    assert status == 200, told
    met = sorted(tuple(sorted(match["players"])) for match in told["matches"])
    assert met == sorted(combinations(sorted(names), 2))
    return told["matches"]
