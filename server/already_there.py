"""A tournament that is asked for, and that the store has already.

With the same flags, a host that is started again goes on with it. With other flags, the organiser means
another tournament, and would be shown the results of this one. In the configuration a tournament stays
listed once it was opened, so a difference there is no fault; but it has no effect, and the organiser is told.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import structlog

from games.game import Pace
from server.exits import ConfigError
from tournament.facts import Opened, State
from tournament.record import Record

SAID = {
    "game": "of another game",
    "format": "of another format",
    "entrants": "for another number of entrants",
    "rounds": "of another number of rounds",
    "pace": "at another pace",
    "options": "with other options",
}

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def expect_the_same(asked: Mapping[str, Any], kept: Iterable[Record]) -> None:
    """Raise `ConfigError` if a tournament of that name contradicts the flags."""
    for record in kept:
        if record.name == asked["name"] and record.state is not State.DELETED:
            others = _differences(asked, record.opened)
            if others:
                raise ConfigError(
                    f"there is a tournament {record.name} already, {', '.join(others)};"
                    " take another name or leave the flags out"
                )


def warn_of_another(name: str, wanted: Opened, there: Opened) -> None:
    """Warn if the configuration asks for another tournament than the one of that name that is there."""
    asked = _said(wanted)
    others = _differences({key: value for key, value in asked.items() if value}, there)
    if others:
        log.warning("a tournament is there already and stays as it is", tournament=name, it=", ".join(others))


def _differences(asked: Mapping[str, Any], there: Opened) -> list[str]:
    """What is not as it is asked for, in words."""
    return [
        f"{words}: {_shown(value)}"
        for (key, words), value in zip(SAID.items(), _said(there).values(), strict=True)
        if key in asked and asked[key] != value
    ]


def _said(opened: Opened) -> dict[str, Any]:
    """What may differ, by its setting; None where it is not set."""
    values = (opened.game, opened.format, opened.entrants, opened.terms.rounds, opened.pace, opened.options)
    return dict(zip(SAID, values, strict=True))


def _shown(value: Any) -> str:
    match value:
        case None:
            return "not set"
        case Pace():
            times = msgspec.to_builtins(value).items()
            return ", ".join(f"{name} {seconds:g}" for name, seconds in times if seconds)
        case str() | int():
            return str(value)
        case _:
            return ", ".join(f"{name} {each}" for name, each in value.items()) or "none"
