"""The types of flags and arguments that several commands have, with the checks on them.

Every help page imports this, so it imports only what parses the command line.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, cast

from cyclopts import Parameter, Token, convert
from cyclopts.validators import Number


def _whole(kind: Any, tokens: Sequence[Token]) -> object:
    """The parser's own way rounds: 1.5 would be 2, and 0.4 would be 0."""
    written = tokens[0].value
    try:
        int(written)
    except ValueError:
        raise ValueError(f"expected a whole number, not {written[:100]!r}") from None
    return cast("object", convert(kind, tokens))


Whole = Parameter(converter=_whole)  # for every flag that takes a whole number
Flag = Annotated[bool, Parameter(negative="", show_default=False)]  # there or not: there is no --no-json
File = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input or output
Count = Annotated[int | None, Whole, Parameter(validator=Number(gte=1))]
Entrants = Annotated[int | None, Whole, Parameter(validator=Number(gte=2))]
Seed = Annotated[int | None, Whole]
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]

# How a tournament is opened, for commands that open one, or start a host with one.
Absent = Annotated[
    Literal["wait", "settle"] | None,
    Parameter(
        help="settle, unless set, where the format has an end: a bot that misses two matches in a row loses"
        " the others one by one; wait: each of its matches waits 30 s for it."
    ),
]
StartAt = Annotated[
    str | None,
    Parameter(help="When it starts by itself, such as 2026-03-01T18:00:00Z; UTC unless it says otherwise."),
]
RoundsAt = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        show_default=False,
        help="The earliest time at which a round begins; given once for each round. With the first the"
        " tournament starts, unless --start-at says otherwise.",
    ),
]
RoundEvery = Annotated[
    str | None,
    Parameter(
        help="How long after one round begins the next does, such as 90s, 30m or 1h; it waits for the one"
        " before."
    ),
]
CheckIn = Annotated[
    str | None,
    Parameter(
        help="How long before --start-at entrants check in, such as 15m, by being connected. Whoever has"
        " not checked in is not drawn."
    ),
]
ByInvitation = Annotated[
    bool,
    Parameter(
        negative="",
        show_default=False,
        help="Only bots that you invite or enter by name take part (quintain tournament invite, enter).",
    ),
]
Group = Annotated[str | None, Parameter(help="A name shared by tournaments that belong together.")]
Confidence = Annotated[
    float | None,
    Parameter(
        validator=Number(gte=0.5, lt=1),
        help="For the format decide: how certain the ranking has to be, 0.95 unless set.",
    ),
]
Places = Annotated[
    int | None,
    Whole,
    Parameter(
        validator=Number(gte=0),
        help="For decide: how many places to settle, 1 unless set; 0 for the whole order.",
    ),
]
Within = Annotated[
    float | None,
    Parameter(
        validator=Number(gte=1, lte=1000),
        help="For decide: differences up to this many Elo count as equal, 20 unless set.",
    ),
]
Most = Annotated[
    int | None,
    Whole,
    Parameter(
        validator=Number(gte=1),
        help="For decide: the most matches to play, 200 for each entrant unless set.",
    ),
]
