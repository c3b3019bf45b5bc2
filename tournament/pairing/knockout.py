"""Knockout: whoever loses is out.

A round is drawn when the one before it is decided. The first round, as it was
drawn, decides everybody's place in the bracket, so nobody can join later. The place
of an entrant that has gone stays empty, and whoever would have met it has a bye.

A drawn match is played again, at once and with sides swapped. If that is drawn
too, or if both have lost, the better seed goes through.
"""

from collections.abc import Collection, Mapping, Sequence

from tournament.format import Entrant, Format, Pairing, Result, Score, Terms
from tournament.pairing.drawing import Meeting, Sides, here, last_round, lots, numbered, seeded, unfinished

MATCHES = 2  # at most, that the same two play in a round, one on either side; then their seeds decide

Contest = list[Pairing]  # the pairings of the same two in a round; empty where nobody is left


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    if not drawn:
        return numbered(drawn, [meetings(bracket(seeded(here(entrants), entrants)), Sides(), terms)], 1)
    names, round = frozenset(here(entrants)), last_round(drawn)
    contests = bracketed(drawn, round)
    scores = {result.pairing.number: result.score for result in results}
    played = [contest for contest in contests if contest and contest[-1].number in scores]
    drew = [contest[-1] for contest in played if undecided(contest, scores[contest[-1].number], names)]
    if drew:
        again = [(last.second, last.first) for last in drew if last.second is not None]
        return numbered(drawn, [again], round)
    if unfinished(drawn, results) or len(contests) == 1:
        return []
    seeds = seeds_of(entrants)
    winners = [winner(contest, scores, names, seeds) if contest else None for contest in contests]
    slots = [name if name in names else None for name in winners]
    return numbered(drawn, [meetings(slots, Sides(drawn), terms)], round + 1)


def seeds_of(entrants: Sequence[Entrant]) -> Mapping[str, int]:
    """By name, how many entrants are seeded before it."""
    names = seeded((entrant.name for entrant in entrants), entrants)
    return {name: place for place, name in enumerate(names)}


def bracket(seeds: Sequence[str]) -> list[str | None]:
    """Places in which the two best can only meet in the last round, the four best in the last two …"""
    order = [0]
    while len(order) < len(seeds):
        order = [seed for better in order for seed in (better, 2 * len(order) - 1 - better)]
    return [seeds[seed] if seed < len(seeds) else None for seed in order]


def meetings(slots: Sequence[str | None], sides: Sides, terms: Terms) -> list[Meeting]:
    """The meetings of a round: neighbours meet; whoever has none has a bye."""
    found: list[Meeting] = []
    for pair in zip(slots[::2], slots[1::2], strict=False):  # a single slot has won
        match lots((name for name in pair if name is not None), terms.seed):
            case [one, other]:
                found.append(sides.fair(one, other))
            case [one]:
                found.append((one, None))
            case _:
                pass
    return found


def bracketed(drawn: Sequence[Pairing], round: int) -> list[Contest]:
    """The contests of a round in the order of the bracket, which the first round gives."""
    places: dict[str, int] = {}
    count = 0
    for pairing in drawn:
        if pairing.round == 1 and pairing.first not in places:
            places |= dict.fromkeys(pairing.names, count)
            count += 1
    contests: list[Contest] = [[] for _ in range(count >> round - 1)]
    for pairing in drawn:
        if pairing.round == round:
            contests[places[pairing.first] >> round - 1].append(pairing)
    return contests


def undecided(contest: Contest, score: Score, names: Collection[str]) -> bool:
    """Whether the contest was drawn, and the two can and may play again."""
    drew = contest[-1].second is not None and score[0] == score[1] > 0
    return drew and len(contest) < MATCHES and all(name in names for name in contest[-1].names)


def winner(
    contest: Contest, scores: Mapping[int, Score], names: Collection[str], seeds: Mapping[str, int]
) -> str:
    """The winner; after a draw, or if both have lost, the better seed of those who have not gone."""
    last = contest[-1]
    first, second = scores[last.number]
    if last.second is None or first > second:
        return last.first
    if second > first:
        return last.second
    left = [name for name in last.names if name in names]
    return min(left or last.names, key=seeds.__getitem__)


def plan(count: int, terms: Terms) -> list[int]:
    """How many matches each round has, if none ends in a draw. Half of the places are left after each."""
    sizes: list[int] = []
    while count > 1:
        left = 1 << (count - 1).bit_length() - 1
        sizes.append(count - left)
        count = left
    return sizes


FORMAT = Format(
    name="knockout",
    eliminates=True,
    title="Knockout",
    draw=draw,
    order=("reached", "direct-encounter"),
    midway=True,
    late=False,
    plan=plan,
)
