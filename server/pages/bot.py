"""What the page of a bot shows: its record by opponent, its rating over time, its matches.

A bot is a name. Everything played under it in one game is one story, whatever the
tournament. An index follows the records, so a page costs what the bot has played, and
never more than some ten thousand matches; it may be made in a thread.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from markupsafe import Markup
from msgspec import Struct

from games.catalogue import catalogue
from server.pages import drawings, formatting
from server.pages.paging import page_of
from tournament.format import Result
from tournament.record import Concluded, Record
from tournament.skill import ELO, NEW, Skill, after, in_elo, says_something

OWN = 20_000  # matches of a bot in a tournament, the latest, that are added up by opponent
PIECE = 10_000  # of a record, read at a time
RATED = 20_000  # matches of a game, the latest, that a rating is followed through
PAGE = 50  # matches on a page
OPPONENTS = 30
FIRM = 1.959963984540054  # standard deviations either side of the mean that hold 95 %


class Against(Struct):
    """A bot's results against everybody it met, or against one of them."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses


class Played(Struct, frozen=True):
    """A match, as the bot sees it."""

    match: str
    tournament: str
    title: str  # of the game
    opponent: str
    called: str  # the seat
    score: float | None
    ending: str
    plies: int
    ended: float | None  # wall time


class Career(Struct, frozen=True):
    """What a bot has done in one game."""

    game: str
    title: str
    total: Against
    opponents: list[tuple[str, Against]]
    curve: Markup | None
    tournaments: list[str]


class Appearances:
    """Who has played which matches of a record, by their numbers in the order of their ends."""

    def __init__(self) -> None:
        self._read = 0
        self._of: dict[str, array[int]] = {}

    def follow(self, record: Record) -> None:
        last = len(record.endings)
        for start in range(self._read, last, PIECE):
            for number, match in enumerate(record.endings[start : min(start + PIECE, last)], start):
                for name in record.matches[match].players:
                    self._of.setdefault(name, array("I")).append(number)
        self._read = last

    def of(self, name: str) -> Sequence[int]:
        return self._of.get(name, ())


class Index:
    """Of every record that somebody asked about."""

    def __init__(self) -> None:
        self._records: WeakKeyDictionary[Record, Appearances] = WeakKeyDictionary()

    def find(self, record: Record, name: str) -> Sequence[int]:
        found = self._records.setdefault(record, Appearances())
        found.follow(record)
        return found.of(name)


def seen(name: str, records: Iterable[Record], page: int, index: Index) -> dict[str, Any] | None:
    """What the page shows; None if nobody of that name was ever here."""
    by_game: dict[str, list[Record]] = {}
    for record in records:
        by_game.setdefault(record.opened.game, []).append(record)
    careers: list[Career] = []
    found: list[tuple[Record, Sequence[int]]] = []
    for game, theirs in by_game.items():
        mine = [(record, index.find(record, name)) for record in theirs if name in record.entrants]
        if mine:
            careers.append(_career(name, game, theirs, mine))
            found += mine
    if not careers:
        return None
    careers.sort(key=lambda career: -career.total.played)
    count = sum(len(numbers) for _, numbers in found)
    page, pages = page_of(count, PAGE, page)
    return {
        "name": name,
        "careers": careers,
        "played": list(_latest_first(name, found, (page - 1) * PAGE, PAGE)),
        "count": count,
        "page": page,
        "pages": pages,
        "address": formatting.bot_address(name) + ("&" if "?" in formatting.bot_address(name) else "?"),
    }


def _latest_first(
    name: str, found: Sequence[tuple[Record, Sequence[int]]], skip: int, most: int
) -> Iterator[Played]:
    """Some of the matches; those passed over cost nothing."""
    for record, numbers in reversed(found):
        chosen = numbers[max(0, len(numbers) - skip - most) : max(0, len(numbers) - skip)]
        for number in reversed(chosen):
            yield _played(record, record.matches[record.endings[number]], name)
        skip, most = max(0, skip - len(numbers)), most - len(chosen)


def _played(record: Record, match: Concluded, name: str) -> Played:
    seat = match.players.index(name)
    game = catalogue()[record.opened.game]
    counts = match.score is not None and match.match not in record.voided
    score = match.score[seat] if match.score is not None and counts else None
    ending = "void" if match.match in record.voided else str(match.ending)
    opponent, plies = match.players[1 - seat], match.plies
    seat_called, ended = game.seats[seat], match.ended
    return Played(match.match, record.name, game.title, opponent, seat_called, score, ending, plies, ended)


def _career(name: str, game: str, theirs: list[Record], mine: list[tuple[Record, Sequence[int]]]) -> Career:
    total, against = Against(), dict[str, Against]()
    for record, numbers in mine:
        for number in numbers[-OWN:]:
            match = _played(record, record.matches[record.endings[number]], name)
            if match.score is not None:
                for account in (total, against.setdefault(match.opponent, Against())):
                    account.wins += match.score == 1
                    account.draws += match.score == 0.5
                    account.losses += match.score == 0
    most = sorted(against.items(), key=lambda item: -item[1].played)[:OPPONENTS]
    tournaments = [record.name for record, _ in mine]
    return Career(game, catalogue()[game].title, total, most, _curve(name, theirs), tournaments)


def _backwards(records: Sequence[Record]) -> Iterator[Result]:
    """The results that say something of strength, the latest first."""
    for record in reversed(records):
        taken_back = set[int]()
        for end in range(len(record.decisions), 0, -PIECE):
            for each in reversed(record.decisions[max(0, end - PIECE) : end]):
                if isinstance(each, int):
                    taken_back.add(each)
                elif each.pairing.number in taken_back:
                    taken_back.discard(each.pairing.number)
                elif says_something(each):
                    yield each


def _curve(name: str, records: list[Record]) -> Markup | None:
    """A curve of the ladder's rating, because that one changes match by match."""
    believed: dict[str, Skill] = {}
    story = [NEW]
    for result in reversed(list(islice(_backwards(records), RATED))):
        first, second = result.pairing.names
        before = believed.get(first, NEW), believed.get(second, NEW)
        believed[first], believed[second] = after(*before, result.score[0])
        if name in (first, second):
            story.append(believed[name])
    if len(story) < 3:
        return None
    middles = [in_elo(skill.mu) for skill in story[1:]]
    spreads = [FIRM * ELO * skill.sigma for skill in story[1:]]
    matches = formatting.plural(len(middles), "match", "matches")
    last = f"after {matches} {formatting.signed(middles[-1])} ± {spreads[-1]:.0f} Elo"
    return drawings.curve(middles, spreads, f"Strength over time, {last}")
