"""`quintain bot`: a house brain or a language model, through the client that authors of bots use."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from games.brains import BRAINS
from server.commands.flags import Count, Flag, Seconds, Secret, Whole
from server.commands.games import GameName, game_named
from server.commands.playing import played
from server.exits import Misuse
from server.programs.contestant import thinking
from server.programs.terminal import note


def bot(
    brain: Literal["random", "first", "greedy", "alphabeta", "llm"],
    *,
    game: GameName,
    name: str | None = None,
    url: str = "tcp://127.0.0.1:8000",
    token: Secret = None,
    tournament: str | None = None,
    matches: Count = None,
    think: Seconds = 0.5,
    seed: Annotated[int, Whole] = 0,
    base_url: str | None = None,
    model: str | None = None,
    prompt: Path | None = None,
    json: Flag = False,
) -> int:
    """Play with a house bot, on any host.

    It plays until its tournament is over, and at an open table until it is stopped.

    Example: a strong opponent to practise against, by websocket:

        quintain bot alphabeta --game connect-4 --url ws://127.0.0.1:8001

    Example: a language model, on any OpenAI-compatible server:

        quintain bot llm --game connect-4 --model qwen3 \\
            --base-url http://127.0.0.1:11434/v1

    Parameters
    ----------
    brain
        How it chooses its moves: random, first, greedy or alphabeta; llm asks a language model.
    name
        Its name: house-BRAIN, or the model's name, unless set.
    url
        Where the host is: tcp://…, ws://… or http://….
    token
        The token that the name belongs to; unless set, one is made and remembered.
    tournament
        The tournament to enter; unless set, the host chooses.
    matches
        Leave after this many matches.
    think
        Seconds it may take for a move, if its clock allows.
    seed
        A different seed gives different play.
    base_url
        For llm: the address of the server. Its key, if it needs one, is in OPENAI_API_KEY.
    model
        For llm: which model.
    prompt
        For llm: a file with the template of the prompt.
    json
        Every message of the host as a line of JSON.
    """
    rules = game_named(game)
    choose: Callable[[dict[str, Any]], Any]
    if brain == "llm":
        if base_url is None or model is None:
            raise Misuse("llm asks a language model: --base-url says where, and --model which")
        from server.programs import language_model  # here: it takes a quarter of the start of any other bot

        endpoint = language_model.Endpoint(base_url, model, language_model.key())
        lots = random.Random(seed)
        template = language_model.PROMPT if prompt is None else _template(prompt)
        choose = language_model.ModelPlayer(rules, endpoint, template, lots=lots, say=note)
    elif (base_url, model, prompt) != (None, None, None):  # it would play under the name of the model
        raise Misuse(f"--base-url, --model and --prompt are for llm, not for {brain}")
    else:
        choose = thinking(rules, BRAINS[brain](rules, seed), think)
    hello = {
        "game": game,
        "name": name or (f"house-{brain}" if model is None else _called(model)),
        "url": url,
        "token": token,
        "tournament": tournament,
    }
    return played(choose, hello, matches, as_json=json)


def _template(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")  # some editors put a mark at the beginning
    except OSError as error:
        raise Misuse(f"the prompt {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Misuse(f"the prompt {file} cannot be read: expected text in UTF-8") from None


def _called(model: str) -> str:
    """A bot's default name: as much of the model's as a name may have."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", model)[:32]
