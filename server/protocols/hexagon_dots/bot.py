"""One bot's side of Hexagon Dots over HTTP: its requests, which are held until it is to move again.

A bot has no connection of its own. It is there while a request of it is held,
and while it is its turn: then its clock runs, from the moment that the answer
was sent. When a held request is hung up, the bot is away until it makes the same
request again; `Attendance` knows whether the bot is away, and how long it may be.

With a move it sends the token that it was given for that one turn (`tokens.py`). A
request with any other token has no effect. A bot that was playing when the host
stopped is away. It repeats its last request, or makes the next one; either has a
token that says what it knows.
"""

from collections.abc import Callable

import structlog
import trio
from msgspec.json import decode, encode

from games.game import Illegal
from server.host import secrets
from server.host.host import Host
from server.host.misfits import UNREADABLE, unreadable
from server.host.opening import OPEN
from server.host.view import HeldTournament
from server.host.visits import Visit
from server.host.wire_log import NO_TAPE
from server.http.exchange import Exchange
from server.http.wire import JSON, TEXT, Response, json_response, typed
from server.protocols.common.attendance import Attendance
from server.protocols.common.http_tape import TURN, requested, responded
from server.protocols.common.states import State
from server.protocols.hexagon_dots.gate import EnteredBot, Gate
from server.protocols.hexagon_dots.messages import delta, standing, whole
from server.protocols.hexagon_dots.tokens import SeenLines, Tokens, begins_with
from tournament.events import AnyEvent, Began, Ended, Ending, Moved, Refused
from tournament.facts import AnyFact
from tournament.match import Match, OutOfTurn
from tournament.player import Seat

USED = "this token has been used for another move"
PLAIN = typed(TEXT)

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def plain(status: int, sentence: str, *headers: tuple[str, str]) -> Response:
    """An error response: a sentence and nothing else."""
    return Response(status, PLAIN + headers, sentence.encode())


class Bot(EnteredBot):
    """A bot, from a join to the end of the match to which it led.

    `tokens` has the bot of each token; `hung_up` is called when it is away and may come back, and `done`
    when nothing more can come but the same answers to the same requests.
    """

    def __init__(
        self,
        host: Host,
        name: str,
        gate: Gate,
        peer: str,
        tokens: dict[str, "Bot"],
        hung_up: Callable[["Bot"], None],
        done: Callable[["Bot"], None],
        secret: str | None = None,
    ) -> None:
        self.attendance = Attendance(
            host,
            peer,
            tell=self._tell,
            replaced=self._give_way,
            tournament_over=self._tournament_over,
            taken_out=self._dismiss,
        )
        self.name = name
        self.gate = gate
        self.secret = secret or secrets.token()  # of its tokens
        self._own = Tokens(self.secret)
        self.came_to = gate  # where it joined first
        self._tokens = tokens
        self._host = host
        self._now_away = hung_up
        self._done = done
        self._tape = NO_TAPE  # of its match, even after the end: late requests belong there as well
        self._token: str | None = None  # of its present turn
        self._held: Exchange | None = None  # the request that has to be answered
        self._misses_the_beginning = False  # it has hung up while its match was about to begin
        self._request = ("", b"")  # token and body of the last one; the join has none
        self._since: int | None = None  # the ply at which that request came; None: it was the join
        self._answer: Response | None = None  # the answer to it
        self._known: SeenLines | None = None  # by the request with which it came back, until that is settled
        self._violation = ""
        self._ending = ""  # how the match ended, in words
        self._last_answer: Response | None = None  # after the end, for a bot that was not told of it

    @property
    def led(self) -> bool:
        """Whether its tournament deals its match, even if something else is played at this gate."""
        visit = self.attendance.visit
        return visit is not None and not (visit.player.place or "").startswith(OPEN)

    @property
    def waits(self) -> bool:
        return self.attendance.seat is None and self._plays_here

    @property
    def away(self) -> bool:
        """Whether it has hung up, and may come back."""
        return self._misses_the_beginning or self.attendance.state is State.AWAY

    @property
    def home(self) -> Gate | None:
        """The gate of a game that somebody made, if it plays one."""
        return self.came_to if self.came_to.fixed and not self.led else None

    @property
    def has_played(self) -> bool:
        """Whether it has tokens, and may come once more with one."""
        return bool(self._token or self._request[0])

    @property
    def _plays_here(self) -> bool:
        """Whether it plays the game of its gate, and does not just pass through to a tournament."""
        return not (self.led and self.gate.fixed)

    @property
    def _is_about_to_play(self) -> bool:
        """Whether its match begins as soon as it is kept, and not when both bots have rested."""
        visit = self.attendance.visit
        return visit is not None and visit.player.reserved and all(each.rested for each in self.gate.waiting)

    def is_at(self, gate: Gate) -> bool:
        return gate in (self.gate, self.home)

    def join(self, exchange: Exchange, visit: Visit) -> None:
        """Take a bot in; its join is answered when it has to move for the first time."""
        self.gate.enter(self, visit.player)
        visit.vanished = self.vanished
        exchange.authenticated()
        self._hold(exchange)

    def await_return(self, visit: Visit) -> None:
        """Await a bot that was playing when the host stopped."""
        self.gate.enter(self, visit.player)
        self.attendance.await_return(visit)
        self._now_away(self)

    async def vanished(self) -> bool:
        """Whether the machine that made the request which is held answers no more; then it has hung up."""
        return self._held is not None and await self._held.vanished()

    def is_awaited_with(self, token: str) -> bool:
        """Whether it has not been heard since the host's restart, and was given this token before."""
        seat = self.attendance.seat
        awaited = seat is not None and seat.match.awaits_return(seat.index)
        return awaited and self._own.known(token) is not None

    def return_with(self, exchange: Exchange, token: str) -> None:
        """Take the first request after a restart, by a token from before."""
        seat, known, body = self.attendance.seat, self._own.known(token), exchange.request.body
        exchange.authenticated()
        self._tape.heard(requested(exchange.request, token), exchange.request.arrived)
        if seat is None or known is None or exchange.gone:
            return
        if known.ply < seat.match.ply and not _is_move(body, seat.match, known.ply):
            self._respond(exchange, plain(403, USED))
            return
        self._tokens[token] = self
        self._request, self._since, self._known = (token, body), known.ply, known
        self._come_back(exchange)

    def join_again(self, exchange: Exchange, gate: Gate) -> None:
        """Let a bot that was away and knows nothing any more go on at this gate, and tell it everything."""
        player = self.gate.leave(self)
        self.gate = gate
        gate.enter(self, player)
        if (seat := self.attendance.seat) is not None:
            gate.begin(seat.match)
        self._forget_token(self._request[0])
        self._request, self._since = ("", b""), None
        self._come_back(exchange)

    def waits_with(self, token: str, body: bytes) -> bool:
        """Whether the same request is held already."""
        return self._held is not None and (token, body) == self._request

    def move(self, exchange: Exchange, token: str) -> None:
        """Take a request with a token of this bot: the one of its turn, or the one before that again."""
        exchange.authenticated()
        self._tape.heard(requested(exchange.request, token), exchange.request.arrived)
        if token == self._token:
            self._move(exchange, token)
        elif (token, exchange.request.body) != self._request:
            self._respond(exchange, plain(410, self._ending) if self._ending else plain(403, USED))
        elif self._answer is not None:
            self._respond(exchange, self._answer)
        elif self._held is not None:
            earlier, self._held = self._held, None
            self._respond(earlier, plain(409, "the same request was made again, and is answered there"))
            self._hold(exchange)
        else:
            self._come_back(exchange)

    def failed(self, exchange: Exchange, error: Exception) -> None:
        """Serving a request of it has raised `error`: if the fault is ours, its match is void."""
        if self._held is exchange:
            self._held = None  # it is answered with the error
        self.attendance.failed(error)
        if self.attendance.state is State.IN:
            self._leave()

    def forget(self) -> None:
        """Forget its tokens: its requests come too late from now on."""
        for used in (self._request[0], self._token or ""):
            self._forget_token(used)

    # What it says

    def _move(self, exchange: Exchange, token: str, at: float | None = None) -> None:
        """Play what a request says, which counts as having come `at` that time, or when it arrived."""
        seat, body = self.attendance.seat, exchange.request.body
        if seat is None:
            self._respond(exchange, self._last_answer or plain(410, self._ending))
            return
        try:
            sent = decode(body)
        except UNREADABLE as error:
            why = f"expected a move as JSON: {unreadable(error, 'move', body)}"
            seat.note_ignored(why)
            self._respond(exchange, plain(400, why))
            return
        seat.expect_open()  # before anything is noted, so that a refused bot can make the same request again
        self._forget_token(self._request[0])
        self._request, self._since, self._answer = (token, body), seat.match.ply, None
        self._token = None
        self._hold(exchange)
        try:
            seat.play(sent, at or exchange.request.arrived)
        except OutOfTurn:
            pass  # the move came too late: the end is about to be told
        except Illegal as illegal:
            log.info("refused", match=seat.match.name, player=self.name, why=str(illegal))

    def _hold(self, exchange: Exchange) -> None:
        self._held = exchange
        exchange.on_gone(self._hung_up)

    def _hung_up(self) -> None:
        if self._held is None or not self._held.gone:
            return  # that was a request before
        self._held = None
        if self.attendance.seat is not None:
            self.attendance.away()
            self._now_away(self)
        elif self._is_about_to_play:
            self._misses_the_beginning = True
            self._now_away(self)
        else:
            self._leave()

    def _come_back(self, exchange: Exchange) -> None:
        if not exchange.gone:
            self.attendance.peer = exchange.request.peer
            self._hold(exchange)
            if self._misses_the_beginning:
                self._misses_the_beginning = False
            else:
                self.attendance.back()
            self._ask()

    # What it is told

    def _tell(self, event: AnyEvent) -> None:
        seat = self.attendance.seat
        match event:
            case _ if seat is None:
                pass
            case Moved():
                self._ask()
            case Began():
                self._begin(seat)
            case Refused():
                self._violation = event.why if event.seat == seat.index else ""
            case Ended():
                self._end(seat, event)
            case _:
                pass

    def _begin(self, seat: Seat) -> None:
        self._tape = self.attendance.tape
        if self._plays_here:
            self.gate.take()
        if self._misses_the_beginning:
            self._misses_the_beginning = False
            self.attendance.away()
        self._ask()
        self.gate.begin(seat.match)

    def _ask(self) -> None:
        """Tell the bot that it is its turn, if that is so and it can be told."""
        seat = self.attendance.seat
        if seat is None or self._held is None or not seat.to_move:
            return
        if self._known is None or not self._has_to_move(seat):
            self._token = token = self._own.token(seat.match.moves)
            self._tokens[token] = self
            self._host.on_key_of_game(token)
            self._reply(Response(200, JSON, encode(self._news(seat.match, self._since)), ((TURN, token),)))

    def _has_to_move(self, seat: Seat) -> bool:
        """Whether the request with which it came back after a restart settles its turn.

        If the token was for this turn, the request is the bot's move, which the host has lost. If it was
        for an earlier turn, that move was kept. Otherwise the bot knows moves that were not kept and have
        not been made again.
        """
        match, known, held, token = seat.match, self._known, self._held, self._request[0]
        self._known = None
        if known is None or held is None:
            return False
        now = trio.current_time()
        if not begins_with(match.moves, known):
            self._since = match.ply  # lines cannot be taken back, and what came after those is news to nobody
            match.differ(seat.index, now)
            return True
        if known.ply == match.ply:
            self._token, self._held = token, None
            self._request = ("", b"")  # this was no other request, whose token could be forgotten
            self._move(held, token, now)
            return True
        return False

    def _end(self, seat: Seat, ended: Ended) -> None:
        match = seat.match
        self._ending = f"the game is over: {ended.decided_by}"
        if self._violation:
            answer = plain(403, self._violation)
        elif ended.ending is Ending.TIME and ended.winner != seat.index:
            answer = plain(410, self._ending)
        else:
            answer = json_response(200, self._news(match, self._since if self._token is None else match.ply))
        if self._token is None:
            self._reply(answer)
        self._last_answer = answer
        self.attendance.ended()
        self._leave()

    def _give_way(self, why: str) -> None:
        """Another bot has come with the token to which an organiser bound the name."""
        self._ending = why
        self._last_answer = plain(410, why)
        self._reply(self._last_answer)
        self.attendance.hang_up()
        self.gate.leave(self)
        self._done(self)

    def _tournament_over(self, tournament: HeldTournament, fact: AnyFact) -> None:
        if self.attendance.state is State.IN:
            self._host.untold.has_heard(tournament.record, self.name)
        self._dismiss(f"{tournament.record.name} is over")

    def _dismiss(self, why: str) -> None:
        """Dismiss a bot that still waits for a match from its tournament: there will be none."""
        if self.attendance.state is State.IN:
            self._reply(plain(410, why))
            self._leave()

    def _news(self, match: Match, since: int | None) -> object:
        """The whole Game for whoever joined, else what is new since a ply, which may not have been kept."""
        return whole(*standing(match)) if since is None else delta(match, min(since, match.ply))

    def _reply(self, answer: Response) -> None:
        self._answer = answer
        held, self._held = self._held, None
        if held is not None:
            self._respond(held, answer)

    def _respond(self, exchange: Exchange, answer: Response) -> None:
        self._tape.told(responded(answer))
        exchange.respond(answer)

    def _forget_token(self, token: str) -> None:
        if self._tokens.pop(token, None) is not None:
            self._host.on_key_of_game_gone(token)

    def _leave(self) -> None:
        self.gate.leave(self)
        self.attendance.lost()  # it comes anew with an attendance of its own
        self._done(self)


def _is_move(body: bytes, match: Match, ply: int) -> bool:
    """Whether a request has the move that was made at that ply."""
    try:
        move = match.game.read(decode(body), match.positions[ply])
    except (*UNREADABLE, Illegal):
        return False
    return match.game.write(move) == match.moves[ply]
