"""What a host that stops in the middle of matches, before the last moves are kept, leaves behind."""

from tournament.store import Jottings, Memory


class Late(Memory):
    """The same as another store, but without the last moves of each match in play: so many are `lost`."""

    def __init__(self, store: Memory, lost: int = 0) -> None:
        super().__init__(store.kept())
        for match, (moves, times, asides) in store.jotted().items():
            count = len(moves) - lost
            self.jot(match, Jottings(list(moves[:count]), list(times[:count]), asides))
