"""Takes for lines whatever it reads at once."""

from collections.abc import Iterator

from sound import Bot, main


class Faulty(Bot):
    def lines(self) -> Iterator[bytes]:
        while received := self.connection.recv(65536):
            yield from received.splitlines()


main(Faulty)
