"""A sound client for Connect-4, as short as can be. Each script beside it has one fault.

`python sound.py 127.0.0.1:8000`
"""

import json
import socket
import sys
import time
from typing import Any

Message = dict[str, Any]


class Bot:
    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self.place = host, int(port)
        self.token = "sixteen-letters-or-more"
        self.seat = ""
        self.question: Message = {}

    def run(self) -> None:
        while True:
            try:
                with socket.create_connection(self.place) as connection:
                    self.connection = connection
                    if self.play():
                        return
            except OSError:
                pass
            self.come_again()
            time.sleep(0.02)

    def come_again(self) -> None:
        """What happens before it does."""

    def play(self) -> bool:
        """Whether there is nothing more to play; not, if the connection is lost."""
        self.say(self.hello())
        return any(self.hear(json.loads(line)) for line in self.lines())

    def lines(self) -> Any:
        return self.connection.makefile("rb")

    def hello(self) -> Message:
        return {"type": "hello", "name": "ann", "game": "connect-4", "token": self.token}

    def hear(self, message: Message) -> bool:
        """Whether that was the last of it."""
        match message["type"]:
            case "begin":
                self.begin(message)
            case "turn":
                self.turn(message)
            case "refused":
                return self.refused(message)
            case "end":
                self.end(message)
            case "standings":
                self.over(message)
                return True
            case _:
                pass
        return False

    def begin(self, message: Message) -> None:
        self.seat = message["you"]

    def turn(self, message: Message) -> None:
        self.question = message
        if message["turn"] == self.seat:
            self.answer()

    def answer(self) -> None:
        move = self.choose(self.question["state"])
        self.say({"type": "move", "match": self.question["match"], "ply": self.question["ply"], "move": move})

    def choose(self, state: list[int]) -> int:
        return next(column for column in range(7) if state[column * 6 + 5] == 0)

    def refused(self, message: Message) -> bool:
        if "has taken over" in message["reason"]:
            return True
        if message.get("ply") == self.question["ply"]:
            self.answer()
        return False

    def end(self, message: Message) -> None:
        """A match is over."""

    def over(self, message: Message) -> None:
        """The tournament is."""

    def say(self, message: Message) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")


def main(kind: type[Bot]) -> None:
    kind(sys.argv[1]).run()


if __name__ == "__main__":
    main(Bot)
