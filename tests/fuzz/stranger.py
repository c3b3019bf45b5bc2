"""Somebody at the doors: does what a session says, or plays as a bot should."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from math import inf
from random import Random
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from games.game import Game
from server.host.host import Host
from server.net.guard import PEER_GONE
from tests.fuzz.sessions import Hear, Leave, Say, Step, Tongue, Wait
from tests.server.cutting import cut
from tests.server.windowed import End

Connect = Callable[[], End]
Question = tuple[Game[Any, Any], Any]  # the game, and the position that it is in
Pack = Callable[[bytes, Random], bytes]  # a message as it goes over the wire

VARIABLE = re.compile(rb"\$(\w+)\$")
TOLD = re.compile(
    rb'"(?:(token|battleId|session|match)s?":\[?"([^"]*)"|(ply|seq)":([0-9]+))|(Location|X-Turn-Token): (\S+)'
)
PRESSING = 3.0  # seconds that somebody goes on sending to a host that does not read
MOVES = 4  # of a position's legal ones, the first of them: to look at all may take long
GREETING = 20  # bytes: a status line
THINKING = 1.6  # seconds, at most: the shortest clock has five

# What a move looks like that nobody asked for, in JSON and as people type it.
MOVES_ANYHOW: tuple[tuple[Any, str], ...] = (
    (3, "3"),
    ([0, 0], "0 0"),
    ([1, 1, 1], "1 1 1"),
    ({"action": "putSymbol", "position": "NE"}, "NE"),
    ({"action": "move", "position": "e2"}, "e2"),
    ([{"row": 0, "col": 0}, {"row": 0, "col": 1}], "0,0 0,1"),
)


class Stranger:
    """One session's connections, and what it knows."""

    def __init__(
        self, name: str, rival: str, host: Host, connect: Connect, pack: Pack, random: Random, breath: int
    ) -> None:
        """`breath` is how many bytes it sends at most."""
        self.name = name
        self.ends: dict[int, End] = {}
        self.greetings: dict[End, bytes] = {}  # what was heard first
        self.plays_in: str | None = None  # a tournament; None: wherever somebody has its name
        self._host = host
        self._connect = connect
        self._pack = pack
        self._random = random
        self._breath = breath
        self._hung_up = False
        self._playing = trio.CancelScope()
        self._knows: dict[bytes, bytes] = {b"name": name.encode(), b"rival": rival.encode()}

    async def live(self, steps: Iterable[Step]) -> None:
        for step in steps:
            try:
                await self._do(step)
            except PEER_GONE:
                self._hung_up = True  # on, that is; what comes next may be for another connection

    async def play(self, tongue: Tongue) -> None:
        """Come in, answer every question with a legal move, and take one's time over it."""
        with self._playing:
            await self.live(
                replace(step, seconds=inf) if isinstance(step, Hear) else step for step in tongue.enter
            )
            while not self._hung_up:
                await self.live([Hear(THINKING, tongue.listens)])
                if self.question is not None:
                    await trio.sleep(THINKING * self._random.random())
                    self.listen()
                    await self.live(tongue.answers[:1])

    async def _do(self, step: Step) -> None:
        match step:
            case Say():
                await self._say(step)
            case Hear(seconds, on):
                with trio.move_on_after(seconds):
                    await self._hear(on)
            case Wait(seconds):
                await trio.sleep(seconds)
            case Leave(how, on):
                self._leave(how, on)

    def close(self) -> None:
        """Go, and do not come back."""
        self._playing.cancel()
        for end in self.ends.values():
            end.close()

    def listen(self) -> None:
        """Take in what has come, without waiting for more."""
        for end in self.ends.values():
            for _ in range(GREETING):  # in pieces as they come; of a long answer the beginning will do
                if end.open and (told := end.here()):
                    self._learn(end, told)

    @property
    def question(self) -> Question | None:
        """The game and the position that this player's move is awaited in."""
        for tournament in self._host.tournaments.values():
            if self.plays_in not in (None, tournament.record.name):
                continue
            for match in tournament.matches.values():
                if match.to_move is not None and match.names[match.to_move] == self.name:
                    return match.game, match.position
        return None

    async def _say(self, step: Say) -> None:
        question = self.question
        if step.asked and question is None:
            return
        end = self._end(step.on)
        sent = b"".join(self._message(step, question) for _ in range(step.times))[: self._breath]
        self._breath -= len(sent)
        for piece in cut(sent, [*step.cuts]) if step.cuts else (sent,):
            await self._send(end, piece)

    def _message(self, step: Say, question: Question | None) -> bytes:
        """What goes over the wire."""
        text = VARIABLE.sub(lambda found: self._value(found[1], question), step.text)
        sent = text if step.raw else self._pack(text, self._random)
        for place, gone, added in step.edits:
            place %= len(sent) + 1
            sent = sent[:place] + added + sent[place + gone :]
        return sent

    async def _send(self, end: End, piece: bytes) -> None:
        rest = memoryview(piece)
        rest = rest[end.send_now(rest) :]
        with trio.move_on_after(PRESSING):
            while rest:
                rest = rest[await end.send_some(rest) :]
        await trio.lowlevel.checkpoint()

    def _end(self, on: int) -> End:
        end = self.ends.get(on)
        if end is not None and self.plays_in is not None and said_its_last(end.other):
            end.close()  # an honest bot connects anew, as every client of HTTP has to
            end = None
        if end is None:
            self.ends[on] = self._connect()
        return self.ends[on]

    async def _hear(self, on: int) -> None:
        end = self._end(on)
        told = await end.receive_some(1 << 20)
        if not told:
            raise trio.BrokenResourceError("the host has said its last")
        self._learn(end, told)

    def _learn(self, end: End, told: bytes) -> None:
        if len(first := self.greetings.get(end, b"")) < GREETING:
            self.greetings[end] = first + told[:GREETING]
        for found in TOLD.finditer(told):
            word, value = (each for each in found.groups() if each is not None)
            self._knows[word.lower().replace(b"-", b"")] = value

    def _leave(self, how: str, on: int) -> None:
        end = self.ends.get(on)
        if end is None or not end.open:
            return
        match how:
            case "finish":
                end.finish()
            case "reset":
                end.reset()
            case _:
                end.close()

    def _value(self, variable: bytes, question: Question | None) -> bytes:
        """What a name in a message stands for."""
        if variable not in (b"move", b"short", b"form"):
            return self._knows.get(variable, b"0")
        if question is None:
            move, short = self._random.choice(MOVES_ANYHOW)
        else:
            game, position = question
            chosen = self._random.choice([*islice(position.moves(), MOVES)])
            move, short = game.write(chosen), game.short(chosen)
        if variable == b"short":
            return short.encode()
        if variable == b"form" and isinstance(move, Mapping):
            return "&".join(f"{key}={value}" for key, value in move.items()).encode()
        return msgspec.json.encode(move)


def said_its_last(end: End) -> bool:
    """Nothing more will be sent from there."""
    return not end.open or end._out.ended
