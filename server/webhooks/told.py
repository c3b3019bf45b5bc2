"""What a webhook is told: an entry of the journal as one JSON object. Values in, values out.

Only what everybody may see is in it: no address, no token, no words of the organiser's.
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from server.config import WebhookEvent
from server.export.json_views import moment
from server.store import journal
from tournament import entries
from tournament.chain import leaf
from tournament.entries import Entry
from tournament.facts import Concluded, Opened, RoundBegan, State, Turned, Voided
from tournament.folding import called

TOLD = (Opened, Turned, RoundBegan, Concluded, Voided)
KINDS = frozenset(map(entries.kind, TOLD))  # the facts of which webhooks are told
ID = 32  # hexadecimal digits


class WebhookBody(Struct, frozen=True):
    """`id` is the same whenever the same entry is told again."""

    id: str
    type: WebhookEvent
    at: str
    tournament: str
    game: str
    format: str | UnsetType = UNSET
    round: int | UnsetType = UNSET
    match: str | UnsetType = UNSET
    players: tuple[str, str] | UnsetType = UNSET
    winner: int | UnsetType | None = UNSET
    ending: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    fault: str | UnsetType | None = UNSET


def told(entry: Entry, game: str, begun: Callable[[], bool]) -> WebhookBody | None:
    """What is told of an entry. `begun`, asked only where it matters: had the tournament begun before?"""
    if entry.kind not in KINDS:
        return None
    fact: Any = journal.fact(entry)

    def event(type: WebhookEvent, **more: Any) -> WebhookBody:
        name = called(entry.tournament)  # the one before may have been deleted
        return WebhookBody(leaf(entry).hex()[:ID], type, moment(entry.when), name, game, **more)

    match fact:
        case Opened(format=format):
            return event("tournament.opened", format=format)
        case Turned(state=State.RUNNING):
            return event("tournament.resumed" if begun() else "tournament.begun")
        case Turned(state=State.PAUSED):
            return event("tournament.paused")
        case Turned(state=State.FINISHED):
            return event("tournament.ended")
        case RoundBegan(round=round):
            return event("round.begun", round=round)
        case Concluded():
            return event(
                "match.ended",
                match=fact.match,
                players=fact.players,
                winner=fact.winner,
                ending=fact.ending.value,
                why=fact.why,
                fault=None if fact.fault is None else fact.fault.value,
            )
        case Voided(match=match):
            return event("match.voided", match=match)
        case _:
            return None
