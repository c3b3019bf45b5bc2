"""A bot for any of the games: any legal move. Better ideas go into `choose`.

python3 bot.py              # against a host on this machine
python3 bot.py santorini    # another game

QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called.
"""

import random
import sys

from legal_moves import legal_moves
from protocol import Unwelcome, play

GAME = sys.argv[1] if len(sys.argv) > 1 else "connect-4"


def choose(turn, moves):
    """`turn["state"]` is the position, `moves` are all that may be played: return one of them."""
    return random.choice(moves)


if __name__ == "__main__":
    try:
        play(GAME, lambda turn: choose(turn, legal_moves(GAME, turn)))
    except Unwelcome as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
