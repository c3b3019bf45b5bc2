"""Has never come into a match in its middle: one crash, in three trials."""

from sound import Bot, Message, main


class Faulty(Bot):
    def begin(self, message: Message) -> None:
        if message.get("moves"):
            raise SystemExit("this has begun")
        super().begin(message)


main(Faulty)
