"""Bots' sides of the house protocol over HTTP, and of one who comes over whatever there is."""

from collections import deque
from random import Random
from typing import Any

import msgspec

from tests.server.windowed import End as Wire
from tests.simulation.doors.house import House, HouseFrames, HouseLines
from tests.simulation.doors.talk import Gone, Heard, Misled, Shut, Talk, Town
from tests.simulation.doors.web import Answer, Client, open_wires
from tournament.match import Match


class HouseWeb(House):
    """A session, listened to by long polls or by an event stream."""

    polls: bool

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self.asks, self.listens = Client(town, name), Client(town, name)
        self._session: str | None = None
        self._after = 0
        self._told: deque[str] = deque()
        self._listening = False

    @property
    def wires(self) -> list[Wire]:
        return open_wires(self.asks, self.listens)

    @property
    def path(self) -> str:
        return f"/play/{self._session}"

    async def come(self) -> None:
        """With a session, only its connections are made anew."""
        self._listening = False
        if self._session is None:
            await super().come()
        elif self.playing is not None:
            await self.say('{"type":"state"}')  # it may have said something that was lost

    async def open(self) -> None:
        self._told.clear()

    async def greet(self, hello: str) -> None:
        answer = await self.asks.ask("POST", "/play", hello)
        if answer.status != 201:
            raise Shut(answer.body)
        welcome = msgspec.json.decode(answer.body)
        self._session, self._after = welcome["session"], welcome["seq"]
        self._told.append(answer.body)

    async def say(self, text: str) -> None:
        self._checked(await self.asks.ask("POST", self.path, text))

    async def next(self) -> str:
        while not self._told:
            if self.polls:
                answer = self._checked(await self.listens.ask("GET", f"{self.path}?after={self._after}"))
                for message in msgspec.json.decode(answer.body, type=list[msgspec.Raw]):
                    self._tell(bytes(message).decode())
            else:
                await self._listen()
        return self._told.popleft()

    async def _listen(self) -> None:
        if not self._listening:
            said = {"Last_Event_ID": str(self._after)} if self._after else {}
            self._checked(await self.listens.ask("GET", self.path, **said))
            self._listening = True
        event = await self.listens.next()
        if event == "[end]":
            raise Gone
        if event.startswith("id: "):
            self._tell(event.partition("⏎data: ")[2])
        elif event != ": still here":
            raise Misled(f"was told {event}")

    def _tell(self, message: str) -> None:
        seq = msgspec.json.decode(message)["seq"]
        self.expect(seq, self._after + 1)
        self._after = seq
        self._told.append(message)

    def _checked(self, answer: Answer) -> Answer:
        if answer.status in (404, 410):
            self._session = None
            raise Gone
        if answer.status != 200:
            raise Misled(f"was answered {answer.status} {answer.body}")
        return answer


class HousePolls(HouseWeb):
    polls = True


class HouseStream(HouseWeb):
    polls = False


class HouseAnywhere(Talk):
    """Comes over another transport each time, with the same token."""

    resigns = True

    def __init__(self, name: str, game: str, town: Town, chance: Random, prompt: bool) -> None:
        super().__init__(name, game, town, chance, prompt)
        self._token = f"{name}'s own token"
        self._talk: House | None = None

    @property
    def wires(self) -> list[Wire]:
        return [] if self._talk is None else self._talk.wires

    def survives(self, what: str) -> bool:
        return True

    async def come(self) -> None:
        kind = self.chance.choice((HouseLines, HouseFrames, HousePolls, HouseStream))
        self._talk = kind(self.name, self.game, self.town, self.chance, self.prompt)
        self._talk.token, self._talk.complaints = self._token, self.complaints
        await self._talk.come()

    async def hear(self) -> Heard:
        assert self._talk is not None
        return await self._talk.hear()

    async def move(self, match: Match, sent: Any) -> None:
        assert self._talk is not None
        await self._talk.move(match, sent)

    async def babble(self, junk: str) -> None:
        assert self._talk is not None
        await self._talk.babble(junk)

    async def resign(self) -> None:
        assert self._talk is not None
        await self._talk.resign()

    async def leave(self) -> None:
        if self._talk is not None:
            await self._talk.leave()
