"""`quintain bot`: a house brain that plays through the client that authors of bots use."""

from typing import Literal

from games.brains import BRAINS
from server.commands.flags import Count, Flag, Seconds
from server.commands.games import GameName, game_named
from server.commands.playing import played
from server.programs.contestant import thinking


def bot(
    brain: Literal["random", "first", "greedy", "alphabeta"],
    *,
    game: GameName,
    name: str | None = None,
    url: str = "tcp://127.0.0.1:8000",
    token: str | None = None,
    tournament: str | None = None,
    matches: Count = None,
    think: Seconds = 0.5,
    seed: int = 0,
    json: Flag = False,
) -> int:
    """Play with a house bot, on any host.

    It plays until its tournament is over, and at an open table until it is stopped.

    Example: a strong opponent to practise against, by websocket:

        quintain bot alphabeta --game connect-4 --url ws://127.0.0.1:8001

    Parameters
    ----------
    brain
        How it chooses: random, first, greedy or alphabeta.
    name
        What it is called: house-BRAIN unless set.
    url
        Where the host is: tcp://…, ws://… or http://….
    token
        What the name belongs to; unless set one is made up and remembered.
    tournament
        The tournament to enter; unless set the host finds a place.
    matches
        Leave after so many.
    think
        Seconds that it may take for a move, where its clock allows that.
    seed
        Another one gives other play.
    json
        Every message of the host as a line of JSON.
    """
    rules = game_named(game)
    choose = thinking(rules, BRAINS[brain](rules, seed), think)
    hello = {
        "game": game,
        "name": name or f"house-{brain}",
        "url": url,
        "token": token,
        "tournament": tournament,
    }
    return played(choose, hello, matches, as_json=json)
