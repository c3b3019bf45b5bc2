"""Gives up when the host is not there at once."""

from sound import Bot, Message, main


class Faulty(Bot):
    tries = 0

    def begin(self, message: Message) -> None:
        self.tries = 0
        super().begin(message)

    def come_again(self) -> None:
        self.tries += 1
        if self.tries > 1:
            raise SystemExit("nobody is there")


main(Faulty)
