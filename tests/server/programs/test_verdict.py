"""What is told of a series: the JSON that scripts rely on, and the words for people."""

import json

import pytest
from msgspec import structs

from server.net.escaping import json_line
from server.programs.tally import Played, Tally
from server.programs.verdict import as_json, in_words
from tests.server.programs.series_played import DRAW, FIRST, SECOND, played
from tournament.events import Ending
from tournament.pentanomial import strength
from tournament.sprt import Sprt

NAMES = ("./new", "./old")
TEST = Sprt(elo0=0, elo1=40)


def tally(*points: float) -> Tally:
    counted = Tally()
    for number, each in enumerate(points, 1):
        counted.add(played(number, each))
    return counted


def test_the_json_has_what_scripts_rely_on_and_nothing_else() -> None:
    told = json.loads(json_line(as_json("connect-4", tally(FIRST, FIRST, DRAW, SECOND, FIRST), TEST)))
    assert " ".join(told) == ("game games wins draws losses pairs elo interval los nelo sprt repeats results")
    assert (told["games"], told["wins"], told["draws"], told["losses"]) == (5, 3, 1, 1)
    assert told["pairs"] == [0, 1, 0, 0, 1]
    assert list(told["sprt"]) == ["elo0", "elo1", "llr", "lower", "upper", "state"]
    assert told["sprt"]["llr"] == pytest.approx(TEST.ratio(told["pairs"]), abs=1e-6)
    assert (told["sprt"]["lower"], told["sprt"]["upper"]) == (-2.944439, 2.944439)
    assert told["sprt"]["state"] == "open"
    assert [list(each) for each in told["results"]] == [["match", "players", "winner", "ending", "moves"]] * 5
    assert [each["winner"] for each in told["results"]] == [0, 1, None, 0, 0]
    assert as_json("connect-4", tally(), None)["sprt"] is None


def test_whatever_claims_certainty_counts_a_pair_once() -> None:
    """Fifty times the same two games say what they say once; a test is not decided by them."""
    counted = Tally()
    for number in range(1, 101):
        counted.add(played(number, FIRST, [number % 2]))
    told = as_json("connect-4", counted, TEST)
    assert (told["pairs"], told["repeats"]) == ([0, 0, 0, 0, 50], 49)
    once = strength([0, 0, 0, 0, 1])
    assert told["interval"] == pytest.approx(once.interval, abs=1e-3)
    assert told["los"] == pytest.approx(once.los, abs=1e-6)
    assert told["sprt"]["state"] == "open"
    assert "49 of 50 pairs repeat an earlier one" in in_words("connect-4", NAMES, counted, TEST)


def test_games_are_counted_as_people_count() -> None:
    for points, said in (
        ([FIRST], "1 game of"),
        ([FIRST, DRAW], "2 games of"),
        ([FIRST] * 1200, "1,200 games of"),
    ):
        assert f", {said} connect-4:" in in_words("connect-4", NAMES, tally(*points), None)


def test_before_anything_is_over_nothing_is_claimed() -> None:
    told = as_json("connect-4", tally(), TEST)
    assert (told["games"], told["elo"], told["interval"], told["los"]) == (0, 0, [-1200, 1200], 0.5)
    assert in_words("connect-4", NAMES, tally(), TEST) == "./new against ./old: no game of connect-4 is over"
    assert "Elo" not in in_words("connect-4", NAMES, tally(FIRST), None)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([FIRST] * 20, "+1200 or more Elo, 95 % between +226 and +1200 or more: ./new is stronger"),
        ([SECOND] * 20, "./old is stronger"),
        ([FIRST, SECOND] * 3, "+0 Elo, 95 % between -216 and +216: undecided"),
        ([DRAW] * 2, "pairs by points: 0 with 0, 0 with ½, 1 with 1, 0 with 1½, 0 with 2"),
        ([FIRST] * 40, "H1: at least 40"),
        ([SECOND] * 40, "H0: at most 0"),
        ([FIRST] * 4, "not decided yet"),
        ([FIRST] * 1001, "1,001 won, 0 drawn, 0 lost: 100.0%"),
        ([FIRST] * 1000 + [DRAW], "1,000 won, 1 drawn, 0 lost: > 99.9%"),
        ([SECOND] * 1000 + [DRAW], "0 won, 1 drawn, 1,000 lost: < 0.1%"),
    ],
)
def test_people_are_told_who_is_stronger_and_how_sure_that_is(points: list[float], words: str) -> None:
    assert words in in_words("connect-4", NAMES, tally(*points), TEST)


def test_no_number_of_matches_makes_it_certain_who_is_stronger() -> None:
    assert "LOS > 99.99%" in in_words("connect-4", NAMES, tally(*[FIRST] * 1001), None)
    assert "LOS < 0.01%" in in_words("connect-4", NAMES, tally(*[SECOND] * 1001), None)


def test_once_a_test_has_ended_a_series_only_its_verdict_is_said() -> None:
    """Where the results choose when to stop, the interval excludes equality in 11 of 100 series of equals."""
    one_sided = tally(*[FIRST] * 40)
    assert TEST.state(TEST.ratio(one_sided.distinct)) == "H1"
    by_the_test = in_words("connect-4", NAMES, one_sided, TEST)
    assert "+1200 or more Elo, between +357 and +1200 or more: less than 95 % sure" in by_the_test
    assert "H1: at least 40" in by_the_test
    for claim in ("95 % between", "is stronger", "LOS"):
        assert claim not in by_the_test
        assert claim in in_words("connect-4", NAMES, one_sided, None)


def test_people_are_told_what_was_not_lost_on_the_board() -> None:
    def lost(number: int, ending: Ending, why: str) -> Played:
        return structs.replace(played(number, SECOND), ending=ending, why=why, players=NAMES)

    counted = Tally()
    for each in (
        lost(1, Ending.TIME, "./new did not answer in 1.0 s, and has written nothing yet"),
        lost(2, Ending.LEFT, "./new ended with exit code 1"),
        lost(3, Ending.LEFT, "./new ended with exit code 1"),
        lost(4, Ending.TIME, "./new ran out of time"),
        lost(5, Ending.ILLEGAL, "./new: column 3 is full"),
    ):
        counted.add(each)
    told = in_words("connect-4", NAMES, counted, None).splitlines()
    assert told[-6:] == [
        "  ./new lost 1 by illegal moves",
        "    ./new: column 3 is full",
        "  ./new lost 2 by the clock",
        "    ./new did not answer in 1.0 s, and has written nothing yet",
        "  ./new lost 2 by ending in the middle",
        "    ./new ended with exit code 1",
    ]
