"""Dealing: which matches begin now, and between whom. A match is kept before it begins.

Nobody plays two matches at once, and there are never more in play than the host allows. After a game has
failed, nothing is dealt for a while, and for longer each time: else nothing but void matches would be kept.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from math import inf
from typing import Any

import trio

from tournament.draws import as_drawn
from tournament.events import NOBODY, Ended, Ending
from tournament.facts import Concluded, Dealt, Drew
from tournament.format import OPEN, Pairing
from tournament.in_play import Both, GameFailed, InPlay, dealt
from tournament.keeping import Keep
from tournament.pairing.drawing import last_round, numbered
from tournament.player import Player
from tournament.presence import Presence, whoever_came_for
from tournament.record import Record
from tournament.settling import both, not_begun, unplayed

AT_A_TIME = 25  # matches that begin, or pairings that are settled, before other tasks get their turn
FIRST_BACK_OFF = 1.0  # seconds without a match after a game has failed; then twice as many each time …
LONGEST_BACK_OFF = 60.0  # … up to these


class Dealing:
    def __init__(
        self,
        record: Record,
        presence: Presence,
        play: InPlay,
        keep: Keep,
        at_once: float,
        now: Callable[[], float],
        failed: Callable[[Exception], None],
    ) -> None:
        """`at_once` bounds the matches in play; `now` is the time that facts have.

        `failed` is called with what a game has raised that let a match not begin.
        """
        self._record = record
        self._presence = presence
        self._play = play
        self._keep = keep
        self._at_once = at_once
        self._now = now
        self._failed = failed
        self._back_off = 0.0  # how long the last one was; 0 if a match has begun since
        self._backs_off_until = -inf
        self._challenges: deque[tuple[Player, Player, Mapping[str, Any] | None]] = deque()

    @property
    def room(self) -> float:
        """How many more matches can begin now."""
        return 0 if self.goes_on < inf else self._at_once - len(self._play.matches)

    @property
    def goes_on(self) -> float:
        """When matches begin again, after a game has failed; inf: they do already."""
        return self._backs_off_until if trio.current_time() < self._backs_off_until else inf

    def challenge(self, first: Player, second: Player, options: Mapping[str, Any] | None) -> None:
        """Have two players who have agreed to it meet, `first` in seat 0, and nobody else meanwhile."""
        first.reserved = second.reserved = True
        self._challenges.append((first, second, options))

    def back_off(self) -> None:
        """Deal nothing for a while: the game has failed. It may do so in many matches at once."""
        if (now := trio.current_time()) >= self._backs_off_until:
            self._back_off = min(max(2 * self._back_off, FIRST_BACK_OFF), LONGEST_BACK_OFF)
            self._backs_off_until = now + self._back_off

    def drop_challenges(self) -> None:
        """Drop the matches that players agreed on and that have not begun."""
        while self._challenges:
            for player in self._challenges.popleft()[:2]:
                player.free()

    async def take_up(self) -> None:
        """Begin the matches that players agreed on, in the order in which they did, once both have rested."""
        rested = (each for each in self._challenges if each[0].rested and each[1].rested)
        taken = [*islice(rested, int(min(len(self._challenges), max(self.room, 0))))]
        for each in taken:
            self._challenges.remove(each)
        if taken:
            known, _ = self._record.past()
            rounds = ([(first.name, second.name)] for first, second, _ in taken)
            drawn = numbered(known, rounds, last_round(known) + 1)
            at = self._now()
            facts = [
                dealt(self._record.match_name(pairing.number), pairing.number, options, (first, second), at)
                for pairing, (first, second, options) in zip(drawn, taken, strict=True)
            ]
            await self._keep(as_drawn(self._record, drawn), *facts)
            await self._begin(zip(facts, [(first, second) for first, second, _ in taken], strict=True))

    async def deal(self) -> None:
        """Begin the first of the matches that both players are free for, in the order of drawing."""
        room = int(min(max(self.room, 0), AT_A_TIME))
        await self._begin_all([], islice(self._presence.meetings(), room))

    async def deal_at_once(self, drawn: Sequence[Pairing]) -> None:
        """Begin what a format without an end has drawn, all of it.

        New pairings are kept together with the matches dealt from them, which halves the store's work.
        """
        idle: dict[str, list[Player]] = {}
        for player in self._presence.idle():
            idle.setdefault(player.name, []).append(player)
        meetings: list[tuple[Pairing, Both]] = []
        stale: list[Pairing] = []
        for pairing in chain(self._record.open.values(), drawn):
            if len(meetings) >= self.room:
                break
            first, second = both(pairing)
            if first in idle and second in idle:
                players = (
                    whoever_came_for(second, idle.pop(first)),
                    whoever_came_for(first, idle.pop(second)),
                )
                meetings.append((pairing, players))
            else:
                stale.append(pairing)  # drawn for somebody who has gone away since
        nobody = Ended(self._now(), None, Ending.VOID, NOBODY)
        void = [unplayed(self._record, pairing, nobody, None) for pairing in stale]
        await self._begin_all([as_drawn(self._record, drawn)] if drawn else [], meetings, void)

    async def _begin_all(
        self,
        drew: Sequence[Drew],
        meetings: Iterable[tuple[Pairing, Both]],
        void: Sequence[Concluded] = (),
    ) -> None:
        deals: list[tuple[Dealt, Both]] = []
        at, open_table = self._now(), self._record.opened.format == OPEN
        for pairing, players in meetings:
            players[0].reserved = players[1].reserved = True
            options = players[0].options or players[1].options if open_table else None
            name = self._record.match_name(pairing.number)
            deals.append((dealt(name, pairing.number, options, players, at), players))
        await self._keep(*drew, *(fact for fact, _ in deals), *void)
        await self._begin(deals)

    async def _begin(self, deals: Iterable[tuple[Dealt, Both]]) -> None:
        """Begin matches that are kept. One that cannot begin is void, and costs nobody anything."""
        failed: dict[str, Both] = {}
        for fact, players in deals:
            try:
                self._play.begin(fact, players)
            except GameFailed as failure:
                self._failed(failure.error)
                failed[fact.match] = players
            else:
                self._back_off = 0.0
        if failed:
            self.back_off()
            await self._keep(*not_begun(self._record, failed, self._now()))
            for player in chain.from_iterable(failed.values()):
                player.free()
