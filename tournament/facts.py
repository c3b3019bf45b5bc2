"""Facts: each thing that happened to a tournament, or that somebody decided about it, as a store keeps it.

They are what is written down, in order; what they add up to is a `Record` (`record.py`).
A fact has the same letters for ever: what is added to one later is written only where it says something.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from games.game import Pace
from tournament.causes import Cause
from tournament.events import Ending, Fault
from tournament.format import Pairing, Score, Terms
from tournament.kinds import BOTS, Kinds
from tournament.notes import Notes


class State(StrEnum):
    REGISTERING = "registering"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    DELETED = "deleted"  # by an organiser, and shown to nobody: its name is free again


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
    # The most that it takes, with which it starts by itself where no time is set; None: as many as come
    entrants: int | None = None
    terms: Terms = Terms()
    options: Mapping[str, Any] = {}  # of the game
    pace: Pace | None = None  # None: the game's own
    # What is not set is not written, so journals from before these fields have the same letters as ever.
    absent: Absent | UnsetType = UNSET  # UNSET: "wait"
    start_at: float | UnsetType = UNSET  # wall time at which it starts by itself
    group: str | UnsetType = UNSET  # the name that it shares with others that belong together
    rounds_at: tuple[float, ...] | UnsetType = UNSET  # wall times before which rounds do not begin
    round_every: float | UnsetType = UNSET  # seconds from the start of one round to that of the next
    check_in: float | UnsetType = UNSET  # seconds before its start from which entrants check in
    by_invitation: bool | UnsetType = UNSET  # True: it takes only bots that an organiser lets in

    @property
    def settles(self) -> bool:
        """Whether an entrant that stays away loses its matches without being waited for each time."""
        return self.absent == "settle"

    @property
    def start(self) -> float | None:
        """The wall time at which it starts by itself; where none is given, that of the first round."""
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
    """The tournament changed its state."""

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
    """To whom an entrant belongs, as an organiser says. The last such fact counts."""

    name: str
    affiliation: str = ""  # for everybody to see
    contact: str = ""  # nobody but the organiser sees it


class Dealt(Fact, frozen=True, tag="dealt"):
    """A match is about to begin. Without a `Concluded` of that name, it goes on or was cut short."""

    match: str
    pairing: int
    options: Mapping[str, Any] | None = None  # of the game; None: the tournament's own
    keys: tuple[str, str] | None = None  # digests of what both come back with; None: at least one cannot
    # How their dialects find both again, in the dialects' words. "" here is a player that comes back by its
    # key alone, and "" there one that comes back in this way alone. "?" is before a key that it may not have.
    ways_back: tuple[str, str] | UnsetType = UNSET
    at: float | UnsetType = UNSET  # wall time

    @property
    def when(self) -> float | None:
        """The wall time at which it was dealt; None in facts from before that was kept."""
        return None if self.at is UNSET else self.at


class Concluded(Fact, frozen=True, tag="concluded", omit_defaults=True):
    """A match is over. There is one such fact for each name, and it never changes.

    Fields with a factory are always written, the others only where they say something. So older
    facts keep the letters that they had before the latter fields existed.
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
    began: float | None = None  # wall time, as all of these: when it was dealt; None: not known
    ended: float | None = None
    fault: Fault | None = None  # whose fault it is that it was not played; None: nobody's, or not known
    cause: tuple[Cause, ...] = ()  # what led to the end, oldest first
    thought: Sides = UNKNOWN  # seconds that the bots say they spent …
    network: Sides = UNKNOWN  # … and by how much longer their moves took
    versions: tuple[str | None, str | None] = UNSAID  # of the bots, if they say so
    kinds: Kinds = BOTS  # of the players
    notes: Notes = ()  # that the bots made of their moves

    @property
    def plies(self) -> int:
        return len(self.moves)


class EndedEarly(Fact, frozen=True, tag="ended-early"):
    """An organiser ends it with what was played: nothing more is drawn or begins, and nothing is replayed.

    What is being played goes on; then the tournament is over.
    """


class Withdrew(Fact, frozen=True, tag="withdrew"):
    name: str
    annulled: bool  # what it has played no longer counts


class Disqualified(Fact, frozen=True, tag="disqualified"):
    name: str
    why: str


class Voided(Fact, frozen=True, tag="voided", omit_defaults=True):
    """A match that was played no longer counts and is played again."""

    match: str
    why: str
    players: tuple[str, str] | None = None  # whose it was …
    score: Score | None = None  # … and its score, for a record that has forgotten it
    at: float | None = None  # wall time; None: not known


class Claimed(Fact, frozen=True, tag="claimed"):
    """A name belongs to the bot that has the token with this digest. The last claim counts."""

    name: str
    digest: str  # SHA-256, in hexadecimal
    invited: bool = False  # by an organiser, before it has come


class Seated(Fact, frozen=True, tag="seated"):
    """Until the tournament is over, a name belongs to the bot that came by this door from this address.

    It came without a token. The last such fact counts. Nobody but the organiser is shown the address.
    """

    name: str
    door: str
    address: str


class Released(Fact, frozen=True, tag="released"):
    """An organiser released a name: it belongs to whichever bot comes next under it."""

    name: str


class Called(Fact, frozen=True, tag="called", omit_defaults=True):
    """An entrant is called to its matches, at an address that somebody gave. The last such fact counts.

    Nobody but the organiser is shown any of it.
    """

    name: str
    url: str = ""  # "": it is not called any more
    digest: str = ""  # of the token that it was given, which it may not have
    address: str = ""  # of whoever gave the address …
    from_here: bool = False  # … and whether that was on the host's machine


class Froze(Fact, frozen=True, tag="froze"):
    """From now on the public sees the standings as they are now; or, if not `on`, as they change."""

    on: bool


class Ordered(Fact, frozen=True, tag="ordered"):
    """An organiser ordered something; this is kept together with the facts that came of it."""

    by: str
    action: str
    detail: str = ""


class Sealed(Fact, frozen=True, tag="sealed"):
    """The host has chosen a seed for the drawing of lots, and says only this of it until the draw."""

    commitment: str  # SHA-256 of the seed, a space and a salt, in hexadecimal


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
    | Called
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
    | EndedEarly
)
AnyFact = SmallFact | Drew
HOST = ""  # in place of a tournament's name, for orders to the host itself


def played_out(fact: Concluded) -> bool:
    """Whether a match says anything about strength: nobody lost it on time or by absence before moving.

    In every game, the second seat is to move after one move.
    """
    unmoved = fact.winner == 0 and fact.plies < 2 and fact.ending in (Ending.TIME, Ending.LEFT)
    return fact.plies > 0 and not unmoved
