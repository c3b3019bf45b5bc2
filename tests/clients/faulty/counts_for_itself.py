"""Counts the moves of a match instead of reading how many there are."""

from sound import Bot, Message, main


class Faulty(Bot):
    match, ply = "", 0

    def turn(self, message: Message) -> None:
        self.ply = max(self.ply, message["ply"]) if message["match"] == self.match else message["ply"]
        self.match = message["match"]
        super().turn(message | {"ply": self.ply})


main(Faulty)
