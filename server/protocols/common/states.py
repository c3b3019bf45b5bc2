"""The states that a bot's attendance can be in, and what may happen in each: a table, and nothing else.

    silent ──came──▶ arriving ──admitted──▶ in ──dealt──▶ playing ◀─hung up, came back─▶ away
       ▲                │ refused            │ left  ◀─ended─┘ │ left
       └────────────────┴────────────────────┴─────────────────┘
    away: also from in; ended and left lead from there to where they lead from playing
    over: from anywhere, when the connection is lost, the bot is cut or the host stops

Two rules for whoever edits this file:

1. Whatever may happen stands in `TABLE`, and nothing else may: what is not
   there raises `Impossible`, rather than being guessed at.
2. Nothing here knows a connection, a clock or a dialect. What is done when
   something happens is in `attendance.py`.
"""

from collections.abc import Mapping
from enum import Enum


class Step(Enum):
    __hash__ = object.__hash__  # that of `Enum` is written in Python, and the table is asked at every step


class State(Step):
    SILENT = "silent"  # nobody has said who it is
    ARRIVING = "arriving"  # it has said so, and is about to be admitted or refused
    IN = "in"  # it has a place, and waits for a match
    PLAYING = "playing"  # it has a seat
    AWAY = "away"  # it has a place, perhaps a seat, and nobody is there: over HTTP a bot may come back
    OVER = "over"  # nothing more is heard or said


class Happening(Step):
    CAME = "came"  # the bot has said who it is
    ADMITTED = "admitted"
    REFUSED = "refused"
    DEALT = "dealt"  # it was dealt a seat, or came back to one
    HUNG_UP = "hung up"  # nobody is there, and somebody may be again
    CAME_BACK = "came back"
    ENDED = "ended"  # the match has ended
    LEFT = "left"  # the bot let go of its place, and may come again
    REPLACED = "replaced"  # somebody with its token, which may be itself, plays on over another connection
    TOURNAMENT_OVER = "tournament over"
    TAKEN_OUT = "taken out"  # the organiser has withdrawn or disqualified it: there is nothing to wait for
    CUT = "cut"  # we hang up: a budget is spent, or nothing is left to say
    STOPPING = "stopping"  # the host is about to stop
    LOST = "lost"  # the connection is lost


_S, _H = State, Happening
_ENDS = {_H.CUT: _S.OVER, _H.STOPPING: _S.OVER, _H.LOST: _S.OVER}

# For those who ask for each message: up to Python 3.11, finding a member of an enum takes ten times as long.
OVER, ARRIVING = State.OVER, State.ARRIVING

TABLE: Mapping[State, Mapping[Happening, State]] = {
    _S.SILENT: {_H.CAME: _S.ARRIVING, **_ENDS},
    _S.ARRIVING: {_H.ADMITTED: _S.IN, _H.REFUSED: _S.SILENT, **_ENDS},
    _S.IN: {
        _H.DEALT: _S.PLAYING,
        _H.HUNG_UP: _S.AWAY,
        _H.LEFT: _S.SILENT,
        _H.REPLACED: _S.OVER,
        _H.TOURNAMENT_OVER: _S.IN,
        _H.TAKEN_OUT: _S.IN,
        **_ENDS,
    },
    _S.PLAYING: {
        _H.HUNG_UP: _S.AWAY,
        _H.ENDED: _S.IN,
        _H.LEFT: _S.SILENT,
        _H.REPLACED: _S.OVER,
        _H.TOURNAMENT_OVER: _S.PLAYING,
        **_ENDS,
    },
    _S.AWAY: {
        _H.DEALT: _S.AWAY,  # the match was on its way
        _H.CAME_BACK: _S.PLAYING,
        _H.ENDED: _S.IN,
        _H.LEFT: _S.SILENT,
        _H.REPLACED: _S.OVER,
        _H.TOURNAMENT_OVER: _S.AWAY,
        _H.TAKEN_OUT: _S.AWAY,
        **_ENDS,
    },
    _S.OVER: _ENDS,  # hanging up again changes nothing
}


class Impossible(Exception):
    """Something happened that may not happen in this state: a fault of ours."""
