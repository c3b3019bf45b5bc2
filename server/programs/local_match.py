"""Matches without a host: with the same referee and the same clocks; the players are asked in turn."""

import time
from collections.abc import Sequence
from typing import Any

from games.game import Game, Illegal, Pace
from server.net.escaping import plain
from server.programs.contestant import Contestant
from server.programs.program import Gone
from server.programs.running_time import Now
from server.protocols.house.messages import turn
from tournament.match import Match

Two = tuple[str, str]


def local_match(
    game: Game[Any, Any],
    name: str,
    names: Two,
    contestants: tuple[Contestant, Contestant],
    pace: Pace | None = None,
    opening: Sequence[Any] = (),
    now: Now = time.monotonic,
) -> Match:
    """Play a match to its end. A player that is too slow loses by the clock, and one that is gone has left.

    The moves of the opening are made already, and cost nobody any time.
    """
    began = now()
    kept = (opening, [0.0] * len(opening)) if opening else None
    match = Match(game, names, began, name=name, pace=pace, kept=kept)
    for seat in (0, 1):
        match.here(seat, began)
    refused: str | None = None
    while (seat := match.to_move) is not None:
        left = match.deadline - now()
        try:
            sent = contestants[seat].ask(question(match, refused, now), left if left < 1e9 else None)
        except TimeoutError:
            match.flag(max(now(), match.deadline + 1e-6))
        except Gone:
            match.leave(seat, now())
        else:
            try:
                match.play(seat, sent, now())
                refused = None
            except Illegal as why:
                refused = str(why)
    return match


def question(match: Match, refused: str | None = None, now: Now = time.monotonic) -> dict[str, Any]:
    """The question to the player to move, as the client gives it to a bot's `choose`."""
    asked = turn(match, match.ply, now())
    more = {"you": asked.turn, "players": match.names, "options": match.options, "moves": match.moves}
    return plain(asked) | more | ({} if refused is None else {"refused": refused})
