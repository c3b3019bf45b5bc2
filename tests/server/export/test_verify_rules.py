"""Exports from before a rule was another: what does not follow from today's is not called a mistake."""

from typing import Any

import pytest
from msgspec import structs

from server.export.verify import verify
from server.export.verify_facts import decided
from tests.server.export.test_verify_rounds import held
from tests.server.exports import exported, text, unchained
from tournament.facts import AnyFact, Drew, Entered, Opened, State, Turned
from tournament.format import Pairing, formats
from tournament.record import Record
from tournament.standings import RULES

SWISS = formats()["swiss"]
OPENED = Opened("tic-tac-toe", SWISS.name)
BEFORE: list[AnyFact] = [OPENED, *map(Entered, "abcd"), Turned(State.RUNNING)]


def objection(drew: Drew, opened: Opened = OPENED) -> str | None:
    record = Record("cup", opened)
    for fact in BEFORE[1:]:
        record.add(fact)
    return decided(record, list(enumerate([opened, *BEFORE[1:], drew], 1)), len(BEFORE))


def finished(before: list[AnyFact]) -> str | None:
    """What is wrong with being over after these."""
    opened, *later = before
    assert isinstance(opened, Opened)
    record = Record("cup", opened)
    for fact in later:
        record.add(fact)
    return decided(record, list(enumerate([*before, Turned(State.FINISHED)], 1)), len(before))


def drawn() -> tuple[Pairing, ...]:
    record = Record("cup", OPENED)
    for fact in BEFORE[1:]:
        record.add(fact)
    return tuple(SWISS.draw([*record.entrants.values()], [], [], record.terms))


@pytest.mark.parametrize("rules", [1, SWISS.rules, 99])
def test_a_draw_that_follows_from_todays_rules_is_let_pass_whatever_its_version(rules: int) -> None:
    assert objection(Drew(drawn(), rules)) is None


@pytest.mark.parametrize("format", [name for name, format in formats().items() if format.endless])
def test_what_a_format_without_an_end_draws_is_let_pass_because_nobody_knows_who_was_there(
    format: str,
) -> None:
    for names in (("a", "d"), ("d", "a"), ("c", "b")):
        assert objection(Drew((Pairing(1, 1, *names),)), Opened("tic-tac-toe", format)) is None


def test_a_draw_that_follows_from_no_known_rules_is_told_from_one_by_other_rules() -> None:
    one, *others = drawn()
    swapped = structs.replace(one, first=one.second, second=one.first), *others
    assert objection(Drew(swapped, SWISS.rules)) == "this is not what was drawn by the rules of a swiss"
    said = objection(Drew(swapped))
    assert said is not None
    assert said.startswith(
        f"this was drawn by version 1 of the rules of a swiss; this Quintain has version {SWISS.rules}"
    )


def standings_of(lines: list[Any]) -> dict[str, Any]:
    (found,) = (line for line in lines if line["type"] == "standings")
    return found


def test_a_table_says_by_which_version_it_was_ranked_and_one_of_another_is_told_as_that() -> None:
    lines = unchained(exported(held()))
    table = standings_of(lines)
    assert table["rules"] == RULES
    assert not verify(text(lines)).findings
    table["rows"][0]["tie_breaks"]["buchholz"] += 1
    (mistake,) = (each.why for each in verify(text(lines)).findings)
    assert mistake.startswith("rows[0].tie_breaks.buchholz is ")
    del table["rules"]
    explained, same = (each.why for each in verify(text(lines)).findings)
    assert explained.startswith(
        f"this was ranked by version 1 of the criteria; this Quintain has version {RULES},"
    )
    assert same == mistake


def test_a_table_from_before_there_were_versions_is_let_pass_if_it_follows() -> None:
    lines = exported(held())
    del standings_of(lines)["rules"]
    assert not verify(text(lines)).findings


@pytest.mark.slow
def test_what_is_drawn_today_says_so_and_formats_that_never_changed_are_written_as_ever() -> None:
    for format, rules in (("swiss", SWISS.rules), ("round-robin", 1)):
        facts = [line["fact"] for line in exported(held(format)) if line["type"] == "fact"]
        said = {fact.get("rules", 1) for fact in facts if fact["type"] == "drew"}
        assert said == {rules}
        assert ("rules" in {key for fact in facts for key in fact}) is (rules > 1)


def test_a_tournament_that_finished_although_there_was_more_to_draw_is_found() -> None:
    """`verify` found nothing in a knockout of 300 that was over after four rounds."""
    facts = [each.fact for each in held("knockout")]
    over = facts.index(Turned(State.FINISHED))
    assert finished(facts[:over]) is None
    drew = max(index for index, fact in enumerate(facts) if isinstance(fact, Drew))
    assert (
        finished(facts[:drew]) == "it cannot have finished: by the rules of a knockout there is more to draw"
    )
    assert (
        said := finished(
            [structs.replace(fact, rules=99) if isinstance(fact, Drew) else fact for fact in facts[:drew]]
        )
    )
    assert said.startswith("this was held by version 99 of the rules of a knockout")
