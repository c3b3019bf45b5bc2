"""Forgets what it plays."""

from sound import Bot, Message, main


class Faulty(Bot):
    def hello(self) -> Message:
        return {"type": "hello", "name": "ann"}


main(Faulty)
