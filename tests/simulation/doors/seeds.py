"""Bots' sides of the seeds' wires that are one connection: Santorini's memo and the c4-arena."""

from typing import Any

import msgspec

from tests.server.ends import FrameEnd, LineEnd
from tests.simulation.doors.talk import (
    WON,
    Asked,
    Connected,
    Done,
    Gone,
    Heard,
    Misled,
    Over,
    Shut,
    encoded,
    shown,
)
from tournament.match import Match


class Memo(Connected):
    """Santorini as the memo has it."""

    async def come(self) -> None:
        self.wire = self.town.dial("tcp", self.name)
        self.end = LineEnd(self.wire)
        await self.say(self.chance.choice((self.name, f'"{self.name}"', f" {self.name}\r")))

    async def hear(self) -> Heard:
        while True:
            try:
                text = await self.next()
            except Gone:
                if self.town.over:
                    return Done()
                raise
            if not text.startswith("["):
                raise Shut(text)
            status, turn, _, (one, _), (other, _) = told = msgspec.json.decode(text)
            if status == "gameOver":
                return Over(self.result("draw" if turn == "Draw" else turn, self.name))
            if turn == self.name and (found := self.town.playing(self.name)):
                match, _ = found
                if match.names == (one, other) and self.is_so(told, shown(match, match.ply)):
                    return Asked()

    async def move(self, match: Match, sent: Any) -> None:
        await self.say(" ".join(map(str, sent)) if isinstance(sent, list | tuple) else str(sent))

    async def babble(self, junk: str) -> None:
        await self.say(junk)


class Fours(Connected):
    """Connect-4 as the c4-arena speaks it."""

    async def come(self) -> None:
        self.wire = self.town.dial("websocket", self.name)
        self.end = end = FrameEnd(self.wire, "/")
        await end.shake_hands()
        await self._start()

    async def _start(self) -> None:
        self._told: str | None = None
        await self.say(encoded({"type": "start", "id": self.name, "against": None}))

    async def hear(self) -> Heard:
        if self._told is not None:
            if self.town.over:
                return Done()
            await self._start()
        while True:
            match msgspec.json.decode(await self.next()):
                case {"type": "state", "turn": 0, "you": you, "winner": winner}:
                    self._told = self.result(winner or "draw", you)
                case {"type": "state", "turn": turn, "you": you, "moves": moves, "state": state}:
                    found = self.town.playing(self.name)
                    if turn == you and found is not None:
                        match, _ = found
                        if self.is_so((moves, state), (match.moves, shown(match, match.ply))):
                            return Asked()
                case {"type": "end"} if self._told is not None:
                    return Over(self._told)
                case {"type": "disconnected"}:
                    self._told = WON
                    return Over(self._told)
                case {"type": "ignored", "reason": reason}:
                    self.complaints.append(f"was ignored: {reason}")
                case message:
                    raise Misled(f"was told {message}")

    async def move(self, match: Match, sent: Any) -> None:
        await self.say(encoded({"type": "move", "move": sent}))

    async def babble(self, junk: str) -> None:
        await self.say(junk)
