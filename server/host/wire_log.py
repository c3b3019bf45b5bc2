"""What bots and host said to each other in the latest matches, message by message, for the bots' authors.

They are kept in memory and nowhere else, within `limits.wire_log_*`, until the
host stops or newer matches need the room. A door calls `heard` and `told` for
every message of a match, so these do next to nothing. Only bytes and times are
kept: nothing here holds on to a match, a player or a connection.

`server/host/wire_reader.py` decides who may read it and how it is shown.
"""

from collections.abc import Collection, Mapping
from math import inf

import trio
from msgspec import Struct

from server.host.visits import Visit
from server.net.limits import Limits
from tournament.player import Seat

BESIDES = 112  # bytes that a message takes up besides its text
TAPE = 1024  # bytes that a seat takes up besides its messages
PIECE = 4096  # bytes by which a seat's room grows, so that not every message has to make room


def masked(token: str) -> str:
    """What is shown of a token: enough to tell two of them apart."""
    return token[:4] + "…"


class Message(Struct, frozen=True, array_like=True, gc=False):
    at: float  # when it arrived, or was handed on to be sent
    by_bot: bool
    text: bytes


class TapeSnapshot(Struct, frozen=True, array_like=True):
    """A tape as of one moment, to be copied to another one."""

    messages: tuple[Message, ...] = ()
    omitted: int = 0  # messages before these
    size: int = 0  # bytes that the messages take up


class Tape:
    """One seat's side of one match: the latest messages, and how many there were before them."""

    __slots__ = (
        "_kept_by",
        "_now",
        "_room",
        "_size",
        "began",
        "dealt_at",
        "messages",
        "name",
        "omitted",
        "owner",
    )

    def __init__(
        self,
        kept_by: "WireLog | None",
        name: str,
        began: float,
        owner: bytes | None,
        dealt_at: float | None = None,
    ) -> None:
        self.name = name
        self.began = began
        self.owner = owner  # the digest of the bot's token; None: it has none
        self.dealt_at = dealt_at  # the match's, by which it differs from others of its name
        self.messages: list[Message] = []
        self.omitted = 0
        self._kept_by = kept_by
        self._now = trio.current_time if kept_by is None else trio.lowlevel.current_clock().current_time
        self._size = 0  # bytes that the messages may take up so far …
        self._room = 0  # … and how many of these are left: too few for any message that has to be cut

    def heard(self, text: bytes, at: float) -> None:
        """The bot has said something, which arrived at `at`."""
        room = self._room - len(text) - BESIDES
        if room < 0:
            self._add(text, at, True)
        else:
            self._room = room
            self.messages.append(Message(at, True, text))

    def told(self, text: bytes, at: float | None = None) -> None:
        """The bot is being told something, at that time or now."""
        if at is None:
            at = self._now()
        room = self._room - len(text) - BESIDES
        if room < 0:
            self._add(text, at, False)
        else:
            self._room = room
            self.messages.append(Message(at, False, text))

    @property
    def snapshot(self) -> TapeSnapshot:
        return TapeSnapshot(tuple(self.messages), self.omitted, self._size - self._room)

    def repeat(self, snapshot: TapeSnapshot) -> None:
        """Copy what was noted on another tape, in its place among what was noted here."""
        log = self._kept_by
        if log is None:
            return
        until = self.messages[-1].at if self.messages else -inf
        self.omitted += snapshot.omitted
        more = max(0, snapshot.size - self._room + PIECE - 1) // PIECE * PIECE
        if self._size + more > log.most_of_a_seat:
            for each in snapshot.messages:
                self._add(each.text, each.at, each.by_bot)
        else:  # nearly always
            self._size += more
            self._room += more - snapshot.size
            log.size += more
            self.messages.extend(snapshot.messages)
            self._stay_within(log)
        if snapshot.messages and snapshot.messages[0].at < until:
            self.messages.sort(key=lambda message: message.at)

    def erase(self) -> int:
        """Forget everything, and keep nothing from now on; returns how many bytes that frees."""
        size, self._size, self._room, self._kept_by = self._size + TAPE, 0, 0, None
        self.messages.clear()
        return size

    def _add(self, text: bytes, at: float, by_bot: bool) -> None:
        """Add a message for which room has to be made first; this makes room for several."""
        log = self._kept_by
        if log is None:
            return
        if len(text) > log.longest:
            text = text[: log.longest] + f"… {len(text) - log.longest} more bytes".encode()
        size = len(text) + BESIDES
        while self._room < size and self._size + PIECE <= log.most_of_a_seat:
            self._size += PIECE
            self._room += PIECE
            log.size += PIECE
        if self._room < size:  # the seat has all the room that it may have
            oldest = 0
            while oldest < len(self.messages) and self._room < size + PIECE:
                self._room += len(self.messages[oldest].text) + BESIDES
                oldest += 1
            del self.messages[:oldest]
            self.omitted += oldest
        if self._room < size:
            self.omitted += 1
        else:
            self._room -= size
            self.messages.append(Message(at, by_bot, text))
        self._stay_within(log)

    def _stay_within(self, log: "WireLog") -> None:
        """Give back the room that is too much, and have others give back theirs if all take up too much."""
        if (surplus := self._room - log.longest) > 0:
            self._room -= surplus
            self._size -= surplus
            log.size -= surplus
        if log.size > log.most:
            log.make_room()


NO_TAPE = Tape(None, "", 0.0, None)  # for bots that are not playing a match: it keeps nothing


class WireLog:
    """The tapes of the latest matches."""

    def __init__(self, limits: Limits) -> None:
        self.longest = limits.wire_log_message_bytes
        self.most_of_a_seat = limits.wire_log_seat_bytes
        self.most = limits.wire_log_bytes
        self.size = 0  # bytes of all that is kept
        self._matches: dict[str, dict[int, Tape]] = {}  # by name, in the order of their beginning
        self._erased = -inf  # when the latest of the erased matches began

    def tape(self, seat: Seat, visit: Visit | None) -> Tape:
        """The tape on which a door notes what is said over a seat; a bot that comes back gets the same."""
        match = seat.match
        tapes = self._matches.get(match.name, {})
        if any(each.dealt_at != match.dealt_at for each in tapes.values()):
            self._erase(match.name)  # of a tournament that was deleted, and whose name this one has now
        elif (kept := tapes.get(seat.index)) is not None:
            return kept
        began = match.log.events[0].at
        if match.name not in self._matches and began <= self._erased:
            return NO_TAPE  # its beginning is erased, and what follows would be taken for all of it
        owner = None if visit is None else visit.digest
        tape = Tape(self, match.names[seat.index], began, owner, match.dealt_at)
        self._matches.setdefault(match.name, {})[seat.index] = tape
        self.size += TAPE
        if self.size > self.most:
            self.make_room()
        return tape

    def of(self, match: str) -> Mapping[int, Tape]:
        """What is kept of a match, by seat."""
        return self._matches.get(match, {})

    def make_room(self) -> None:
        """Erase as many of the oldest matches as it takes."""
        while self.size > self.most and self._matches:
            tapes = self._erase(next(iter(self._matches)))
            self._erased = max(self._erased, *(tape.began for tape in tapes))

    def _erase(self, match: str) -> Collection[Tape]:
        tapes = self._matches.pop(match).values()
        self.size -= sum(tape.erase() for tape in tapes)
        return tapes
