"""Bots' sides of Hexagon Dots, where every answer is a turn, or the end."""

from random import Random
from typing import Any

import msgspec
import trio

from tests.simulation.doors.talk import DRAWN, LOST, WON, Asked, Done, Heard, Over, Shut, Town, encoded, shown
from tests.simulation.doors.web import Answer, Web
from tournament.match import Match


class Dots(Web):
    """Hexagon Dots: every answer is this bot's turn, or the end."""

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self._gate: str | None = None
        self._token = ""  # of this turn
        self._request: tuple[str, str] | None = None  # token and body of the move that is unanswered
        self._lines: list[Any] = []
        self._answered = True
        self._over = False

    def survives(self, what: str) -> bool:
        """With a request under way, which it can make again; at other times it would not even notice."""
        return what == "stall" or self._request is not None

    @property
    def path(self) -> str:
        return f"{self._gate}/moves"

    async def come(self) -> None:
        if self._request is None and not self._token:
            self._gate = None

    async def hear(self) -> Heard:
        if self._token:
            found = self.town.playing(self.name)
            if found is not None and found[0].to_move == found[1]:
                return Asked()  # as it was before
            self._send("[]")  # it is too late for a move: what comes of one is the end
        if self._request is not None:
            token, body = self._request
            answer = await self.asks.ask("POST", self.path, body, X_Turn_Token=token)
            self._request = None
        elif self.town.over:
            return Done()
        else:
            answer = await self._join()
        return self._heard(answer)

    async def _join(self) -> Answer:
        self._lines = []
        while True:
            self._gate = (await self.asks.ask("GET", "/match")).headers["Location"]
            answer = await self.asks.ask("POST", f"{self._gate}/players", encoded({"name": self.name}))
            if answer.status != 410 or self.town.over:
                return answer
            await trio.sleep(0.5)  # somebody else was quicker

    def _heard(self, answer: Answer) -> Heard:
        self._token = ""
        if answer.status in (403, 410):
            return Done() if self.town.over and not self._lines else Over(LOST)
        if answer.status != 200:
            raise Shut(answer.body)
        told = msgspec.json.decode(answer.body)
        self._lines += [line["endpoints"] for line in told["lines"]]
        if told["state"] == "completed":
            return Over(self._result({each["name"]: each["score"] for each in told["players"]}))
        self._token = answer.headers["X-Turn-Token"]
        match, seat = self.town.playing(self.name) or (None, 0)
        if match is not None and match.to_move == seat:
            self.expect(sorted(map(encoded, self._lines)), sorted(map(encoded, match.moves)))
            if "rows" in told:
                self.expect(told, shown(match, match.ply))
        return Asked()

    def _result(self, scores: dict[str, Any]) -> str:
        own = scores.pop(self.name)
        (other,) = scores.values()
        if "disqualified" in (own, other):
            return LOST if own == "disqualified" else WON
        return DRAWN if own == other else WON if own > other else LOST

    async def move(self, match: Match, sent: Any) -> None:
        self._send(encoded(sent))

    def _send(self, body: str) -> None:
        self._request, self._token = (self._token, body), ""
