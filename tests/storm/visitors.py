"""Bots of the house protocol that come to any tournament or table, and do whatever comes to mind."""

from random import Random
from typing import Any

import trio

from games.catalogue import catalogue
from tests.adversaries.wires import Frames, Gone, Lines
from tests.cluster.balancer import LOST
from tests.storm.ask import AGAIN
from tests.storm.ground import Ground, Host
from tests.storm.orders import LATEST
from tests.storm.scene import GAMES, Scene

MOODS = ("plays", "plays", "plays", "plays", "stalls", "drops", "leaves", "resigns", "talks nonsense")
STAYS = 3.0  # seconds, at most, for which anybody does anything else than to play
SILENCE = 10.0  # seconds without a word after which a bot looks for another place, while there is a storm
THINKS = 0.02  # seconds, at most


class Visitor:
    def __init__(self, name: str, scene: Scene, ground: Ground, chance: Random) -> None:
        self._name = name
        self._scene = scene
        self._ground = ground
        self._chance = chance

    async def run(self) -> None:
        while True:
            if (place := self._place()) is not None:
                try:
                    await self._visit(*place)
                except (*LOST, Gone):
                    pass
            await trio.sleep(self._chance.uniform(AGAIN, 4 * AGAIN))

    async def sit(self, game: str) -> None:
        """At the open table of a game, until it is dealt a match there."""
        while self._name not in self._scene.seated:
            try:
                await self._visit(game, None)
            except (*LOST, Gone):
                pass
            await trio.sleep(AGAIN)

    def _place(self) -> tuple[str, str | None] | None:
        """A game, and a tournament or None."""
        scene, chance = self._scene, self._chance
        if scene.calm:
            due = scene.awaited.get(self._name, [])
            found = next((name for name in due if name in scene.held), None)
            return (scene.held[found].game, found) if found else None
        latest = list(scene.held.values())[-LATEST:]
        if latest and chance.random() < 0.8:
            held = chance.choice(latest)
            return held.game, held.name
        return chance.choice(GAMES), None

    def _token(self, game: str) -> str:
        """One by which it may be let in: that of its latest invitation, or its own."""
        possible = self._scene.effects.possible(("token", game, self._name))
        own = f"{self._name}-keeps-this-secret"
        known = sorted(
            each for each in possible or self._scene.effects.tried(("token", game, self._name)) if each
        )
        return self._chance.choice([*known, *known, own]) if known else own

    async def _visit(self, game: str, tournament: str | None) -> None:
        mood = "plays" if self._scene.calm else self._chance.choice(MOODS)
        hello = {"type": "hello", "name": self._name, "game": game, "token": self._token(game)}
        hello |= {} if tournament is None else {"tournament": tournament}
        host: Host = self._chance.choice(self._ground.hosts)
        framed = self._chance.random() < 0.4
        async with await trio.open_tcp_stream("127.0.0.1", host.websocket if framed else host.tcp) as stream:
            wire = Frames(stream) if framed else Lines(stream)
            if isinstance(wire, Frames):
                await wire.open("/play")
            with trio.move_on_after(self._chance.uniform(0.1, STAYS)) as visit:
                if mood == "plays":
                    visit.deadline = float("inf")
                await Talk(self._scene, self._name, wire, game, mood, self._chance).go(hello)


class Talk:
    """What is said over one connection."""

    def __init__(
        self, scene: Scene, name: str, wire: Lines | Frames, game: str, mood: str, chance: Random
    ) -> None:
        self._scene = scene
        self._name = name
        self._wire = wire
        self._game = catalogue()[game]
        self._mood = mood
        self._chance = chance
        self._match = ""
        self._you: str = ""
        self._seats: dict[str | None, int | None] = {}
        self._moves: list[Any] = []
        self._position: Any = None

    async def go(self, hello: dict[str, Any]) -> None:
        await self._wire.say(hello)
        while True:
            with trio.move_on_after(SILENCE) as silence:
                message = await self._wire.hear()
            if silence.cancelled_caught:
                return
            if not await self._hear(message):
                return

    async def _hear(self, message: dict[str, Any]) -> bool:
        """Whether to listen on."""
        match message:
            case {"type": "refused", "reason": reason} if "ply" not in message:
                if self._mood != "talks nonsense":
                    self._scene.refusals[f"{self._name}: {reason}"] += 1
                return bool(self._match)
            case {"type": "begin", "match": match, "you": you}:
                if self._match not in ("", match):
                    self._scene.wrong.append(f"{self._name} was in {self._match} when {match} began")
                self._begin(message, match, you)
            case {"type": "turn", "match": match, "ply": ply, "turn": turn, "last": last} if (
                match == self._match
            ):
                if ply == len(self._moves) + 1:
                    self._play(last)
                if turn == self._you:
                    return await self._answer(match, ply)
            case {"type": "end", "match": match} if match == self._match:
                winner = self._seats[message["winner"]]
                told = self._moves
                self._scene.told.end(match, winner, message["ending"], message["why"], told)
                self._match = ""
                return self._scene.calm or self._chance.random() < 0.8
            case {"type": "standings"}:
                return False
            case _:
                pass
        return True

    def _begin(self, message: dict[str, Any], match: str, you: str) -> None:
        self._scene.begun(match)
        self._scene.seated.add(self._name)
        self._match, self._you, self._moves = match, you, []
        self._seats = {seat: number for number, seat in enumerate(self._game.seats)}
        self._seats |= {"draw": None, None: None}
        self._position = self._game.opening(message.get("options", {}))
        for sent in message.get("moves", []):
            self._play(sent)

    def _play(self, sent: Any) -> None:
        self._moves.append(sent)
        self._position = self._position.play(self._game.read(sent, self._position))

    async def _answer(self, match: str, ply: int) -> bool:
        mood = self._mood if self._chance.random() < 0.3 else "plays"
        match mood:
            case "stalls":
                await trio.sleep_forever()
            case "drops":
                return False
            case "leaves":
                await self._wire.say({"type": "bye"})
                return False
            case "resigns":
                await self._wire.say({"type": "resign", "match": match})
            case "talks nonsense":
                await self._wire.say({"type": "think"})
                await self._wire.say({"type": "move", "match": match, "ply": ply, "move": "e99"})
            case _:
                await trio.sleep(self._chance.uniform(0, THINKS))
                move = self._game.write(self._chance.choice(list(self._position.moves())))
                await self._wire.say({"type": "move", "match": match, "ply": ply, "move": move})
        return True
