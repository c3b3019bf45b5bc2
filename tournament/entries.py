"""How a fact is written down: a line of the journal, the same in every store.

Equal facts are equal letter by letter. Some facts are not wholly public: `public` says which. The line
of such a fact has a salt: its hash is public, and without a salt an address could be guessed from
it.
"""

import secrets
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import msgspec
from msgspec import UNSET, Struct, structs

from tournament.facts import (
    AnyFact,
    Called,
    Chose,
    Claimed,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    Entered,
    Opened,
    Ordered,
    Released,
    Seated,
    Voided,
)
from tournament.format import Pairing
from tournament.record import PIECE

MICRO = 1_000_000  # microseconds in a second
PAGE = 2_000  # entries that are read at a time
SALT = 16  # bytes that nobody guesses
LETTERS = 64 * PIECE  # of a long draw that are read at a time: about as many pairings as are added at a time
DRAWN_UP_TO, BETWEEN = '{"type":"drew","pairings":[', '},{"number":'
DRAWN = 256  # salts at a time: in each system call, the writing thread waits for a busy event loop
PRIVATE = (Claimed, Seated, Released, Called, Ordered, Chose)  # facts that only the organiser may see


class Entry(Struct, frozen=True, omit_defaults=True):
    """A line of the journal."""

    number: int  # 1, 2, 3 … with gaps, given by the writer, so that writing a line twice does no harm
    tournament: str
    when: float  # wall time
    kind: str  # of fact: its tag
    key: str | None  # where a tournament has only one such fact; None: there may be any number
    body: str  # the fact as JSON
    salt: str = ""  # hexadecimal; where part of the fact is not public
    epoch: int = 0  # of the lease under which the writer holds the tournament; 0: the store is not shared


class Typed(Struct):
    """What every fact says of itself, in any version."""

    type: str


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder[AnyFact](AnyFact)
_pairings = msgspec.json.Decoder[tuple[Pairing, ...]](tuple[Pairing, ...])
_salts: list[str] = []  # not used yet


def entry(number: int, tournament: str, when: float, fact: AnyFact, epoch: int = 0) -> Entry:
    return Entry(number, tournament, when, kind(fact), unique(fact) or None, body(fact), _salt(fact), epoch)


def salted(row: Entry) -> Entry:
    """Add a salt, if one is needed, to a line that was written before there were salts."""
    return structs.replace(row, salt=_salt(fact(row.body)))


def _salt(fact: AnyFact) -> str:
    if public(fact) is fact:
        return ""
    try:
        return _salts.pop()
    except IndexError:
        digits = secrets.token_hex(SALT * DRAWN)
        _salts.extend([digits[at : at + 2 * SALT] for at in range(2 * SALT, len(digits), 2 * SALT)])
        return digits[: 2 * SALT]


def kind(fact: AnyFact | type[AnyFact]) -> str:
    tag: Any = fact.__struct_config__.tag
    return tag


KINDS = frozenset(map(kind, get_args(AnyFact)))


def body(fact: AnyFact) -> str:
    """A fact as JSON. Long ones are encoded in pieces, because no other thread gets a turn during one."""
    if isinstance(fact, Concluded) and (micros := _in_micros(fact.times)):
        return _encoder.encode(structs.replace(fact, times=micros)).decode()
    if not isinstance(fact, Drew) or len(fact.pairings) <= PIECE:
        return _encoder.encode(fact).decode()
    pieces = (fact.pairings[start : start + PIECE] for start in range(0, len(fact.pairings), PIECE))
    pairings = ",".join(_encoder.encode(piece).decode()[1:-1] for piece in pieces)
    return _encoder.encode(structs.replace(fact, pairings=())).decode().replace("[]", f"[{pairings}]")


def fact(body: str) -> AnyFact:
    found = _decoder.decode(body)
    if isinstance(found, Concluded) and found.times and isinstance(found.times[0], int):
        return structs.replace(found, times=tuple([micros / MICRO for micros in found.times]))
    return found


def parted(body: str) -> tuple[str, Iterator[tuple[Pairing, ...]]]:
    """The line of a long draw without its pairings, and these, which are read piece by piece.

    Of any other fact, the line as it is, and nothing. Raises `msgspec.MsgspecError`, as `fact` does.
    """
    if len(body) <= LETTERS or not body.startswith(DRAWN_UP_TO):
        return body, iter(())
    start, end = len(DRAWN_UP_TO), body.rindex("]")
    return body[:start] + body[end:], _in_pieces(body, start, end)


def _in_pieces(body: str, start: int, end: int) -> Iterator[tuple[Pairing, ...]]:
    while start < end:
        # No name has this within it: a quotation mark there has a backslash before it.
        after = body.find(BETWEEN, start + LETTERS, end)
        stop = end if after < 0 else after + 1
        yield _pairings.decode(f"[{body[start:stop]}]")
        start = stop + 1


def unknown_kind(body: str) -> str:
    """The kind of a fact that only a newer Quintain knows; "" where that is not why it cannot be read."""
    try:
        found = msgspec.json.decode(body, type=Typed).type
    except (msgspec.MsgspecError, TypeError):
        return ""
    return "" if found in KINDS else found


def _in_micros(times: Sequence[float]) -> tuple[int, ...]:
    """The times as whole microseconds, a third of the letters; nothing where they are not whole.

    Seconds are written with a point, as all times once were: that tells the two apart.
    """
    micros = [round(seconds * MICRO) for seconds in times]
    return tuple(micros) if [each / MICRO for each in micros] == [*times] else ()


def public(fact: AnyFact) -> AnyFact | None:
    """What everybody may know of a fact: usually all of it, sometimes less, or nothing."""
    match fact:  # the most frequent first: trying a class that a fact does not have takes long
        case Concluded() | Drew() | Dealt(keys=None):
            return fact
        case Dealt():
            return structs.replace(fact, keys=None, ways_back=UNSET)
        case _ if isinstance(fact, PRIVATE):
            return None
        case Disqualified(why=why) | Voided(why=why) if why:  # in the organiser's own words
            return structs.replace(fact, why="")
        case Described(contact=contact) if contact:
            return structs.replace(fact, contact="")
        case _:
            return fact


def unique(fact: AnyFact) -> str:
    """A key, where a tournament has only one such fact; "" for any other fact."""
    match fact:  # as above
        case Dealt(match=match):
            return f"dealt {match}"
        case Concluded(match=match):
            return concluded_key(match)
        case Drew():
            return ""
        case Opened():
            return "opened"
        case Entered(name=name):
            return f"entered {name}"
        case _:
            return ""


def concluded_key(match: str) -> str:
    """The key of a match's end, as `unique` returns it."""
    return f"concluded {match}"
