"""The types of flags and arguments that several commands have, with the checks on them.

Every help page imports this, so it imports only what parses the command line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, cast

from cyclopts import Parameter, Token, convert
from cyclopts.validators import Number

from server.net.escaping import in_quotes, safe


def _file_or_stream(kind: Any, tokens: Sequence[Token]) -> object:
    """A word that begins with a hyphen is a mistyped flag, unless it is a hyphen alone."""
    written = tokens[0].value
    if written.startswith("-") and written != "-":
        raise ValueError(f"{safe(written)} is no flag of this command; a file is named ./{safe(written)}")
    return cast("object", convert(kind, tokens))


def _secret(kind: Any, tokens: Sequence[Token]) -> object:
    """A token may begin with a hyphen; if it was forgotten, a flag stands in its place."""
    if FLAG.fullmatch(written := tokens[0].value):
        raise ValueError(f"expected a token, not the flag {written}")
    return cast("object", convert(kind, tokens))


def _whole(kind: Any, tokens: Sequence[Token]) -> object:
    """The parser's own way rounds: 1.5 would be 2, and 0.4 would be 0."""
    written = tokens[0].value
    try:
        int(written)
    except ValueError:
        raise ValueError(f"expected a whole number, not {in_quotes(written)}") from None
    return cast("object", convert(kind, tokens))


def _number(kind: Any, tokens: Sequence[Token]) -> object:
    """The parser's own words for what is none name a type of Python's."""
    written = tokens[0].value
    try:
        float(written)
    except ValueError:
        raise ValueError(f"expected a number, not {in_quotes(written)}") from None
    return cast("object", convert(kind, tokens))


Whole = Parameter(converter=_whole)  # for every flag that takes a whole number
Decimal = Parameter(converter=_number)  # for every flag that takes a number with a fraction
Flag = Annotated[bool, Parameter(negative="", show_default=False)]  # there or not: there is no --no-json
FLAG = re.compile("--[a-z]+(-[a-z]+)*")  # no token drawn at random looks like this
# - is standard input or output
File = Annotated[str, Parameter(allow_leading_hyphen=True, converter=_file_or_stream)]
Secret = Annotated[str | None, Parameter(allow_leading_hyphen=True, converter=_secret)]
Count = Annotated[int | None, Whole, Parameter(validator=Number(gte=1))]
Entrants = Annotated[int | None, Whole, Parameter(validator=Number(gte=2))]
Seed = Annotated[int | None, Whole]
Seconds = Annotated[float, Decimal, Parameter(validator=Number(gte=0))]
Positive = Annotated[float | None, Decimal, Parameter(validator=Number(gt=0))]


@Parameter(name="*")
@dataclass(frozen=True)
class TournamentFlags:
    """How a tournament is opened, for commands that open one, or start a host with one."""

    absent: Annotated[
        Literal["wait", "settle"] | None,
        Parameter(
            help="settle, unless set, where the format has an end: a bot that misses two matches in a row"
            " loses the others one by one; wait: each of its matches waits 30 s for it."
        ),
    ] = None
    start_at: Annotated[
        str | None,
        Parameter(
            help="When it starts by itself, such as 2030-03-01T18:00:00Z; UTC unless it says otherwise."
        ),
    ] = None
    rounds_at: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="The earliest time at which a round begins; given once for each round. The tournament starts"
            " with the first, unless --start-at says otherwise.",
        ),
    ] = ()
    round_every: Annotated[
        str | None,
        Parameter(
            help="How long after one round begins the next does, such as 90s, 30m or 1h; it waits for the one"
            " before."
        ),
    ] = None
    check_in: Annotated[
        str | None,
        Parameter(
            help="How long before --start-at entrants check in, such as 15m, by being connected. Whoever has"
            " not checked in is not drawn."
        ),
    ] = None
    by_invitation: Annotated[
        Flag,
        Parameter(
            help="Only bots that you invite or enter by name take part (quintain tournament invite, enter)."
        ),
    ] = False
    group: Annotated[str | None, Parameter(help="A name shared by tournaments that belong together.")] = None
    confidence: Annotated[
        float | None,
        Decimal,
        Parameter(
            validator=Number(gte=0.5, lt=1),
            help="For the format decide: how certain the ranking has to be, 0.95 unless set.",
        ),
    ] = None
    places: Annotated[
        int | None,
        Whole,
        Parameter(
            validator=Number(gte=0),
            help="For decide: how many places to settle, 1 unless set; 0 for the whole order.",
        ),
    ] = None
    within: Annotated[
        float | None,
        Decimal,
        Parameter(
            validator=Number(gte=1, lte=1000),
            help="For decide: differences up to this many Elo count as equal, 20 unless set.",
        ),
    ] = None
    games: Annotated[
        Count,
        Parameter(help="For decide: the most matches to play, 200 for each entrant unless set."),
    ] = None

    def given(self) -> dict[str, Any]:
        """Those that were set."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {each.name: values[each.name] for each in fields(self) if values[each.name] != each.default}
