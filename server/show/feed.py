"""What play tells show: how far the journal goes, and what happens in matches in play.

Show reads everything else in the journal. So a message may be lost with the show for which it was
meant: the next one reads the journal and is told all matches in play from their beginning.

Nothing is queued. Like every follower of a log, the teller holds an index for each match, looks for
news some twenty times a second, and sends it; while show does not read, it waits, and looks again. So
the only cost to play that grows with the moves is writing them down here. A show that falls behind
costs memory for the ends of which it has not heard; the oldest of these are dropped. While nobody
looks (`attention.py`), only the journal's number is told, and seldom.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
import structlog
import trio
from msgspec import Struct

from server.host.group import NOBODY
from server.host.happened import Happened, happened
from server.host.host import Host
from server.host.opening import OPEN
from server.host.view import HeldTournament, PresentBots
from server.net.pauses import WithPauses
from tournament.facts import State
from tournament.format import Pairing
from tournament.match import Match
from tournament.presence import Missing
from tournament.standings import Row

TICK = 0.05  # seconds between two looks at what has happened: nobody sees more than twenty pictures a second
STATE = 10  # ticks between two looks at the rest
UNSEEN = 0.5  # seconds between two looks while nobody sees a picture
AT_A_TIME = 32  # ends skipped before other tasks get their turn: freeing a match takes as long as a move
AT_ONCE = 16  # tournaments of which the rest is looked at before other tasks get their turn
PACKET = 16_384  # bytes that are sent at once: some hundred matches' news, and a millisecond or two of work
READ = 65_536  # bytes that are read at once
ENDS = 2_000  # matches whose ends were not told yet: the journal has their ends, too
LENGTH = struct.Struct("!I")  # precedes every message


class Journal(Struct, frozen=True, tag="journal"):
    """All entries up to this number are kept and announced."""

    last: int


class Seen(Struct, frozen=True, tag="seen"):
    """What only play knows of its tournaments, by the names under which they are kept."""

    eta: dict[str, float | None]
    here: dict[str, PresentBots]  # of open tables
    missing: Mapping[str, Sequence[Missing]]
    trouble: str = ""  # of its store


class Holders(Struct, frozen=True, tag="holders"):
    """Which host holds which tournament, over or not: that rarely changes, and there may be many."""

    addresses: Mapping[str, str]  # by the tournaments' names


class Draw(Struct, frozen=True, tag="draw"):
    """A question: what a format adds, with the journal read up to that number."""

    number: int  # of the question
    tournament: str
    journal: int  # 0: up to all that is kept when this is heard, because the sender does not know the number


class Rank(Struct, frozen=True, tag="rank"):
    """A question: how a tournament stands, by all that is kept."""

    number: int  # of the question
    tournament: str


class Latest(Struct, frozen=True, tag="latest"):
    """Everything is told that had happened by the `Look` of that number."""

    number: int


Question = Draw | Rank
Message = Happened | Journal | Seen | Holders | Question | Latest


class Begun(Struct, frozen=True, tag="begun"):
    """Said by show of a `Draw`: the journal has been read so far, and from now on this is only work."""

    number: int


class Drawn(Struct, frozen=True, tag="drawn"):
    """Show's answer to a `Draw`, or a piece of it; None if it failed."""

    number: int
    pairings: tuple[Pairing, ...] | None
    more: bool = False  # whether another piece follows


class Ranked(Struct, frozen=True, tag="ranked"):
    """Show's answer to a `Rank`: the first rows of the table; None if it failed."""

    number: int
    rows: tuple[Row, ...] | None


class Watched(Struct, frozen=True, tag="watched"):
    """Said by show: these matches, which other hosts hold, are watched; the latest look first."""

    matches: tuple[str, ...]


class Look(Struct, frozen=True, tag="look"):
    """Said by show: somebody begins to watch matches; with the number 0, nobody watches any more."""

    number: int


class Alive(Struct, frozen=True, tag="alive"):
    """Said by show now and then, so that play knows that it does not hang."""

    damage: str = ""  # what is wrong with what is kept, as far as show has met it


Answer = Begun | Drawn | Ranked | Watched | Look | Alive

M = TypeVar("M")

ALWAYS = Look(1)  # until show says something else

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()

_encoder = msgspec.msgpack.Encoder()


class Followed:
    """A match, and how much of its log has been told."""

    __slots__ = ("match", "told")

    def __init__(self, match: Match) -> None:
        self.match = match
        self.told = 0  # events told so far


class Teller:
    def __init__(self, host: Host, last: Callable[[], int]) -> None:
        """`last` is the number of the latest entry of the journal that is safe."""
        self._host = host
        self.last = last
        self._asked: list[Message] = []
        self.following: dict[str, Followed] = {}
        self._most = 2 * ENDS  # matches followed before a check whether many are over
        self._look = Look(0)  # what show said last
        self._news = trio.Event()  # set when it has said something else, or is to be asked something
        host.on_begun.append(self._begun)

    def tell_too(self, message: Happened | Question) -> None:
        """Have a message told with the next news."""
        self._asked.append(message)
        self._news.set()

    def heed(self, look: Look) -> None:
        """Begin, or stop, to tell what happens in matches."""
        self._look = look
        self._news.set()

    def forget(self, match: Match) -> None:
        """Stop following a match that goes on in another process, which tells it from its beginning."""
        self.following.pop(match.name, None)

    def _begun(self, tournament: HeldTournament, match: Match) -> None:
        self.follow(match)

    def follow(self, match: Match) -> None:
        """Tell of a match, whichever process holds its tournament."""
        self.following[match.name] = Followed(match)
        if len(self.following) > self._most:
            self._drop_ends()

    def _drop_ends(self) -> None:
        over = [name for name, each in self.following.items() if each.match.result is not None]
        for name in over[: max(0, len(over) - ENDS)]:
            del self.following[name]
        self._most = len(self.following) + ENDS

    async def tell(self, stream: trio.abc.SendStream) -> None:
        """Tell one show everything, from the beginning, until it is gone."""
        for followed in self.following.values():
            followed.told = 0
        self._asked, self._look = [], ALWAYS
        journal, seen, held, tick, heeded = -1, None, NOBODY, 0, ALWAYS
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                look, self._news = self._look, trio.Event()
                last = self.last()  # first: so the end of a match is told before it is read
                if look.number:
                    await self._tell_matches(stream)
                else:
                    await self._pass_over_ends()
                messages, self._asked = self._asked, []
                if last != journal:
                    messages.append(Journal(journal := last))
                if look.number and (tick % STATE == 0 or look != heeded):
                    now = await self.seen()
                    if now != seen:
                        messages.append(seen := now)
                    if (holders := self._host.holders) is not held:
                        messages.append(Holders(held := holders))
                if look != heeded and look.number:
                    messages.append(Latest(look.number))
                heeded = look
                if messages:
                    await say(stream, messages)
                tick += 1
                with trio.move_on_after(TICK if look.number else UNSEEN):
                    await self._news.wait()

    async def _pass_over_ends(self) -> None:
        """Skip the ends of matches: nobody looks, and the journal has them, too."""
        over = [name for name, each in self.following.items() if each.match.result is not None]
        async for name in WithPauses(over, AT_A_TIME):
            self.following.pop(name, None)

    async def _tell_matches(self, stream: trio.abc.SendStream) -> None:
        packet, size, over = list[Any](), 0, 0
        for name in tuple(self.following):  # one by one, or all matches that are over would be freed at once
            if (followed := self.following.get(name)) is None:
                continue
            match = followed.match
            events = match.log.events
            if len(events) > followed.told:
                news = _encoder.encode(happened(name, followed.told, match))
                followed.told = len(events)
                packet.append(msgspec.Raw(news))
                size += len(news)
            if match.result is not None:
                self.following.pop(name, None)
                over += 1
            if size >= PACKET or over >= AT_A_TIME:
                await say(stream, packet)
                packet, size, over = [], 0, 0
        if packet:
            await say(stream, packet)

    async def seen(self) -> Seen:
        """What only play knows, of tournaments that are not over.

        Others get their turns meanwhile: there may be thousands.
        """
        eta, here, missing = (
            dict[str, float | None](),
            dict[str, PresentBots](),
            dict[str, Sequence[Missing]](),
        )
        async for each in WithPauses(self._host.going_on, AT_ONCE):
            record = each.record
            going = record.state in (State.RUNNING, State.PAUSED)
            if going and record.name.startswith(OPEN):
                here[record.name] = self._host.here(record.name)
            if not record.format.endless:
                if going:
                    eta[record.kept_as] = await each.foresee()
                if found := each.missing():
                    missing[record.kept_as] = found
        return Seen(eta, here, missing, self._host.trouble)


async def say(stream: trio.abc.SendStream, messages: list[Any]) -> None:
    await stream.send_all(framed(_encoder.encode(messages)))


def framed(content: bytes) -> bytes:
    """The content with its length before it."""
    return LENGTH.pack(len(content)) + content


async def hear(stream: trio.abc.ReceiveStream, kind: Any, take: Callable[[M], None]) -> None:
    """Call `take` with all messages of that kind, until the other side is gone.

    The other side may go without having read everything, which the kernel calls a reset. It may also be of
    another version, as where the package was replaced under a host: then nothing more of it is heard.
    """
    decoder: msgspec.msgpack.Decoder[list[M]] = msgspec.msgpack.Decoder(list[kind])
    received = bytearray()
    while more := await _some(stream):
        received += more
        while len(received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(received)[0]
            if len(received) < end:
                break
            try:
                messages = decoder.decode(bytes(received[LENGTH.size : end]))
            except msgspec.DecodeError as error:
                log.error("a message of the other process cannot be read", why=str(error))
                return
            del received[:end]
            for message in messages:
                take(message)


async def _some(stream: trio.abc.ReceiveStream) -> bytes | bytearray:
    try:
        return await stream.receive_some(READ)
    except trio.BrokenResourceError:
        return b""
