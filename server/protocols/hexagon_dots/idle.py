"""Gates of Hexagon Dots that nobody needs, and which of them is dropped first.

Where there are too many, each new game has one of them dropped, so nothing here looks at all of them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.protocols.hexagon_dots.gate import Gate


class IdleGates:
    def __init__(self) -> None:
        self._by_maker: dict[str, dict[Gate, None]] = {}  # those first that have been idle longest
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, gate: "Gate") -> bool:
        return gate in self._by_maker.get(gate.maker, ())

    def add(self, gate: "Gate") -> None:
        made = self._by_maker.setdefault(gate.maker, {})
        if gate not in made:
            made[gate] = None
            self._count += 1

    def discard(self, gate: "Gate") -> None:
        made = self._by_maker.get(gate.maker)
        if made is not None and gate in made:
            del made[gate]
            self._count -= 1
            if not made:
                del self._by_maker[gate.maker]

    def superfluous(self, maker: str) -> "Gate":
        """The one to drop where `maker` makes another: the one idle for longest, of whoever has made most.

        So whoever makes more and more of them drops no game that somebody else has made for their bots.
        """

        def many(one: str) -> tuple[int, bool]:
            return len(self._by_maker[one]) + (one == maker), one == maker

        return next(iter(self._by_maker[max(self._by_maker, key=many)]))
