"""How large a tournament may be, and what is said of one that is larger."""

from math import inf

import pytest
from msgspec import UNSET, UnsetType

from games.game import Pace
from tournament import sizes
from tournament.bounds import expect_bounded
from tournament.facts import Entered, Kept, Opened, State, Turned
from tournament.folding import fold
from tournament.format import Aim, Terms, formats
from tournament.refusals import Refusal, expect_room, takes_entrants

GAME = "tic-tac-toe"


@pytest.mark.parametrize(
    ("opened", "reason"),
    [
        (Opened(GAME, "knockout", 10_001), "entrants: expected 2 to 10000 in a knockout, not 10001"),
        (Opened(GAME, "swiss", 2_001), "entrants: expected 2 to 2000 in a swiss, not 2001"),
        (Opened(GAME, "round-robin", 1_415), "entrants: expected 2 to 1414 in a round-robin, not 1415"),
        (
            Opened(GAME, "gauntlet", 201, Terms(10_000)),
            "entrants: expected 2 to 200 in a gauntlet of 10000 rounds, not 201",
        ),
        (
            Opened(GAME, "swiss", terms=Terms(10_001)),
            "rounds: expected a whole number of 10000 or less, not 10001",
        ),
        (
            Opened(GAME, "swiss", terms=Terms(seed=2**53)),
            "seed: expected a whole number from -9007199254740991 to 9007199254740991, not 9007199254740992",
        ),
        (Opened(GAME, "decide", 401), "entrants: expected 2 to 400 in a decide of 1 place, not 401"),
        (
            Opened(GAME, "decide", 227, Terms(aim=Aim(places=10))),
            "entrants: expected 2 to 226 in a decide of 10 places, not 227",
        ),
        (
            Opened(GAME, "decide", 101, Terms(aim=Aim(places=0))),
            "entrants: expected 2 to 100 in a decide of all places, not 101",
        ),
        (
            Opened(GAME, "decide", terms=Terms(aim=Aim(places=401))),
            "places: expected 0 (all) to 400, not 401",
        ),
        (
            Opened(GAME, "decide", terms=Terms(aim=Aim(games=1_000_001))),
            "games: expected a whole number of 1000000 or less, not 1000001",
        ),
        (
            Opened(GAME, "swiss", pace=Pace(turn=inf)),
            "pace.turn: expected at most 31622400 seconds, 366 days, not inf",
        ),
        (
            Opened(GAME, "swiss", start_at=-1.0),
            "start_at: expected a time in the years 1970 to 2999, and this is before them",
        ),
        (
            Opened(GAME, "swiss", rounds_at=(2e9, 32_503_680_000.0)),
            "rounds_at: expected a time in the years 1970 to 2999, and this is after them",
        ),
        *(
            (
                Opened(GAME, "swiss", pace=pace),
                "pace: expected bank, turn or both: without them a bot that never moves never loses",
            )
            for pace in (Pace(), Pace(gain=5.0))
        ),
        (
            Opened(GAME, "swiss", pace=Pace(turn=2.0, gain=5.0)),
            "pace.gain: a gain is added to a bank after each move, so it needs a bank",
        ),
    ],
)
def test_whatever_is_too_large_is_refused_with_what_was_expected_and_what_came(
    opened: Opened, reason: str
) -> None:
    with pytest.raises(Refusal) as refusal:
        expect_bounded(opened)
    assert str(refusal.value) == reason


@pytest.mark.parametrize("format", formats())
@pytest.mark.parametrize("terms", [Terms(), Terms(sizes.ROUNDS, seed=-sizes.SEED)])
def test_the_largest_of_every_format_is_taken(format: str, terms: Terms) -> None:
    most = sizes.largest(formats()[format], terms)
    assert most >= (200 if terms.rounds else 400 if formats()[format].decides else 1_000)
    pace = Pace(bank=sizes.SECONDS)
    expect_bounded(Opened(GAME, format, most, terms, pace=pace))
    with pytest.raises(Refusal):
        expect_bounded(Opened(GAME, format, most + 1, terms, pace=pace))


def test_the_more_places_are_to_be_settled_the_fewer_may_take_part() -> None:
    most = [sizes.largest(formats()["decide"], Terms(aim=Aim(places=each))) for each in (*range(1, 400), 0)]
    assert most == sorted(most, reverse=True)
    assert most[-1] == 100


@pytest.mark.parametrize(("format", "aim"), [("decide", Aim(places=0)), ("round-robin", UNSET)])
def test_where_no_number_was_given_and_after_the_start_it_takes_no_more_either(
    format: str, aim: Aim | UnsetType
) -> None:
    terms = Terms(aim=aim)
    most = sizes.largest(formats()[format], terms)
    facts = [Opened(GAME, format, terms=terms), *(Entered(f"p{number}") for number in range(most - 1))]
    record = fold(Kept("cup", 0.0, fact) for fact in facts)["cup"]
    expect_room(record, let_in=False)
    record.add(Entered("last"))
    assert not takes_entrants(record)
    for state, let_in in ((State.REGISTERING, False), (State.RUNNING, True)):
        record.add(Turned(state))
        with pytest.raises(Refusal) as refusal:
            expect_room(record, let_in=let_in)
        assert str(refusal.value) == f"cup is full: it takes {most}"


def test_a_whole_order_may_be_settled_in_many_games() -> None:
    expect_bounded(Opened(GAME, "decide", 100, Terms(aim=Aim(places=0, games=sizes.MATCHES))))
