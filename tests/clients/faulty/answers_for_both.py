"""Answers whoever is asked."""

from sound import Bot, Message, main


class Faulty(Bot):
    def turn(self, message: Message) -> None:
        self.question = message
        if message["turn"] is not None:
            self.answer()


main(Faulty)
