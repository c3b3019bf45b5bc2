"""The c4-arena's client in use, as far as a host gets to know it, and opponents that hang up on it.

Both say what they say to what they are told, one message at a time, and know no
wire. The client moves whenever a state says that it is to move, asks for the
state whenever something was ignored, and starts again whenever a match is over.
So it is out of step once an opponent has hung up: the state that it is told then
makes it move again, in a match that is over; that is ignored, and so is its
asking for the state, for as long as it waits; and in its next match each state
that it has asked for is another move.
"""

from collections import Counter
from random import Random
from typing import Any

Message = dict[str, Any]

ALL = 22  # moves, and more than anybody makes in one match


class OldClient:
    """It picks a column by lot and does not look whether that is full, as the simplest of its engines."""

    def __init__(self, name: str, against: str | None = None) -> None:
        self.name = name
        self.against = against
        self.told: Counter[str] = Counter()  # how often: each kind of message, and each reason to ignore one
        self._random = Random(name)

    def start(self) -> Message:
        return {"type": "start", "id": self.name, "against": self.against}

    def answer(self, told: Message) -> Message | None:
        """What it says next, if anything."""
        self.told[told["type"]] += 1
        match told:
            case {"type": "end" | "disconnected"}:
                return self.start()
            case {"type": "ignored", "reason": reason}:
                self.told[reason] += 1
                return {"type": "state_request"}
            case {"type": "state", "turn": turn, "you": you} if turn == you and "winner" not in told:
                return {"type": "move", "move": self._random.randrange(7)}
            case _:
                return None


class Leaver:
    """It makes so many moves, and when the other is to move after that it is ready to hang up."""

    def __init__(self, name: str, against: str, moves: int) -> None:
        self.leaves = False
        self.over = False  # the match came to an end before
        self._start: Message = {"type": "start", "id": name, "against": against}
        self._moves = moves

    def start(self) -> Message:
        return self._start

    def answer(self, told: Message) -> Message | None:
        """What it says next, if anything."""
        match told:
            case {"type": "end" | "disconnected"}:
                self.over = True
            case {"type": "state", "turn": turn, "you": you, "state": state} if "winner" not in told:
                if turn == you:
                    self._moves -= 1
                    free = next(column for column in range(7) if not state[6 * column + 5])
                    return {"type": "move", "move": free}
                self.leaves = self._moves <= 0
            case _:
                pass
        return None
