"""What bots send that is no move: anything JSON can hold, and moves with one thing wrong.

For tests of any game; what is wrong with one game's moves alone is in the test of that game.
"""

from functools import partial
from typing import Any

from hypothesis import strategies as st


def nested(depth: int, inner: Any = 1) -> Any:
    for _ in range(depth):
        inner = [inner]
    return inner


ZERO = {"row": 0, "col": 0}

# fmt: off
# What some parser, somewhere, has let through.
KNOWN: list[Any] = [
    None, True, False, 1.0, 0.5, -1, -1.0, 10**20, 10**4000, -(10**4000), float("nan"), float("inf"), 1e308,
    "", " ", "\n", "1", "1.0", "true", "null", "+1", "1_0", "0x1", "1e0", "²", "⑨", "١", "１", "٣ ٣", "{}",
    "[[[[", "\x00", "\u202e", "\ud800", '{"action":', "(╯°□°)╯︵ ┻━┻",
    "x" * 5000, "9" * 4000, "9" * 4000 + " 1",
    "a0h", "i4v", "E2", "e2 ", " e2", "e2\n", "e2h ", "e10", "j5", "e3H", "NNE", "ne", "1 2\r\n", "0 0 0 0",
    "0,0,0", "0,0 9,99", "0,0", "0,0 0,1 ", "0,0  0,1", "1  2", "1\t2", "+1 2", "1_0 2", "١ 2", "-1 0",
    [], {}, [[]], [{}], [None], [True, True], [1.0, 1.0], ["1", "1"], [1, 1, 1, 1], [10**4000, 1], [-1, 0],
    [0, 99], {"": None}, {"action": None}, {"action": []}, {"action": "move"},
    {"action": "move", "position": 2}, {"action": "move", "position": ["e2"]}, {"action": {}, "position": {}},
    {"action": "MOVE", "position": "e2"}, {"action": "putWall", "position": "e2"},
    {"action": "putSymbol", "position": "se"}, ZERO, [ZERO], [ZERO, ZERO], [{"row": 0}, {"col": 0}],
    [ZERO, {"row": 0.0, "col": 1.0}], [ZERO, {"row": False, "col": True}],
    [ZERO, {"row": 10**4000, "col": 0}], [ZERO, {"row": "0", "col": "1"}], [[0, 0], [0, 1]],
]

# As much as a door lets in, and deeper than most parsers go.
LARGE: list[Any] = [
    "x" * 65_536, "9" * 65_536, "0 " * 32_768, "0," * 32_768, "\n" * 65_536, "a1" + " " * 65_536,
    "١" * 32_768, 10**65_536, [0] * 32_768, ["a1"] * 16_384, [ZERO] * 5_000, nested(32_000),
    nested(30_000, ZERO), {str(number): number for number in range(8_192)},
    [{"row": 10**32_000, "col": 10**32_000}] * 2,
    {"action": "move", "position": "e" * 65_536}, {"action": "x" * 65_536, "position": "e2"},
    [10**32_000, 10**32_000],
]
# fmt: on

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.integers(),
    st.integers(1, 4000).map(lambda digits: 10**digits),
    st.floats(),
    st.text(),
    st.text("abcdefghiNESWC0123456789 ,-+._hv\n\r\t٣", max_size=8),
    st.sampled_from(["action", "position", "move", "putWall", "putSymbol", "row", "col"]),
)

keys = st.text(max_size=5) | st.sampled_from(["action", "position", "row", "col"])

anything: st.SearchStrategy[Any] = st.one_of(
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=4)
    ),
    st.sampled_from(KNOWN),
    st.builds(nested, st.integers(1, 100), scalars),
)


def near_misses(written: Any) -> st.SearchStrategy[Any]:
    """A move as it is written or typed, with one thing about it changed."""
    match written:
        case dict():
            dropped = [{name: written[name] for name in written if name != key} for key in written]
            shouted = [
                {name.upper() if name == key else name: written[name] for name in written} for key in written
            ]
            inside = [near_misses(written[key]).map(partial(_with_key, written, key)) for key in written]
            return st.one_of(
                st.sampled_from([*dropped, *shouted, list(written.values()), [written]]), *inside
            )
        case list():
            others = [written[:-1], [*written, written[-1]], [written], {"moves": written}]
            inside = [
                near_misses(part).map(partial(_with_item, written, at)) for at, part in enumerate(written)
            ]
            return st.one_of(st.sampled_from(others), *inside)
        case str():
            return st.sampled_from(_close_texts(written))
        case _:
            return st.sampled_from(_close_numbers(written))


def _with_key(written: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    return written | {key: value}


def _with_item(written: list[Any], at: int, value: Any) -> list[Any]:
    return [*written[:at], value, *written[at + 1 :]]


def _close_texts(text: str) -> list[Any]:
    wide = text.translate({ord("0") + digit: ord("\uff10") + digit for digit in range(10)})
    edges = [f"{text} ", f" {text}", f"{text}\n", f"{text}\0", f"+{text}", f"{text}0", f"{text}h", f"0{text}"]
    shapes = [[text], {"text": text}, list(text), None, text.encode().hex()]
    changed = [
        text.upper(),
        text.lower(),
        text.title(),
        wide,
        text * 2,
        text[:-1],
        text[1:],
        text.replace(" ", "  "),
    ]
    return [other for other in (*edges, *shapes, *changed) if other != text]


def _close_numbers(number: int) -> list[Any]:
    texts = [str(number), f"{number} ", f"+{number}"]
    numbers = [float(number), number + 0.5, -number - 1, number + 2**32, number + 2**64, 10**400 + number]
    return [*texts, *numbers, number == 1, [number], {"value": number}, None]


def reordered(written: Any) -> Any:
    """A move as it is written, with the keys of every object the other way round, which says the same."""
    match written:
        case dict():
            return {key: reordered(written[key]) for key in reversed(written)}
        case list():
            return [reordered(part) for part in written]
        case _:
            return written


def other_words(written: Any) -> list[Any]:
    """What says the same move if a game lets it: more keys, and objects in another order."""
    match written:
        case dict():
            return [written | {"more": None}, {"": [written], **written}]
        case list() if written and all(isinstance(part, dict) for part in written):
            return [written[::-1], [part | {"more": 1} for part in written]]
        case _:
            return []


def says(sent: Any, written: Any) -> bool:
    """Whether it is the move as it is written, give or take more keys and the order of two objects."""
    match written:
        case dict():
            return isinstance(sent, dict) and all(
                key in sent and says(sent[key], written[key]) for key in written
            )
        case list():
            if not isinstance(sent, list) or len(sent) != len(written):
                return False
            swapped = sent[::-1] if all(isinstance(part, dict) for part in sent) else sent
            return any(all(map(says, order, written)) for order in (sent, swapped))
        case _:
            return type(sent) is type(written) and bool(sent == written)
