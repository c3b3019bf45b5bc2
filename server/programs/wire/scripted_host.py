"""As much of a host as one client needs: its welcome, its matches, and the end of its tournament.

The referee is the real one, and so are the messages. The trials (`trials.py`) say what happens, and
when.
"""

import time
from typing import Any

from msgspec import UNSET

from games.brains import random
from games.game import Game, Illegal, Pace, quoted, typed
from server.net.escaping import json_line, safe
from server.programs.wire import rules
from server.programs.wire.client import Broke, Client
from server.protocols.house import messages
from server.protocols.house.messages import Refused, Standings, Welcome, begun, turn
from tournament.events import Fault
from tournament.match import Match

TOURNAMENT = "trial"
OPPONENT = "Zoë"  # a name with a letter of two bytes
TURN = 60.0  # seconds for a move, as the client is told
RECEIPT = "0" * 64
SHOWN = 160  # characters of a position
STRANGER = "came back as a stranger"  # the mark of one fault in all trials
SHORTEST_TOKEN = 16  # characters


class ScriptedHost:
    def __init__(self, client: Client, game: Game[Any, Any]) -> None:
        self.client = client
        self.game = game
        self.match = Match(game, ("", OPPONENT), 0.0)
        self.seat = 0  # the client's seat
        self._number = 0
        self._brain = random(game, 1)

    # Coming

    def welcome(self) -> None:
        """Receive the client, which has never been here."""
        hello, client = self.client.come(rules.SAY_HELLO), self.client
        if (hello.game, hello.protocol) != (self.game.name, messages.PROTOCOL):
            expected, came = f"{messages.PROTOCOL} and {self.game.name}", f"{hello.protocol} and {hello.game}"
            raise Broke(f"expected protocol and game to be {expected}, and got {came}", rules.SAY_HELLO)
        if hello.token is not None and len(hello.token) < SHORTEST_TOKEN:
            raise Broke(f"its token has {len(hello.token)} characters", rules.OWN_TOKEN)
        client.name, client.token = hello.name, hello.token or "t" * SHORTEST_TOKEN
        self._say_welcome()

    def welcome_back(self, rule: str) -> None:
        """Receive the client again, with its token, and tell it how the match stands."""
        hello, client = self.client.come(rule, back=True), self.client
        if (hello.name, hello.game) != (client.name, self.game.name):
            raise Broke(f"it came back as {quoted(hello.name)} to play {quoted(hello.game)}", rule, STRANGER)
        if hello.token != client.token:
            came = "without a token" if hello.token is None else f"with the token {quoted(hello.token)}"
            raise Broke(f"it came back {came}, and its own is {quoted(client.token)}", rule, STRANGER)
        self._say_welcome()
        self._say_match()

    def _say_welcome(self) -> None:
        self.client.say(Welcome(self.client.name, self.client.token, self.game.name, TOURNAMENT))

    # Playing

    def deal(self, seat: int) -> None:
        """Begin a match in which the client has that seat."""
        self._number += 1
        self.seat = seat
        names = (self.client.name, OPPONENT) if seat == 0 else (OPPONENT, self.client.name)
        name, pace = f"{TOURNAMENT}-{self._number}", Pace(turn=max(TURN, 2 * self.client.timeout))
        self.match = Match(self.game, names, time.monotonic(), name=name, pace=pace)
        self._say_match()

    @property
    def is_over(self) -> bool:
        return self.match.to_move is None

    def play_on(self, plies: int | None = None) -> None:
        """Play until it is the client's turn after this many plies, or to the end; short games begin anew."""
        while not self.is_over and (
            plies is None or self.match.ply < plies or self.match.to_move != self.seat
        ):
            if self.match.to_move == self.seat:
                self.its_move()
            else:
                self._our_move()
            if plies is not None and self.is_over:
                self.say_end()
                self.deal(self.seat)

    def its_move(self) -> None:
        """Have the client move, if it is its turn."""
        if self.match.to_move == self.seat:
            self._play(self.its_answer())

    def its_answer(self) -> Any:
        """The client's answer, a legal move, which is not played yet."""
        until = time.monotonic() + self.client.timeout
        refusal = ""
        while True:
            said = self.client.hear(until - time.monotonic())
            match said:
                case None:
                    but = f"; its last answer was refused: {refusal}" if refusal else ""
                    why = f"no answer came within {self.client.timeout:g} s at ply {self.match.ply}{but}"
                    raise Broke(why, rules.IN_TIME)
                case messages.Move(match=name, ply=ply) if self._is_asked(name, ply):
                    return self._legal(said.move)
                case messages.Move(match=name, ply=ply) if (
                    name == self.match.name and (ply or 0) > self.match.ply
                ):
                    raise Broke(f"it answered ply {ply}, and the match is at ply {self.match.ply}")
                case messages.Move(match=name, ply=ply):
                    refusal = self._say_late(name, ply)
                case _:
                    self._other(said)

    def their_moves(self, other_than: object = None) -> None:
        """Have the opponent move until it is the client's turn; not by `other_than`, if it can."""
        while self.match.to_move == 1 - self.seat:
            self._our_move(other_than)

    def _our_move(self, other_than: object = None) -> None:
        position = self.match.position
        move = self._brain(position, _at_once)
        if self.game.write(move) == other_than:
            move = next((each for each in position.moves() if self.game.write(each) != other_than), move)
        self._play(move)

    def silence(self, seconds: float) -> None:
        """Leave the client alone while it is not its turn."""
        until = time.monotonic() + seconds
        while (said := self.client.hear(until - time.monotonic())) is not None:
            match said:
                case messages.Move(match=name, ply=ply) if self._is_asked(name, ply):
                    raise Broke(f"it moved at ply {self.match.ply}, where it is not asked", rules.ANSWERS)
                case messages.Move(match=name, ply=ply):
                    self._say_late(name, ply)
                case _:
                    self._other(said)

    def refuse(self, why: str) -> None:
        """Refuse a move of the client's, even if it is legal."""
        self.client.say(Refused(match=self.match.name, ply=self.match.ply, reason=why))

    def forfeit(self, move: Any, why: str) -> None:
        """The client has lost by this move, which was refused."""
        self.match.forfeit(self.seat, self.game.write(move), why, time.monotonic())
        self.say_end()

    def void(self, why: str) -> None:
        """The match counts for nothing, by a fault of the host."""
        self.match.void(why, time.monotonic(), Fault.HOST)
        self.say_end()

    def take_back(self, plies: int) -> None:
        """Forget all but this many plies, as after a crash."""
        match = self.match
        kept = match.moves[:plies], [0.0] * plies
        self.match = Match(
            self.game, match.names, time.monotonic(), name=match.name, pace=match.clock.pace, kept=kept
        )

    # Ending

    def say_end(self) -> None:
        if self.match.result is not None:
            self.match.receipt = RECEIPT
            self.client.say(messages.end(self.match, self.match.result))

    def finish(self) -> None:
        """Have the opponent resign, if need be, and end the tournament."""
        self.match.resign(1 - self.seat, time.monotonic())
        self.say_end()
        rows = [_row(1, self.client.name, 1.0), _row(2, OPPONENT, 0.0)]
        self.client.say(Standings(TOURNAMENT, final=True, rows=rows))

    # Within

    def _say_match(self) -> None:
        self.client.say(begun(self.match, self.seat, self.match.ply))
        self._say_turn()

    def _say_turn(self) -> None:
        self.client.say(turn(self.match, self.match.ply, time.monotonic()))

    def _say_late(self, name: str | None, ply: int | None) -> str:
        """Refuse a move that answers no question now; returns the reason."""
        asked = f"{self.match.name} at ply {self.match.ply}"
        reason = f"what it answers is not what is asked, {asked}"
        named, counted = UNSET if name is None else name, UNSET if ply is None else ply
        self.client.say(Refused(match=named, ply=counted, reason=reason))
        return reason

    def _is_asked(self, name: str | None, ply: int | None) -> bool:
        return name in (None, self.match.name) and ply in (None, self.match.ply)

    def _legal(self, sent: object) -> Any:
        """The move that was sent; raises `Broke` if it may not be played."""
        position = self.match.position
        try:
            move = self.game.read(typed(sent) if isinstance(sent, str) else sent, position)
            position.play(move)
        except Illegal as why:
            state = safe(json_line(self.game.show(position, self.match.names)), cut=SHOWN)
            raise Broke(
                f"its move {quoted(sent)} at ply {self.match.ply} is illegal: {why}; the state: {state}",
                rules.sentence(rules.REFUSED, self.game.faults),
            ) from None
        return move

    def _play(self, move: Any) -> None:
        mover = self.match.position.turn
        self.match.play(mover, self.game.write(move), time.monotonic())
        self._say_turn()

    def _other(self, said: messages.Said | None) -> None:
        """Take what a client may say at any time; anything else ends the trial."""
        match said:
            case messages.AskState():
                self._say_turn()
            case messages.Bye():
                raise Broke("it said bye in the middle of a match", rules.STAYS)
            case messages.Resign():
                raise Broke("it resigned, so that there was nothing more to try", rules.ANSWERS)
            case messages.Hello():
                raise Broke("it said hello in the middle of a match", rules.READABLE)
            case _:
                pass


def _row(rank: int, name: str, points: float) -> dict[str, Any]:
    won = int(points)
    counts = {"played": 1, "wins": won, "draws": 0, "losses": 1 - won}
    return {"rank": rank, "name": name, "points": points} | counts | {"rating": None, "interval": None}


def _at_once() -> bool:
    return True
