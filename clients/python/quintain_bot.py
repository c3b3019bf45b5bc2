"""Play on a Quintain host. One file, nothing to install, Python 3.9 or later: copy it next to your bot.

A bot is a function from a position to a move:

    import quintain_bot

    def choose(turn):
        return 3                      # Connect-4: a column

    quintain_bot.run(choose, game="connect-4", name="ann")

`run` connects, says hello, and calls `choose` whenever it is your turn. When the connection is lost, or the
host is restarted, it comes back by itself and goes on with the match; when your tournament is over it returns
the final standings. At an open table it plays on until you stop it, or for as many `matches` as you say.

What `choose` is given is a dict, the house protocol's `turn` message with a little more:

    turn["state"]      the position, as the game shows it: all there is to know
    turn["ply"]        how many moves have been played
    turn["last"]       the last move, or None
    turn["you"]        your seat, as turn["turn"] has it: "O" or "X", "first" or "second"
    turn["players"]    both names, in the order of the seats
    turn["clock"]      seconds left, in the order of the seats; None means no limit
    turn["match"]      the match's name
    turn["moves"]      all moves so far, for whoever would rather count than look
    turn["options"]    of the game, where they differ from its defaults: {"rows": 7}
    turn["refused"]    only there if your last answer was refused: why, in words

What it returns is the move, as `turn["last"]` would show it or in its short form: `3`, `"SE"`, `"e3h"`,
`"1 2 3"`. It may raise `Leave` to stop playing for good, which loses the match. Any other exception comes out
of `run`, Ctrl-C too; a bot that is started again within half a minute goes on with its match.

It may set `turn["note"]`: up to 500 characters, or a dict of up to 16 numbers. The host keeps that with the
move, and shows it when the match is over.

It prints a line for everything that happens: where the token is kept, where it is connected, whom it plays,
who won and why, and what a bot that lost can do about it. With `quiet=True` it prints nothing; the logger
`quintain_bot` is told in any case. `record="talk.jsonl"` keeps all messages from and to the host in a file.

The address says how to travel: tcp://127.0.0.1:8000, ws://127.0.0.1:8001 or http://127.0.0.1:8080, and wss://
or https:// to a host with a certificate. The same bot plays over any of them. An address without a port means
8000 over TCP, and else what it means to a browser: 80, or 443 with a certificate, as at a proxy.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import json
import logging
import os
import random
import secrets
import socket
import ssl
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Any, NamedTuple, cast
from urllib.parse import quote, urlsplit

__all__ = ["Leave", "Refused", "Unreachable", "run"]

PORTS = {"tcp": 8000, "ws": 80, "wss": 443, "http": 80, "https": 443}  # of an address without one
GIVE_UP_AFTER = 120.0  # seconds without a host after which a bot that was in gives up
ANSWER = 15.0  # seconds for a host to take a connection, or to answer what is no long poll
POLL = 60.0  # seconds for a long poll, which the host answers after 25 in any case
FIRST_WAIT, LONGEST_WAIT = 0.25, 15.0  # seconds before coming back: doubled each time, and drawn by lot below
MOMENT = 0.25  # seconds after a refusal in which we may hear that it has lost us the match
LARGEST = 1 << 22  # bytes of one message: hundreds of times what a host says
LONGEST = 3800  # bytes of a move and its note as JSON: hosts hang up over messages of more than 4096
BEGINNING = 300  # characters that are sent of what is too long for a move
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
SOON = ("come again later", "wait for a minute")  # in refusals that are not meant for ever
SHORTEST = 16  # characters of a token that a bot brings along
SECRET = ("token", "session")  # what no record has: whoever knows it speaks for the bot
UNTRUSTED = "its certificate is not trusted here"
NO_TLS = "no TLS comes about"
LEADS = "whatever answers there leads to "  # as from http:// to https://; nobody follows with a token
TEXT, MAYBE = (str,), (str, type(None))
FIELDS: dict[str, dict[str, tuple[type, ...]]] = {  # what is read of messages, and of which types it is
    "welcome": {"name": TEXT, "tournament": MAYBE, "token": TEXT},
    "begin": {"match": TEXT, "you": TEXT, "players": (list,)},
    "turn": {"match": TEXT, "ply": (int,), "turn": MAYBE, "clock": (list,)},
    "end": {"winner": MAYBE},
}
OPTIONAL: dict[str, tuple[type, ...]] = {
    "options": (dict,),
    "moves": (list,),
    "cause": (list,),
    "rows": (list,),
}
ITEMS: dict[str, tuple[type, ...]] = {  # of these lists
    "players": TEXT,
    "clock": (int, float, type(None)),
    "cause": (dict,),
    "rows": (dict,),
}
PAIRS = ("players", "clock")  # lists that have an item for each seat
FOR_GOOD = (  # what the host says to whoever is not to come back
    "has taken over",  # somebody else plays with our token: that would be a fight without end
    "ask its organiser",  # who has withdrawn or disqualified us
)

Message = dict[str, Any]
log = logging.getLogger("quintain_bot")
log.addHandler(logging.NullHandler())  # else it would print warnings, which are printed already


class Refused(Exception):
    """The host does not want this bot: the reason is in its words."""


class Unreachable(Exception):
    """No host plays at that address: none answers, or none any more; or its certificate is not trusted."""


class Leave(Exception):
    """Raised by `choose`: lose what is being played, and go."""


class Lost(Exception):
    """A connection has ended. `wait` is how many seconds the host wants to be left alone."""

    def __init__(self, why: str, wait: float = 0.0) -> None:
        super().__init__(why)
        self.wait = wait


class Astray(Lost):
    """Something answers there, and does not play with us: another port of the host, or no host at all."""


def run(
    choose: Callable[[Message], Any],
    *,
    game: str,
    name: str,
    url: str = "tcp://127.0.0.1:8000",
    token: str | None = None,
    tournament: str | None = None,
    matches: int | None = None,
    version: str | None = None,
    against: str | None = None,
    heard: Callable[[Message], None] = lambda message: None,
    give_up_after: float = GIVE_UP_AFTER,
    quiet: bool = False,
    record: str | os.PathLike[str] | None = None,
) -> Message | None:
    """Play until the tournament is over; returns its `standings` message, or None without a tournament.

    `token` is what the name belongs to, 16 characters or more: whoever brings it takes over the place.
    Without one, one is made up and remembered in a file of yours. `tournament` names one to enter; else the
    host finds a place. `matches` bounds how many are played: the host deals no more. `version`, 64 characters
    at most, is kept with them. `against` is the only opponent that is wanted, at the open table: another bot,
    or one of the host's own, such as "greedy". `heard` is told every message. Without `quiet` a line is
    printed for whatever happens. `record` is a file to which everything said is added, a JSON object a line,
    without tokens and sessions.

    Raises `Refused`, `Unreachable`, whatever `choose` raises, and `OSError` if `record` cannot be opened.
    """
    if token and len(token) < SHORTEST:  # the host would give it another, which nobody could bring again
        raise ValueError(f"expected a token of {SHORTEST} characters or more")
    address, teller = _address(url), _Teller(name, game, quiet)
    hello = {"type": "hello", "protocol": 1, "name": name, "game": game}
    hello["token"] = token or _remembered(address.host, game, name, teller)
    if tournament is not None:
        hello["tournament"] = tournament
    if version is not None:
        hello["version"] = version
    if against is not None:
        hello["against"] = against
    if record is None:
        return _Bot(choose, hello, address, heard, matches, give_up_after, teller, None).run()
    opened = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    file = open(opened, "a", encoding="utf-8")  # noqa: SIM115 - closing may fail
    try:
        return _Bot(choose, hello, address, heard, matches, give_up_after, teller, file).run()
    finally:
        with contextlib.suppress(OSError):  # a full disk costs the end of the record, and not the standings
            file.close()


class _Bot:
    """What a bot knows beyond one connection."""

    def __init__(
        self,
        choose: Callable[[Message], Any],
        hello: Message,
        address: _Address,
        heard: Callable[[Message], None],
        matches: int | None,
        give_up_after: float,
        teller: _Teller,
        record: IO[str] | None,
    ) -> None:
        self.choose, self.hello, self.address, self.heard = choose, hello, address, heard
        self.matches, self.give_up_after, self.teller, self.record = matches, give_up_after, teller, record
        self.played = 0
        self.welcomed = False  # ever
        self.here = False  # on this connection
        self.failures = 0  # since we were last asked or told something of a match
        self.lost_at: float | None = None
        self.begun: Message = {}
        self.moves: list[Any] = []
        self.question: Message | None = None  # what waits for a valid answer of ours
        # Match, ply, move and what is said with it: for a host that never got it.
        self.answered: tuple[Any, Any, Any, Message] | None = None
        self.reason = ""  # of the last refusal that was not of a move: why we may be hung up on

    def run(self) -> Message | None:
        while True:
            self.here, self.reason = False, ""
            try:
                connection = _connected(self.address)
                if self.record is not None:
                    connection = _Recorded(connection, self.record)
                try:
                    return self.play(connection)
                finally:
                    connection.close()
            except Lost as lost:
                self.wait(str(lost), lost.wait, isinstance(lost, Astray))

    def wait(self, why: str, at_least: float, astray: bool) -> None:
        """Wait before coming back, or raise what makes that useless."""
        now = time.monotonic()
        for reason in (self.reason, why):
            if any(words in reason for words in FOR_GOOD):
                raise Refused(reason)
        why = (self.reason or why).strip()  # what is no host of ours may have said a line
        if not self.welcomed and not at_least:
            found = "cannot play" if astray or why.startswith(NO_TLS) else "no host answers"
            raise Unreachable(f"{'a host answers' if UNTRUSTED in why else found} at {self.address}: {why}")
        if self.here or self.lost_at is None:
            self.lost_at = now
        if now - self.lost_at > self.give_up_after:
            raise Unreachable(f"no host at {self.address} for {now - self.lost_at:.0f} s: {why}")
        seconds = at_least + random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(self.failures, 10)))
        self.failures += 1
        self.teller.lost(why)
        time.sleep(seconds)

    def play(self, connection: _Connection) -> Message | None:
        """From the hello to the end of the tournament, if the connection lasts as long."""
        later: deque[Message] = deque()
        if self.matches is not None:  # with the one that we may be in the middle of
            self.hello["matches"] = max(1, self.matches - self.played)
        connection.say(self.hello)
        try:
            while True:
                message = later.popleft() if later else connection.hear(None if self.here else ANSWER)
                if message is None:
                    if not self.here:  # the hello is not answered: whatever is there may be no host of ours
                        raise Lost("the host does not answer")
                    continue
                _expect(message)
                self.heard(message)
                self.reason = ""
                kind = message.get("type")
                if kind == "welcome":
                    self.enter(message)
                elif kind == "begin":
                    self.teller.begun(message)
                    self.failures, self.begun, self.question = 0, message, None
                    self.moves = list(message.get("moves", ()))
                    if self.answered is not None and self.answered[1] > len(self.moves):
                        self.answered = None  # for a position that a restart of the host has taken back
                elif kind == "turn":
                    self.turn(connection, message)
                elif kind == "refused" and self.is_about_the_question(message):
                    self.teller.refused(message)
                    following = connection.hear(MOMENT)
                    if following is not None:
                        later.append(following)
                    if following is None or following.get("type") != "end":
                        self.answered = None
                        self.answer(connection, dict(self.question or {}, refused=message.get("reason")))
                elif kind == "refused":
                    self.refused(message)
                elif kind == "end":
                    self.question = None
                    self.played += 1
                    self.teller.ended(message, self.begun)
                    if self.played == self.matches:
                        return _bye(connection)
                elif kind == "standings" and message.get("final"):
                    self.teller.over(message)
                    _bye(connection)
                    return message
        except Leave:
            return _bye(connection)

    def enter(self, welcome: Message) -> None:
        self.welcomed = self.here = True
        self.teller.connected(self.address, welcome)
        self.hello["token"] = welcome.get("token") or self.hello["token"]
        if welcome.get("tournament"):
            self.hello["tournament"] = welcome["tournament"]  # that is where we come back to

    def refused(self, message: Message) -> None:
        """What was refused is a move that no longer matters, the hello, or the bot itself."""
        reason = str(message.get("reason"))
        if not self.here:
            if any(words in reason for words in SOON):
                raise Lost(reason, wait=1.0)
            raise Refused(reason)
        if "ply" not in message:
            self.teller.refused(message)
            self.reason = reason

    def is_about_the_question(self, refusal: Message) -> bool:
        question = self.question
        return question is not None and (refusal.get("match"), refusal.get("ply")) == (
            question["match"],
            question["ply"],
        )

    def turn(self, connection: _Connection, message: Message) -> None:
        begun, self.question = self.begun, None
        if message["ply"] == len(self.moves) + 1:
            self.moves.append(message.get("last"))
        if message.get("turn") is not None and message["turn"] == begun.get("you"):
            more = {"you": begun["you"], "players": begun["players"], "options": begun.get("options", {})}
            self.question = dict(message, moves=self.moves[:], **more)
            self.answer(connection, self.question)

    def answer(self, connection: _Connection, question: Message) -> None:
        match, ply = question["match"], question["ply"]
        if self.answered is None or self.answered[:2] != (match, ply):
            begun, asked = time.monotonic(), dict(question)
            move = _sendable(self.choose(asked))
            more: Message = {"spent": round(time.monotonic() - begun, 3)}
            if (note := asked.get("note")) is None:
                pass
            elif _is_note(note) and _is_sendable([move, note]):
                more["note"] = note
            else:
                self.teller.left_out()
            self.answered = (match, ply, move, more)
        _, _, move, more = self.answered
        connection.say({"type": "move", "match": match, "ply": ply, "move": move, **more})


def _sendable(move: Any) -> Any:
    """The move; or the beginning of what is no move anywhere, so that the host says so and goes on."""
    if _is_sendable(move):
        return move
    text = move if isinstance(move, str) else json.dumps(move)
    return text.encode("utf-8", "backslashreplace").decode()[:BEGINNING]


def _is_note(value: Any) -> bool:
    """Whether a host takes it for a note: it would refuse the move as well."""
    if isinstance(value, str):
        return len(value) <= 500
    if not isinstance(value, dict):
        return False
    figures = cast("dict[object, object]", value)
    return len(figures) <= 16 and all(_is_figure(name, each) for name, each in figures.items())


def _is_figure(name: object, value: object) -> bool:
    is_whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
    return len(str(name)) <= 32 and (is_whole or isinstance(value, float))


def _is_sendable(value: Any) -> bool:
    """Whether a host takes it as JSON, which has no NaN, no infinity and no half characters."""
    try:
        return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) <= LONGEST
    except ValueError:
        return False


def _bye(connection: _Connection) -> None:
    """Leave for good. If the host is gone, that comes to the same."""
    with contextlib.suppress(Lost):
        connection.say({"type": "bye"})


# What is said to people


class _Teller:
    """Says in a line whatever happens: on standard output unless `quiet`, and to the logger."""

    def __init__(self, name: str, game: str, quiet: bool) -> None:
        self.name, self.game, self.quiet = name, game, quiet

    def say(self, line: str, level: int = logging.INFO) -> None:
        """Names and reasons come from strangers: nothing in them may move a cursor or forge a line."""
        shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
        log.log(level, "%s", shown)
        if not self.quiet:
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            with contextlib.suppress(OSError):  # a full disk, or a terminal that is gone, costs no match
                print(shown.encode(encoding, "backslashreplace").decode(encoding), flush=True)

    def connected(self, address: _Address, welcome: Message) -> None:
        place = welcome.get("tournament") or "the open table"
        self.name = welcome.get("name", self.name)
        self.say(f"{self.name} is connected to {address}: {place}")

    def begun(self, begin: Message) -> None:
        ply, players = len(begin.get("moves", ())), " against ".join(map(str, begin.get("players", ())))
        self.say(f"{begin.get('match')} from ply {ply}: {players}")

    def refused(self, refusal: Message) -> None:
        self.say(f"refused: {refusal.get('reason')}", logging.WARNING)

    def ended(self, end: Message, begin: Message) -> None:
        winner, you = end.get("winner"), begin.get("you")
        result = {None: "void", "draw": "drawn", you: "won"}.get(winner, "lost")
        players: list[str] = begin.get("players", [])
        is_lost = result == "lost" and self.name in players
        advice = _advice(end, players.index(self.name), self.game) if is_lost else ""
        self.say(f"{end.get('match')}: {result} ({end.get('why')})" + (advice and f": {advice}"))

    def over(self, standings: Message) -> None:
        rows: list[Message] = standings.get("rows", [])
        own = next((row for row in rows if row.get("name") == self.name), None)
        place = own and f"rank {own.get('rank')} of {len(rows)}, {own.get('points')} points"
        how = " (its standings are frozen)" if standings.get("frozen") else ""
        self.say(f"{standings.get('tournament')} is over{how}: {place or 'this bot is not in its standings'}")

    def left_out(self) -> None:
        self.say("a note is left out: a host takes 500 characters, or 16 numbers by name", logging.WARNING)

    def lost(self, why: str) -> None:
        self.say(f"the connection is lost ({why}): trying again", logging.WARNING)


def _advice(end: Message, seat: int, game: str) -> str:
    """What a bot that has lost a match other than by the rules can do about it."""
    own: list[Message] = [cause for cause in end.get("cause") or () if cause.get("seat") == seat]
    latest = {str(cause.get("kind")): cause for cause in own}
    refused, late = latest.get("refused"), latest.get("late")
    there = [cause for cause in own if cause.get("kind") in ("disconnected", "returned")]
    how = (str(end.get("ending")), str(end.get("fault")))
    if how == ("illegal", "bot") and refused:
        sent, ply = refused.get("sent"), refused.get("ply")
        return f"you sent {sent} at ply {ply}; look up the rules on the host's page /games/{game}"
    if how in (("left", "bot"), ("time", "bot")) and there and there[-1].get("why"):
        return "the host hung up on you because of what you did; the reason is in brackets"
    if how == ("time", "bot") and late and refused and refused.get("ply") == late.get("ply"):
        return "refused moves cost the time; see above why they were refused"
    if how == ("time", "bot") and late and late.get("ignored"):
        return "the host waited for a move that it could read; see above why it was refused"
    if how == ("time", "bot") and late:
        deadline, spent = late.get("deadline"), late.get("spent")
        return f"you had {deadline} s and took {spent} s; {_ADVICE[how]}"
    return _ADVICE.get(how, "")


_ADVICE = {
    ("time", "bot"): "think for a share of turn['clock'] and leave some for the network",
    ("time", "network"): "your clock ran on while you were gone; come back sooner, with the same token",
    ("left", "network"): "look at what your program said last, and come back within half a minute",
    ("left", "bot"): "stay until the standings have come; `matches` says how many matches you want",
}


# Tokens


def _remembered(host: str, game: str, name: str, teller: _Teller) -> str:
    """The token of a name on a host, the same each time: a bot that is started again is still itself."""
    home = os.path.expanduser("~").removeprefix("~") or os.curdir  # in some containers there is none
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    folder = os.path.join(state, "quintain-bot")
    path = os.path.join(folder, f"{host}-{game}-{name}".replace("/", "_"))
    token = _hashed(folder, host, game, name) or secrets.token_urlsafe(16)
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(token)
        except FileExistsError:
            with open(path) as file:
                kept = file.read().strip()
            if not kept:  # a power cut has left it empty
                with open(path, "w") as file:
                    file.write(token)
            token = kept or token
    except (OSError, ValueError) as error:
        why = f"{_words(error)}; a bot that is started again has another one"
        teller.say(f"the token cannot be kept in {path}: {why}", logging.WARNING)
    else:
        teller.say(f"the token is kept in {path}")
    return token


def _hashed(folder: str, host: str, game: str, name: str) -> str | None:
    """What an earlier client remembered, whose files had other names."""
    path = os.path.join(folder, hashlib.sha256("\n".join((host, game, name)).encode()).hexdigest()[:32])
    try:
        with open(path) as file:
            return file.read().strip()
    except (OSError, ValueError):
        return None


# Addresses and connections


class _Address(NamedTuple):
    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as addresses and the header `Host` have them: IPv6 in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


def _address(url: str) -> _Address:
    try:
        parts = urlsplit(url)
        port = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:  # a port that is none, half of a pair of brackets, or a name with two dots in a row
        parts, port = urlsplit(""), None
    sendable = url.isprintable() and " " not in url and parts.path.isascii()
    if parts.scheme not in PORTS or not parts.hostname or not sendable:
        raise ValueError(
            "expected an address like tcp://127.0.0.1:8000, ws://… or http://…, not " + repr(url)
        )
    path = parts.path.rstrip("/") or "/play"
    return _Address(parts.scheme, parts.hostname, PORTS[parts.scheme] if port is None else port, path)


class _Connection:
    """One way to a host: messages there, messages back."""

    def say(self, message: Message) -> None:
        raise NotImplementedError

    def hear(self, seconds: float | None) -> Message | None:
        """The next message; None if there is none within this many seconds, or just now."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class _Recorded(_Connection):
    """Another connection, all of which is kept in a file: when, who said it, and what, but for secrets."""

    def __init__(self, connection: _Connection, file: IO[str]) -> None:
        self._connection, self._file = connection, file

    def say(self, message: Message) -> None:
        self._keep("bot", message)
        self._connection.say(message)

    def hear(self, seconds: float | None) -> Message | None:
        message = self._connection.hear(seconds)
        if message is not None:
            self._keep("host", message)
        return message

    def close(self) -> None:
        self._connection.close()

    def _keep(self, who: str, message: Message) -> None:
        told = {key: "…" if key in SECRET else value for key, value in message.items()}
        with contextlib.suppress(OSError):  # a disk that is full costs the record, and no match
            self._file.write(json.dumps({"at": round(time.time(), 3), "from": who, "message": told}) + "\n")
            self._file.flush()


def _connected(address: _Address) -> _Connection:
    if address.scheme == "tcp":
        return _Tcp(address)
    return _Websocket(address) if address.scheme in ("ws", "wss") else _Http(address)


def _encoded(message: Message) -> bytes:
    """As JSON; half a character of a name as an escape, since it has no bytes of its own."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _message(text: bytes) -> Message:
    message = _read(text)
    if isinstance(message, dict):
        return cast(Message, message)
    raise Astray("what came is not a message")


def _expect(message: Message) -> None:
    """Raise `Astray` if something in a message is not as a host has it: no other is looked at."""
    kind = str(message.get("type"))
    wanted = dict(FIELDS.get(kind, {}))
    wanted.update({name: types for name, types in OPTIONAL.items() if name in message})
    for name, types in wanted.items():
        value = message.get(name)
        sound = isinstance(value, types)
        if sound and name in ITEMS:
            items = cast("list[Any]", value)
            sound = all(isinstance(item, ITEMS[name]) for item in items)
            sound = sound and (name not in PAIRS or len(items) == 2)
        if not sound:
            raise Astray(f"what came is not a message of a host: {kind!a} with {name} {value!a:.100}")


def _read(text: bytes) -> Any:
    """The JSON in a text; None if that is none, or nested deeper than any message."""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(text)
    return None


class _Stream:
    """A socket, and what was received and not used yet."""

    def __init__(self, address: _Address) -> None:
        self.received = bytearray()
        try:
            self.socket = socket.create_connection((address.host, address.port), ANSWER)
            try:
                _be_quick(self.socket)
                if address.scheme == "wss":
                    context = ssl.create_default_context()
                    self.socket = context.wrap_socket(self.socket, server_hostname=address.host)
            except OSError:
                self.socket.close()
                raise
        except OSError as error:
            raise Lost(_words(error)) from None

    def send(self, content: bytes) -> None:
        try:
            self.socket.settimeout(ANSWER)
            self.socket.sendall(content)
        except ConnectionError:
            pass  # what the host said last may not have been read yet, and whoever reads notices the end
        except OSError as error:
            raise Lost(_words(error)) from None

    def receive(self, until: float | None) -> bool:
        """Receive more; False if nothing comes until then."""
        seconds = None if until is None else until - time.monotonic()
        if seconds is not None and seconds <= 0:
            return False
        try:
            self.socket.settimeout(seconds)
            more = self.socket.recv(65536)
        except OSError as error:
            if isinstance(error, socket.timeout) and not error.errno:  # our waiting did, not the connection
                return False
            raise Lost(_words(error)) from None
        if not more:
            raise Lost("the host hung up")
        self.received += more
        if len(self.received) > LARGEST:
            raise Lost("the host says too much at once")
        return True

    def take(self, size: int) -> bytes:
        taken = bytes(self.received[:size])
        del self.received[:size]
        return taken


class _Tcp(_Connection):
    """A JSON object a line."""

    def __init__(self, address: _Address) -> None:
        self._stream = _Stream(address)

    def say(self, message: Message) -> None:
        self._stream.send(_encoded(message) + b"\n")

    def hear(self, seconds: float | None) -> Message | None:
        until = None if seconds is None else time.monotonic() + seconds
        while (end := self._stream.received.find(b"\n")) < 0:
            if not self._stream.receive(until):
                return None
        return _message(self._stream.take(end + 1))

    def close(self) -> None:
        self._stream.socket.close()


class _Websocket(_Connection):
    """A JSON object a text message: as much of RFC 6455 as a client needs."""

    def __init__(self, address: _Address) -> None:
        self._stream = _Stream(address)
        self._text = bytearray()  # of a message that came in pieces
        try:
            self._shake_hands(address)
        except BaseException:
            self.close()
            raise

    def _shake_hands(self, address: _Address) -> None:
        key = base64.b64encode(os.urandom(16))
        lines = (
            f"GET {address.path} HTTP/1.1",
            f"Host: {address.authority}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key.decode()}",
        )
        self._stream.send("\r\n".join((*lines, "", "")).encode())
        until = time.monotonic() + ANSWER
        try:
            while (end := self._stream.received.find(b"\r\n\r\n")) < 0:
                if not self._stream.receive(until):
                    raise Lost("the host does not answer the handshake")
        except Lost:
            said = bytes(self._stream.received)
            if not said or said.startswith(b"HTTP/"):
                raise
            raise Astray(_printable(said) or "what answers is no web server") from None  # as a TCP port is
        status, *fields = self._stream.take(end + 4).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)
        }
        if " 101 " not in status + " ":
            raise Astray(self._refusal(status, headers, until), _seconds(headers.get("retry-after")))
        expected = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()  # noqa: S324 - as the RFC has it
        if headers.get("sec-websocket-accept") != expected:
            raise Astray("what answers the handshake is not a websocket host")

    def _refusal(self, status: str, headers: dict[str, str], until: float) -> str:
        """Why the handshake was refused: in the host's words, if they come."""
        if "location" in headers:
            return LEADS + headers["location"]
        length = headers.get("content-length", "")
        size = int(length) if length.isascii() and length.isdigit() else 0
        with contextlib.suppress(Lost):
            while len(self._stream.received) < min(size, 4096) and self._stream.receive(until):
                pass
        return _error(status.partition(" ")[2], bytes(self._stream.received))

    def say(self, message: Message) -> None:
        self._send(1, _encoded(message))

    def _send(self, opcode: int, payload: bytes) -> None:
        size, mask = len(payload), os.urandom(4)
        if size < 126:
            length = bytes((0x80 | size,))
        elif size < 1 << 16:
            length = b"\xfe" + size.to_bytes(2, "big")
        else:
            length = b"\xff" + size.to_bytes(8, "big")
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self._stream.send(bytes((0x80 | opcode,)) + length + mask + masked)

    def hear(self, seconds: float | None) -> Message | None:
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            frame = self._frame()
            if frame is None:
                if not self._stream.receive(until):
                    return None
                continue
            last, opcode, payload = frame
            if opcode in (0, 1):
                self._text += payload
                if last:
                    text, self._text = bytes(self._text), bytearray()
                    return _message(text)
            elif opcode == 8:
                self._send(8, payload[:2])
                raise Lost("the host hung up: " + payload[2:].decode("utf-8", "replace"))
            elif opcode == 9:
                self._send(10, payload)
            elif opcode != 10:
                raise Lost("the host sent a frame that is not text")

    def _frame(self) -> tuple[bool, int, bytes] | None:
        """The first frame of what was received, if it is whole: is it the last, its kind, what is in it."""
        received = self._stream.received
        if len(received) < 2:
            return None
        size, start = received[1], 2
        if size >= 128:
            raise Lost("the host sent a masked frame")
        if size > 125:
            start = 4 if size == 126 else 10
            if len(received) < start:
                return None
            size = int.from_bytes(received[2:start], "big")
        if size > LARGEST:
            raise Lost("the host says too much at once")
        if len(received) < start + size:
            return None
        first = received[0]
        return bool(first & 0x80), first & 0x0F, self._stream.take(start + size)[start:]

    def close(self) -> None:
        self._stream.socket.close()


class _Http(_Connection):
    """A session: what is said is POSTed to it, what there is to hear is asked for by long polls."""

    def __init__(self, address: _Address) -> None:
        self._address = address
        self._session: str | None = None
        self._heard: deque[Message] = deque()
        self._after = 0
        kind: Any = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._used = False  # the connection has brought an answer: if it ends then, another one may do
        self._connection = kind(address.host, address.port, timeout=ANSWER)

    def say(self, message: Message) -> None:
        try:
            status, answer = self._ask("POST", self._session or self._address.path, _encoded(message), ANSWER)
        except TimeoutError:
            raise Lost("the host does not answer") from None
        if self._session is not None:
            if status != 200:
                raise Lost(_error(status, answer))
        elif status in (201, 403):
            told = _message(answer)
            self._session = f"{self._address.path}/{quote(str(told.get('session')))}"
            self._note_seq(told)
            self._heard.append(told)
        else:
            raise Astray(_error(status, answer))

    def hear(self, seconds: float | None) -> Message | None:
        if not self._heard:
            path = f"{self._session}?after={self._after}"
            try:
                status, answer = self._ask("GET", path, None, POLL if seconds is None else seconds)
            except TimeoutError:
                if seconds is None:
                    raise Lost("the host does not answer") from None
                return None
            if status != 200:
                raise Lost(_error(status, answer))
            found = _read(answer)
            told: list[Any] = cast("list[Any]", found) if isinstance(found, list) else [None]
            if not all(isinstance(each, dict) for each in told):
                raise Lost("the host said something that is not a list of messages")
            self._heard.extend(told)
        if not self._heard:
            return None
        message = self._heard.popleft()
        self._note_seq(message)
        return message

    def _note_seq(self, message: Message) -> None:
        seq = message.get("seq")
        self._after = seq if isinstance(seq, int) else self._after

    def _ask(self, method: str, path: str, body: bytes | None, seconds: float) -> tuple[int, bytes]:
        """Ask, and ask once more if the connection turns out to have ended while it was idle.

        Raises `TimeoutError` where no answer comes in time.
        """
        try:
            response = self._request(method, path, body, seconds)
            answer = response.read(LARGEST)
        except (ConnectionError, http.client.HTTPException) as error:
            self._connection.close()
            if not self._used:
                raise (Lost if isinstance(error, ConnectionError) else Astray)(_words(error)) from None
            self._used = False
            return self._ask(method, path, body, seconds)
        except OSError as error:
            self._connection.close()
            if isinstance(error, socket.timeout) and not error.errno:
                raise TimeoutError from None
            raise Lost(_words(error)) from None
        self._used = True
        if 300 <= response.status < 400 and (to := response.getheader("Location")):
            raise Astray(LEADS + to)
        if response.status in (429, 503):
            raise Lost(_error(response.status, answer), _seconds(response.getheader("Retry-After")) or 1.0)
        return response.status, answer

    def _request(
        self, method: str, path: str, body: bytes | None, seconds: float
    ) -> http.client.HTTPResponse:
        fresh = self._connection.sock is None
        if fresh:
            self._connection.timeout = ANSWER
            self._connection.connect()
        sock = cast(socket.socket, self._connection.sock)
        if fresh:
            _be_quick(sock)
        sock.settimeout(seconds)
        self._connection.request(method, path, body, {"Content-Type": "application/json"})
        return self._connection.getresponse()

    def close(self) -> None:
        self._connection.close()


def _be_quick(sock: socket.socket) -> None:
    """Send at once what is sent; and notice, within a minute, that the other end cannot be reached any more.

    It is no more, or this machine has another address, or a router on the way has forgotten the connection.
    """
    for level, name, value in (
        (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 20),
        (socket.IPPROTO_TCP, "TCP_KEEPALIVE", 20),  # what macOS calls the same
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", 4),
        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 20_000),  # milliseconds, after something was sent
    ):
        if hasattr(socket, name):
            sock.setsockopt(level, getattr(socket, name), value)


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{UNTRUSTED}: {error.verify_message}; SSL_CERT_FILE names a file of those that are"
    if isinstance(error, ssl.SSLError) and error.reason:
        reason = error.reason.replace("_", " ").lower()
        return f"{NO_TLS} ({reason}): a host without TLS is at ws:// or http://"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _error(status: object, answer: bytes) -> str:
    """What an answer that is none says went wrong."""
    told = _read(answer)
    if isinstance(told, dict) and "error" in told:
        return str(cast(Message, told)["error"])[:1000]
    line = _printable(answer)
    return f"the answer is {status}" + (f" ({line})" if line else "")


def _printable(answer: bytes) -> str:
    """What is said to people in one line; "" for anything else."""
    line = answer.decode("utf-8", "replace").strip()
    return line if line.isprintable() and 0 < len(line) <= 200 and line[0] != "<" else ""


def _seconds(retry_after: str | None) -> float:
    """How long to wait, as a host puts it; a date, which some servers send, counts as a moment."""
    try:
        return min(3600.0, max(0.0, float(retry_after or 0)))
    except ValueError:
        return 1.0
