"""A tournament that stops by itself, and strengths, as the API and the terminal show them."""

from collections.abc import Iterator
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest
from msgspec import structs
from trio.testing import MockClock

from server.commands.tournament_answers import cells, shown
from server.export.decision_views import UNDECIDED, decision_shown, eta_of_all, more, report_shown, said
from server.export.json_views import plain_rows, rows
from server.programs.report import rendered, report
from tests.server.protocols.test_api import GAME, office
from tests.tournament.test_score_sheet import event, play
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Drew, Entered, Froze, Kept, Opened, State, Turned, Withdrew
from tournament.folding import fold
from tournament.format import Aim, Pairing, Terms
from tournament.record import Record
from tournament.score_sheet import board_of
from tournament.store import Memory

NAMES = ("ada", "bob", "cyd")


def facts(wins: int, lasting: float | None = None, pause: float = 0.0) -> Iterator[AnyFact]:
    """Ada wins all her matches, the two others every second one against each other.

    They last so long, one after another, with a pause before the last.
    """
    yield Opened(GAME, "decide", terms=Terms(aim=Aim(games=500)))
    yield from (*map(Entered, NAMES), Turned(State.RUNNING))
    for number, (_, (first, second)) in enumerate(
        product(range(wins), (("ada", "bob"), ("cyd", "ada"), ("bob", "cyd"), ("bob", "cyd"))), 1
    ):
        winner = int(second == "ada") if "ada" in (first, second) else number % 2
        score = (float(winner == 0), float(winner == 1))
        yield Drew((Pairing(number, number, first, second),))
        ended = None if lasting is None else number * lasting + pause * (number == 4 * wins)
        yield Concluded(
            f"cup-{number}",
            number,
            (first, second),
            winner,
            Ending.PLAYED,
            "so",
            score,
            (number, 1),
            (0.1, 0.1),
            began=None if ended is None or lasting is None else ended - lasting,
            ended=ended,
        )


def deciding(wins: int, lasting: float | None = None, pause: float = 0.0) -> Record:
    return fold(Kept("cup", 0.0, fact) for fact in facts(wins, lasting, pause))["cup"]


@pytest.mark.slow
def test_what_is_open_is_said_until_it_is_decided() -> None:
    early, late = deciding(2), deciding(60)
    first, last = board_of(early, 0.0), board_of(late, 0.0)
    assert first.decision is not None
    assert last.decision is not None
    assert not first.decision.decided
    assert last.decision.decided
    assert any("It is still open which is better: ada or" in each for each in said(early, first))
    assert [*said(late, last)] == ["Decided with 95 % confidence, to within 20 Elo: ada."]
    assert 0 < (more(early, first.decision) or 0) <= 500 - early.decided
    assert more(late, last.decision) == 0


@pytest.mark.parametrize(
    ("confidence", "told"),
    [(0.5, "50"), (0.975, "97.5"), (0.99999, "99.999"), (1 - 2**-53, "99.99999999999999")],
)
def test_what_is_not_certain_is_not_told_to_be(confidence: float, told: str) -> None:
    opened, *rest = facts(150)
    assert isinstance(opened, Opened)
    terms = Terms(aim=Aim(confidence=confidence, games=1000))
    record = fold(Kept("cup", 0.0, fact) for fact in (structs.replace(opened, terms=terms), *rest))["cup"]
    assert next(said(record, board_of(record, 0.0))).startswith(f"Decided with {told} % confidence")


def test_nothing_is_certain_of_the_only_one_who_has_stayed() -> None:
    """Catches a certainty that is told of an order in which nobody else is left."""
    record = deciding(1)
    gone = record.entrants.keys() - {"ada"}
    for name in sorted(gone):
        record.add(Withdrew(name, annulled=False))
    assert next(said(record, board_of(record, 0.0))) == (
        "Decided without a contest: ada. Nobody else has come and stayed."
    )


def test_one_pair_more_than_are_named_is_one_pair() -> None:
    record = event("decide", ("ada", "bob", "cyd", "dan", "eve"))
    for number in range(3):
        play(record, Random(number), "ada", "bob")
    assert next(said(record, board_of(record, 0.0))).endswith("; and 1 more pair.")


def test_the_open_pairs_with_the_least_evidence_are_listed_and_all_are_counted() -> None:
    names = [f"p{number}" for number in range(16)]
    record = event("decide", names, Terms(aim=Aim(places=0)))
    for number, (one, other) in enumerate(pairwise(names)):
        play(record, Random(number), one, other)
    board = board_of(record, 0.0)
    assert board.decision is not None
    shown = decision_shown(record, board, board.decision)
    assert (len(shown["undecided"]), shown["undecided_pairs"]) == (UNDECIDED, 16 * 15 // 2)
    listed = [claim.better for claim in board.decision.open[:UNDECIDED]]
    assert [each["better"] for each in shown["undecided"]] == listed


@pytest.mark.parametrize("pause", [0.0, 3600.0])
def test_the_time_left_follows_from_how_soon_one_match_ended_after_another(pause: float) -> None:
    record = deciding(2, lasting=7.0, pause=pause)
    decision = board_of(record, 0.0).decision
    assert decision is not None
    assert eta_of_all(record, decision, None) == pytest.approx(7.0 * (more(record, decision) or 0))
    record.add(Turned(State.FINISHED))
    assert eta_of_all(record, decision, None) is None, "whatever was still open"


@pytest.mark.slow
def test_the_time_left_is_that_of_the_drawn_matches_if_it_is_decided_before_they_are_played() -> None:
    record = deciding(60, lasting=7.0)
    last = record.last_drawn
    record.add(Drew(tuple(Pairing(last + ahead, last + 1, "bob", "cyd") for ahead in (1, 2, 3))))
    decision = board_of(record, 0.0).decision
    assert decision is not None
    assert decision.decided
    assert eta_of_all(record, decision, None) == pytest.approx(7.0 * 3)
    assert eta_of_all(record, decision, 33.0) == pytest.approx(33.0), "where it is known how long they take"


async def test_what_is_over_takes_no_more_time_though_its_standings_are_frozen(
    autojump_clock: MockClock,
) -> None:
    """Catches an `eta` by the standings of the moment of freezing, when there were matches to play."""
    async with office() as here:
        opened, *rest = facts(2, lasting=7.0)
        assert isinstance(opened, Opened)
        await here.host.open("cup", opened)
        record = here.host.tournaments["cup"].record
        for fact in (*rest, Froze(True)):
            record.add(fact)
        await here.host.store.keep(record.kept_as, 0.0, rest)
        assert (await here.read("/api/tournaments/cup"))["eta"] > 0.0
        record.add(Turned(State.FINISHED))
        shown = await here.read("/api/tournaments/cup")
    assert (shown["state"], shown["frozen"], shown["eta"]) == ("finished", True, None)


def test_nobody_says_how_long_it_takes_where_it_is_not_known_when_matches_ended() -> None:
    record = deciding(2)
    decision = board_of(record, 0.0).decision
    assert decision is not None
    assert eta_of_all(record, decision, None) is None


async def test_a_command_says_that_the_standings_it_prints_are_frozen(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.host.open("cup", Opened(GAME, "swiss"))
        record = here.host.tournaments["cup"].record
        for fact in (Entered("ann"), Froze(True)):
            record.add(fact)
        standings = await here.read("/api/tournaments/cup/standings")
        whole = await here.read("/api/tournaments/cup")
    assert "frozen" in rendered(standings, as_json=False)
    assert "\nfrozen: everybody sees" in shown(whole)


def test_standings_that_a_host_prints_as_it_stops_do_not_pass_for_those_that_were_frozen() -> None:
    record = deciding(1)
    record.add(Froze(True))
    for fact in [*facts(2)][len([*facts(1)]) :]:
        record.add(fact)
    assert report_shown(record)["rows"] != report_shown(record.public)["rows"]
    title = report(record, as_json=False).splitlines()[0]
    assert title == f"cup: {GAME}, decide, running, frozen for everybody but its organiser"


@pytest.mark.parametrize(("state", "coming"), [("registering", "24 of 24"), ("running", 25)])
def test_how_many_it_waits_for_is_shown_while_it_takes_entrants(state: str, coming: object) -> None:
    """Catches "25 of 24", once somebody was let in late."""
    entrants = 24 + (state == "running")
    held = {"tournament": "cup", "game": GAME, "format": "swiss", "state": state, "played": 0, "open": 3}
    assert coming in cells(held | {"entrants": entrants, "wanted": 24})


def test_a_tournament_is_shown_while_it_is_worked_out_what_is_decided() -> None:
    held = {"tournament": "cup", "game": GAME, "format": "decide", "state": "running", "played": 0, "open": 3}
    held |= {"by_invitation": False}
    unknown = dict.fromkeys(("wanted", "eta", "group", "start_at", "next_round", "checking_in", "deciding"))
    lists: dict[str, Any] = {"entrants": [], "playing": [], "missing": []}
    assert "cup" in shown(held | unknown | lists)


@pytest.mark.parametrize(("name", "typed"), [("ann", "ann"), ("b b", "'b b'"), ("-x", "-- -x")])
def test_the_command_to_take_out_whoever_is_missing_can_be_typed(name: str, typed: str) -> None:
    held = {"tournament": "cup", "game": GAME, "format": "swiss", "state": "running", "played": 0, "open": 3}
    held |= {"by_invitation": False}
    unknown = dict.fromkeys(("wanted", "eta", "group", "start_at", "next_round", "checking_in"))
    lists: dict[str, Any] = {"entrants": [], "playing": [], "missing": [{"name": name, "since": "now"}]}
    assert shown(held | unknown | lists).endswith(f"\n    quintain tournament withdraw cup {typed}")


def test_the_terminal_says_what_is_decided_under_the_table() -> None:
    told = report_shown(deciding(60))
    assert told["decided"] is True
    assert rendered(told, as_json=False).splitlines()[-1].startswith("Decided with 95 % confidence")
    first, *_ = told["rows"]
    assert (first["name"], first["rank"]) == ("ada", 1)
    assert first["ranks"][0] == first["first"] > 0.9
    assert first["strength"] == first["rating"] > 0
    assert first["strength_interval"] == first["interval"]


@pytest.mark.parametrize(
    ("games", "says"),
    [(1, []), (2, ["1 match repeats an earlier one"]), (1300, ["1,299 matches repeat an earlier one"])],
)
def test_how_many_matches_repeat_an_earlier_one_is_said_beside_the_table(games: int, says: list[str]) -> None:
    """Catches an interval as after one match beside 437 wins of 437, and no word of why that is."""
    record = event("round-robin")
    for _ in range(games):
        play(record, Random(1), *[*record.entrants][:2])
    told = report_shown(record)
    assert [sentence.split(" move by move")[0] for sentence in told["said"]] == says
    assert rendered(told, as_json=False).endswith("".join(f"\n{sentence}" for sentence in told["said"]))


def test_a_rating_that_is_rounded_to_nothing_has_no_sign_at_the_terminal() -> None:
    told = report_shown(deciding(60))
    told["rows"][0] |= {"rating": -0.3, "interval": (-0.4, 190.0)}
    lines = rendered(told, as_json=False).splitlines()
    assert any(line.endswith(" 0, 0 to 190") for line in lines)


@pytest.mark.slow
def test_an_export_may_have_the_ratings_of_earlier_versions() -> None:
    record, random = event("round-robin"), Random(1)
    for _ in range(20):
        play(record, random, *random.sample([*record.entrants], 2))
    now, before = rows(record), plain_rows(record)
    assert [row["rating"] for row in now] != [row["rating"] for row in before]
    assert [row | {"rating": 0, "interval": 0} for row in now] == [
        row | {"rating": 0, "interval": 0} for row in before
    ]


async def test_standings_of_a_host_that_runs_say_what_is_open_and_so_does_the_terminal(
    autojump_clock: MockClock,
) -> None:
    happened = (*facts(2), Turned(State.PAUSED))
    async with office(Memory(Kept("cup", 0.0, fact) for fact in happened)) as here:
        await here.host.boards.exact(here.host.tournaments["cup"].record)
        standings = await here.read("/api/tournaments/cup/standings")
        assert standings["said"] == (await here.read("/api/tournaments/cup"))["deciding"]["said"]
        printed = rendered(standings, as_json=False).splitlines()
        assert printed[-1].startswith("It is still open which is better: ada or ")


async def test_the_api_takes_what_is_to_be_settled_and_says_what_is_open(autojump_clock: MockClock) -> None:
    async with office() as here:
        asked: dict[str, Any] = {"game": GAME, "format": "decide", "entrants": 3}
        await here.tell("/api/tournaments", 201, name="cup", **asked, places=2, within=30, games=50)
        await here.host.boards.exact(here.host.tournaments["cup"].record)  # however long it takes
        found = (await here.read("/api/tournaments/cup"))["deciding"]
        assert (found["decided"], found["within"], found["most"], found["settled"]) == (False, 30.0, 50, [])
        assert found["places"] == 2, "as was asked for, though nobody has come yet"
        standings = await here.read("/api/tournaments/cup/standings")
        assert (standings["decided"], standings["circles"]) == (False, [])
        wrongs: list[dict[str, Any]] = [
            {"confidence": 1.0},
            {"places": 4},
            {"places": -1},
            {"within": 0},
            {"games": 0},
        ]
        for wrong in wrongs:
            await here.tell("/api/tournaments", 400, name="other", **asked, **wrong)
        await here.tell("/api/tournaments", 400, name="other", game=GAME, format="swiss", within=30)
