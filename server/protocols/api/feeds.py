"""What people subscribe to: results as an Atom feed, planned tournaments and rounds as a calendar.

Each function answers one route of `table.py`.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from itertools import zip_longest
from math import inf
from unicodedata import bidirectional
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from games.catalogue import catalogue
from server.export.json_views import moment, why_shown
from server.host.view import HeldTournament
from server.http.wire import Response, text_response
from server.net.pauses import WithPauses
from server.protocols.api.call import Look
from tournament.facts import Concluded, State
from tournament.record import Record
from tournament.rounds import planned, rounds_of
from tournament.settling import came_to

ATOM = "application/atom+xml; charset=utf-8"
CALENDAR = "text/calendar; charset=utf-8"
LATEST = 50  # results in a feed
PLANNED = 200  # events in a calendar
AT_A_TIME = 20  # tournaments whose events are collected before other tasks get their turn
EARLIEST = 0.0  # wall time, for results from before times were kept
FOLDED = 74  # bytes of a line of a calendar, without the space that begins the next
FROM_THE_RIGHT = frozenset({"R", "AL"})  # as Unicode calls the direction of such letters
HOUR = 3600.0  # seconds for which a calendar shows an event whose end is not known


class Event(Struct, frozen=True):
    """What a calendar shows: the beginning of a tournament or of a round."""

    names: tuple[str, ...]  # of what begins
    said: str
    at: float  # wall time
    lasts: float  # seconds


def results(call: Look, found: HeldTournament) -> Response:
    """The latest results of a tournament, the last first."""
    record = found.record.public
    latest = [record.matches[name] for name in record.endings[-LATEST:]]
    return text_response(ATOM, atom(record, latest[::-1]))


def plan(call: Look, found: HeldTournament) -> Response:
    """When a tournament and its rounds begin."""
    now = time.time()
    return text_response(CALENDAR, calendar(events(found.record, now), now))


async def plans(call: Look) -> Response:
    """When all tournaments and their rounds begin."""
    held, now = WithPauses(call.view.tournaments.values(), AT_A_TIME), time.time()
    begins = [event async for each in held for event in events(each.record, now)]
    return text_response(CALENDAR, calendar(begins, now))


def atom(record: Record, latest: Sequence[Concluded]) -> str:
    """Results as an Atom feed (RFC 4287). Links are relative: they lead to where the feed came from."""
    updated = max((_changed(record, each) for each in latest), default=EARLIEST)
    title = f"{record.name}: results, {catalogue()[record.opened.game].title}"
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        *_common(_identity(record.kept_as), title, updated, f"/tournaments/{quote(record.name, safe='')}"),
        "<author><name>Quintain</name></author>",
    ]
    for each in latest:
        first, second = map(_isolated, each.players)
        said = f"{first} – {second}: {_score(record, each)}"
        page = f"/matches/{quote(each.match, safe='')}"
        lines += [
            "<entry>",
            *_common(_identity(record.kept_as, each.match), said, _changed(record, each), page),
        ]
        lines += [f"<summary>{_clean(why_shown(record, each))}</summary>", "</entry>"]
    return "\n".join((*lines, "</feed>", ""))


def _changed(record: Record, match: Concluded) -> float:
    """When what is said of a match became what it is: at its end, or when it was voided after that."""
    return record.voided.get(match.match) or match.ended or EARLIEST


def _common(identity: str, title: str, updated: float, page: str) -> Iterable[str]:
    yield f"<id>{identity}</id>"
    yield f"<title>{_clean(title)}</title>"
    yield f"<updated>{moment(updated)}</updated>"
    yield f'<link rel="alternate" href={quoteattr(page)}/>'


def _identity(*names: str) -> str:
    """An identifier that never changes, whatever the address of the host is."""
    return uuid5(NAMESPACE_URL, "quintain:" + "/".join(quote(name, safe="") for name in names)).urn


def _isolated(name: str) -> str:
    """A name around which nothing turns: a score after one that is written from the right would."""
    turns = any(bidirectional(each) in FROM_THE_RIGHT for each in name)
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}" if turns else name


def _score(record: Record, match: Concluded) -> str:
    score = None if match.match in record.voided else came_to(match.winner, match.ending)
    return "void" if score is None else " – ".join(f"{each:g}" for each in score)


def _clean(text: str) -> str:
    """Text for XML, which cannot contain most control characters at all."""
    return escape("".join(each if each >= " " and each not in "\ufffe\uffff" else " " for each in text))


def calendar(begins: Iterable[Event], now: float) -> str:
    """Planned beginnings as a calendar (RFC 5545). If there are many, what comes next is not left out."""
    shown = nsmallest(PLANNED, begins, key=lambda each: (each.at < now, abs(each.at - now)))
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Quintain//EN"]
    for event in shown:
        lines += _written(event, now)
    return "".join(f"{_folded(line)}\r\n" for line in (*lines, "END:VCALENDAR"))


def events(record: Record, now: float) -> Iterator[Event]:
    """When a tournament begins, and each of its rounds, as far as their times are known and still to come."""
    begun, over = record.state is not State.REGISTERING, record.state is State.FINISHED or record.ended_early
    title = f"{record.name}: {catalogue()[record.opened.game].title}, {record.format.title}"
    start, times = record.opened.start, [*planned(record)]
    if start is not None and (not times or start < times[0][1]) and not (begun and start > now):
        yield Event((record.kept_as,), title, start, HOUR)
    rounds = rounds_of(record) if times else 0
    for (number, at), (_, following) in zip_longest(times, times[1:], fillvalue=(0, inf)):
        if over and at > now:
            break
        lasts = following - at if following < inf else record.opened.round_every or HOUR
        said = f"{title}, round {number}" + (f" of {rounds}" if rounds >= number else "")
        yield Event((record.kept_as, "round", str(number)), said, at, lasts)


def _written(event: Event, now: float) -> Iterable[str]:
    at, stamp = (
        datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%dT%H%M%SZ")
        for seconds in (event.at, min(event.at, now))
    )
    yield "BEGIN:VEVENT"
    yield f"UID:{_identity(*event.names).removeprefix('urn:uuid:')}"
    yield f"DTSTAMP:{stamp}"  # when this was known at the latest: it is never in the future
    yield f"DTSTART:{at}"
    yield f"DURATION:PT{max(1, round(event.lasts))}S"
    yield f"SUMMARY:{_plain(event.said)}"
    yield "END:VEVENT"


def _plain(text: str) -> str:
    """Text for a calendar."""
    for special in "\\;,":
        text = text.replace(special, "\\" + special)
    return "".join(max(each, " ") for each in text)


def _folded(line: str) -> str:
    """A line in pieces that are short enough, without cutting a character in two."""
    pieces = [""]
    for each in line:
        if len((pieces[-1] + each).encode()) > FOLDED:
            pieces.append("")
        pieces[-1] += each
    return "\r\n ".join(pieces)
