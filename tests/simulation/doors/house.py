"""Bots' sides of the house protocol, over TCP and websocket; over HTTP it is `sessions.py`'s."""

from random import Random
from typing import Any

import msgspec

from tests.server.ends import FrameEnd, LineEnd
from tests.simulation.doors.talk import (
    Asked,
    Connected,
    Done,
    Heard,
    Misled,
    Over,
    Shut,
    Town,
    encoded,
    shown,
)
from tournament.match import Match

TOO_LATE = ("the match is over", "no match is being played just now")


class House(Connected):
    """The house protocol; how messages travel is for others to say."""

    resigns = True

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self.token: str | None = f"{name}'s own token" if chance.random() < 0.5 else None
        self._you = ""
        self.playing: str | None = None
        self._ply = 0
        self._in = False

    def survives(self, what: str) -> bool:
        """Whoever has no token yet has the name for the asking, unless the host holds it to be here."""
        return self.token is not None or what != "pull"

    async def come(self) -> None:
        self._in = False
        await self.open()
        hello = {"type": "hello", "name": self.name, "game": self.game, "protocol": 1}
        if self.token is not None:
            hello["token"] = self.token
        if self.chance.random() < 0.5:
            hello["tournament"] = self.town.name
        await self.greet(encoded(hello))

    async def open(self) -> None:
        """Connect."""
        raise NotImplementedError

    async def greet(self, hello: str) -> None:
        await self.say(hello)

    async def hear(self) -> Heard:
        while True:
            match msgspec.json.decode(await self.next()):
                case {"type": "welcome", "token": token, "name": name}:
                    self.expect(name, self.name)
                    self.token, self._in = token, True
                case {"type": "begin", "match": str(match), "you": str(you)}:
                    self.playing, self._you = match, you
                case {"type": "turn", "match": match, "ply": int(ply), "turn": turn, "state": state}:
                    self._ply = ply
                    self.expect(match, self.playing)
                    if turn == self._you and self._is_asked(ply, state):
                        return Asked()
                case {"type": "end", "match": match, "winner": winner, "ending": ending, "why": why}:
                    self.expect(match, self.playing)
                    self.playing = None
                    return Over(self.result(winner, self._you), match, (ending, why))
                case {"type": "standings"}:
                    return Done()
                case {"type": "refused", "reason": reason} if not self._in:
                    raise Shut(reason)
                case {"type": "refused", "reason": reason} as refused:
                    if reason in TOO_LATE or "is not being played" in reason:
                        continue  # it ended while this was on its way
                    self.complaints.append(f"was refused: {reason}")
                    if refused.get("ply") == self._ply and self._is_asked(self._ply, None):
                        return Asked()  # once more
                case message:
                    raise Misled(f"was told {message}")

    def _is_asked(self, ply: int, state: object) -> bool:
        """Whether that is how things stand now, and if so, whether it is how they were told."""
        found = self.town.playing(self.name)
        if found is None or found[0].name != self.playing or found[0].ply != ply:
            return False
        if state is not None:
            self.expect(state, shown(found[0], ply))
        return True

    async def move(self, match: Match, sent: Any) -> None:
        said = {"type": "move", "move": sent}
        if self.chance.random() < 0.8:
            said |= {"match": match.name, "ply": match.ply}
        await self.say(encoded(said))

    async def babble(self, junk: str) -> None:
        await self.say(junk)

    async def resign(self) -> None:
        await self.say('{"type":"resign"}')

    async def leave(self) -> None:
        if self.chance.random() < 0.5:
            await self.say('{"type":"bye"}')
        await super().leave()


class HouseLines(House):
    async def open(self) -> None:
        self.wire = self.town.dial("tcp", self.name)
        self.end = LineEnd(self.wire)


class HouseFrames(House):
    async def open(self) -> None:
        self.wire = self.town.dial("websocket", self.name)
        self.end = end = FrameEnd(self.wire, "/play")
        await end.shake_hands()
