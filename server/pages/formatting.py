"""How pages write figures, endings and addresses: small functions that the templates call."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from msgspec.json import encode

from server.export.json_views import moment as iso
from tournament.events import Ending
from tournament.skill import in_elo
from tournament.verdicts import shut_out, stayed_away

MINUTE, HOUR, DAY = 60, 3600, 86400
FEW = 5  # tournaments that a sentence names, of any number
STOPS = (".", "!", "?", "…")


def points(score: float) -> str:
    """`3½`, as people write it."""
    whole, half = divmod(abs(round(score * 2)), 2)
    sign = "−" if round(score * 2) < 0 else ""
    return sign + (f"{count(whole) if whole else ''}½" if half else count(whole))


def count(figure: int) -> str:
    """`2,000`, wherever it stands."""
    return f"{figure:,}"


def sentence(said: str) -> str:
    """What programs are told, as people write it."""
    return stopped(said[:1].upper() + said[1:])


def stopped(said: str) -> str:
    """With a full stop at its end, unless whoever wrote it has ended it, or it was cut there."""
    return said if said.endswith(STOPS) else f"{said}."


def seconds(spent: float) -> str:
    """How long a move took: three figures say enough."""
    if spent < 0.001:
        return "< 1 ms"
    if spent < 0.0995:
        return f"{spent * 1000:.0f} ms"
    return f"{spent:.2f} s" if spent < 9.995 else f"{spent:.1f} s"


def clock(left: float | None) -> str:
    """What a clock shows; None is a clock without a limit."""
    if left is None:
        return "∞"
    minutes, rest = divmod(left, MINUTE)
    return f"{minutes:.0f}:{int(rest):02}" if left >= 20 else f"{left:.1f}"


def duration(lasts: float) -> str:
    """A rough duration, for an estimate."""
    if lasts < MINUTE:
        return f"{ceil(lasts)} s"
    if lasts < HOUR:
        return f"{ceil(lasts / MINUTE)} min"
    if lasts < DAY:
        return f"{_tenths(lasts / HOUR)} h"
    days = _tenths(lasts / DAY)
    return f"{days} {'day' if days == '1' else 'days'}"


def _tenths(figure: float) -> str:
    return f"{figure:.1f}".removesuffix(".0")


def lasted(took: float) -> str:
    """How long something has lasted."""
    return seconds(max(0.0, took)) if took < MINUTE else duration(took)


def signed(figure: float) -> str:
    """A rating, always with its sign, because only differences mean anything."""
    return f"{figure:+.0f}".replace("-", "−") if round(figure) else "0"


def tie_break(value: float) -> str:
    """A tie-break as points, if it can be, or else whole: hundredths may be what sets two entrants apart."""
    return points(value) if (value * 2) % 1 == 0 else f"{value:,.10g}"


def percent(share: float) -> str:
    if 0 < share < 0.01:
        return "< 1 %"
    return "> 99 %" if 0.99 < share < 1 else f"{share * 100:.0f} %"


def chance(share: float) -> str:
    """A probability that was counted in random draws: all of them, or none, are no certainty."""
    return "< 1 %" if share < 0.01 else "> 99 %" if share > 0.99 else percent(share)


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def over(decided: int, drawn: int) -> str:
    """How many matches are over, of those that have been drawn."""
    return (
        f"{decided:,} of {plural(drawn, 'match', 'matches')} {'is' if 1 in (decided, drawn) else 'are'} over"
    )


def pace(given: Any) -> str:
    """A pace in words: `60 s for the match, 2 s more after each move`."""
    said: list[str] = []
    if given.bank is not None:
        said.append(f"{given.bank:,.10g} s for the match")
        if given.gain:
            said.append(f"{given.gain:,.10g} s more after each move")
    if given.turn is not None:
        said.append(f"{given.turn:,.10g} s a move")
    return ", ".join(said) or "no limit"


def headline(players: Sequence[str], winner: int | None, ending: Ending, why: str = "") -> str:
    """How a match ended, in a few words; `why` is what was said to its players."""
    if ending is Ending.VOID:
        return "Void: counts for nothing"
    if winner is None:
        return "A draw" if ending is Ending.PLAYED else "Both have lost"
    won, lost = players[winner], players[1 - winner]
    there = {  # reasons for which somebody has left who may have been there all the time
        shut_out(lost): f"{lost} was taken out",
        (sated := stayed_away(lost, been=True, sated=True)): sated,
    }
    if why in there:
        return f"{won} wins: {there[why]}"
    how = {
        Ending.ILLEGAL: f": {lost} played an illegal move",
        Ending.TIME: f" on time: {lost} ran out of it",
        Ending.LEFT: f": {lost} was not there",
        Ending.RESIGNED: f": {lost} resigned",
    }
    return f"{won} wins{how.get(ending, '')}"


def reason(why: str, ending: Ending, players: Sequence[str], called: Sequence[str]) -> str:
    """Why it ended, in words about the players; rules speak of seats."""
    seat, blank, rest = why.partition(" ")
    if ending is Ending.PLAYED and blank and seat in called:
        return f"{players[called.index(seat)]} {rest}"
    return why


def explained(why: str, players: Sequence[str]) -> str:
    """A reason as a sentence; a name stays as it is written."""
    return stopped(why) if why.startswith(tuple(players)) else sentence(why)


def when(at: float | None) -> Markup:
    """A time of the wall clock: in UTC, until the page's script shows it in the reader's zone."""
    if at is None:
        return Markup()
    told = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" data-local="day">{}</time>').format(iso(at), told)


def moment(at: float) -> Markup:
    """The same as `when`, to the second."""
    told = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" data-local="moment">{}</time>').format(iso(at), told)


def clock_time(at: str) -> Markup:
    """When something happened in a match, to the second; `at` is as the API has it."""
    return Markup('<time datetime="{}" data-local="clock">{}</time>').format(at, at[11:19])


def ladder(figure: float) -> str:
    """The figure by which a ladder ranks, on the scale of all other strengths."""
    return signed(in_elo(figure))


def json(value: Any) -> str:
    """JSON to be pasted; the page escapes it like any other text."""
    return encode(value).decode()


def quoted(text: str) -> str:
    """One word for a shell."""
    return shlex.quote(text)


def bot_address(name: str) -> str:
    """Where a bot's page is."""
    return _address("bots", name)


def group_address(name: str) -> str:
    """Where the page of a group of tournaments is."""
    return _address("groups", name)


def _address(kind: str, name: str) -> str:
    """An address with a name in it; a slash or dots would be taken for parts of the path."""
    if "/" in name or name in (".", ".."):
        return f"/{kind}/?name={quote(name, safe='')}"
    return f"/{kind}/{quote(name, safe='')}"


def paged(address: str) -> str:
    """The address of a list, ready for `page=2` to be added."""
    return address + ("&" if "?" in address else "?")


def units(characters: int) -> str:
    """How many characters that may be to a browser: it counts in UTF-16, where an emoji is two."""
    return str(2 * characters)


FILTERS: Mapping[str, Callable[..., str]] = {
    "points": points,
    "count": count,
    "seconds": seconds,
    "clock": clock,
    "duration": duration,
    "signed": signed,
    "percent": percent,
    "chance": chance,
    "pace": pace,
    "moment": moment,
    "lasted": lasted,
    "when": when,
    "clock_time": clock_time,
    "json": json,
    "stopped": stopped,
    "quoted": quoted,
    "bot_address": bot_address,
    "group_address": group_address,
    "units": units,
    "paged": paged,
}
FUNCTIONS: Mapping[str, Callable[..., str]] = {
    "plural": plural,
    "over": over,
    "headline": headline,
    "reason": reason,
    "explained": explained,
}
