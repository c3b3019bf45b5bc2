"""Trials of a program before it plays for points: one for each thing that breaks bots.

A trial has the program play against something unkind, with a referee of ours, and
raises `Broke` with a sentence for its author if it fails. Each trial starts the
program afresh.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from games.brains import greedy, random
from games.game import Game, Illegal, Pace
from server.net.escaping import in_quotes, json_line, safe
from server.programs.interrupts import later
from server.programs.local_match import question
from server.programs.program import ONE_LINE, Gone, Program
from server.programs.running_time import Now
from tournament.match import Match

if TYPE_CHECKING:
    from collections.abc import Generator

GAMES = 4  # against each opponent, equally many in both seats
MIDDLE = 6  # plies to the middle of a match; the shortest game has nine
SHOWN = 160  # characters of a position or a line that messages repeat
SLOW = 1.5  # seconds that a slow opponent takes
US, THEM = "you", "opponent"


class Broke(Exception):
    """What the program did, and what was expected of it."""


class Ground:
    """The setting of trials: a game, and how long, by the clock `now`, the program may take for an answer."""

    def __init__(self, command: str, game: Game[Any, Any], timeout: float, now: Now = time.monotonic) -> None:
        self.game = game
        self._command = command
        self._timeout, self._now = timeout, now
        self._matches = 0

    @contextmanager
    def program(self) -> "Generator[Program]":
        with ExitStack() as ending:
            with later():  # or an interrupt at its very start would leave the program running
                program = Program(self._command, quiet=True, now=self._now)
                ending.callback(program.end)
            yield program

    def match(self, seat: int) -> Match:
        """A new match, with the program in that seat. A timeout limits answers, not the game's clock."""
        self._matches += 1
        names = (US, THEM) if seat == 0 else (THEM, US)
        return Match(self.game, names, time.monotonic(), name=f"check-{self._matches}", pace=Pace())

    def answer(
        self,
        program: Program,
        match: Match,
        *,
        refused: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Any:
        """The program's answer, as the game reads it; raises `Broke` if it is not a legal move."""
        asked = question(match, refused) | dict(more or {})
        try:
            sent = program.ask(asked, self._timeout)
        except TimeoutError:
            late = f"nothing came within {self._timeout:g} s at ply {match.ply}"
            raise Broke(f"{late}: {ONE_LINE}") from None
        except Gone as gone:
            raise Broke(f"at ply {match.ply} {gone}") from None
        try:
            move = self.game.read(sent, match.position)
            match.position.play(move)
        except Illegal as why:
            wrote, state = (safe(json_line(value), cut=SHOWN) for value in (sent, asked["state"]))
            raise Broke(
                f"at ply {match.ply} its move {wrote} is illegal: {why}; the state: {state}"
            ) from None
        return move

    def turn(self, program: Program, match: Match, seat: int, choose: Callable[[Any], Any]) -> None:
        """Make one move for the seat to move; the program has `seat`."""
        mover = match.position.turn
        move = self.answer(program, match) if mover == seat else choose(match.position)
        match.play(mover, self.game.write(move), time.monotonic())


Trial = Callable[[Ground], None]


def plays(ground: Ground) -> None:
    brains = (random(ground.game, 1), greedy(ground.game, 1))
    with ground.program() as program:
        for number in range(GAMES * len(brains)):
            brain, seat = brains[number // GAMES], number % 2
            match = ground.match(seat)
            while match.to_move is not None:
                ground.turn(program, match, seat, lambda position, brain=brain: brain(position, _at_once))
        _expect_silence(program)


def knows_the_first_seat_from_the_second(ground: Ground) -> None:
    for seat in (0, 1):
        with ground.program() as program:
            _play_to_the_middle(ground, program, seat)


def waits_for_a_slow_opponent(ground: Ground) -> None:
    with ground.program() as program:
        match = _play_to_the_middle(ground, program, 1)
        program.wait(SLOW)
        _expect_silence(program)
        _its_turn(ground, program, match, 1)


def answers_a_question_that_comes_again(ground: Ground) -> None:
    with ground.program() as program:
        match = _play_to_the_middle(ground, program, 0)
        for _ in range(2):
            ground.answer(program, match)


def goes_on_in_the_middle(ground: Ground) -> None:
    with ground.program() as program:
        match = _play_to_the_middle(ground, program, 0)
    with ground.program() as program:
        ground.answer(program, match)


def survives_an_opponent_that_leaves(ground: Ground) -> None:
    with ground.program() as program:
        for seat in (0, 1, 0):
            _play_to_the_middle(ground, program, seat)


def passes_over_what_it_does_not_know(ground: Ground) -> None:
    with ground.program() as program:
        more = {"weather": {"type": "turn", "clock": [None, "noon"]}, "umlaut": "ä🎲"}
        ground.answer(program, ground.match(0), more=more)


def bears_a_refusal(ground: Ground) -> None:
    if ground.game.faults == "forfeit":
        return  # in such a game, a refused move loses
    with ground.program() as program:
        match = _play_to_the_middle(ground, program, 0)
        ground.answer(program, match)
        ground.answer(program, match, refused="this is a trial: the move was a good one")


def speaks_only_when_asked(ground: Ground) -> None:
    with ground.program() as program:
        program.wait(SLOW / 3)
        match = ground.match(0)
        _its_turn(ground, program, match, 0)
        program.wait(SLOW / 3)
        _expect_silence(program)


def ends_when_there_is_nothing_more_to_read(ground: Ground) -> None:
    with ground.program() as program:
        ground.answer(program, ground.match(0))
        if not program.end():
            raise Broke("it goes on when its standard input has ended: it will have to be killed each time")


TRIALS: Mapping[str, Trial] = MappingProxyType(
    {
        "plays whole games by the rules": plays,
        "plays either seat": knows_the_first_seat_from_the_second,
        "waits for a slow opponent": waits_for_a_slow_opponent,
        "speaks only when it is asked": speaks_only_when_asked,
        "answers again when it is asked again, after a lost connection": answers_a_question_that_comes_again,
        "goes on in the middle of a match, after it was started again": goes_on_in_the_middle,
        "begins again when an opponent has left": survives_an_opponent_that_leaves,
        "answers again when a move was refused": bears_a_refusal,
        "ignores what it does not know": passes_over_what_it_does_not_know,
        "ends when its input ends": ends_when_there_is_nothing_more_to_read,
    }
)


def _play_to_the_middle(ground: Ground, program: Program, seat: int) -> Match:
    """A match in which it is the program's turn."""
    lots = random(ground.game, seat)
    match = ground.match(seat)
    while match.ply < MIDDLE or match.position.turn != seat:
        ground.turn(program, match, seat, lambda position: lots(position, _at_once))
        if match.to_move is None:
            match = ground.match(seat)  # that match was a short one
    return match


def _its_turn(ground: Ground, program: Program, match: Match, seat: int) -> None:
    ground.turn(program, match, seat, lambda position: next(iter(position.moves())))


def _expect_silence(program: Program) -> None:
    if program.unasked:
        raise Broke(
            f"it wrote {in_quotes(program.unasked[0])} when nobody had asked: standard output is for moves, "
            "one line each; what else it has to say belongs to standard error"
        )


def _at_once() -> bool:
    return True
