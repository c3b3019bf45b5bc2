"""A bot for any of the games: any legal move. Better ideas go into `choose`.

python3 bot.py              # against a host on this machine
python3 bot.py santorini    # another game

QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called.
"""

import os
import random
import sys

import quintain_bot
from legal_moves import legal_moves

GAME = sys.argv[1] if len(sys.argv) > 1 else "connect-4"
URL = os.environ.get("QUINTAIN_URL", "tcp://127.0.0.1:8000")
NAME = os.environ.get("QUINTAIN_NAME", "python-bot")


def choose(turn, moves):
    """`turn["state"]` is the position, `moves` are all that may be played: return one of them."""
    return random.choice(moves)


if __name__ == "__main__":
    quintain_bot.run(lambda turn: choose(turn, legal_moves(GAME, turn)), game=GAME, name=NAME, url=URL)
