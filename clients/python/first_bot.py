"""A first bot: Connect-4, any column that is open, the middle ones first.

    python first_bot.py ann                           # against a host on this machine
    python first_bot.py ann ws://games.example:8001   # against another one, by websocket

Start it twice, under two names, and the two play each other. Better moves go into `choose`.
"""

import sys

import quintain_bot

MIDDLE_FIRST = (3, 2, 4, 1, 5, 0, 6)
ROWS = 6


def choose(turn):
    """The state of Connect-4 is 42 numbers, column by column from the bottom: 0 is empty."""
    state = turn["state"]
    return next(column for column in MIDDLE_FIRST if state[column * ROWS + ROWS - 1] == 0)


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "first-bot"
    url = sys.argv[2] if len(sys.argv) > 2 else "tcp://127.0.0.1:8000"
    quintain_bot.run(choose, game="connect-4", name=name, url=url)
