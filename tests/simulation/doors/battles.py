"""Bots' sides of the Arena: one that asks for its battles, and one that is called to them."""

from random import Random
from typing import Any

import msgspec
import trio

from server.protocols.arena.messages import FLIP
from tests.simulation.doors.talk import NOTHING, Asked, Done, Heard, Misled, Over, Shut, Town, encoded
from tests.simulation.doors.web import Web
from tournament.events import Ending
from tournament.match import Match

FLIPS = 0.7  # how likely a bot flips the table at an opponent's fault


class Arena(Web):
    """Tic-Tac-Toe and Quoridor: a request to join is held until there is a battle, which is a stream."""

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self.token: str | None = f"{name}'s_own_token_"
        self._battle: str | None = None
        self._match: str | None = None  # what that is in the record, which no bot is told
        self._streaming = False
        self._new()

    def _new(self) -> None:
        self._seen: list[Any] = []  # moves
        self._you = ""
        self._said = NOTHING

    def survives(self, what: str) -> bool:
        return True

    @property
    def path(self) -> str:
        return f"/{self.game}/play/{self._battle}"

    async def come(self) -> None:
        self._streaming = False

    async def hear(self) -> Heard:
        if self._battle is None:
            if self.town.over:
                return Done()
            self._battle = await self.battle()
            if self._battle is None:
                return Done()
            match, _ = self.town.battle(self._battle) or (None, 0)
            self._match = None if match is None else match.name
        if not self._streaming:
            answer = await self.listens.ask("GET", f"/{self.game}/start/{self._battle}")
            if answer.status != 200:
                raise Misled(f"was answered {answer.status} {answer.body}")
            self._streaming = True
            self._new()
        while True:
            event = await self.listens.next()
            if event == "[end]":
                self._battle, self._streaming = None, False
                return Over(self._said, self._match)
            if await self._understand(msgspec.json.decode(event.removeprefix("data: "))):
                return Asked()

    async def battle(self) -> str | None:
        """The next one; None when there are no more."""
        body = encoded({"name": self.name, "token": self.token})
        answer = await self.asks.ask("POST", f"/{self.game}/join", body)
        if answer.status == 410:
            return None
        if answer.status != 200:
            raise Shut(answer.body)
        told = msgspec.json.decode(answer.body)
        self.token = told["token"]
        return told["battleId"]

    async def _understand(self, event: dict[str, Any]) -> bool:
        """Whether that makes it this bot's turn."""
        match event:
            case {"youAre": you, "id": battle}:
                self.expect(battle, self._battle)
                self._you = you
            case {"winner": winner}:
                self._said = self.result(winner, self._you)
                return False
            case {"player": _, "action": action} if action == FLIP:
                return False
            case {"player": player, **move}:
                self._seen.append(move)
                if player != self._you:
                    await self._look_for_a_cheat()
            case _:
                raise Misled(f"was told {event}")
        found = self.town.battle(self._battle or "")
        if found is None:
            return False
        match, seat = found
        self.expect(self._you, match.game.seats[seat])
        moves = [msgspec.to_builtins(move) for move in match.moves]
        return match.to_move == seat and len(self._seen) == match.ply and self.is_so(self._seen, moves)

    async def _look_for_a_cheat(self) -> None:
        """Flip the table at an opponent's fault; whoever does not look has won all the same."""
        match, _ = self.town.battle(self._battle or "") or (None, 0)
        if match is None or match.result is None or len(self._seen) <= match.ply:
            return
        if match.result.ending is Ending.ILLEGAL and self.chance.random() < FLIPS:
            await self.asks.ask("POST", self.path, encoded({"action": FLIP}))

    async def move(self, match: Match, sent: Any) -> None:
        answer = await self.asks.ask("POST", self.path, encoded(sent))
        if answer.status not in (200, 423):
            self.complaints.append(f"was answered {answer.status} {answer.body}")


class Called(Arena):
    """The same, by a bot that is called to its battles."""

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self._calls, self._hears = trio.open_memory_channel[str](100)
        self._address = town.number(name, self._called)
        self._in = False

    async def _called(self, where: str, message: dict[str, Any]) -> bool:
        self.expect(where, f"/{self.game}")
        self._calls.send_nowait(message["battleId"])
        return True

    async def battle(self) -> str | None:
        if not self._in:
            body = encoded({"name": self.name, "teamUrl": self._address, "token": self.token})
            answer = await self.asks.ask("POST", f"/{self.game}/join", body)
            if answer.status != 202:
                raise Shut(answer.body)
            self._in = True
        return await self._hears.receive()
