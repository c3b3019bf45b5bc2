"""The addresses of games of Hexagon Dots: which there are, which is found next, which is dropped first.

Nothing here knows of requests: `door.py` answers them, and `gate.py` is one address.
"""

import re
import secrets
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from math import inf
from typing import Any

import trio

from server.host.host import Host
from server.host.opening import OPEN
from server.net.budgets import address_of
from server.protocols.hexagon_dots.gate import COMING, LATE, Gate
from server.protocols.hexagon_dots.idle import IdleGates
from server.protocols.hexagon_dots.messages import FOUND
from tournament.player import Player

FRESH = 60.0  # seconds for which a game that somebody made is offered before anybody has joined it

DRAWN = 3  # bytes of an address that are drawn; one more says whether the game was found
AT = re.compile("/g/[0-9a-f]{8}")  # a game's address


class Gates:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._by_path: dict[str, Gate] = {}  # in the order of their making
        self._idle = IdleGates()
        # Gates whose game has not begun, in the order of their making; strange ones are not among them
        self._untaken: dict[Gate, None] = {}
        self._strange: set[Gate] = set()  # gates that no host has told of and where nobody has joined
        self._sent_past = -inf  # when somebody was last sent past a game with a place kept for another …
        self._joining_up = False  # … which may leave two who wait in vain: whether that is looked after

    def __iter__(self) -> Iterator[Gate]:
        """Those that are shown, and where bots are sent: nobody comes in at a strange one."""
        return (gate for gate in self._by_path.values() if gate not in self._strange)

    def at(self, path: str) -> Gate | None:
        return self._by_path.get(path)

    def find(self, peer: str) -> Gate:
        """Find a game: one where somebody waits, else one made just now, else one that the host deals.

        Several may look before the first of them joins: no more are sent to a game than it has places. Only
        when there can be no more games, all others are sent to the same one: the host deals their matches.
        Nor is anybody sent to await the maker of a game while somebody may await that of another.
        """
        now, made, dealt, kept = trio.current_time(), None, None, False
        for found in self._untaken:
            if not found.has_place_at(now):
                kept = kept or found.fixed
                continue
            if found.waiting:
                break  # there may be thousands after it
            if found.unused and not found.fixed:
                dealt = dealt or found
            elif found.unused and now - found.at < FRESH:
                made = made or found
        else:
            made = None if kept else made
            found = made or dealt or self._crowded or self.make(FOUND, fixed=False, peer=peer)
        found.send_at(now)
        if kept:
            self._join_up_after(now)
        return found

    def _join_up_after(self, sent_past: float) -> None:
        self._sent_past = sent_past
        if not self._joining_up:
            self._joining_up = True
            self._host.guard.start_soon(self._join_up)

    async def _join_up(self) -> None:
        """Have those play each other who would wait in vain: one at a game that somebody made, one elsewhere.

        The latter was sent past that game, because a place was kept there for somebody who does not come: its
        maker, or whoever has looked for a game and not joined it.
        """
        held_up = dict[Gate, float]()  # since when somebody seems to be on the way to a game that was made
        try:
            while (now := trio.current_time()) < self._sent_past + LATE:
                made = [gate for gate in self._untaken if gate.fixed]
                held_up = {gate: held_up.get(gate, now) for gate in made if not gate.has_place_at(now)}
                await trio.sleep(COMING)
                for (gate, first), second in zip(self._alone(held_up), self._elsewhere(), strict=False):
                    gate.take()
                    self._host.tournaments[first.place or ""].challenge(first, second, gate.options)
        finally:
            self._joining_up = False

    def _alone(self, held_up: Mapping[Gate, float]) -> list[tuple[Gate, Player]]:
        """Whoever waits at a game that somebody made, if nobody is on the way there.

        If somebody only looks, again and again, that seems to be so: a game is not held up by it for long.
        """
        now = trio.current_time()
        made = (gate for gate in self._untaken if gate.fixed)
        free = [gate for gate in made if gate.has_place_at(now) or now - held_up.get(gate, now) >= LATE]
        # One that has to rest first keeps nobody waiting
        return [
            (gate, player) for gate in free for player in gate.waiting if player.rested and not player.engaged
        ]

    def _elsewhere(self) -> list[Player]:
        """Whoever waits at the open table for the host to deal its match, and nobody else is there."""
        dealt = (gate for gate in self._untaken if not gate.fixed)
        waiting = (player for gate in dealt for player in gate.waiting)
        return [player for player in waiting if player.idle and (player.place or "").startswith(OPEN)]

    @property
    def _crowded(self) -> Gate | None:
        """A game to which more are sent than it has places, if a new one would have the host drop one."""
        if len(self._idle) - len(self._strange) < self._host.limits.games:
            return None
        untaken = reversed(self._untaken)
        return next((gate for gate in untaken if gate.unused and not gate.fixed and gate in self._idle), None)

    def make(self, options: Mapping[str, Any], fixed: bool, peer: str) -> Gate:
        """Make a gate with a new address, for whoever is at `peer`, who may be about to come there."""
        maker = address_of(peer)
        self._make_room(maker)
        path = _drawn(fixed)
        while path in self._by_path:
            path = _drawn(fixed)
        self._host.on_key_of_game(_made(path))
        made = self.open(path, options, fixed, maker)
        if fixed:
            made.send_at(made.at)
        return made

    def open(self, path: str, options: Mapping[str, Any], fixed: bool, maker: str = "") -> Gate:
        at, shared = trio.current_time(), (self._idle, self._untaken)
        made = Gate(self._host, path, options, fixed, at, *shared, maker)
        self._by_path[path] = made
        return made

    def opened_before(self, path: str) -> Gate | None:
        """The gate of an address that another host has made, or this one before it was started again."""
        if not AT.fullmatch(path):
            return None
        self._make_room()
        gate = self.open(path, FOUND, fixed=False)
        if not (_is_found(path) or self._host.is_key(_made(path)) or self._host.is_key(path)):
            self._strange.add(gate)
            del self._untaken[gate]
        return gate

    def is_strange(self, gate: Gate) -> bool:
        """Whether no host is known to have told of a gate's address, and nobody has joined there."""
        return gate in self._strange

    def keep(self, gate: Gate) -> None:
        """Somebody joins at a gate, which is not strange any more."""
        self._strange.discard(gate)
        if not gate.taken:
            self._untaken[gate] = None

    def forget(self, gate: Gate) -> None:
        del self._by_path[gate.path]
        for key in (gate.path, _made(gate.path)):
            self._host.on_key_of_game_gone(key)
        self._idle.discard(gate)
        self._untaken.pop(gate, None)
        self._strange.discard(gate)
        gate.close()

    def _make_room(self, maker: str = "") -> None:
        """Drop gates that nobody needs, if there are too many."""
        while self._idle and len(self._idle) >= self._host.limits.games:
            self.forget(self._idle.superfluous(maker))


def _drawn(fixed: bool) -> str:
    """A new address. It says whether somebody has made the game, or has found it."""
    while True:
        digits = secrets.token_hex(DRAWN)
        path = f"/g/{digits}{_check(digits)}" if not fixed else f"/g/{digits}{secrets.token_hex(1)}"
        if _is_found(path) != fixed:
            return path


def _is_found(path: str) -> bool:
    """Whether an address is one that `GET /match` gives out, or, one time in 256, any other.

    So such a game is there again after a restart, when nobody knows of it any more: the host deals its
    matches, and all such games are alike. The board of a game that somebody has made would not be known.
    """
    digits = path.removeprefix("/g/")
    return digits[2 * DRAWN :] == _check(digits[: 2 * DRAWN])


def _check(digits: str) -> str:
    return blake2b(digits.encode(), digest_size=1).hexdigest()


def _made(path: str) -> str:
    """The name by which other hosts know an address; it leads nowhere, as its bots may play elsewhere."""
    return f"made {path}"
