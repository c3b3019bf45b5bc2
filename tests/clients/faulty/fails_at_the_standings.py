"""Looks for its own row where it is not."""

from sound import Bot, Message, main


class Faulty(Bot):
    def over(self, message: Message) -> None:
        print(next(row for row in message["rows"] if row["name"] == "anne"))


main(Faulty)
