"""What has to hold of the facts that a tournament leaves, worked out from nothing but these.

`Ledger` adds them up a second time and on its own: it shares with
`tournament/record.py` the facts and nothing else.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from math import inf
from typing import Any

from games.game import Game, Illegal, Pace
from tests.simulation.plan import Contest
from tests.simulation.sheet import EXACT
from tournament.events import Ending
from tournament.format import Pairing, formats
from tournament.lobby import Lobby
from tournament.record import (
    AnyFact,
    Concluded,
    Dealt,
    Disqualified,
    Drew,
    Entered,
    Opened,
    Record,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.tournament import Tournament

TURNS = {
    (State.REGISTERING, State.RUNNING),
    (State.RUNNING, State.PAUSED),
    (State.PAUSED, State.RUNNING),
    (State.RUNNING, State.FINISHED),
}


Options = Mapping[str, object]
Sides = Counter[tuple[str, str | None]]  # how often the first met the second


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
                pass
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
        if fact.score != worth(fact):
            self.wrong.append(f"{fact.match} is worth {worth(fact)}, not {fact.score}: {fact}")
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


def worth(fact: Concluded) -> tuple[float, float] | None:
    if fact.ending is Ending.VOID:
        return None
    if fact.winner is None:
        return (0.5, 0.5) if fact.ending is Ending.PLAYED else (0.0, 0.0)
    return (1.0, 0.0) if fact.winner == 0 else (0.0, 1.0)


def check(
    ledger: Ledger, contest: Contest, live: Record, kept: Record, game: Game[Any, Any], options: Options, pace: Pace
) -> Iterator[str]:
    """Everything that is wrong with a tournament that is over; of `kept`, the store's facts were folded."""
    yield from ledger.wrong
    yield from _added_up(ledger, live, kept)
    yield from _complete(ledger, contest)
    for fact in ledger.concluded.values():
        yield from _replayed(fact, game, options, pace)


def _added_up(ledger: Ledger, live: Record, kept: Record) -> Iterator[str]:
    for known in (live, kept):
        rows = known.standings()
        table = {
            row.name: Counter(halves=int(2 * row.points), wins=row.wins, draws=row.draws, losses=row.losses)
            for row in rows
        }
        if table != ledger.accounts():
            yield f"the table says {table}, the facts {ledger.accounts()}"
        by_points = known.format.order[0] == "points"
        for place, (better, worse) in enumerate(pairwise(rows), 2):
            if worse.rank not in (better.rank, place) or (by_points and worse.points > better.points):
                yield f"{worse} comes after {better}"
    if live.results() != kept.results() or live.standings() != kept.standings():
        yield f"what is known differs from what is kept: {live.results()} from {kept.results()}"


def _complete(ledger: Ledger, contest: Contest) -> Iterator[str]:
    """Whether the format's pairings are there, each decided."""
    drawn = [pairing for pairing in ledger.drawn.values() if pairing.second is not None]
    if undecided := [p for p in drawn if p.number not in ledger.counting and not ledger.endless]:
        yield f"nothing came of {undecided}"
    sides = Counter((pairing.first, pairing.second) for pairing in drawn)
    steady = not ledger.gone
    balance = Counter[str]()
    for (first, second), times in sides.items():
        balance[first] += times
        balance[str(second)] -= times
    worst = max(map(abs, balance.values()), default=0)
    match contest.format:
        case "round-robin":
            yield from _met(ledger, sides, ledger.entrants, 1)
            if steady and worst > 1:
                yield f"sides are out of balance: {balance}"
        case "double-round-robin":
            yield from _met(ledger, sides, ledger.entrants, 2)
            if steady and (worst or any(times > 1 for times in sides.values())):
                yield f"sides are out of balance: {balance}"
        case "gauntlet":
            rounds = contest.terms.rounds or 2
            one = next(name for name in ledger.entrants if not drawn or name in drawn[0].names)
            yield from _met(ledger, sides, [one], rounds)
            if any(one not in pair for pair in sides) or (steady and abs(balance[one]) > 1):
                yield f"this is no gauntlet of {one}: {sides}"
        case "swiss":
            yield from _swiss(ledger, contest, sides)
        case "knockout":
            yield from _knockout(ledger)
        case _:
            pass


def _met(ledger: Ledger, sides: Sides, ones: Sequence[str], times: int) -> Iterator[str]:
    """Each of the ones has met everybody so often, where neither of the two has gone."""
    for one in ones:
        for other in ledger.entrants:
            met = sides[one, other] + sides[other, one]
            gone = ledger.gone & {one, other}
            if one != other and (met > times if gone else met != times):
                yield f"{one} and {other} were drawn {met} times instead of {times}"


def _rounds(ledger: Ledger) -> list[list[Pairing]]:
    rounds: dict[int, list[Pairing]] = {}
    for pairing in ledger.drawn.values():
        rounds.setdefault(pairing.round, []).append(pairing)
    return list(rounds.values())


def _swiss(ledger: Ledger, contest: Contest, sides: Sides) -> Iterator[str]:
    rounds, count = _rounds(ledger), len(ledger.entrants)
    for pairings in rounds:
        names = Counter(name for pairing in pairings for name in pairing.names)
        if max(names.values()) > 1 or sum(pairing.second is None for pairing in pairings) > 1:
            yield f"somebody has two places in a round: {pairings}"
        if absent := set(ledger.entrants) - set(names) - ledger.gone - ledger.late:
            yield f"{absent} have no place in a round: {pairings}"
    if ledger.gone or ledger.late:
        return
    if contest.terms.rounds not in (None, len(rounds)):
        yield f"there were {len(rounds)} rounds and not {contest.terms.rounds}"
    again = [pair for pair in sides if sides[pair] + sides[pair[1], pair[0]] > 1]
    if again and count % 2 == 0 and 2 * len(rounds) <= count:  # a round without a rematch can always be found
        yield f"these met again: {again}"


def _knockout(ledger: Ledger) -> Iterator[str]:
    rounds = _rounds(ledger)
    for pairings, following in zip(rounds, [*rounds[1:], []], strict=True):
        last = {frozenset(pairing.names): pairing for pairing in pairings}
        goes_on = {name for pairing in following for name in pairing.names}
        if stray := goes_on - {name for pair in last for name in pair}:
            yield f"{stray} are back after they were out: {following}"
        if not following and len(last) > 1 and not ledger.gone:
            yield f"it ended with {pairings}"
        for pair, pairing in last.items() if following else ():
            on = pair & goes_on
            if len(on) > 1 or not (on or pair & ledger.gone):
                yield f"of {set(pair)} {set(on)} went on to {following}"
            fact = ledger.counting.get(pairing.number)
            if fact and fact.winner is not None and not ledger.voided and fact.players[1 - fact.winner] in on:
                yield f"the loser of {fact} went on"


def _replayed(fact: Concluded, game: Game[Any, Any], options: Options, pace: Pace) -> Iterator[str]:
    """Whether the moves lead to the end that is recorded, and nobody had more time than there was."""
    position = game.opening(options)
    banks = [inf if pace.bank is None else pace.bank] * 2
    if len(fact.times) != len(fact.moves):
        yield f"{fact.match} has {len(fact.moves)} moves and {len(fact.times)} times"
    for move, spent in zip(fact.moves, fact.times, strict=False):
        seat = position.turn
        if not 0 <= spent <= min(banks[seat], inf if pace.turn is None else pace.turn) + EXACT:
            yield f"{fact.match}: {spent} s were spent of {banks[seat]} and {pace.turn}"
        banks[seat] = max(0.0, banks[seat] - spent) + pace.gain
        try:
            position = position.play(game.read(move, position))
        except Illegal as refusal:
            yield f"{fact.match}: {move} cannot be played again: {refusal}"
            return
    outcome, limited = position.outcome, len(fact.moves) == game.ply_limit
    if fact.ending is Ending.PLAYED:
        if (outcome is None and not limited) or (outcome.winner if outcome else None) != fact.winner:
            yield f"{fact.match} was {outcome} when played again: {fact}"
    elif outcome is not None:
        yield f"{fact.match} was over by the rules: {outcome}, {fact}"


def idle(tournament: Tournament, at_once: int | None, lobby: Lobby) -> Iterator[str]:
    """Asked when nothing moves: whether somebody could play and is not dealt anything."""
    record = tournament.record
    if record.state is not State.RUNNING or len(tournament.matches) >= (at_once or inf):
        return
    for pairing in record.open.values():
        players = [lobby.find(name, tournament.game.name) for name in pairing.names]
        if all(player is not None and player.idle for player in players):
            yield f"nobody deals {pairing}"
    if not record.format.endless:
        entrants, drawn = list(record.entrants.values()), list(record.drawn.values())
        if could := record.format.draw(entrants, drawn, record.results(), record.opened.terms):
            yield f"nobody draws {could}"
