"""The referee."""

from math import inf, nextafter

import pytest
from msgspec import Struct, structs

from games.catalogue import catalogue
from games.game import Illegal, Outcome, Pace
from games.soundness import Unsound
from tournament.events import NOBODY, AnyEvent, Began, Ended, Ending, Fault, Moved, Refused
from tournament.match import REFUSALS, Match, OutOfTurn

NAMES = ("ann", "bob")
PACE = Pace(bank=10.0, gain=2.0)


def match(game: str = "tic-tac-toe", **options: object) -> Match:
    return Match(catalogue()[game], NAMES, 0.0, **{"pace": PACE} | options)


def ended(of: Match) -> tuple[int | None, Ending, str]:
    assert of.result is not None
    return of.result.winner, of.result.ending, of.result.why


def play_out(of: Match, *moves: str) -> None:
    for number, move in enumerate(moves):
        of.play(number % 2, move, float(number))


def test_a_match_is_played_to_its_end_and_tells_it() -> None:
    played = match()
    play_out(played, "C", "N", "NW", "NE", "SE")
    kinds = [type(event) for event in played.log.events]
    assert kinds == [Began, Moved, Moved, Moved, Moved, Moved, Ended]
    assert ended(played) == (0, Ending.PLAYED, "O has three in a row")
    assert len(played.positions) == 6
    assert played.position.outcome is not None
    assert played.to_move is None


def test_a_match_has_no_dictionary() -> None:
    """Catches an attribute that is not in `__slots__`: a thousand matches would take twice the memory."""
    assert not hasattr(match(), "__dict__")


def test_every_move_is_recorded_with_its_time_and_the_clock_after_it() -> None:
    played = match()
    played.play(0, "C", 3.0)
    played.play(1, "N", 4.5)
    first, second = played.log.events[1:]
    assert first == Moved(3.0, 0, 1, {"action": "putSymbol", "position": "C"}, 3.0, 9.0)
    assert second == Moved(4.5, 1, 2, {"action": "putSymbol", "position": "N"}, 1.5, 10.5)


@pytest.mark.parametrize(("now", "deadline"), [(4.0, 14.0), (None, 13.0), (2.0, 13.0)])
def test_the_next_clock_starts_when_the_prompt_goes_out_and_never_before_the_move_arrived(
    now: float | None, deadline: float
) -> None:
    played = match()
    played.play(0, "C", 3.0, now=now)
    assert played.deadline == deadline


@pytest.mark.parametrize("game", ["tic-tac-toe", "connect-4"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_forfeits_by_what_it_sent_in_turn_or_not(game: str, seat: int) -> None:
    """Also where a move that is refused may be tried again."""
    played = match(game)
    played.forfeit(seat, "flip", "nothing was wrong", 1.0)
    assert ended(played) == (1 - seat, Ending.ILLEGAL, f"{NAMES[seat]}: nothing was wrong")
    assert played.log.events[1] == Refused(1.0, seat, 0, "flip", "nothing was wrong", 1)
    with pytest.raises(OutOfTurn, match="over"):
        played.forfeit(1 - seat, "flip", "nothing was wrong", 2.0)


def test_while_a_move_may_be_on_its_way_nothing_is_decided_and_only_in_time_it_counts() -> None:
    """Another host may have it. Whoever is heard late is late: what it said before has come before."""
    for sent, ending in ((9.5, None), (10.5, Ending.TIME)):
        played = match()
        played.on_its_way = [lambda by: True, None]
        played.flag(11.0)
        with pytest.raises(OutOfTurn):
            played.play(1, "N", 11.0)
        assert played.verdict is None
        if ending is None:
            played.play(0, "C", sent, now=11.0)
            assert (played.times, played.left(11.0)) == ([9.5], (2.5, 10.0))
        else:
            with pytest.raises(OutOfTurn):
                played.play(0, "C", sent, now=11.0)
            assert ended(played) == (1, ending, "ann ran out of time")


def test_nobody_forfeits_a_match_whose_clock_ran_out_before() -> None:
    played = match()
    with pytest.raises(OutOfTurn):
        played.forfeit(1, "flip", "nothing was wrong", 10.5)
    assert ended(played) == (1, Ending.TIME, "ann ran out of time")


def test_an_illegal_move_forfeits_where_the_game_says_so() -> None:
    played = match()
    played.play(0, "C", 1.0)
    with pytest.raises(Illegal, match="C is taken by O"):
        played.play(1, "C", 2.0)
    assert ended(played) == (0, Ending.ILLEGAL, "bob: C is taken by O")
    assert played.log.events[-2] == Refused(2.0, 1, 1, "C", "C is taken by O", 1)
    assert len(played.positions) == 2


def test_a_fault_leaves_the_position_untouched_where_it_may_be_tried_again() -> None:
    played = match("connect-4")
    before = played.position
    with pytest.raises(Illegal, match="no column 9"):
        played.play(0, 9, 1.0)
    assert played.position is before
    assert played.result is None
    assert played.deadline == 10.0, "the clock runs on through refusals"
    played.play(0, 3, 2.0)
    assert played.log.events[-1] == Moved(2.0, 0, 1, 3, 2.0, 10.0)


def test_the_twentieth_refusal_forfeits() -> None:
    played = match("connect-4")
    for _ in range(REFUSALS - 1):
        with pytest.raises(Illegal):
            played.play(0, "junk", 1.0)
    assert played.verdict is None
    with pytest.raises(Illegal):
        played.play(0, "junk", 1.0)
    winner, ending, why = ended(played)
    assert (winner, ending) == (1, Ending.ILLEGAL)
    assert why.startswith(
        "ann: 20 moves were refused, the last, junk, because: a move is the number of a column"
    )


def test_refusals_are_counted_for_each_seat() -> None:
    played = match("connect-4")
    for _ in range(REFUSALS - 1):
        with pytest.raises(Illegal):
            played.play(0, "junk", 1.0)
    played.play(0, 0, 1.0)
    with pytest.raises(Illegal):
        played.play(1, "junk", 1.0)
    assert played.verdict is None


@pytest.mark.parametrize("game", ["tic-tac-toe", "connect-4"])
def test_playing_out_of_turn_changes_nothing(game: str) -> None:
    played = match(game)
    with pytest.raises(OutOfTurn, match="other player's turn"):
        played.play(1, "C", 1.0)
    assert played.log.events == [Began(0.0, NAMES)]


def test_playing_on_after_the_end_changes_nothing() -> None:
    played = match()
    played.resign(1, 1.0)
    with pytest.raises(OutOfTurn, match="over"):
        played.play(0, "C", 2.0)
    assert ended(played) == (0, Ending.RESIGNED, "bob resigned")


@pytest.mark.parametrize("early", [True, False])
def test_a_move_at_the_deadline_is_in_time_and_one_after_it_is_not(early: bool) -> None:
    """Whether the flag was asked for before or after the move came: the stamp decides."""
    in_time, late = match(), match()
    if early:
        in_time.flag(10.0)
    in_time.play(0, "C", 10.0)
    assert in_time.verdict is None
    if early:
        late.flag(nextafter(10.0, inf))
    with pytest.raises(OutOfTurn):
        late.play(0, "C", nextafter(10.0, inf))
    assert ended(late) == (1, Ending.TIME, "ann ran out of time")


def test_a_match_ends_in_a_draw_at_the_limit_of_plies() -> None:
    played = match("connect-4", options={"ply_limit": 3})
    play_out(played, 0, 1, 2)  # pyright: ignore[reportArgumentType]
    assert ended(played) == (None, Ending.PLAYED, "3 plies were played, which makes it a draw")
    assert played.ply == 3


def test_nothing_shows_that_a_match_is_over_until_that_is_announced() -> None:
    """Catches a deciding move that is told before its result is safe."""
    decided: list[Match] = []
    told: list[AnyEvent] = []
    played = match(decided=lambda of, verdict: decided.append(of))
    played.log.follow(told.append)
    play_out(played, "C", "N", "NW", "NE", "SE")
    assert decided == [played]
    assert played.result is None
    assert played.position.outcome is None
    assert len(told) == 5
    assert played.moves_and_times()[0][-1] == {"action": "putSymbol", "position": "SE"}
    assert played.deadline == inf
    played.announce()
    played.announce()
    assert [type(event) for event in told[5:]] == [Moved, Ended]
    assert played.position.outcome is not None
    assert len(played.moves_and_times()[0]) == 5


@pytest.mark.parametrize("plies", [1, 2])
def test_a_seat_has_moved_if_it_made_the_deciding_move_and_not_if_it_would_be_next(plies: int) -> None:
    played = match("connect-4", options={"ply_limit": plies}, decided=lambda of, verdict: None)
    for seat in range(plies):
        played.play(seat, 3, 1.0)
    for _ in range(2):  # before its end is announced, and after that
        assert [played.has_moved(seat) for seat in (0, 1)] == [True, plies == 2]
        assert played.both_have_moved is (plies == 2)
        played.announce()
    assert played.log.closed


def test_a_refusal_that_decides_is_told_with_the_ending_too() -> None:
    played = match(decided=lambda of, verdict: None)
    with pytest.raises(Illegal):
        played.play(0, "nowhere", 1.0)
    assert played.log.events == [Began(0.0, NAMES)]
    played.announce()
    assert [type(event) for event in played.log.events] == [Began, Refused, Ended]


def test_a_verdict_is_final() -> None:
    played = match(decided=lambda of, verdict: None)
    played.resign(0, 1.0)
    verdict = played.verdict
    for change in (
        lambda: played.resign(1, 2.0),
        lambda: played.flag(1000.0),
        lambda: played.leave(1, 3.0),
        lambda: played.here(0, 3.0),
        lambda: played.void("no", 4.0),
    ):
        change()
        assert played.verdict is verdict


def test_a_void_match_has_no_winner_and_its_deciding_move_is_not_told() -> None:
    played = match()
    played.play(0, "C", 1.0)
    played.void("the organiser says so", 2.0)
    assert ended(played) == (None, Ending.VOID, "the organiser says so")


# Absence


def test_it_says_how_long_whoever_is_gone_is_waited_for() -> None:
    played = match()
    assert played.given_up_at == -inf
    played.away(1, 10.0, 0.0)
    assert played.given_up_at == 10.0, "it is not to move"
    played.away(0, 30.0, 0.0)
    assert played.given_up_at == played.clock.deadline < 30.0
    played.pause(0.5)
    assert played.given_up_at == -inf, "nothing runs out in a pause"
    played.resume(0.5)
    played.here(0, 1.0)
    played.here(1, 1.0)
    assert played.given_up_at == -inf


def test_whoever_is_away_for_longer_than_its_grace_has_lost() -> None:
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.flag(30.0)
    assert played.verdict is None
    played.flag(nextafter(30.0, inf))
    why = "bob left the match: disconnected 30 s earlier and did not come back"
    assert ended(played) == (0, Ending.LEFT, why)


@pytest.mark.parametrize("moves", [1, 2])
def test_whoever_is_out_of_the_tournament_loses_by_that_and_no_clock_decides(moves: int) -> None:
    """Even if its opponent is not there just then, and comes back after either clock would have run out."""
    played = match()
    for seat, move in enumerate(("C", "N")[:moves]):
        played.play(seat, move, seat + 1.0)
    played.away(1, 32.0, 2.0)
    played.leave(0, 3.0, out=True)
    played.flag(30.0)
    assert played.verdict is None
    played.here(1, 31.0)
    assert ended(played) == (1, Ending.LEFT, "ann is out of the tournament")


def test_whoever_comes_back_in_time_plays_on() -> None:
    played = match(pace=Pace())
    played.away(0, 30.0, 0.0)
    played.here(0, 29.0)
    played.flag(1000.0)
    played.play(0, "C", 1001.0)
    assert played.verdict is None


def test_the_clock_runs_while_its_seat_is_away() -> None:
    played = match()
    played.away(0, 30.0, 0.0)
    played.flag(10.5)
    assert ended(played) == (1, Ending.TIME, "ann ran out of time, disconnected 10 s earlier")


def test_the_clock_starts_when_its_turn_comes_while_its_seat_is_away() -> None:
    played = match()
    played.away(1, 30.0, 0.0)
    played.play(0, "C", 1.0)
    played.flag(11.5)
    assert ended(played) == (0, Ending.TIME, "bob ran out of time, disconnected 11 s earlier")


def test_the_clock_of_the_one_runs_on_while_the_other_is_held() -> None:
    played = match()
    played.hold(1, 60.0, 2.0, lost=True)
    assert played.deadline == 10.0
    played.flag(10.5)
    assert ended(played) == (1, Ending.TIME, "ann ran out of time")


def test_whoever_is_gone_already_is_waited_for_no_longer_by_being_gone_once_more() -> None:
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.away(1, 50.0, 20.0)
    played.flag(31.0)
    assert played.verdict is not None
    assert (played.verdict.winner, played.verdict.ending) == (0, Ending.LEFT)


@pytest.mark.parametrize(
    ("came_at", "told"),
    [(2, "; its last move was sent for ply 4, and the match was at ply 2"), (0, "")],
    ids=["now", "earlier"],
)
def test_a_move_for_another_ply_explains_why_time_ran_out_if_it_came_in_that_turn(
    came_at: int, told: str
) -> None:
    played = match()
    played.play(0, "C", 1.0)
    played.play(1, "N", 2.0)
    played.meant[0] = came_at, 4
    played.flag(20.0)
    assert ended(played) == (1, Ending.TIME, f"ann ran out of time{told}")


@pytest.mark.parametrize(
    ("came_at", "told"),
    [(2, "; its last message had no effect: this is not JSON"), (0, "")],
    ids=["now", "earlier"],
)
def test_a_message_that_was_no_move_explains_why_time_ran_out_if_it_came_in_that_turn(
    came_at: int, told: str
) -> None:
    played = match()
    played.play(0, "C", 1.0)
    played.play(1, "N", 2.0)
    played.ignored[0] = came_at, "this is not JSON"
    played.flag(20.0)
    assert ended(played) == (1, Ending.TIME, f"ann ran out of time{told}")


def test_a_message_that_was_no_move_is_not_called_the_last_where_a_refused_move_came_after_it() -> None:
    played = match("connect-4")
    played.ignored[0] = 0, "this is not JSON"
    with pytest.raises(Illegal):
        played.play(0, "nine", 1.0)
    played.flag(20.0)
    _, ending, why = ended(played)
    assert ending is Ending.TIME
    assert "nine" in why
    assert "this is not JSON" not in why


def test_whoever_only_seemed_to_be_gone_has_run_out_of_time_by_its_own_fault() -> None:
    played = match()
    played.away(0, 30.0, 0.0, lost=False)
    played.flag(10.5)
    assert ended(played) == (1, Ending.TIME, "ann ran out of time")
    assert played.verdict is not None
    assert played.verdict.fault is Fault.BOT


def test_what_the_host_loses_while_all_time_stands_still_is_given_back_once() -> None:
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.pause(10.0)
    played.credit(5.0, 15.0)
    played.resume(20.0)
    assert played.deadline == 40.0


def test_that_the_host_hung_up_on_one_is_told_whatever_happens_to_the_connection_of_the_other() -> None:
    played = match(pace=Pace())
    played.cut_off(0, "too much junk", 1.0)
    played.away(0, 31.0, 1.0)
    played.away(1, 32.0, 2.0)
    played.here(1, 3.0)
    played.flag(32.0)
    assert played.verdict is not None
    assert (played.verdict.winner, played.verdict.fault) == (1, Fault.BOT)
    assert "because the host hung up on it (too much junk)" in played.verdict.why


def test_a_stall_of_an_earlier_turn_is_no_part_of_why_time_ran_out() -> None:
    played = match()
    played.credit(1.0, 1.5)
    played.play(0, "C", 2.0)
    played.flag(20.0)
    assert ended(played) == (0, Ending.TIME, "bob ran out of time")


@pytest.mark.parametrize("looked_at", [False, True])
def test_whoever_hangs_up_when_its_clock_has_run_out_was_late_by_its_own_fault(looked_at: bool) -> None:
    """Catches a match that ann lost by the network, "disconnected -0 s earlier", as nobody had looked yet."""
    played = match()
    if looked_at:
        played.flag(10.5)
    played.away(0, 40.5, 10.5)
    played.flag(11.0)
    assert ended(played) == (1, Ending.TIME, "ann ran out of time")
    assert played.verdict is not None
    assert played.verdict.fault is Fault.BOT


def test_whoever_hangs_up_when_the_other_has_been_gone_for_too_long_has_won() -> None:
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.away(0, 60.5, 30.5)
    played.flag(61.0)
    assert played.verdict is not None
    assert (played.verdict.winner, played.verdict.ending) == (0, Ending.LEFT)


def test_what_runs_out_first_decides_whenever_it_is_looked_at() -> None:
    played = match()
    played.away(1, 9.0, 0.0)
    played.flag(1000.0)
    why = "bob left the match: disconnected 9 s earlier and did not come back"
    assert ended(played) == (0, Ending.LEFT, why)


def test_when_two_flags_fall_at_once_that_of_the_seat_to_move_decides() -> None:
    played = match()
    played.away(1, 10.0, 0.0)
    played.flag(11.0)
    assert ended(played) == (1, Ending.TIME, "ann ran out of time")


def test_leaving_loses_at_once() -> None:
    played = match()
    played.leave(0, 1.0)
    assert ended(played) == (1, Ending.LEFT, "ann left the match")


def test_whoever_left_while_the_other_was_away_loses_when_the_other_is_back() -> None:
    """An honest player whose cable was out for a second must not be robbed of its win."""
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.leave(0, 5.0)
    assert played.verdict is None
    played.here(0, 6.0)
    played.here(1, 29.0)
    assert ended(played) == (1, Ending.LEFT, "ann left the match")


def test_nobody_who_is_out_for_good_is_waited_for_again() -> None:
    """Catches a bot that was disqualified before its match began, joins again and wins it."""
    played = match(pace=Pace())
    for seat in (0, 1):
        played.hold(seat, 60.0, 0.0)
    played.leave(0, 1.0, out=True)
    played.hold(0, 60.0, 2.0)
    played.here(0, 3.0)
    played.here(1, 4.0)
    assert ended(played) == (1, Ending.LEFT, "ann is out of the tournament")


@pytest.mark.parametrize(("replayable", "ending"), [(True, Ending.VOID), (False, Ending.LEFT)])
def test_with_neither_there_it_is_void_and_the_second_time_lost_for_both(
    replayable: bool, ending: Ending
) -> None:
    played = match(pace=Pace(), replayable=replayable)
    played.away(0, 30.0, 0.0)
    played.away(1, 40.0, 0.0)
    played.flag(35.0)
    assert played.verdict is None, "bob may yet come back and claim the match"
    played.flag(40.5)
    assert ended(played) == (None, ending, NOBODY)


def test_a_seat_that_is_held_has_its_clock_wait_for_it() -> None:
    played = match()
    played.hold(0, 300.0, 0.0)
    played.flag(299.0)
    assert played.verdict is None
    played.here(0, 100.0)
    assert played.deadline == 110.0


def test_a_seat_that_is_held_when_its_turn_comes_has_its_clock_wait_too() -> None:
    played = match()
    played.hold(1, 300.0, 0.0)
    played.play(0, "C", 5.0)
    assert played.deadline == 300.0
    played.here(1, 50.0)
    assert played.deadline == 60.0


def test_a_seat_that_never_comes_has_lost() -> None:
    played = match()
    played.hold(0, 300.0, 0.0)
    played.flag(301.0)
    assert ended(played) == (1, Ending.LEFT, "ann did not come")


# What the host does


def test_a_stall_is_credited_to_the_clock_that_runs() -> None:
    played = match()
    played.credit(5.0, 8.0)
    played.play(0, "C", 15.0)
    assert played.log.events[-1].spent == 10.0


def test_a_stall_is_credited_to_whoever_is_away() -> None:
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.credit(5.0, 20.0)
    played.flag(35.0)
    assert played.verdict is None
    played.flag(35.5)
    assert ended(played)[1] is Ending.LEFT


def test_nothing_runs_out_in_a_pause() -> None:
    played = match()
    played.away(1, 30.0, 0.0)
    played.pause(5.0)
    played.pause(7.0)  # which changes nothing
    played.flag(1000.0)
    assert played.verdict is None
    played.resume(1005.0)
    assert (played.deadline, played.given_up_at) == (1010.0, 1030.0)
    played.play(0, "C", 1006.0)
    played.here(1, 1015.0)
    assert played.verdict is None


@pytest.mark.parametrize("stops", ["pause", "stall"])
@pytest.mark.parametrize("gone_at", [0.0, 5.0, 90.0, 105.0])
def test_whoever_goes_while_time_stands_still_is_waited_for_no_longer_than_others(
    gone_at: float, stops: str
) -> None:
    """Catches an opponent that waits for all of a pause, at the end of which somebody went."""
    played = match(pace=Pace())
    went = [("gone", gone_at), ("stops", 5.0), ("goes on", 105.0)]
    for what, at in sorted(went, key=lambda each: each[1]):
        if what == "gone":
            played.away(1, at + 30.0, at)
        elif what == "stops" and stops == "pause":
            played.pause(at)
        elif what == "goes on" and stops == "pause":
            played.resume(at)
        elif what == "goes on":
            played.credit(100.0, at)
    assert played.deadline == 105.0 + 30.0 - max(0.0, 5.0 - gone_at)


def test_a_stall_in_a_pause_is_given_back_once() -> None:
    played = match(pace=Pace())
    played.away(1, 30.0, 0.0)
    played.pause(5.0)
    played.credit(4.0, 10.0)
    played.resume(15.0)
    assert played.deadline == 40.0


def test_options_reach_the_game() -> None:
    played = match("hexagon-dots", options={"rows": 3, "cols": 3})
    shown = played.game.show(played.position, NAMES)
    assert (shown["rows"], shown["cols"]) == (3, 3)


# Before both have moved


@pytest.mark.parametrize(("moves", "void"), [(0, True), (1, True), (2, False)])
def test_whoever_is_excused_and_leaves_before_both_have_moved_has_not_lost(moves: int, void: bool) -> None:
    played = match(excused=(True, False))
    for seat, move in enumerate(("C", "NW")[:moves]):
        played.play(seat, move, 0.0)
    played.leave(0, 1.0)
    expected = (None, Ending.VOID, "ann left before both had moved")
    assert ended(played) == (expected if void else (1, Ending.LEFT, "ann left the match"))


def test_whoever_is_no_longer_excused_has_lost() -> None:
    played = match(excused=(True, False))
    played.leave(1, 1.0)
    assert ended(played) == (0, Ending.LEFT, "bob left the match")


def test_whoever_is_excused_and_never_comes_has_not_lost() -> None:
    played = match(excused=(True, True))
    played.hold(1, 5.0, 0.0)
    played.flag(6.0)
    assert ended(played) == (None, Ending.VOID, "bob did not come")


def test_whoever_is_excused_and_hangs_up_while_its_clock_waits_had_come() -> None:
    played = match(excused=(True, True))
    played.hold(1, 5.0, 0.0, lost=True)
    played.flag(6.0)
    assert ended(played) == (None, Ending.VOID, "bob left before both had moved")


@pytest.mark.parametrize("fault", ["time", "illegal", "resigned"])
def test_other_faults_are_not_excused(fault: str) -> None:
    played = match(excused=(True, True))
    if fault == "time":
        played.flag(1000.0)
    elif fault == "resigned":
        played.resign(0, 1.0)
    else:
        played.forfeit(0, "junk", "a fault", 1.0)
    assert ended(played)[:2] == (1, Ending(fault))


def test_before_its_first_move_nobody_may_be_gone_for_long() -> None:
    played = match(early_grace=5.0)
    assert [played.early_grace(seat) for seat in (0, 1)] == [5.0, 5.0]
    played.play(0, "C", 1.0)
    assert [played.early_grace(seat) for seat in (0, 1)] == [inf, 5.0]


# A game that breaks its promises


class Odd(Struct, frozen=True):
    """A position after which it is over, or the turn of nobody."""

    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> tuple[object, ...]:
        return ()


def odd(after: Odd, written: object = 0, first: int = 0) -> Match:
    class First(Odd, frozen=True):
        turn: int = first

        def play(self, move: object) -> Odd:
            return after

    game = structs.replace(
        catalogue()["tic-tac-toe"], start=First, read=lambda sent, position: sent, write=lambda move: written
    )
    return Match(game, NAMES, 0.0, pace=PACE)


@pytest.mark.parametrize(
    ("after", "written"),
    [(Odd(1), 2**70), (Odd(2), 0), (Odd(True), 0), (Odd(0, Outcome(2, "the second won")), 0)],
)
def test_what_can_be_neither_kept_nor_told_is_not_played(after: Odd, written: object) -> None:
    """Catches one move of such a game that ends the host: it could not be kept, or not read again."""
    played = odd(after, written)
    with pytest.raises(Unsound) as fault:
        played.play(0, "go", 1.0)
    assert not isinstance(fault.value, Illegal), "it is no fault of the bot's"
    assert [type(event) for event in played.log.events] == [Began]
    assert (played.ply, played.to_move, played.verdict) == (0, 0, None)
    assert played.left(2.0) == (8.0, 10.0), "and its clock runs on"


@pytest.mark.parametrize("turn", [True, False, 2])
def test_no_match_begins_with_the_turn_of_what_is_no_seat(turn: int) -> None:
    """Catches a journal that could not be read again: it had `"seat":false` of a bot that ran out of time."""
    with pytest.raises(Unsound, match=f"^the seat to move is 0 or 1, not {turn}$"):
        odd(Odd(), first=turn)
