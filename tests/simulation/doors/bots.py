"""Bots that answer, dither, babble, hang up, come back, fall deaf, or none of that, over any wire.

A `Bot` knows what its wire tells it. Which moves are legal it looks up in the
match itself: that bots can find out is shown elsewhere, by some that know only
the rules.
"""

from collections.abc import Mapping
from itertools import islice
from math import inf
from random import Random
from typing import Any

import trio

from games.game import Illegal
from tests.server.ends import LOST as CUT
from tests.simulation.doors import battles, dots, house, seeds, sessions
from tests.simulation.doors.plan import LONGEST, QUICK, THINKING, Character, Cut, Plan
from tests.simulation.doors.talk import Asked, Done, Gone, Misled, Over, Shut, Talk
from tests.simulation.doors.town import Town
from tournament.match import Match

WIRES: Mapping[str, type[Talk]] = {
    "memo": seeds.Memo,
    "c4-arena": seeds.Fours,
    "arena": battles.Arena,
    "arena, called": battles.Called,
    "dots": dots.Dots,
    "house over TCP": house.HouseLines,
    "house over websocket": house.HouseFrames,
    "house by polls": sessions.HousePolls,
    "house by stream": sessions.HouseStream,
    "house over any": sessions.HouseAnywhere,
}
JUNK = ("?", "{}", "[]", '{"type":"hello"}', '{"type":"move"}', '{"type":"state"}', "null", "☠", "9" * 99)
MOVES: tuple[Any, ...] = (None, -1, "", [], [9, 9, 9], {"action": "flip"}, [{"row": 9, "col": 9}] * 2)
BREADTH = 6  # of the legal moves, how many are looked at: some are dear to find
HASTE = 0.9  # of the steps in Quoridor go forward: at random it would take for ever
MARGIN = 0.01  # seconds before a deadline at which a bot that dithers is heard
LOOKS, LOOK = 100, 0.05  # how often, and after how many seconds, it is seen whether a cut can be borne now
SOONEST = 0.01  # seconds before somebody connects anew
KNOCKS = 5.0  # seconds, at most, before somebody who was shown out comes again


class Bot:
    def __init__(self, name: str, character: Character, town: Town, plan: Plan) -> None:
        self.name = name
        self.character = character
        self.told: list[Over] = []
        self.cut = False  # a connection of it was lost
        self.complaints: list[str] = []
        self._chance = Random(f"{plan.seed} {name}")
        self.talk = WIRES[character.wire](name, plan.game, town, self._chance, character.honest)
        self._town = town
        self._plan = plan
        self._heard = 0
        self._away = 0.0  # seconds until it comes back
        self._struck = False  # a connection was cut on purpose
        self._hurried = False  # it was away, and thinks no more
        self._cuts = list(character.cuts)

    async def live(self, nursery: trio.Nursery) -> None:
        """Until the tournament is over, or it has had enough."""
        await trio.sleep(self.character.comes)
        while True:
            try:
                await self.talk.come()
                await self._play(nursery)
                return
            except (Gone, *CUT) as gone:
                self._town.note(f"{self.name} is cut off")
                if not (self._struck or self._town.over):
                    self._complain(f"was hung up on: {gone}")
                self._struck = False
                self.cut = self._hurried = True
                if not (self._cuts or self._away or self.character.vices or self.character.honest):
                    return
            except Shut as shut:
                if not self._town.over:
                    self._complain(f"was shown out: {shut}")
                self._away = self._chance.uniform(1, KNOCKS)
            except Misled as misled:
                self._town.complain(f"{self.name}, {self.character.wire}: {misled}")
                return
            finally:
                self._close()
            away, self._away = self._away, 0.0
            if away == inf or (self._town.over and not self.talk.survives("reset")):
                return
            await trio.sleep(max(away, SOONEST))

    async def leave(self) -> None:
        """All is over."""
        try:
            await self.talk.leave()
        except (Gone, Misled, *CUT):
            pass
        self._close()

    async def _play(self, nursery: trio.Nursery) -> None:
        while True:
            heard = await self.talk.hear()
            self._heard += 1
            while self._cuts and self._cuts[0].after <= self._heard:
                nursery.start_soon(self._suffer, self._cuts.pop(0))
            match heard:
                case Asked() if (found := self._town.playing(self.name)) is not None:
                    await self._answer(*found)
                case Over():
                    self._town.note(f"{self.name} was told {heard}")
                    self.told.append(heard)
                case Done():
                    return
                case _:
                    pass

    def _complain(self, complaint: str) -> None:
        self._town.note(f"{self.name} {complaint}")
        self.complaints.append(complaint)

    def _close(self) -> None:
        for wire in self.talk.wires:
            wire.close()

    # What befalls it

    async def _suffer(self, cut: Cut) -> None:
        await trio.sleep(cut.delay)
        for _ in range(LOOKS):
            wires = self.talk.wires
            if wires and (self.talk.survives(cut.what) or not self.character.honest):
                break
            await trio.sleep(LOOK)
        else:
            return
        wire = self._chance.choice(wires)
        self._town.note(f"{self.name}: {cut.what} for {cut.away:.3f} s")
        self._struck = self._struck or cut.what != "stall"
        match cut.what:
            case "stall":
                self._chance.choice((wire, wire.other)).stall(cut.away)
            case "pull":
                self._town.pull(wire)
                await trio.sleep(cut.away)  # until it notices by itself
                wire.reset()
            case "reset":
                self._away = cut.away
                wire.reset()
            case _:
                self._away = cut.away
                wire.close()

    # What it does

    async def _answer(self, match: Match, seat: int) -> None:
        if match.to_move != seat:
            return
        vice = self._tempted()
        if vice is not None:
            self._town.note(f"{self.name} {vice}")
        until = inf if vice == "late" else match.clock.deadline
        if vice is None or vice == "illegal":
            await self._think(match)
        if match.to_move != seat:
            return
        ply = match.ply
        match vice:
            case "silent" | "late":
                await trio.sleep(self._chance.uniform(0, 2) * min(until - trio.current_time(), 60))
            case "babbles":
                for _ in range(self._chance.randint(1, 30)):
                    await self.talk.babble(self._chance.choice(JUNK))
            case "resigns" if self.talk.resigns:
                await self.talk.resign()
            case "hangs up" | "resets" | "quits" | "deaf":
                await self._go(vice)
            case "half-closes":
                for wire in self.talk.wires:
                    wire.finish()
            case "illegal":
                await self.talk.move(match, self._wrong(match))
            case _:
                pass
        if vice in (None, "late", "babbles") and match.to_move == seat and match.ply == ply:
            await self.talk.move(match, self._move(match))
            self._hurried = False

    async def _go(self, how: str) -> None:
        if how == "deaf":
            await trio.sleep(self._chance.uniform(0, 120))
        self._away = inf if how == "quits" else self._chance.choice((0.0, self._chance.uniform(0, 60)))
        for wire in self.talk.wires:
            if how == "resets":
                wire.reset()
            else:
                wire.close()
        raise Gone

    async def _think(self, match: Match) -> None:
        now, deadline = trio.current_time(), match.clock.deadline
        match self.character.style:
            case "quick":
                await trio.sleep(self._chance.uniform(0, QUICK))
            case "slow" if not self._hurried:
                await trio.sleep(self._chance.random() * min(LONGEST, THINKING * self._plan.budget))
            case "dithers" if not self._hurried and deadline < inf:
                weather = self._plan.weather
                await trio.sleep(max(0.0, deadline - now - weather.latency - weather.jitter - MARGIN))
            case _:
                pass

    def _tempted(self) -> str | None:
        for vice, likelihood in self.character.vices.items():
            if self._chance.random() < likelihood:
                return vice
        return None

    def _move(self, match: Match) -> Any:
        moves = list(islice(match.position.moves(), BREADTH))
        if match.game.name == "quoridor":
            steps = [move for move in moves if len(match.game.short(move)) == 2]
            if self._chance.random() < HASTE and steps:
                forward = 1 if match.to_move == 0 else -1
                return match.game.write(max(steps, key=lambda step: forward * int(match.game.short(step)[1])))
        return match.game.write(self._chance.choice(moves))

    def _wrong(self, match: Match) -> Any:
        sent = self._chance.choice(match.moves or MOVES)
        try:
            legal = match.game.read(sent, match.position) in list(match.position.moves())
        except Illegal:
            legal = False
        return self._chance.choice(MOVES) if legal else sent
