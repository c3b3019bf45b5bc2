"""Concluding matches that are decided, with facts that the store has before an end is announced.

Verdicts that come together are kept together.
"""

from collections.abc import Callable, Mapping

import trio

from tournament.causes import moved_by
from tournament.events import Ended
from tournament.facts import UNSAID, AnyFact, Concluded, Entered
from tournament.format import Entrant
from tournament.in_play import InPlay
from tournament.keeping import Keep
from tournament.match import Match
from tournament.record import Record
from tournament.settling import score, whole_micros


class Concluding:
    def __init__(
        self,
        record: Record,
        play: InPlay,
        newcomers: dict[str, Entrant],
        keep: Keep,
        safe: Callable[[Match, Ended], None],
    ) -> None:
        """`safe` is called with each match whose result is safe, just before that is announced.

        Each of the `newcomers` enters with its first match that counts, and is then no newcomer any
        more.
        """
        self.nursery: trio.Nursery | None = None  # None: matches decided now are cut short
        self._record = record
        self._play = play
        self._newcomers = newcomers
        self._keep = keep
        self._safe = safe
        self._entering: set[str] = set()  # those whose first match is being kept
        self._verdicts: dict[Match, Ended] = {}  # that are about to be kept

    def decided(self, match: Match, verdict: Ended) -> None:
        """A match has its verdict. Called from within the referee, so what takes time is done elsewhere."""
        if self.nursery is not None:
            if not self._verdicts:
                self.nursery.start_soon(self._conclude)
            self._verdicts[match] = verdict

    async def _conclude(self) -> None:
        """Conclude all that has been decided by now."""
        verdicts, self._verdicts = self._verdicts, {}
        entering = self._first_finished(verdicts)
        self._entering |= entering.keys()
        concluded: list[AnyFact] = [self._concluded(match, verdict) for match, verdict in verdicts.items()]
        receipts = await self._keep(*entering.values(), *concluded)
        for match, receipt in zip(verdicts, receipts[len(entering) :], strict=True):
            match.receipt = receipt
        for name in entering:
            self._entering.discard(name)
            self._newcomers.pop(name, None)
        for match, verdict in verdicts.items():
            self._safe(match, verdict)
            self._play.announce(match)

    def _first_finished(self, verdicts: Mapping[Match, Ended]) -> dict[str, Entered]:
        """Those for whom one of these is the first match that counts and in which both have moved."""
        return {
            name: Entered(name, self._newcomers[name].rating if name in self._newcomers else None)
            for match, verdict in verdicts.items()
            for name in match.names
            if not self._takes_part(name) and self._is_worth_entering(match, verdict)
        }

    def _is_worth_entering(self, match: Match, verdict: Ended) -> bool:
        return score(verdict) is not None and match.both_have_moved and not self._play.with_the_house(match)

    def _takes_part(self, name: str) -> bool:
        return name in self._record.entrants or name in self._entering

    def _concluded(self, match: Match, verdict: Ended) -> Concluded:
        moves, times = match.moves_and_times()
        thought, network = match.thinking()
        first, second = self._play.players(match)
        counts = all(map(self._takes_part, match.names)) and not self._play.with_the_house(match)
        match.epoch = self._play.epoch()  # once: all who are told of the end are told the times that are kept
        return Concluded(
            match.name,
            self._record.dealt[match.name],
            match.names,
            verdict.winner,
            verdict.ending,
            verdict.why,
            score(verdict) if counts else None,
            moves,
            whole_micros(times),
            None if match.options == self._record.opened.options else match.options,
            match.began,
            round(match.wall(verdict.at), 3),
            verdict.fault,
            moved_by(verdict.cause, match.epoch),
            thought,
            network,
            UNSAID if first.version is second.version is None else (first.version, second.version),
            (first.kind, second.kind),
            match.notes,
        )
