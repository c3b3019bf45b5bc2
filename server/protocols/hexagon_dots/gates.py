"""The addresses of games of Hexagon Dots: which there are, which is found next, which is dropped first.

Nothing here knows of requests: `door.py` answers them, and `gate.py` is one address.
"""

import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import trio

from games.game import BadOption
from server.host.host import Host
from server.net.budgets import address_of
from server.protocols.hexagon_dots.gate import Gate
from server.protocols.hexagon_dots.messages import FOUND, LINES

FRESH = 60.0  # seconds for which a game that somebody made is offered before anybody has joined it

DRAWN = 3  # bytes of an address that are drawn; one more says whether a host gave it out
# A game's address, with the board of a game that somebody has made
AT = re.compile("/g/([0-9a-f]{6})([0-9a-f]{2})((?:-[0-9]{1,2}x[0-9]{1,2}(?:-[a-z]{1,9})?)?)")

Options = Mapping[str, Any]


class Gates:
    def __init__(self, host: Host, check: Callable[[Options], None]) -> None:
        """`check` raises `BadOption` for a board that no game has."""
        self._host = host
        self._check = check
        self._by_path: dict[str, Gate] = {}  # in the order of their making
        self._idle: dict[Gate, None] = {}  # gates that nobody needs
        self._strange: set[Gate] = set()  # gates that no host has told of and where nobody has joined

    def __iter__(self) -> Iterator[Gate]:
        return iter(self._by_path.values())

    def at(self, path: str) -> Gate | None:
        return self._by_path.get(path)

    def find(self, peer: str) -> Gate:
        """Find a game: one where somebody waits, else one made just now, else one that the host deals.

        Several may look before the first of them joins: no more are sent to a game than it has places. Only
        when there can be no more games, all others are sent to the same one: the host deals their matches.
        """
        now = trio.current_time()
        free = [gate for gate in self if gate.has_place_at(now)]
        unused = [gate for gate in free if gate.unused]
        found = (
            next((gate for gate in free if gate.waiting), None)
            or next((gate for gate in unused if gate.fixed and now - gate.at < FRESH), None)
            or next((gate for gate in unused if not gate.fixed), None)
            or self._crowded
            or self.make(FOUND, fixed=False, peer=peer)
        )
        found.send_at(now)
        return found

    @property
    def _crowded(self) -> Gate | None:
        """A game for more than it has places, if another one would have the host drop one."""
        if len(self._idle) < self._host.limits.games:
            return None
        return next((gate for gate in reversed(self._idle) if gate.unused and not gate.fixed), None)

    def make(self, options: Options, fixed: bool, peer: str) -> Gate:
        """Make a gate with a new address, for whoever is at `peer`, who may be about to come there."""
        maker = address_of(peer)
        self._make_room(maker)
        board = _board(options) if fixed else ""
        path = _drawn(board)
        while path in self._by_path:
            path = _drawn(board)
        self._host.on_key_of_game(_made(path))
        made = self.open(path, options, fixed, maker)
        if fixed:
            made.send_at(made.at)
        return made

    def open(self, path: str, options: Options, fixed: bool, maker: str = "") -> Gate:
        made = self._by_path[path] = Gate(path, options, fixed, trio.current_time(), self._idle, maker)
        return made

    def opened_before(self, path: str) -> Gate | None:
        """The gate of an address that another host has made, or this one before it was started again."""
        if (parts := AT.fullmatch(path)) is None:
            return None
        digits, check, board = parts.groups()
        given_out = check == check_digits(digits + board)
        options = self._options(board) if given_out and board else None
        given_out &= not board or options is not None
        self._make_room()
        gate = self.open(path, options or FOUND, fixed=options is not None)
        if not (given_out or self._host.is_key(_made(path)) or self._host.is_key(path)):
            self._strange.add(gate)
        return gate

    def _options(self, board: str) -> Options | None:
        """The options of a game that somebody has made, by what its address says of the board.

        None: there is no such board.
        """
        _, size, *end = board.split("-")
        rows, cols = size.split("x")
        options = {"rows": int(rows), "cols": int(cols)} | ({"end": end[0]} if end else {})
        try:
            self._check(options)
        except BadOption:
            return None
        return options

    def is_strange(self, gate: Gate) -> bool:
        """Whether no host is known to have told of a gate's address, and nobody has joined there."""
        return gate in self._strange

    def keep(self, gate: Gate) -> None:
        """Somebody joins at a gate, which may have been dropped meanwhile, when nobody was there."""
        self._strange.discard(gate)
        self._by_path[gate.path] = gate

    def forget(self, gate: Gate) -> None:
        del self._by_path[gate.path], self._idle[gate]
        self._strange.discard(gate)
        gate.close()

    def _make_room(self, maker: str = "") -> None:
        """Drop gates that nobody needs, if there are too many: the oldest of whoever has made most of them.

        So whoever makes more and more of them drops no game that somebody else has made for their bots.
        """
        while self._idle and len(self._idle) >= self._host.limits.games:
            idle = [gate for gate in self if gate in self._idle]
            made = Counter([maker, *(gate.maker for gate in idle)])
            self.forget(max(idle, key=lambda gate: (made[gate.maker], gate.maker == maker)))


def _board(options: Options) -> str:
    """What an address says of the board of a game that somebody has made: `-5x5`."""
    end = "" if options.get("end", LINES) == LINES else f"-{options['end']}"
    return f"-{options['rows']}x{options['cols']}{end}"


def _drawn(board: str) -> str:
    """A new address.

    Such a game is there again after a restart, when nobody knows of it any more: the address says which
    board somebody has made, and all games that `GET /match` gives out are alike.
    """
    digits = secrets.token_hex(DRAWN)
    return f"/g/{digits}{check_digits(digits + board)}{board}"


def check_digits(digits: str) -> str:
    """By which an address is known that a host gave out, or, one time in 256, any other."""
    return blake2b(digits.encode(), digest_size=1).hexdigest()


def _made(path: str) -> str:
    """The name by which other hosts know an address; it leads nowhere, as its bots may play elsewhere."""
    return f"made {path}"
