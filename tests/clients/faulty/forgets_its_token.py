"""Comes back as somebody else."""

from sound import Bot, main


class Faulty(Bot):
    def come_again(self) -> None:
        self.token = "another-token-each-time"


main(Faulty)
