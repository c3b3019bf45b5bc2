"""How many lines of the log one address may cause: a stranger must not fill the disk, or hide other lines.

A processor for structlog. It counts lines that say who caused them: a `peer`, else a `player`. Lines
for which an address has no credits are left out and counted, and its next line says in `more` how many
there were. All addresses together have a budget too, because some networks have millions.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import structlog

from server.net.budgets import Budgets, address_of
from server.net.limits import Bucket, Rate

IN_ALL = 10  # all addresses together may cause this many times as many lines as one
EVERYBODY = "(everybody)"  # in place of an address, where the budget of all is spent
COUNTED = 1000  # addresses whose lines are counted separately; those of any more are counted together

Event = structlog.typing.EventDict


class LogBudget:
    def __init__(self, rate: Rate, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._one = Budgets(rate)
        self._all = Bucket(Rate(rate.credits * IN_ALL, rate.seconds), now())
        self._left_out: Counter[str] = Counter()  # lines, by address

    def __call__(self, logger: Any, method: str, event: Event) -> Event:
        """Let a line pass, or raise `structlog.DropEvent`."""
        whose = event.get("peer") or event.get("player")
        if not isinstance(whose, str):
            return event
        address, now = address_of(whose), self._now()
        if not self._one.take(whose, now):
            self._leave_out(address)
        if not self._all.take(now):
            self._leave_out(EVERYBODY)
        if more := self._left_out.pop(address, 0):
            event["more"] = more
        return event

    def rest(self) -> dict[str, int]:
        """How many lines were left out and not mentioned yet; from now on they count as mentioned."""
        left_out, self._left_out = self._left_out, Counter()
        return left_out

    def _leave_out(self, address: str) -> None:
        known = address in self._left_out or len(self._left_out) < COUNTED
        self._left_out[address if known else EVERYBODY] += 1
        raise structlog.DropEvent
