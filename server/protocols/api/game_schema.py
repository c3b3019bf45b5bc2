"""What the states and moves of a game look like as JSON Schema, drawn from the game's own values.

A game says what it shows by showing it. So a few matches are played at random, and the schema is what all
their states, or all their moves, have in common: their types, the fields that each has, and the length
of lists that never changes. It says how a value is built, and not which moves are legal.
"""

import random
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from games.catalogue import catalogue
from games.game import Game

MATCHES, PLIES = 6, 80  # looked at: enough for every kind of move
NAMES = ("ann", "bob")
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


@cache
def schemas(name: str) -> Schema:
    """The schemas of a game's states and moves. Takes a moment the first time, and is then remembered."""
    game = catalogue()[name]
    states, moves = zip(*_seen(game), strict=True)
    return {
        "game": name,
        "state": {"$schema": DIALECT, "title": f"a state of {game.title}", **common(states)},
        "move": {"$schema": DIALECT, "title": f"a move of {game.title}", **common(moves)},
    }


def _seen(game: Game[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """States, each with a move that was made there, as a bot is told of them."""
    lots = random.Random(game.name)
    for _ in range(MATCHES):
        position: Any = game.opening({})
        for _ in range(PLIES):
            if position.outcome is not None:
                break
            move = lots.choice([*position.moves()])
            yield _as_json(game.show(position, NAMES)), _as_json(game.write(move))
            position = position.play(move)


def _as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def common(values: Iterable[Any]) -> Schema:
    """What all of these values have in common."""
    kinds: dict[str, list[Any]] = {}
    for value in values:
        kinds.setdefault(_kind(value), []).append(value)
    found = [_of_one_kind(kind, of_it) for kind, of_it in sorted(kinds.items())]
    return found[0] if len(found) == 1 else {"anyOf": found} if found else {}


def _of_one_kind(kind: str, values: list[Any]) -> Schema:
    match kind:
        case "array":
            lengths = {len(value) for value in values}
            fixed = {"minItems": (size := lengths.pop()), "maxItems": size} if len(lengths) == 1 else {}
            places = list(zip(*values, strict=True)) if fixed else []
            if places and len({_kind(item) for value in values for item in value}) > 1 and len(places) < 8:
                # Each place has a meaning of its own, as in ["move", "ann", …].
                return {"type": kind, "prefixItems": [common(place) for place in places], **fixed}
            return {"type": kind, "items": common(item for value in values for item in value), **fixed}
        case "object":
            names = dict.fromkeys(name for value in values for name in value)
            fields = {name: [value[name] for value in values if name in value] for name in names}
            required = [name for name, found in fields.items() if len(found) == len(values)]
            properties = {name: common(found) for name, found in fields.items()}
            return {"type": kind, "properties": properties, "required": required}
        case _:
            return {"type": kind}


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case [*_]:
            return "array"
        case _:
            return "object"
