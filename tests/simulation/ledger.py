"""The facts of one tournament, added up a second time and on their own.

A `Ledger` shares with `tournament/record.py` the facts and nothing else.
"""

from collections import Counter
from collections.abc import Sequence, Set
from math import inf

from games.catalogue import catalogue
from tests.simulation.plan import Contest
from tournament.events import Ending
from tournament.facts import (
    AnyFact,
    Concluded,
    Dealt,
    Disqualified,
    Drew,
    Entered,
    Opened,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import Pairing, formats

SEATS = 2
TURNS = {
    (State.REGISTERING, State.RUNNING),
    (State.RUNNING, State.PAUSED),
    (State.PAUSED, State.RUNNING),
    (State.RUNNING, State.FINISHED),
}


class Ledger:
    """The facts of one tournament, in their order, and what is wrong with that order."""

    def __init__(self, contest: Contest, facts: Sequence[AnyFact], honest: Set[str]) -> None:
        self.wrong: list[str] = []
        self.entrants: list[str] = []
        self.drawn: dict[int, Pairing] = {}
        self.counting: dict[int, Concluded] = {}  # of each pairing, the match that counts
        self.concluded: dict[str, Concluded] = {}
        self.voided: set[str] = set()
        self.annulled: set[str] = set()
        self.disqualified: set[str] = set()
        self.gone: set[str] = set()
        self.late: set[str] = set()
        self._contest = contest
        self._honest = honest
        self.endless = formats()[contest.format].endless
        self._state = State.REGISTERING
        self._playing: dict[str, Pairing] = {}
        self._attempts = Counter[int]()
        self._reopened = False
        for fact in facts:
            self._add(fact)
        if self._state is not State.FINISHED:
            self.wrong.append(f"it is {self._state}")
        if self._playing:
            self.wrong.append(f"begun and never concluded: {sorted(self._playing)}")

    def _add(self, fact: AnyFact) -> None:
        ended = self._state is State.FINISHED and isinstance(fact, Concluded | Entered)
        if ended or (self._state is not State.RUNNING and isinstance(fact, Drew | Dealt)):
            self.wrong.append(f"while it was {self._state}: {fact}")
        match fact:
            case Opened():
                self._opened = fact
            case Entered(name=name):
                self.entrants.append(name)
                if self._state is not State.REGISTERING:
                    self.late.add(name)
            case Turned(state=state):
                again = (self._state, state) == (State.FINISHED, State.RUNNING) and self._reopened
                ended = (self._state, state) == (State.PAUSED, State.FINISHED) and self.endless
                if (self._state, state) not in TURNS and not again and not ended:
                    self.wrong.append(f"from {self._state} to {state}")
                self._state = state
            case Drew(pairings=pairings):
                for pairing in pairings:
                    if pairing.number != len(self.drawn) + 1:
                        self.wrong.append(f"pairing {pairing.number} came after {len(self.drawn)}")
                    self.drawn[pairing.number] = pairing
            case Dealt(match=match, pairing=number):
                self._deal(match, self.drawn[number])
            case Concluded():
                self._conclude(fact)
            case Withdrew(name=name, annulled=annulled):
                self.gone.add(name)
                self.annulled |= {name} if annulled else set()
            case Disqualified(name=name):
                self.gone.add(name)
                self.disqualified.add(name)
                self.annulled.discard(name)
            case Voided(match=match):
                self.voided.add(match)
                self._reopened = True
                if self.counting.get(number := self.concluded[match].pairing) is self.concluded[match]:
                    del self.counting[number]

    def _deal(self, match: str, pairing: Pairing) -> None:
        busy = {name for other in self._playing.values() for name in other.names}
        if busy & set(pairing.names):
            self.wrong.append(f"{match} was dealt to somebody who was playing: {sorted(self._playing)}")
        if len(self._playing) >= (self._contest.at_once or inf):
            self.wrong.append(f"{match} was one more than {self._contest.at_once} at once")
        if pairing.number in self.counting:
            self.wrong.append(f"{match} was dealt, and its pairing had been decided")
        self._playing[match] = pairing
        self._named(match, pairing.number)

    def _conclude(self, fact: Concluded) -> None:
        if fact.match in self.concluded:
            self.wrong.append(f"{fact.match} was concluded twice")
        if self._playing.pop(fact.match, None) is None:
            self._named(fact.match, fact.pairing)
            if fact.moves:
                self.wrong.append(f"{fact.match} has moves and was never dealt")
        self.concluded[fact.match] = fact
        if fact.players != self.drawn[fact.pairing].names:
            self.wrong.append(f"{fact.match} was {fact.players}, drawn as {self.drawn[fact.pairing].names}")
        value = worth(fact)
        if not {*fact.players} <= {*self.entrants}:  # somebody is not in the table, and enters it by moving
            if value is not None and len(moved(fact, self._opened)) == SEATS:
                self.wrong.append(f"{fact.match} counts for nobody, and both had moved: {fact}")
            value = None
        if fact.score != value:
            self.wrong.append(f"{fact.match} is worth {value}, not {fact.score}: {fact}")
        if fact.score is not None:
            if fact.pairing in self.counting:
                self.wrong.append(f"pairing {fact.pairing} counts twice, by {fact.match} too")
            self.counting[fact.pairing] = fact
            for name, score in zip(fact.players, fact.score, strict=True):
                if score < 1 and fact.ending is not Ending.PLAYED and name in self._honest - self.gone:
                    self.wrong.append(f"{fact.match} cost the honest {name} a point: {fact}")

    def _named(self, match: str, number: int) -> None:
        """The first match of a pairing has its number, and so has the second with a 2 after it."""
        self._attempts[number] += 1
        attempt = "" if self._attempts[number] == 1 else f".{self._attempts[number]}"
        if match != f"{self._contest.name}-{number}{attempt}":
            self.wrong.append(f"{match} is no name for try {self._attempts[number]} of pairing {number}")

    def accounts(self) -> dict[str, Counter[str]]:
        """Of each entrant, twice its points and its wins, draws and losses: by what counts in the end."""
        accounts = {name: Counter[str]() for name in self.entrants}
        for number, pairing in self.drawn.items():
            names = pairing.names
            if self.annulled.intersection(names) or (number not in self.counting and len(names) == 2):
                continue
            out = self.disqualified.intersection(names)
            if len(names) == 1:
                accounts[names[0]]["halves"] += 0 if out else 2
                continue
            score = self.counting[number].score or (0, 0)
            for name, own in zip(names, score, strict=True):
                own = (0 if name in out else 1) if out else own
                accounts[name]["halves"] += int(2 * own)
                accounts[name][{1: "wins", 0.5: "draws", 0: "losses"}[own]] += 1
        return accounts


def moved(fact: Concluded, opened: Opened) -> set[int]:
    """The seats that moved."""
    game = catalogue()[opened.game]
    position, seats = game.opening(fact.options or opened.options), set[int]()
    for move in fact.moves:
        seats.add(position.turn)
        position = position.play(game.read(move, position))
    return seats


def worth(fact: Concluded) -> tuple[float, float] | None:
    if fact.ending is Ending.VOID:
        return None
    if fact.winner is None:
        return (0.5, 0.5) if fact.ending is Ending.PLAYED else (0.0, 0.0)
    return (1.0, 0.0) if fact.winner == 0 else (0.0, 1.0)
