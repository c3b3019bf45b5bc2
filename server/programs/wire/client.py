"""The client on trial: it comes, is told something, says something, and goes.

All that it says is read as the host reads it, and noted. The trial
(`scripted_host.py`) knows what it should have said; this file knows what no client
may say.
"""

import time
from collections.abc import Sequence

from msgspec import Struct

from server.net.escaping import safe
from server.net.limits import Bucket, Limits
from server.programs.wire import rules
from server.programs.wire.command import Command
from server.programs.wire.doors import Doors
from server.programs.wire.talk import PLAIN, Manner, Talk
from server.protocols.house import messages
from server.protocols.house.messages import Said, ToBot

LIMITS = Limits()
START_TIMEOUT = 60.0  # seconds for a command to come: some are compiled first
RETURN_TIMEOUT = 30.0  # seconds that the protocol gives a bot to come back


class Broke(Exception):
    """What a client did, and the protocol's sentence that it broke; "" stands for the trial's own sentence.

    The same `mark` means the same fault, also in different trials; without a mark, the sentence
    decides.
    """

    def __init__(self, why: str, rule: str = "", mark: object = None) -> None:
        super().__init__(why)
        self.rule = rule
        self.mark = mark


class Line(Struct, frozen=True):
    """Something that was said, or happened."""

    by: str  # "bot", "host", or "" for something that happened
    text: str


class Client:
    def __init__(self, doors: Doors, command: Command | None, timeout: float) -> None:
        """Without a `command`, the trial waits for a client that somebody starts by hand."""
        self.exchange: list[Line] = []
        self.name = ""
        self.token = ""
        self.timeout = timeout  # seconds for an answer
        self._doors = doors
        self._command = command
        self._talk: Talk | None = None
        self._manner = PLAIN
        self._unsaid: list[ToBot] = []
        self._budget = Bucket(LIMITS.messages, time.monotonic())

    @property
    def door(self) -> str:
        """The door at which it came in."""
        return "tcp" if self._talk is None else self._talk.door

    # Coming and going

    def come(self, rule: str, *, back: bool = False) -> messages.Hello:
        """Receive the client, or have it come `back` in time, and hear its hello."""
        verb = "come back" if back else "connect"
        seconds = RETURN_TIMEOUT if back else START_TIMEOUT if self._command is not None else None
        until = None if seconds is None else time.monotonic() + seconds
        while not self._doors.arrived:
            self._check_doors()
            if self._command is not None and self._command.ended and not self._doors.arrived:
                self._doors.pump(0.0)
                if not self._doors.arrived:
                    raise self._lost(f"it did not {verb}", rule, verb)
            if until is not None and time.monotonic() >= until:
                raise Broke(f"it did not {verb} within {seconds:g} s", rule, verb)
            self._doors.pump(1.0)
        self._talk = self._doors.arrived.popleft()
        self._happened(f"it {'comes back' if back else 'connects'} over {self._talk.door}")
        said = self.hear(LIMITS.hello_seconds)
        if said is None:
            raise Broke(f"it did not say hello within {LIMITS.hello_seconds:g} s", rules.SAY_HELLO)
        if not isinstance(said, messages.Hello):
            raise Broke(f"it said {safe(self.exchange[-1].text)} before a hello", rules.SAY_HELLO)
        return said

    def hang_up(self, why: str) -> None:
        """Say goodbye to the client."""
        self._flush()
        self._happened("the host hangs up")
        if self._talk is not None:
            self._talk.hang_up(why)

    def lose(self) -> None:
        """Lose the connection."""
        self._flush()
        self._happened("the connection is lost")
        if self._talk is not None and self._talk.door == "http":
            self._talk.hang_up("the connection was lost")
        self._doors.cut()

    def crash(self, seconds: float) -> None:
        """Act like a host that is killed, and started again after this many seconds."""
        self._flush()
        self._happened("the host is killed")
        self._doors.crash()
        time.sleep(seconds)
        self._doors.open()
        self._happened("the host is started again")

    def turn_away(self, rule: str) -> None:
        """Have the client come back, and lose the connection at once: it has to come again."""
        self.come(rule, back=True)
        self.lose()

    def comes(self, seconds: float) -> bool:
        """Whether the client comes back within this many seconds, or before its process ends."""
        until = time.monotonic() + seconds
        while not self._doors.arrived and time.monotonic() < until:
            if self._command is not None and self._command.ended:
                self._doors.pump(0.0)
                break
            self._doors.pump(until - time.monotonic())
        return bool(self._doors.arrived)

    def stays_well(self, seconds: float, rule: str) -> None:
        """Let the client end as it likes; raises `Broke` if it ends like a program that has failed."""
        self._flush()
        if self._command is not None and (ended := self._command.exit(seconds)) is not None and ended.code:
            raise Broke(f"it {ended}", rule, ended)

    # What is said

    def say(self, *told: ToBot) -> None:
        """Tell the client these messages, as soon as it is there."""
        self._unsaid += told

    def manner(self, manner: Manner) -> None:
        """Set how messages are sent to the client from now on."""
        self._flush()
        self._manner = manner

    def hear(self, seconds: float) -> Said | None:
        """What the client says next, if it says anything within this many seconds."""
        self._flush()
        until = time.monotonic() + seconds
        talk = self._talk
        while talk is not None and not talk.heard:
            self._check_doors()
            if talk.gone or (self._command is not None and self._command.ended and talk.door == "http"):
                raise self._lost("it hung up")
            if time.monotonic() >= until:
                return None
            self._doors.pump(until - time.monotonic())
        return None if talk is None else self._read(talk.heard.popleft())

    def _read(self, message: bytes) -> Said:
        self.exchange.append(Line("bot", message.decode("utf-8", "backslashreplace")))
        try:
            said = messages.read(message, LIMITS.json_line_bytes)
        except messages.Unreadable as error:
            raise Broke(f"what it said cannot be read: {error}", rules.READABLE) from None
        if not isinstance(said, messages.Move) and not self._budget.take(time.monotonic()):
            raise Broke("it says far more than it is asked", rules.MODERATE)
        return said

    def _flush(self) -> None:
        told, self._unsaid = [messages.encode(each) for each in self._unsaid], []
        if not told or self._talk is None:
            return
        manner = self._manner
        if manner.more:
            told = [b"{%b%b" % (manner.more, each[1:]) for each in told]
        self.exchange += [Line("host", each.decode()) for each in told]
        if manner.pieces > 1:
            self._happened("the host has sent that in pieces")
        elif manner.joined and len(told) > 1:
            self._happened("the host has sent that in one piece")
        groups: Sequence[Sequence[bytes]] = [told] if manner.joined else [[each] for each in told]
        for group in groups:
            self._talk.say(group, manner)

    # What went wrong

    def _lost(self, what: str, rule: str = "", mark: object = None) -> Broke:
        """The client is gone, with its process or without."""
        ended = None if self._command is None else self._command.exit()
        if ended is None:
            return Broke(what, rule, mark)
        self._happened(f"the client {ended}")
        return Broke(f"{what}: it {ended}", rule, mark or (ended if ended.code else None))

    def _check_doors(self) -> None:
        if self._doors.broken is not None:
            (door, why), self._doors.broken = self._doors.broken, None
            raise Broke(f"what it sent cannot be read: {why}", rules.CARRIED[door])

    def _happened(self, what: str) -> None:
        self.exchange.append(Line("", what))
