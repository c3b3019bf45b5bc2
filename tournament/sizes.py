"""How large a new tournament may be, all in one place.

The numbers are far beyond what anybody has held, but a host can carry them: what is drawn at
the start is drawn, kept and read in one go, and a million pairings take some seconds and 300 MB. A draw
of a format that decides takes some two seconds at the most. Nothing here bounds open tables, which draw
one match after another for as many names as come.
"""

from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, datetime

from tournament.format import Format, Terms

NAME = 32  # characters of an entrant's name: it stands in tables, in logs and on the wire
GROUP = 64  # characters of the name of a group, which is part of an address
ENTRANTS = 10_000  # a host has been measured with as many connections
AT_ONCE = 2_000_000  # rounds times entrants, where all is drawn at the start: a million pairings
PRICED = 2_000  # entrants, where every meeting of two has a price: a round takes half a minute and 700 MB
DECIDING = 400  # entrants, where places are decided: what is known of all has a cell for each two
SETTLED = 500_000  # entrants times pairs to be settled there: to settle one takes a look at all matches
ROUNDS = 10_000  # also how often the challenger of a gauntlet may meet each opponent
MATCHES = 1_000_000  # in a tournament that stops when its places are decided
SEED = 2**53 - 1  # either way: any program can read such a number from JSON
DAYS = 366
SECONDS = DAYS * 86_400.0  # of a clock, between two rounds, or for checking in
# The wall time of a start or of a round. A thousand rounds a year apart still end before the year 9999, after
# which there are no dates to show.
YEARS = (1970, 2999)
EARLIEST, LATEST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (YEARS[0], YEARS[1] + 1))


def largest(format: Format, terms: Terms) -> int:
    """The most entrants that a tournament of that format can have."""
    if (rounds := format.rounds) is not None:
        return _most(ENTRANTS, AT_ONCE, lambda count: rounds(count, terms) * count)
    if (pairs := format.pairs) is not None:
        return _most(DECIDING, SETTLED, lambda count: pairs(count, terms) * count)
    return PRICED if format.prices else ENTRANTS


def _most(entrants: int, work: int, of: Callable[[int], int]) -> int:
    """The most entrants up to so many for whom there is no more to do than so much."""
    return bisect_left(range(entrants), True, key=lambda count: of(count + 1) > work)
