"""Results as an Atom feed, and planned tournaments as a calendar: what people subscribe to.

Each function answers one route of `table.py`.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape, quoteattr

from games.catalogue import catalogue
from server.export.json_views import moment
from server.host.view import Held
from server.http.wire import Response
from server.protocols.api.call import Look
from tournament.record import Concluded, Record

ATOM = "application/atom+xml; charset=utf-8"
CALENDAR = "text/calendar; charset=utf-8"
LATEST = 50  # results in a feed
PLANNED = 200  # tournaments in a calendar
EARLIEST = 0.0  # wall time: of results from before times were kept
FOLDED = 74  # bytes of a line of a calendar, without what begins the next
HOUR = "PT1H"  # how long a calendar shows a tournament: nobody knows before it begins


def results(call: Look, found: Held) -> Response:
    """The latest results of a tournament, the last first."""
    record = found.record.public
    latest = [record.matches[name] for name in record.endings[-LATEST:]]
    return _given(ATOM, atom(record, latest[::-1]))


def plan(call: Look, found: Held) -> Response:
    """When a tournament begins."""
    return _given(CALENDAR, calendar([found.record]))


def plans(call: Look) -> Response:
    """When all tournaments begin."""
    dated = (each.record for each in call.view.tournaments.values() if each.record.opened.start is not None)
    return _given(CALENDAR, calendar(islice(dated, PLANNED)))


def atom(record: Record, latest: Sequence[Concluded]) -> str:
    """Results as an Atom feed (RFC 4287). Links are relative: they lead to where the feed came from."""
    updated = max((each.ended or EARLIEST for each in latest), default=EARLIEST)
    title = f"{record.name}: results, {catalogue()[record.opened.game].title}"
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        *_common(_identity(record.kept_as), title, updated, f"/tournaments/{quote(record.name, safe='')}"),
        "<author><name>Quintain</name></author>",
    ]
    for each in latest:
        first, second = each.players
        said = f"{first} – {second}: {_score(record, each)}"
        page = f"/matches/{quote(each.match, safe='')}"
        lines += ["<entry>", *_common(_identity(record.kept_as, each.match), said, each.ended, page)]
        lines += [f"<summary>{_clean(each.why)}</summary>", "</entry>"]
    return "\n".join((*lines, "</feed>", ""))


def _common(identity: str, title: str, updated: float | None, page: str) -> Iterable[str]:
    yield f"<id>{identity}</id>"
    yield f"<title>{_clean(title)}</title>"
    yield f"<updated>{moment(updated or EARLIEST)}</updated>"
    yield f'<link rel="alternate" href={quoteattr(page)}/>'


def _identity(*names: str) -> str:
    """The same for good, whatever the address of the host is."""
    return uuid5(NAMESPACE_URL, "quintain:" + "/".join(quote(name, safe="") for name in names)).urn


def _score(record: Record, match: Concluded) -> str:
    if match.score is None or match.match in record.voided:
        return "void"
    return " – ".join(f"{score:g}" for score in match.score)


def _clean(text: str) -> str:
    """Text for XML, which cannot have most control characters at all."""
    return escape("".join(each if each >= " " and each not in "\ufffe\uffff" else " " for each in text))


def calendar(records: Iterable[Record]) -> str:
    """Planned beginnings as a calendar (RFC 5545); tournaments without a date are not in it."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Quintain//EN"]
    for record in records:
        if (start := record.opened.start) is not None:
            lines += _event(record, start)
    return "".join(f"{_folded(line)}\r\n" for line in (*lines, "END:VCALENDAR"))


def _event(record: Record, start: float) -> Iterable[str]:
    at = datetime.fromtimestamp(start, UTC).strftime("%Y%m%dT%H%M%SZ")
    title = f"{record.name}: {catalogue()[record.opened.game].title}, {record.format.title}"
    yield "BEGIN:VEVENT"
    yield f"UID:{_identity(record.kept_as).removeprefix('urn:uuid:')}"
    yield f"DTSTAMP:{at}"
    yield f"DTSTART:{at}"
    yield f"DURATION:{HOUR}"
    yield f"SUMMARY:{_plain(title)}"
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


def _given(kind: str, text: str) -> Response:
    return Response(200, (("Content-Type", kind), ("X-Content-Type-Options", "nosniff")), text.encode())
