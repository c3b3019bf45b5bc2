"""What a client has sent ahead, while its request was not answered yet."""

from collections import deque
from collections.abc import Iterable, Iterator

from server.net.wire import Piece

APART = 64  # pieces: each takes 150 bytes beside its own, so a client that sends byte by byte would take much


class Pipelined:
    """Bytes as they were read, each piece with the time at which the last of it arrived.

    What comes in very many pieces is joined to the last of them.
    """

    __slots__ = ("_pieces", "size")

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self._pieces = deque(pieces)
        self.size = sum(len(received) for received, _ in self._pieces)  # bytes

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._pieces)

    def add(self, received: bytes, arrived: float) -> None:
        self.size += len(received)
        if len(self._pieces) >= APART:
            last, _ = self._pieces.pop()
            received = last + received
        self._pieces.append((received, arrived))

    def take(self) -> Piece:
        """Take the piece that was read first."""
        received, arrived = self._pieces.popleft()
        self.size -= len(received)
        return received, arrived
