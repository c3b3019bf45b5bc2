"""Ends when the connection does."""

from sound import Bot, main


class Faulty(Bot):
    def come_again(self) -> None:
        raise SystemExit


main(Faulty)
