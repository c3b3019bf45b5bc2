"""What is wrong with what an organiser or a bot gave, in plain words: where, what was expected, what came.

The decoder says it in the words of its types: "Expected `int` >= 2 - at `$.entrants`".
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence, Sized
from difflib import get_close_matches
from typing import Any, cast

import msgspec
from msgspec import inspect

from games.game import quoted
from server.net.escaping import safe

PLACE = re.compile(r"(.*?)(?: - at `(key` in `)?\$?\.?(.*)`)?", re.DOTALL)
STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
EXPECTED = re.compile(r"Expected `([^`]*)`(?: (of length )?(>=|<=|>|<) (\S+?))?(?:, got `(.*)`)?")

KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "datetime": "a date and time",
    "null": "null",
}
BOUNDS = {">=": "{} or more", "<=": "{} or less", ">": "more than {}", "<": "less than {}"}
PARTS = {"str": "characters", "object": "fields"}
SECRETS = ("secret", "token")  # the names of fields whose contents are not repeated
EACH = "[...]"  # what the decoder writes for one of several places, without saying which
MUCH = 10  # characters, fields or items: of more, if too many or too few, only the number is told
MANY = 20  # fields: if there are more, only those that look like the unknown one are named
MOMENT = "a date and time such as 2030-03-01T18:00:00Z"
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # what the decoder raises


def unreadable(error: Exception, what: str, content: object = msgspec.UNSET, kind: type[Any] = object) -> str:
    """A sentence about why `content`, a `what` for the reader, is no `kind`; `error` is one of `UNREADABLE`.

    All doors say it in these words. The content may be the bytes that came, or what was made of them.
    """
    match error:
        case UnicodeDecodeError():
            return f"a {what} is UTF-8, and this one is not"
        case RecursionError():
            return f"this {what} is nested too deeply"
        case msgspec.ValidationError():
            if isinstance(error.__cause__, ValueError):  # the type itself has said why, in such a sentence
                return str(error.__cause__)
            return misfit(error, _plain(content) if isinstance(content, bytes) else content, kind)
        case _ if isinstance(content, bytes) and not content.strip():
            return f"this {what} is empty"
        case _ if isinstance(content, bytes) and content.startswith(BOM_UTF8):
            return "this is not JSON: a byte order mark is before it"
        case _:
            return f"this is not JSON: {error}"


def _plain(content: bytes) -> object:
    """The content of bytes that do not fit, as plain JSON; unset if it cannot be had."""
    try:
        return msgspec.json.decode(content)
    except UNREADABLE:
        return msgspec.UNSET


def misfit(error: msgspec.ValidationError, given: object, kind: type[Any]) -> str:
    """A sentence about the first thing in `given` (unset: unreadable otherwise) that `kind` does not take."""
    said, of_key, place = cast("re.Match[str]", PLACE.fullmatch(str(error))).groups("")
    if (found := MISSING.fullmatch(said)) is not None:
        return f"{_inner(place, found[1])} is required, and is missing"
    if (found := UNKNOWN.fullmatch(said)) is not None:
        known = list(_fields(_type(kind, place)))
        like = known if len(known) <= MANY else get_close_matches(found[1], known)
        there = f"; there {'is' if len(like) == 1 else 'are'}: {', '.join(like)}" if like else ""
        return f"{_inner(place, found[1])} is not known{there}"
    if of_key:
        why = f"expected {_expected(said, None)} as each name"
    elif said.endswith("out of range"):
        why = "this number is too large"
    elif place.endswith(EACH):
        place = place.removesuffix(EACH)
        why = f"expected {_expected(said, None)} each time, not {_came(said, msgspec.UNSET, place)}"
    else:
        why = f"expected {_expected(said, _type(kind, place))}, not {_came(said, given, place)}"
    return f"{place}: {why}" if place else why


def _expected(said: str, kind: inspect.Type | None) -> str:
    if values := list(_choices(kind)):
        return f"one of {', '.join(map(quoted, values))}"
    if said.startswith("Invalid RFC3339"):
        return MOMENT
    if (found := EXPECTED.fullmatch(said)) is None:
        return f"what fits ({said})"
    kinds, length, sign, bound, _ = found.groups()
    named = [each for each in kinds.split(" | ") if each != "null"]
    several = [KINDS.get(each, each) for each in named if each != "int" or "float" not in named]
    expected = " or ".join(several) or KINDS["null"]
    if sign is None:
        return expected
    if length and sign == "<=":
        return f"{expected} of at most {bound} {PARTS.get(kinds, 'items')}"
    bounded = BOUNDS[sign].format(bound.removesuffix(".0"))
    return f"{expected} of {bounded} {PARTS.get(kinds, 'items')}" if length else f"{expected} of {bounded}"


def _came(said: str, given: object, place: str) -> str:
    try:
        for number, name in STEP.findall(place):
            if number:
                given = cast("Sequence[object]", given)[int(number)]
            else:
                given = cast("Mapping[str, object]", given)[name]
    except (LookupError, TypeError):  # a key of an object, or any item
        given = msgspec.UNSET
    got = EXPECTED.fullmatch(said)
    if given is msgspec.UNSET or place.endswith(SECRETS):
        return "that" if got is None or got[5] is None else KINDS.get(got[5], got[5])
    if got is not None and got[2] and isinstance(given, Sized) and len(given) > MUCH:
        return f"one of {len(given)}"
    return quoted(given)


def _type(kind: type[Any], place: str) -> inspect.Type | None:
    """What is expected at a place; None where that is not said."""
    found: inspect.Type | None = inspect.type_info(kind)
    for number, name in STEP.findall(place):
        inside = _items(found) if number else _named(found, name)
        found = next(inside, None)
    return found


def _items(kind: inspect.Type | None) -> Iterator[inspect.Type]:
    for each in _alternatives(kind):
        if isinstance(each, inspect.ListType | inspect.VarTupleType | inspect.CollectionType):
            yield each.item_type


def _named(kind: inspect.Type | None, name: str) -> Iterator[inspect.Type]:
    for each in _alternatives(kind):
        if isinstance(each, inspect.StructType):
            yield from (field.type for field in each.fields if field.encode_name == name)


def _alternatives(kind: inspect.Type | None) -> Sequence[inspect.Type]:
    return kind.types if isinstance(kind, inspect.UnionType) else () if kind is None else (kind,)


def _choices(kind: inspect.Type | None) -> Iterator[object]:
    for each in _alternatives(kind):
        if isinstance(each, inspect.LiteralType):
            yield from each.values


def _fields(kind: inspect.Type | None) -> Iterator[str]:
    for each in _alternatives(kind):
        if isinstance(each, inspect.StructType):
            yield from (field.encode_name for field in each.fields)


def _inner(place: str, name: str) -> str:
    return f"{place}.{safe(name)}" if place else safe(name)
