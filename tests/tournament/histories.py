"""Whole lives of tournaments as facts, made up: what records are tried on."""

from random import Random

from tournament.events import NOBODY, Ending
from tournament.facts import (
    AnyFact,
    Claimed,
    Concluded,
    Dealt,
    Disqualified,
    Drew,
    Entered,
    Froze,
    Opened,
    Seated,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import Pairing
from tournament.record import Record

NAMES = tuple("abcdefgh")
SCORES = {0: (1.0, 0.0), 1: (0.0, 1.0), None: (0.5, 0.5)}


def history(
    format: str, random: Random, steps: int, *, expelled: bool = True
) -> tuple[Opened, list[AnyFact]]:
    """What happened to a tournament."""
    opened = Opened("tic-tac-toe", format)
    record = Record("cup", opened)
    facts: list[AnyFact] = [*map(Entered, NAMES), Turned(State.RUNNING)]
    for fact in facts:
        record.add(fact)
    for _ in range(steps):
        fact = _next(record, random, expelled)
        record.add(fact)
        facts.append(fact)
    return opened, facts


def _next(record: Record, random: Random, expelled: bool) -> AnyFact:
    chosen, name = random.random(), random.choice(NAMES)
    if chosen < 0.35 and record.dealt:
        return _concluded(record, random, *random.choice([*record.dealt.items()]), random.randint(0, 9))
    if chosen < 0.4 and record.open:
        number = random.choice([*record.open])
        return _concluded(record, random, record.match_name(number), number, 0)
    if chosen < 0.75 and record.open:
        number = random.choice([*record.open])
        own = random.choice((None, None, {"rows": 4}))
        return Dealt(record.match_name(number), number, own, random.choice((None, ("ab", "cd"))))
    if chosen < 0.78 and (counting := _counting(record)):
        match = random.choice(counting)
        return Voided(match.match, "a cable", match.players, match.score)
    if chosen < 0.8:
        return Froze(record.frozen is None)
    if chosen < 0.82:
        return random.choice((Claimed(name, "ab" * 32, True), Seated(name, "tcp", "192.0.2.1")))
    if chosen < 0.83 and expelled and name not in record.out:
        withdrew = Withdrew(name, record.format.annuls and random.random() < 0.5)
        return random.choice((withdrew, Disqualified(name, "two bots in one")))
    number = len(record.drawn) + 1
    pairs = [random.sample(NAMES, 2) for _ in range(random.randint(1, 3))]
    return Drew(tuple(Pairing(more, number, *pair) for more, pair in enumerate(pairs, number)))


def _counting(record: Record) -> list[Concluded]:
    return [each for each in record.matches.values() if each.score and each.match not in record.voided]


def _concluded(record: Record, random: Random, match: str, number: int, plies: int) -> Concluded:
    players = record.drawn[number].first, record.drawn[number].second or ""
    options = record.own_options.get(match)
    if random.random() < 0.2:
        why = random.choice((NOBODY, "the host stopped"))
        return Concluded(
            match, number, players, None, Ending.VOID, why, None, options=options, ended=number + 0.5
        )
    winner = random.choice((0, 1, None))
    score = (0.0, 0.0) if random.random() < 0.1 else SCORES[winner]
    moves, times = tuple(random.randrange(9) for _ in range(plies)), (0.5,) * plies
    began, ended = float(number), number + plies / 2
    return Concluded(
        match, number, players, winner, Ending.PLAYED, "so", score, moves, times, options, began, ended
    )
