"""What is known of a tournament, as a fold over facts.

Facts are what the store keeps, in order; a `Record` is what they add up to.
Everything that an organiser reads (results, standings, what is still to play)
is computed from it, so a preview is a copy with one more fact, and going on
after a crash is folding what was kept.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from enum import StrEnum
from math import inf
from sys import intern
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field, structs

from games.game import Pace
from tournament.causes import Cause
from tournament.columns import CameTo, Columns, Counted, Decisions, Drawn, Endings, Matches
from tournament.events import NOBODY, Ending, Fault, absences
from tournament.format import Entrant, Format, Pairing, Result, Score, Terms, formats, moves_digest
from tournament.history import History
from tournament.kinds import BOTS, Kinds
from tournament.latest import Latest
from tournament.notes import Notes
from tournament.standings import Row, adjusted, standings
from tournament.tally import Tallies, table
from tournament.waiting import Waiting


class State(StrEnum):
    REGISTERING = "registering"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    DELETED = "deleted"  # by its organiser, and shown to nobody: its name is free again


Sides = tuple[float | None, float | None]  # of both seats; None: not known
UNKNOWN: Sides = (None, None)
UNSAID: tuple[str | None, str | None] = (None, None)
Absent = Literal["wait", "settle"]  # what a tournament does about an entrant that does not come


class Fact(Struct, frozen=True):
    """One thing that happened to a tournament, or that somebody decided about it."""


class Opened(Fact, frozen=True, tag="opened"):
    """There is a tournament."""

    game: str
    format: str
    entrants: int | None = (
        None  # it starts by itself with so many, and takes no more; None: somebody starts it
    )
    terms: Terms = Terms()
    options: Mapping[str, Any] = {}  # of the game
    pace: Pace | None = None  # None: the game's own
    # What is not set is not written, so journals from before these fields have the same letters as ever.
    absent: Absent | UnsetType = UNSET  # UNSET: "wait"
    start_at: float | UnsetType = UNSET  # wall time at which it starts by itself
    group: str | UnsetType = UNSET  # the name that it shares with others that belong together
    rounds_at: tuple[float, ...] | UnsetType = UNSET  # wall times before which rounds do not begin
    round_every: float | UnsetType = UNSET  # seconds from the beginning of one round to that of the next
    check_in: float | UnsetType = UNSET  # seconds before its start from which entrants check in

    @property
    def settles(self) -> bool:
        """Whether somebody who stays away loses its matches without being waited for each time."""
        return self.absent == "settle"

    @property
    def start(self) -> float | None:
        """The wall time at which it starts by itself; unless it is said, that of the first round."""
        if self.start_at is not UNSET:
            return self.start_at
        return self.rounds_at[0] if self.rounds_at else None

    @property
    def by_the_clock(self) -> bool:
        """Whether its rounds wait for one another, and for times of their own."""
        return self.rounds_at is not UNSET or self.round_every is not UNSET

    @property
    def belongs(self) -> str | None:
        """The name of its group."""
        return None if self.group is UNSET else self.group


class Entered(Fact, frozen=True, tag="entered"):
    name: str
    rating: float | None = None


class Turned(Fact, frozen=True, tag="turned"):
    """The tournament went into another state."""

    state: State


class Drew(Fact, frozen=True, tag="drew", omit_defaults=True):
    pairings: tuple[Pairing, ...]
    rules: int = 1  # the version of the format's rules by which this was drawn


class RoundBegan(Fact, frozen=True, tag="round-began"):
    """The pairings of a round can be played from now on, where rounds begin by the clock."""

    round: int
    at: float  # wall time


class CheckedIn(Fact, frozen=True, tag="checked-in"):
    """An entrant was here when entrants checked in, or an organiser says that it will play."""

    name: str


class NoShow(Fact, frozen=True, tag="no-show"):
    """An entrant had not checked in when the tournament began: it is not drawn."""

    name: str


class Admitted(Fact, frozen=True, tag="admitted"):
    """An entrant that had not checked in takes part after all."""

    name: str


class Described(Fact, frozen=True, tag="described"):
    """Whose an entrant is, as its organiser says. The last such fact counts."""

    name: str
    affiliation: str = ""  # for everybody to see
    contact: str = ""  # nobody but the organiser sees it


class Dealt(Fact, frozen=True, tag="dealt"):
    """A match is about to begin. Without a `Concluded` of that name it goes on, or it was cut short."""

    match: str
    pairing: int
    options: Mapping[str, Any] | None = None  # of the game; None: the tournament's own
    keys: tuple[str, str] | None = None  # digests of what both come back with; None: somebody cannot
    # How their dialects find both again, in the dialects' words. "" here is a player that comes back by its
    # key alone, and "" there one that comes back in this way alone.
    ways_back: tuple[str, str] | UnsetType = UNSET


class Concluded(Fact, frozen=True, tag="concluded", omit_defaults=True):
    """A match is over. There is one of each name, and it never changes.

    Fields with a factory are always written, the others only where they say something: so a fact has
    the same letters as before there were the latter.
    """

    match: str
    pairing: int
    players: tuple[str, str]
    winner: int | None
    ending: Ending
    why: str
    score: Score | None  # None: counts for nothing, and is played again
    moves: tuple[Any, ...] = field(default_factory=lambda: ())  # as the game writes them
    times: tuple[int | float, ...] = field(default_factory=lambda: ())  # seconds spent on each
    # Of the game; None: the tournament's own.
    options: Mapping[str, Any] | None = field(default_factory=lambda: None)
    began: float | None = None  # wall time, as all of these; None: before the host was started, or not known
    ended: float | None = None
    fault: Fault | None = None  # whose fault it is that it was not played; None: nobody's, or not known
    cause: tuple[Cause, ...] = ()  # what led to the end, oldest first
    thought: Sides = UNKNOWN  # seconds that the bots say they have spent …
    network: Sides = UNKNOWN  # … and those that their moves took longer than that
    versions: tuple[str | None, str | None] = UNSAID  # of the bots, if they say so
    kinds: Kinds = BOTS  # of the players
    notes: Notes = ()  # that they have made of their moves

    @property
    def plies(self) -> int:
        return len(self.moves)


class Abridged(Concluded, frozen=True):
    """A match that is long over, as a `Record` remembers it: the store has its moves, times and causes."""

    length: int = 0

    @property
    def plies(self) -> int:
        return self.length


class Withdrew(Fact, frozen=True, tag="withdrew"):
    name: str
    annulled: bool  # what it has played counts no more


class Disqualified(Fact, frozen=True, tag="disqualified"):
    name: str
    why: str


class Voided(Fact, frozen=True, tag="voided", omit_defaults=True):
    """A match that was played counts no more and is played again."""

    match: str
    why: str
    players: tuple[str, str] | None = None  # whose it was …
    score: Score | None = None  # … and what it counted, for a record that has forgotten it


class Claimed(Fact, frozen=True, tag="claimed"):
    """A name belongs to the bot that has the token with this digest. The last claim counts."""

    name: str
    digest: str  # SHA-256, in hexadecimal
    invited: bool = False  # by an organiser, before it has come


class Seated(Fact, frozen=True, tag="seated"):
    """Until the tournament is over, a name belongs to the bot that comes by this door from this address.

    It came without a token. The last such fact counts. Nobody but the organiser is shown the address.
    """

    name: str
    door: str
    address: str


class Released(Fact, frozen=True, tag="released"):
    """An organiser gave a seat up: the name belongs to whichever bot comes next under it."""

    name: str


class Froze(Fact, frozen=True, tag="froze"):
    """From now on the public is shown the standings as they are now; or, if not `on`, as they change."""

    on: bool


class Ordered(Fact, frozen=True, tag="ordered"):
    """An organiser did something: kept together with the facts that came of it."""

    by: str
    action: str
    detail: str = ""


class Sealed(Fact, frozen=True, tag="sealed"):
    """The host has chosen a seed for the drawing of lots, and says only this of it until the draw."""

    commitment: str  # SHA-256 of the seed, a blank and a salt, in hexadecimal


class Chose(Fact, frozen=True, tag="chose"):
    """What was sealed, for the host alone."""

    seed: int
    salt: str


class Revealed(Fact, frozen=True, tag="revealed"):
    """What was sealed, for everybody: nobody enters any more before the draw."""

    seed: int
    salt: str


class Kept(Struct, frozen=True):
    """A fact as it stands in a store."""

    tournament: str
    when: float  # wall time, for people to read; nothing is decided by it
    fact: "AnyFact"


SmallFact = (
    Opened
    | Entered
    | Turned
    | Dealt
    | Concluded
    | Withdrew
    | Disqualified
    | Voided
    | Claimed
    | Seated
    | Released
    | Froze
    | Ordered
    | Sealed
    | Chose
    | Revealed
    | RoundBegan
    | CheckedIn
    | NoShow
    | Admitted
    | Described
)
AnyFact = SmallFact | Drew
ANEW = "~"  # between a name that was used before and a number, in a store; no name has it
HOST = ""  # in place of a tournament's name: what was ordered of the host itself
PIECE = 1000  # pairings that are added to a record at a time
BYE: Score = (1.0, 0.0)
AGAIN = 50  # forgotten matches that are added up again, where that is needed, with each that ends
WHOLE = 1000  # matches whose moves a record remembers: those that people look at
NOTHING: Score = (0.0, 0.0)  # of a pairing that is closed without having been decided


class Record:
    """What is known of one tournament.

    A `whole` record remembers every match, without the moves of the older ones, and everything
    that was drawn; of a tournament without an end in columns, with some sixty bytes a match.
    Any other has the store for that: it remembers the latest `WHOLE` matches, and of
    a tournament without an end nothing older than these but what it adds up to, name by name.
    """

    def __init__(self, name: str, opened: Opened, *, whole: bool = True, kept_as: str = "") -> None:
        """`kept_as` is the name under which the store has it, where that is not its own."""
        self.name = name
        self.kept_as = kept_as or name
        self.whole = whole
        self.opened = opened
        self.format: Format = formats()[opened.format]
        self.facts = 1  # how many have been added, beginning with that it was opened
        self.sealed: str | None = None  # the commitment to a seed that the host has chosen …
        self.chose: Chose | None = None  # … that seed …
        self.revealed: Revealed | None = None  # … and when it is for everybody to know
        self.state = State.REGISTERING
        self.entrants: dict[str, Entrant] = {}
        self.out: set[str] = set()  # entrants that have withdrawn or are disqualified
        self.annulled: set[str] = set()
        self.disqualified: set[str] = set()
        self.arrivals = 0  # goes up whenever somebody enters, is out, or is described otherwise
        self.drawn: MutableMapping[int, Pairing] = {}
        self.matches: MutableMapping[
            str, Concluded
        ] = {}  # in the order of their ends, as far as they are remembered
        self.ended = 0  # matches that are over, remembered or not
        self.voided: set[str] = set()
        self.claims: dict[str, str] = {}  # by name: the digest of the token that it belongs to
        self.seats: dict[str, Seated] = {}  # by name, of those that came without a token
        self.invited: set[str] = set()
        self.frozen: Record | None = None  # what the public is shown instead; None: nothing is
        self.dealt: dict[str, int] = {}  # matches that have begun and not ended …
        self.own_options: dict[str, Mapping[str, Any]] = {}  # … and options that are one match's own …
        self.keys: dict[str, tuple[str, str]] = {}  # … and by what the players of one are known again …
        self.ways_back: dict[str, tuple[str, str]] = {}  # … and how their dialects find them
        # Drawn, neither decided nor being played, in the order of drawing
        self.open = Waiting(begun=0 if opened.by_the_clock else inf)
        self.first_round_at: float | None = None  # wall time at which it began, if rounds are by the clock
        self.checked_in: set[str] = set()
        self.no_shows: set[str] = set()  # entrants that are out because they had not checked in
        self.affiliations: dict[str, str] = {}  # of entrants of whom that is known …
        self.contacts: dict[str, str] = {}  # … and how to reach whoever answers for them
        self.attempts: dict[int, int] = {}  # of each pairing: matches begun or forfeited
        self.counted: MutableMapping[int, str] = {}  # of each pairing: the match that counts now
        self.came_to: MutableMapping[int, Result] = {}  # of each pairing: what that came to
        self.latest = Latest() if self.format.endless else None  # of both
        self.missed_pairings: dict[
            int, frozenset[str]
        ] = {}  # who was gone, so that one is to be played again
        self.recent: deque[str] = deque()  # the latest matches
        # For whoever follows them by index: nothing in these lists ever changes.
        self.endings: list[str] | Endings = []  # of a whole record: the matches that are over, in that order
        # Of a whole record, or of one that has an end: what counts; a number takes back what its pairing
        # came to.
        self.decisions: list[Result | int] | Decisions = []
        self.history = History()  # pairings that are over and not remembered …
        self.tallies = Tallies()  # … and what these add up to
        self.last_drawn = 0  # the number of the latest pairing
        self._columns: Columns[Concluded] | None = None  # that hold much of this, where it is too much
        if whole and self.format.endless:
            self._remember_in(Columns[Concluded](name, Abridged))

    @property
    def columns(self) -> Columns[Concluded] | None:
        """Where a whole record of a tournament without an end has what happened."""
        return self._columns

    def _remember_in(self, columns: Columns[Concluded]) -> None:
        self._columns = columns
        self.drawn, self.matches = Drawn(columns), Matches[Concluded](columns)
        self.counted, self.came_to = Counted(columns), CameTo(columns)
        self.endings, self.decisions = Endings(columns), Decisions(columns)

    # What is known

    def add(self, fact: AnyFact) -> None:
        for _ in self.adding(fact):
            pass

    def adding(self, fact: AnyFact) -> Iterator[None]:
        """Add it in pieces, of which none takes long: a round robin of a thousand is drawn in one fact."""
        if isinstance(fact, Drew):
            for number, pairing in enumerate(fact.pairings, 1):
                self._draw(pairing)
                if number % PIECE == 0:
                    yield
            self.facts += 1
        else:
            self.facts += 1
            self._add(fact)

    def _add(self, fact: SmallFact) -> None:
        match fact:
            case Opened():
                raise ValueError(f"{self.name} was opened twice")
            case Entered(name=name, rating=rating):
                self.entrants[name] = Entrant(name, rating)
                self.out.discard(name)
                self.arrivals += 1
            case Turned(state=state):
                self.state = state
            case Dealt(match=match, pairing=number, options=options, keys=keys, ways_back=ways_back):
                self.dealt[match] = number
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
            case Withdrew(name=name, annulled=annulled):
                self._remove(name)
                if annulled:
                    self.annulled.add(name)
                    self._add_up_again(name)
            case Disqualified(name=name):
                self._remove(name)
                self.disqualified.add(name)
                self._add_up_again(name)
            case Claimed(name=name, digest=digest, invited=invited):
                self.claims[name] = digest
                self.seats.pop(name, None)
                if invited:
                    self.invited.add(name)
            case Seated(name=name):
                self.seats[name] = fact
            case Released(name=name):
                self.seats.pop(name, None)
            case Froze(on=on):
                self.frozen = self._still() if on else None
            case Ordered():
                pass  # says who did it; what was done is in other facts
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
            case Described(name=name, affiliation=affiliation, contact=contact):
                _note(self.affiliations, name, affiliation)
                _note(self.contacts, name, contact)
                self.arrivals += 1

    def _void(self, fact: Voided) -> None:
        match = fact.match
        if not self.is_over(match):
            raise ValueError(f"{match} was voided, and no match of that name is over")
        number = self.matches[match].pairing if match in self.matches else self._parsed(match)[0]
        if self.counted.get(number) == match:
            del self.counted[number], self.came_to[number]
            if not self._forgets_results:
                self.decisions.append(number)
            self._reopen(number)
        elif self._forgets_results and match not in self.matches and match not in self.voided:
            self._void_forgotten(number)
        self.voided.add(match)

    def _void_forgotten(self, number: int) -> None:
        if self.history.take_back(number):
            self.tallies.restart()
        if self.latest is not None:
            for result in [each for each in self.latest.results if each.pairing.number == number]:
                self.latest.decide(Result(result.pairing, NOTHING, played=False))

    def _add_up_again(self, name: str) -> None:
        """What somebody has played counts otherwise than before."""
        if name in self.history:
            self.tallies.restart()

    def _draw(self, drawn: Pairing) -> None:
        second = None if drawn.second is None else intern(drawn.second)
        pairing = Pairing(drawn.number, drawn.round, intern(drawn.first), second)
        self.drawn[pairing.number] = pairing
        self.last_drawn = pairing.number
        if self.latest is not None:
            self.latest.draw(pairing)
        if pairing.second is None:
            self._decide(Result(pairing, BYE, played=False))
        else:
            self.open.add(pairing)

    def _conclude(self, fact: Concluded) -> None:
        if self.is_over(fact.match):
            raise ValueError(f"{fact.match} has been concluded before")
        self.matches[fact.match] = fact
        self.ended += 1
        self.recent.append(fact.match)
        if self.whole and isinstance(self.endings, list):
            self.endings.append(fact.match)
        if len(self.recent) > WHOLE:
            self._forget(self.recent.popleft())
        gone = frozenset(name for name in fact.players if fact.why in (NOBODY, *absences(name)))
        if fact.ending is Ending.VOID and gone and not self.format.endless:
            self.missed_pairings[fact.pairing] = self.missed(fact.pairing) | gone
        self.own_options.pop(fact.match, None)
        self.keys.pop(fact.match, None)
        self.ways_back.pop(fact.match, None)
        if self.dealt.pop(fact.match, None) is None:  # forfeited without having begun
            self.open.discard(fact.pairing)
            self.attempts[fact.pairing] = self.attempts.get(fact.pairing, 0) + 1
        if self.format.endless:  # there is no second
            del self.attempts[fact.pairing]
        if fact.score is None:
            self._reopen(fact.pairing)
        else:
            self.counted[fact.pairing] = fact.match
            pairing = self.drawn[fact.pairing]
            self._decide(Result(pairing, fact.score, played_out(fact), moves_digest(fact.moves)))

    def _forget(self, match: str) -> None:
        """It is one of the latest no more."""
        if self._columns is not None:
            self._columns.forget_moves(match)
            return
        if self.whole:
            self.matches[match] = _abridged(self.matches[match], self.drawn)
            return
        number = self.matches.pop(match).pairing
        if self._forgets_results:
            result = self.came_to.pop(number)
            self.history.add(result, counts=self.counted.pop(number, None) is not None)
            self.tallies.follow(self.history, self.annulled, self.disqualified, AGAIN)
            del self.drawn[number]

    @property
    def _forgets_results(self) -> bool:
        return self.format.endless and not self.whole

    def _decide(self, result: Result) -> None:
        self.came_to[result.pairing.number] = result
        if not self._forgets_results and self.counts(result):
            self.decisions.append(result)
        if self.latest is not None:
            self.latest.decide(result)

    def _reopen(self, number: int) -> None:
        """A pairing has to be played again; or is decided as 0–0, if the format never plays one again."""
        if self.format.endless:
            self._decide(Result(self.drawn[number], NOTHING, played=False))
        else:
            self.open.add(self.drawn[number])

    def _remove(self, name: str) -> None:
        self.entrants[name] = structs.replace(self.entrants[name], gone=True)
        self.out.add(name)
        self.arrivals += 1

    def after(self, *facts: AnyFact) -> "Record":
        """What would be known after those facts as well; this record stays as it is."""
        preview = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | set | list | deque | Latest | Waiting | History | Tallies):
                setattr(preview, name, copy(value))  # pyright: ignore[reportUnknownArgumentType]
        if self._columns is not None:
            preview._remember_in(copy(self._columns))
        for fact in facts:
            preview.add(fact)
        return preview

    def _still(self) -> "Record":
        """A copy of the record as it is now, whose `public` is itself."""
        still = self.after()
        still.frozen = still
        return still

    # What follows from it

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
        number, attempt = self._parsed(match)
        if number in self.drawn:
            return 0 < attempt <= self.attempts.get(number, 0)
        return attempt == 1 and 0 < number <= self.last_drawn

    def players(self, match: str) -> tuple[str, ...]:
        """Of a match that is over; nobody, if it is forgotten."""
        if (known := self.matches.get(match)) is not None:
            return known.players
        pairing = self.drawn.get(self._parsed(match)[0])
        return () if pairing is None else pairing.names

    @property
    def terms(self) -> Terms:
        """What lots are drawn by. Where the host has chosen the seed, there is none before it is revealed."""
        terms = self.opened.terms
        return terms if self.revealed is None else structs.replace(terms, seed=self.revealed.seed)

    @property
    def round(self) -> int | None:
        """The latest round that has begun, where they begin by the clock."""
        return None if self.open.begun == inf else int(self.open.begun)

    @property
    def pairings(self) -> int:
        """How many were drawn."""
        return len(self.history) + len(self.drawn)

    @property
    def decided(self) -> int:
        """How many of these are decided."""
        return len(self.history) + len(self.came_to)

    @property
    def version(self) -> int:
        """Goes up with everything that changes the standings, where decisions are remembered."""
        return self.arrivals + len(self.decisions)

    def counts(self, result: Result) -> bool:
        """Whether what a pairing came to counts for the standings, before withdrawals."""
        return result.pairing.number in self.counted or _bye(result)

    def match_of(self, number: int) -> str | None:
        """The match that counts for a pairing, or else the first that did not, as far as it is remembered."""
        names = (self._named(number, attempt) for attempt in range(1, self.attempts.get(number, 1) + 1))
        return self.counted.get(number) or next((name for name in names if name in self.matches), None)

    def results(self) -> list[Result]:
        """What has been decided, in that order, as far as it is remembered."""
        return list(self.came_to.values())

    def past(self) -> tuple[Sequence[Pairing], Sequence[Result]]:
        """What a format is given: all that was drawn and decided; if it never ends, the latest of that."""
        if self.latest is not None:
            return self.latest, self.latest.results
        return list(self.drawn.values()), self.results()

    def adjusted(self) -> list[Result]:
        """The remembered results that count for the standings, after withdrawals and disqualifications."""
        decided = [result for result in self.came_to.values() if self.counts(result)]
        return adjusted(decided, self.annulled, self.disqualified)

    def standings(self) -> list[Row]:
        entrants = list(self.entrants.values())
        if not self.history:
            return standings(entrants, self.adjusted(), self.format.order)
        tallies = copy(self.tallies)
        tallies.follow(self.history, self.annulled, self.disqualified)
        tallies.count(self.adjusted())
        return table(entrants, tallies, self.format.order)

    def options(self, fact: Dealt | Concluded) -> Mapping[str, Any]:
        """The options of the game in that match."""
        return self.opened.options if fact.options is None else fact.options

    def match_name(self, number: int) -> str:
        """The name of a pairing's next match: `friday-12`, and if it is to be played again, `friday-12.2`."""
        return self._named(number, self.attempts.get(number, 0) + 1)

    def missed(self, number: int) -> frozenset[str]:
        """Who was gone when a pairing was due, or before both had moved: each is forgiven that once."""
        return self.missed_pairings.get(number, frozenset())

    def _named(self, number: int, attempt: int) -> str:
        return f"{self.name}-{number}" if attempt == 1 else f"{self.name}-{number}.{attempt}"

    def _parsed(self, match: str) -> tuple[int, int]:
        """Of which pairing a match is, and which of its matches, by its name; (0, 0) if it is no match's."""
        number, _, attempt = match.removeprefix(f"{self.name}-").partition(".")
        if number.isdecimal() and (attempt or "1").isdecimal():
            found = int(number), int(attempt or 1)
            if match == self._named(*found):
                return found
        return 0, 0


def played_out(fact: Concluded) -> bool:
    """Whether a match says anything of strength: nobody lost it on time or by staying away before moving.

    In every game the second is to move after one move.
    """
    unmoved = fact.winner == 0 and fact.plies < 2 and fact.ending in (Ending.TIME, Ending.LEFT)
    return fact.plies > 0 and not unmoved


def _abridged(fact: Concluded, drawn: Mapping[int, Pairing]) -> Abridged:
    """The match without its moves; texts that many matches share are held once."""
    pairing = drawn[fact.pairing]
    return Abridged(
        fact.match,
        fact.pairing,
        (pairing.first, pairing.second or ""),
        fact.winner,
        fact.ending,
        intern(fact.why),
        fact.score,
        options=fact.options,
        began=fact.began,
        ended=fact.ended,
        fault=fact.fault,
        versions=fact.versions,
        length=fact.plies,
    )


def _note(known: dict[str, str], name: str, text: str) -> None:
    """What is said of somebody; nothing, if it is taken back."""
    if text:
        known[name] = text
    else:
        known.pop(name, None)


def _bye(result: Result) -> bool:
    return result.pairing.second is None


def kept_as(name: str, earlier: int) -> str:
    """The name under which a store has a tournament, of as many `earlier` ones of that name."""
    return f"{name}{ANEW}{earlier + 1}" if earlier else name


def called(kept_as: str) -> str:
    """The name of a tournament that a store has under that."""
    return kept_as.partition(ANEW)[0]


def _husk(deleted: Record) -> Record:
    """All that needs to be known of it: that its name in the store is taken."""
    husk = Record(deleted.name, deleted.opened, whole=deleted.whole, kept_as=deleted.kept_as)
    husk.state = State.DELETED
    return husk


def fold(
    kept: Iterable[Kept],
    records: dict[str, Record] | None = None,
    *,
    whole: bool = True,
) -> dict[str, Record]:
    """Every tournament, by the name under which it is kept; `records` are what came of earlier facts."""
    records = {} if records is None else records
    for entry in kept:
        name = entry.tournament
        if name == HOST:
            continue
        if name in records:
            records[name].add(entry.fact)
            if records[name].state is State.DELETED:
                records[name] = _husk(records[name])
        elif isinstance(entry.fact, Opened):
            records[name] = Record(called(name), entry.fact, whole=whole, kept_as=name)
        else:
            raise ValueError(f"{name} has facts from before it was opened")
    return records
