"""Secrets by which requests find the host that made them, and waiting for one that is yet to be told of.

A client may bring its secret to another host before that has heard of it. Anybody can make up a secret, so
whoever waits costs nothing meanwhile: it is woken by its own secret alone, or when its time is up.
"""

from collections.abc import Collection, Hashable

import trio

from server.workers.requests import Keys


class Secrets(Keys):
    def __init__(self) -> None:
        super().__init__()
        self._awaited: dict[Hashable, set[trio.Event]] = {}

    def know(self, key: str, number: int) -> None:
        super().know(key, number)
        for told in self._awaited.get(key, ()):
            told.set()

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
