"""The Arena's cases: a bot's opponents, and how many points each is worth: 100 in all for a game.

The house plays a simple opponent, a strong one, or one that cheats
(`cheats.py`). `evaluation.py` decides when a bot is invited.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import Any

from msgspec import Struct

from games import quoridor, tictactoe
from games.brains import Brain, alphabeta, first, random
from games.game import Game
from server.host.thinker import Busy, Failed, Thinker
from server.protocols.arena.advanced import advanced
from server.protocols.arena.cheats import TRICKS, Again, Cheat, Trick, rigged
from tournament.events import Ended, Ending, Moved
from tournament.match import Match
from tournament.player import Seat

DEPTH = 2  # plies that Quoridor's strong opponent looks ahead
THINKING = 5.0  # seconds it may take for that; it takes some milliseconds, where a processor is free
SURVIVED = ((8, 0), (14, 1), (18, 3), (22, 6))  # with fewer own turns than these, so many points …
FROM, TO, LEAST, MOST = 22, 40, 10, 25  # … and then between these, evenly

Choose = Callable[[Match], Awaitable[Sequence[Any]]]  # returns what the house sends when it is to move
Score = Callable[[Match, int], float]  # the points of a match that is over, for a seat
Opponent = Callable[[Random, Thinker], Choose]

CHEATING = "C_AI_"  # the beginning of names of cases in which the house cheats; it may be left out


class Case(Struct, frozen=True):
    name: str
    game: Game[Any, Any]
    seat: int  # the house's
    score: Score
    opponent: Opponent
    trick: Trick | None = None

    @property
    def rules(self) -> Game[Any, Any]:
        """The game as played in this case."""
        return self.game if self.trick is None else rigged(self.game, self.trick)

    def wronged(self, match: Match) -> bool:
        """Whether the house has cheated in a match of this case."""
        return self.trick is not None and match.position.cheated


async def oppose(match: Match, house: Seat, choose: Choose) -> None:
    """Play for the house, until the match is over."""
    async for _ in match.log.read():
        while house.to_move:
            for sent in await choose(match):
                if house.to_move:
                    house.play(sent)


# What it is worth


def for_a_win(points: float) -> Score:
    return lambda match, seat: points if _verdict(match).winner == seat else 0


def for_a_draw(points: float) -> Score:
    """Points for a draw or a win."""

    def score(match: Match, seat: int) -> float:
        verdict = _verdict(match)
        drawn = verdict.winner is None and verdict.ending is Ending.PLAYED
        return points if drawn or verdict.winner == seat else 0

    return score


def for_surviving(match: Match, seat: int) -> float:
    """A win counts most; otherwise it counts how many turns the bot lasted."""
    if _verdict(match).winner == seat:
        return MOST
    turns = sum(isinstance(event, Moved) and event.seat == seat for event in match.log.events)
    for under, points in SURVIVED:
        if turns < under:
            return points
    return LEAST + (min(turns, TO) - FROM) * (MOST - LEAST) / (TO - FROM)


def _verdict(match: Match) -> Ended:
    assert match.result is not None  # noqa: S101
    return match.result


# Who plays for the house


def _never() -> bool:
    """The `stop` of brains that need next to no time: it is never up."""
    return False


def first_empty(lots: Random, thinker: Thinker) -> Choose:
    return _brain(tictactoe.GAME, first(tictactoe.GAME))


def any_legal(lots: Random, thinker: Thinker) -> Choose:
    return _brain(quoridor.GAME, random(quoridor.GAME, lots.getrandbits(32)))


def as_ever(lots: Random, thinker: Thinker) -> Choose:
    return _brain(tictactoe.GAME, lambda position, stop: advanced(position))


def looking_ahead(lots: Random, thinker: Thinker) -> Choose:
    seed = lots.getrandbits(32)

    async def choose(match: Match) -> Sequence[Any]:
        try:
            return [
                await thinker.think(match.game.name, {}, match.moves, "alphabeta", THINKING, DEPTH, seed=seed)
            ]
        except (Busy, Failed):  # then it is done here, so that the bot still has an opponent
            return [match.game.write(alphabeta(match.game, seed, DEPTH)(match.position, _never))]

    return choose


def _brain(game: Game[Any, Any], brain: Brain) -> Choose:
    async def choose(match: Match) -> Sequence[Any]:
        return [game.write(brain(match.position, _never))]

    return choose


def cheating(game: Game[Any, Any], trick: Trick) -> Opponent:
    async def choose(match: Match) -> Sequence[Any]:
        chosen = trick.cheater(match.position.position)
        return [each if isinstance(each, Cheat | Again) else game.write(each) for each in chosen]

    return lambda lots, thinker: choose


def wanted(game: str, name: str | None) -> list[Case]:
    """The cases of a name, which may lack its beginning; None means all."""
    cases = CASES[game]
    if name is None:
        return [*cases.values()]
    found = cases.get(name) or cases.get(CHEATING + name)
    return [] if found is None else [found]


def _cases(
    game: Game[Any, Any],
    sides: Sequence[str],
    simple: tuple[Opponent, Score],
    strong: tuple[Opponent, Score],
    cheats: Mapping[str, float],
) -> Mapping[str, Case]:
    """A case is named after the house's side. `cheats` says what each is worth; "" stands for any other."""
    cases = [
        Case(f"{kind}_AI_{side}", game, seat, score, opponent)
        for kind, (opponent, score) in (("BASE", simple), ("AB", strong))
        for seat, side in enumerate(sides)
    ]
    cases += [
        Case(name, game, trick.seat, for_a_win(cheats.get(name, cheats[""])), cheating(game, trick), trick)
        for name, trick in TRICKS[game.name].items()
    ]
    return {case.name: case for case in cases}


CASES: Mapping[str, Mapping[str, Case]] = {
    "tic-tac-toe": _cases(
        tictactoe.GAME, ("O", "X"), (first_empty, for_a_win(20)), (as_ever, for_a_draw(20)), {"": 4}
    ),
    "quoridor": _cases(
        quoridor.GAME,
        ("FIRST", "SECOND"),
        (any_legal, for_a_win(15)),
        (looking_ahead, for_surviving),
        {"": 2, "C_AI_WALL_BLOCKING": 4},
    ),
}
