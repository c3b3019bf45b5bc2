"""Which facts are possible after which: those that a host can have kept, and of all others what is wrong."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pytest
from msgspec import structs

from server.export.verify_facts import can_be_added, decided, is_over, objections, opening_objections
from tests.steps import steps_taken
from tournament.causes import Returned
from tournament.events import Ending, Fault
from tournament.facts import (
    Admitted,
    AnyFact,
    CheckedIn,
    Claimed,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    EndedEarly,
    Entered,
    Froze,
    NoShow,
    Opened,
    Revealed,
    RoundBegan,
    Sealed,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import OPEN, Aim, Pairing, Score, Terms
from tournament.record import Record
from tournament.sealing import commitment

Facts = tuple[AnyFact, ...]

SEED = Revealed(7, "salt")
RUNS, PAUSES, ENDS = Turned(State.RUNNING), Turned(State.PAUSED), Turned(State.FINISHED)
GONE = Turned(State.DELETED)
ENTERED: Facts = (Entered("ann"), Entered("bob"), Entered("cas"))
DRAWN: Facts = (*ENTERED, RUNS, Drew((Pairing(1, 1, "ann", "bob"), Pairing(2, 2, "cas", None))))
DEALT: Facts = (*DRAWN, Dealt("cup-1", 1))
WON = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.RESIGNED, "bob resigned", (1.0, 0.0))
PLAYED: Facts = (*DEALT, WON)
OVER: Facts = (*PLAYED, ENDS)
MOVED = structs.replace(WON, moves=("C",), times=(1.0,))
UNPLAYED = structs.replace(WON, ending=Ending.LEFT, why="bob did not come", fault=Fault.BOT)
VOID = structs.replace(WON, winner=None, ending=Ending.VOID, why="a cable", score=None)
TABLE = {"format": OPEN}
CHECKED_IN = {"check_in": 60.0}
KNOCKOUT = {"format": "knockout"}
BY_THE_CLOCK = {"round_every": 60.0}
UNSEEN = "{} has no control, invisible or bidirectional characters, and {} has"
EXCUSED = structs.replace(VOID, why="bob did not come", fault=Fault.BOT)
TWICE_EXCUSED = '"cup-1.2" is void a second time: "bob did not come" is excused once in a pairing'
NOBODYS_FAULT = '"bob" lost "cup-1" by nobody\'s fault, and is not out of the tournament'
NO_DIGEST = 'a token has a SHA-256 for its digest, in hexadecimal, and not "token"'


def record(before: Facts, opened: Mapping[str, Any] = {}) -> Record:
    """A tournament in which this has happened."""
    found = Record("cup", Opened("tic-tac-toe", **{"format": "round-robin", **opened}))
    for fact in before:
        found.add(fact)
    return found


ALWAYS: list[tuple[Facts, AnyFact, list[str], Mapping[str, Any]]] = [
    ((), Opened("tic-tac-toe", "swiss"), ["cup was opened before"], {}),
    (ENTERED, Entered("ann"), ['"ann" had entered before'], {}),
    (ENTERED, Entered("Ç" * 32), [], {}),
    (ENTERED, Entered("d" * 33), ["a name has at most 32 characters, and this one has 33"], {}),
    (ENTERED, Entered("dee\nr"), [UNSEEN.format("a name", r'"dee\nr"')], {}),
    (ENTERED, Entered("dee\u202e"), [UNSEEN.format("a name", r'"dee\u202e"')], {}),
    (ENTERED, Entered(" "), ["a name has at least one character that can be seen"], {}),
    (
        (RUNS,),
        Drew((Pairing(1, 1, "ann", "d" * 33),)),
        ["a name has at most 32 characters, and this one has 33"],
        TABLE,
    ),
    (ENTERED, Described("ann", "University", "ann@example.org"), [], {}),
    (
        ENTERED,
        Described("ann", "d" * 65, "ann\x1b[2J"),
        [
            "an affiliation has at most 64 characters, and this one has 65",
            UNSEEN.format("a contact", r'"ann\u001b[2J"'),
        ],
        {},
    ),
    (DRAWN, ENDS, ["it cannot have finished: pairings are still open"], {}),
    (DEALT, ENDS, ["it cannot have finished: pairings are still open"], {}),
    (PLAYED, ENDS, [], {}),
    ((*DEALT, VOID), ENDS, ["it cannot have finished: pairings are still open"], {}),
    ((*ENTERED, RUNS), Drew((Pairing(2, 1, "ann", "bob"),)), ["pairing 1 is expected here, not 2"], {}),
    (DRAWN, Drew((Pairing(3, 1, "bob", "ann"),)), [], {}),
    (DRAWN, Drew((Pairing(2, 1, "bob", "ann"),)), ["pairing 3 is expected here, not 2"], {}),
    ((*ENTERED, RUNS), Drew((Pairing(1, 0, "ann", "bob"),)), ["there is no round 0"], {}),
    ((*ENTERED, RUNS), Drew((Pairing(1, 1, "ann", "ann"),)), ['"ann" cannot meet itself'], {}),
    ((*ENTERED, RUNS), Drew((Pairing(1, 1, "dee", "ann"),)), ['"dee" has not entered'], {}),
    ((RUNS,), Drew((Pairing(1, 1, "ann", "dee"),)), [], TABLE),
    ((*DRAWN, EndedEarly()), Drew(()), ["pairings were drawn after it had been ended early"], {}),
    ((Sealed("x"), RUNS), Drew(()), ["lots were drawn by a seed that had not been revealed"], {}),
    ((Sealed(commitment(SEED)), RUNS, SEED), Drew(()), [], {}),
    (DRAWN, Dealt("cup-1", 3), ["there is no pairing 3"], {}),
    (DRAWN, Dealt("cup-2", 2), ["pairing 2 is decided, or is a bye: nothing is to be played"], {}),
    (DEALT, Dealt("cup-1", 1), ["pairing 1 is decided, or is a bye: nothing is to be played"], {}),
    (DRAWN, Dealt("cup-9", 1), ['the match of pairing 1 is cup-1, not "cup-9"'], {}),
    (DRAWN, Dealt("cup-1", 1, {"ply_limit": 9}), [], {}),
    (DRAWN, Dealt("cup-1", 1, {"size": 9}), ['Tic-Tac-Toe has no option "size"; its options: ply_limit'], {}),
    (DRAWN, Dealt("cup-1", 1), ['"cup-1" was dealt before round 1 began'], BY_THE_CLOCK),
    ((*DRAWN, RoundBegan(1, 0.0)), Dealt("cup-1", 1), [], BY_THE_CLOCK),
    (DEALT, MOVED, [], {}),
    (PLAYED, WON, ['"cup-1" was concluded before'], {}),
    (DRAWN, UNPLAYED, [], {}),
    (DRAWN, structs.replace(UNPLAYED, pairing=4), ["there is no pairing 4"], {}),
    ((*DRAWN, Withdrew("bob", False)), structs.replace(UNPLAYED, fault=None, ended=9.0), [], {}),
    (DEALT, structs.replace(UNPLAYED, fault=None), [], {}),
    (DEALT, structs.replace(WON, pairing=2, players=("cas",)), ["cup-1 was dealt for pairing 1, not 2"], {}),
    (
        DEALT,
        structs.replace(WON, players=("bob", "ann")),
        ['pairing 1 is "ann" against "bob", and not "bob" against "ann"'],
        {},
    ),
    (DEALT, structs.replace(WON, winner=2), ["the winner is 0, 1 or null, not 2"], {}),
    (DEALT, structs.replace(WON, score=(1e308, 0.0)), ["no match has the score (1e+308, 0.0)"], {}),
    ((*ENTERED, RUNS), Drew((Pairing(1, 2**53, "ann", "bob"),)), ["there is no round 9007199254740992"], {}),
    (ENTERED, Claimed("ann", "ab" * 32), [], {}),
    (ENTERED, Claimed("ann", "token"), [NO_DIGEST], {}),
    (DRAWN, RoundBegan(1, 0.0), ["no round begins by the clock here"], {}),
    (DRAWN, RoundBegan(1, 0.0), [], BY_THE_CLOCK),
    (DRAWN, RoundBegan(2, 0.0), ["round 1 is expected here, not 2"], BY_THE_CLOCK),
    (
        (*DRAWN, RoundBegan(1, 0.0)),
        RoundBegan(2, 0.0),
        ["round 2 cannot have begun: the one before was not over"],
        BY_THE_CLOCK,
    ),
    (
        (*DRAWN, RoundBegan(1, 0.0), Dealt("cup-1", 1)),
        RoundBegan(2, 0.0),
        ["round 2 cannot have begun: the one before was not over"],
        BY_THE_CLOCK,
    ),
    ((*DRAWN, RoundBegan(1, 0.0), Dealt("cup-1", 1), WON), RoundBegan(2, 0.0), [], BY_THE_CLOCK),
    (ENTERED, CheckedIn("ann"), ["nobody checks in here"], {}),
    (ENTERED, NoShow("ann"), ["nobody checks in here"], {}),
    (ENTERED, CheckedIn("dee"), ['"dee" has not entered'], CHECKED_IN),
    ((*ENTERED, NoShow("ann")), NoShow("ann"), ['"ann" was out before'], CHECKED_IN),
    ((*ENTERED, NoShow("ann")), CheckedIn("bob"), [], CHECKED_IN),
    ((*ENTERED, NoShow("ann")), Admitted("ann"), [], CHECKED_IN),
    (ENTERED, Admitted("ann"), ['"ann" has not been left out for not checking in'], CHECKED_IN),
    (ENTERED, Described("dee"), ['"dee" has not entered'], {}),
    (ENTERED, Described("ann"), [], {}),
    ((*DRAWN, EndedEarly()), EndedEarly(), ["it has no end that could come early, or was ended before"], {}),
    ((RUNS,), EndedEarly(), ["it has no end that could come early, or was ended before"], TABLE),
    (DRAWN, Withdrew("dee", False), ['"dee" has not entered'], {}),
    (DRAWN, Disqualified("dee", "?"), ['"dee" has not entered'], {}),
    ((*DRAWN, Withdrew("ann", False)), Withdrew("ann", False), ['"ann" was out before'], {}),
    ((*DRAWN, Withdrew("ann", False)), Disqualified("ann", "?"), [], {}),
    ((*DRAWN, Disqualified("ann", "?")), Disqualified("ann", "?"), ['"ann" was out before'], {}),
    ((*DRAWN, Disqualified("ann", "?")), Withdrew("ann", False), ['"ann" was out before'], {}),
    (DRAWN, Withdrew("ann", True), [], {}),
    (DRAWN, Withdrew("ann", False), [], {"format": "swiss"}),
    (DRAWN, Withdrew("ann", True), ["in a swiss nobody's results are annulled"], {"format": "swiss"}),
    (DEALT, Voided("cup-1", "?"), ['there is no match "cup-1" to be voided'], {}),
    (PLAYED, Voided("cup-1", "?"), [], {}),
    (PLAYED, Voided("cup-1", "?", ("ann", "bob"), (1.0, 0.0)), [], {}),
    (
        PLAYED,
        Voided("cup-1", "?", ("bob", "ann"), (1.0, 0.0)),
        ["cup-1 was another match than the one that is voided"],
        {},
    ),
    (
        PLAYED,
        Voided("cup-1", "?", ("ann", "bob"), (0.0, 1.0)),
        ["cup-1 was another match than the one that is voided"],
        {},
    ),
    ((*PLAYED, Voided("cup-1", "?")), Voided("cup-1", "?"), ["cup-1 was void before"], {}),
    ((*DEALT, VOID), Voided("cup-1", "?"), ["cup-1 was void before"], {}),
    (PLAYED, Froze(True), [], {}),
    (PLAYED, Froze(False), ["the standings were not frozen before"], {}),
    ((*PLAYED, Froze(True)), Froze(True), ["the standings were frozen before"], {}),
    ((*PLAYED, Froze(True)), Froze(False), [], {}),
    ((), Sealed("x"), [], {}),
    ((Sealed("x"),), Sealed("x"), ["a seed is chosen once, and before anybody enters"], {}),
    (ENTERED, Sealed("x"), ["a seed is chosen once, and before anybody enters"], {}),
    ((Sealed(commitment(SEED)), RUNS), SEED, [], {}),
    ((RUNS,), SEED, ["there is no sealed seed that could be revealed now"], {}),
    (
        (Sealed(commitment(SEED)), RUNS, SEED),
        SEED,
        ["there is no sealed seed that could be revealed now"],
        {},
    ),
    (
        (Sealed(commitment(SEED)),),
        SEED,
        ["a seed is revealed when nobody enters any more before the draw"],
        {},
    ),
    (
        (Sealed("x"), RUNS),
        SEED,
        [
            "the seed 7 is not the one that was sealed: with its salt it has the commitment "
            f'{commitment(SEED)}, and "x" was shown before anybody entered'
        ],
        {},
    ),
]
# What is wrong only with an order, of which a file without facts says nothing.
IN_ORDER: list[tuple[Facts, AnyFact, list[str], Mapping[str, Any]]] = [
    (OVER, Entered("dee"), ['"dee" entered when it was over'], {}),
    (PLAYED, Turned(State.REGISTERING), ["it cannot have turned from running to registering"], {}),
    (ENTERED, PAUSES, ["it cannot have turned from registering to paused"], {}),
    (OVER, RUNS, ["it cannot have turned from finished to running"], {}),
    (DRAWN, RUNS, ["it cannot have turned from running to running"], {}),
    ((*DRAWN, PAUSES, GONE), RUNS, ["it cannot have turned from deleted to running"], {}),
    (OVER, PAUSES, ["it cannot have turned from finished to paused"], {}),
    ((*OVER, Voided("cup-1", "?")), PAUSES, ["it cannot have turned from finished to paused"], {}),
    ((*OVER, Voided("cup-1", "?")), RUNS, [], {}),
    ((RUNS, PAUSES), PAUSES, ["it cannot have turned from paused to paused"], TABLE),
    ((RUNS,), RUNS, ["it cannot have turned from running to running"], {}),
    ((RUNS,), RUNS, [], TABLE),
    (ENTERED, Drew(()), ["pairings were drawn while it was registering"], {}),
    ((*DRAWN, PAUSES), Dealt("cup-1", 1), ['"cup-1" was dealt while it was paused'], {}),
    ((*DRAWN, PAUSES), RoundBegan(1, 0.0), ["round 1 began while it was paused"], BY_THE_CLOCK),
    (
        (*ENTERED, RUNS),
        CheckedIn("ann"),
        ['it was running, and "ann" could not check in any more'],
        CHECKED_IN,
    ),
    ((*ENTERED, CheckedIn("ann")), CheckedIn("ann"), ['"ann" had checked in before'], CHECKED_IN),
    ((*ENTERED, CheckedIn("ann")), NoShow("ann"), ['"ann" had checked in before'], CHECKED_IN),
    (ENTERED, EndedEarly(), ["it was ended early while it was registering"], {}),
    (OVER, EndedEarly(), ["it was ended early while it was finished"], {}),
    ((*DRAWN, PAUSES), EndedEarly(), [], {}),
    (
        (*DRAWN, Withdrew("ann", False)),
        Drew((Pairing(3, 3, "ann", "bob"),)),
        ['"ann" was out before it was drawn'],
        {},
    ),
    (DRAWN, MOVED, ['"cup-1" has moves and was never dealt'], {}),
    (DRAWN, WON, ['"cup-1" was resigned and never dealt'], {}),
    ((*DRAWN, EXCUSED), structs.replace(UNPLAYED, match="cup-1.2"), [], {}),
    ((*DRAWN, EXCUSED), structs.replace(EXCUSED, match="cup-1.2"), [TWICE_EXCUSED], {}),
    ((*DRAWN, EXCUSED), structs.replace(EXCUSED, match="cup-1.2", why="ann did not come"), [], {}),
    ((*DRAWN, EXCUSED), structs.replace(EXCUSED, match="cup-1.2", why="neither player was there"), [], {}),
    ((*DRAWN, EXCUSED), structs.replace(EXCUSED, match="cup-1.2", fault=None), [], {}),
    (DRAWN, structs.replace(UNPLAYED, began=9.0), ['"cup-1" was left and never dealt'], {}),
    (DRAWN, structs.replace(UNPLAYED, fault=None, ended=9.0), [NOBODYS_FAULT], {}),
    ((*DRAWN, Dealt("cup-1", 1, at=9.0)), structs.replace(UNPLAYED, fault=None), [NOBODYS_FAULT], {}),
]


@pytest.mark.parametrize(("before", "fact", "said", "opened"), ALWAYS)
def test_a_fact_is_possible_exactly_where_a_host_can_have_kept_it(
    before: Facts, fact: AnyFact, said: list[str], opened: Mapping[str, Any]
) -> None:
    for in_order in (True, False):
        assert list(objections(record(before, opened), fact, in_order)) == said


@pytest.mark.parametrize("when", [-1.0, 1e11, 1e18, 1e308])
def test_no_fact_tells_of_a_time_that_nobody_can_be_shown(when: float) -> None:
    """Catches a file that was imported and never exported again: its times were in no year that there is."""
    told: tuple[tuple[Facts, AnyFact, Mapping[str, Any]], ...] = (
        (DRAWN, RoundBegan(1, when), BY_THE_CLOCK),
        (DRAWN, Dealt("cup-1", 1, at=when), {}),
        (DEALT, structs.replace(WON, began=when), {}),
        (DEALT, structs.replace(WON, ended=when), {}),
        (DEALT, structs.replace(WON, cause=(Returned(when, 0, 0),)), {}),
        (PLAYED, Voided("cup-1", "?", at=when), {}),
    )
    said = f"{when:g} is no time of the years 1970 to 2999, in seconds since 1970"
    for before, fact, opened in told:
        assert list(objections(record(before, opened), fact, True)) == [said], fact
    for times in ({"start_at": when}, {"rounds_at": (when,)}):
        assert said in list(opening_objections(Opened("tic-tac-toe", "swiss", **times)))


@pytest.mark.parametrize(("before", "fact", "said", "opened"), IN_ORDER)
def test_what_is_wrong_with_an_order_is_said_only_where_the_order_is_known(
    before: Facts, fact: AnyFact, said: list[str], opened: Mapping[str, Any]
) -> None:
    assert list(objections(record(before, opened), fact, True)) == said
    assert list(objections(record(before, opened), fact, False)) == []


@pytest.mark.parametrize(
    ("opened", "said"),
    [
        (Opened("tic-tac-toe", "swiss", terms=Terms(rounds=1)), []),
        (Opened("tic-tac-toe", "swiss", terms=Terms(rounds=10_000)), []),
        (Opened("tic-tac-toe", "swiss", terms=Terms(rounds=0)), ["1 to 10000 rounds, not 0"]),
        (Opened("tic-tac-toe", "swiss", terms=Terms(rounds=10_001)), ["1 to 10000 rounds, not 10001"]),
        (Opened("tic-tac-toe", "swiss", entrants=1, group="g" * 1000), []),  # as earlier desks let it be
        (Opened("tic-tac-toe", "swiss", entrants=0), ["takes at least 1 entrant, not 0"]),
        (Opened("tic-tac-toe", "swiss", group="g\r\nh"), ["the name of a group has no control"]),
        (Opened("chess", "cup"), ['there is no game "chess"', 'there is no format "cup"']),
        (Opened("tic-tac-toe", "swiss", options={"size": 3}), ['Tic-Tac-Toe has no option "size"']),
        (Opened("tic-tac-toe", "decide", terms=Terms(aim=Aim(confidence=1.0))), ["less than 1, not 1"]),
        (Opened("tic-tac-toe", "swiss", round_every=0.0), ["round_every: expected more than 0 seconds"]),
        (RUNS, ["the first fact of a tournament is that it was opened"]),
        (None, ["the first fact of a tournament is that it was opened"]),
    ],
)
def test_a_tournament_begins_with_what_this_host_can_hold(opened: AnyFact | None, said: list[str]) -> None:
    found = list(opening_objections(opened))
    assert len(found) == len(said)
    assert all(each in why for each, why in zip(said, found, strict=True)), found


def test_it_is_over_when_all_that_was_drawn_is_decided_and_without_an_end_whenever_somebody_says_so() -> None:
    assert [is_over(record(before)) for before in (DRAWN, DEALT, PLAYED)] == [False, False, True]
    assert is_over(record(DRAWN, TABLE))


def test_a_wrong_result_counts_where_its_match_was_to_be_played_so_that_no_later_fact_is_blamed() -> None:
    other = structs.replace(WON, match="cup-7")
    for before, fact, added in (
        (DEALT, WON, True),
        (DRAWN, other, True),
        (DEALT, other, False),
        (PLAYED, WON, False),
        ((*PLAYED, Voided("cup-1", "?")), WON, False),
        (DRAWN, Entered("dee"), False),
    ):
        assert can_be_added(record(before), fact) is added, fact


def test_only_results_directly_before_a_decision_may_have_come_too_late_for_it() -> None:
    """Ann has played half of her matches with the last result, and not without it."""
    round_robin = (Pairing(1, 1, "ann", "bob"), Pairing(2, 2, "ann", "cas"), Pairing(3, 3, "bob", "cas"))
    impossible = Voided("cup-9", "?")  # which blames nobody else
    before: Facts = (*ENTERED, RUNS, Drew(round_robin), impossible, Dealt("cup-1", 1))
    wrong = "this is not what was done with the results of ann by the rules of a round-robin"
    for results, annulled, said in (
        ((), True, None),
        ((), False, wrong),
        ((WON,), True, None),
        ((WON,), False, None),
        ((WON, Described("bob")), True, wrong),
        ((WON, Described("bob")), False, None),
    ):
        facts: Facts = (Opened("tic-tac-toe", "round-robin"), *before, *results, Withdrew("ann", annulled))
        now = record(tuple(fact for fact in facts[1:-1] if fact is not impossible))
        assert decided(now, list(enumerate(facts, 1)), len(facts) - 1) == said, (results, annulled)


@pytest.mark.parametrize(
    ("format", "terms", "most"),
    [("gauntlet", Terms(rounds=10_000), 200), ("round-robin", Terms(), 1414), ("swiss", Terms(), 2000)],
)
def test_what_no_host_can_hold_is_not_drawn_anew(format: str, terms: Terms, most: int) -> None:
    """Catches a file of a megabyte whose draw would have taken several gigabytes of memory."""
    entered = [Entered(f"bot-{number}") for number in range(most + 1)]
    before = (*entered, RUNS, Drew((Pairing(1, 1, "bot-0", "bot-1"),)))
    facts = list(enumerate((Opened("tic-tac-toe", format, terms=terms), *before), 1))
    opened = {"format": format, "terms": terms}
    said = f"a {format} has {most} entrants at most, and this has {most + 1}: it is not drawn anew"
    assert decided(record(before[:-1], opened), facts, len(facts) - 1) == said
    assert decided(record(before, opened), [*facts, (len(facts) + 1, ENDS)], len(facts)) == said


def as_drawn(names: list[str]) -> Iterator[AnyFact]:
    yield Drew(
        tuple([Pairing(number, number, *pair) for number, pair in enumerate(combinations(names, 2), 1)])
    )


def as_won(names: list[str]) -> Iterator[AnyFact]:
    for number, pair in enumerate(combinations(names, 2), 1):
        yield structs.replace(WON, match=f"cup-{number}", pairing=number, players=pair)


def test_a_decision_that_does_not_follow_takes_as_long_as_there_are_results_before_it() -> None:
    """Catches a Swiss of 400 by other rules, with which it took half a minute: each step back began anew."""

    def steps_for_each(count: int) -> float:
        names = [f"bot-{number}" for number in range(count)]
        before: Facts = (*map(Entered, names), RUNS, *as_drawn(names), *as_won(names))
        facts = (Opened("tic-tac-toe", "round-robin"), *before, Withdrew("bot-0", True))
        now = record(before)
        return steps_taken(lambda: decided(now, list(enumerate(facts, 1)), len(facts) - 1)) / len(facts)

    assert steps_for_each(32) < 2 * steps_for_each(8)


def test_a_draw_of_a_knockout_is_looked_at_in_a_few_draws_however_many_results_came_before_it() -> None:
    """Catches minutes for a knockout of thousands: all began anew for each draw, and was drawn often."""
    names = [f"bot-{number}" for number in range(128)]
    entered: Facts = (*map(Entered, names), RUNS)
    known = record(entered, KNOCKOUT)
    drawn = tuple(known.format.draw([*known.entrants.values()], [], [], known.terms))

    def result(pairing: Pairing, score: Score) -> Concluded:
        match = f"cup-{pairing.number}"
        return structs.replace(WON, match=match, pairing=pairing.number, players=pairing.names, score=score)

    def steps(late: int) -> int:
        """With so many results that the draw was made without, after as many as all others but these."""
        first, *others = drawn
        in_time = [result(each, (1.0, 0.0)) for each in others[late:]]
        too_late = [result(each, (0.5, 0.5)) for each in others[:late]]
        again = Pairing(len(drawn) + 1, 1, first.second or "", first.first)
        before: Facts = (*entered, Drew(drawn), *in_time, result(first, (0.5, 0.5)), *too_late)
        now, facts = record(before, KNOCKOUT), (Opened("tic-tac-toe", "knockout"), *before, Drew((again,)))
        found: list[str | None] = []
        taken = steps_taken(lambda: found.append(decided(now, [*enumerate(facts, 1)], len(facts) - 1)))
        assert found == [None]
        return taken

    at_once = steps(0)
    assert all(steps(late) < 10 * at_once for late in (1, 30, 60))
