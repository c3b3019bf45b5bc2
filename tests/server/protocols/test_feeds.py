"""What people subscribe to: results as Atom, planned tournaments as a calendar; and results as CSV."""

import csv
import io
from xml.etree import ElementTree

import pytest
import trio
from msgspec import UNSET, UnsetType, structs
from trio.testing import MockClock

from server.export.match_text import read
from server.protocols.api.feeds import LATEST, PLANNED, Event, atom, calendar, events
from tests.server.protocols.test_api import GAME, office
from tournament.events import Ending
from tournament.facts import Concluded, Drew, EndedEarly, Entered, Opened, State, Turned, Voided
from tournament.format import Pairing
from tournament.kinds import Kind
from tournament.record import Record

ATOM = "{http://www.w3.org/2005/Atom}"
STRANGE = "<ann & b\x0cob>"


def record(matches: int, start: float | UnsetType = UNSET) -> Record:
    made = Record("cup", Opened(GAME, "double-round-robin", start_at=start))
    for name in ("ann", STRANGE):
        made.add(Entered(name))
    for number in range(1, matches + 1):
        made.add(Drew((Pairing(number, number, "ann", STRANGE),)))
        made.add(ended(number, made.drawn[number].names))
    return made


def ended(number: int, names: tuple[str, ...]) -> Concluded:
    first, second = names
    at = 1000.0 + number
    score = (1.0, 0.0)
    return Concluded(f"cup-{number}", number, (first, second), 0, Ending.PLAYED, "won", score, ended=at)


def test_a_feed_is_well_formed_and_its_entries_keep_their_identity() -> None:
    made = record(3)
    matches = [made.matches[name] for name in made.endings]
    feed, again = (ElementTree.fromstring(atom(made, matches[:n])) for n in (2, 3))  # noqa: S314 - ours
    entries, later = (each.findall(f"{ATOM}entry") for each in (feed, again))
    ids = [each.findtext(f"{ATOM}id") for each in later]
    assert [each.findtext(f"{ATOM}id") for each in entries] == ids[:2]
    assert len({*ids, feed.findtext(f"{ATOM}id")}) == 4
    assert feed.findtext(f"{ATOM}updated") == "1970-01-01T00:16:42.000Z"
    assert later[0].findtext(f"{ATOM}title") == "ann – <ann & b ob>: 1 – 0"
    link = later[2].find(f"{ATOM}link")
    assert link is not None
    assert link.attrib["href"] == "/matches/cup-3"


def test_a_score_stays_as_it_is_beside_a_name_that_is_written_from_right_to_left() -> None:
    """The second name and a score after it would be shown as `ann – 1 – 0 :שלום`, whoever has won."""
    made = record(0)
    match = ended(1, ("ann", "שלום"))
    made.add(Drew((Pairing(1, 1, "ann", "שלום"),)))
    made.add(match)
    feed = ElementTree.fromstring(atom(made, [match]))  # noqa: S314 - ours
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == "ann – \u2068שלום\u2069: 1 – 0"


def test_a_feed_says_that_a_match_was_voided_after_its_end() -> None:
    made = record(1)
    made.add(Voided("cup-1", "a cable", at=2000.0))
    feed = ElementTree.fromstring(atom(made, [made.matches["cup-1"]]))  # noqa: S314 - ours
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == "ann – <ann & b ob>: void"
    assert feed.findtext(f"{ATOM}entry/{ATOM}summary") == "the organiser voided it; before that: won"
    for place in ("", f"{ATOM}entry/"):
        assert feed.findtext(f"{place}{ATOM}updated") == "1970-01-01T00:33:20.000Z"


@pytest.mark.parametrize(("ending", "said"), [(Ending.PLAYED, "1 – 0"), (Ending.VOID, "void")])
def test_only_a_match_that_is_void_is_called_so_in_a_feed(ending: Ending, said: str) -> None:
    """One with an opponent of the host's own counts for nothing either, and somebody has won it."""
    made, kinds = record(0), (Kind.BOT, Kind.HOUSE)
    winner = None if ending is Ending.VOID else 0
    match = structs.replace(
        ended(1, ("ann", "greedy")), score=None, winner=winner, ending=ending, kinds=kinds
    )
    made.add(Drew((Pairing(1, 1, "ann", "greedy"),)))
    made.add(match)
    feed = ElementTree.fromstring(atom(made, [match]))  # noqa: S314 - ours
    assert feed.findtext(f"{ATOM}entry/{ATOM}title") == f"ann – greedy: {said}"


def test_a_calendar_has_the_planned_and_no_line_of_it_is_too_long() -> None:
    planned = record(0, 1_770_000_000.0)
    made = calendar([*events(planned, 0.0), *events(record(0), 0.0)], 0.0)
    assert made.count("BEGIN:VEVENT") == 1
    assert "DTSTART:20260202T024000Z\r\n" in made
    assert made.endswith("END:VCALENDAR\r\n")
    long = Record("c" * 60 + "ü" * 60, planned.opened)
    folded = calendar(events(long, 0.0), 0.0)
    assert max(len(line.encode()) for line in folded.split("\r\n")) <= 75
    assert "ü" * 60 in folded.replace("\r\n ", "")


def test_what_a_calendar_says_was_known_before_it_was_asked_for() -> None:
    """Catches a revision in the future, which calendars take for newer than any change that follows."""
    planned = record(0, 1_770_000_000.0)
    assert "DTSTAMP:20260202T023000Z\r\nDTSTART:20260202T024000Z\r\n" in calendar(
        events(planned, 0.0), 1_769_999_400.0
    )
    past = calendar([Event(("cup",), "cup", 1_770_000_000.0, 1.0)], 1_770_000_060.0)
    assert "DTSTAMP:20260202T024000Z\r\nDTSTART:20260202T024000Z\r\n" in past


def test_what_was_begun_or_ended_by_hand_before_its_time_is_not_still_to_come() -> None:
    """Catches a calendar by which people come on a day on which nothing happens."""
    hour = 3600.0
    evening = Record("swiss", Opened(GAME, "swiss", 8, rounds_at=(1 * hour, 2 * hour, 3 * hour)))
    for name in "abcdefgh":
        evening.add(Entered(name))
    cup = record(0, 3 * hour)

    def times(of: Record, now: float) -> list[float]:
        return [event.at / hour for event in events(of, now * hour)]

    assert (times(cup, 0.0), times(evening, 0.0)) == ([3.0], [1.0, 2.0, 3.0])
    for each in (cup, evening):
        each.add(Turned(State.RUNNING))
    assert (times(cup, 0.0), times(evening, 0.0)) == ([], [1.0, 2.0, 3.0])
    evening.add(EndedEarly())
    assert times(evening, 1.5) == [1.0]


def test_what_comes_next_is_in_a_calendar_however_much_has_been_and_is_far_away() -> None:
    """Catches a calendar that shows a club nothing new once it has held many evenings."""
    now = 1_770_000_000.0
    past = [Event((f"past-{number}",), f"past {number}.", now - number, 1.0) for number in range(1, 500)]
    coming = [Event((f"next-{number}",), f"next {number}.", now + number, 1.0) for number in range(150)]
    made = calendar([*past, *reversed(coming)], now)
    assert made.count("BEGIN:VEVENT") == PLANNED
    assert all(f"SUMMARY:{event.said}\r\n" in made for event in (*coming, *past[: PLANNED - len(coming)]))
    far = [Event((f"far-{number}",), "far", now + 1000.0 + number, 1.0) for number in range(PLANNED)]
    made = calendar([*far, *coming], now)
    assert all(f"SUMMARY:{event.said}\r\n" in made for event in coming)


@pytest.mark.slow
async def test_the_api_gives_feeds_texts_and_tables_with_tie_breaks(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, format="round-robin", entrants=3)
        await here.come("ann", "bob", "cas")
        await trio.sleep(100.0)
        kind, feed = await here.text("/api/tournaments/cup/feed")
        assert kind.startswith("application/atom+xml")
        assert feed.count("<entry>") == 3 <= LATEST
        kind, dates = await here.text("/api/tournaments/cup/calendar")
        assert kind.startswith("text/calendar")
        assert "VEVENT" not in dates
        assert (await here.text("/api/calendar"))[1] == dates
        _, written = await here.text("/api/matches/cup-1?format=text")
        shown = await here.read("/api/matches/cup-1")
        _, table = await here.text("/api/tournaments/cup/standings?format=csv")
        told = await here.read("/api/tournaments/cup/standings")
    assert [*read(written).concluded.moves] == shown["moves"]
    rows = [*csv.DictReader(io.StringIO(table))]
    for row, expected in zip(rows, told["rows"], strict=True):
        found = {name.removeprefix("tie_break_"): float(row[name]) for name in row if "tie_break" in name}
        assert found == expected["tie_breaks"]
        assert found
