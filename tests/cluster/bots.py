"""Bots that no other tests have: one of the c4-arena, and one that notes when it hears something."""

from random import Random
from typing import Any

import trio

from games.connect4 import GAME
from tests.adversaries.wires import Frames, Gone
from tests.chaos.bots import AGAIN, Bot
from tests.cluster.balancer import LOST


class Listening(Bot):
    """Notes when its tournament was last heard to go on."""

    heard: dict[str, float]  # by the kind of tournament
    kind: str

    def _hear(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if message["type"] in ("turn", "begin"):
            self.heard[self.kind] = trio.current_time()
        return super()._hear(message)


class FourBot:
    """Of the c4-arena: it cannot come back to a match."""

    def __init__(self, name: str, port: int, chance: Random) -> None:
        self._start = {"type": "start", "id": name}
        self._port = port
        self._chance = chance

    async def run(self) -> None:
        while True:
            try:
                await self._visit()
            except (*LOST, Gone):
                pass
            await trio.sleep(AGAIN)

    async def _visit(self) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", self._port) as stream:
            wire = Frames(stream)
            await wire.open("/")
            await wire.say(self._start)
            while True:
                match await wire.hear():
                    case {"type": "state", "turn": turn, "you": you, "moves": moves} if turn == you:
                        position = GAME.opening({})
                        for move in moves:
                            position = position.play(GAME.read(move, position))
                        move = GAME.write(self._chance.choice(list(position.moves())))
                        await wire.say({"type": "move", "move": move})
                    case {"type": "end" | "disconnected"}:
                        await wire.say(self._start)
                    case _:
                        pass
