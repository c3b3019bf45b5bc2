"""What a language model is told, in words: the text beside each message of the house protocol.

Pure functions. A model reads the text; a program that runs it reads the message.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from games.catalogue import catalogue
from games.game import Game
from server.export.words import table_in_words
from tournament.facts import State
from tournament.match import Match
from tournament.player import Seat

Shown = Mapping[str, Any]

INSTRUCTIONS = """\
This host runs matches of board games between bots, and you can be one of them.

1. `join` with a name and a game. `games` lists the games, `tournaments` what is on. \
The answer has the rules and your token: pass it to every other tool.
2. Call `wait`, again and again, until it is your move. You are dealt matches only while you wait. It may \
take a while until an opponent is there.
3. When it is your move you are shown the position. If you are not sure what is allowed, `legal_moves` lists \
every legal move. Send one with `move`, written as in that list. Your clock runs all the while, and you lose \
when it runs out; in some games an illegal move loses the match at once.
4. Go on with `wait`. When a match has ended you are told so, and the next one begins by itself. When your \
tournament is over you are told the standings.
5. `leave` when you want no more. Leaving in the middle of a match loses it.
"""


OPEN_TABLES = "There is also an open table for every game: join without a tournament."


def tournament(shown: Shown) -> str:
    """A tournament in one line."""
    count = shown["entrants"]
    of = "" if shown["wanted"] is None else f" of {shown['wanted']}"
    said = [
        shown["game"],
        shown["format"],
        shown["state"],
        f"{count}{of} {'entrant' if count == 1 and not of else 'entrants'}",
    ]
    if shown["by_invitation"]:
        said.append("by invitation")
    if shown["start_at"] is not None and shown["state"] == State.REGISTERING:
        said.append(f"begins at {shown['start_at']}")
    return f"{shown['tournament']}: {', '.join(said)}"


def welcomed(welcome: Shown) -> str:
    game = catalogue()[welcome["game"]]
    where = welcome["tournament"]
    return (
        f"You are in as {welcome['name']}, for {game.title}, "
        f"{'at the open table' if where is None else f'in the tournament {where}'}.\n"
        f"Your token: {welcome['token']}\n"
        "Pass it to every other tool, and to join if you want to come back under this name.\n\n"
        f"{described(game)}\n\n"
        "Now call wait."
    )


def described(game: Game[Any, Any]) -> str:
    """The rules of a game, and what its seats and an illegal move mean."""
    cost = "loses the match" if game.faults == "forfeit" else "is refused, and you may try again"
    begins, follows = game.seats
    return (
        f"{game.title} ({game.name})\n{game.rules.strip()}\n"
        f"The seats are called {begins} and {follows}; {begins} begins. An illegal move {cost}."
    )


def asked(seat: Seat, turn: Shown) -> str:
    """How a match stands, for the model at that seat."""
    match, mine = seat.match, seat.index
    other = match.names[1 - mine]
    # Not by its name: the house's player `first` may sit second.
    mover = "It is your move." if seat.to_move else "It is your opponent's move: call wait."
    lines = [
        f"{mover} You are {seat.name} ({match.names[mine]}) against {other}, "
        f"in match {match.name} of {match.game.title}.",
        f"{_counted(turn['ply'])} been played. {_last(match)}".strip(),
        f"The position: {_json(turn['state'])}",
        _time(turn["clock"][mine]),
    ]
    if seat.to_move:
        lines.append("Answer with move; legal_moves lists what is allowed.")
    return "\n".join(filter(None, lines))


def legal(seat: Seat, moves: list[str]) -> str:
    whose = "Your legal moves" if seat.to_move else "It is not your move. The legal moves of your opponent"
    return f"{whose}, in match {seat.match.name} after ply {seat.match.ply}:\n" + "\n".join(moves)


def ended(end: Shown, seat: str | None) -> str:
    """How a match ended, for the model that had that seat."""
    winner = end["winner"]
    if winner is None:
        how = "Nobody has won"
    elif winner == "draw":
        how = "It is a draw"
    else:
        how = "You have won" if winner == seat else "You have lost"
    return (
        f"Match {end['match']} is over. {how}: {end['why']}.\n"
        "Call wait for what comes next, or leave if you want no more."
    )


def ranked(standings: Shown) -> str:
    state = table_in_words(final=standings["final"], frozen=standings.get("frozen", False))
    lines = [f"{row['rank']}. {row['name']}, points: {row['points']:.10g}" for row in standings["rows"]]
    return "\n".join([f"Tournament {standings['tournament']}, {state}:", *lines])


def finished(tournament: str) -> str:
    return f"{tournament} is over, and you get no more matches there. Call join to play elsewhere, or leave."


def refused(message: Shown, *, again: bool = False) -> str:
    return f"Refused: {message['reason']}." + (" It is still your move." if again else "")


def _counted(plies: int) -> str:
    return "1 move has" if plies == 1 else f"{plies or 'No'} moves have"


def _last(match: Match) -> str:
    if not match.moves:
        return ""
    before = match.positions[-2]
    return f"The last one is {match.game.short(match.game.read(match.moves[-1], before))}."


def _time(left: float | None) -> str:
    return "" if left is None else f"You have {left:.1f} s left on your clock."


def _json(state: object) -> str:
    return msgspec.json.encode(state).decode()
