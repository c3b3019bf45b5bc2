"""Plain words: any game over TCP, a line a message, for bots of ten lines and people at a keyboard.

Whoever says `PLAY connect-4 AS ann` plays Connect-4 under that name. Each line
that comes back begins with a word in capitals, which says what it is: WELCOME,
BEGIN, STATE, YOURS (it is your move), NO, END, OVER. A move is sent as people
write it.
"""

import re
from pathlib import Path

import msgspec

from games.catalogue import catalogue
from games.game import Illegal, quoted, typed
from server.host.abroad import Wanted
from server.protocols.common.attendance import Attendance
from server.protocols.common.states import State
from server.protocols.dialect import Channel, Dialect, OverTcp
from tournament.events import AnyEvent, Began, Ended, Moved, Refused
from tournament.facts import AnyFact
from tournament.match import OutOfTurn
from tournament.player import Seat
from tournament.tournament import Tournament

HELLO = re.compile(r"PLAY (\S+) AS (.+)")
WHY_NOT = {  # a line means nothing now
    State.SILENT: "say first what you play and who you are: PLAY connect-4 AS ann",
    State.ARRIVING: "wait until you are in",
    State.IN: "you are in, and no match has begun: wait for BEGIN",
}


class PlainWords:
    """One bot's side of it, without I/O: lines in, lines out."""

    def __init__(self, channel: Channel) -> None:
        self.attendance = Attendance(
            channel.host,
            channel.peer,
            tell=self._tell,
            tournament_over=self._tournament_over,
            replaced=lambda why: self._hang_up(f"NO {why}"),
        )
        self._channel = channel

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        here = self.attendance
        text = plain(message)
        if not here.budget.message(at):
            self.give_up("too many lines")
        elif here.seat is not None:
            self._play(here.seat, text, at, fresh)
        elif here.state is State.SILENT and (hello := HELLO.fullmatch(text)):
            self._come(hello[1], hello[2])
        else:
            self._junk(WHY_NOT[here.state], at)

    def give_up(self, reason: str) -> None:
        self.attendance.note_cut(reason)
        self._hang_up(f"NO {reason}")

    def gone(self) -> None:
        self.attendance.lost()

    def _come(self, game: str, name: str) -> None:
        if game in catalogue():
            self.attendance.come(
                name,
                game,
                self._channel.authenticated,
                admitted=lambda visit: self._say(f"WELCOME {visit.player.name}"),
                refused=lambda why: self._say(f"NO {why}"),
                keeps=False,
                door=DIALECT.name,
            )
        else:
            self._say(f"NO there is no game {quoted(game)}; there are: {', '.join(catalogue())}")

    def _play(self, seat: Seat, text: str, at: float, fresh: bool) -> None:
        if not fresh:
            self._junk("this came before YOURS: wait for it", at)
            return
        try:
            seat.play(typed(text), at)
        except OutOfTurn as error:
            self._junk(str(error), at)
        except Illegal:
            pass  # the match tells the reason, as it tells everything: `Refused`

    def _tell(self, event: AnyEvent) -> None:
        seat = self.attendance.seat
        match event:
            case _ if seat is None:
                pass
            case Began():
                self._say(f"BEGIN {seat.name} AGAINST {seat.match.names[1 - seat.index]}")
                self._show(seat, 0)
            case Moved(ply=ply):
                self._show(seat, ply)
            case Refused(ply=ply, why=why):
                if event.seat == seat.index:
                    self._say(f"NO {why}")
                    self._ask(seat, ply)
            case Ended(winner=winner, why=why):
                result = {None: "nobody won", seat.index: "you won"}.get(winner, "you lost")
                self._say(f"END {result}: {why}")
                self.attendance.ended()

    def _show(self, seat: Seat, ply: int) -> None:
        state = seat.match.game.show(seat.match.positions[ply], seat.match.names)
        self._say(f"STATE {msgspec.json.encode(state).decode()}")
        self._ask(seat, ply)

    def _ask(self, seat: Seat, ply: int) -> None:
        if seat.to_move and ply == seat.match.ply:
            self._say("YOURS")
            self.attendance.ask()

    def _tournament_over(self, tournament: Tournament, fact: AnyFact) -> None:
        self._hang_up(f"OVER {tournament.record.name}")

    def _hang_up(self, last: str) -> None:
        if not self.attendance.over:
            self._say(last)
            self.attendance.hang_up()
            self._channel.hang_up(last)

    def _junk(self, why: str, at: float) -> None:
        if self.attendance.budget.junk(at):
            self._say(f"NO {why}")
        else:
            self.give_up("too many lines that mean nothing")

    def _say(self, text: str) -> None:
        line = text.encode() + b"\n"
        self.attendance.tape.told(line)
        self._channel.say(line, True)


def plain(message: bytes) -> str:
    return message.decode("utf-8", "replace").strip()


def wanted(message: bytes) -> Wanted | None:
    """Where a bot with this line wants to play."""
    hello = HELLO.fullmatch(plain(message))
    if hello is None or hello[1] not in catalogue():
        return None
    return Wanted(hello[2], hello[1], None, door=DIALECT.name)


DIALECT = Dialect(
    name="plain-words",
    title="plain words",
    carried_by=(OverTcp(speak=PlainWords, recognises=lambda line: line.startswith(b"PLAY "), wanted=wanted),),
    page=Path(__file__).with_name("plain-words.md"),
)
