"""The verdict of a tally of matches: as JSON for programs, and in words for people."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from server.programs.tally import Played, Tally, first_seat
from tournament.events import Ending
from tournament.pentanomial import MOST, Strength, strength
from tournament.sprt import Sprt

TINY = 1e-9  # as a probability: no number of matches makes it certain who is stronger
SHOWN = 3  # reasons for each: they tend to be the same
OUT_OF_TIME = " ran out of time"  # which says no more than that it was the clock
WAYS = {Ending.ILLEGAL: "illegal moves", Ending.TIME: "the clock", Ending.LEFT: "ending in the middle"}


def as_json(game: str, tally: Tally, sprt: Sprt | None) -> dict[str, Any]:
    """The verdict as JSON. Wins are the first program's. Figures of certainty are over distinct pairs."""
    found = strength(tally.distinct)
    return {
        "game": game,
        "games": len(tally.matches),
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "pairs": tally.pairs,
        "elo": _figure(found.elo),
        "interval": [_figure(bound) for bound in found.interval],
        "los": round(found.los, 6),
        "nelo": _figure(found.nelo),
        "sprt": None if sprt is None else _sprt(sprt, tally),
        "repeats": tally.repeats,
        "results": [_result(played) for played in tally.in_order()],
    }


def in_words(game: str, names: tuple[str, str], tally: Tally, sprt: Sprt | None) -> str:
    return "\n".join(_lines(game, names, tally, sprt))


def _lines(game: str, names: tuple[str, str], tally: Tally, sprt: Sprt | None) -> Iterator[str]:
    games, found = len(tally.matches), strength(tally.distinct)
    first, second = names
    if not games:
        yield f"{first} against {second}: no game of {game} is over"
        return
    yield f"{first} against {second}, {games:,} game{'' if games == 1 else 's'} of {game}:"
    score = (tally.wins + tally.draws / 2) / games
    yield f"  {tally.wins:,} won, {tally.draws:,} drawn, {tally.losses:,} lost: {_percent(score, 1)}"
    if any(tally.pairs):
        kinds = zip(("0", "½", "1", "1½", "2"), tally.pairs, strict=True)
        yield "  pairs by points: " + ", ".join(f"{count:,} with {points}" for points, count in kinds)
        ended = sprt is not None and sprt.state(sprt.ratio(tally.distinct)) != "open"
        los = "" if ended else f"LOS {_percent(min(max(found.los, TINY), 1 - TINY), 2)}, "
        yield f"  {_elo(found.elo)} Elo, {_certain(found, names, ended=ended)}"
        yield f"  {los}normalised Elo {_elo(found.nelo)}"
    if sprt is not None:
        yield f"  {_sprt_in_words(sprt, tally)}"
    if tally.repeats:
        yield (
            f"  {tally.repeats:,} of {sum(tally.pairs):,} pairs repeat an earlier one move by move and add "
            "no certainty; --plies or --openings would make them differ"
        )
    for seat, name in enumerate(names):
        yield from _losses(name, [each for each in tally.in_order() if _lost(each, seat)])


def _losses(name: str, lost: list[Played]) -> Iterator[str]:
    """How often a program lost in other ways than by the rules, and how it ended then."""
    for ending, way in WAYS.items():
        if whys := [each.why for each in lost if each.ending is ending]:
            yield f"  {name} lost {len(whys):,} by {way}"
            told = (why for why in dict.fromkeys(whys) if not why.endswith(OUT_OF_TIME))
            yield from (f"    {why}" for why in islice(told, SHOWN))


def _lost(played: Played, program: int) -> bool:
    seat = first_seat(played.match) ^ program
    return played.winner == 1 - seat


def _sprt(sprt: Sprt, tally: Tally) -> dict[str, Any]:
    ratio = sprt.ratio(tally.distinct)
    return {
        "elo0": sprt.elo0,
        "elo1": sprt.elo1,
        "llr": round(ratio, 6),
        "lower": round(sprt.lower, 6),
        "upper": round(sprt.upper, 6),
        "state": sprt.state(ratio),
    }


def _sprt_in_words(sprt: Sprt, tally: Tally) -> str:
    ratio = sprt.ratio(tally.distinct)
    found = {
        "H0": f"H0: at most {sprt.elo0:g}",
        "H1": f"H1: at least {sprt.elo1:g}",
        "open": "not decided yet",
    }
    return (
        f"SPRT, {sprt.model}, {sprt.elo0:g} against {sprt.elo1:g} Elo: log-likelihood ratio {ratio:.2f}, "
        f"bounds {sprt.lower:.2f} and {sprt.upper:.2f}; {found[sprt.state(ratio)]}"
    )


def _result(played: Played) -> dict[str, Any]:
    return {
        "match": played.match,
        "players": played.players,
        "winner": played.winner,
        "ending": played.ending,
        "moves": played.moves,
    }


def _certain(found: Strength, names: tuple[str, str], *, ended: bool) -> str:
    """How sure it is who is stronger; where a test has `ended` the series, results look too sure."""
    if ended:
        return f"{_between(found)}: less than 95 % sure, because the test chose when to stop"
    return f"95 % {_between(found)}: {_verdict(found, names)}"


def _verdict(found: Strength, names: tuple[str, str]) -> str:
    low, high = found.interval
    return f"{names[0]} is stronger" if low > 0 else f"{names[1]} is stronger" if high < 0 else "undecided"


def _between(found: Strength) -> str:
    low, high = found.interval
    if (low, high) == (-MOST, MOST):
        return "anything"
    return f"between {_elo(low)} and {_elo(high)}"


def _percent(share: float, digits: int) -> str:
    """A share, which is all or nothing only if it really is."""
    shown = f"{share:.{digits}%}"
    if 0 < share < 1 and shown in (f"{0:.{digits}%}", f"{1:.{digits}%}"):
        least = 10.0 ** -(digits + 2)
        return f"> {1 - least:.{digits}%}" if share > 0.5 else f"< {least:.{digits}%}"
    return shown


def _elo(elo: float) -> str:
    """An Elo figure, rounded, and without a sign if that makes it zero."""
    beyond = " or more" if elo >= MOST else " or less" if elo <= -MOST else ""
    return f"{round(elo) or 0:+d}{beyond}"


def _figure(value: float) -> float:
    return round(value, 3) + 0.0  # which makes -0.0 zero
