"""FIDE's rules for rounds that were not played, and direct encounter, from a table of rounds: slow and plain.

Written from FIDE's regulations (C.07, articles 6, 8 and 16 as of 2024), and never from the files
in `tournament/`. A cell of the table says what an entrant did in a round, in the words of the regulations.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from tournament.format import Entrant, Result

HALF = Fraction(1, 2)


class Cell(NamedTuple):
    opponent: str | None
    points: Fraction
    category: str  # "played", "bye", "forfeit win", "forfeit loss", "missed" or "open"


Table = Mapping[str, Sequence[Cell]]


def rounds_of(entrants: Sequence[Entrant], results: Sequence[Result]) -> Table:
    """Everybody's rounds from the first on; an entrant that has gone, or came late, missed some."""
    last = max((result.pairing.round for result in results), default=0)
    found: dict[str, list[Cell]] = {}
    for entrant in entrants:
        cells = [_cell(entrant.name, round, results) for round in range(1, last + 1)]
        there = [round for round, cell in enumerate(cells) if cell.category != "open"]
        found[entrant.name] = [
            cell._replace(category="missed")
            if cell.category == "open" and (entrant.gone or any(round < each for each in there))
            else cell
            for round, cell in enumerate(cells)
        ]
    return found


def _cell(name: str, round: int, results: Sequence[Result]) -> Cell:
    for result in results:
        names = result.pairing.names
        if result.pairing.round == round and name in names:
            points = Fraction(result.score[names.index(name)])
            if len(names) == 1:
                return Cell(None, points, "bye")
            other = names[1 - names.index(name)]
            forfeit = "forfeit win" if points else "forfeit loss"
            return Cell(other, points, "played" if result.played else forfeit)
    return Cell(None, Fraction(0), "open")


def score(table: Table, name: str) -> Fraction:
    return sum((cell.points for cell in table[name]), Fraction(0))


def adjusted_score(table: Table, name: str) -> Fraction:
    """16.3: rounds that were missed, with nothing but missed and forfeited ones after them, are draws."""
    cells = list(table[name])
    total = Fraction(0)
    while cells and cells[-1].category in ("missed", "forfeit loss"):
        total += HALF if cells.pop().category == "missed" else 0
    return total + sum((cell.points for cell in cells), Fraction(0))


def buchholz(table: Table, name: str, cut: int = 0) -> Fraction:
    """8.1, 16.4 and 16.5: of what is cut, rounds that the entrant missed of its own will come first."""
    faced = [
        adjusted_score(table, cell.opponent)
        if cell.category == "played" and cell.opponent is not None
        else score(table, name)
        for cell in table[name]
        if cell.category != "open"
    ]
    own_will = [
        cell.category in ("missed", "forfeit loss") for cell in table[name] if cell.category != "open"
    ]
    for _ in range(min(cut, len(faced))):
        of = [index for index, chosen in enumerate(own_will) if chosen] or range(len(faced))
        least = min(of, key=faced.__getitem__)
        del faced[least], own_will[least]
    return sum(faced, Fraction(0))


def direct_encounter(tied: Sequence[str], results: Sequence[Result]) -> list[set[str]]:
    """6: those who are tied, in groups, the best first; whoever is still tied is compared again."""
    met = {frozenset(pair): 0 for pair in _pairs(tied)}
    points = dict.fromkeys(tied, Fraction(0))
    for result in results:
        first, second = result.pairing.first, result.pairing.second
        if second is not None and {first, second} <= set(tied):
            met[frozenset((first, second))] += 1
            points[first] += Fraction(result.score[0])
            points[second] += Fraction(result.score[1])
    if len(set(met.values())) != 1 or 0 in met.values() or len(set(points.values())) == 1:
        return [set(tied)]
    groups: list[set[str]] = []
    for value in sorted(set(points.values()), reverse=True):
        groups += direct_encounter([name for name in tied if points[name] == value], results)
    return groups


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(one, other) for index, one in enumerate(names) for other in names[:index]]
