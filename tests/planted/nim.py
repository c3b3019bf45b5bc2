"""Nim: take any number from one heap; the last one wins."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from games import svg
from games.game import Game, Illegal, Outcome, Pace, quoted

SEATS = ("first", "second")
WON = tuple(Outcome(seat, f"{name} took the last one") for seat, name in enumerate(SEATS))

Take = tuple[int, int]  # which heap, how many


class Nim(Struct, frozen=True, gc=False):  # there is nothing in it that the garbage collector has to look at
    heaps: bytes = bytes((3, 4, 5))
    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> Iterable[Take]:
        return ((heap, count) for heap, size in enumerate(self.heaps) for count in range(1, size + 1))

    def play(self, move: Take) -> "Nim":
        heap, count = move
        if self.outcome is not None:
            raise Illegal("the game is over")
        if count > self.heaps[heap]:
            raise Illegal(f"heap {heap} has {self.heaps[heap]} left, so {count} cannot be taken")
        heaps = bytes((*self.heaps[:heap], self.heaps[heap] - count, *self.heaps[heap + 1 :]))
        return Nim(heaps, 1 - self.turn, None if any(heaps) else WON[self.turn])


def start() -> Nim:
    return Nim()


def read(sent: Any, position: Nim) -> Take:
    if isinstance(sent, str) and re.fullmatch("[0-2] [1-5]", sent):
        return int(sent[0]), int(sent[2])
    match sent:
        case {"heap": heap, "take": take} if type(heap) is int and type(take) is int:
            if 0 <= heap <= 2 and 1 <= take <= 5:
                return heap, take
            raise Illegal(f"heaps are 0 to 2 and 1 to 5 can be taken, not {quoted(take)} from {quoted(heap)}")
        case _:
            raise Illegal(f'expected {{"heap":0,"take":2}} or "0 2", not {quoted(sent)}')


@cache
def write(move: Take) -> object:
    return {"heap": move[0], "take": move[1]}


def short(move: Take) -> str:
    return f"{move[0]} {move[1]}"


def show(position: Nim, names: tuple[str, str]) -> object:
    return {"heaps": list(position.heaps)}


def draw(position: Nim, last: Take | None = None) -> str:
    parts: list[str] = []
    for heap, size in enumerate(position.heaps):
        marked = last is not None and last[0] == heap
        parts.append(svg.text(24, 30 + 40 * heap, str(heap), fill=svg.MARK if marked else svg.INK))
        parts += [svg.circle(60 + 34 * n, 30 + 40 * heap, 13, svg.SEATS[0]) for n in range(size)]
    how = position.outcome.why if position.outcome else f"{SEATS[position.turn]} to take"
    return svg.drawing(230, 140, f"Nim, heaps of {tuple(position.heaps)}: {how}", *parts)


RULES = """\
Three heaps, of three, four and five. In turn each side takes as many as it likes, at least one, from a single
heap. Whoever takes the last one has won.

A move is a heap, `0` to `2`, and how many to take from it: `0 2` takes two from the first.
"""

GAME = Game(
    name="nim",
    title="Nim",
    rules=RULES,
    seats=SEATS,
    start=start,
    read=read,
    write=write,
    short=short,
    show=show,
    draw=draw,
    pace=Pace(turn=10.0),
    faults="retry",
)
