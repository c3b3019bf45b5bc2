"""Secrets by which requests find the host that made them, and waiting for one that is yet to be told of.

A client may bring its secret to another host before that has heard of it. Anybody can make up a secret, so
whoever waits costs nothing meanwhile: it is woken by its own secret alone, or when its time is up.

When a host is gone, another one may go on with what its secrets led to, and then tells of them anew. That
takes as long as taking over does, so those secrets are waited for longer than others.
"""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable
from math import inf

import trio

from server.workers.requests import Keys


class Secrets(Keys):
    def __init__(self) -> None:
        super().__init__()
        self._awaited: dict[Hashable, set[trio.Event]] = {}
        self._lost: OrderedDict[Hashable, float] = OrderedDict()  # until when they may be told of anew

    def know(self, key: str, number: int) -> None:
        super().know(key, number)
        self._lost.pop(key, None)
        for told in self._awaited.get(key, ()):
            told.set()

    def lose(self, key: str, number: int, until: float) -> None:
        """Forget a secret of a host that is gone; by then another one will have told of it, if it goes on."""
        self.forget(key, number)
        while self._lost and next(iter(self._lost.values())) <= trio.current_time():
            self._lost.popitem(last=False)
        self._lost[key] = until

    def told_anew_within(self, leads: Iterable[Hashable]) -> float:
        """Seconds in which another host tells of one of these, if it goes on; 0 if none was lost of late."""
        until = max((self._lost.get(lead, -inf) for lead in leads), default=-inf)
        return max(0.0, until - trio.current_time())

    def has_none(self, leads: Collection[Hashable]) -> bool:
        """Whether none of these, which need not all be secrets, is one that is known."""
        return self.keys().isdisjoint(leads)

    async def heard_of(self, leads: Collection[Hashable], seconds: float) -> None:
        """Wait until one of these is known, but not for longer than that: there may be none."""
        if not self.has_none(leads):
            return
        told = trio.Event()
        for lead in leads:
            self._awaited.setdefault(lead, set()).add(told)
        try:
            with trio.move_on_after(seconds):
                await told.wait()
        finally:
            for lead in leads:
                self._awaited[lead].discard(told)
                if not self._awaited[lead]:
                    del self._awaited[lead]
