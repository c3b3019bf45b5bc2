"""The evening, held: it takes minutes, so `make campaign` does it; its parts are tried where they are."""

import pytest

from tests.evening.evening import HONEST, NAME, Found, Plan, evening

pytestmark = pytest.mark.campaign

COMMANDS = 11  # with `quintain serve`


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return evening(tmp_path_factory.mktemp("evening"), Plan(), lambda line: None)


def reasons(found: Found, name: str) -> set[tuple[str, str | None]]:
    return {(match["ending"], match["fault"]) for match in found.lost(name)}


def test_it_takes_few_commands_and_the_export_verifies(found: Found) -> None:
    """A command that fails fails the evening, and `quintain verify` is the last of them."""
    assert len(found.typed) == COMMANDS
    assert found.typed[-1].words[0] == "verify"


def test_nobody_honest_loses_otherwise_than_on_the_board(found: Found) -> None:
    for name in (*HONEST, "late", "returns", "babbles"):
        assert reasons(found, name) <= {("played", None)}, name


@pytest.mark.parametrize(
    ("name", "ending", "fault", "said"),
    [
        ("e99", "time", "bot", "16 of its moves were refused before, the last, e99, because"),
        ("slow", "time", "bot", "slow ran out of time"),
        ("dies", "time", "network", "disconnected"),
        ("leaves", "left", "bot", "leaves was here before, and did not come back"),
    ],
)
def test_whoever_misbehaves_is_told_how(found: Found, name: str, ending: str, fault: str, said: str) -> None:
    lost = [each for each in found.lost(name) if each["ending"] != "played"]
    assert (ending, fault) in reasons(found, name)
    assert any(said in each["why"] for each in lost)
    told = {each["match"]: each["why"] for each in found.authors[name].ends}
    assert all(told[each["match"]] == each["why"] for each in lost if each["match"] in told)


def test_the_one_who_came_late_was_told_and_played_all_its_matches(found: Found) -> None:
    (said,) = found.authors["late"].refusals
    assert f"late had not checked in to {NAME}" in said
    (row,) = (each for each in found.standings if each["name"] == "late")
    assert row["played"] == len(found.standings) - 2, "all but itself and the one that was withdrawn"


def test_the_organiser_is_told_who_is_missing_and_everybody_whose_the_bots_are(found: Found) -> None:
    shown = next(each.said for each in found.typed if "withdraw evening dies" in each.said)
    assert "missing: dies" in shown
    assert {each["affiliation"] for each in found.standings} == {
        f"Team {each['name']}" for each in found.standings
    }
    assert not any("@example.org" in each.said for each in found.typed)
