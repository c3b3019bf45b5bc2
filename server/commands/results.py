"""`quintain standings` and `quintain replay`: results, from a running host."""

from typing import Any

from games.catalogue import catalogue
from games.estimate import estimate
from games.estimate import in_words as went_wrong
from games.game import BadOption, Game, Illegal
from games.perfect import grades
from games.perfect import in_words as threw_away
from server.commands.flags import Flag
from server.commands.hosts import HostOptions
from server.exits import DONE, Failure, Misuse
from server.export.words import FAULTS, LAST, before_move, in_words, whose
from server.net.escaping import json_line, safe
from server.programs.answers import Match
from server.programs.report import rendered
from server.programs.table import table
from server.programs.terminal import say


def standings(
    name: str, *, host: HostOptions | None = None, json: Flag = False, csv: Flag = False, trf: Flag = False
) -> int:
    """Print the standings of a tournament.

    Example: for a spreadsheet:

        quintain standings friday --csv > friday.csv

    Parameters
    ----------
    name
        The tournament; that of an open table is open-GAME.
    json
        One JSON object instead of a table.
    csv
        Comma-separated values instead of a table.
    trf
        FIDE's report file (TRF16) instead of a table, for chess tournament programs.
    """
    chosen = [flag for flag, asked in (("--json", json), ("--csv", csv), ("--trf", trf)) if asked]
    if len(chosen) > 1:
        raise Misuse(f"{' and '.join(chosen)} do not go together: use only one of them")
    remote = (host or HostOptions()).remote()
    if csv or trf:
        kind = "csv" if csv else "trf"
        found = remote.text("tournaments", name, "standings", query=f"?format={kind}")
        say(found.replace("\r\n", "\n").rstrip("\n"))
    else:
        say(rendered(remote.whole("rows", "tournaments", name, "standings"), as_json=json))
    return DONE


def replay(match: str, *, host: HostOptions | None = None, json: Flag = False, text: Flag = False) -> int:
    """Print a match, move by move.

    Example: the first match of a tournament:

        quintain replay friday-1

    Parameters
    ----------
    match
        The match: the tournament's name, and a number. friday-7.2 is friday-7 played again.
    json
        The match as one JSON object, with every position.
    text
        The match as text that `quintain import-match` reads back, once it is over.
    """
    if json and text:
        raise Misuse("--json and --text do not go together: use only one of them")
    remote = (host or HostOptions()).remote()
    if text:
        say(remote.text("matches", match, query="?format=text").rstrip("\n"))
        return DONE
    found = remote.get("matches", match, like=Match)
    if found["game"] not in catalogue():
        raise Failure(f"{match} is a match of {found['game']}, which is not installed here")
    if json:
        game, names = catalogue()[found["game"]], (found["players"][0], found["players"][1])
        say(json_line(found | {"positions": [game.show(each, names) for each in _positions(game, found)]}))
    else:
        say(listed(found))
    return DONE


def listed(match: dict[str, Any]) -> str:
    """A match as the API has it, as a table of its moves, and how it ended.

    What is said in it may come from strangers: none of it looks like another line of this.
    """
    game = catalogue()[match["game"]]
    said = match | {name: _line(match[name]) for name in ("match", "why") if match.get(name)}
    said["players"] = [_line(name) for name in match["players"]]
    return _listed(game, said, _positions(game, said))


def _line(text: str) -> str:
    return safe(text, cut=len(text))


def _positions(game: Game[Any, Any], match: dict[str, Any]) -> list[Any]:
    try:
        positions = [game.opening(match["options"])]
        for move in match["moves"]:
            positions.append(positions[-1].play(game.read(move, positions[-1])))
    except (BadOption, Illegal) as why:
        other = f"{game.name}, of which the host may have another version"
        raise Failure(f"{match['match']} does not follow the rules of {other}: {why}") from None
    return positions


def _listed(game: Game[Any, Any], match: dict[str, Any], positions: list[Any]) -> str:
    players: list[str] = match["players"]
    seats = " against ".join(f"{name} ({seat})" for name, seat in zip(players, game.seats, strict=True))
    causes: list[dict[str, Any]] = match.get("cause", [])
    rows: list[tuple[object, ...]] = []
    for ply, (before, move, spent) in enumerate(
        zip(positions[:-1], match["moves"], match["times"], strict=True), 1
    ):
        row: list[object] = [
            ply,
            players[before.turn],
            game.spelled(game.read(move, before), before),
            f"{spent:.2f}",
        ]
        if causes:
            row.append("\n".join(_line(in_words(cause, players)) for cause in before_move(causes, ply)))
        rows.append(tuple(row))
    headings = ("ply", "player ", "move ", "seconds", "before it ")
    played = table(headings if causes else headings[:-1], rows, f"{match['match']}: {seats}")
    after = [cause for cause in causes if cause["kind"] in LAST or cause.get("ply") == len(rows)]
    told = "".join(f"{cause['at']}  {_line(in_words(cause, players))}\n" for cause in after)
    parts = (played, told.rstrip(), _ending(match), _graded(game, match))
    return "\n\n".join(part for part in parts if part)


def _graded(game: Game[Any, Any], match: dict[str, Any]) -> str:
    """How well a match was played, where that is known: no host need be asked, as the rules are here."""
    if match["ending"] is None or not match["moves"]:
        return ""
    if (found := grades(game, match["options"], match["moves"])) is None:
        return _estimated(game, match)
    players: list[str] = match["players"]
    lines = [f"{threw_away(each, players[each.seat])}." for each in found.mistakes]
    shares = [
        f"{name} had nothing to lose" if share is None else f"{name} kept {share:.0%}"
        for name, share in zip(players, found.accuracy, strict=True)
    ]
    lines.append(f"Against perfect play: {'; '.join(shares)}.")
    if found.ungraded:
        lines.append(
            f"Not graded, because it would take too long: {found.ungraded} of {len(match['moves'])} moves."
        )
    return "\n".join(lines)


def _estimated(game: Game[Any, Any], match: dict[str, Any]) -> str:
    """How well a match may have been played, in a game that nobody plays perfectly."""
    found = estimate(game, match["options"], match["moves"])
    if found is None:
        return ""
    players: list[str] = match["players"]
    lines = [f"{went_wrong(each, players[each.seat])}." for each in found.slips]
    shares = [
        f"{name} had nothing to lose" if share is None else f"{name} {share:.0%}"
        for name, share in zip(players, found.accuracy, strict=True)
    ]
    best = f"moves about as good as the best that a house brain sees {found.depth} plies ahead"
    lines.append(f"An estimate, {best}: {'; '.join(shares)}.")
    return "\n".join(lines)


def _ending(match: dict[str, Any]) -> str:
    if match["ending"] is None:
        return "It is still being played."
    fault = match.get("fault")
    said = f" It was {whose(fault, match.get('cause', ()))}." if fault in FAULTS else ""
    when = f" Ended {match['ended']}." if match.get("ended") else ""
    if match["ending"] == "void":
        return f"It counts for nothing: {match['why']}.{said}{when}"
    winner = match["winner"]
    nobody = "A draw" if match["ending"] == "played" else "Both have lost"
    result = nobody if winner is None else f"{match['players'][winner]} has won"
    return f"{result}: {match['why']} ({match['ending']}).{said}{when}"
