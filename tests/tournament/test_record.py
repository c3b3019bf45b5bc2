"""What is known of a tournament: a fold over facts."""

import gc
from collections import Counter
from copy import copy
from itertools import combinations
from random import Random
from weakref import ref

import msgspec
import pytest

from tests.steps import steps_taken
from tests.tournament.histories import history
from tournament import desk
from tournament.events import NOBODY, Ended, Ending, absences
from tournament.facts import (
    Admitted,
    AnyFact,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    Entered,
    Froze,
    Kept,
    NoShow,
    Opened,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.folding import fold
from tournament.format import Pairing, Result, formats, moves_digest
from tournament.pairing.round_robin import table
from tournament.record import Record
from tournament.settling import unplayed
from tournament.snapshot import restored, taken

PAIRINGS = (Pairing(1, 1, "ann", "bob"), Pairing(2, 1, "cas", "dee"), Pairing(3, 2, "ann", "cas"))


def concluded(match: str, number: int, winner: int | None = 0, ending: Ending = Ending.PLAYED) -> Concluded:
    pairing = PAIRINGS[number - 1]
    scores = {0: (1.0, 0.0), 1: (0.0, 1.0), None: (0.5, 0.5)}
    score = None if ending is Ending.VOID else scores[winner]
    return Concluded(
        match, number, (pairing.first, pairing.second or ""), winner, ending, "so", score, (1, 2), (0.5, 0.5)
    )


def record(*facts: AnyFact, format: str = "round-robin") -> Record:
    known = Record("cup", Opened("tic-tac-toe", format, 4))
    for fact in (*map(Entered, ("ann", "bob", "cas", "dee")), Turned(State.RUNNING), Drew(PAIRINGS), *facts):
        known.add(fact)
    return known


def points(of: Record) -> dict[str, float]:
    return {row.name: row.points for row in of.standings()}


def test_a_pairing_is_open_until_it_is_dealt_or_decided() -> None:
    known = record()
    assert list(known.open) == [1, 2, 3]
    known.add(Dealt("cup-2", 2))
    assert list(known.open) == [1, 3]
    known.add(concluded("cup-2", 2))
    known.add(concluded("cup-1", 1))
    assert list(known.open) == [3]
    assert known.dealt == {}
    assert known.results.remembered() == [
        Result(PAIRINGS[1], (1.0, 0.0), True, moves_digest((1, 2))),
        Result(PAIRINGS[0], (1.0, 0.0), True, moves_digest((1, 2))),
    ]


def test_a_void_match_counts_for_nothing_and_is_played_again_under_another_name() -> None:
    known = record(Dealt("cup-1", 1), concluded("cup-1", 1, None, Ending.VOID))
    assert list(known.open) == [1, 2, 3], "in the order of drawing"
    assert known.results.remembered() == []
    assert known.match_name(1) == "cup-1.2"
    known.add(Dealt("cup-1.2", 1))
    known.add(concluded("cup-1.2", 1, 1))
    assert points(known)["bob"] == 1.0
    assert list(known.matches) == ["cup-1", "cup-1.2"]


def test_a_match_that_an_organiser_voids_counts_no_more_but_stays_in_the_record() -> None:
    known = record(Dealt("cup-1", 1), concluded("cup-1", 1))
    known.add(Voided("cup-1", "a cable"))
    assert points(known)["ann"] == 0.0
    assert list(known.open) == [1, 2, 3]
    assert known.matches["cup-1"].score == (1.0, 0.0), "what was shown does not change"
    known.add(Dealt("cup-1.2", 1))
    known.add(concluded("cup-1.2", 1, None))
    known.add(Voided("cup-1", "said twice"))
    assert points(known)["ann"] == 0.5


def test_nothing_is_played_again_where_there_is_no_end() -> None:
    known = record(Dealt("cup-1", 1), concluded("cup-1", 1, None, Ending.VOID), format="ladder")
    assert list(known.open) == [2, 3]
    assert [result.pairing.number for result in known.results.remembered()] == [1], (
        "the format is told that it is closed"
    )
    assert known.adjusted() == [], "and it counts for nothing"


def test_a_bye_counts_when_it_is_drawn() -> None:
    known = Record("cup", Opened("tic-tac-toe", "swiss", 3))
    for fact in (Entered("ann"), Drew((Pairing(1, 1, "ann", None),))):
        known.add(fact)
    assert points(known) == {"ann": 1.0}
    assert known.open == {}


def test_a_bye_is_no_match_neither_drawn_nor_decided() -> None:
    known = Record("cup", Opened("tic-tac-toe", "swiss", 3), whole=False)
    drawn = Drew((Pairing(1, 1, "ann", "bob"), Pairing(2, 1, "cas", None)))
    for fact in (Entered("ann"), Entered("bob"), Entered("cas"), drawn):
        known.add(fact)
    assert (known.pairings, known.decided) == (1, 0)
    known.add(concluded("cup-1", 1))
    for each in (known, known.after(), restored(taken(known))):
        assert (each.pairings, each.decided) == (1, 1)
        assert sum(row.points for row in each.standings()) == 2.0, "it counts in the standings"


def test_a_match_is_concluded_once() -> None:
    known = record(concluded("cup-1", 1))
    with pytest.raises(ValueError, match="before"):
        known.add(concluded("cup-1", 1))


def test_that_nobody_was_there_is_remembered_and_other_voids_are_not_counted_as_that() -> None:
    known = record(concluded("cup-1", 1, None, Ending.VOID))
    assert not known.missed(1)
    known.add(Concluded("cup-1.2", 1, ("ann", "bob"), None, Ending.VOID, NOBODY, None))
    assert known.missed(1)
    assert not known.missed(2)


def test_whoever_has_lost_by_not_coming_is_forgiven_nothing_and_who_was_gone_from_a_void_match_is() -> None:
    """The sentence may be the same. Catches one that is forgiven twice, once its forfeit was voided."""
    for why, gone in ((NOBODY, {"ann", "bob"}), *((why, {"bob"}) for why in absences("bob"))):
        for ending, score in ((Ending.VOID, None), (Ending.LEFT, (1.0, 0.0))):
            known = record(Concluded("cup-1", 1, ("ann", "bob"), None, ending, why, score))
            assert known.missed(1) == (gone if score is None else set())


def test_whatever_changes_who_there_is_to_be_shown_changes_the_version() -> None:
    known = record()
    for fact in (
        Entered("eve"),
        Described("eve", "a school", ""),
        NoShow("eve"),
        Admitted("eve"),
        Withdrew("eve", annulled=True),
        Disqualified("ann", "?"),
    ):
        before = known.arrivals, known.version
        known.add(fact)
        assert (known.arrivals, known.version) == (before[0] + 1, before[1] + 1)
    known.add(Entered("eve"))
    assert (known.arrivals, known.version) == (before[0] + 1, before[1] + 1), "whoever is in enters no more"


@pytest.mark.parametrize("format", [name for name, format in formats().items() if not format.endless])
@pytest.mark.parametrize("seed", range(5))
def test_whether_a_withdrawal_annuls_is_what_a_look_at_all_pairings_finds(format: str, seed: int) -> None:
    opened, facts = history(format, Random(seed), 200)
    known = Record("cup", opened)
    for fact in facts:
        known.add(fact)
        counting = [each for each in known.drawn.values() if not known.annulled.intersection(each.names)]
        drawn = Counter(name for pairing in counting for name in pairing.names)
        decided = Counter(
            name for each in counting if each.number in known.results.came_to for name in each.names
        )
        for name in known.entrants.keys() - known.annulled:
            assert desk.annulled(known, name) == (known.format.annuls and 2 * decided[name] < drawn[name])
        left = Counter(name for pairing in known.open.values() for name in pairing.names)
        assert {name: known.left_to_play(name) for name in left} == left


@pytest.mark.parametrize("format", ["round-robin", "ladder"])
def test_what_an_entrant_has_left_to_play_is_not_looked_for_among_all_pairings(format: str) -> None:
    """The desk's preview held up all moves for 60 ms in a round robin of a thousand."""

    def cost(entrants: int) -> int:
        known = Record("cup", Opened("tic-tac-toe", format))
        names = [f"bot-{number}" for number in range(entrants)]
        for name in names:
            known.add(Entered(name))
        both = enumerate(combinations(names, 2), 1)
        known.add(Drew(tuple([Pairing(number, 1, *two) for number, two in both])))
        assert known.left_to_play("bot-0") == (0 if known.format.endless else entrants - 1)
        return steps_taken(lambda: known.left_to_play("bot-0"))

    assert cost(40) < 15 * cost(4), "13 times as many of its own, and 130 times as many in all"


@pytest.mark.parametrize("settled", [False, True])
def test_a_match_that_was_not_played_because_the_opponent_is_annulled_is_none_that_was_played(
    settled: bool,
) -> None:
    """Catches ann being held to one match of six because three others had withdrawn before theirs with it."""
    known = Record("cup", Opened("tic-tac-toe", "round-robin"))
    others = ("bob", "cas", "dee", "eve", "fay", "gus")
    drawn = [Pairing(number, number, "ann", other) for number, other in enumerate(others, 1)]
    for fact in (*map(Entered, ("ann", *others)), Turned(State.RUNNING), Drew(tuple(drawn))):
        known.add(fact)
    for other in ("eve", "fay", "gus"):
        assert desk.annulled(known, other)
        known.add(Withdrew(other, annulled=True))
    for pairing in drawn[3:] if settled else ():
        known.add(unplayed(known, pairing, Ended(0.0, 0, Ending.LEFT, "out"), (1.0, 0.0)))
    known.add(Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "so", (1.0, 0.0), (1,), (0.5,)))
    assert desk.annulled(known, "ann"), "one of the three that count"
    known.add(Concluded("cup-2", 2, ("ann", "cas"), 0, Ending.PLAYED, "so", (1.0, 0.0), (1,), (0.5,)))
    assert not desk.annulled(known, "ann"), "two of the three"


def test_what_a_withdrawal_costs_grows_with_the_pairings_of_that_entrant_alone() -> None:
    steps: list[int] = []
    for count in (20, 200):
        many = Record("cup", Opened("tic-tac-toe", "round-robin"))
        names = [f"bot-{number}" for number in range(count)]
        pairs = [pair for round in table(names) for pair in round]
        drew = Drew(tuple(Pairing(number, 1, *pair) for number, pair in enumerate(pairs, 1)))
        for fact in (*map(Entered, names), Turned(State.RUNNING), drew):
            many.add(fact)
        steps.append(steps_taken(lambda many=many: desk.annulled(many, "bot-7")))
        assert desk.annulled(many, "bot-7")
    assert steps[1] < 11 * steps[0], "it has ten times as many pairings, and all together a hundred times"


def test_whoever_withdraws_is_gone_and_its_results_only_if_they_are_annulled() -> None:
    for annulled, expected in ((False, 1.0), (True, 0.0)):
        known = record(concluded("cup-1", 1), Withdrew("bob", annulled))
        assert known.entrants["bob"].gone
        assert points(known)["ann"] == expected


def test_whoever_is_disqualified_has_lost_everything() -> None:
    known = record(concluded("cup-1", 1, winner=1), Disqualified("bob", "two bots in one"))
    assert points(known) == {"ann": 1.0, "bob": 0.0, "cas": 0.0, "dee": 0.0}


def test_a_format_is_given_the_points_that_the_table_has() -> None:
    """Catches a Swiss that pairs by other points than the table's, after a disqualification."""
    bye = Drew((Pairing(4, 3, "dee", None),))
    known = record(bye, concluded("cup-1", 1), concluded("cup-2", 2, 1), format="swiss")
    for cheat in ("ann", "dee"):
        known.add(Disqualified(cheat, "two bots in one"))
        _, results = known.past()
        assert [result.pairing.number for result in results] == [4, 1, 2], "all of it is decided, as ever"
        for name in known.entrants.keys() - known.out:
            given = [dict(zip(each.pairing.names, each.score, strict=False)).get(name, 0) for each in results]
            assert sum(given) == points(known)[name]


def test_in_a_knockout_nobody_comes_back_for_somebody_disqualified() -> None:
    known = record(concluded("cup-1", 1), concluded("cup-2", 2), format="knockout")
    known.add(Disqualified("ann", "a cheat"))
    assert [result.score for result in known.past()[1]] == [(1.0, 0.0), (1.0, 0.0)]


def test_a_preview_changes_nothing() -> None:
    known = record(Dealt("cup-1", 1), concluded("cup-1", 1))
    before = msgspec.json.encode(
        [known.standings(), known.results.remembered(), dict(known.open), known.matches, known.state]
    )
    after = known.after(
        Voided("cup-1", "?"), Disqualified("cas", "?"), Turned(State.PAUSED), Dealt("cup-2", 2)
    )
    assert points(after) != points(known)
    assert after.state is State.PAUSED
    assert before == msgspec.json.encode(
        [known.standings(), known.results.remembered(), dict(known.open), known.matches, known.state]
    )


def test_standings_are_frozen_in_pieces_and_nothing_changes_them_later() -> None:
    """For a round robin of a thousand this held up all moves for 50 ms."""
    known = record(Dealt("cup-1", 1), concluded("cup-1", 1))
    assert sum(1 for _ in known.adding(Froze(True))) > 10, "each of them copies one collection"
    frozen, before = known.public, known.standings()
    assert frozen.public is frozen
    for fact in (concluded("cup-2", 2), Withdrew("ann", True), Voided("cup-1", "?"), Entered("eve")):
        known.add(fact)
    assert frozen.standings() == before != known.standings()
    assert [*frozen.open] == [2, 3]
    known.add(Froze(False))
    assert known.public is known


def test_what_was_frozen_is_gone_when_it_is_shown_no_more() -> None:
    """Catches a copy of each large event, with its boards, that stayed until the host ended.

    Nobody waits for the collector here: it hardly ever looks at what has been there for long.
    """
    known = record(Dealt("cup-1", 1), concluded("cup-1", 1))
    gc.disable()
    try:
        known.add(Froze(True))
        frozen = ref(known.public)
        known.add(Froze(False))
        assert frozen() is None
    finally:
        gc.enable()


def test_a_record_is_the_same_when_its_facts_have_been_written_and_read() -> None:
    facts: list[AnyFact] = [
        Opened("hexagon-dots", "swiss", 4, options={"rows": 3, "cols": 3}),
        *map(Entered, ("ann", "bob", "cas", "dee")),
        Drew(PAIRINGS),
        Dealt("cup-1", 1),
        concluded("cup-1", 1),
        Withdrew("bob", annulled=False),
        Disqualified("dee", "why"),
        Voided("cup-1", "why"),
        Turned(State.FINISHED),
    ]
    kept = [Kept("cup", float(n), fact) for n, fact in enumerate(facts)]
    read = msgspec.json.decode(msgspec.json.encode(kept), type=list[Kept])
    assert read == kept
    one, other = fold(read)["cup"], fold(kept)["cup"]
    assert vars(one) | {"results": vars(one.results)} == vars(other) | {"results": vars(other.results)}


@pytest.mark.parametrize("format", formats())
def test_a_record_knows_of_how_many_facts_it_consists(format: str) -> None:
    """By this an export knows where to stop while more is being kept."""
    opened, facts = history(format, Random(1), 60)
    known = Record("cup", opened)
    for fact in facts:
        known.add(fact)
    assert known.facts == 1 + len(facts)


def test_facts_of_a_tournament_that_was_never_opened_are_refused() -> None:
    with pytest.raises(ValueError, match="before it was opened"):
        fold([Kept("cup", 0.0, Entered("ann"))])


def test_of_a_deleted_tournament_nothing_is_known_but_its_name_in_the_store() -> None:
    """Catches 8 KB for each: an organiser's script may open and delete one every minute."""
    facts = (Opened("tic-tac-toe", "round-robin"), Entered("ann"), Turned(State.DELETED), Entered("bob"))
    (deleted,) = fold(Kept("cup~2", 0.0, fact) for fact in facts).values()
    assert vars(deleted).keys() == {"name", "kept_as", "whole", "state"}
    assert (deleted.name, deleted.kept_as, deleted.state) == ("cup", "cup~2", State.DELETED)
    assert not deleted.entrants
    assert deleted.state is State.DELETED
    assert not hasattr(deleted, "what no record has")
    assert copy(fold(Kept("cup", 0.0, fact) for fact in facts)["cup"]).kept_as == "cup"
