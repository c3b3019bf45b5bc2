"""What is known of a tournament, as a fold over facts.

Facts are what the store keeps, in order; a `Record` is what they add up to.
Everything that an organiser reads (results, standings, what is still to play)
is computed from it. So a preview is a copy with one more fact, and going on
after a crash means folding what was kept.
"""

from collections import deque
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from math import inf
from sys import intern
from typing import Any

from msgspec import UNSET, structs

from tournament.archive import Archived
from tournament.column_views import DrawnPairings, Endings, Matches
from tournament.columns import Columns
from tournament.events import NOBODY, Ending, absences
from tournament.facts import (
    Admitted,
    AnyFact,
    Called,
    CheckedIn,
    Chose,
    Claimed,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    EndedEarly,
    Entered,
    Froze,
    NoShow,
    Opened,
    Ordered,
    Released,
    Revealed,
    RoundBegan,
    Sealed,
    Seated,
    SmallFact,
    State,
    Turned,
    Voided,
    Withdrew,
    played_out,
)
from tournament.format import Entrant, Format, Pairing, Result, Terms, formats, moves_digest
from tournament.match_names import named, parsed
from tournament.paged import Paged
from tournament.remembered import Abridged, Remembered, abridged, without_moves
from tournament.results import Results
from tournament.standings import Row, adjusted
from tournament.waiting import Waiting

PIECE = 500  # pairings that are added to a record at a time: some three milliseconds
LATEST = 1000  # matches for which a record remembers what led to their ends: people look at the latest


class Record:
    """What is known of one tournament.

    No record has moves: a host may have thousands of tournaments, and the store has the moves. A `whole`
    record remembers everything that was drawn and every match, but not what led to the ends of the older
    ones. For a tournament without an end it does so in columns, with some seventy bytes a match. Any other
    record relies on the store: it remembers the latest `LATEST` matches and, in a tournament without an
    end, only what the older ones add up to, name by name.

    One of a tournament that is over can be archived (`archived_record.py`).
    """

    drawing = False  # whether it has only some pairings of a draw so far, which is added in pieces

    def __init__(self, name: str, opened: Opened, *, whole: bool = True, kept_as: str = "") -> None:
        """`kept_as` is the name under which the store has the tournament, where that is not its own."""
        self.name = name
        self.kept_as = kept_as or name
        self.whole = whole
        self.opened = opened
        self.format: Format = formats()[opened.format]
        self.facts = 1  # how many have been added, including the first, that it was opened
        self.sealed: str | None = None  # the commitment to a seed that the host has chosen …
        self.chose: Chose | None = None  # … that seed …
        self.revealed: Revealed | None = None  # … and when it is for everybody to know
        self.state = State.REGISTERING
        self.entrants: dict[str, Entrant] = {}
        self.out: set[str] = set()  # entrants that are withdrawn or disqualified
        self.annulled: set[str] = set()
        self.disqualified: set[str] = set()
        self.arrivals = 0  # goes up whenever an entrant enters, is out, or is described anew
        self.drawn: MutableMapping[int, Pairing] = Paged()
        # In the order of their ends, as far as they are remembered
        self.matches: MutableMapping[str, Remembered] = {}
        self.ended = 0  # matches that are over, remembered or not
        self.voided: dict[str, float | None] = {}  # and when that was, by the wall clock
        self.claims: dict[str, str] = {}  # by name: the digest of the token to which it belongs
        self.seats: dict[str, Seated] = {}  # by name, of those that came without a token
        self.called: dict[str, Called] = {}  # by name, of those that are called to their matches
        self.invited: set[str] = set()
        self._still: Record | None = None  # what the public is shown instead …
        self._stands_still = False  # … and whether this is that: if it had itself, nobody would free it
        self.dealt: dict[str, int] = {}  # matches that have begun and not ended …
        self.dealt_at: dict[str, float] = {}  # … when that was, by the wall clock, if it is known …
        self.own_options: dict[str, Mapping[str, Any]] = {}  # … and options that are one match's own …
        self.keys: dict[str, tuple[str, str]] = {}  # … and by which its players are recognised …
        self.ways_back: dict[str, tuple[str, str]] = {}  # … and how their dialects find them
        # Pairings that are neither decided nor being played, in the order of drawing
        self.open = Waiting(begun=0 if opened.by_the_clock else inf)
        self.first_round_at: float | None = None  # wall time at which it began, if rounds are by the clock
        self.checked_in: set[str] = set()
        self.no_shows: set[str] = set()  # entrants that are out because they did not check in
        self.ended_early = False  # by an organiser: what is not being played is not played any more
        self.affiliations: dict[str, str] = {}  # of the entrants for whom it is known …
        self.contacts: dict[str, str] = {}  # … and how to reach whoever answers for them
        self.attempts: dict[int, int] = {}  # by pairing: matches begun or forfeited
        self.missed_pairings: dict[int, frozenset[str]] = {}  # of those played again: who was gone
        self.recent: deque[str] = deque()  # the latest matches
        # In a whole record: the matches that are over, in the order of their ends. It is only appended to, so
        # it can be followed by index.
        self.endings: list[str] | Endings = []
        self.results = Results(self.format, forgets=self.format.endless and not whole)
        self.last_drawn = 0  # the number of the latest pairing
        self.byes = 0  # that were drawn: each has a number and a result, and is not a match
        self.archived: Archived | None = None  # that hold much of this, where the tournament is long over
        self._columns: Columns[Remembered] | None = None  # the same, where there are too many matches
        if whole and self.format.endless:
            self._remember_in(Columns[Remembered](name, Abridged))

    @property
    def columns(self) -> Columns[Remembered] | None:
        """The columns that hold what happened, in a whole record of a tournament without an end."""
        return self._columns

    def _remember_in(self, columns: Columns[Remembered]) -> None:
        self._columns = columns
        self.drawn, self.matches = DrawnPairings(columns), Matches[Remembered](columns)
        self.endings = Endings(columns)
        self.results.remember_in(columns)

    # What is known

    def add(self, fact: AnyFact) -> None:
        for _ in self.adding(fact):
            pass

    def adding(self, fact: AnyFact) -> Iterator[None]:
        """Add a fact in pieces, none of which takes long: a round robin of a thousand is one fact.

        The record must not be changed in between.
        """
        if isinstance(fact, Drew):
            self.drawing = True
            try:
                for number, pairing in enumerate(fact.pairings, 1):
                    self._draw(pairing)
                    if number % PIECE == 0:
                        yield
            finally:
                del self.drawing
            self.facts += 1
        elif isinstance(fact, Froze) and fact.on:
            self.facts += 1
            still = copy(self)
            yield from still.parting()
            self.freeze(still)
        elif isinstance(fact, Entered) and fact.name in self.entrants:
            pass  # two have asked for it, and it is kept once
        else:
            self.facts += 1
            self._add(fact)

    def _add(self, fact: SmallFact) -> None:
        match fact:  # the most frequent first: trying a class that a fact does not have takes long
            case Dealt(match=match, pairing=number, options=options, keys=keys, ways_back=ways_back, at=at):
                self.dealt[match] = number
                if at is not UNSET:
                    self.dealt_at[match] = at
                if options is not None:
                    self.own_options[match] = options
                if keys is not None:
                    self.keys[match] = keys
                if ways_back is not UNSET:
                    self.ways_back[match] = ways_back
                self.open.discard(number)
                self.attempts[number] = self.attempts.get(number, 0) + 1
            case Concluded():
                self._conclude(fact)
            case Opened():
                raise ValueError(f"{self.name} was opened twice")
            case Entered(name=name, rating=rating):
                self.entrants[name] = Entrant(intern(name), rating)
                self.arrivals += 1
            case Turned(state=state):
                self.state = state
            case Withdrew(name=name, annulled=annulled):
                self._remove(name)
                if annulled:
                    self.annulled.add(name)
                    self.results.add_up_again(name)
            case Disqualified(name=name):
                self._remove(name)
                self.annulled.discard(name)  # an earlier withdrawal saves nobody
                self.disqualified.add(name)
                self.results.add_up_again(name)
            case Claimed(name=name, digest=digest, invited=invited):
                self.claims[name] = digest
                self.seats.pop(name, None)
                if invited:
                    self.invited.add(name)
            case Seated(name=name):
                self.seats[name] = fact
            case Released(name=name):
                self.seats.pop(name, None)
                self.called.pop(name, None)
            case Called(name=name, url=url):
                self.called.pop(name, None)
                if url:
                    self.called[name] = fact
            case Froze():
                self._still = None
            case Ordered():
                pass  # it says who did it; other facts say what was done
            case Sealed(commitment=commitment):
                self.sealed = commitment
            case Chose():
                self.chose = fact
            case Revealed():
                self.revealed = fact
            case Voided():
                self._void(fact)
            case RoundBegan(round=round, at=at):
                if self.first_round_at is None:
                    self.first_round_at = at
                self.open.begin(round)
            case CheckedIn(name=name):
                self.checked_in.add(name)
            case NoShow(name=name):
                self._remove(name)
                self.no_shows.add(name)
            case Admitted(name=name):
                self.entrants[name] = structs.replace(self.entrants[name], gone=False)
                self.out.discard(name)
                self.no_shows.discard(name)
                self.arrivals += 1
            case EndedEarly():
                self.ended_early = True
                self.open = Waiting(begun=self.open.begun)
            case Described(name=name, affiliation=affiliation, contact=contact):
                _note(self.affiliations, name, affiliation)
                _note(self.contacts, name, contact)
                self.arrivals += 1

    def _void(self, fact: Voided) -> None:
        match = fact.match
        if not self.is_over(match):
            raise ValueError(f"{match} was voided, and no match of that name is over")
        number = self.matches[match].pairing if match in self.matches else parsed(self.name, match)[0]
        if self.results.counted.get(number) == match:
            self.results.take_back(number)
            self._reopen(number)
        elif self.results.forgets and match not in self.matches and match not in self.voided:
            self.results.take_back_forgotten(number)
        self.voided[match] = fact.at

    def _draw(self, drawn: Pairing) -> None:
        pairing = sharing_names(drawn)
        self.drawn[pairing.number] = pairing
        self.last_drawn = pairing.number
        self.results.draw(pairing)
        if pairing.second is None:
            self.byes += 1
        else:
            self.open.add(pairing)

    def _conclude(self, fact: Concluded) -> None:
        if self.is_over(fact.match):
            raise ValueError(f"{fact.match} has been concluded before")
        self.matches[fact.match] = without_moves(fact, self.drawn[fact.pairing], notes=self.whole)
        self.ended += 1
        self.recent.append(fact.match)
        if self.whole and isinstance(self.endings, list):
            self.endings.append(fact.match)
        if len(self.recent) > LATEST:
            self._forget(self.recent.popleft())
        if fact.ending is Ending.VOID and not self.format.endless:
            gone = frozenset(name for name in fact.players if fact.why in (NOBODY, *absences(name)))
            if gone:
                self.missed_pairings[fact.pairing] = self.missed(fact.pairing) | gone
        self.dealt_at.pop(fact.match, None)
        self.own_options.pop(fact.match, None)
        self.keys.pop(fact.match, None)
        self.ways_back.pop(fact.match, None)
        if self.dealt.pop(fact.match, None) is None:  # forfeited without having begun
            self.open.discard(fact.pairing)
            self.attempts[fact.pairing] = self.attempts.get(fact.pairing, 0) + 1
        if self.format.endless:  # there is no second match
            del self.attempts[fact.pairing]
        if fact.score is None:
            self._reopen(fact.pairing)
        else:
            pairing = self.drawn[fact.pairing]
            result = Result(pairing, fact.score, played_out(fact), moves_digest(fact.moves))
            self.results.count(result, fact.match)

    def _forget(self, match: str) -> None:
        """A match is no longer one of the latest."""
        if self._columns is not None:
            self._columns.forget_causes(match)
            return
        if self.whole:
            self.matches[match] = abridged(self.matches[match])
            return
        number = self.matches.pop(match).pairing
        if self.results.forgets:
            self.results.forget(number, self.annulled, self.disqualified)
            del self.drawn[number]

    def _reopen(self, number: int) -> None:
        """A pairing has to be played again; or it is decided as 0–0, if the format never repeats one.

        In a tournament that was ended early it stays undecided.
        """
        if self.format.endless:
            self.results.close(self.drawn[number])
        elif not self.ended_early:
            self.open.add(self.drawn[number])

    def _remove(self, name: str) -> None:
        self.entrants[name] = structs.replace(self.entrants[name], gone=True)
        self.out.add(name)
        self.arrivals += 1

    def after(self, *facts: AnyFact) -> "Record":
        """What would be known after those facts as well; this record stays as it is."""
        preview = copy(self)
        for _ in preview.parting():
            pass
        for fact in facts:
            preview.add(fact)
        return preview

    def parting(self) -> Iterator[None]:
        """Have a shallow copy of a record share nothing with it that changes, in pieces: one copy each.

        The record must not be changed in between. A dictionary of half a million takes some milliseconds.
        """
        for name, value in [*vars(self).items()]:
            if isinstance(value, dict | set | list | deque):
                setattr(self, name, copy(value))  # pyright: ignore[reportUnknownArgumentType]
                yield
        if isinstance(drawn := self.drawn, Paged):
            self.drawn = Paged[Pairing]()
            yield from self.drawn.copying(drawn)
        waiting, results = self.open, self.results
        self.open, self.results = Waiting(begun=waiting.begun), Results(self.format, forgets=results.forgets)
        yield from self.open.copying(waiting)
        yield from self.results.copying(results)
        if self._columns is not None:
            self._remember_in(copy(self._columns))

    # What follows from it

    @property
    def frozen(self) -> "Record | None":
        """What the public is shown instead, which is its own; None: nothing is."""
        return self if self._stands_still else self._still

    def freeze(self, still: "Record") -> None:
        """Show the public this from now on, which nothing changes any more."""
        still._still, still._stands_still = None, True
        self._still = still

    @property
    def public(self) -> "Record":
        """The record from which everybody except its organiser is shown the standings."""
        return self.frozen or self

    def is_over(self, match: str) -> bool:
        """Whether there is such a match, and it is over."""
        if match in self.matches:
            return True
        if self.whole or match in self.dealt:
            return False
        number, attempt = parsed(self.name, match)
        if number in self.drawn:
            return 0 < attempt <= self.attempts.get(number, 0)
        return attempt == 1 and 0 < number <= self.last_drawn

    def players(self, match: str) -> tuple[str, ...]:
        """The players of a match that is over; empty if it is forgotten."""
        if (known := self.matches.get(match)) is not None:
            return known.players
        pairing = self.drawn.get(parsed(self.name, match)[0])
        return () if pairing is None else pairing.names

    @property
    def terms(self) -> Terms:
        """The terms for drawing. If the host has chosen the seed, they have none before it is revealed."""
        terms = self.opened.terms
        return terms if self.revealed is None else structs.replace(terms, seed=self.revealed.seed)

    @property
    def secret_terms(self) -> Terms:
        """The terms for drawing, for the host alone: with the seed that it has chosen, revealed or not."""
        return self.terms if self.chose is None else structs.replace(self.terms, seed=self.chose.seed)

    @property
    def round(self) -> int | None:
        """The latest round that has begun, where rounds begin by the clock."""
        return None if self.open.begun == inf else int(self.open.begun)

    @property
    def contestants(self) -> int:
        """How many have entered and were not taken out."""
        return len(self.entrants) - len(self.out)

    @property
    def taken_part(self) -> int:
        """How many take part or have: whoever was taken out counts if anything was drawn for it."""
        return self.contestants + sum(name in self.results.numbers for name in [*self.out])

    @property
    def counted(self) -> int:
        """How many entrants it has: while it takes them, those it would begin with; then everybody listed."""
        return self.contestants if self.state is State.REGISTERING else len(self.entrants)

    @property
    def pairings(self) -> int:
        """How many were drawn, of two who are to meet."""
        if self.archived is not None:
            return self.archived.pairings
        return len(self.results.history) + len(self.drawn) - self.byes

    @property
    def decided(self) -> int:
        """How many of these are decided."""
        if self.archived is not None:
            return self.archived.decided
        return len(self.results.history) + len(self.results.came_to) - self.byes

    @property
    def version(self) -> int:
        """Goes up with everything that changes the standings."""
        if self.archived is not None:
            return self.archived.version
        if self.results.forgets:  # it forgets decisions, too: so all matches that are over are counted
            return self.arrivals + self.ended + len(self.voided)
        return self.arrivals + len(self.results.decisions)

    @property
    def latest_end(self) -> float | None:
        """When its latest match was over, as far as that is known and remembered."""
        if self.archived is not None:
            return self.archived.latest_end
        ends = (self.matches[match].ended for match in reversed(self.recent))
        return next((at for at in ends if at is not None), None)

    def match_of(self, number: int) -> str | None:
        """The match that counts for a pairing, or else the first that did not, as far as it is remembered."""
        names = (named(self.name, number, attempt) for attempt in range(1, self.attempts.get(number, 1) + 1))
        counted = self.results.counted.get(number)
        return counted or next((name for name in names if name in self.matches), None)

    def left_to_play(self, name: str) -> int:
        """How many pairings of an entrant are neither decided nor being played; 0 if there is no end."""
        return sum(number in self.open for number in self.results.numbers.get(name, ()))

    def past(self) -> tuple[Sequence[Pairing], Sequence[Result]]:
        """What a format is given: all that was drawn and decided; if it never ends, the latest of that.

        Results against somebody disqualified are as they count now, except in a knockout: there nobody who
        was out comes back.
        """
        if (latest := self.results.latest) is not None:
            return latest, latest.results
        results, out = self.results.remembered(), self.disqualified
        if out and not self.format.eliminates:
            results = [
                result if out.isdisjoint(result.pairing.names) else _against(out, result)
                for result in results
            ]
        return list(self.drawn.values()), results

    def adjusted(self) -> list[Result]:
        """The remembered results that count for the standings, after withdrawals and disqualifications."""
        return self.results.adjusted(self.annulled, self.disqualified)

    def standings(self) -> list[Row]:
        return self.results.standings(list(self.entrants.values()), self.annulled, self.disqualified)

    @property
    def lacks_its_final(self) -> bool:
        """Whether it is a knockout that was ended before its final was decided: nobody has won it."""
        if not (self.format.eliminates and self.ended_early):
            return False
        drawn, results = self.past()
        entrants = list(self.entrants.values())
        return len(results) < len(drawn) or bool(self.format.draw(entrants, drawn, results, self.terms))

    def options(self, fact: Dealt | Concluded) -> Mapping[str, Any]:
        """The options of the game in that match."""
        return self.opened.options if fact.options is None else fact.options

    def match_name(self, number: int) -> str:
        """The name of a pairing's next match: `friday-12`, and if it is to be played again, `friday-12.2`."""
        return named(self.name, number, self.attempts.get(number, 0) + 1)

    def came(self, name: str) -> bool:
        """Whether a name belongs to a bot that came under it, perhaps before the host was started again.

        For invited names it is false: these have a token before their bots come.
        """
        return name in self.seats or (name in self.claims and name not in self.invited)

    def missed(self, number: int) -> frozenset[str]:
        """Who was gone when a pairing was due, or before both had moved: each is forgiven that once."""
        return self.missed_pairings.get(number, frozenset())


def sharing_names(pairing: Pairing) -> Pairing:
    """The pairing with names that are in memory once; itself, if they are."""
    first, second = intern(pairing.first), None if pairing.second is None else intern(pairing.second)
    if first is pairing.first and second is pairing.second:
        return pairing  # of half a million, copies would be made here, and all of these freed at one instant
    return Pairing(pairing.number, pairing.round, first, second)


def _against(disqualified: set[str], result: Result) -> Result:
    """A result of somebody disqualified as it counts now; a bye stays, though it gives no points."""
    return next(iter(adjusted((result,), (), disqualified)), result)


def _note(known: dict[str, str], name: str, text: str) -> None:
    """Note what is said of an entrant; empty text takes it back."""
    if text:
        known[name] = text
    else:
        known.pop(name, None)
