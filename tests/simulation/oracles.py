"""What has to hold of a tournament that is over, and one thing that has to hold meanwhile.

Each oracle returns what is wrong, in sentences; nothing if all is as it should be.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any

from games.game import Game, Illegal, Pace
from tests.simulation.ledger import Ledger
from tests.simulation.plan import Contest
from tests.simulation.sheet import EXACT
from tournament.events import Ending
from tournament.facts import Concluded, State
from tournament.format import Pairing
from tournament.lobby import Lobby
from tournament.record import LATEST, Record
from tournament.tournament import Tournament

Options = Mapping[str, object]
Sides = Counter[tuple[str, str | None]]  # how often the first met the second


def added_up(ledger: Ledger, live: Record, kept: Record) -> Iterator[str]:
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
    known, all_of_it = dict(live.results.came_to), dict(kept.results.came_to)
    if known != {number: result for number, result in all_of_it.items() if number in known}:
        yield f"what is known differs from what is kept: {known} from {all_of_it}"
    if len(known) != len(all_of_it) and not (live.format.endless and len(known) == LATEST):
        yield f"{len(known)} of {len(all_of_it)} results are known"
    if live.standings() != kept.standings():
        yield f"the standings differ from what is kept: {live.standings()} from {kept.standings()}"


def complete(ledger: Ledger, contest: Contest) -> Iterator[str]:
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


def replayed(ledger: Ledger, game: Game[Any, Any], options: Options, pace: Pace) -> Iterator[str]:
    """Whether the moves lead to the end that is recorded, and nobody had more time than there was."""
    for fact in ledger.concluded.values():
        yield from _replayed(fact, game, options if fact.options is None else fact.options, pace)


def _replayed(fact: Concluded, game: Game[Any, Any], options: Options, pace: Pace) -> Iterator[str]:
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
        entrants = list(record.entrants.values())
        if could := record.format.draw(entrants, *record.past(), record.opened.terms):
            yield f"nobody draws {could}"


def twice_running(record: Record, pairings: Sequence[Pairing], lobby: Lobby) -> Iterator[str]:
    """Of a ladder, asked as it is drawn: whether two meet again at once while somebody else is there."""
    game = record.opened.game
    players = [
        lobby.find(name, game, record.name) for name, entrant in record.entrants.items() if not entrant.gone
    ]
    if sum(player is not None and player.present for player in players) > 2:
        last = {name: pairing for pairing in record.drawn.values() for name in pairing.names}
        for pairing in pairings:
            if any(name in last and {*last[name].names} == {*pairing.names} for name in pairing.names):
                yield f"{pairing} are the same as before"


def voided(ledger: Ledger, matches: Collection[str]) -> Iterator[str]:
    """Whether what the organiser has had voided counts for nothing."""
    for match in matches:
        fact = ledger.concluded.get(match)
        if fact is None or (fact.score is not None and match not in ledger.voided):
            yield f"{match} was voided and counts: {fact}"
