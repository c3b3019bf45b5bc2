"""Who may read what was said in a match, and how it is shown.

A bot's author, who has the token that the bot came with, may read that bot's
side; the organiser may read both. Tokens are cut short, so that a screenshot
gives none away.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from server.host.host import Host
from server.host.secrets import token_digest
from server.host.unwelcome import Guessing
from server.host.wire_log import Message, Tape, masked

NOT_KEPT = (
    "what was said in this match is not kept: it is only until the host stops, "
    "or until newer matches need the room"
)
WANTED = "this needs the token that the bot came with, or the organiser's"
WRONG = "this is neither the token of a bot in this match nor the organiser's"

# Tokens as they may occur in messages: in JSON, in what was meant to be JSON, in a form or in a header.
_NAMED = re.compile(
    r"\b((?:token|session|battleid)[\"']?\s*[:=]\s*)(\"(?:[^\"\\]+|\\.)*|'[^']*|[^\s\"'&,}]+)", re.IGNORECASE
)
_ID = re.compile(r'("id":")([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})')


class Unreadable(Exception):
    """A match that the one who asks may not read, or that nobody can. The message is for whoever asked."""


class NoToken(Unreadable):
    pass


class WrongToken(Unreadable):
    pass


class TooManyGuesses(Unreadable):
    """Too many wrong tokens came from that address."""

    def __init__(self, why: str, seconds: int) -> None:
        super().__init__(why)
        self.seconds = seconds  # until one more may come


class NotKept(Unreadable):
    pass


class WireReader:
    def __init__(self, host: Host, organiser: str) -> None:
        """`organiser` is the organiser's token."""
        self._host = host
        self._organiser = organiser.encode()

    def open(self, match: str, token: bytes, peer: str) -> Mapping[int, Tape]:
        """The tapes, by seat, that a token entitles its owner to read; raises `Unreadable` if none."""
        tapes = self._host.wires.of(match)
        if not token:
            raise NoToken(WANTED)
        if hmac.compare_digest(token, self._organiser):
            readable = tapes
        else:
            given = token_digest(token)
            readable = {
                seat: tape
                for seat, tape in tapes.items()
                if tape.owner is not None and hmac.compare_digest(tape.owner, given)
            }
        if not tapes:
            raise NotKept(NOT_KEPT)
        if not readable:
            try:
                self._host.reception.failed(peer, token.decode("utf-8", "replace"))
            except Guessing as guessing:
                raise TooManyGuesses(str(guessing), guessing.seconds) from None
            raise WrongToken(WRONG)
        return dict(sorted(readable.items()))


class TapeCopy(Struct, frozen=True):
    """A tape as of one moment, to be read in a thread while more is said."""

    name: str
    began: float
    messages: Sequence[Message]
    omitted: int


def copied(tape: Tape) -> TapeCopy:
    return TapeCopy(tape.name, tape.began, tuple(tape.messages), tape.omitted)


def messages_of(tape: Tape | TapeCopy) -> list[dict[str, Any]]:
    """The messages, oldest first: seconds since the match began, who said it, and what."""
    return [
        {
            "at": round(message.at - tape.began, 6),
            "from": "bot" if message.by_bot else "host",
            "text": unmarked(_text(message)),
        }
        for message in tape.messages
    ]


def _text(message: Message) -> str:
    """The message as it came, but without the host's line ends, which belong to the transport."""
    text = message.text if message.by_bot else message.text.rstrip(b"\n")
    return text.decode("utf-8", "backslashreplace")


def unmarked(text: str) -> str:
    """The text with its tokens cut short."""
    return _ID.sub(_cut, _NAMED.sub(_cut, text))


def _cut(found: re.Match[str]) -> str:
    name, value = found.groups()
    quote = value[:1] if value[:1] in ("'", '"') else ""
    return name + quote + masked(value.removeprefix(quote))
