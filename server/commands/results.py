"""`quintain standings` and `quintain replay`: results, from a host that runs."""

from typing import Any

from games.catalogue import catalogue
from games.game import Game
from server.commands.flags import Flag
from server.commands.hosts import Host
from server.exits import DONE, Failure, Misuse
from server.net.escaping import json_line
from server.programs.report import rendered
from server.programs.terminal import say, table


def standings(name: str, *, host: Host | None = None, json: Flag = False, csv: Flag = False) -> int:
    """Print the standings of a tournament.

    Example: what a spreadsheet takes:

        quintain standings friday --csv > friday.csv

    Parameters
    ----------
    name
        The tournament; that of an open table is open-GAME.
    json
        One JSON object instead of a table.
    csv
        Comma-separated values instead of a table.
    """
    if json and csv:
        raise Misuse("--json and --csv do not go together: take one of them")
    remote = (host or Host()).remote()
    if csv:
        say(remote.text("tournaments", name, "standings", query="?format=csv").replace("\r\n", "\n").rstrip())
    else:
        say(rendered(remote.whole("rows", "tournaments", name, "standings"), as_json=json))
    return DONE


def replay(match: str, *, host: Host | None = None, json: Flag = False) -> int:
    """Print a match, move by move.

    Example: the first match of a tournament:

        quintain replay friday-1

    Parameters
    ----------
    match
        The match: the tournament's name, and a number.
    json
        The match as one JSON object, with every position.
    """
    found = (host or Host()).remote().get("matches", match)
    if found["game"] not in catalogue():
        raise Failure(f"{match} is a match of {found['game']}, which is not installed here")
    game = catalogue()[found["game"]]
    positions = _positions(game, found)
    if json:
        names = (found["players"][0], found["players"][1])
        say(json_line(found | {"positions": [game.show(each, names) for each in positions]}))
    else:
        say(_listed(game, found, positions))
    return DONE


def _positions(game: Game[Any, Any], match: dict[str, Any]) -> list[Any]:
    positions = [game.opening(match["options"])]
    for move in match["moves"]:
        positions.append(positions[-1].play(game.read(move, positions[-1])))
    return positions


def _listed(game: Game[Any, Any], match: dict[str, Any], positions: list[Any]) -> str:
    players: list[str] = match["players"]
    seats = " against ".join(f"{name} ({seat})" for name, seat in zip(players, game.seats, strict=True))
    rows: list[tuple[object, ...]] = [
        (ply, players[before.turn], game.short(game.read(move, before)), f"{spent:.2f}")
        for ply, (before, move, spent) in enumerate(
            zip(positions[:-1], match["moves"], match["times"], strict=True), 1
        )
    ]
    played = table(("ply", "player ", "move ", "seconds"), rows, f"{match['match']}: {seats}")
    return f"{played}\n\n{_ending(match)}"


def _ending(match: dict[str, Any]) -> str:
    if match["ending"] is None:
        return "It is still being played."
    if match["ending"] == "void":
        return f"It counts for nothing: {match['why']}."
    winner = match["winner"]
    result = "A draw" if winner is None else f"{match['players'][winner]} has won"
    return f"{result}: {match['why']} ({match['ending']})."
