"""What the page of a bot shows: its record by opponent and by version, its rating over time, its matches.

A bot is a name. Everything played under it in one game is one story, whatever the
tournament. An index follows the records, so a page costs what the bot has played, and
never more than some ten thousand matches; it may be made in a thread.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from games.catalogue import catalogue
from server.host.appearances import MIXED, Found, Index, Sums, Tally, shows
from server.host.grading import GradedMoves
from server.host.grouping import frozen
from server.host.latest_first import latest_first
from server.host.versions import Rated, Version, versions
from server.host.view import HeldTournament, View
from server.pages import formatting
from server.pages.fair_share import FairShare
from server.pages.paging import page_of
from server.pages.strength_over_time import Curves
from tournament.record import Record

PAGE = 50  # matches on a page
OPPONENTS = 30
NOBODY: Mapping[str, Rated] = {}

Ended = tuple[Record, int, float]  # a match by the number of its end, and when that was; 0: not known


class OwnMatch(Struct, frozen=True):
    """A match, as the bot sees it."""

    match: str
    title: str  # of the game
    opponent: str
    opponent_known: bool  # whether it has a page
    called: str  # the seat
    score: float | None
    ending: str
    plies: int
    ended: float | None  # wall time


class Career(Struct, frozen=True):
    """What a bot has done in one game."""

    game: str
    title: str
    total: Tally
    opponents: list[tuple[str, Tally]]
    curve: Markup | None
    tournaments: list[str]
    affiliation: str  # from the latest tournament
    versions: list[Version]  # the latest first
    frozen: bool  # whether the standings of any of them are
    moved: bool  # whether there are moves that may be graded


def seen(
    name: str,
    records: Iterable[Record],
    page: int,
    index: Index,
    curves: Curves,
    rated: Mapping[str, Rated] = NOBODY,
) -> dict[str, Any] | None:
    """What the page shows; None if nothing is known of that name. `rated` has the ratings by game."""
    by_game: dict[str, list[Record]] = {}
    for record in records:
        by_game.setdefault(record.opened.game, []).append(record)
    careers: list[Career] = []
    found: Found = []
    done: list[Sums] = []
    for game, theirs in by_game.items():
        if mine := index.of(name, theirs):
            sums, curve = index.sums(name, mine), curves.find(game, name, theirs)
            careers.append(_career(name, game, curve, mine, sums, rated.get(game, {})))
            found, done = found + mine, done + sums
    if not careers:
        return None
    careers.sort(key=lambda career: -career.total.played)
    count = sum(len(numbers) for _, numbers in found)
    page, pages = page_of(count, PAGE, page)
    return {
        "name": name,
        "careers": careers,
        "played": list(_latest_first(name, found, done, (page - 1) * PAGE, PAGE)),
        "count": count,
        "page": page,
        "pages": pages,
        "address": formatting.paged(formatting.bot_address(name)),
    }


def kept(host: View, name: str) -> Mapping[str, GradedMoves]:
    """How well a bot has played, by game, as far as that is known by now, or will be in a moment."""
    found: dict[str, GradedMoves] = {}
    for each in host.tournaments.values():
        record = each.record.public
        if name in record.entrants and (summary := host.grader.summary(record, each.concluded)):
            own = summary.bot(name)
            if own.had or summary.reading:
                found.setdefault(record.opened.game, GradedMoves(estimate=summary.estimate)).add(own)
    return found


async def tournaments(host: View, name: str, turns: FairShare) -> list[HeldTournament]:
    """Those that its page is about."""
    held = [*host.tournaments.values()]
    records = [each.record.public for each in held]
    found = await turns.aside(lambda: partial(host.versions.index.of, name, records))
    kept = {record.kept_as for record, _ in found}
    return [each for each in held if each.record.kept_as in kept]


def _latest_first(name: str, found: Found, done: Sequence[Sums], skip: int, most: int) -> Iterator[OwnMatch]:
    """Some of the matches. The latest of all tournaments come in the order in which they ended.

    Earlier ones come one tournament after another. Those that are skipped are not looked at: most
    tournaments are archived.
    """
    each = (
        (record, _backwards(record, numbers[-MIXED:], sums.ends))
        for (record, numbers), sums in zip(reversed(found), reversed(done), strict=True)
    )
    for record, number, _ in islice(latest_first(each, _ended), skip, skip + most):
        yield _played(record, number, name)
        most -= 1
    skip = max(0, skip - sum(min(MIXED, len(numbers)) for _, numbers in found))
    for record, numbers in reversed(found):
        earlier = numbers[:-MIXED]
        chosen = earlier[max(0, len(earlier) - skip - most) : max(0, len(earlier) - skip)]
        for number in reversed(chosen):
            yield _played(record, number, name)
        skip, most = max(0, skip - len(earlier)), most - len(chosen)


def _backwards(record: Record, numbers: Sequence[int], ends: Sequence[float]) -> Iterator[Ended]:
    return ((record, number, end) for number, end in zip(reversed(numbers), reversed(ends), strict=True))


def _ended(match: Ended) -> float:
    return match[2]


def _played(record: Record, number: int, name: str) -> OwnMatch:
    match = record.matches[record.endings[number]]
    seat = match.players.index(name)
    game = catalogue()[record.opened.game]
    counts = match.score is not None and match.match not in record.voided
    score = match.score[seat] if match.score is not None and counts else None
    ending = "void" if match.match in record.voided else str(match.ending)
    opponent, plies = match.players[1 - seat], match.plies
    seat_called, ended, known = game.seats[seat], match.ended, shows(record, opponent, match.ending)
    return OwnMatch(match.match, game.title, opponent, known, seat_called, score, ending, plies, ended)


def _career(
    name: str, game: str, curve: Markup | None, mine: Found, done: Sequence[Sums], rated: Rated
) -> Career:
    total, against = Tally(), dict[str, Tally]()
    for sums in done:
        for opponent, tally in sums.opponents.items():
            total.add(tally)
            against.setdefault(opponent, Tally()).add(tally)
    most = sorted(against.items(), key=lambda item: -item[1].played)[:OPPONENTS]
    tournaments = [record.name for record, _ in mine]
    said = [record.affiliations[name] for record, _ in mine if name in record.affiliations]
    affiliation, title = said[-1] if said else "", catalogue()[game].title
    shown = versions(name, done, rated)
    still = frozen(record for record, _ in mine)
    moved = any(sums.moved for sums in done)
    return Career(game, title, total, most, curve, tournaments, affiliation, shown, still, moved)
