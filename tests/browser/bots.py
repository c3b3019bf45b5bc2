"""Bots that play over the real TCP door while a browser watches: the house protocol, a thread each.

They follow the match as any author's bot would, from what they are told, and
play what a house brain finds.
"""

import json
import socket
import time
from contextlib import suppress
from threading import Semaphore, Thread
from typing import Any

from games.brains import greedy, random
from games.catalogue import catalogue
from tests.hang import HANG


class Bot(Thread):
    """Plays until its tournament is over, or until it is told to leave.

    With `turns` it makes a move each time that they are released. What it `says` it says with each.
    """

    def __init__(
        self,
        port: int,
        name: str,
        game: str,
        *,
        brain: str = "random",
        think: float = 0.0,
        turns: Semaphore | None = None,
        token: str | None = None,
        says: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._game = catalogue()[game]
        seed = sum(name.encode())
        self._brain = (greedy if brain == "greedy" else random)(self._game, seed)
        self._think = think
        self._turns = turns
        self._says = says or {}
        self._position: Any = None
        self._connection = socket.create_connection(("127.0.0.1", port), HANG)
        self._connection.settimeout(None)  # its opponent may be waiting to be released for any time
        self._say({"type": "hello", "name": name, "game": game} | ({"token": token} if token else {}))
        self.start()

    def leave(self) -> None:
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self.join(HANG)

    def run(self) -> None:
        with suppress(OSError, ValueError), self._connection.makefile("r") as lines:
            for line in lines:
                self._hear(json.loads(line))
        self._connection.close()

    def _say(self, message: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps(message).encode() + b"\n")

    def _hear(self, told: dict[str, Any]) -> None:
        match told:
            case {"type": "begin", "you": you}:
                self._seat, options = self._game.seats.index(you), told.get("options")
                self._position = self._game.opening(options) if options else self._game.start()
            case {"type": "turn", "ply": ply, "last": last, "turn": turn}:
                if ply:
                    self._position = self._position.play(self._game.read(last, self._position))
                if turn == self._game.seats[self._seat]:
                    time.sleep(self._think)
                    if self._turns is not None:
                        self._turns.acquire()
                    move = self._brain(self._position, lambda: False)
                    self._say({"type": "move", "ply": ply, "move": self._game.write(move)} | self._says)
            case {"type": "standings"}:
                self._connection.shutdown(socket.SHUT_RDWR)
            case _:
                pass
