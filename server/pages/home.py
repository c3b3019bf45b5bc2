"""What the first page shows: what is being played now, tournaments, open tables, what has just ended."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from heapq import nlargest
from typing import Any

from markupsafe import Markup
from msgspec import Struct, structs

from games.catalogue import catalogue
from server.host.opening import OPEN
from server.host.view import HeldTournament, PresentBots, View
from server.pages import formatting, tables
from server.pages.board_grid import BoardGrid
from server.pages.paging import page_of
from server.pages.rendering import part
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, State, Voided
from tournament.record import Record

PLACES = 8  # boards side by side: all of them together are some thousand elements
MOST = 30  # tournaments listed; a page of their own has all
PAGE = 100  # tournaments on a page of these
LATELY = 8  # pairs of bots whose matches have just ended
REFRESH = 0.5  # seconds between two looks at everything but the boards
ORDER = (State.RUNNING, State.PAUSED, State.REGISTERING, State.FINISHED)


class TournamentSummary(Struct, frozen=True):
    """A tournament on a line."""

    name: str
    title: str  # of the game
    format: str
    state: State
    entrants: int
    wanted: int | None
    decided: int
    drawn: int
    rounds: str  # drawn so far
    endless: bool
    playing: int
    eta: float | None
    latest: float | None  # when the latest match ended, by the wall clock
    start: float | None  # when it begins by itself, while it takes entrants …
    wanting: str  # … and there are enough
    by_invitation: bool
    winners: tuple[str, ...]  # once it is over


class Table(Struct, frozen=True):
    """An open table, even if nobody has come yet."""

    game: str
    title: str
    name: str  # of its tournament
    here: PresentBots
    known: Collection[str]  # those who have pages
    playing: int
    decided: int
    begun: bool


class LatestMatch(Struct, frozen=True):
    """The latest match of two bots in a tournament."""

    match: str
    tournament: str
    title: str
    players: tuple[str, str]
    headline: str
    ended: float | None  # wall time
    before: int  # matches of the two just before it


class Lately:
    """Matches that have just ended, one line for each pair, or a fast pair would have all the lines."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, frozenset[str]], LatestMatch] = {}  # the latest last

    def add(self, tournament: str, title: str, over: Concluded, *, void: bool = False) -> None:
        pair = tournament, frozenset(over.players)
        known = self._latest.pop(pair, None)
        ending = Ending.VOID if void else over.ending
        headline = formatting.headline(over.players, over.winner, ending, over.why)
        before = 0 if known is None else known.before + 1
        self._latest[pair] = LatestMatch(
            over.match, tournament, title, over.players, headline, over.ended, before
        )
        if len(self._latest) > LATELY:
            del self._latest[next(iter(self._latest))]

    def void(self, match: str) -> None:
        """A match has been voided after its end."""
        for pair, over in self._latest.items():
            if over.match == match:
                headline = formatting.headline(over.players, None, Ending.VOID)
                self._latest[pair] = structs.replace(over, headline=headline)

    def forget(self, tournament: str) -> None:
        """The matches of a tournament are no more."""
        self._latest = {pair: over for pair, over in self._latest.items() if over.tournament != tournament}

    def lines(self) -> list[LatestMatch]:
        return [*reversed(self._latest.values())]


class HomeLook:
    tournament = ""

    def __init__(self, host: View) -> None:
        self._host = host
        self._grid = BoardGrid(PLACES, host.guard)
        self._looked = -REFRESH
        self._lately = Lately()
        host.on_fact.append(self._told)
        lately = nlargest(LATELY, host.tournaments.values(), key=lambda each: each.record.latest_end or 0.0)
        before = [(each, over) for each in lately for over in latest(each.record)]
        before.sort(key=lambda told: told[1].ended or 0.0)  # it is not known of very old ones
        for tournament, concluded in before:
            self._told(tournament, concluded)

    async def prepare(self) -> None:
        # Others have looked at it before, and whoever comes now is to see all parts.
        self._grid.begin_anew()
        self._looked = -REFRESH

    def items(self) -> Mapping[str, list[Markup]]:
        return {}

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        yield from self._grid.changed(self._host.tournaments.values(), now)
        if now >= self._looked + REFRESH:
            self._looked = now
            yield "tournaments", part("tournaments", summaries(self._host) | {"whole": False})
            yield "tables", part("tables", {"tables": self._tables()})
            yield "lately", part("lately", {"lately": self._lately.lines()})

    def _told(self, tournament: HeldTournament, fact: AnyFact) -> None:
        record = tournament.record
        match fact:
            case Concluded(match=match):
                title = catalogue()[record.opened.game].title
                self._lately.add(record.name, title, fact, void=match in record.voided)
            case Voided(match=match):
                self._lately.void(match)
            case _ if record.state is State.DELETED:
                self._lately.forget(record.name)
            case _:
                pass

    def _tables(self) -> list[Table]:
        found: list[Table] = []
        for name, game in catalogue().items():
            tournament = self._host.tournaments.get(OPEN + name)
            here = self._host.here(OPEN + name)
            playing = len(tournament.matches) if tournament else 0
            over = tournament.record.ended if tournament else 0
            known = tournament.record.public.entrants if tournament else ()
            begun = tournament is not None
            found.append(Table(name, game.title, OPEN + name, here, known, playing, over, begun))
        return found


def summaries(
    host: View, page: int | None = None, only: Iterable[HeldTournament] | None = None
) -> dict[str, Any]:
    """The tournaments that go on, then those that are over, the latest first: as many as the first page
    lists, or one page of all, counted from 1. Without `only` these are all but open tables."""
    if only is None:
        only = (each for each in host.tournaments.values() if not each.record.name.startswith(OPEN))
    held = sorted(only, key=lambda each: ORDER.index(each.record.state))
    over = [each for each in held if each.record.state is State.FINISHED]
    held[len(held) - len(over) :] = over[::-1]
    number, pages = page_of(len(held), PAGE, page or 1)
    chosen = held[:MOST] if page is None else held[(number - 1) * PAGE : number * PAGE]
    listed = [_summary(host, each) for each in chosen]
    return {"tournaments": listed, "total": len(held), "page": number, "pages": pages}


def _summary(host: View, tournament: HeldTournament) -> TournamentSummary:
    record = tournament.record
    over = record.state is State.FINISHED and record.frozen is None
    return TournamentSummary(
        record.name,
        catalogue()[record.opened.game].title,
        record.format.title,
        record.state,
        record.counted,
        record.opened.entrants,
        record.decided,
        record.pairings,
        tables.rounds_drawn(record) if record.state is State.RUNNING else "",
        record.format.endless,
        len(tournament.matches),
        None if record.format.decides else tournament.eta(),
        record.latest_end,
        record.opened.start if record.state is State.REGISTERING else None,
        tables.wanting(record),
        bool(record.opened.by_invitation),
        _winners(host, record) if over else (),
    )


def _winners(host: View, record: Record) -> tuple[str, ...]:
    """Who has won, once that is known. Archives say it, so that no list has a hundred tables made."""
    if record.archived is not None and record.archived.winners is not None:
        return record.archived.winners
    return tuple(tables.winners(record, host.boards.latest(record.public)))


def latest(record: Record) -> list[Concluded]:
    """The matches that ended last, in the order of their ends."""
    return [record.matches[match] for match in [*record.recent][-LATELY:]]
