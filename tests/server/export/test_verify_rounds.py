"""Exports of what is held by the clock: rounds, check-ins, no-shows, whose bots these are."""

from functools import cache
from typing import Any

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.export.json_views import entrants_shown
from server.export.verify import verify
from server.host.descriptions import about
from tests.server.exports import exported, text
from tests.tournament.world import World, first, play
from tournament.facts import CheckedIn, Entered, Kept, NoShow, Opened, RoundBegan
from tournament.folding import fold

CONTACT = "ann@example.org"


@cache
def held(format: str = "swiss") -> tuple[Kept, ...]:
    """A tournament with a no-show who is let in late, a second one, and three rounds by the clock."""
    kept: list[Kept] = []

    async def hold() -> None:
        start = trio.current_time() + 100.0
        here = World(Opened("tic-tac-toe", format, start_at=start, round_every=300.0, check_in=50.0))
        await here.store.keep("cup", 0.0, [here.tournament.record.opened])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.timekeeper.run)
            nursery.start_soon(here.tournament.run)
            for name in ("ann", "bob", "cas", "dee", "eve"):
                await here.tournament.enter(name)
            await here.desk.describe("ann", about("ETH", CONTACT))
            for name in ("ann", "bob", "cas"):
                nursery.start_soon(play, here.come(name), first)
            await trio.sleep_until(start + 200.0)
            if here.tournament.record.format.late:
                await here.desk.enter("dee")
                nursery.start_soon(play, here.come("dee"), first)
            await here.tournament.finished()
            nursery.cancel_scope.cancel()
        kept.extend(here.store.kept())

    with capture_logs():
        trio.run(hold, clock=MockClock(autojump_threshold=0))
    return tuple(kept)


def findings(lines: list[Any]) -> list[str]:
    return [each.why for each in verify(text(lines)).findings]


def lines_of(facts: list[Kept]) -> list[Any]:
    """The export of what was held, but with other facts."""
    lines = exported(held())
    (own,) = (at for at, line in enumerate(lines) if line["type"] == "standings")
    other = [
        {"type": "fact", "tournament": "cup", "when": 0.0, "fact": msgspec.to_builtins(each.fact)}
        for each in facts
    ]
    return [*(line for line in lines[:own] if line["type"] not in ("fact", "withheld")), *other, lines[own]]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["swiss", "round-robin", "knockout"])
@pytest.mark.parametrize("facts", [True, False], ids=["with facts", "without"])
def test_what_was_held_by_the_clock_verifies(format: str, facts: bool) -> None:
    kept = held(format)
    assert {NoShow, CheckedIn, RoundBegan} <= {type(each.fact) for each in kept}
    assert findings(exported(kept, facts)) == []
    assert findings(exported(kept, facts, everything=False)) == []


@pytest.mark.slow
def test_a_public_export_has_the_affiliation_and_not_the_contact() -> None:
    written = b"".join(text(exported(held(), everything=False)))
    assert b"ETH" in written
    assert CONTACT.encode() not in written
    assert CONTACT.encode() in b"".join(text(exported(held())))


@pytest.mark.slow
@pytest.mark.parametrize("everything", [True, False], ids=["the organiser's", "the public's"])
def test_a_field_that_a_line_has_only_sometimes_is_found_where_nothing_says_it(everything: bool) -> None:
    sometimes = {
        "tournament": {
            "rounds_at": ["2026-03-01T18:00:00.000Z"],
            "round_every": 60.0,
            "check_in": 60.0,
            "by_invitation": True,
            "kept_as": "cup",
        },
        "entrant": {"no_show": True, "affiliation": "MIT", "contact": "eve@example.org"},
    }
    lines = exported(held(), everything=everything)
    for at, line in enumerate(lines):
        for key, value in sometimes.get(line["type"], {}).items():
            if line.get(key) != value:
                changed = [*lines[:at], line | {key: value}, *lines[at + 1 :]]
                assert any(each.startswith(f"{key} is ") for each in findings(changed)), (key, line)


def test_an_entrant_that_had_not_checked_in_is_shown_as_that_and_one_that_was_let_in_is_not() -> None:
    record = fold(held())["cup"]
    shown = {each["name"]: each for each in entrants_shown(record, record.entrants.values())}
    assert (shown["eve"]["no_show"], shown["eve"]["gone"]) == (True, True)
    assert ("no_show" in shown["dee"], shown["dee"]["gone"]) == (False, False)


def test_a_round_that_began_before_the_last_was_over_is_found() -> None:
    facts = list(held())
    began = [each for each in facts if isinstance(each.fact, RoundBegan)]
    facts.remove(began[1])
    facts.insert(facts.index(began[0]) + 3, began[1])
    assert any("cannot have begun: the one before was not over" in each for each in findings(lines_of(facts)))


def test_a_match_of_a_round_that_had_not_begun_is_found() -> None:
    facts = [each for each in held() if not isinstance(each.fact, RoundBegan)]
    assert any("was dealt before round 1 began" in each for each in findings(lines_of(facts)))


def test_somebody_who_checked_in_without_having_entered_is_found() -> None:
    facts = [each for each in held() if each.fact != Entered("eve")]
    facts.insert(5, Kept("cup", facts[4].when, CheckedIn("eve")))
    assert any("has not entered" in each for each in findings(lines_of(facts)))
