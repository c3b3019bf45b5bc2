"""Tries until there is a host, and gives up if that hangs up before its welcome."""

from sound import Bot, Message, main


class Faulty(Bot):
    is_in = True

    def play(self) -> bool:
        self.is_in = False
        return super().play()

    def begin(self, message: Message) -> None:
        self.is_in = True
        super().begin(message)

    def come_again(self) -> None:
        if not self.is_in:
            raise SystemExit("it does not want me")


main(Faulty)
