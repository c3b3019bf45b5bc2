"""What honest bots lost, by the record alone: their matches follow scripts, so results are known."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from tests.adversaries.company import ENTRANTS, REGULARS
from tests.adversaries.scripts import script

HONEST = frozenset((*ENTRANTS, *REGULARS))


class Verdict(Struct):
    matches: int = 0  # of honest bots, that are over
    void: int = 0  # of these: they count for nobody, and are played again
    lost: float = 0.0  # points
    matches_lost: list[str] = []  # where, and how


def judged(matches: Iterable[Mapping[str, Any]]) -> Verdict:
    """Of matches as the API lists them."""
    verdict = Verdict()
    for match in matches:
        honest = [name in HONEST for name in match["players"]]
        if match["ending"] is None or not any(honest):
            continue
        verdict.matches += 1
        if match["score"] is None:  # also of a win at an open table over somebody who never moved
            verdict.void += 1
            continue
        due = _due(match, honest)
        missing = sum(max(0.0, points - got) for points, got in zip(due, match["score"], strict=True))
        if missing:
            verdict.lost += missing
            players = " and ".join(match["players"])
            verdict.matches_lost.append(f"{match['match']}, {players}: {match['score']}, {match['why']}")
    return verdict


def _due(match: Mapping[str, Any], honest: list[bool]) -> list[float]:
    """The points that honest bots must have: by the script, and all of them against whoever faults.

    A stranger that plays by the rules to the end may win.
    """
    if all(honest):
        winner = script(match["game"]).winner
        return [float(seat == winner) for seat in (0, 1)]
    if match["ending"] == "played":
        return [0.0, 0.0]
    return [float(one) for one in honest]
