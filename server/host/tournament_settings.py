"""A tournament as an organiser asks for it: in the configuration, by a flag, over the API or at the desk.

`Host.open` checks what the types of its fields cannot.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from games.game import Pace
from server.host.durations import BadDuration, seconds
from server.host.opening import no_format
from tournament.facts import Absent, Opened
from tournament.format import OPEN, Aim, Format, Terms, formats
from tournament.refusals import Refusal
from tournament.sizes import GROUP

Duration = float | str  # seconds, or "10m" and the like


class TournamentSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A tournament to open. Only `name` and `game` are required."""

    name: str
    game: str
    format: str = "round-robin"
    entrants: Annotated[int, Meta(ge=2)] | None = None
    rounds: Annotated[int, Meta(ge=1)] | None = None
    seed: int | None = None  # None: the host chooses one, and shows it when lots are drawn
    options: dict[str, Any] = {}
    pace: Pace | None = None
    absent: Absent | None = None  # None: settle, where the format has an end
    start_at: datetime | None = None  # UTC, if it does not say otherwise
    group: Annotated[str, Meta(min_length=1, max_length=GROUP)] | None = None
    rounds_at: Sequence[datetime] | None = None  # when its rounds begin, at the earliest …
    round_every: Duration | None = None  # … or how long after one another they begin
    check_in: Duration | None = None  # before it starts by itself: whoever is not here by then is not drawn
    by_invitation: bool = False  # only bots that an organiser invites or enters take part
    # Of a tournament that ends when it is decided: `tournament.format.Aim`
    confidence: Annotated[float, Meta(ge=0.5, lt=1)] | None = None
    places: Annotated[int, Meta(ge=0)] | None = None
    within: Annotated[float, Meta(ge=1, le=1000)] | None = None
    games: Annotated[int, Meta(ge=1)] | None = None

    def opened(self) -> Opened:
        """The fact with which the tournament begins; raises `Refusal`."""
        if self.format == OPEN:
            raise no_format(OPEN)
        format = formats().get(self.format)
        endless = format is not None and format.endless
        openly = 0 if endless else None  # there is no draw before which to seal it
        return Opened(
            self.game,
            self.format,
            self.entrants,
            Terms(self.rounds, openly if self.seed is None else self.seed, aim=self._aim(format)),
            self.options,
            self.pace,
            self.absent or (UNSET if endless else "settle"),
            UNSET if self.start_at is None else _moment(self.start_at),
            self.group or UNSET,
            UNSET if self.rounds_at is None else tuple([_moment(each) for each in self.rounds_at]),
            _seconds(self.round_every, "round_every"),
            _seconds(self.check_in, "check_in"),
            self.by_invitation or UNSET,
        )

    def _aim(self, format: Format | None) -> Aim | UnsetType:
        """When the tournament is decided; unset for other formats, if nothing was asked for."""
        asked = {"confidence": self.confidence, "places": self.places, "within": self.within}
        given = {key: value for key, value in (asked | {"games": self.games}).items() if value is not None}
        return msgspec.convert(given, Aim) if given or (format is not None and format.decides) else UNSET


def _moment(when: datetime) -> float:
    """A moment as wall time; in UTC, unless it says otherwise."""
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _seconds(written: Duration | None, key: str) -> float | UnsetType:
    try:
        return UNSET if written is None else seconds(written, key)
    except BadDuration as error:
        raise Refusal(str(error)) from None
