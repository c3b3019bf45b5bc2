"""What Hexagon Dots says over HTTP: the bodies of its requests, a Game and a Delta.

A Game is the whole state; a Delta is what has been added since its reader was
last told. Only this file ties the dialect to the points and lines of its game,
which `dialect.py` names.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from games.hexagondots import HexagonDots, hexagons_shown, lines_shown, players_shown
from tournament.events import Ended, Ending
from tournament.match import Match

FOUND = {"rows": 5, "cols": 5, "end": "hexagons"}  # `GET /match`, which bots of 2011 use: as it was then

Standing = tuple[HexagonDots, tuple[str, str], Ended | None]  # a position, the players' names, the end


class GameWanted(Struct, frozen=True, omit_defaults=True):
    """A request for a game with these options."""

    rows: int
    cols: int
    end: Any = "lines"  # anything: the game checks it


class Joiner(Struct, frozen=True):
    name: str


def offer(path: str, options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What those who look for a game to join are told of one."""
    return {"game": path, "rows": options["rows"], "cols": options["cols"], "players": [*names]}


def outline(
    path: str, options: Mapping[str, Any], names: Iterable[str], match: Match | None
) -> dict[str, Any]:
    """The Game without what was drawn in it, and an `id`: the path as the viewer of 2011 wants it."""
    if match is None:
        rows, cols = options["rows"], options["cols"]
        players, state = _newcomers(names), "initiating"
    else:
        position, both, ended = standing(match)
        rows, cols = position.board.rows, position.board.cols
        players, state = _players(position, both, ended), _state(ended)
    return {"id": path[1:], "rows": rows, "cols": cols, "players": players, "state": state}


def initiating(options: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The Game before it begins."""
    return {
        "rows": options["rows"],
        "cols": options["cols"],
        "lines": [],
        "hexagons": [],
        "players": _newcomers(names),
        "state": "initiating",
    }


def standing(match: Match) -> Standing:
    """The standing from which a match's Game is made."""
    return match.position, match.names, match.result


def whole(position: HexagonDots, names: tuple[str, str], ended: Ended | None) -> dict[str, Any]:
    """The Game."""
    board, players = position.board, _players(position, names, ended)
    opening = HexagonDots(board)
    return {
        "rows": board.rows,
        "cols": board.cols,
        "lines": lines_shown(opening, position, players),
        "hexagons": hexagons_shown(opening, position, players),
        "players": players,
        "state": _state(ended),
    }


def delta(match: Match, since: int) -> dict[str, Any]:
    """What has been added to the Game after this many plies, in order."""
    ended, positions = match.result, match.positions[since:]
    players = _players(positions[-1], match.names, ended)
    return {
        "lines": [
            {"endpoints": move, "owner": players[before.turn]}
            for move, before in zip(match.moves[since:], positions, strict=False)
        ],
        "hexagons": hexagons_shown(positions[0], positions[-1], players),
        "players": players,
        "state": _state(ended),
    }


def _newcomers(names: Iterable[str]) -> list[object]:
    return [{"name": name, "score": 0} for name in names]


def _players(position: HexagonDots, names: tuple[str, str], ended: Ended | None) -> list[object]:
    """The players with their scores; one that lost in another way than by these is disqualified."""
    players = players_shown(position, names)
    if ended is None or ended.ending in (Ending.PLAYED, Ending.VOID):
        return players
    return [
        player if seat == ended.winner else {"name": name, "score": "disqualified"}
        for seat, (player, name) in enumerate(zip(players, names, strict=True))
    ]


def _state(ended: Ended | None) -> str:
    return "in play" if ended is None else "completed"
