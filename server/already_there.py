"""A tournament that flags ask for, and that the store has already.

With the same flags, a host that is started again goes on with it. With other flags, the organiser means
another tournament, and would be shown the results of this one.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from server.exits import ConfigError
from tournament.facts import State
from tournament.record import Record

SAID = {
    "game": "of another game",
    "format": "of another format",
    "entrants": "for another number of entrants",
    "rounds": "of another number of rounds",
}


def expect_the_same(asked: Mapping[str, Any], kept: Iterable[Record]) -> None:
    """Raise `ConfigError` if a tournament of that name contradicts the flags."""
    for record in kept:
        if record.name == asked["name"] and record.state is not State.DELETED:
            there = record.opened
            values = {"game": there.game, "format": there.format, "entrants": there.entrants}
            values["rounds"] = there.terms.rounds
            others = [
                f"{SAID[key]}: {'not set' if value is None else value}"
                for key, value in values.items()
                if key in asked and asked[key] != value
            ]
            if others:
                raise ConfigError(
                    f"there is a tournament {record.name} already, {', '.join(others)};"
                    " take another name or leave the flags out"
                )
