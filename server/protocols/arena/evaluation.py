"""Evaluations: a bot is invited to the Arena's cases, one after another, and gets its score.

These matches are in no tournament and no record. The result of a run is told
to the one who asked for it, and remembered here for a while.
`server/protocols/arena/cases.py` has the cases and their worth.
"""

import re
from functools import partial
from random import Random
from typing import Any
from uuid import uuid4

import structlog
import trio
from msgspec import Struct
from msgspec.json import encode

from games.game import quoted
from server.host.host import Host
from server.http.head import HttpError
from server.net.addresses import Url
from server.net.admission import network_of
from server.protocols.arena.battle import Enrol
from server.protocols.arena.cases import CASES, Case, oppose, wanted
from server.protocols.arena.invitations import Invitations
from tournament.match import Match
from tournament.player import Seat

HOUSE, BOT = "the Arena", "the bot"  # their names in endings
RUN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
PRECISION = 2  # decimals of a score
TOLD_WITHIN = 60.0  # seconds in which a score is sent, or not at all: bots are called there as well
MISSED = 1  # cases in a row that a bot may miss once it has come to one

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Evaluate(Struct, frozen=True):
    """A request for an evaluation."""

    teamUrl: str
    callbackUrl: str | None = None  # where the score is sent
    runId: str | None = None  # the caller's name for the run; None: any name
    caseType: str | None = None  # None: all


class Played(Struct, frozen=True):
    """A case that is over."""

    battleId: str
    caseType: str
    score: float
    why: str


class Run:
    def __init__(self, name: str, game: str, bot: Url, callback: Url | None, cases: list[Case]) -> None:
        """The same name gives the same order of cases, and the same moves of opponents that draw lots."""
        Random(name).shuffle(cases)
        self.name = name
        self.game = game
        self.bot = bot
        self.callback = callback
        self.cases = {str(uuid4()): case for case in cases}  # by their battles, in the order of playing
        self.played: list[Played] = []
        self.begun = trio.Event()  # its first battle is open, or waits until the bot is free, or it is over
        self.done = False

    @property
    def score(self) -> float:
        return _plain(sum(played.score for played in self.played))

    def standing(self) -> dict[str, Any]:
        """The score so far, without the cases to come: a battle's name is the bot's secret."""
        return {"runId": self.name, "score": self.score, "done": self.done, "cases": self.played}


class Evaluations:
    def __init__(self, host: Host, invitations: Invitations, enrol: Enrol) -> None:
        self._host = host
        self._invitations = invitations
        self._enrol = enrol
        self._runs: dict[str, Run] = {}

    def find(self, name: str) -> Run | None:
        return self._runs.get(name)

    def awaits(self, game: str, battle: str) -> bool:
        """Whether that battle is still to come."""
        running = (run for run in self._runs.values() if not run.done and run.game == game)
        return any(battle in run.cases for run in running)

    async def begin(self, game: str, asked: Evaluate, *, peer: str, from_here: bool) -> Run:
        """Begin a run, asked for by `peer`, on this machine (`from_here`) or another; raises `HttpError`."""
        cases = wanted(game, asked.caseType)
        if not cases:
            choices = ", ".join(CASES[game])
            raise HttpError(400, f"caseType has to be one of {choices}, and not {quoted(asked.caseType)}")
        if asked.runId is not None and not RUN_ID.fullmatch(asked.runId):
            raise HttpError(400, "runId has to be 1 to 64 letters, digits, _ . or -")
        limits = self._host.limits
        origin = network_of(peer, limits.trust_loopback)
        checked = partial(self._invitations.checked, from_here=from_here, origin=origin)
        bot, callback = await checked(asked.teamUrl, game), None
        if asked.callbackUrl is not None:
            callback = await checked(asked.callbackUrl)
        name = asked.runId or str(uuid4())
        running = [run for run in self._runs.values() if not run.done]
        if name in self._runs:
            raise HttpError(409, "there is a run with this runId already")
        if any(run.bot.text == bot.text for run in running):
            raise HttpError(409, "this bot is being evaluated: wait until that is over")
        mine = sum(run.bot.origin == bot.origin for run in running)
        if bot.origin and mine >= limits.evaluations_per_address:
            raise HttpError(
                429, f"{mine} evaluations for your address are going on, which is the limit: come again later"
            )
        if len(running) >= limits.evaluations:
            raise HttpError(
                429, f"{len(running)} evaluations are going on, which is the limit: come again later"
            )
        run = self._runs[name] = Run(name, game, bot, callback, cases)
        for key in (name, *run.cases):
            self._host.on_key_of_game(key)
        self._host.guard.start_soon(self._run, run)
        await run.begun.wait()  # whoever is told the battle's name can open its stream, if the bot is free
        return run

    async def _run(self, run: Run) -> None:
        missed = forgiven = 0  # cases in a row: no address is called on and on just because somebody gave it
        try:
            for battle, case in run.cases.items():
                turn = self._invitations.turn(run.bot)
                if turn.locked():
                    run.begun.set()
                async with turn:
                    came = await self._play(run, battle, case)
                missed, forgiven = (0, MISSED) if came else (missed + 1, forgiven)
                if missed > forgiven:
                    break
        finally:
            run.done = True
            run.begun.set()
            for battle in run.cases.keys() - {played.battleId for played in run.played}:
                self._host.on_key_of_game_gone(battle)  # there will be none
            self._forget_old()
        log.info("evaluated", game=run.game, run=run.name, score=run.score)
        if run.callback is not None:
            told = ", ".join(f"{played.caseType} {played.score:g} ({played.why})" for played in run.played)
            with trio.move_on_after(TOLD_WITHIN):
                await self._invitations.post(
                    run.callback, encode({"runId": run.name, "score": run.score, "message": told})
                )

    async def _play(self, run: Run, name: str, case: Case) -> bool:
        """Play a case; returns whether the bot came at all."""
        host, lots = self._host, Random(f"{run.name} {case.name}")
        house = case.seat
        names = (BOT, HOUSE) if house else (HOUSE, BOT)
        match = Match(case.rules, names, trio.current_time())
        match.log.report = host.guard.report
        host.timekeeper.watch(match)
        seat = Seat(match, 1 - house, host.timekeeper)
        battle = self._enrol(seat, name=name, wronged=partial(case.wronged, match))
        battle.expect(host.limits.start_seconds)
        run.begun.set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._invitations.invite, run.bot, battle)
            await oppose(match, Seat(match, house, host.timekeeper), case.opponent(lots, host.thinker))
            nursery.cancel_scope.cancel()
        assert match.result is not None  # noqa: S101
        score = _plain(case.score(match, 1 - house))
        run.played.append(Played(name, case.name, score, match.result.decided_by))
        return battle.started

    def _forget_old(self) -> None:
        over = [name for name, run in self._runs.items() if run.done]
        for name in over[: -self._host.limits.evaluations_kept]:
            del self._runs[name]
            self._host.on_key_of_game_gone(name)


def _plain(score: float) -> float:
    """A score as people write it: 4, 10.83."""
    rounded = round(score, PRECISION)
    return int(rounded) if rounded == int(rounded) else rounded
