"""Double round robin: everybody meets everybody twice, each once first.

The second half goes through the rounds from the last to the first with sides
swapped. So everybody is exactly balanced, and where the two halves join nobody
has the same side twice in a row, as many would if it began with the first round.
"""

from collections.abc import Sequence

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.pairing.drawing import last_round, numbered
from tournament.pairing.round_robin import ORDER, leg, rounds


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    out = leg(entrants, drawn, terms.seed)
    back = [[(second, first) for first, second in meetings] for meetings in reversed(out)]
    return numbered(drawn, out + back, last_round(drawn) + 1)


FORMAT = Format(
    name="double-round-robin",
    title="Double round robin",
    draw=draw,
    order=ORDER,
    annuls=True,
    rounds=lambda count, terms: 2 * rounds(count, terms),
)
