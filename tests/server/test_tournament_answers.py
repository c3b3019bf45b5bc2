"""What `quintain tournament` prints of large tournaments: no more than somebody can read."""

from typing import Any

import pytest

from server.commands.tournament_answers import LISTED, cells, consequences, preview, shown


def row(rank: int, name: str, points: float) -> dict[str, Any]:
    return {"rank": rank, "name": name, "points": points}


def test_the_preview_of_a_small_tournament_is_all_of_its_table() -> None:
    before = [row(1, "ann", 2.5), row(2, "bob", 1.0), row(3, "cas", 1.0)]
    after = [row(1, "bob", 2.0), row(2, "cas", 1.0)]
    lines = preview(before, after, "cup: what it would change").splitlines()
    assert [line.split() for line in lines[4:]] == [
        ["bob", "2", "1", "1", "2"],
        ["cas", "3", "2", "1", "1"],
        ["ann", "1", "2.5"],
    ]


def test_the_preview_of_a_large_one_is_the_top_of_its_table_and_whose_points_change_below() -> None:
    """Catches a preview of twenty thousand lines, of which three mattered."""
    before = [row(rank, f"bot-{rank}", 9000.0 - rank) for rank in range(1, 5001)]
    after = [row(rank - 1, f"bot-{rank}", 9000.0 - rank + (rank == 4000)) for rank in range(2, 5001)]
    lines = preview(before, after, "cup").splitlines()
    names = [line.split()[0] for line in lines[4:-1]]
    assert names == [*(f"bot-{rank}" for rank in range(2, LISTED + 2)), "bot-4000", "bot-1"]
    assert lines[-1] == f"and {5000 - len(names):,} more; --json lists all of them"


@pytest.mark.parametrize(
    ("out", "to_play", "told"),
    [
        (
            {"annulled": True},
            0,
            ["ann has not played half of its matches: all of them would count for nobody"],
        ),
        ({}, 1, ["1 pairing that ann has yet to play would also go to its opponents, one after the other"]),
        (
            {},
            2000,
            ["2,000 pairings that ann has yet to play would also go to its opponents, one after the other"],
        ),
        ({}, 0, []),
    ],
)
def test_a_preview_says_what_its_table_does_not_show(
    out: dict[str, bool], to_play: int, told: list[str]
) -> None:
    """Catches an organiser who sees that nobody would get a point, and gives many away."""
    after = [row(1, "bob", 1.0), row(2, "ann", 0.0) | out]
    assert [*consequences("ann", {"before": [], "after": after, "to_play": to_play})] == told


def test_a_host_of_before_has_nothing_to_say_of_what_is_to_play() -> None:
    assert [*consequences("", {"before": [], "after": [row(1, "bob", 1.0)]})] == []


def test_counts_are_written_as_on_the_pages() -> None:
    found = dict.fromkeys(("tournament", "game", "format"), "")
    waits = found | {"state": "registering", "entrants": 1200, "wanted": 10000, "played": 0, "open": 0}
    assert cells(waits)[4] == "1,200 of 10,000"


def tournament(**about: object) -> dict[str, Any]:
    """As the host's answer has it."""
    blank = ("eta", "group", "by_invitation", "start_at", "rounds_at", "next_round", "checking_in", "wanted")
    named = {"tournament": "cup", "game": "quoridor", "format": "swiss", "state": "running"}
    counted = {"played": 0, "open": 1, "playing": [], "missing": [], "entrants": []}
    return dict.fromkeys(blank) | named | counted | about


def test_who_is_out_of_a_tournament_is_not_said_to_be_gone() -> None:
    """Catches a teacher who looks for a cable, where a bot was withdrawn."""
    entrants = [{"name": "ann", "gone": False}, {"name": "bob", "gone": True}]
    assert "entrants: ann, bob (out)" in shown(tournament(entrants=entrants))


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({}, True),
        ({"wanted": 8}, False),
        ({"start_at": "2030-03-01T18:00:00Z"}, False),
        ({"rounds_at": ["2030-03-01T18:00:00Z"]}, False),
        ({"state": "running"}, False),
    ],
)
def test_a_tournament_that_waits_for_its_organiser_says_so(about: dict[str, Any], says: bool) -> None:
    """Catches a ladder whose bots wait for each other, and nobody who starts it."""
    lines = shown(tournament(**{"state": "registering"} | about)).splitlines()
    assert ("starts when you say so: quintain tournament start cup" in lines) is says
