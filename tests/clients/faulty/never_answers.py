"""Takes everything in, and never moves."""

from sound import Bot, main


class Faulty(Bot):
    def answer(self) -> None:
        """It is not decided yet."""


main(Faulty)
