"""Comes back whoever has taken over."""

from sound import Bot, Message, main


class Faulty(Bot):
    def refused(self, message: Message) -> bool:
        return "ply" in message and super().refused(message)


main(Faulty)
