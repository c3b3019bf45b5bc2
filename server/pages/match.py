"""What the page of a match shows: the board, both clocks, the moves, how it ended."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

import trio
from markupsafe import Markup
from msgspec import Struct

from games.estimate import Estimate
from games.estimate import in_words as went_wrong
from games.perfect import Grades
from games.perfect import in_words as threw_away
from server.export.words import before_move, in_words, whose
from server.host.grading import Grader
from server.http.wire import NOSNIFF, Response
from server.pages import formatting
from server.pages.clock_graph import clock_graph
from server.pages.rendering import part
from server.pages.story import Ply, Story
from tournament.events import Ending
from tournament.facts import Concluded
from tournament.kinds import Kind
from tournament.match import Match
from tournament.notes import Note
from tournament.record import Record
from tournament.settling import came_to

Causes = Sequence[Mapping[str, Any]]  # as the API has them

# As in the stylesheet
DARK = (
    "@media (prefers-color-scheme:dark){svg{--board-ground:#211f1b;--board-field:#36322a;"
    "--board-grid:#6a624f;--board-ink:#c9bfa8;--board-first:#ef7f66;--board-second:#74aee6;--board-mark:#f2c53d}}"
)
MOVES = 250  # the latest moves in the list on a page: the scrubber reaches all of them
# One of many: a template would take ten times as long
ITEM = Markup('<li value="{}">{}<a href="?ply={}" class="seat-{}" title="{}">{}</a> <small>{}</small>{}</li>')
INCIDENT = Markup('<p class="incident">{}</p>')
NOTE = Markup('<p class="note">{}</p>')
STEP = 100  # plies replayed before other tasks get their turn


class Side(Struct, frozen=True):
    """One side of a match, as a page shows it."""

    name: str
    called: str  # as the game calls the seat
    left: float | None  # on its clock, as it was when the clock last changed; None: no limit
    until: float | None  # the time at which it runs out, while it runs
    used: float  # seconds that it has thought so far
    thought: float | None  # by its own clock, once the match is over, if the bot said so for every move …
    network: float | None  # … and by how much longer its moves took
    score: float | None  # once the match is over, if it counts
    sort: str | None  # of player, once the match is over, if it is no bot
    known: bool  # whether the bot has a page


class MatchLook:
    """A match as it goes on, for its page and for sites that frame its board."""

    def __init__(self, record: Record, story: Story, grader: Grader) -> None:
        self.tournament = record.kept_as
        self.story = story
        self._record = record
        self._grader = grader
        self._items: list[Markup] = []
        self._taken_back = 0
        self._last: object = None

    async def prepare(self) -> None:
        await completed(self.story)

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        known = edition(self._record, self.story.name, self._grader.knows(self._record, self.story.name))
        looked = known, state(self.story)
        if looked == self._last:
            return
        self.story.complete()
        yield "board", self.story.board(len(self.story.plies))
        yield "state", part("state", shown(self._record, self.story))
        yield "graph", graph(self._record, self.story)
        yield "edition", Markup(known)  # noqa: S704 - words of ours
        causes = self.story.causes
        if self.story.taken_back != self._taken_back:
            self._taken_back, self._items = self.story.taken_back, []
        while len(self._items) < len(self.story.plies):
            self._items.append(item(self.story, self.story.plies[len(self._items)], causes))
        self._last = looked

    def items(self) -> Mapping[str, list[Markup]]:
        return {"moves": self._items}


async def completed(story: Story) -> Story:
    """The story told to its end: a long one in pieces, between which other tasks get their turn."""
    for ply in story.tell():
        if ply.number % STEP == 0:
            await trio.lowlevel.checkpoint()
    return story


def item(story: Story, ply: Ply, causes: Causes) -> Markup:
    """A line of the list of moves, with what happened before that move."""
    called, spent = story.game.seats[ply.seat], formatting.seconds(ply.spent)
    before = Markup("").join(map(INCIDENT.format, incidents(story, ply.number, causes)))
    note = story.notes.get(ply.number)
    after = "" if note is None else NOTE.format(noted(note))
    return ITEM.format(ply.number, before, ply.number, ply.seat, called, ply.text, spent, after)


def noted(note: Note) -> str:
    """What a bot noted with a move; each figure with its name, and with the digits of a count of tokens."""
    if isinstance(note, str):
        return note
    return ", ".join(f"{name} {value:,.10g}" for name, value in note.items())


def incidents(story: Story, ply: int, causes: Causes) -> list[str]:
    """In words, what happened between the previous move and the one with that number."""
    return [in_words(cause, story.players) for cause in before_move(causes, ply)] if causes else []


SORTS = {Kind.HOUSE: "the host's own, unrated", Kind.PERSON: "by hand"}


def state(story: Story) -> object:
    """A value that differs whenever what is shown of a match has to change."""
    source = story.source
    if not isinstance(source, Match):
        return None, len(source.moves)
    told, clock = len(source.looked_at().log.events), source.clock
    return source.name, told, source.taken_back, source.result, story.voided, clock.running, clock.deadline


def edition(record: Record, match: str, graded: bool) -> str:
    """A mark of all that a page can show by now; its script loads the page again when that changes."""
    if not record.is_over(match):
        return "live"
    return ("graded" if graded else "over") + (" void" if match in record.voided else "")


def seats(story: Story, ply: int | None = None, over: Concluded | None = None) -> list[Side]:
    """Both sides as they are, and how long they had thought after all plies, or this many.

    `over` is what is kept of the end.
    """
    source = story.source
    if isinstance(source, Concluded):
        over = source
    used = story.plies[(ply or len(story.plies)) - 1].used if story.plies and ply != 0 else (0.0, 0.0)
    found: list[Side] = []
    for seat in (0, 1):
        left, until = None, None
        if isinstance(source, Match):
            left = source.clock.left(seat, source.clock.since)
            running = source.clock.running == seat and source.clock.deadline < inf
            until = source.clock.deadline if running else None
        name, called = story.players[seat], story.game.seats[seat]
        thought, network = (None, None) if over is None else (over.thought[seat], over.network[seat])
        sort = None if over is None else SORTS.get(over.kinds[seat])
        score, known = _score(story, seat), story.knows(name)
        found.append(Side(name, called, left, until, used[seat], thought, network, score, sort, known))
    return found


def _score(story: Story, seat: int) -> float | None:
    if (ended := story.ended) is None or story.voided:
        return None
    score = came_to(ended.winner, ended.ending)
    return None if score is None else score[seat]


def shown(record: Record, story: Story, ply: int | None = None) -> dict[str, Any]:
    """What templates are given about a match as it is now, while they show it after this many plies."""
    ended, causes, voided = story.ended, story.causes, story.voided
    told = causes if ended else before_move(causes, len(story) + 1)
    return {
        "causes": [(cause["at"], in_words(cause, story.players)) for cause in told],
        "fault": whose(ended.fault, causes) if ended and ended.fault and not voided else None,
        "story": story,
        "seats": seats(story, ply, record.matches.get(story.name)),
        "ended": ended,
        "ending": Ending.VOID if voided else ended.ending if ended else None,
        "why": ended.why if ended else None,
        "voided": voided,
        "to_move": story.source.to_move if isinstance(story.source, Match) else None,
    }


def page(record: Record, story: Story, asked: int | None) -> dict[str, Any]:
    """What the page of a match is given; `asked` is the ply that it was asked for."""
    last = len(story.plies)
    ply = last if asked is None else min(asked, last)
    first = max(0, min(ply - MOVES // 2, last - MOVES))
    causes = story.causes
    number = record.dealt.get(story.name) or record.matches[story.name].pairing
    return shown(record, story, ply) | {
        "record": record,
        "ply": ply,
        "last": last,
        "pinned": asked is not None and (asked < last or story.ended is not None),
        "board": story.board(ply),
        "move": story.plies[ply - 1] if ply else None,
        "moves": [item(story, each, causes) for each in story.plies[first : first + MOVES]],
        "incidents": incidents(story, ply, causes),
        "first": first + 1,
        "graph": graph(record, story),
        "times": story.times,
        "number": number,
        "round": record.drawn[number].round,
    }


def graph(record: Record, story: Story) -> Markup:
    return clock_graph(story, record.opened.pace or story.game.pace)


def judged(story: Story, grades: Grades | Estimate | None) -> dict[str, Any] | None:
    """How well both seats have played: their accuracy, and each mistake with the ply to look at."""
    players = story.players
    match grades:
        case None:
            return None
        case Grades():
            mistakes = [(each.ply, threw_away(each, players[each.seat])) for each in grades.mistakes]
        case Estimate():
            mistakes = [(each.ply, went_wrong(each, players[each.seat])) for each in grades.slips]
    return {
        "accuracy": list(zip(players, grades.accuracy, strict=True)),
        "mistakes": mistakes,
        "ungraded": grades.ungraded,
    }


def frame(story: Story, ply: int, board: Markup, causes: Causes) -> dict[str, Any]:
    """One picture of a replay, with what stands beside it."""
    played = story.plies[ply - 1] if ply else None
    return {
        "ply": ply,
        "board": str(board),
        "move": played.text if played else None,
        "seat": played.seat if played else None,
        "spent": formatting.seconds(played.spent) if played else None,
        "used": [formatting.seconds(each) for each in (played.used if played else (0.0, 0.0))],
        "incidents": incidents(story, ply, causes),
    }


def picture(drawn: str) -> Response:
    """A board as a file, with a stylesheet of its own for dark mode."""
    opening, end, rest = drawn.partition(">")
    headers = (
        ("Content-Type", "image/svg+xml; charset=utf-8"),
        ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),
        ("Cache-Control", "no-cache"),
        NOSNIFF,
    )
    return Response(200, headers, (opening + end + f"<style>{DARK}</style>" + rest).encode())
