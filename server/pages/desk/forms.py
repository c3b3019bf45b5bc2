"""Reads the form for a new tournament. Errors are sentences about a field."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import Any

from games.game import Pace
from server.host.tournament_settings import TournamentSettings
from server.net.escaping import in_quotes
from tournament.facts import Absent
from tournament.refusals import Refusal
from tournament.sizes import SEED

WHOLE = re.compile(r"-?[0-9]{1,16}")  # as many digits as the longest that is taken anywhere, a seed

EMPTY: Mapping[str, str] = {
    "name": "",
    "game": "",
    "format": "round-robin",
    "entrants": "",
    "rounds": "",
    "seed": "",
    "bank": "",
    "gain": "",
    "turn": "",
    "options": "",
    "absent": "",
    "start_at": "",
    "group": "",
    "rounds_at": "",
    "round_every": "",
    "check_in": "",
    "by_invitation": "",
    "confidence": "",
    "places": "",
    "within": "",
    "games": "",
}


def wanted(fields: Mapping[str, str]) -> TournamentSettings:
    """The tournament that was asked for; raises `Refusal` with what is wrong."""
    return TournamentSettings(
        fields["name"],
        fields["game"],
        fields["format"],
        _whole(fields, "entrants", 2),
        _whole(fields, "rounds", 1),
        _whole(fields, "seed", -SEED),
        _options(fields),
        _pace(fields),
        _absent(fields),
        _moment(fields["start_at"], "start_at") if fields["start_at"] else None,
        fields["group"] or None,
        [_moment(each, "rounds_at") for each in fields["rounds_at"].split()] or None,
        fields["round_every"] or None,
        fields["check_in"] or None,
        _yes(fields, "by_invitation"),
        _number(fields, "confidence", 0.5),
        _whole(fields, "places", 0),
        _number(fields, "within", 1),
        _whole(fields, "games", 1),
    )


def _absent(fields: Mapping[str, str]) -> Absent | None:
    match given := fields["absent"]:
        case "":
            return None
        case "wait" | "settle":
            return given
        case _:
            raise Refusal(f"absent: expected wait or settle, not {in_quotes(given)}")


def _yes(fields: Mapping[str, str], name: str) -> bool:
    if fields[name] not in ("", "yes"):
        raise Refusal(f"{name}: expected yes or nothing, not {in_quotes(fields[name])}")
    return bool(fields[name])


def _moment(given: str, name: str) -> datetime:
    try:
        return datetime.fromisoformat(given)
    except ValueError:
        raise Refusal(
            f"{name}: expected a time such as 2030-03-01T18:00:00Z, not {in_quotes(given)}"
        ) from None


def _whole(fields: Mapping[str, str], name: str, least: int) -> int | None:
    given = fields[name]
    if not given:
        return None
    if not (WHOLE.fullmatch(given) and int(given) >= least):
        raise Refusal(f"{name}: expected a whole number, {least} or more, not {in_quotes(given)}")
    return int(given)


def _number(fields: Mapping[str, str], name: str, least: float, what: str = "a number") -> float | None:
    given = fields[name]
    if not given:
        return None
    try:
        found = float(given)
    except ValueError:
        found = -1.0
    if not isfinite(found) or found < least:
        raise Refusal(f"{name}: expected {what}, {least:g} or more, not {in_quotes(given)}")
    return found


def _pace(fields: Mapping[str, str]) -> Pace | None:
    bank, gain, turn = (
        _number(fields, name, least, "seconds")
        for name, least in (("bank", 0.01), ("gain", 0), ("turn", 0.01))
    )
    return Pace(bank=bank, gain=gain or 0.0, turn=turn) if bank or gain or turn else None


def _options(fields: Mapping[str, str]) -> dict[str, Any]:
    try:
        found = json.loads(fields["options"] or "{}")
    except (ValueError, RecursionError) as error:
        raise Refusal(f'options: expected a JSON object such as {{"rows": 5}}: {error}') from None
    if not isinstance(found, dict):
        raise Refusal('options: expected a JSON object such as {"rows": 5}')
    return found  # pyright: ignore[reportUnknownVariableType]
