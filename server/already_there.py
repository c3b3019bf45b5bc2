"""A tournament that is asked for, and that the store has already.

With the same flags, a host that is started again goes on with it. With other flags, the organiser means
another tournament, and would be shown the results of this one. In the configuration a tournament stays
listed once it was opened, so a difference there is no fault; but it has no effect, and the organiser is told.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import structlog
from msgspec import UNSET, UnsetType

from games.game import Pace
from server.exits import ConfigError
from server.export.json_views import moment
from server.host.tournament_settings import TournamentSettings
from tournament.facts import Opened, State
from tournament.record import Record

# What may differ, by its setting: how that is said, and what it is. A group is only where it is listed.
SAID: Mapping[str, tuple[str, Callable[[Opened], Any]]] = {
    "game": ("of another game", lambda opened: opened.game),
    "format": ("of another format", lambda opened: opened.format),
    "entrants": ("for another number of entrants", lambda opened: opened.entrants),
    "rounds": ("of another number of rounds", lambda opened: opened.terms.rounds),
    "seed": ("with another seed", lambda opened: opened.terms.seed),
    "pace": ("at another pace", lambda opened: opened.pace),
    "options": ("with other options", lambda opened: opened.options),
    "absent": ("with another policy on absent bots", lambda opened: opened.absent or "wait"),
    "start_at": ("starting at another time", lambda opened: _moment(opened.start_at)),
    "rounds_at": ("with other times of rounds", lambda opened: _moments(opened.rounds_at)),
    "round_every": ("with rounds at other distances", lambda opened: _seconds(opened.round_every)),
    "check_in": ("with another time to check in", lambda opened: _seconds(opened.check_in)),
    "by_invitation": ("by invitation", lambda opened: "yes" if opened.by_invitation else "no"),
    "confidence": ("of another confidence", lambda opened: _aim(opened, "confidence")),
    "places": ("with other places to settle", lambda opened: _aim(opened, "places")),
    "within": ("with other differences that count", lambda opened: _aim(opened, "within")),
    "games": ("with another number of matches", lambda opened: _aim(opened, "games")),
}
ALWAYS = ("game", "format")  # in a configuration: also where it leaves out the format

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def expect_the_same(asked: Mapping[str, Any], kept: Iterable[Record]) -> None:
    """Raise `ConfigError` if a tournament of that name contradicts the flags."""
    wanted = msgspec.convert(asked, TournamentSettings).opened()
    for record in kept:
        if record.name == asked["name"] and record.state is not State.DELETED:
            others = _differences(asked, wanted, record.opened)
            if others:
                raise ConfigError(
                    f"there is a tournament {record.name} already, {', '.join(others)};"
                    " take another name or leave the flags out"
                )


def warn_of_another(wanted: TournamentSettings, there: Opened) -> None:
    """Warn if the configuration asks for another tournament than the one of that name that is there."""
    defaults = TournamentSettings(wanted.name, wanted.game)
    asked = [key for key in SAID if key in ALWAYS or getattr(wanted, key) != getattr(defaults, key)]
    for other in _differences(asked, wanted.opened(), there):  # a line for each: long words are cut
        log.warning("a tournament is there already and stays as it is", tournament=wanted.name, it=other)


def _differences(asked: Iterable[str], wanted: Opened, there: Opened) -> list[str]:
    """What is not as it is asked for, in words."""
    return [
        f"{words}: {_shown(of(there))}"
        for key, (words, of) in SAID.items()
        if key in asked and of(wanted) != of(there)
    ]


def _aim(opened: Opened, term: str) -> Any:
    """A term of when it is decided; None where it is of another format."""
    return getattr(opened.terms.aim, term, None)


def _moment(when: float | UnsetType) -> str | None:
    return None if when is UNSET else moment(when)


def _moments(when: tuple[float, ...] | UnsetType) -> str | None:
    return None if when is UNSET else ", ".join(map(moment, when))


def _seconds(long: float | UnsetType) -> str | None:
    return None if long is UNSET else f"{long:.10g} s"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "not set"
        case Pace():
            times = msgspec.to_builtins(value).items()
            return ", ".join(f"{name} {seconds:.10g}" for name, seconds in times if seconds)
        case float():
            return f"{value:.10g}"
        case str() | int():
            return str(value)
        case _:
            return ", ".join(f"{name} {each}" for name, each in value.items()) or "none"
