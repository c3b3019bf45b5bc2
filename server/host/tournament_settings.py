"""A tournament as an organiser asks for it: in the configuration, by a flag, over the API or at the desk.

`Host.open` checks what the types of its fields cannot.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from games.game import Pace
from tournament.format import Terms
from tournament.record import Opened


class TournamentSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """A tournament to hold."""

    name: str
    game: str
    format: str = "round-robin"
    entrants: Annotated[int, Meta(ge=2)] | None = None
    rounds: Annotated[int, Meta(ge=1)] | None = None
    seed: int = 0
    options: dict[str, Any] = {}
    pace: Pace | None = None

    def opened(self) -> Opened:
        """The fact that it begins with."""
        terms = Terms(self.rounds, self.seed)
        return Opened(self.game, self.format, self.entrants, terms, self.options, self.pace)
