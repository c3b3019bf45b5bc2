"""What a webhook is told of an entry, and what never."""

from typing import get_args

import msgspec
import pytest

from server.config import WebhookEvent
from server.webhooks.told import told
from tests.server.store.test_laws import EVERY_KIND
from tournament import entries
from tournament.events import Ending, Fault
from tournament.facts import AnyFact, Concluded, Opened, RoundBegan, State, Turned, Voided

WON = Concluded(
    "cup-1", 1, ("ann", "bob"), 0, Ending.TIME, "bob ran out of time", (1.0, 0.0), fault=Fault.BOT
)


def of(
    fact: AnyFact, *, number: int = 3, begun: bool = False, kept_as: str = "cup"
) -> dict[str, object] | None:
    found = told(entries.entry(number, kept_as, 1_767_225_600.25, fact), "connect-4", lambda: begun)
    return None if found is None else msgspec.json.decode(msgspec.json.encode(found))


def test_a_match_is_told_with_its_players_and_why_it_ended() -> None:
    found = of(WON)
    assert found is not None
    assert len(str(found.pop("id"))) == 32
    assert found == {
        "type": "match.ended",
        "at": "2026-01-01T00:00:00.250Z",
        "tournament": "cup",
        "game": "connect-4",
        "match": "cup-1",
        "players": ["ann", "bob"],
        "winner": 0,
        "ending": "time",
        "why": "bob ran out of time",
        "fault": "bot",
    }


def test_a_tournament_goes_by_its_name_also_where_one_of_that_name_was_deleted_before() -> None:
    found = of(WON, kept_as="cup~2")
    assert found is not None
    assert found["tournament"] == "cup"


def test_a_round_is_told_with_its_number() -> None:
    found = of(RoundBegan(2, 1_767_225_600.0))
    assert found is not None
    assert found["round"] == 2


@pytest.mark.parametrize(
    ("fact", "begun", "type"),
    [
        (Opened("connect-4", "swiss"), False, "tournament.opened"),
        (Turned(State.RUNNING), False, "tournament.begun"),
        (Turned(State.PAUSED), True, "tournament.paused"),
        (Turned(State.RUNNING), True, "tournament.resumed"),
        (Turned(State.FINISHED), True, "tournament.ended"),
        (RoundBegan(2, 1_767_225_600.0), True, "round.begun"),
        (Voided("cup-1", "a cable"), True, "match.voided"),
    ],
)
def test_every_event_that_can_be_asked_for_is_told(fact: AnyFact, begun: bool, type: str) -> None:
    found = of(fact, begun=begun)
    assert found is not None
    assert found["type"] == type
    assert type in get_args(WebhookEvent)
    assert "a cable" not in str(found), "the organiser's own words are not for everybody"


def test_the_same_entry_has_the_same_id_and_another_one_another() -> None:
    first, again, other = of(WON), of(WON), of(msgspec.structs.replace(WON, match="cup-2"))
    assert first is not None
    assert other is not None
    assert first == again
    assert first["id"] != other["id"]


@pytest.mark.parametrize(
    "fact", EVERY_KIND, ids=[f"{number}-{entries.kind(fact)}" for number, fact in enumerate(EVERY_KIND)]
)
def test_nothing_else_is_told(fact: AnyFact) -> None:
    told_of = isinstance(fact, Opened | Turned | RoundBegan | Concluded | Voided)
    assert (of(fact) is not None) == (told_of and fact != Turned(State.REGISTERING))
