"""Bots over HTTP: both games of the Arena, and Hexagon Dots.

They read of an answer what they need and no more. A move is made when the
request that it was sent in is answered, which in Hexagon Dots is the bot's next
turn.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from functools import cached_property
from random import Random
from time import perf_counter
from typing import Any

from msgspec.json import decode, encode

from games import hexagondots, quoridor
from games.game import Game
from tests.bench.crowd import Crowd, Send, scripts

LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
TOKEN = re.compile(rb"\r\nX-Turn-Token: ([^\r]+)")
LOCATION = re.compile(rb"\r\nLocation: ([^\r]+)")

Answers = Mapping[tuple[object, ...], list[bytes]]


class Gone(Exception):
    """A bot's game is over, because this process had too little of the machine to move in time."""


def answers(name: str, count: int, write: Callable[[Any], object], told: Callable[[Any], object]) -> Answers:
    """What may be answered to the moves so far, as a bot is told of them."""
    found = defaultdict[tuple[object, ...], list[bytes]](list)
    for match in scripts(name, count):
        for ply, move in enumerate(match):
            found[tuple(map(told, match[:ply]))].append(encode(write(move)))
    return found


WALLS = answers("quoridor", 32, quoridor.write, lambda move: move)
DOTS = answers("hexagon-dots", 64, hexagondots.write, lambda line: line)


class Connection:
    """One connection of a bot, that asks and is answered; an event stream is heard event by event."""

    def __init__(self, crowd: Crowd, hear: Callable[[bytes, bytes], None]) -> None:
        self._crowd = crowd
        self._hear = hear
        self._rest = b""

    @cached_property
    def _send(self) -> Send:
        """Opened when there is something to ask: whoever comes and asks nothing is hung up on."""
        return self._crowd.connect(self._take)

    def get(self, path: bytes) -> None:
        self._send(b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % path)

    def post(self, path: bytes, body: bytes, token: bytes = b"") -> None:
        header = b"X-Turn-Token: %b\r\n" % token if token else b""
        self._send(
            b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\n%bContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%b" % (path, header, len(body), body)
        )

    def _take(self, received: bytes) -> None:
        self._rest += received
        while True:  # a bot that has sent two moves may be answered both at once
            head, ended, body = self._rest.partition(b"\r\n\r\n")
            if not ended:
                return
            if head.startswith((b"HTTP/1.1 410 ", b"HTTP/1.1 423 ")):
                raise Gone(f"a bot was too slow: {body.decode()}")
            if not head.startswith(b"HTTP/1.1 20"):
                raise RuntimeError(f"a bot that plays by the rules was told {self._rest!r}")
            found = LENGTH.search(head)
            if found is None:
                self._take_events(head, body)
                return
            size = int(found[1])
            if len(body) < size:
                return
            self._rest = body[size:]
            self._hear(head, body[:size])

    def _take_events(self, head: bytes, body: bytes) -> None:
        """Of an event stream: each event once, and b"" at the end."""
        begun = 0
        while (begins := body.find(b"data: ", begun)) >= 0 and (ends := body.find(b"\n\n", begins)) >= 0:
            self._hear(head, body[begins + 6 : ends])
            begun = ends + 2
        if body.endswith(b"\r\n0\r\n\r\n"):
            self._rest = b""
            self._hear(head, b"")
        else:
            self._rest = b"%b\r\n\r\n%b" % (head, body[begun:])


class ArenaBot:
    """Plays one match after another, and joins for each."""

    def __init__(
        self,
        crowd: Crowd,
        name: str,
        game: Game[Any, Any],
        answers: Answers,
        tokens: dict[str, str] | None = None,
    ) -> None:
        """`tokens`: of bots that have been here before, by name; a bot adds its own."""
        self._crowd = crowd
        self._game = game.name.encode()
        self._seats = game.seats
        self._answers = answers
        self._random = Random(name)
        self._name = name
        self._talk = Connection(crowd, self._answered)
        self._stream = Connection(crowd, self._told)
        self._asked = deque[float]()  # when it sent the moves that it waits to hear of
        self._over = False
        self._tokens: dict[str, str] = {} if tokens is None else tokens
        self._join()

    def _join(self) -> None:
        self._path, token = b"", self._tokens.get(self._name)
        self._seat, self._moves = "", list[str]()
        self._talk.post(b"/%b/join" % self._game, encode({"name": self._name, "token": token}))

    def _answered(self, head: bytes, body: bytes) -> None:
        if self._asked:
            self._crowd.made(self._asked.popleft())
            self._again()
        else:
            answer = decode(body)
            self._tokens[self._name] = answer["token"]
            battle = answer["battleId"].encode()
            self._path = b"/%b/play/%b" % (self._game, battle)
            self._stream.get(b"/%b/start/%b" % (self._game, battle))

    def _told(self, head: bytes, event: bytes) -> None:
        if not event:
            self._over = True
            self._again()
            return
        told = decode(event)
        match told:
            case {"youAre": seat}:
                self._seat = seat
            case {"player": _, "position": position}:
                self._moves.append(position)
            case {"winner": _}:
                return
            case _:
                raise RuntimeError(f"a bot that plays by the rules was told {told}")
        options = self._answers.get(tuple(self._moves))
        if options and self._seat == self._seats[len(self._moves) % 2]:
            self._asked.append(perf_counter())
            self._talk.post(self._path, self._random.choice(options))

    def _again(self) -> None:
        """Once the stream has ended and the last move is answered."""
        if self._over and not self._asked:
            self._over = False
            self._join()


class HexagonBot:
    """One of two who play each other again and again, each time at a new address."""

    BOARD = encode({"rows": 5, "cols": 5})

    def __init__(self, crowd: Crowd, name: str) -> None:
        self._crowd = crowd
        self._random = Random(name)
        self._joining = encode({"name": name})
        self._talk = Connection(crowd, self._answered)
        self._game = b""
        self._lines = list[hexagondots.Line]()
        self._asked: float | None = None  # when it sent the move that it waits to hear of
        self.other = self
        self.free = True

    def make_game(self) -> None:
        self._talk.post(b"/", self.BOARD)

    def join(self, game: bytes) -> None:
        self._game, self.free = game, False
        self._talk.post(game + b"/players", self._joining)

    def _answered(self, head: bytes, body: bytes) -> None:
        if (found := LOCATION.search(head)) is not None:
            self.join(found[1])
            self.other.join(found[1])
            return
        if self._asked is not None:
            self._crowd.made(self._asked)
            self._asked = None
        is_over = head.startswith(b"HTTP/1.1 410")  # on a machine that had too much to do: by the clock
        for line in () if is_over else decode(body)["lines"]:
            one, other = line["endpoints"]
            self._lines.append(((one["row"], one["col"]), (other["row"], other["col"])))
        if (token := TOKEN.search(head)) is not None:
            self._asked = perf_counter()
            move = self._random.choice(DOTS[tuple(self._lines)])
            self._talk.post(self._game + b"/moves", move, token[1])
        else:
            self._lines.clear()
            self.free = True
            if self.other.free:
                self.make_game()
