"""Does not know that a match may be void."""

from sound import Bot, Message, main


class Faulty(Bot):
    def end(self, message: Message) -> None:
        print(message["winner"].upper())


main(Faulty)
