"""Play on a Quintain host: the house protocol over TCP. One file, nothing to install, Python 3.9 or later.

    from protocol import play

    play("connect-4", lambda turn: 3)

`play` calls the function whenever it is the bot's turn. It returns the final standings when the tournament is
over; at an open table it plays until it is stopped, or for as many `matches` as you say. After a lost
connection, or if it is started again within half a minute, the bot goes on with its match.
The function is given the host's message as a dict ("state", "ply", "last", "clock", "match"), with "you",
"players" and "options" added. It returns a move as "last" shows it or in its short form: 3, "SE", "1 2 3".
"""

from __future__ import annotations

import json
import os
import random
import secrets
import socket
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Message = dict[str, Any]
FIRST_WAIT, LONGEST_WAIT = 0.25, 15.0  # seconds before coming back, doubled each time …
GIVE_UP = 120.0  # … until there has been no host for so long
# A host is gone after 20 seconds of silence, and if it does not answer the system four times, each 5 seconds.
GONE = (("TCP_KEEPIDLE", 16, 20), ("TCP_KEEPINTVL", 257, 5), ("TCP_KEEPCNT", 258, 4))
ANSWER = 15.0  # for the host to take a connection, and to say welcome
LATER = ("come again later", "wait for a minute")  # a refusal with these words is not meant for ever
OVER = ("has taken over", "ask its organiser")  # another program has our token, or we were taken out


class Unwelcome(Exception):
    """The host does not want this bot, or there is none: the message says why."""


def play(game: str, choose: Callable[[Message], Any], quiet: bool = False, **wishes: Any) -> Message:
    """Play until there is no more to play. Wishes go into the hello, such as against="greedy", matches=10."""
    name = os.environ.get("QUINTAIN_NAME", "python-bot")
    hello = {"type": "hello", "protocol": 1, "name": name, "game": game, **wishes}
    return Bot(os.environ.get("QUINTAIN_URL", "tcp://127.0.0.1:8000"), hello, choose, quiet).play()


class Bot:
    """What a bot knows beyond one connection."""

    def __init__(self, url: str, hello: Message, choose: Callable[[Message], Any], quiet: bool) -> None:
        self.url, self.hello, self.choose, self.quiet = url, hello, choose, quiet
        self.host, self.port = "", 8000
        with suppress(ValueError):  # a port that is none, or half of a pair of brackets
            self.port, self.host = urlsplit(url).port or self.port, urlsplit(url).hostname or ""
        if not self.host or not url.startswith("tcp://"):
            raise Unwelcome(f"cannot play on {url}: expected an address like tcp://127.0.0.1:8000")
        self.hello.setdefault("token", self.remembered(f"{self.host}-{hello['game']}-{hello['name']}"))
        self.lost_at, self.failures = float("-inf"), 0  # when it was here last, how often it has tried since
        self.begun: Message = {}  # how the match began that is being played
        self.answered: Message = {}  # the question that was answered last: its match and ply

    def play(self) -> Message:
        while True:
            self.is_here, self.reason = False, ""  # on this connection
            with closing(self.messages()) as messages:
                for message in messages:
                    self.hear(message)
                    if message["type"] == "standings" or self.hello.get("matches") == 0:
                        self.send({"type": "bye"})
                        return message
                    if not self.is_here:  # the hello was refused
                        break
            self.wait(self.reason or "the host hung up")

    def messages(self) -> Generator[Message, None, None]:
        """Connect, say hello, and yield what the host says, a JSON object a line, as long as it lasts."""
        try:
            with socket.create_connection((self.host, self.port), ANSWER) as self.socket:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for name, on_macos, value in GONE:
                    self.socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name, on_macos), value)
                self.send(self.hello)
                yield from map(json.loads, self.socket.makefile("rb"))
        except socket.timeout:
            self.reason = self.reason or "the host does not answer"
        except (OSError, ValueError) as error:  # ValueError: a line was cut off, or it is another port
            self.reason = self.reason or (str(error) if isinstance(error, OSError) else "it said no message")

    def send(self, message: Message) -> None:
        with suppress(OSError):  # the connection has ended: what is read next says why
            self.socket.sendall(json.dumps(message).encode() + b"\n")

    def hear(self, message: Message) -> None:
        kind, question = message["type"], {"match": message.get("match"), "ply": message.get("ply")}
        self.reason = ""  # why the host may hang up next
        if kind == "welcome":
            self.socket.settimeout(None)  # it may be long until the first match
            self.is_here, name, place = True, message["name"], message["tournament"]
            self.hello.update(name=name, tournament=place)  # to come back to
            self.say(f"{name} is connected to {self.url}: {place or 'the open table'}")
        elif kind == "begin":  # or goes on, from the moves that the host has kept
            self.begun, self.answered, self.failures = message, {}, 0
            ply, players = len(message.get("moves", [])), " against ".join(message["players"])
            self.say(f"{message['match']} from ply {ply}: {players}")
        elif kind == "turn":
            if message["turn"] == self.begun["you"] and question != self.answered:  # it may be asked twice
                self.answered = question
                more = {key: self.begun.get(key, {}) for key in ("you", "players", "options")}
                move = self.choose({**message, **more})
                text = json.dumps(move)  # of one that is no move, the host is told the beginning
                self.send({"type": "move", **question, "move": move if len(text) <= 3500 else text[:300]})
        elif kind == "refused":
            self.reason = "" if "ply" in message else message["reason"]  # the host may hang up next
            if self.is_here and ("ply" in message or self.answered):
                self.say(f"refused: {message['reason']}")
            if question == self.answered:
                self.answered = {}
                self.send({"type": "state"})  # asks for the turn again, unless this has lost the match
        elif kind == "end":
            if "matches" in self.hello:
                self.hello["matches"] -= 1  # still to be played, if it has to come back
            results = {None: "void", "draw": "drawn", self.begun["you"]: "won"}
            self.say(f"{message['match']}: {results.get(message['winner'], 'lost')} ({message['why']})")
        elif kind == "standings":
            own = next((row for row in message["rows"] if row["name"] == self.hello["name"]), None)
            place = own and f"rank {own['rank']} of {len(message['rows'])}, {own['points']} points"
            how = " (its standings are frozen)" if message.get("frozen") else ""
            self.say(f"{message['tournament']} is over{how}: {place or 'this bot is not in its standings'}")

    def wait(self, why: str) -> None:
        """Wait before coming back, or raise what makes that useless."""
        self.lost_at = time.monotonic() if self.is_here else self.lost_at
        given_up = any(words in why for words in OVER) or time.monotonic() - self.lost_at > GIVE_UP
        if given_up and not any(words in why for words in LATER):
            raise Unwelcome(f"cannot play on {self.url}: {why}")
        self.say(f"the connection is lost ({why}): trying again")
        time.sleep(min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self.failures, 6)) * random.uniform(0.5, 1))
        self.failures += 1

    def remembered(self, key: str) -> str:
        """The token of a name on a host: the same each time, and readable for nobody else."""
        home = os.path.expanduser("~").removeprefix("~") or "."  # in some containers there is none
        states = os.environ.get("XDG_STATE_HOME") or Path(home, ".local", "state")
        file = Path(states, "quintain-bot", key.replace("/", "_"))
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.touch(mode=0o600)
            if not file.read_text():
                file.write_text(secrets.token_hex(16))
        except OSError as error:
            raise Unwelcome(f"the token cannot be kept in {file}: {error.strerror}") from None
        self.say(f"the token is kept in {file}")
        return file.read_text().strip()

    def say(self, line: str) -> None:
        if not self.quiet:  # names come from strangers: nothing in them may move the cursor, or fail to print
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            plain = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
            with suppress(OSError):  # a full disk costs no match
                print(plain.encode(encoding, "backslashreplace").decode(encoding), flush=True)
