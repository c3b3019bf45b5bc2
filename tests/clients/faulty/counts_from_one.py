"""Counts columns from one, and begins with the last."""

from sound import Bot, main


class Faulty(Bot):
    def choose(self, state: list[int]) -> int:
        return 1 + max(column for column in range(7) if state[column * 6 + 5] == 0)


main(Faulty)
