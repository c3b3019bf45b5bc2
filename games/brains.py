"""House brains: moves for any game of the contract.

A brain is given a position and `stop`, which says whether its time is up. It
calls `stop` often, and once that returns true it returns the best move that it
has found: there is one even if the first call returns true. The caller makes
sure that the position has a move.

There is no clock, no connection and no knowledge of any one game in here: what
makes a position good is the game's own `evaluate`. If a game has none, every
position that is not over counts as even, and only forced wins and losses are seen.

The same game, seed and position, and the same number of calls to `stop`, give
the same move. `random` and `greedy` go on drawing lots from their seed, so they
need the same positions in the same order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from operator import itemgetter
from random import Random
from types import MappingProxyType
from typing import Any

from games.game import Game

Stop = Callable[[], bool]  # "is the time up?"; asked for every position looked at, so it has to be cheap
Brain = Callable[[Any, Stop], Any]
Evaluate = Callable[[Any], float]
Entry = tuple[int, float, int, Any]  # plies searched, the value, whether that is a bound, the best move

WIN = 1000.0  # less the plies to it: the quicker win and the slower loss count more
SURE = WIN / 2  # a value above it is a forced win, one below its negative a forced loss
DEEPEST = 200  # plies; each is a call within a call, and Python allows 1000 of those
ENDLESS = 2 * DEEPEST  # the depth of what has been searched to the end of the game
WHOLE = 2  # plies: down to here a search leaves nothing out, however many moves there are
WIDE = 40  # beyond that depth, in a position with more moves than this, only some are searched:
WIDTH = 12  # so many, those that look best
TABLE = 80_000  # positions that are remembered, beside as many older ones: some 60 MB


def random(game: Game[Any, Any], seed: int = 0) -> Brain:
    """Any move, all of them equally likely."""
    lots = Random(seed)
    return lambda position, stop: lots.choice(list(position.moves()))


def first(game: Game[Any, Any], seed: int = 0) -> Brain:
    """The first move in the game's own order."""
    return lambda position, stop: next(iter(position.moves()))


def greedy(game: Game[Any, Any], seed: int = 0) -> Brain:
    """One move ahead: a win, else the best position, but no move that lets the other seat win at once.

    Only the best move is checked for that; if it fails, the next best, and so on. That costs little, while
    checking all of them would be a search of two plies.
    """
    lots, evaluate = Random(seed), game.evaluate or _even

    def choose(position: Any, stop: Stop) -> Any:
        seat: int = position.turn
        moves = list(position.moves())
        lots.shuffle(moves)
        ranked: list[tuple[float, Any, Any]] = []
        for move in moves:
            child = position.play(move)
            ranked.append((_worth(child, seat, 1, evaluate), move, child))
            if stop():
                break
        ranked.sort(key=itemgetter(0), reverse=True)
        sound = (move for _, move, child in ranked if not _hands_over(child, seat, stop))
        return next(sound, ranked[0][1])

    return choose


def alphabeta(game: Game[Any, Any], seed: int = 0, depth: int | None = None) -> Brain:
    """As deep as time allows, or `depth` plies: the best move against the best replies.

    To the depth that was asked for it is exact, but for one thing: deeper than `WHOLE` plies, in positions
    with more than `WIDE` moves, it leaves out what does not look good. A win or a loss that it sees is
    forced in any case. The seed decides between moves that are equally good.
    """
    limit = DEEPEST if depth is None else min(depth, DEEPEST)

    def choose(position: Any, stop: Stop) -> Any:
        moves = list(position.moves())
        Random(seed).shuffle(moves)
        search = _Search(position, moves, game.evaluate or _even, stop)
        if len(moves) > 1:
            search.deepen(limit)
        return search.choice

    return choose


def worth(game: Game[Any, Any], position: Any, depth: int) -> float:
    """What a position that is not over is worth to seat 0, looked at this many plies deep.

    From −1 to 1 as the game's `evaluate` has it; beyond `SURE` or its negative, a win or a loss is forced.
    """
    found = worth_in_time(game, position, depth, lambda: False)
    if found is None:
        raise RuntimeError("a search that nobody stops has stopped")
    return found


def worth_in_time(game: Game[Any, Any], position: Any, depth: int, stop: Stop) -> float | None:
    """`worth`, or None if the time is up before it is known."""
    search = _Search(position, list(position.moves()), game.evaluate or _even, stop)
    search.narrow = depth > WHOLE
    try:
        value = search.value(position, depth, 0, -inf, inf)
    except _Stopped:
        return None
    return -value if position.turn else value


class _Stopped(Exception):
    """The time is up."""


class _Search:
    """One choice by alpha-beta: one ply deep, then two, and so on.

    A value is for the seat to move, and its sign changes only where the other seat moves next. Each depth
    leaves its best moves in the table for the next one to begin with, so that `choice` is never worse for
    having been stopped half-way.
    """

    def __init__(self, position: Any, moves: list[Any], evaluate: Evaluate, stop: Stop) -> None:
        self.position, self.moves, self.evaluate, self.stop = position, moves, evaluate, stop
        self.choice = moves[0]
        self.recent: dict[Any, Entry] = {}
        self.older: dict[Any, Entry] = {}
        self.guesses = 0  # how often a position short of the end of a game was given a value
        self.narrow = False

    def deepen(self, limit: int) -> None:
        try:
            for depth in range(1, limit + 1):
                self.narrow, before = depth > WHOLE, self.guesses
                self.value(self.position, depth, 0, -inf, inf)
                if self.guesses == before:
                    return  # there is nothing left to find
        except _Stopped:
            return

    def value(self, position: Any, depth: int, ply: int, low: float, high: float) -> float:
        """What `position`, `ply` plies ahead, is worth when looked at `depth` plies deep.

        Exact where it lies between `low` and `high`; at or beyond one of them, the truth may be further out.
        """
        entry = self.recent.get(position) or self.older.get(position)
        if entry is not None and entry[0] >= depth:
            known, bound = _nearer(entry[1], -ply), entry[2]
            if not bound or (known >= high if bound > 0 else known <= low):
                self.guesses += entry[0] < ENDLESS
                return known
        seat, before = position.turn, self.guesses
        best, choice, least = -inf, None, low
        for move, child, spare in self.children(position, depth, ply, entry):
            if spare and best > -SURE:  # a loss counts as forced only when everything has been tried
                self.guesses += 1
                break
            if depth == 1 or child.outcome is not None:
                self.guesses += child.outcome is None
                value = _worth(child, seat, ply + 1, self.evaluate)
            elif child.turn == seat:
                value = self.value(child, depth - 1, ply + 1, least, high)
            else:
                value = -self.value(child, depth - 1, ply + 1, -high, -least)
            if value > best:
                best, choice = value, move
                if value > least:
                    least = value
                    if not ply:
                        self.choice = move
                    if value >= high:
                        break
        if not -SURE < best < SURE:
            self.guesses = before  # a forced end stays one, whatever else was guessed at
        searched = ENDLESS if self.guesses == before else depth
        self.remember(position, (searched, _nearer(best, ply), (best >= high) - (best <= low), choice))
        return best

    def children(
        self, position: Any, depth: int, ply: int, entry: Entry | None
    ) -> Iterator[tuple[Any, Any, bool]]:
        """The moves, where they lead and whether they may be left out, the most promising first."""
        if entry is not None:
            yield entry[3], self.played(position, entry[3]), False
        moves: Iterable[Any] = position.moves() if ply else self.moves
        if entry is not None:
            moves = (move for move in moves if move != entry[3])
        if depth == 1:  # putting them in order would cost as much as searching them
            for move in moves:
                yield move, self.played(position, move), False
            return
        seat, evaluate = position.turn, self.evaluate
        ranked: list[tuple[float, Any, Any]] = []
        for move in moves:
            child = self.played(position, move)
            worth = _worth(child, seat, 1, evaluate)
            if worth > SURE:
                yield move, child, False
                return
            ranked.append((worth, move, child))
        ranked.sort(key=itemgetter(0), reverse=True)
        width = WIDTH if self.narrow and len(ranked) > WIDE else len(ranked)
        for rank, (_, move, child) in enumerate(ranked):
            yield move, child, rank >= width

    def played(self, position: Any, move: Any) -> Any:
        if self.stop():
            raise _Stopped
        return position.play(move)

    def remember(self, position: Any, entry: Entry) -> None:
        if len(self.recent) >= TABLE:
            self.recent, self.older = {}, self.recent
        self.recent[position] = entry


def _nearer(value: float, plies: int) -> float:
    """A value as seen from this many plies further on: a forced end is that much nearer."""
    return value + plies if value > SURE else value - plies if value < -SURE else value


def _worth(position: Any, seat: int, ply: int, evaluate: Evaluate) -> float:
    """What a position, `ply` plies ahead, is worth to `seat` at first sight."""
    outcome = position.outcome
    if outcome is None:
        return -evaluate(position) if seat else evaluate(position)
    if outcome.winner is None:
        return 0.0
    return WIN - ply if outcome.winner == seat else ply - WIN


def _hands_over(position: Any, seat: int, stop: Stop) -> bool:
    """Whether the other seat can win at once; no, if there is no time to find out."""
    if position.turn == seat:
        return False
    for move in position.moves():
        outcome = position.play(move).outcome
        if outcome is not None and outcome.winner == 1 - seat:
            return True
        if stop():
            break
    return False


def _even(position: Any) -> float:
    """The evaluation of a game that has none."""
    return 0.0


BRAINS: Mapping[str, Callable[[Game[Any, Any], int], Brain]] = MappingProxyType(
    {"random": random, "first": first, "greedy": greedy, "alphabeta": alphabeta}
)
