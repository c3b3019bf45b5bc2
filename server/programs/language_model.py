"""A bot that asks a language model, at any server with the OpenAI-compatible `POST …/chat/completions`.

The model is told the rules, the position and the legal moves, in the words of a template. When its
answer is not a legal move, it is asked again, with the reason, as long as the clock allows. A server that has
no answer just now is asked again later. Each move has a note of what it cost: tokens, seconds and tries. When
no time or no try is left, a legal move is made by lot, and the note says so.
"""

import http.client
import json
import os
import random
import re
import time
from collections.abc import Callable, Mapping
from string import Template
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from games.game import Game, Illegal, typed
from server.exits import Failure, Misuse
from server.net.addresses import http_parts
from server.net.escaping import safe
from server.programs.hanging_up import hanging_up
from server.store.data_folder import can_be_sent

KEY = "OPENAI_API_KEY"  # in the environment, as other programs have it
TRIES = 5  # answers to one question
ENDLESS = 600.0  # seconds for an answer, if there is no clock
RESERVE = 2.0  # seconds of the clock that are kept for the move itself …
SHARE = 0.5  # … but no more than this share of what is left
PAUSE = 1.0  # seconds until a server that could not answer is asked again, unless it wants more
RETRYING = 0.25  # of the clock, for a server that cannot answer: the moves after this one need time as well
LARGEST = 1 << 20  # bytes of an answer
SHOWN = 200  # characters of a server's error message
TEMPORARY = (408, 409, 429, 500, 502, 503, 504)  # after these, asking again may help

PROMPT = """\
You play $title, as $you, against $opponent.

$rules

The position, as JSON: $state
The moves so far: $moves
Your legal moves: $legal

Choose one of the legal moves. Think if you like, and then write it in a last line of its own, as in the list:
MOVE: <your move>
"""
NAMES = ("title", "you", "opponent", "rules", "state", "moves", "legal", "left")
AGAIN = "That is not a legal move: $why. Write a last line with one of the legal moves, as MOVE: <your move>"

_MOVE = re.compile(r"^\W*MOVE\W*?:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)

Messages = list[dict[str, str]]


class Unanswered(Exception):
    """The server had no answer this time. `wait` is how many seconds it wants to be left alone."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


class Endpoint:
    """The server at which a model is asked."""

    def __init__(self, base_url: str, model: str, key: str | None) -> None:
        if (parts := http_parts(base_url)) is None:
            raise Misuse(f"expected an address such as http://127.0.0.1:11434/v1, not {base_url!r}")
        self._parts = parts
        self._model = model
        self._key = key

    def ask(self, messages: Messages, seconds: float) -> tuple[str, int]:
        """The model's answer, and how many tokens it took. Raises `Unanswered`, or `Failure` for good."""
        until = time.monotonic() + seconds
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=seconds)
        headers = {"Content-Type": "application/json"}
        headers |= {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        path = f"{self._parts.path.rstrip('/')}/chat/completions"
        try:
            body = json.dumps({"model": self._model, "messages": messages})
            connection.connect()
            with hanging_up(until, connection.sock):
                connection.request("POST", path, body, headers)
                response = connection.getresponse()
                said = response.read(LARGEST)
        except OSError as error:
            raise Unanswered(f"the server of the model does not answer: {error.strerror or error}") from None
        except http.client.HTTPException as error:
            why = safe(str(error).strip(), cut=SHOWN)
            raise Unanswered(f"the server of the model says something that is not HTTP: {why}") from None
        finally:
            connection.close()
        if response.status in TEMPORARY:
            asked = response.getheader("Retry-After", "")
            wait = float(asked) if asked.isdecimal() else 0.0
            raise Unanswered(f"the server of the model answers with {response.status}", wait)
        if response.status != 200:
            why = safe(said.decode("utf-8", "replace"), cut=SHOWN)
            raise Failure(f"the server of the model answers with {response.status}: {why}")
        return _read(said)


class ModelMessage(Struct):
    content: str | None = None  # nothing, where all tokens went into thinking, or the model refuses


class Choice(Struct):
    message: ModelMessage


class Usage(Struct):
    total_tokens: int = 0


class ModelAnswer(Struct):
    """The answer of such a server, as far as it matters here."""

    choices: Annotated[list[Choice], Meta(min_length=1)]
    usage: Usage | None = None


def _read(said: bytes) -> tuple[str, int]:
    try:
        answer = msgspec.json.decode(said, type=ModelAnswer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unanswered(f"the server of the model says something that is not an answer: {error}") from None
    return answer.choices[0].message.content or "", 0 if answer.usage is None else answer.usage.total_tokens


class ModelPlayer:
    """Chooses moves by asking a model: what `quintain_bot.run` calls."""

    def __init__(
        self,
        game: Game[Any, Any],
        endpoint: Endpoint,
        template: str,
        *,
        lots: random.Random,
        say: Callable[[str], None],
    ) -> None:
        self._game = game
        self._endpoint = endpoint
        self._template = checked(template)
        self._lots = lots
        self._say = say

    def __call__(self, question: dict[str, Any]) -> object:
        begun, game = time.monotonic(), self._game
        left = question["clock"][game.seats.index(question["you"])]
        until = begun + (ENDLESS if left is None else left - min(RESERVE, left * SHARE))
        give_up = begun + RETRYING * (ENDLESS if left is None else left)
        position, played = replayed(game, question)
        legal = {game.short(move): move for move in position.moves()}
        prompt = self._prompt(question, played, list(legal), left)
        messages: Messages = [{"role": "user", "content": prompt}]
        tokens, tries, answers, found = 0, 0, 0, None
        while found is None and answers < TRIES and (seconds := until - time.monotonic()) > 0:
            tries += 1
            try:
                text, cost = self._endpoint.ask(messages, seconds)
            except Unanswered as trouble:
                self._say(str(trouble))
                now = time.monotonic()
                if tries >= TRIES and now > give_up:
                    break
                wait = max(PAUSE, min(trouble.wait, give_up - now))
                time.sleep(min(wait, max(0.0, until - now)))
                continue
            answers += 1
            tokens += cost
            found, why = chosen(game, position, text, legal)
            if found is None:
                again = Template(AGAIN).substitute(why=why)
                messages += [{"role": "assistant", "content": text}, {"role": "user", "content": again}]
        note = {"tokens": tokens, "seconds": round(time.monotonic() - begun, 3), "tries": tries}
        if found is None:
            found, note["by_lot"] = self._lots.choice([*legal.values()]), 1
        question["note"] = note
        return game.write(found)

    def _prompt(
        self, question: Mapping[str, Any], played: list[str], legal: list[str], left: float | None
    ) -> str:
        game, you = self._game, question["you"]
        return Template(self._template).substitute(
            title=game.title,
            you=you,
            opponent=question["players"][1 - game.seats.index(you)],
            rules=game.rules.strip(),
            state=json.dumps(question["state"], separators=(",", ":")),
            moves=", ".join(played) or "none",
            legal="; ".join(legal),
            left="no limit" if left is None else f"{left:.0f} s",
        )


def replayed(game: Game[Any, Any], question: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """The position that a question is about, and the moves that led there."""
    position, played = game.opening(question["options"]), list[str]()
    for written in question["moves"]:
        move = game.read(written, position)
        played.append(game.short(move))
        position = position.play(move)
    return position, played


def chosen(game: Game[Any, Any], position: Any, text: str, legal: Mapping[str, Any]) -> tuple[Any, str]:
    """The move with which an answer ends; or None, and why it is not a move."""
    lines = _MOVE.findall(text) or [line for line in text.splitlines() if line.strip()][-1:]
    if not lines:
        return None, "the answer is empty"
    said = lines[-1].strip(" \t*`\"'.")
    if said in legal:
        return legal[said], ""
    try:
        move = game.read(typed(said), position)
        position.play(move)
    except Illegal as why:
        return None, str(why)
    return move, ""


def checked(template: str) -> str:
    """A template of a prompt; raises `Misuse` for one with unknown fields."""
    try:
        Template(template).substitute(dict.fromkeys(NAMES, ""))
    except (KeyError, ValueError) as error:
        known = ", ".join(f"${name}" for name in NAMES)
        raise Misuse(f"a prompt may have {known}, and $$ for a dollar sign; this one has {error}") from None
    return template


def key() -> str | None:
    """The key in the environment; raises `Misuse`, which does not show it, if no request can carry it."""
    found = os.environ.get(KEY, "").strip()
    if not can_be_sent(found):
        raise Misuse(f"the environment: {KEY}: expected one line of ASCII")
    return found or None
