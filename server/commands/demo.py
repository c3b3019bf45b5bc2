"""`quintain demo`: everything in half a minute, with a host, its doors, house bots, pages and standings."""

import subprocess
import time
from collections.abc import Callable
from itertools import chain
from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from games.brains import BRAINS
from games.catalogue import catalogue
from server.commands.flags import Decimal, Flag, Whole
from server.exits import DONE, FAILED
from server.net.escaping import json_line
from server.programs.child import ChildHost, child_host, ended, started
from server.programs.interrupts import Interrupts, later
from server.programs.report import rendered
from server.programs.terminal import note, progress, say

# Moves that the bot that thinks makes in the longest tournament. All are played at the same time, and the
# other brains move at once.
MOVES = 70
LOOK = 0.25  # seconds between looks at how it stands
SLACK = 4  # something is wrong if a demo takes this many times as long as it should


def demo(
    *,
    http: Annotated[int, Whole, Parameter(validator=Number(gte=0, lte=65535))] = 0,
    seconds: Annotated[float, Decimal, Parameter(validator=Number(gte=1))] = 30.0,
    json: Flag = False,
) -> int:
    """Hold a tournament of house bots in every game, over real connections.

    The host runs on free ports and keeps its data in a temporary folder. Four
    bots for each game connect to it, each in its own process, over TCP,
    websocket and HTTP. Follow it on the page whose address is printed.

    Example: a longer one, on a port that you know:

        quintain demo --http 8090 --seconds 120

    Parameters
    ----------
    http
        The port of the page; 0 picks a free one.
    seconds
        About how long it lasts.
    json
        The standings as one JSON object instead of tables.
    """
    games = catalogue()  # now: interrupted while it makes dataclasses, Python would end by the signal
    with Interrupts(), child_host(http) as host:
        page = host.urls["http"]
        (note if json else say)(f"Follow it at {page}/")
        bots: list[subprocess.Popen[bytes]] = []
        try:
            names: list[str] = []
            for game in games:
                with later():
                    names.append(_begin(host, game, seconds / MOVES, bots))
            trouble = _until_over(host, names, bots, seconds * SLACK + 30)
        finally:
            for bot in bots:
                bot.kill()
            for bot in bots:
                ended(bot)
        if trouble is not None:  # after whatever the bots had to say of it
            note(f"quintain: {trouble}")
        standings = [host.remote.get("tournaments", name, "standings") for name in names]
    if json:
        say(json_line({"page": page, "tournaments": standings}))
    else:
        say("\n\n".join(rendered(each, as_json=False) for each in standings))
    return DONE if trouble is None else FAILED


def _begin(host: ChildHost, game: str, think: float, bots: list[subprocess.Popen[bytes]]) -> str:
    """Open a tournament of a game, and send a bot of each brain there."""
    name = f"demo-{game}"
    host.remote.post("tournaments", body={"name": name, "game": game, "entrants": len(BRAINS)})
    for number, brain in enumerate(BRAINS):
        url = list(host.urls.values())[(number + len(bots)) % len(host.urls)]
        flags = ("--game", game, "--url", url, "--tournament", name, "--token", f"demo-{game}-{brain}-token")
        bots.append(started(("bot", brain, *flags, "--think", str(think)), folder="."))
    return name


def _until_over(
    host: ChildHost, names: list[str], bots: list[subprocess.Popen[bytes]], timeout: float
) -> str | None:
    """Wait for all tournaments to end; why they do not, if they do not, or a bot fails."""
    until = time.monotonic() + timeout
    pairs = len(BRAINS) * (len(BRAINS) - 1) // 2
    with progress("matches", len(names) * pairs) as step:
        shown = 0
        while time.monotonic() < until:
            with later():
                found: list[dict[str, Any]] = [host.remote.get("tournaments", name) for name in names]
            shown = _advance(step, shown, sum(each["played"] for each in found))
            if all(each["state"] == "finished" for each in found):
                return None
            if any(bot.poll() for bot in bots):
                return "a house bot has failed: its own message is above"
            if (void := _void(host, names)) is not None:  # as of a game that fails, again and again
                return f"{void} is void by a fault of the host: its own message is above"
            time.sleep(LOOK)
    return f"this was not over after {timeout:.0f} s"


def _void(host: ChildHost, names: list[str]) -> str | None:
    """A match that counts for nothing, by a fault of the host."""
    with later():
        found = [host.remote.get("tournaments", name, "matches")["matches"] for name in names]
    return next((each["match"] for each in chain(*found) if each["fault"] == "host"), None)


def _advance(step: Callable[[], None], shown: int, played: int) -> int:
    for _ in range(played - shown):
        step()
    return played
