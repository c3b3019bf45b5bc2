"""Bots that answer, dither, babble, hang up, come back, or none of that.

A `Nature` is composed of ways to think and of vices, each with the likelihood
that an occasion tempts. Whoever has none but the harmless ones is honest: it
answers every prompt legally and in time, and must never lose but by the rules.
"""

from collections.abc import Callable, Mapping
from itertools import islice
from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

import trio
from msgspec import Struct

from games.game import Illegal
from tests.simulation.sheet import EXACT, Sheet
from tournament.match import GRACE, Match
from tournament.player import Player, Seat

if TYPE_CHECKING:
    from tests.simulation.host import Host
    from tests.simulation.world import World

THINKING = ("quick", "slow", "dithers", "exact", "queued")  # all of them in time
TIMING = ("hair", "late", "silent")  # vices at a prompt: none of them in time
TALKING = ("junk", "illegal", "resigns", "quits", "retires")  # what comes in place of a move
COMING = ("lags", "misses")  # when a match is dealt: late for it, within the grace and not
WANDERING = ("blinks", "strays", "departs", "doubles")  # at any time
CHATTING = ("interrupts", "concedes")  # out of turn
VICES = (*TIMING, *TALKING, *COMING, *WANDERING, *CHATTING)
HARMLESS = ("lags", "blinks", "doubles", "interrupts")

QUEUED = 0.0008  # seconds between stamp and reading: less than a flag is late
JUNK: tuple[object, ...] = (None, True, -1, 1e9, "", "☠", "N" * 99, [], [9, 9, 9], {"action": "flip"}, 10**60)


class Nature(Struct, frozen=True):
    thinking: tuple[str, ...] = ("quick",)
    vices: Mapping[str, float] = {}
    comes: float = 0.0  # seconds after the beginning; inf: never
    returns: float = 5.0  # seconds after the host is back from a crash

    @property
    def honest(self) -> bool:
        return max(self.comes, self.returns) < GRACE and all(vice in HARMLESS for vice in self.vices)


class Absence(Struct):
    since: float
    until: float  # as it is planned


class Bot:
    """One entrant, through all crashes of the host."""

    def __init__(self, name: str, nature: Nature, world: "World") -> None:
        self.name = name
        self.nature = nature
        self.absences = [Absence(0.0, nature.comes)]
        self._world = world
        self._chance = Random(f"{world.plan.seed} {name}")
        self._here = False
        self._gone = trio.Event()  # for as long as this host lives
        self._departed = False  # for good
        self._players: list[Player] = []
        self._sheet: Sheet | None = None  # of the match that it plays or has played last

    # Whether it is there

    async def attend(self, host: "Host") -> None:
        """Be at the host for as long as that lives."""
        again = self._world.crashes > 0
        delay = inf if self._departed else self.nature.returns if again else self.nature.comes
        if delay == inf or self.nature.comes == inf:
            return
        self.absences[-1].until = trio.current_time() + delay
        if delay:
            await self._pass(delay)
        if not self._gone.is_set():
            self._enter(host)
            self._arrive()
            if any(vice in WANDERING for vice in self.nature.vices):
                await self._wander(host)

    def dismiss(self) -> None:
        """Nothing more will be played."""
        self._gone.set()
        for player in self._players:
            player.retire()
        if self._sheet is not None:
            self._sheet.news.set()

    def cut_off(self) -> None:
        """The host has crashed."""
        self._vanish(inf)
        self._players, self._sheet, self._gone = [], None, trio.Event()

    def concede(self) -> None:
        """Give up out of turn, if it is one who would."""
        sheet = self._sheet
        if (
            not self.nature.honest
            and self._here
            and sheet is not None
            and not (sheet.over or sheet.seat.to_move)
        ):
            sheet.resign()

    def gone(self, at: float) -> bool:
        """Whether it deserves to be held gone: by its plan for all of the grace and longer, or for good."""
        return any(
            (absence.since <= at + EXACT and absence.until == inf)
            or (absence.since <= at - GRACE + EXACT and absence.until > absence.since + GRACE - EXACT)
            for absence in self.absences
        )

    @property
    def here(self) -> bool:
        return self._here

    def missing(self, at: float) -> bool:
        """Whether it was away for all of the grace until now, by its plan."""
        return any(
            absence.since <= at - GRACE + EXACT and absence.until >= at - EXACT for absence in self.absences
        )

    def _enter(self, host: "Host") -> Player:
        player = host.awaited.pop(self.name, None) or host.lobby.enter(self.name, host.game.name)
        player.key = self.name if self.name in self._world.plan.resume else None
        self._players.append(player)
        host.nursery.start_soon(self._serve, player)
        player.back()
        return player

    def _vanish(self, until: float) -> None:
        if self._here:
            self.absences.append(Absence(trio.current_time(), until))
            self._here = False
        else:
            self.absences[-1].until = until
        if self._sheet is not None:
            self._sheet.coming = max(self._sheet.coming, until)

    def _arrive(self) -> None:
        self._here = True
        self.absences[-1].until = min(self.absences[-1].until, trio.current_time())
        if self._sheet is not None:
            self._sheet.come()
            self._sheet.news.set()

    def _depart(self) -> None:
        self._departed = True
        self._vanish(inf)
        self.dismiss()

    async def _pass(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._gone.wait()

    async def _wander(self, host: "Host") -> None:
        player = self._players[-1]
        vices = [vice for vice in self.nature.vices if vice in WANDERING]
        while not self._gone.is_set():
            await self._pass(self._chance.uniform(1, 60))
            vice = self._chance.choice(vices)
            if self._gone.is_set() or self._chance.random() > self.nature.vices[vice]:
                continue
            self._world.note(f"{self.name} {vice}")
            match vice:
                case "departs":
                    self._depart()
                case "doubles":
                    player = await self._double(host, player)
                case "blinks":
                    await self._away(player, self._chance.uniform(0, self._bearable(player)))
                case _:
                    await self._away(player, self._chance.uniform(0, 3 * GRACE))

    async def _away(self, player: Player, seconds: float) -> None:
        self._vanish(trio.current_time() + seconds)
        player.away()
        await self._pass(seconds)
        if not self._gone.is_set():
            player.back()
            self._arrive()

    async def _double(self, host: "Host", old: Player) -> Player:
        """Connect anew, while the old connection lingers for a moment or a while."""
        if not old.idle:
            return old
        lingering = self._chance.choice((0.0, self._chance.uniform(0, 6 * GRACE)))
        if lingering:
            old.away()
        new = self._enter(host)
        if lingering:
            await self._pass(lingering)
        old.retire()
        return new

    def _bearable(self, player: Player) -> float:
        """How long it may be away without anything running out."""
        now, pace = trio.current_time(), self._world.pace
        bounds = [2 * (GRACE - 5), *(bound for bound in (pace.bank, pace.turn) if bound is not None)]
        if player.seat is not None:
            left = player.seat.match.left(now)[player.seat.index]
            bounds.append(inf if left is None else left)
        if self._sheet is not None and self._sheet.held_until is not None:
            bounds.append(max(0.0, self._sheet.held_until - now))
        return min(bounds) / 2

    # What it plays

    async def _serve(self, player: Player) -> None:
        async for seat in player:
            await self._play(seat)

    async def _play(self, seat: Seat) -> None:
        sheet = self._sheet = self._world.witness.sheet(seat, self.name)
        if seat.match.interrupted and self._world.witness.is_out(seat.match, self.name):
            return  # a host lets it in nowhere after a restart
        coming = self._tempted(COMING) if self._here and not seat.match.interrupted else None
        if coming is not None:
            grace = self._chance.uniform(1, GRACE)
            late = grace + 1 if coming == "misses" else self._chance.uniform(0, 0.9 * grace)
            sheet.hold(grace, late)
        seat.follow(sheet.tell)
        if coming is not None:
            await self._wait(sheet, sheet.coming, lambda: sheet.held_until is None)
            if self._here and not sheet.over:
                seat.here()
                sheet.come()
        while not (sheet.over or self._gone.is_set()):
            sheet.news = trio.Event()
            if sheet.prompted is not None and self._may_move(seat):
                await self._answer(seat, sheet)
            elif (chat := self._tempted(CHATTING)) is not None:
                await self._speak_out_of_turn(seat, sheet, chat)
            else:
                if sheet.prompted is not None and not self._here:
                    sheet.intended = self.absences[-1].until
                await sheet.news.wait()

    def _may_move(self, seat: Seat) -> bool:
        """Whether it is there and is to move; one that was taken out has been told so, and plays nothing."""
        return self._here and seat.to_move and not self._world.witness.is_out(seat.match, self.name)

    async def _answer(self, seat: Seat, sheet: Sheet) -> None:
        vice = self._tempted(TALKING)
        when, read = self._when(seat)
        sheet.intended = when if vice is None else inf
        if read > trio.current_time():
            await self._wait(sheet, read)
        if not self._here:
            sheet.intended = max(sheet.intended, self.absences[-1].until)
        if sheet.over or not self._may_move(seat):
            return
        now = trio.current_time()
        stamp = when if now - read < EXACT else now
        match vice:
            case None:
                sheet.send(self._move(seat.match), True, stamp)
            case "junk" | "illegal":
                sheet.send(self._wrong(seat.match, vice), False, stamp)
            case "resigns":
                sheet.resign()
            case "quits":
                sheet.leave()
            case _:
                self._depart()
        if vice is not None:
            self._world.note(f"{self.name} {vice} in {seat.match.name}")

    def _when(self, seat: Seat) -> tuple[float, float]:
        """When an answer to this prompt comes, the vices late and all else in time; and when it is read."""
        now, deadline = trio.current_time(), seat.match.clock.deadline
        if deadline == inf and (left := seat.match.left(now)[seat.index]) is not None:
            deadline = now + left  # the clocks have been stopped
        style = self._tempted(TIMING) or self._chance.choice(self.nature.thinking)
        late = QUEUED if style == "queued" else 0.0
        match style:
            case "hair":
                when = deadline + self._chance.choice((1e-6, 0.0005, 0.001, 0.0011))
            case "late":
                when = deadline + self._chance.uniform(0.01, 40)
            case "silent":
                when = inf
            case "slow":
                when = now + self._chance.random() * min(8.0, max(0.0, 0.9 * (deadline - now)))
            case "dithers" if deadline < inf:
                when = max(now, deadline - self._chance.uniform(0, 0.01))
            case "exact" | "queued" if deadline < inf:
                when = max(now, deadline)
            case _:
                when = now
        return when, when + late

    async def _wait(self, sheet: Sheet, until: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Until then, or until the match is over, it is gone, or that is enough."""
        with trio.CancelScope(deadline=until):
            while not (sheet.over or self._gone.is_set() or enough()):
                await sheet.news.wait()
                sheet.news = trio.Event()

    async def _speak_out_of_turn(self, seat: Seat, sheet: Sheet, chat: str) -> None:
        moment = self._chance.uniform(0, 10) if chat == "concedes" else 0.0
        with trio.CancelScope(deadline=trio.current_time() + moment):
            await sheet.news.wait()
        if self._here and not sheet.over and not seat.to_move:
            if chat == "concedes":
                sheet.resign()
            else:
                sheet.interrupt(self._chance.choice(JUNK))
        if sheet.prompted is None and not sheet.over:
            await sheet.news.wait()

    def _tempted(self, vices: tuple[str, ...]) -> str | None:
        for vice in vices if self.nature.vices else ():
            likelihood = self.nature.vices.get(vice)
            if likelihood is not None and self._chance.random() < likelihood:
                return vice
        return None

    def _move(self, match: Match) -> object:
        moves = list(islice(match.position.moves(), self._world.plan.breadth))
        return match.game.write(self._chance.choice(moves))

    def _wrong(self, match: Match, vice: str) -> object:
        sent: Any = self._chance.choice(match.moves) if vice == "illegal" and match.moves else None
        try:
            legal = match.game.read(sent, match.position) in list(match.position.moves())
        except Illegal:
            legal = False
        return self._chance.choice(JUNK) if legal or sent is None else sent
