"""Openings, the moves with which a pair of games begins: none, drawn by lot, or read from a file.

Both games of a pair have the same opening, so each program has its advantage for
a side once. Openings are needed because programs that leave nothing to chance
would play the same pair over and over.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from games.brains import worth
from games.game import Game, Illegal, quoted, typed
from server.exits import Misuse

Opening = tuple[Any, ...]  # moves as the game writes them
Openings = Callable[[int], Opening]  # the opening of a pair, counted from 0

DEPTH = 3  # plies for which an opening is searched for forced wins, and after which it is valued
EVEN = 0.2  # on the game's scale from −1 to 1: how far a side may be ahead in a balanced opening
TRIES = 200  # lines in a row without a new balanced position, after which there are no more, or few


def start(pair: int) -> Opening:
    """No opening: every game begins where the rules begin."""
    return ()


class RandomOpenings:
    """Openings of this many random plies, each a new balanced position as long as there are any.

    A position is balanced if neither side wins by force within `DEPTH` plies and the house brains'
    evaluation finds it nearly even. The same seed gives the same openings. When there are no more, they
    come again in turn.
    """

    def __init__(self, game: Game[Any, Any], plies: int, seed: int) -> None:
        """Raises `Misuse` if there is no such opening."""
        self._game, self._plies = game, plies
        self._lots = Random(seed)
        self._found: list[Opening] = []
        self._seen: set[Any] = set()
        self._exhausted = False
        self(0)

    def __call__(self, pair: int) -> Opening:
        while len(self._found) <= pair and not self._exhausted:
            self._find()
        if not self._found:
            raise Misuse(
                f"{self._plies} plies are too many: no balanced opening of {self._game.name} was found in "
                f"{TRIES} lines of that length"
            )
        return self._found[pair % len(self._found)]

    def _find(self) -> None:
        for _ in range(TRIES):
            line, position = self._line()
            if position in self._seen:
                continue
            self._seen.add(position)
            if position.outcome is None and abs(worth(self._game, position, DEPTH)) <= EVEN:
                self._found.append(line)
                return
        self._exhausted = True

    def _line(self) -> tuple[Opening, Any]:
        """Random moves, and where they lead; fewer if the game ends sooner."""
        position, line = self._game.opening({}), list[Any]()
        while len(line) < self._plies and position.outcome is None:
            move = self._lots.choice(list(position.moves()))
            line.append(self._game.write(move))
            position = position.play(move)
        return tuple(line), position


def listed(game: Game[Any, Any], path: str) -> list[Opening]:
    """The openings in a file, one a line; raises `Misuse` with the number of a line that is not an opening.

    A line has moves in their short form with spaces between them. Empty lines and
    lines that begin with # are for people.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()  # some editors put a mark at the beginning
    except OSError as error:
        raise Misuse(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Misuse(f"{path}: expected openings as text, and it is not UTF-8") from None
    found = [
        _opening(game, line.split(), f"{path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not found:
        raise Misuse(f"{path}: expected an opening on each line, and there is none")
    return found


def in_turn(openings: Sequence[Opening]) -> Openings:
    return lambda pair: openings[pair % len(openings)]


def _opening(game: Game[Any, Any], words: Sequence[str], where: str) -> Opening:
    position, line = game.opening({}), list[Any]()
    while words:
        if position.outcome is not None:
            raise Misuse(f"{where}: the game is over after {len(line)} moves, so this is no opening")
        legal = {game.short(move): move for move in position.moves()}
        texts = _beginnings(words, legal)
        text = next((text for text in texts if text in legal), None)
        if text is None:
            raise Misuse(f"{where}: move {len(line) + 1} cannot be played: {_fault(game, texts, position)}")
        line.append(game.write(legal[text]))
        position = position.play(legal[text])
        words = words[len(text.split()) :]
    if position.outcome is not None:
        raise Misuse(f"{where}: the game is over after {len(line)} moves, so this is no opening")
    return tuple(line)


def _beginnings(words: Sequence[str], legal: Iterable[str]) -> Sequence[str]:
    """The word groups that may be a move, the longest first: in some games a move is several words."""
    longest = max(len(text.split()) for text in legal)
    return [" ".join(words[:count]) for count in range(min(longest, len(words)), 0, -1)]


def _fault(game: Game[Any, Any], texts: Sequence[str], position: Any) -> str:
    """Why the game takes none of these as a move, in its own words if it has any.

    A text that it can read says more than the longest, which may have words of the next move.
    """
    unreadable: Illegal | None = None
    for text in texts:
        try:
            move = game.read(typed(text), position)
        except Illegal as why:
            unreadable = unreadable or why
            continue
        try:
            position.play(move)
        except Illegal as why:
            return str(why)
        return f"expected a move in its short form, and got {quoted(text)}"
    return str(unreadable)
