"""Transcripts: exchanges as the pages in `docs/protocols/` show them, and what replays them.

A block fenced as ```transcript is one host and all that is said to it:

    ann> Ann                    what ann's bot sends
    ann bob< ["placeWorker",…   what both are sent
    ann@http> POST /play …      over another transport than the page is about
    … 5s                        time passes
    ann> [connects]             and says nothing yet
    ann> [closes]               hangs up
    ann< [closed]               the host has hung up
    # …                         a remark
    ann> POST /match X-A: b {}  an HTTP request and its answers: `tests/server/http_end.py`
    ‹token›                     what only the host knows: anything the first time, then the same again
    ‹games›                     the names of all games there are

What follows the word `transcript` are settings: `tournament=friday game=santorini
format=round-robin entrants=2 turn=5`; without them there are the open tables.

A replay is strict: a bot must be sent each line, byte for byte, before anybody
sends anything more, and nothing else.
"""

import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any

import trio
import trio.testing
from msgspec import Struct

from games.brains import alphabeta
from games.catalogue import catalogue
from games.estimate import estimate
from games.game import Illegal, Pace
from games.perfect import grades
from server.host.grading import Judgement
from server.host.host import Host
from server.host.thinker import Failed
from server.net.limits import Limits
from tests.hang import HANG
from tests.server.ends import Connect, End
from tournament.facts import Opened
from tournament.format import Terms
from tournament.store import Store
from tournament.timekeeper import Timekeeper

FENCE = re.compile(r"^```transcript(?P<settings>.*)\n(?P<body>(?:.*\n)*?)```$", re.MULTILINE)
SAID = re.compile(r"(?P<who>[a-z0-9@]+(?: [a-z0-9@]+)*)(?P<way>[<>]) (?P<text>.*)")
PASSES = re.compile(r"… (?P<seconds>[0-9.]+)s")
UNKNOWN = re.compile(r"‹(\w+)›")
CLOCK = re.compile(r'"clock":(?:\[[^\]]*\]|[0-9]+)')


class Line(Struct, frozen=True):
    """One line of a transcript. Time that passes is nobody's, with so many seconds as its text."""

    number: int  # on its page
    who: tuple[str, ...]
    way: str
    text: str


class Transcript(Struct, frozen=True):
    name: str
    settings: Mapping[str, str]
    lines: tuple[Line, ...]

    @property
    def takes_time(self) -> bool:
        return any(not line.who for line in self.lines)


Doors = Callable[[Host, trio.Nursery], Awaitable[Mapping[str, Connect]]]  # of one host, by transport


def transcripts(page: Path) -> list[Transcript]:
    """All that are on a page. What is no line of a transcript is an error, and so is a page without any."""
    text = page.read_text()
    found = [_read(page.name, text, block) for block in FENCE.finditer(text)]
    assert found, f"{page.name} has no transcript"
    return found


def _read(page: str, text: str, block: re.Match[str]) -> Transcript:
    start = text.count("\n", 0, block.start("body")) + 1
    lines: list[Line] = []
    for number, line in enumerate(block["body"].splitlines(), start):
        if said := SAID.fullmatch(line):
            lines.append(Line(number, tuple(said["who"].split()), said["way"], said["text"]))
        elif passes := PASSES.fullmatch(line):
            lines.append(Line(number, (), "…", passes["seconds"]))
        else:
            assert not line or line.startswith("#"), f"{page}:{number}: {line}"
    settings = dict(setting.split("=") for setting in block["settings"].split())
    return Transcript(f"{page}:{start}", settings, tuple(lines))


async def at_once(work: Callable[[], Any]) -> Any:
    """In place of a thread: a virtual clock would not wait for one."""
    await trio.lowlevel.checkpoint()
    return work()


async def grade_at_once(
    game: str, options: Mapping[str, Any], moves: Sequence[Any], seconds: float
) -> Judgement | None:
    """In place of a child process, for the same reason."""
    await trio.lowlevel.checkpoint()
    try:
        return grades(catalogue()[game], options, moves) or estimate(catalogue()[game], options, moves)
    except Illegal as illegal:  # tests make moves up, and a child answers as much
        raise Failed(str(illegal)) from None


class Direct:
    """A thinker without children, for the same reason."""

    def __init__(self, trouble: type[Exception] | None = None) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.trouble = trouble

    async def think(
        self,
        game: str,
        options: Any,
        moves: Any,
        brain: str,
        seconds: float,
        depth: int | None = None,
        *,
        seed: int,
    ) -> Any:
        self.asked.append((game, brain, depth))
        if self.trouble is not None:
            raise self.trouble
        rules = catalogue()[game]
        position = rules.opening(options)
        for move in moves:
            position = position.play(rules.read(move, position))
        return rules.write(alphabeta(rules, seed, depth)(position, lambda: depth is None))


def always_zero(bits: int) -> int:
    """A page says who begins, where lots decide that: so these are always the same."""
    return 0


@asynccontextmanager
async def hosting(
    settings: Mapping[str, str], limits: Limits | None = None, store: Store | None = None
) -> AsyncIterator[tuple[Host, trio.Nursery]]:
    """A host as a transcript wants it, on trio's clock; and where its connections run."""
    host = Host(limits, store, timekeeper=Timekeeper(inf), wall=trio.current_time)
    host.boards.run = at_once
    host.grader.grade = grade_at_once
    host.random_bits = always_zero
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        host.thinker = Direct()
        if "tournament" in settings and settings["tournament"] not in host.tournaments:
            await host.open(settings["tournament"], opened_as(settings))
        yield host, nursery
        nursery.cancel_scope.cancel()
    assert not host.guard.caught, "something failed that nobody expected"


def opened_as(settings: Mapping[str, str]) -> Opened:
    bank, gain, turn = (float(settings[key]) if key in settings else None for key in ("bank", "gain", "turn"))
    pace = Pace(bank, gain or 0.0, turn) if bank or turn else None
    options = {key: value for key, value in settings.items() if key == "stuck"}
    entrants = int(settings["entrants"])
    return Opened(settings["game"], settings["format"], entrants, Terms(), options, pace)


async def replay(
    transcript: Transcript,
    doors: Doors,
    *,
    over: str = "tcp",
    cushion: float = 0.0,
    limits: Limits | None = None,
) -> None:
    """Replay against the doors of a new host; bots that name no transport come `over` this one.

    On a clock that jumps by itself there is no need of a cushion: when no task
    can run, all has been said. Over real sockets it is seconds of silence, and
    what a message says of clocks is not compared.
    """
    async with staged(transcript, doors, over=over, cushion=cushion, limits=limits) as (_, stage):
        for line in transcript.lines:
            await stage.perform(line)
        await stage.expect_silence("the end")


@asynccontextmanager
async def staged(
    transcript: Transcript,
    doors: Doors,
    *,
    over: str,
    cushion: float = 0.0,
    limits: Limits | None = None,
) -> AsyncIterator[tuple[Host, "Stage"]]:
    """The host, and a stage on which the transcript can be performed line by line."""
    async with hosting(transcript.settings, limits) as (host, nursery):
        stage = Stage(transcript.name, await doors(host, nursery), nursery, over, cushion)
        try:
            yield host, stage
        finally:
            await stage.clear()


class Stage:
    def __init__(
        self, name: str, doors: Mapping[str, Connect], nursery: trio.Nursery, over: str, cushion: float
    ) -> None:
        self._name = name
        self._doors = doors
        self._nursery = nursery
        self._over = over
        self._cushion = cushion
        self._bots: dict[str, Bot] = {}
        self._known = {"games": ", ".join(catalogue())}

    async def perform(self, line: Line) -> None:
        if line.way == "<":
            for who in line.who:
                await self.expect(who, line)
            return
        await self.expect_silence(f"line {line.number}")
        if not line.who:
            await trio.sleep(float(line.text))
        for who in line.who:
            if who not in self._bots:
                _, _, transport = who.partition("@")
                end = await self._doors[transport or self._over]()
                self._bots[who] = bot = Bot(end)
                self._nursery.start_soon(bot.listen)
            if line.text == "[closes]":
                await self.hang_up(who)
            elif line.text != "[connects]":
                await self._bots[who].end.say(UNKNOWN.sub(lambda name: self._known[name[1]], line.text))

    async def expect_silence(self, until: str) -> None:
        """Nobody was sent what is not in the transcript."""
        await trio.testing.wait_all_tasks_blocked(self._cushion)
        for who, bot in self._bots.items():
            assert not bot.heard, f"{self._name}: {who} also got, before {until}: {[*bot.heard]}"

    async def hang_up(self, who: str) -> None:
        """Lose a bot's connection, whatever it has yet to hear."""
        if who in self._bots:
            await self._bots.pop(who).close()

    async def clear(self) -> None:
        for bot in self._bots.values():
            await bot.close()

    async def expect(self, who: str, line: Line) -> None:
        bot = self._bots[who]
        await trio.testing.wait_all_tasks_blocked(self._cushion)
        until = time.monotonic() + (HANG if self._cushion else 0.0)
        while not bot.heard and time.monotonic() < until:
            await trio.testing.wait_all_tasks_blocked(self._cushion)
        assert bot.heard, f"{self._name}: {who} got nothing where line {line.number} has {line.text}"
        heard = bot.heard.popleft()
        if line.text == "[closed]":
            del self._bots[who]
            await bot.close()
        match = re.fullmatch(self._pattern(line.text), self.comparable(heard))
        assert match, f"{self._name}, line {line.number}: {who} expected\n{line.text}\nand got\n{heard}"
        self._known |= match.groupdict()

    def _pattern(self, text: str) -> str:
        plain, *rest = UNKNOWN.split(self.comparable(text))
        pattern = re.escape(plain)
        for name, plain in zip(rest[::2], rest[1::2], strict=True):
            known = self._known.get(name)
            if known is not None:
                pattern += re.escape(known)
            else:
                pattern += f"(?P={name})" if f"(?P<{name}>" in pattern else f'(?P<{name}>[^"]+)'
            pattern += re.escape(plain)
        return pattern

    def comparable(self, text: str) -> str:
        return CLOCK.sub('"clock":[]', text) if self._cushion else text


class Bot:
    def __init__(self, end: End) -> None:
        self.end = end
        self.heard: deque[str] = deque()
        self._closed = False

    async def listen(self) -> None:
        while not self._closed:
            message = await self.end.hear()
            if not self._closed:
                self.heard.append("[closed]" if message is None else message)
            if message is None:
                return

    async def close(self) -> None:
        self._closed = True
        await self.end.close()
