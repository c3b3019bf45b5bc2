"""How fast the rules are, beside OpenSpiel's called from Python.

`check` is the referee's path: is this one move legal, the position after it, is
it over. OpenSpiel's is `move in state.legal_actions()`, `apply_action`,
`is_terminal()`: it changes its state in place, while a position here is a new
value. Both play games of uniformly random moves, drawn beforehand. Ours and
the reference take turns, and the ratio is the median of the rounds' ratios.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from games.catalogue import catalogue
from games.game import Game, Illegal

PLIES = 20_000  # in the games that a round of timing goes through
ROUNDS = 9
REFERENCE = {"connect-4": "connect_four", "tic-tac-toe": "tic_tac_toe", "quoridor": "quoridor"}

Games = Sequence[Sequence[Any]]


def bench() -> None:
    print(
        f"{'':14}{'check+play+outcome':>20}{'random playouts':>18}{'slowest check':>16}{'OpenSpiel = 1':>26}"
    )
    for game in catalogue().values():
        sample = random_games(game)
        reference = openspiel(REFERENCE[game.name]) if game.name in REFERENCE else None
        ratios: list[float] = []
        speeds: list[float] = []
        for _ in range(ROUNDS):
            speeds.append(speed(replay, game, sample))
            if reference is not None:
                ratios.append(speeds[-1] / reference())
        playouts = median(playouts_per_second(game) for _ in range(3))
        spread = f"{median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})" if ratios else "-"
        slowest = f"{slowest_check(game) * 1e6:.0f} us"
        print(f"{game.name:14}{median(speeds):18,.0f}/s{playouts:16,.0f}/s{slowest:>16}{spread:>26}")


def random_games(game: Game[Any, Any]) -> Games:
    random = Random(1)
    sample: list[list[Any]] = []
    while sum(map(len, sample)) < PLIES:
        position, moves = game.start(), []
        while position.outcome is None and len(moves) != game.ply_limit:
            moves.append(random.choice(list(position.moves())))
            position = position.play(moves[-1])
        sample.append(moves)
    return sample


def speed(play: Callable[..., None], game: object, sample: Games) -> float:
    """Plies a second."""
    begun = perf_counter()
    play(game, sample)
    return sum(map(len, sample)) / (perf_counter() - begun)


def replay(game: Game[Any, Any], sample: Games) -> None:
    for moves in sample:
        position = game.start()
        for move in moves:
            position = position.play(move)
            if position.outcome is not None:
                break


def playouts_per_second(game: Game[Any, Any]) -> float:
    random, count = Random(1), 0
    begun = perf_counter()
    while (spent := perf_counter() - begun) < 1.0:
        position, ply = game.start(), 0
        while position.outcome is None and ply != game.ply_limit:
            position, ply = position.play(random.choice(list(position.moves()))), ply + 1
        count += 1
    return count / spent


def slowest_check(game: Game[Any, Any]) -> float:
    """Seconds for the costliest move, legal or not, that a search over random positions finds."""
    random = Random(2)
    everything = {move for moves in random_games(game)[:50] for move in moves}
    slowest = 0.0
    for moves in random_games(game)[:30]:
        position = game.start()
        for move in moves:
            tried = random.sample(sorted(everything), min(8, len(everything)))
            slowest = max(
                slowest, *(min(check(position, other) for _ in range(3)) for other in (move, *tried))
            )
            position = position.play(move)
    return slowest


def check(position: Any, move: Any) -> float:
    begun = perf_counter()
    with suppress(Illegal):
        position.play(move)
    return perf_counter() - begun


def openspiel(name: str) -> Callable[[], float]:
    """OpenSpiel's plies a second, each time it is called."""
    import pyspiel

    game = pyspiel.load_game(name)
    random = Random(1)
    sample: list[list[int]] = []
    plies = PLIES // (10 if name == "quoridor" else 1)  # where a ply takes it far longer
    while sum(map(len, sample)) < plies:
        state, moves = game.new_initial_state(), []
        while not state.is_terminal():
            moves.append(random.choice(state.legal_actions()))
            state.apply_action(moves[-1])
        sample.append(moves)

    def replay(game: Any, sample: Games) -> None:
        for moves in sample:
            state = game.new_initial_state()
            for move in moves:
                if move not in state.legal_actions():
                    raise AssertionError(f"{name}: {move} was legal a moment ago")
                state.apply_action(move)
                if state.is_terminal():
                    break

    return lambda: speed(replay, game, sample)
