"""Thinking in child processes, so that the loop that serves everybody never waits for a move.

A `Thinker` has a few children (`thinker_child.py`) and gives each one task at a time. A
child that dies is replaced and its task given to another. House players
(`server/host/house_players.py`) and the Arena's evaluations have moves chosen here, and
`server/host/grading.py` has matches graded.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog
import trio
from msgspec import MsgspecError
from msgspec.json import decode, encode

from games.estimate import Estimate
from games.perfect import Grades
from server.host.thinker_child import GradingTask, Task, ThinkerAnswer
from server.net.guard import PEER_GONE
from server.net.lines import Lines, LineTooLong

ROOT = Path(__file__).parents[2]  # where `server` and `games` lie
COMMAND = (sys.executable, "-m", "server.host.thinker_child")
CHILDREN = 2
WAITING = 100  # tasks that wait for a child: at half a second each, 25 seconds for the last of them
SLACK = 10.0  # seconds beyond the time allowed, for a machine that is busy
TRIES = 3  # children that may die of one task
ANSWER = 65536  # bytes that an answer may have

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Busy(Exception):
    """Too many tasks wait already."""


class Failed(Exception):
    """A task cannot be done: it makes no sense, or no child survives it."""


class Thinker:
    """Moves for whoever asks, while `run` runs. Children are started when there is something to do."""

    def __init__(
        self,
        children: int = CHILDREN,
        waiting: int = WAITING,
        slack: float = SLACK,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._turns = trio.Semaphore(children)
        self._most = waiting
        self._slack = slack
        self._command = command
        self._waiting = 0
        self._running = False
        self._children: set[_Child] = set()
        self._idle: list[_Child] = []

    @property
    def waiting(self) -> int:
        """How many tasks no child has yet."""
        return self._waiting

    async def run(self) -> None:
        """Run until cancelled, then end all children."""
        self._running = True
        try:
            await trio.sleep_forever()
        finally:
            self._running = False
            for child in tuple(self._children):
                await self._end(child)

    async def think(
        self,
        game: str,
        options: Mapping[str, Any],
        moves: Sequence[Any],
        brain: str,
        seconds: float,
        depth: int | None = None,
        *,
        seed: int = 0,
    ) -> Any:
        """The move, as the game writes it, that a brain chooses after `moves`.

        Raises `Busy` where too many wait already, and `Failed` where no move will come.
        """
        task = Task(game, dict(options), list(moves), brain, seconds, depth, seed)
        return (await self._thought(task, seconds)).move

    async def grade(
        self, game: str, options: Mapping[str, Any], moves: Sequence[Any], seconds: float
    ) -> Grades | Estimate | None:
        """How well a match was played, or None where nobody can tell; raises as `think` does."""
        found = await self._thought(GradingTask(game, options, moves), seconds)
        return found.grades or found.estimate

    async def _thought(self, task: Task | GradingTask, seconds: float) -> ThinkerAnswer:
        line = encode(task) + b"\n"
        await self._turn()
        try:
            for _ in range(TRIES):
                if (thought := await self._ask(line, seconds + self._slack)) is not None:
                    if thought.wrong is not None:
                        raise Failed(thought.wrong)
                    return thought
            raise Failed(f"{TRIES} child processes gave no answer")
        finally:
            self._turns.release()

    async def _turn(self) -> None:
        """Wait for a child to be free; raises `Busy` if too many wait already."""
        try:
            self._turns.acquire_nowait()
        except trio.WouldBlock:
            if self._waiting >= self._most:
                raise Busy(f"{self._waiting} tasks wait already") from None
            self._waiting += 1
            try:
                await self._turns.acquire()
            finally:
                self._waiting -= 1

    async def _ask(self, task: bytes, seconds: float) -> ThinkerAnswer | None:
        """Give a task to a child; None if the child dies of it, or takes too long."""
        child = self._idle.pop() if self._idle else await self._start()
        thought = None
        try:
            with trio.move_on_after(seconds):
                thought = await child.ask(task)
        finally:
            if thought is not None:
                self._idle.append(child)
            else:  # also if the caller was cancelled: the next one must not get its answer
                log.info("a child that thinks is dropped", pid=child.pid)
                await self._end(child)
        return thought

    async def _start(self) -> "_Child":
        if not self._running:
            await trio.lowlevel.checkpoint()  # if the host is stopping, the caller is cancelled here
            raise Failed("the thinker does not run")
        try:
            process = await trio.lowlevel.open_process(
                [*self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=ROOT,
                start_new_session=True,  # Ctrl-C is the host's to deal with
            )
        except OSError as error:
            raise Failed(f"no child process can be started: {error.strerror}") from error
        child = _Child(process)
        self._children.add(child)
        return child

    async def _end(self, child: "_Child") -> None:
        self._children.discard(child)
        if child in self._idle:
            self._idle.remove(child)
        await child.end()


class _Child:
    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._lines = Lines(ANSWER)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, task: bytes) -> ThinkerAnswer | None:
        """The child's answer to a task; None if it dies, or sends something else."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("a child was started without pipes")
        try:
            await stdin.send_all(task)
            while received := await stdout.receive_some():
                for line in self._lines.receive(bytes(received)):
                    return decode(line, type=ThinkerAnswer)
        except (*PEER_GONE, LineTooLong, MsgspecError):
            pass  # the child is of no more use
        return None

    async def end(self) -> None:
        with trio.CancelScope(shield=True):
            self._process.kill()
            await self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    await pipe.aclose()
