"""Records as data: what a long journal adds up to, so that it need not be read again.

A snapshot holds all that a record knows, except for the moves of its matches. Of whole records, only
those of tournaments without an end have one, with their columns, and those that are archived: any other
is read from its facts just as fast. Names are held once, and pairings by the places of their names,
because there may be half a million of them. The code that keeps snapshots finds out whether one may be
believed.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from math import inf
from sys import intern
from typing import Any

from msgspec import Struct

from tournament.archive import Archived, Met, met, pairing_of
from tournament.archived_record import keep_archived
from tournament.events import Ending
from tournament.facts import Called, Chose, Opened, Revealed, Seated, State
from tournament.folding import called
from tournament.format import Entrant, Pairing, Result, Score
from tournament.history import History
from tournament.latest import Latest
from tournament.packed_columns import Packed, packed, unpack
from tournament.paged import Paged
from tournament.record import Record
from tournament.remembered import Abridged, Remembered
from tournament.results import Results
from tournament.tally import Tallies, Tally
from tournament.waiting import Waiting

VERSION = 11  # of what follows: to be raised whenever that changes, or what facts come to

Gone = tuple[list[str], bytes, set[int], dict[int, int]]  # as a `History` is unpacked
Came = tuple[Met, float, float, bool, bytes]  # the result of a pairing
Times = tuple[float | None, float | None]  # when a match was dealt, and when it was over
Over = tuple[
    str, int, tuple[str, str], int | None, Ending, str, Score | None, Mapping[str, Any] | None, Times, int
]


class Snapshot(Struct, frozen=True, array_like=True):
    """One record. The fields are its own, and have its names where they need no translation."""

    name: str
    opened: Opened
    names: list[str]
    state: State
    entrants: list[Entrant]
    annulled: set[str]
    disqualified: set[str]
    arrivals: int
    drawn: list[Met]
    matches: list[Over]
    recent: list[str]
    ended: int
    voided: dict[str, float | None]
    claims: dict[str, str]
    seats: list[Seated]
    called: list[Called]
    invited: set[str]
    dealt: dict[str, int]
    dealt_at: dict[str, float]
    own_options: dict[str, Mapping[str, Any]]
    keys: dict[str, tuple[str, str]]
    ways_back: dict[str, tuple[str, str]]
    open: list[int]
    attempts: dict[int, int]
    counted: dict[int, str]
    came_to: list[Came]
    missed: dict[int, frozenset[str]]
    history: Gone
    tallies: dict[str, Tally]
    tallied: int  # how much of the history is in `tallies`
    last_drawn: int
    latest: tuple[list[Met], list[Came]]
    facts: int
    sealed: str | None
    chose: Chose | None
    revealed: Revealed | None
    round: int | None  # the latest that has begun, where rounds begin by the clock
    first_round_at: float | None
    checked_in: set[str]
    no_shows: set[str]
    affiliations: dict[str, str]
    contacts: dict[str, str]
    frozen: "Snapshot | None"  # what the public sees instead
    columns: Packed | None  # of a whole record, in place of what was drawn and what came of it
    archived: Archived | None  # the same, of a tournament that is over
    whole: bool
    byes: int
    ended_early: bool


def taken(record: Record) -> Snapshot:
    """A snapshot of a record; it shares nothing with it that can change.

    Raises `ValueError` for a whole record of a tournament that has an end and is not archived.
    """
    places: dict[str, int] = {}
    columns, archived = record.columns, record.archived
    apart = columns is not None or archived is not None
    if record.whole and not apart:
        raise ValueError(f"{record.name} has an end, and its record is whole: there is no snapshot of that")

    def came(result: Result) -> Came:
        return met(result.pairing, places), *result.score, result.played, result.digest

    results = Results(record.format, forgets=False) if archived is not None else record.results
    latest, history = results.latest, results.history
    frozen = record.frozen
    return Snapshot(
        name=record.kept_as,
        opened=record.opened,
        state=record.state,
        entrants=list(record.entrants.values()),
        annulled=set(record.annulled),
        disqualified=set(record.disqualified),
        arrivals=record.arrivals,
        drawn=[] if apart else [met(pairing, places) for pairing in record.drawn.values()],
        matches=[] if apart else [_over(match) for match in record.matches.values()],
        recent=[] if archived else list(record.recent),
        ended=record.ended,
        voided=dict(record.voided),
        claims=dict(record.claims),
        seats=list(record.seats.values()),
        called=list(record.called.values()),
        invited=set(record.invited),
        dealt=dict(record.dealt),
        dealt_at=dict(record.dealt_at),
        own_options=dict(record.own_options),
        keys=dict(record.keys),
        ways_back=dict(record.ways_back),
        open=list(record.open),
        attempts={} if archived else dict(record.attempts),
        counted={} if apart else dict(results.counted),
        came_to=[] if apart else [came(result) for result in results.came_to.values()],
        missed={} if archived else dict(record.missed_pairings),
        history=(list(history.names), history.packed(), set(history.taken_back), dict(history.strays)),
        tallies=dict(results.tallies.of),
        tallied=results.tallies.read,
        last_drawn=record.last_drawn,
        latest=([], [])
        if latest is None
        else ([met(p, places) for p in latest], [came(r) for r in latest.results]),
        facts=record.facts,
        sealed=record.sealed,
        chose=record.chose,
        revealed=record.revealed,
        round=record.round,
        first_round_at=record.first_round_at,
        checked_in=set(record.checked_in),
        no_shows=set(record.no_shows),
        affiliations=dict(record.affiliations),
        contacts=dict(record.contacts),
        frozen=None if frozen is None or frozen is record else taken(frozen),
        columns=None if columns is None else packed(columns),
        archived=archived,
        whole=record.whole,
        byes=record.byes,
        ended_early=record.ended_early,
        names=list(places),
    )


def restored(snapshot: Snapshot) -> Record:
    """The record from which a snapshot was taken."""
    whole = snapshot.whole
    record = Record(called(snapshot.name), snapshot.opened, whole=whole, kept_as=snapshot.name)
    names = [intern(name) for name in snapshot.names]
    scores: dict[Score, Score] = {}  # of which there are few

    def found(written: Met, drawn: Mapping[int, Pairing]) -> Pairing:
        return drawn.get(written[0]) or pairing_of(written, names)

    def results(all_that_came: Iterable[Came], drawn: Mapping[int, Pairing]) -> list[Result]:
        return [
            Result(found(written, drawn), scores.setdefault((one, two), (one, two)), played, digest)
            for written, one, two, played, digest in all_that_came
        ]

    record.facts, record.state = snapshot.facts, snapshot.state
    record.sealed, record.chose, record.revealed = snapshot.sealed, snapshot.chose, snapshot.revealed
    record.entrants = {intern(each.name): each for each in snapshot.entrants}
    record.out = {each.name for each in snapshot.entrants if each.gone}
    record.annulled, record.disqualified = snapshot.annulled, snapshot.disqualified
    record.arrivals = snapshot.arrivals
    if snapshot.columns is not None and record.columns is not None:
        unpack(snapshot.columns, record.columns)
    else:
        record.drawn = Paged((each[0], pairing_of(each, names)) for each in snapshot.drawn)
        record.matches = {over[0]: _match(over) for over in snapshot.matches}
        record.results.counted = snapshot.counted
    record.recent = deque(snapshot.recent)
    record.ended, record.voided = snapshot.ended, snapshot.voided
    record.claims, record.invited = snapshot.claims, snapshot.invited
    record.seats = {seated.name: seated for seated in snapshot.seats}
    record.called = {each.name: each for each in snapshot.called}
    record.dealt, record.dealt_at = snapshot.dealt, snapshot.dealt_at
    record.own_options = snapshot.own_options
    record.keys, record.ways_back = snapshot.keys, snapshot.ways_back
    begun = inf if snapshot.round is None else snapshot.round
    record.open = Waiting((record.drawn[number] for number in snapshot.open), begun=begun)
    record.first_round_at = snapshot.first_round_at
    record.checked_in, record.no_shows = snapshot.checked_in, snapshot.no_shows
    record.affiliations, record.contacts = snapshot.affiliations, snapshot.contacts
    record.attempts = snapshot.attempts
    known = record.results
    if not whole:
        known.came_to = {each.pairing.number: each for each in results(snapshot.came_to, record.drawn)}
    if not record.format.endless:
        known.decisions = [each for each in known.came_to.values() if known.counts(each)]
        known.enlist(record.drawn.values())
    record.missed_pairings = snapshot.missed
    record.last_drawn, record.byes = snapshot.last_drawn, snapshot.byes
    record.ended_early = snapshot.ended_early
    known.history = History.unpacked(*snapshot.history)
    known.tallies = Tallies(snapshot.tallies, snapshot.tallied)
    if known.latest is not None:
        drawn = [found(each, record.drawn) for each in snapshot.latest[0]]
        known.latest = Latest(drawn, results(snapshot.latest[1], record.drawn))
    if snapshot.frozen is not None:
        record.freeze(restored(snapshot.frozen))
    if snapshot.archived is not None:
        keep_archived(record, snapshot.archived)
    return record


def _over(match: Remembered) -> Over:
    return (
        match.match,
        match.pairing,
        match.players,
        match.winner,
        match.ending,
        match.why,
        match.score,
        match.options,
        (match.began, match.ended),
        match.plies,
    )


def _match(over: Over) -> Abridged:
    match, number, players, winner, ending, why, score, options, (began, ended), length = over
    both = intern(players[0]), intern(players[1])
    return Abridged(
        *(match, number, both, winner, ending, intern(why), score),
        options=options,
        began=began,
        ended=ended,
        length=length,
    )
