"""The trials that a client is put through, one after the other.

Each trial is a tournament of its own, with the client started afresh, and ends with the first
fault. `Broke` says which sentence of the protocol the client broke.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from games.game import Game
from server.programs.wire import rules
from server.programs.wire.client import Broke
from server.programs.wire.scripted_host import ScriptedHost
from server.programs.wire.talk import Manner
from server.protocols.house.messages import Refused

MIDDLE = 2  # plies to the middle of a match
DOWN = 0.3  # seconds that the host is down
AWAY = 3.0  # seconds in which a client that has been replaced would come back
END_TIMEOUT = 2.0  # seconds for a client to end by itself when its tournament is over
PIECES = 5
TAKEN_OVER = "somebody with the same token has taken over"
TRIED = "this is a trial: the move was a good one"
STRANGE = '"weather":{"type":"turn","ply":99,"clock":[null,"noon"]},"ö":"🎲","of":[{}],'.encode()


class Terms(Struct, frozen=True):
    """The conditions of trials."""

    game: Game[Any, Any]
    timeout: float  # seconds for an answer
    slow: float  # seconds that a slow opponent, or a slow network, takes


def plays(host: ScriptedHost, terms: Terms) -> None:
    for seat in (0, 1):
        host.deal(seat)
        host.play_on()
        host.say_end()


def bears_pieces(host: ScriptedHost, terms: Terms) -> None:
    host.client.manner(Manner(pieces=PIECES))
    host.deal(1)
    host.play_on(0)
    host.client.manner(Manner(joined=True))
    host.play_on(MIDDLE)
    host.client.manner(Manner(joined=True, pieces=PIECES))
    host.play_on(host.match.ply + 1)
    host.client.manner(Manner(pieces=2, pause=terms.slow))
    host.its_move()


def passes_over_the_unknown(host: ScriptedHost, terms: Terms) -> None:
    host.client.manner(Manner(more=STRANGE))
    host.deal(0)
    host.play_on(MIDDLE)
    host.its_move()


def bears_a_refusal(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(MIDDLE)
    move = host.its_answer()
    if host.game.faults == "forfeit":  # there, a refused client has lost, and goes on with the next match
        host.refuse(TRIED)
        host.forfeit(move, TRIED)
        host.deal(1)
        host.play_on(MIDDLE)
    else:
        host.refuse(TRIED)
    host.its_move()


def comes_back(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(MIDDLE)
    host.client.lose()  # it has been asked
    host.welcome_back(rules.COME_BACK)
    host.its_move()
    if host.is_over:
        return
    host.client.lose()  # it has answered
    host.their_moves()
    if host.is_over:
        return
    host.welcome_back(rules.COME_BACK)
    host.its_move()


def comes_back_to_a_new_host(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(MIDDLE)
    host.take_back(host.match.ply)
    host.client.crash(DOWN)
    host.client.turn_away(rules.RESTARTED)
    host.welcome_back(rules.RESTARTED)
    host.its_move()


def forgets_what_was_lost(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(MIDDLE)
    kept = host.match.ply
    host.its_move()
    host.their_moves()
    if host.is_over:
        return
    lost = host.match.moves[kept + 1]
    host.its_answer()
    host.take_back(kept)
    host.client.crash(0.0)
    host.welcome_back(rules.RESTARTED)
    host.its_move()
    host.their_moves(other_than=lost)
    host.its_move()


def gives_way(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(MIDDLE)
    host.client.say(Refused(reason=TAKEN_OVER))
    host.client.hang_up(TAKEN_OVER)
    if host.client.comes(AWAY):
        raise Broke("it came back, and would have taken over from whoever had taken over", rules.TAKEN_OVER)


def waits(host: ScriptedHost, terms: Terms) -> None:
    host.deal(1)
    host.its_move()  # in a game that the second seat begins
    host.silence(terms.slow)
    host.their_moves()
    host.its_move()


def takes_a_void_match(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(0)
    host.its_move()
    host.void("this is a trial: the host has failed")
    host.deal(0)
    host.play_on(0)
    host.its_move()


def sees_the_end(host: ScriptedHost, terms: Terms) -> None:
    host.deal(0)
    host.play_on(MIDDLE)
    host.finish()
    host.client.stays_well(END_TIMEOUT, rules.STANDINGS)


class Trial(Struct, frozen=True):
    name: str
    rule: rules.Rule  # the rule that a client breaks by failing in it
    run: Callable[[ScriptedHost, Terms], None]


TRIALS: Sequence[Trial] = (
    Trial("plays whole matches, in either seat", rules.NAMED, plays),
    Trial("takes messages in pieces, and several at once", rules.CARRIED, bears_pieces),
    Trial("passes over fields that it does not know", rules.UNKNOWN, passes_over_the_unknown),
    Trial("goes on after a refused move", rules.REFUSED, bears_a_refusal),
    Trial("comes back when the connection is lost", rules.COME_BACK, comes_back),
    Trial("comes back when the host is started again", rules.RESTARTED, comes_back_to_a_new_host),
    Trial("forgets the moves that the host has lost", rules.FORGET, forgets_what_was_lost),
    Trial("gives way when somebody has taken over", rules.TAKEN_OVER, gives_way),
    Trial("waits while nothing happens", rules.EVERY_CHANGE, waits),
    Trial("goes on after a match that is void", rules.VOID, takes_a_void_match),
    Trial("takes the end of the tournament", rules.STANDINGS, sees_the_end),
)
