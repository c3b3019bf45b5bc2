"""Standings: laws, and the examples of `docs/standings.md`, which are computed here."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.effort import tries
from tests.oracles import tie_breaks as oracle
from tests.steps import steps_taken
from tests.tournament.holding import Held, field, toss
from tournament.accounts import Accounts, crosstable
from tournament.format import Entrant, Pairing, Result, Score, Terms, formats
from tournament.ratings import Ratings
from tournament.standings import CRITERIA, Row, adjusted, rated, standings
from tournament.strength import Strength, strengths

PAGE = (Path(__file__).parents[2] / "docs/standings.md").read_text()
NAMES = ("ada", "bob", "cyd", "dan", "eva")
ENTRANTS = [Entrant(name) for name in NAMES]
SCORES: tuple[Score, ...] = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.0, 0.0))
ORDERS = sorted({found.order for found in formats().values()})
LEFT = "left: "  # in an example, before the names of those who have withdrawn
VALUES = {"1": 1.0, "½": 0.5, "0": 0.0}

Line = tuple[int, str, str | None, Score, bool]  # round, first, second, score, played


def numbered(lines: Sequence[Line]) -> list[Result]:
    return [
        Result(Pairing(number, round, first, second), score, played)
        for number, (round, first, second, score, played) in enumerate(lines, 1)
    ]


pairs = st.permutations(NAMES).map(lambda names: names[:2])
matches = st.tuples(st.integers(1, 5), pairs, st.sampled_from(SCORES), st.booleans()).map(
    lambda drawn: (drawn[0], *drawn[1], *drawn[2:])
)
byes = st.sampled_from(NAMES).map(lambda name: (1, name, None, (1.0, 0.0), False))
some_results = st.lists(matches | byes, max_size=30).map(numbered)


# The page: blocks of results, each with the table that comes of it


def crosstable_read(block: str) -> Iterator[Line]:
    names, *rows = (line.split() for line in block.splitlines())
    assert [row[0] for row in rows] == names
    for row, first in enumerate(names):
        for column in range(row + 1, len(names)):
            yield (
                1,
                first,
                names[column],
                (VALUES[rows[row][column + 1]], VALUES[rows[column][row + 1]]),
                True,
            )


def rounds_read(block: str) -> Iterator[Line]:
    for line in block.splitlines():
        if line.startswith(LEFT):
            continue
        round, matches = line.split(": ")
        for match in matches.split(", "):
            match match.split():
                case [name, "bye"]:
                    yield int(round), name, None, (1.0, 0.0), False
                case [first, score, second, *forfeit]:
                    mine, theirs = score.split("–")
                    yield int(round), first, second, (VALUES[mine], VALUES[theirs]), not forfeit


def results_of(block: str) -> list[Result]:
    return numbered([*(crosstable_read(block) if block.startswith(" ") else rounds_read(block))])


def entrants_of(results: Sequence[Result], block: str = "") -> list[Entrant]:
    gone = {name for line in block.splitlines() if line.startswith(LEFT) for name in line.split()[1:]}
    names = dict.fromkeys(name for r in results for name in r.pairing.names)
    return [Entrant(name, gone=name in gone) for name in names]


def table(text: str) -> list[list[str]]:
    """The first table in a text, its header first."""
    found = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert found is not None
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()
    )
    return [header, *rows]


BLOCKS = re.finditer(r"```text\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = [(block[1], table(PAGE[block.end() :])) for block in BLOCKS]


@pytest.mark.parametrize(("block", "expected"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_on_the_page_are_what_comes_out(block: str, expected: list[list[str]]) -> None:
    results = results_of(block)
    header, *lines = expected
    order = header[2:]
    rows = standings(entrants_of(results, block), results, order)
    found = [
        [row.rank, row.name, *([row.points] if "points" in order else []), *row.tie_breaks] for row in rows
    ]
    assert [row[:2] for row in found] == [[int(rank), name] for rank, name, *_ in lines]
    for row, (_, _, *values) in zip(found, lines, strict=True):
        assert row[2:] == pytest.approx([float(value) for value in values], abs=0.005)


def test_every_criterion_is_explained_on_the_page_and_has_an_example() -> None:
    shown = {name for _, (header, *_) in EXAMPLES for name in header[2:]}
    assert shown == set(CRITERIA)
    for name, criterion in CRITERIA.items():
        assert f"### `{name}`\n\n{criterion.explanation}\n" in PAGE
        assert re.fullmatch(r"[^.]+\.", criterion.explanation), "one sentence"


def test_every_format_goes_by_criteria_that_exist_and_are_on_the_page() -> None:
    written = {name.strip("`"): tuple(order.split(", ")) for name, order in table(PAGE)[1:]}
    assert written == {name: found.order for name, found in formats().items()}
    assert {criterion for order in written.values() for criterion in order} <= set(CRITERIA)


@pytest.mark.slow
def test_the_ratings_on_the_page_are_what_comes_out() -> None:
    block = next(block for block, (header, *_) in EXAMPLES if "sonneborn-berger" in header)
    found = strengths(Ratings(results_of(block))).of
    header, *lines = table(PAGE[PAGE.index("For the seven of the example") :])
    assert header == ["name", "strength", "from", "to", "P(first)"]
    for name, *values in lines:
        known = found[name]
        assert [float(value) for value in values[:3]] == pytest.approx(
            [known.strength, *known.interval], abs=0.51
        )
        assert float(values[3].removesuffix(" %")) == pytest.approx(100 * known.first, abs=0.51)


# Laws


def key(row: Row, order: Sequence[str]) -> list[float]:
    """The values of all criteria, the points in their place."""
    values = iter(row.tie_breaks)
    return [row.points if name == "points" else next(values) for name in order]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@given(results=some_results)
def test_the_best_come_first_and_only_equals_share_a_rank(
    order: tuple[str, ...], results: list[Result]
) -> None:
    rows = standings(ENTRANTS, results, order)
    keys = [key(row, order) for row in rows]
    assert sorted(row.name for row in rows) == sorted(NAMES)
    assert all(len(row.tie_breaks) == len(set(order) - {"points"}) for row in rows)
    assert keys == sorted(keys, reverse=True)
    assert [row.rank for row in rows] == [1 + sum(other > mine for other in keys) for mine in keys]


@given(some_results)
def test_points_are_what_was_given_out_and_played_is_wins_draws_and_losses(results: list[Result]) -> None:
    rows = standings(ENTRANTS, results, ("points",))
    assert sum(row.points for row in rows) == sum(
        sum(result.score) if result.pairing.second else result.score[0] for result in results
    )
    matches = [result for result in results if result.pairing.second is not None]
    assert sum(row.played for row in rows) == 2 * len(matches)
    for row in rows:
        byes = sum(result.pairing.names == (row.name,) for result in results)
        assert row.played == row.wins + row.draws + row.losses
        assert row.points == row.wins + row.draws / 2 + byes


@pytest.mark.slow
@given(some_results)
def test_the_order_of_the_results_decides_nothing(results: list[Result]) -> None:
    timeless = [name for name in CRITERIA if name not in ("rating", "reached")]
    assert standings(ENTRANTS, results, timeless) == standings(ENTRANTS, results[::-1], timeless)


def test_equals_are_listed_in_the_order_of_entry() -> None:
    rows = standings(ENTRANTS[::-1], [], ("points", "direct-encounter"))
    assert [(row.rank, row.name) for row in rows] == [(1, name) for name in NAMES[::-1]]


def test_whoever_has_gone_is_listed_and_ranked_like_everybody() -> None:
    gone = [Entrant("ada", gone=True), Entrant("bob")]
    rows = standings(gone, numbered([(1, "ada", "bob", (1.0, 0.0), True)]), ("points",))
    assert [(row.rank, row.name, row.points) for row in rows] == [(1, "ada", 1.0), (2, "bob", 0.0)]


def test_an_encounter_counts_for_nothing_while_two_of_the_equals_have_not_met() -> None:
    """All others have met all."""
    won: list[Line] = [
        (1, one, other, (1.0, 0.0), True)
        for one, other in combinations(NAMES, 2)
        if (one, other) != ("dan", "eva")
    ]
    rows = standings(ENTRANTS, numbered(won), ("direct-encounter",))
    assert [(row.rank, row.tie_breaks) for row in rows] == [(1, (0.0,))] * len(NAMES)


def test_an_encounter_counts_for_nothing_while_some_of_the_equals_have_not_met() -> None:
    """Ada, bob and cyd have a point each. Ada beat bob, but cyd has met neither."""
    met: list[Line] = [
        (1, "ada", "bob", (1.0, 0.0), True),
        (1, "cyd", "dan", (1.0, 0.0), True),
        (2, "bob", "eva", (1.0, 0.0), True),
    ]
    rows = standings(ENTRANTS, numbered(met), ("points", "direct-encounter"))
    assert [(row.rank, row.tie_breaks) for row in rows] == [(1, (0.0,))] * 3 + [(4, (0.0,))] * 2


def test_an_encounter_counts_for_nothing_where_some_of_the_equals_have_met_more_often() -> None:
    """Ada, bob and cyd have 1½ each; all have met, ada and bob twice."""
    met: list[Line] = [
        (1, "ada", "bob", (1.0, 0.0), True),
        (1, "cyd", "dan", (0.5, 0.5), True),
        (2, "bob", "cyd", (1.0, 0.0), True),
        (3, "cyd", "ada", (1.0, 0.0), True),
        (4, "ada", "bob", (0.5, 0.5), True),
    ]
    rows = standings(ENTRANTS, numbered(met), ("points", "direct-encounter"))
    assert [(row.rank, row.tie_breaks) for row in rows[:3]] == [(1, (0.0,))] * 3
    rows = standings(ENTRANTS, numbered(met[:1] + met[2:4]), ("direct-encounter",))
    assert [row.rank for row in rows] == [1] * 5, "the other two have met nobody"


def test_in_a_knockout_nobody_wins_a_round_that_is_still_to_be_replayed() -> None:
    first: list[Line] = [(1, "ada", "bob", (0.5, 0.5), True), (1, "cyd", "dan", (0.0, 1.0), True)]
    rows = standings(ENTRANTS, numbered(first), ("reached",))
    assert [(row.rank, row.name) for row in rows] == [
        (1, "dan"),
        (2, "ada"),
        (2, "bob"),
        (2, "cyd"),
        (2, "eva"),
    ]


def test_in_a_knockout_whoever_is_disqualified_is_last_even_after_winning_it() -> None:
    played: list[Line] = [
        (1, "ada", None, (1.0, 0.0), False),
        (1, "bob", "cyd", (1.0, 0.0), True),
        (2, "ada", "bob", (1.0, 0.0), True),
    ]
    out = [Entrant("ada", gone=True), *ENTRANTS[1:3]]
    rows = standings(out, adjusted(numbered(played), (), {"ada"}), ("reached",))
    assert [(row.name, row.tie_breaks[0]) for row in rows] == [("bob", 2.0), ("ada", 0.0), ("cyd", 0.0)]
    both = [Entrant("ada", gone=True), Entrant("bob", gone=True), ENTRANTS[2]]
    rows = standings(both, adjusted(numbered(played), (), {"ada", "bob"}), ("reached",))
    assert {row.name: row.tie_breaks[0] for row in rows} == {"ada": 0.0, "bob": 0.0, "cyd": 1.0}


def test_in_a_knockout_whoever_withdraws_keeps_the_rounds_that_it_came_through_as_the_better_seed() -> None:
    """The one that it had drawn with had gone out, and was second as if it had gone on."""
    played: list[Line] = [
        (1, "ada", "bob", (0.5, 0.5), True),
        (1, "bob", "ada", (0.5, 0.5), True),
        (1, "cyd", "dan", (1.0, 0.0), True),
        (2, "ada", "cyd", (0.0, 1.0), False),
    ]
    rows = standings([Entrant("ada", gone=True), *ENTRANTS[1:4]], numbered(played), ("reached",))
    assert {row.name: row.tie_breaks[0] for row in rows} == {"cyd": 2.0, "ada": 1.0, "bob": 0.0, "dan": 0.0}


def test_in_a_knockout_nobody_wins_a_round_against_another_that_is_disqualified_as_well() -> None:
    played: list[Line] = [
        (1, "ada", "bob", (1.0, 0.0), True),
        (1, "cyd", "dan", (1.0, 0.0), True),
        (2, "ada", "cyd", (1.0, 0.0), True),
    ]
    out = [Entrant("ada", gone=True), Entrant("bob", gone=True), *ENTRANTS[2:4]]
    rows = standings(out, adjusted(numbered(played), (), {"ada", "bob"}), ("reached",))
    assert {row.name: row.tie_breaks[0] for row in rows} == {"cyd": 2.0, "ada": 0.0, "bob": 0.0, "dan": 0.0}


def test_in_a_knockout_a_table_that_is_kept_up_to_date_knows_who_has_gone_after_a_draw() -> None:
    played: list[Line] = [(1, "ada", "bob", (0.5, 0.5), True), (1, "bob", "ada", (0.5, 0.5), True)]
    accounts = Accounts(ENTRANTS[:2], numbered(played))
    assert accounts.rounds_won == {"ada": 1}
    accounts.admit(Entrant("ada", gone=True))
    assert accounts.rounds_won == {"bob": 1}


# FIDE's rules: virtual opponents, rounds that were missed, and direct encounter applied again


@settings(max_examples=tries(80, 3000))  # what is rare in it has to be among them
@given(count=st.integers(2, 9), seed=st.integers(0, 2**32 - 1), late=st.integers(0, 2), cut=st.floats(0, 1))
def test_buchholz_is_as_fide_counts_rounds_that_were_not_played(
    count: int, seed: int, late: int, cut: float
) -> None:
    """Of a Swiss that some leave and some enter late, at its end or somewhere before."""
    random = Random(seed)
    held = Held(formats()["swiss"], field(count), Terms(rounds=5, seed=seed)).hold(
        random, toss(random), 0.1, late
    )
    results = held.results[: round(cut * len(held.results))] if cut < 0.5 else held.results
    table = oracle.rounds_of(held.entrants, results)
    rows = standings(held.entrants, results, ("buchholz", "buchholz-cut-1"))
    assert {row.name: row.tie_breaks for row in rows} == {
        name: (oracle.buchholz(table, name), oracle.buchholz(table, name, 1)) for name in table
    }


def test_nobody_has_a_lower_buchholz_because_an_opponent_left_and_not_a_higher_one_either() -> None:
    """Than if that opponent had drawn all its other matches."""
    lines: list[Line] = [
        (1, "ada", "bob", (1.0, 0.0), True),
        (1, "cyd", "dan", (1.0, 0.0), True),
        (2, "cyd", "ada", (0.0, 1.0), True),
    ]
    drew: list[Line] = [(2, "bob", "dan", (0.5, 0.5), True), (3, "bob", "cyd", (0.5, 0.5), True)]
    went = [Entrant(name, gone=name == "bob") for name in NAMES[:4]]
    third: list[Line] = [(3, "ada", "dan", (0.5, 0.5), True)]
    ((left, *_), (stayed, *_)) = (
        [row for row in standings(entrants, numbered(played), ("buchholz",)) if row.name == "ada"]
        for entrants, played in ((went, lines + third), (ENTRANTS[:4], lines + drew + third))
    )
    assert left.tie_breaks[0] == 1.0 + 1.0 + 0.5  # bob's two draws, cyd's point, dan's half
    assert stayed.tie_breaks[0] == left.tie_breaks[0] + 1.0  # cyd's and dan's halves against bob


def test_buchholz_costs_as_much_for_each_round_however_often_one_that_has_left_was_met() -> None:
    """Catches a look at all of its rounds in each of its opponents' rounds."""

    def effort(rounds: int) -> int:
        played = numbered([(round, "ada", "bob", (1.0, 0.0), True) for round in range(1, rounds + 1)])
        entrants = [ENTRANTS[0], Entrant("bob", gone=True)]
        return steps_taken(lambda: standings(entrants, played, ("buchholz",)))

    assert effort(200) < 3 * effort(100)


def test_buchholz_of_a_table_that_is_kept_up_to_date_knows_what_one_that_has_left_has_missed_since() -> None:
    played: list[Line] = [(1, "ada", "bob", (1.0, 0.0), True), (2, "ada", "cyd", (1.0, 0.0), True)]
    accounts = Accounts(ENTRANTS[:3])
    accounts.admit(gone := Entrant("bob", gone=True))
    for number, result in enumerate(numbered(played), 1):
        accounts.enter(result)
        known, anew = (
            CRITERIA["buchholz"].values(NAMES[:3], each)
            for each in (accounts, Accounts([ENTRANTS[0], gone, ENTRANTS[2]], numbered(played[:number])))
        )
        assert known == anew


@given(st.lists(st.sampled_from(SCORES[:3]), min_size=21, max_size=21))
def test_direct_encounter_is_applied_again_to_those_whom_it_leaves_equal(scores: list[Score]) -> None:
    """Among seven who have all met, taken as if they were equal before."""
    names = [f"p{index}" for index in range(7)]
    pairs = [(one, other) for index, one in enumerate(names) for other in names[:index]]
    results = [
        Result(Pairing(number, 1, *pair), score)
        for number, (pair, score) in enumerate(zip(pairs, scores, strict=True), 1)
    ]
    rows = standings([Entrant(name) for name in names], results, ("direct-encounter",))
    groups = [{row.name for row in rows if row.rank == rank} for rank in sorted({row.rank for row in rows})]
    assert groups == oracle.direct_encounter(names, results)
    for row in rows:
        points = sum(
            score[result.pairing.names.index(row.name)]
            for result, score in zip(results, scores, strict=True)
            if row.name in result.pairing.names
        )
        assert 0 <= row.tie_breaks[0] - points < 0.5


# The crosstable, and what withdrawals and disqualifications do


@given(some_results)
def test_a_crosstable_has_every_match_twice_once_from_either_side(results: list[Result]) -> None:
    cells = crosstable(Accounts(ENTRANTS, results), NAMES)
    for result in results:
        first, second = result.pairing.first, result.pairing.second
        if second is not None:
            number = result.pairing.number
            (mine,) = (entry for entry in cells[first][second] if entry.number == number)
            (theirs,) = (entry for entry in cells[second][first] if entry.number == number)
            assert (mine.score, theirs.score) == result.score
    entries = [entry for row in cells.values() for cell in row.values() for entry in cell]
    assert len(entries) == 2 * sum(result.pairing.second is not None for result in results)
    assert all(set(row) == set(NAMES) - {name} for name, row in cells.items())


people = st.sets(st.sampled_from(NAMES))


@given(some_results, people)
def test_what_is_annulled_counts_for_nobody(results: list[Result], annulled: set[str]) -> None:
    left = adjusted(results, annulled, ())
    assert left == [result for result in results if annulled.isdisjoint(result.pairing.names)]


@given(some_results, people)
@example(numbered([(1, *names, (0.5, 0.5), True) for names in (("ada", "bob"), ("bob", "ada"))]), {"ada"})
def test_whoever_is_disqualified_has_lost_everything_and_the_others_have_won_it(
    results: list[Result], disqualified: set[str]
) -> None:
    left = {result.pairing.number: result for result in adjusted(results, (), disqualified)}
    for result in results:
        names = result.pairing.names
        now = left.get(result.pairing.number)
        if disqualified.isdisjoint(names):
            assert now == result
        elif len(names) == 1:
            assert now is None, "a bye of somebody disqualified"
        else:
            assert now is not None
            assert now.score == tuple(0.0 if name in disqualified else 1.0 for name in names)
            assert (now.digest, now.pairing, now.played) == (result.digest, result.pairing, False)


@given(some_results, people, people)
def test_whoever_has_nothing_to_do_with_it_keeps_its_results(
    results: list[Result], annulled: set[str], disqualified: set[str]
) -> None:
    left = adjusted(results, annulled, disqualified)
    assert [r for r in left if not (annulled | disqualified) & {*r.pairing.names}] == [
        r for r in results if not (annulled | disqualified) & {*r.pairing.names}
    ]
    assert all(annulled.isdisjoint(result.pairing.names) for result in left)


def test_rows_get_the_ratings_of_those_who_have_one() -> None:
    rows = standings(ENTRANTS[:2], [], ("points",))
    known = rated(rows, {"bob": Strength("bob", 12.5, (-100.0, 125.0), 0.75, (0.75, 0.25))})
    assert known[0] == rows[0]
    assert known[1] == Row(1, "bob", 0.0, 0, 0, 0, 0, (), 12.5, (-100.0, 125.0), 0.75, (0.75, 0.25))
