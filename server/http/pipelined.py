"""What a client has sent ahead, while its request was not answered yet."""

from collections import deque
from collections.abc import Iterable, Iterator

from server.net.wire import Piece


class Pipelined:
    """Bytes as they were read, each with the time at which they arrived."""

    __slots__ = ("_pieces", "size")

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self._pieces = deque(pieces)
        self.size = sum(len(received) for received, _ in self._pieces)  # bytes

    def __len__(self) -> int:
        return len(self._pieces)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._pieces)

    def add(self, received: bytes, arrived: float) -> None:
        self._pieces.append((received, arrived))
        self.size += len(received)

    def take(self) -> Piece:
        """Take the piece that was read first."""
        received, arrived = self._pieces.popleft()
        self.size -= len(received)
        return received, arrived
