"""Knows every field there is, and fails at any other."""

from sound import Bot, Message, main


class Faulty(Bot):
    def begin(self, message: Message) -> None:
        known = {"type", "match", "you", "players", "clock", "state", "options", "moves", "restarted"}
        assert not message.keys() - known, "what is this?"
        super().begin(message)


main(Faulty)
