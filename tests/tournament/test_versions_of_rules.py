"""The same results give the same draws and tables for as long as the rules say that they are of one version.

An export names the versions, by which `quintain verify` tells other rules from a mistake, and a host shows
tables that it has kept if they are of its own version. Whoever changes what is drawn raises `Format.rules`,
and for what a table says `tournament.standings.RULES`. Then the digests here are replaced.
"""

from collections.abc import Iterator
from hashlib import sha256
from random import Random

import pytest

from tests.tournament.holding import Held, field, toss
from tournament.format import Aim, Format, Terms, formats
from tournament.standings import RULES, standings

ENDING = {name: found for name, found in formats().items() if not found.endless}
COUNTS = (2, 3, 5, 8, 13)

DRAWS = {
    "decide": (6, "780c63840a2527ce"),
    "double-round-robin": (1, "8f4b8062b6ce0a4e"),
    "gauntlet": (1, "5b55d523eb85b9ba"),
    "knockout": (1, "93ac32f538d88527"),
    "round-robin": (1, "1c0b4210255fe305"),
    "swiss": (3, "b3bf9808de8b7f16"),
}
TABLES = {
    "decide": (8, "4fde4b642387bab0"),
    "double-round-robin": (8, "9d39224674343d5a"),
    "gauntlet": (8, "4dc155904707238a"),
    "knockout": (8, "8b1a2d3cc9134b38"),
    "ladder": (8, "4d1859c0deaeb3c9"),
    "open": (8, "4d1859c0deaeb3c9"),
    "round-robin": (8, "ecdc3311842e6ed9"),
    "swiss": (8, "76b023a03b112648"),
}


def tournaments(format: Format) -> Iterator[Held]:
    """Some in which entrants come late and leave early."""
    for count in COUNTS:
        random = Random(count)
        terms = Terms(seed=count, aim=Aim(games=40))
        yield Held(format, field(count), terms).hold(random, toss(random), leave=0.02, late=1)


def digest(found: object) -> str:
    return sha256(repr(found).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", ENDING)
def test_what_a_version_of_a_format_draws_stays_as_it_is(name: str) -> None:
    """Catches honest exports that `quintain verify` calls wrong, after a format draws otherwise."""
    drawn = [[(each.round, *each.names) for each in held.drawn] for held in tournaments(ENDING[name])]
    assert (ENDING[name].rules, digest(drawn)) == DRAWS.get(name)


@pytest.mark.parametrize("name", formats())
def test_what_a_version_of_the_criteria_says_stays_as_it_is(name: str) -> None:
    """Catches the same after another criterion, and a host that shows tables which it kept before."""
    tables = [
        [
            (row.rank, row.name, *(round(value, 2) + 0.0 for value in row.tie_breaks))
            for row in standings(held.entrants, held.results, formats()[name].order)
        ]
        for held in tournaments(ENDING.get(name, ENDING["round-robin"]))
    ]
    assert (RULES, digest(tables)) == TABLES.get(name)
