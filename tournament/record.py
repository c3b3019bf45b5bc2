"""What is known of a tournament, as a fold over facts.

Facts are what the store keeps, in order; a `Record` is what they add up to.
Everything that an organiser reads (results, standings, what is still to play)
is computed from it, so a preview is a copy with one more fact, and going on
after a crash is folding what was kept.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from enum import StrEnum
from sys import intern
from typing import Any

from msgspec import Struct, structs

from games.game import Pace
from tournament.events import NOBODY, Ending
from tournament.format import Entrant, Format, Pairing, Result, Score, Terms, formats, moves_digest
from tournament.latest import Latest
from tournament.standings import Row, adjusted, standings


class State(StrEnum):
    REGISTERING = "registering"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"


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


class Entered(Fact, frozen=True, tag="entered"):
    name: str
    rating: float | None = None


class Turned(Fact, frozen=True, tag="turned"):
    """The tournament went into another state."""

    state: State


class Drew(Fact, frozen=True, tag="drew"):
    pairings: tuple[Pairing, ...]


class Dealt(Fact, frozen=True, tag="dealt"):
    """A match is about to begin. Without a `Concluded` of that name it was cut short."""

    match: str
    pairing: int
    options: Mapping[str, Any] | None = None  # of the game; None: the tournament's own


class Concluded(Fact, frozen=True, tag="concluded"):
    """A match is over. There is one of each name, and it never changes."""

    match: str
    pairing: int
    players: tuple[str, str]
    winner: int | None
    ending: Ending
    why: str
    score: Score | None  # None: counts for nothing, and is played again
    moves: tuple[Any, ...] = ()  # as the game writes them
    times: tuple[float, ...] = ()  # seconds spent on each
    options: Mapping[str, Any] | None = None  # of the game; None: the tournament's own

    @property
    def plies(self) -> int:
        return len(self.moves)


class Abridged(Concluded, frozen=True):
    """A match that is long over, as a `Record` remembers it: the store has its moves and times."""

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


class Voided(Fact, frozen=True, tag="voided"):
    """A match that was played counts no more and is played again."""

    match: str
    why: str


class Claimed(Fact, frozen=True, tag="claimed"):
    """A name is the bot's that has the token of this digest. Of several the last one counts."""

    name: str
    digest: str  # SHA-256, in hexadecimal
    invited: bool = False  # by an organiser, before it has come


class Froze(Fact, frozen=True, tag="froze"):
    """From now on the public is shown the standings as they are now; or, if not `on`, as they come."""

    on: bool


class Ordered(Fact, frozen=True, tag="ordered"):
    """An organiser did something: kept together with the facts that came of it."""

    by: str
    action: str
    detail: str = ""


class Kept(Struct, frozen=True):
    """A fact as it stands in a store."""

    tournament: str
    when: float  # wall time, for people to read; nothing is decided by it
    fact: "AnyFact"


AnyFact = (
    Opened
    | Entered
    | Turned
    | Drew
    | Dealt
    | Concluded
    | Withdrew
    | Disqualified
    | Voided
    | Claimed
    | Froze
    | Ordered
)
HOST = ""  # in place of a tournament's name: what was ordered of the host itself
BYE: Score = (1.0, 0.0)
WHOLE = 1000  # matches whose moves a record remembers: those that people look at
NOTHING: Score = (0.0, 0.0)  # of a pairing that is closed without having been decided


class Record:
    def __init__(self, name: str, opened: Opened) -> None:
        self.name = name
        self.opened = opened
        self.format: Format = formats()[opened.format]
        self.state = State.REGISTERING
        self.entrants: dict[str, Entrant] = {}
        self.annulled: frozenset[str] = frozenset()
        self.disqualified: frozenset[str] = frozenset()
        self.drawn: dict[int, Pairing] = {}
        self.matches: dict[str, Concluded] = {}  # in the order of their ends, all but the latest abridged
        self.voided: frozenset[str] = frozenset()
        self.claims: dict[str, str] = {}  # of names: the digest of the token that each belongs to
        self.invited: frozenset[str] = frozenset()
        self.frozen: Record | None = None  # what the public is shown instead, if it is
        self.dealt: dict[str, int] = {}  # matches that have begun and not ended …
        self.own_options: dict[str, Mapping[str, Any]] = {}  # … and options that are one match's own
        self.open: dict[int, Pairing] = {}  # drawn, neither decided nor being played, in the order of drawing
        self._attempts: dict[int, int] = {}  # of each pairing: matches begun or forfeited
        self._counted: dict[int, str] = {}  # of each pairing: the match that counts now
        self._results: dict[int, Result] = {}  # of each pairing: what that came to
        self._latest = Latest() if self.format.endless else None  # of these two
        self._missed: dict[int, bool] = {}  # pairings that nobody was there for
        self._whole: deque[str] = deque()  # the matches that are not abridged

    # What is known

    def add(self, fact: AnyFact) -> None:
        match fact:
            case Opened():
                raise ValueError(f"{self.name} was opened twice")
            case Entered(name=name, rating=rating):
                self.entrants[name] = Entrant(name, rating)
            case Turned(state=state):
                self.state = state
            case Drew(pairings=pairings):
                for pairing in pairings:
                    self._draw(pairing)
            case Dealt(match=match, pairing=number, options=options):
                self.dealt[match] = number
                if options is not None:
                    self.own_options[match] = options
                self.open.pop(number, None)
                self._attempts[number] = self._attempts.get(number, 0) + 1
            case Concluded():
                self._conclude(fact)
            case Withdrew(name=name, annulled=annulled):
                self._remove(name)
                self.annulled |= {name} if annulled else set()
            case Disqualified(name=name):
                self._remove(name)
                self.disqualified |= {name}
            case Claimed(name=name, digest=digest, invited=invited):
                self.claims[name] = digest
                self.invited |= {name} if invited else set()
            case Froze(on=on):
                self.frozen = self._still() if on else None
            case Ordered():
                pass  # says who did it: what was done are facts of their own
            case Voided(match=match):
                self.voided |= {match}
                number = self.matches[match].pairing
                if self._counted.get(number) == match:
                    del self._counted[number], self._results[number]
                    self._reopen(number)

    def _draw(self, drawn: Pairing) -> None:
        second = None if drawn.second is None else intern(drawn.second)
        pairing = Pairing(drawn.number, drawn.round, intern(drawn.first), second)
        self.drawn[pairing.number] = pairing
        if self._latest is not None:
            self._latest.draw(pairing)
        if pairing.second is None:
            self._decide(Result(pairing, BYE, played=False))
        else:
            self.open[pairing.number] = pairing

    def _conclude(self, fact: Concluded) -> None:
        if fact.match in self.matches:
            raise ValueError(f"{fact.match} has been concluded before")
        self.matches[fact.match] = fact
        self._whole.append(fact.match)
        if len(self._whole) > WHOLE:
            old = self._whole.popleft()
            self.matches[old] = _abridged(self.matches[old], self.drawn)
        if fact.ending is Ending.VOID and fact.why == NOBODY:
            self._missed[fact.pairing] = True
        self.own_options.pop(fact.match, None)
        if self.dealt.pop(fact.match, None) is None:  # forfeited without having begun
            self.open.pop(fact.pairing, None)
            self._attempts[fact.pairing] = self._attempts.get(fact.pairing, 0) + 1
        if fact.score is None:
            self._reopen(fact.pairing)
        else:
            self._counted[fact.pairing] = fact.match
            pairing = self.drawn[fact.pairing]
            self._decide(Result(pairing, fact.score, bool(fact.moves), moves_digest(fact.moves)))

    def _decide(self, result: Result) -> None:
        self._results[result.pairing.number] = result
        if self._latest is not None:
            self._latest.decide(result)

    def _reopen(self, number: int) -> None:
        """A pairing has to be played again; where nothing is, it has come to nothing."""
        if self.format.endless:
            self._decide(Result(self.drawn[number], NOTHING, played=False))
        else:
            self.open = dict(sorted((self.open | {number: self.drawn[number]}).items()))

    def _remove(self, name: str) -> None:
        self.entrants[name] = structs.replace(self.entrants[name], gone=True)

    def after(self, *facts: AnyFact) -> "Record":
        """What would be known after those facts as well; this record stays as it is."""
        preview = copy(self)
        for field, value in vars(self).items():
            if isinstance(value, dict | deque | Latest):
                setattr(preview, field, copy(value))  # pyright: ignore[reportUnknownArgumentType]
        for fact in facts:
            preview.add(fact)
        return preview

    def _still(self) -> "Record":
        """As it is now; it shows itself."""
        still = self.after()
        still.frozen = still
        return still

    # What follows from it

    @property
    def public(self) -> "Record":
        """The record from which everybody except its organiser is shown the standings."""
        return self.frozen or self

    def results(self) -> list[Result]:
        """What has been decided, in the order of its being so."""
        return list(self._results.values())

    def past(self) -> tuple[Sequence[Pairing], Sequence[Result]]:
        """What a format is told: all that was drawn and decided, or of a format without an end the latest."""
        if self._latest is not None:
            return self._latest, self._latest.results
        return list(self.drawn.values()), self.results()

    def adjusted(self) -> list[Result]:
        """What the standings are made of: what withdrawals and disqualifications have left of it."""
        decided = [
            result for number, result in self._results.items() if number in self._counted or _bye(result)
        ]
        return adjusted(decided, self.annulled, self.disqualified)

    def standings(self) -> list[Row]:
        return standings(list(self.entrants.values()), self.adjusted(), self.format.order)

    def options(self, fact: Dealt | Concluded) -> Mapping[str, Any]:
        """Of the game, in that match."""
        return self.opened.options if fact.options is None else fact.options

    def match_name(self, number: int) -> str:
        """Of the next match of a pairing: `friday-12`, and if it has to be played again `friday-12.2`."""
        attempt = self._attempts.get(number, 0) + 1
        return f"{self.name}-{number}" if attempt == 1 else f"{self.name}-{number}.{attempt}"

    def missed(self, number: int) -> bool:
        """Whether neither player was there when a pairing was due before: that is forgiven once."""
        return number in self._missed


def _abridged(fact: Concluded, drawn: Mapping[int, Pairing]) -> Abridged:
    """What is the same in many matches is there once: a record that was read from a store is no larger."""
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
        length=fact.plies,
    )


def _bye(result: Result) -> bool:
    return result.pairing.second is None


def fold(kept: Iterable[Kept]) -> dict[str, Record]:
    """Every tournament there is, by name."""
    records: dict[str, Record] = {}
    for entry in kept:
        if entry.tournament == HOST:
            continue
        if entry.tournament in records:
            records[entry.tournament].add(entry.fact)
        elif isinstance(entry.fact, Opened):
            records[entry.tournament] = Record(entry.tournament, entry.fact)
        else:
            raise ValueError(f"{entry.tournament} has facts from before it was opened")
    return records
