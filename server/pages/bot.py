"""What the page of a bot shows: its record by opponent, its rating over time, its matches.

A bot is a name. Everything played under it in one game is one story, whatever the
tournament. Pure functions of records that nobody else changes:
they may run in a thread.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from games.catalogue import catalogue
from server.pages import drawings, formatting
from tournament.record import Concluded, Record
from tournament.skill import Skill, after

RATED = 20_000  # matches of a game, the latest, that a rating is followed through
PAGE = 50  # matches on a page
OPPONENTS = 30
FIRM = 1.959963984540054  # standard deviations either side of the mean that hold 95 %


class Against(Struct):
    """What a bot made of those it met, or of one of them."""

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


class Career(Struct, frozen=True):
    """What a bot has done in one game."""

    game: str
    title: str
    total: Against
    opponents: list[tuple[str, Against]]
    curve: Markup | None
    tournaments: list[str]


def seen(name: str, records: Iterable[Record], page: int) -> dict[str, Any] | None:
    """All of it; None where nobody of that name was ever here."""
    by_game: dict[str, list[Record]] = {}
    for record in records:
        by_game.setdefault(record.opened.game, []).append(record)
    careers: list[Career] = []
    played: list[Played] = []
    for game, theirs in by_game.items():
        mine = [record for record in theirs if name in record.entrants]
        if mine:
            found = [_played(record, match, name) for record in mine for match in _matches(record, name)]
            careers.append(_career(name, game, theirs, mine, found))
            played += found
    if not careers:
        return None
    careers.sort(key=lambda career: -career.total.played)
    played.reverse()
    pages = max(1, -(-len(played) // PAGE))
    page = min(max(page, 1), pages)
    chosen = list(islice(played, (page - 1) * PAGE, page * PAGE))
    return {
        "name": name,
        "careers": careers,
        "played": chosen,
        "count": len(played),
        "page": page,
        "pages": pages,
        "address": formatting.bot_address(name) + ("&" if "?" in formatting.bot_address(name) else "?"),
    }


def _matches(record: Record, name: str) -> list[Concluded]:
    return [match for match in record.matches.values() if name in match.players]


def _played(record: Record, match: Concluded, name: str) -> Played:
    seat = match.players.index(name)
    game = catalogue()[record.opened.game]
    counts = match.score is not None and match.match not in record.voided
    score = match.score[seat] if match.score is not None and counts else None
    ending = "void" if match.match in record.voided else str(match.ending)
    opponent, plies = match.players[1 - seat], match.plies
    return Played(match.match, record.name, game.title, opponent, game.seats[seat], score, ending, plies)


def _career(name: str, game: str, theirs: list[Record], mine: list[Record], played: list[Played]) -> Career:
    total, against = Against(), dict[str, Against]()
    for match in played:
        if match.score is not None:
            for account in (total, against.setdefault(match.opponent, Against())):
                account.wins += match.score == 1
                account.draws += match.score == 0.5
                account.losses += match.score == 0
    most = sorted(against.items(), key=lambda item: -item[1].played)[:OPPONENTS]
    tournaments = [record.name for record in mine]
    return Career(game, catalogue()[game].title, total, most, _curve(name, theirs), tournaments)


def _curve(name: str, records: list[Record]) -> Markup | None:
    """The ladder's rating after each of its matches: the one that changes match by match."""
    matches = [
        match
        for record in records
        for match in record.matches.values()
        if match.plies and match.score not in (None, (0.0, 0.0)) and match.match not in record.voided
    ]
    believed: dict[str, Skill] = {}
    story = [Skill()]
    for match in matches[-RATED:]:
        first, second = match.players
        scored = match.score or (0.0, 0.0)
        before = believed.get(first, Skill()), believed.get(second, Skill())
        believed[first], believed[second] = after(*before, scored[0])
        if name in match.players:
            story.append(believed[name])
    if len(story) < 3:
        return None
    middles, spreads = [skill.mu for skill in story[1:]], [FIRM * skill.sigma for skill in story[1:]]
    last = (
        f"after {formatting.plural(len(middles), 'match', 'matches')} {middles[-1]:.1f} ± {spreads[-1]:.1f}"
    )
    return drawings.curve(middles, spreads, f"Rating over time, {last}")
