"""Has never been refused a move."""

from sound import Bot, Message, main


class Faulty(Bot):
    def refused(self, message: Message) -> bool:
        if "ply" in message:
            raise SystemExit("this cannot be")
        return super().refused(message)


main(Faulty)
