"""A client of the c4-arena that cannot wait: it talks before a match, after it, and back to every refusal.

It moves before it has seen a state, and again in every state that says that it
is to move, one that it has asked for itself too; it answers whatever is ignored
with a request for the state. When its opponent has gone it sends one more move
and asks for the state, all before it says `start` again, and goes on about that
in its next match. The quitter is such an opponent.
"""

from typing import Any

from tests.blackbox.ends import Frames
from tests.hang import HANG


class Client(Frames):
    """What it plays is a column that has room, another each time."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port))
        self.moves = 0

    def tell(self, type: str, **more: Any) -> None:
        self.say({"type": type, **more})

    def move(self, board: list[int]) -> None:
        self.moves += 1
        columns = [column for column in range(7) if not board[6 * column + 5]]
        self.tell("move", move=columns[self.moves % len(columns)])


class Restless(Client):
    def __init__(self, port: int, name: str) -> None:
        super().__init__(port)
        self.name = name
        self.ends = {"end": 0, "disconnected": 0}
        self.reasons: set[str] = set()

    def start(self, against: str | None = None) -> None:
        self.against = against
        self.tell("start", id=self.name, against=against)
        self.tell("move", move=3)

    def play(self, how: str, often: int) -> None:
        """Until so many more matches have ended in that way; then it does not start again."""
        wanted = self.ends[how] + often
        while True:
            ended = self.react(self.hear(HANG))
            if self.ends[how] == wanted:
                return
            if ended:
                self.start(self.against)

    def react(self, said: Any) -> bool:
        """To one message; whether that was the end of a match."""
        match said["type"]:
            case "state":
                if "winner" not in said and said["turn"] == said["you"]:
                    self.move(said["state"])
            case "ignored":
                self.reasons.add(said["reason"])
                self.tell("state_request")
            case kind:
                self.ends[kind] += 1
                if kind == "disconnected":
                    self.tell("move", move=3)
                    self.tell("state_request")
                return True
        return False


def quit_often(port: int, name: str, against: str, often: int) -> None:
    """Somebody who hangs up in the middle of every match, each time a little later."""
    for time in range(often):
        with Client(port) as client:
            client.tell("start", id=name, against=against)
            for _ in range(1 + time % 5):
                state = client.hear(HANG)
                if state["turn"] == state["you"]:
                    client.move(state["state"])
