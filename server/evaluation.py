"""Evaluations: a bot plays the Arena's cases, one after another, and gets a score of 100 at most.

A case is one battle against a house opponent: a simple one, a strong one, or
one that cheats (`server/cheats.py`). These matches belong to no tournament and
are in no record; what came of a run is known here for a while, and told to
whoever asked for it.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import Any
from uuid import uuid4

import structlog
import trio
from msgspec import Struct
from msgspec.json import encode

from games import quoridor, tictactoe
from games.brains import alphabeta
from games.catalogue import catalogue
from games.game import Game
from server.addresses import Url
from server.cheats import TRICKS, Trick, rigged
from server.doors.battle import Battle
from server.doors.calling import Calling
from server.host import Host
from server.http import Refusal
from server.thinker import Busy, Failed
from tournament.events import Ended, Ending, Moved
from tournament.match import Match
from tournament.player import Seat

HOUSE, BOT = "the Arena", "the bot"  # how endings call them
DEPTH = 2  # plies that Quoridor's strong opponent looks ahead
THINKING = 5.0  # seconds it may take for that, on a machine that is busy; it needs some milliseconds
SURVIVED = ((8, 0), (14, 1), (18, 3), (22, 6))  # under so many own turns, so many points
FROM, TO, LEAST, MOST = 22, 40, 10, 25  # and from there on rising evenly

Enrol = Callable[[Seat, str], Battle]
Choose = Callable[[Match], Awaitable[Sequence[Any]]]
Score = Callable[[Match, int], float]  # of a match that is over, and the bot's seat

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Case(Struct, frozen=True):
    name: str
    seat: int | None  # the house's; None is either
    opponent: str  # "baseline", "advanced" or "cheat"
    score: Score


def for_a_win(points: float) -> Score:
    return lambda match, seat: points if _winner(match) == seat else 0


def for_a_draw(points: float) -> Score:
    """Or a win."""

    def score(match: Match, seat: int) -> float:
        drawn = match.result is not None and match.result.ending is Ending.PLAYED and _winner(match) is None
        return points if drawn or _winner(match) == seat else 0

    return score


def for_surviving(match: Match, seat: int) -> float:
    """Against Quoridor's strong opponent it counts how long the bot held out, by its own turns."""
    if _winner(match) == seat:
        return MOST
    turns = sum(isinstance(event, Moved) and event.seat == seat for event in match.log.events)
    for under, points in SURVIVED:
        if turns < under:
            return points
    return round(LEAST + (min(turns, TO) - FROM) * (MOST - LEAST) / (TO - FROM), 2)


def _winner(match: Match) -> int | None:
    return None if match.result is None else match.result.winner


def _cases(game: Game[Any, Any], points: Mapping[str, float]) -> tuple[Case, ...]:
    tricks = TRICKS[game.name].items()
    return tuple(Case(name, trick.seat, "cheat", for_a_win(points.get(name, points[""]))) for name, trick in tricks)


CASES: Mapping[str, tuple[Case, ...]] = {
    tictactoe.GAME.name: (
        *(Case(f"BASE_AI_{side}", seat, "baseline", for_a_win(20)) for seat, side in enumerate("OX")),
        *(Case(f"AB_AI_{side}", seat, "advanced", for_a_draw(20)) for seat, side in enumerate("OX")),
        *_cases(tictactoe.GAME, {"": 4}),
    ),
    quoridor.GAME.name: (
        *(Case(f"BASE_AI_{side}", seat, "baseline", for_a_win(15)) for seat, side in ((0, "FIRST"), (1, "SECOND"))),
        *(Case(f"AB_AI_{side}", seat, "advanced", for_surviving) for seat, side in ((0, "FIRST"), (1, "SECOND"))),
        *_cases(quoridor.GAME, {"": 2, "WALL_BLOCKING": 4}),
    ),
}
