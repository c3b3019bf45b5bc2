"""Takes for lines whatever it reads at once."""

from collections.abc import Iterator

from sound import Bot, main


class Faulty(Bot):
    def lines(self) -> Iterator[bytes]:
        while received := self.connection.recv(65536):
            # As text: a piece may end in the middle of a character, and it is not to fail for that.
            yield from received.decode(errors="replace").encode().splitlines()


main(Faulty)
