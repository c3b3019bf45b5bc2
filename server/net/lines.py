"""Bytes in, lines out. No I/O, and no opinion on what a line means.

A line ends at `\\n` and at nothing else: `str.splitlines` would also split at
ten other characters that a stranger may send. One `\\r` before it is dropped.
"""

from collections.abc import Iterable, Iterator


class LineTooLong(Exception):
    """The peer sent more than a line may hold. What came before it was yielded; nothing after it is."""


class Lines:
    """The lines of one connection.

    `most` bounds a line, including its `\\r`, and with it what is kept between calls; the reader
    may lower it from one line to the next. However the input is cut, the same lines come out, and
    then the same `LineTooLong`, which is final.
    """

    __slots__ = ("_begun", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._begun = bytearray()  # the line that has no end yet

    def receive(self, data: bytes) -> Iterable[bytes]:
        """Every line that `data` completes. Iterate to the end before the next call."""
        end = data.find(b"\n")
        if 0 <= end <= self.most and end + 1 == len(data) and not self._begun:
            return (data[:end].removesuffix(b"\r"),)  # one whole line, as nearly always
        return self._split(data)

    @property
    def unread(self) -> bytes:
        """What has come of the next line."""
        return bytes(self._begun)

    def begun(self) -> int:
        """How many bytes have come of the next line."""
        return len(self._begun)

    def _split(self, data: bytes) -> Iterator[bytes]:
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            line = data[start:end]
            self._measure(len(self._begun) + len(line))
            if self._begun:
                line = bytes(self._begun) + line
                self._begun.clear()
            start = end + 1
            yield line.removesuffix(b"\r")
        self._measure(len(self._begun) + len(data) - start)
        self._begun += data[start:]

    def _measure(self, size: int) -> None:
        if size > self.most:
            most, self.most = self.most, -1  # from now on everything is too long
            self._begun.clear()
            raise LineTooLong(f"a line may have {most} bytes, and this one has more")
