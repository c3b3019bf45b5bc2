"""`quintain match`: two programs, or house brains, against each other here, and what the score means."""

from typing import Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from games.game import Game
from server.commands.flags import Flag, Seconds
from server.commands.games import GameName, game_named
from server.exits import DONE
from server.net.escaping import json_line
from server.programs.contestant import Contestant, Hired, contestant
from server.programs.local_match import Two, local_match
from server.programs.terminal import progress, say
from tournament.events import Ended, Ending
from tournament.format import Pairing, Result, moves_digest
from tournament.match import Match
from tournament.ratings import bradley_terry

SHOWN = 3  # of the ways in which a program ended: they tend to be the same


def match(
    first: str,
    second: str,
    *,
    game: GameName,
    games: Annotated[int, Parameter(validator=Number(gte=1))] = 10,
    think: Seconds = 0.1,
    seed: int = 0,
    json: Flag = False,
) -> int:
    """Have two programs play each other here, without a host.

    They change sides after each game. Clocks are those of the game; whoever
    ends or is too slow has lost that game and is started again for the next.
    What is told at the end is how far they are apart in Elo, with an interval
    that holds the truth 95 times in 100. Games that repeat an earlier one move
    by move are counted once in it.

    Example: is the new version better, and by how much?

        quintain match ./new ./old --game connect-4 --games 100

    Parameters
    ----------
    first
        A program and its arguments, or brain:random, brain:first, brain:greedy, brain:alphabeta.
    second
        The other one.
    games
        How many.
    think
        Seconds that a house brain may take for a move.
    seed
        Of house brains: another one gives other games.
    json
        The result as a JSON object, with every game.
    """
    rules = game_named(game)
    names = (first, second) if first != second else (first, f"{second} (2)")
    contestants: list[Contestant] = []
    try:
        contestants += (
            contestant(each, rules, think, seed + place) for place, each in enumerate((first, second))
        )
        matches = _played(rules, names, (contestants[0], contestants[1]), games)
    finally:
        for each in contestants:
            each.end()
    told = summary(rules, names, matches)
    told["crashes"] = {
        name: each.endings for name, each in zip(names, contestants, strict=True) if isinstance(each, Hired)
    }
    say(json_line(told | {"matches": [_shown(each) for each in matches]}) if json else _words(told, names))
    return DONE


def _played(
    game: Game[Any, Any], names: Two, contestants: tuple[Contestant, Contestant], games: int
) -> list[Match]:
    matches: list[Match] = []
    with progress(f"{names[0]} – {names[1]}", games) as step:
        for number in range(games):
            turned = -1 if number % 2 else 1
            first, second = names[::turned]
            one, other = contestants[::turned]
            matches.append(local_match(game, f"match-{number + 1}", (first, second), (one, other)))
            step()
    return matches


def summary(game: Game[Any, Any], names: Two, matches: list[Match]) -> dict[str, Any]:
    """The score of the first named, the difference in Elo with its interval, and how the games ended."""
    results = [_result(number, each) for number, each in enumerate(matches, 1)]
    scores = [result.score[result.pairing.first != names[0]] for result in results]
    ratings = {rating.name: rating for rating in bradley_terry(results).ratings}
    found = ratings.get(names[0])
    endings = [ended.ending for ended in map(_ended, matches)]
    return {
        "game": game.name,
        "players": names,
        "games": len(matches),
        "wins": scores.count(1.0),
        "draws": scores.count(0.5),
        "losses": scores.count(0.0),
        "score": sum(scores) / len(scores),
        # Of two, one is as far above the mean as the other is below it.
        "elo": None if found is None else round(2 * found.rating, 1),
        "interval": None if found is None else [round(2 * bound, 1) for bound in found.interval],
        "duplicates": 0 if found is None else found.duplicates,
        "endings": {ending: endings.count(ending) for ending in Ending if ending in endings},
        "lost": {
            name: {
                ending: count
                for ending in (Ending.ILLEGAL, Ending.TIME, Ending.LEFT)
                if (count := sum(_lost_by(each, name, ending) for each in matches))
            }
            for name in names
        },
    }


def _words(told: dict[str, Any], names: Two) -> str:
    first, second = names
    lines = [
        f"{first} against {second}, {told['games']} games of {told['game']}:",
        f"  {told['wins']} won, {told['draws']} drawn, {told['losses']} lost: {told['score']:.1%}",
    ]
    if told["elo"] is not None:
        low, high = told["interval"]
        verdict = f"{first} is stronger" if low > 0 else f"{second} is stronger" if high < 0 else "undecided"
        lines.append(f"  {told['elo']:+.0f} Elo, 95 % between {low:+.0f} and {high:+.0f}: {verdict}")
    if told["duplicates"]:
        lines.append(
            f"  {told['duplicates']} of these games repeat an earlier one move by move, and add no certainty"
        )
    for name, ways in told["lost"].items():
        lines += (f"  {name} lost {count} by {_WAYS[ending]}" for ending, count in ways.items())
    for endings in told["crashes"].values():
        lines += (f"  {ending}" for ending in list(dict.fromkeys(endings))[:SHOWN])
    return "\n".join(lines)


_WAYS = {Ending.ILLEGAL: "illegal moves", Ending.TIME: "the clock", Ending.LEFT: "ending in the middle"}


def _ended(match: Match) -> Ended:
    ended = match.result
    if ended is None:
        raise RuntimeError(f"{match.name} was left in the middle")
    return ended


def _result(number: int, match: Match) -> Result:
    winner = _ended(match).winner
    score = (0.5, 0.5) if winner is None else (1.0 - winner, float(winner))
    pairing = Pairing(number, number, *match.names)
    return Result(pairing, score, played=bool(match.moves), digest=moves_digest(match.moves))


def _lost_by(match: Match, name: str, ending: Ending) -> bool:
    ended = _ended(match)
    return ended.ending is ending and ended.winner is not None and match.names[1 - ended.winner] == name


def _shown(match: Match) -> dict[str, Any]:
    ended = _ended(match)
    _, times = match.moves_and_times()
    return {
        "match": match.name,
        "players": match.names,
        "winner": ended.winner,
        "ending": ended.ending,
        "why": ended.why,
        "moves": match.moves,
        "times": [round(spent, 4) for spent in times],
    }
