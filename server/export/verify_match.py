"""Whether one match follows from its moves: the rules, the clocks, the ending, what it is worth.

The referee plays it again. Endings that the moves do not decide (who resigned,
left or ran out of time) have to be possible at the point where the moves stopped.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from games.catalogue import catalogue
from games.game import BadOption, Game, Illegal, Pace, quoted
from server.export.json_views import BY_THE_ORGANISER
from tournament.causes import Refused
from tournament.clock import Clock
from tournament.events import Ended, Ending, Fault, absences
from tournament.facts import Concluded, Opened
from tournament.format import formats
from tournament.kinds import with_the_house
from tournament.match import Match, OutOfTurn
from tournament.settling import score

SLACK = 1e-6  # seconds: the error of adding up floats
ENDLESS = Pace()
SAID: Mapping[Ending, str] = {
    Ending.TIME: " ran out of time",
    Ending.ILLEGAL: ": ",
    Ending.RESIGNED: " resigned",
}


def options_objection(opened: Opened, options: Mapping[str, Any]) -> str | None:
    try:
        catalogue()[opened.game].opening(options)
    except BadOption as error:
        return str(error)
    return None


def replayed(opened: Opened, fact: Concluded) -> tuple[Match | None, list[str]]:
    """The match after its moves, or None if they cannot all be played; and what is wrong with them."""
    game = catalogue()[opened.game]
    options = opened.options if fact.options is None else fact.options
    if unwanted := options_objection(opened, options):
        return None, [unwanted]
    match = Match(game, fact.players, 0.0, pace=ENDLESS, options=options)
    turns: list[int] = []
    for ply, move in enumerate(fact.moves, 1):
        turns.append(match.position.turn)
        if why := _refusal(game, match, move):
            return None, [f"move {ply}, {quoted(move)}, cannot be played: {why}"]
    return match, list(_clock_objections(opened.pace or game.pace, turns, fact))


def ending_objections(opened: Opened, match: Match, fact: Concluded, in_order: bool) -> Iterator[str]:
    """Objections to an ending; a file without facts shows a voided match as void, whatever was played."""
    if fact.winner not in (0, 1, None):
        yield f"the winner is 0, 1 or null, not {fact.winner}"
        return
    if fact.fault is Fault.HOST and fact.ending is not Ending.VOID:
        yield f"a fault of the host makes a match void, and this was {fact.ending}"
    voided = not in_order and fact.ending is Ending.VOID and fact.why.startswith(BY_THE_ORGANISER)
    if not voided:
        yield from _ending_objections(match, fact)
    elif fact.winner is not None:
        yield f"what is void has no winner, and this has {fact.winner}"
    worth = None if with_the_house(fact.kinds) else score(Ended(0.0, fact.winner, fact.ending, fact.why))
    unfinished = formats()[opened.format].endless and not match.both_have_moved  # it may count for nothing
    if fact.score != worth and not (unfinished and fact.score is None):
        yield f"its score is {fact.score}, and {fact.ending} with the winner {fact.winner} is worth {worth}"


def _refusal(game: Game[Any, Any], match: Match, move: Any) -> str | None:
    """Play a move; returns why it cannot have been the next, or None."""
    try:
        read = game.read(move, match.position)
        match.play(match.position.turn, move, 0.0)
    except OutOfTurn:
        return "the match was over before it"
    except Illegal as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    if game.write(read) != move:
        return f"that is not how {game.title} writes it"
    return None


def _ending_objections(match: Match, fact: Concluded) -> Iterator[str]:
    ended, names = match.verdict, fact.players
    if ended is not None:
        expected = (ended.winner, ended.ending, ended.why)
        if (fact.winner, fact.ending, fact.why) != expected:
            yield (
                f"by its moves it was {ended.ending}, the winner {ended.winner}: {ended.why}; "
                f"it says {fact.ending}, the winner {fact.winner}: {quoted(fact.why)}"
            )
        return
    turn: int = match.position.turn
    mover = names[turn]
    loser = "" if fact.winner is None else names[1 - fact.winner]
    match fact.ending:
        case Ending.PLAYED:
            yield f"it was not played to an end: {mover} is to move after its last move"
        case Ending.VOID:
            if fact.winner is not None:
                yield f"what is void has no winner, not {fact.winner}"
            early = any(fact.why in absences(name) for name in names)
            if early and match.both_have_moved and fact.fault is not None:  # otherwise an organiser says so
                yield f"both had moved: {quoted(fact.why)} does not make it void"
        case Ending.TIME | Ending.ILLEGAL:
            if fact.winner != 1 - turn and not _forfeited(match, fact, loser):
                yield f"{mover} was to move: if anybody lost by {fact.ending}, it was {mover}"
            elif loser and not fact.why.startswith(loser + SAID.get(fact.ending, " ")):
                yield f"{quoted(fact.why)} does not say that {loser} lost"
        case Ending.RESIGNED | Ending.LEFT:
            if fact.winner is None and fact.ending is Ending.RESIGNED:
                yield "only one of the two can have resigned"
            elif loser and not fact.why.startswith(loser + SAID.get(fact.ending, " ")):
                yield f"{quoted(fact.why)} does not say that {loser} lost"


def _forfeited(match: Match, fact: Concluded, loser: str) -> bool:
    """Whether the loser sent what loses in turn or not, such as a flip in the Arena, after all moves."""
    if match.game.faults != "forfeit" or fact.ending is not Ending.ILLEGAL or fact.winner is None:
        return False
    sent = (cause for cause in fact.cause if isinstance(cause, Refused) and cause.ply == match.ply)
    return any(cause.seat == 1 - fact.winner and fact.why == f"{loser}: {cause.why}" for cause in sent)


def _clock_objections(pace: Pace, turns: list[int], fact: Concluded) -> Iterator[str]:
    if len(fact.times) != len(turns):
        yield f"there are {len(fact.times)} times of {len(turns)} moves"
    clock, now = Clock(pace), 0.0
    for ply, (seat, spent) in enumerate(zip(turns, fact.times, strict=False), 1):
        clock.start(seat, now)
        if spent < 0:
            yield f"move {ply} cannot have taken {spent} seconds"
        elif now + spent > clock.deadline + SLACK:
            had = clock.deadline - now
            yield f"move {ply} took {spent:.6f} seconds, and {fact.players[seat]} had {had:.6f}"
        now += max(0.0, spent)
        clock.stop(now)
    if fact.ending is Ending.TIME and pace.bank is None and pace.turn is None:
        yield "no clock was running that could have run out"
