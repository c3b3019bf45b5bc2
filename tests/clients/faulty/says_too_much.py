"""Notes all that it has thought, in a line that is far too long."""

from sound import Bot, Message, main


class Faulty(Bot):
    def say(self, message: Message) -> None:
        super().say(message | {"note": "I wonder. " * 500})


main(Faulty)
