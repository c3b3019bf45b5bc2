"""The house protocol: any game, over whatever carries JSON messages.

A `House` is one bot's side of it, without I/O: messages in, messages out. The
transports (`tcp.py`, `websocket.py`, `house_http.py`) bring the bytes and know
nothing of what they mean. What the messages look like is in `messages.py`.
"""

from collections.abc import Callable
from typing import assert_never

import structlog
import trio
from msgspec import UNSET

from games.catalogue import catalogue
from games.game import Illegal, quoted
from server.export.json_views import rows
from server.host.host import OPEN, Host
from server.host.reception import Guessing, Unwelcome, Visit
from server.host.wire_log import NO_TAPE
from server.net.outbox import Say
from server.protocols.common.encode_once import Once
from server.protocols.common.talk_budget import Patience
from server.protocols.common.tournament_end import when_over
from server.protocols.house import messages
from server.protocols.house.messages import (
    PROTOCOL,
    Refused,
    Standings,
    ToBot,
    Welcome,
    begin,
    encode,
    end,
    turn,
)
from tournament import events
from tournament.events import AnyEvent
from tournament.log import Follower
from tournament.match import OutOfTurn
from tournament.player import Seat
from tournament.record import AnyFact
from tournament.tournament import Tournament

HELLO = 'say hello first: {"type":"hello","name":"ann","game":"tic-tac-toe"}'
EARLY = "this came before the question was asked: wait for it, or say the ply that the move is for"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()
once = Once()  # both players are told of an event one right after the other


class House:
    """One bot's side of the house protocol, whatever carries it: messages in, messages out.

    `say` is given one JSON message at a time, without framing; `hang_up` the
    reason for which the connection is to be closed after what was said;
    `authenticated` is called when the bot is in. `numbered` messages carry
    `seq`, counted from 1, for transports that resume by it.
    """

    def __init__(
        self,
        host: Host,
        say: Say,
        hang_up: Callable[[str], None],
        peer: str,
        authenticated: Callable[[], None] = lambda: None,
        *,
        numbered: bool = False,
    ) -> None:
        self.asked = 0  # how many questions this bot has been asked
        self.unheard = 0  # how many of its messages were passed over in silence: whoever floods is cut
        self.arriving = False  # its hello is about to be granted or refused
        self.guessing = False  # too many wrong tokens came from its address
        self.tape = NO_TAPE  # of its match
        self._host = host
        self._out = say
        self._end_call = hang_up
        self._peer = peer
        self._authenticated = authenticated
        self._seq = 0 if numbered else None
        self._patience = Patience(host.limits, trio.current_time())
        self._early: list[tuple[bytes, float]] = []  # what came while it was arriving
        self._over = False
        self._visit: Visit | None = None
        self._token: str | None = None  # of the last visit, for a hello on this same connection …
        self._under: tuple[str, str] | None = None  # … under the same name, to the same game
        self._unacknowledged = False
        self._stop_waiting: Callable[[], None] = lambda: None
        self._seat: Seat | None = None
        self._follower: Follower | None = None

    # What a transport calls

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        """Take one message, which arrived at `at`. Never waits; what is wrong with it the bot is told.

        It is not `fresh` if it had been read already when the last question was asked.
        """
        if self._over:
            return
        self.tape.heard(message, at)
        if self._unacknowledged and self._visit is not None:
            self._unacknowledged = False
            self._visit.acknowledge()
        if not self._patience.message(at):
            self.give_up("too many messages, and no answers to questions")
        elif not self.arriving:
            self._understand(message, at, fresh)
        elif len(self._early) < self._host.limits.early_messages:
            self._early.append((message, at))
        else:
            self.give_up("too many messages before the welcome")

    def give_up(self, reason: str) -> None:
        """Tell the bot why this cannot go on, and hang up."""
        if not self._over:
            log.info("cut", peer=self._peer, player=self._under and self._under[0], why=reason)
            self._refuse(reason)
            self._hang_up(reason)

    def gone(self) -> None:
        """The connection is lost."""
        self._over = True
        self._leave()

    # What the bot says

    def _understand(self, message: bytes, at: float, fresh: bool) -> None:
        if not message.strip():
            return  # somebody at a keyboard
        try:
            said = messages.read(message, self._host.limits.json_line_bytes)
        except messages.Unreadable as error:
            self._junk(str(error), at)
            return
        match said:
            case messages.Hello():
                self._hello(said)
            case _ if self._visit is None:
                self._junk(HELLO, at)
            case messages.Move():
                self._move(said, at, fresh)
            case messages.AskState():
                if self._seat is None:
                    self._refuse(self._not_playing(None))
                else:
                    self._say(turn(self._seat.match, self._seat.match.ply, trio.current_time()))
            case messages.Resign(match=name):
                if self._seat is None or name not in (None, self._seat.match.name):
                    self._refuse(self._not_playing(name), name)
                else:
                    self._seat.resign()
            case messages.Bye():
                self._leave(for_good=True)
                self._hang_up("the bot said bye")
            case _:
                assert_never(said)

    def _move(self, said: messages.Move, at: float, fresh: bool) -> None:
        reason = self._objection(said, fresh)
        if reason is None and self._seat is not None:
            try:
                self._seat.play(said.move, at)
            except OutOfTurn as error:
                reason = str(error)
            except Illegal:
                pass  # the log tells us, at once or together with what it cost
        if reason is None:
            return
        if said.match is None and said.ply is None:
            self._junk(reason, at)
        else:  # it says what it answers, so it is late at worst
            self._refuse(reason, said.match, said.ply)

    def _objection(self, said: messages.Move, fresh: bool) -> str | None:
        """Why a move answers no question that is being asked."""
        if self._seat is None or said.match not in (None, self._seat.match.name):
            return self._not_playing(said.match)
        ply = self._seat.match.ply
        if said.ply not in (None, ply):
            return f"ply {said.ply} is not what is asked: the match is at ply {ply}"
        return EARLY if said.ply is None and not fresh else None

    def _not_playing(self, name: str | None) -> str:
        """In words: that match, or any, is not being played."""
        if name is None:
            return "no match is being played just now"
        now = "no match is" if self._seat is None else f"{self._seat.match.name} is"
        return f"match {quoted(name)} is not being played; {now}"

    # Coming and going

    def _hello(self, hello: messages.Hello) -> None:
        if self._seat is not None:
            name = self._seat.match.name
            self._refuse(f"you are playing match {name}: end it, resign it or say bye before another hello")
        elif hello.protocol != PROTOCOL:
            self._refuse(f"this host speaks protocol {PROTOCOL}, not {quoted(hello.protocol)}")
        elif hello.game not in catalogue():
            self._refuse(f"there is no game {quoted(hello.game)}; there are: {', '.join(catalogue())}")
        else:
            self._leave()
            self.arriving = True
            self._host.guard.start_soon(self._arrive, hello)

    async def _arrive(self, hello: messages.Hello) -> None:
        token = self._token if self._under == (hello.name, hello.game) else None
        try:
            visit = await self._host.arrive(
                hello.name,
                hello.game,
                tournament=hello.tournament,
                token=hello.token or token,
                peer=self._peer,
            )
        except Guessing as refusal:
            self.guessing = True
            self.give_up(str(refusal))
        except Unwelcome as refusal:
            self._refuse(str(refusal))
        else:
            self._enter(visit, hello)
        finally:
            self.arriving = False
        while self._early and not self.arriving and not self._over:
            message, at = self._early.pop(0)
            self._understand(message, at, fresh=False)

    def _enter(self, visit: Visit, hello: messages.Hello) -> None:
        if self._over:
            visit.leave()
            return
        player, place = visit.player, visit.player.place or ""
        self._visit, self._token, self._unacknowledged = visit, visit.token, True
        self._under = hello.name, hello.game
        visit.replaced = self._replaced
        player.dealt = self._dealt
        self._stop_waiting = when_over(self._host, place, self._tournament_over)
        self._authenticated()
        tournament = None if place.startswith(OPEN) else place
        self._say(Welcome(player.name, visit.token or "", player.game, tournament))
        if player.seat is not None:
            self._go_on(player.seat)

    def _leave(self, *, for_good: bool = False) -> None:
        """Let go of all that this connection holds. The player may wait for another."""
        visit, self._visit = self._visit, None
        self._stop_waiting()
        if self._follower is not None:
            self._follower.stop()
        self._seat = self._follower = None
        self.tape = NO_TAPE
        if visit is not None:
            visit.player.dealt = _nobody
            visit.leave(for_good=for_good)

    def _replaced(self, why: str) -> None:
        self._refuse(why)
        self._hang_up(why)
        self._leave()

    def _hang_up(self, reason: str) -> None:
        self._over = True
        self._end_call(reason)

    def _tournament_over(self, tournament: Tournament, fact: AnyFact) -> None:
        self._host.guard.start_soon(self._tell_standings, tournament, fact)

    async def _tell_standings(self, tournament: Tournament, fact: AnyFact) -> None:
        if self._visit is not None:
            record = tournament.record.public
            self._put(once(fact, lambda: encode(Standings(record.name, final=True, rows=rows(record)))))

    # What the bot is told

    def _dealt(self, seat: Seat) -> None:
        self._seat, self.tape = seat, self._host.wires.tape(seat, self._visit)
        self._follower = seat.follow(self._tell)

    def _go_on(self, seat: Seat) -> None:
        """Tell all that is needed to go on with a match that has begun."""
        self._seat, match = seat, seat.match
        self.tape = self._host.wires.tape(seat, self._visit)
        self._say(begin(seat))
        self._say(turn(match, match.ply, trio.current_time()))
        self._ask(seat, match.ply)
        self._follower = seat.follow(self._tell, len(match.log.events))

    def _tell(self, event: AnyEvent) -> None:
        seat = self._seat
        if seat is None:
            return
        match = seat.match
        match event:
            case events.Began():
                self._say(begin(seat))
                self._put(once(event, lambda: encode(turn(match, 0, event.at))))
                self._ask(seat, 0)
            case events.Moved(ply=ply):
                self._put(once(event, lambda: encode(turn(match, ply, event.at))), seat.to_move)
                self._ask(seat, ply)
            case events.Refused(ply=ply, why=why):
                if event.seat == seat.index:
                    self._refuse(why, match.name, ply)
                    self._ask(seat, ply)
            case events.Ended():
                self._seat = self._follower = None
                self._put(once(event, lambda: encode(end(match, event))))
                self.tape = NO_TAPE
            case _:
                assert_never(event)

    def _ask(self, seat: Seat, ply: int) -> None:
        """The bot has news of a position: is that a question?"""
        if seat.to_move and ply == seat.match.ply:
            self.asked += 1
            self._patience.asked()

    def _junk(self, reason: str, at: float) -> None:
        """Refuse what no bot should say, or should not say now; too much of it is the end."""
        if self._patience.junk(at):
            self._refuse(reason)
        else:
            self.give_up(f"too many messages without a meaning, the last because: {reason}")

    def _refuse(self, reason: str, match: str | None = None, ply: int | None = None) -> None:
        named = UNSET if match is None else match
        self._say(Refused(reason=reason, match=named, ply=UNSET if ply is None else ply))

    def _say(self, message: ToBot) -> None:
        self._put(encode(message))

    def _put(self, message: bytes, urgent: bool = True) -> None:
        if self._seq is not None:
            self._seq += 1
            message = b'%b,"seq":%d}' % (message[:-1], self._seq)
        self.tape.told(message)
        self._out(message, urgent)


def _nobody(seat: Seat) -> None:
    """What a player is given to tell of its seats while no connection holds it: whoever comes will look."""
