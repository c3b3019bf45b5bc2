"""Why a match was lost: one law for each cause, told by the referee."""

from math import inf
from typing import Any

import pytest

from games.catalogue import catalogue
from games.game import Illegal, Pace
from tournament import causes
from tournament.causes import FIRST, LATEST
from tournament.events import CUT_SHORT, NOBODY, Credited, Disconnected, Ended, Ending, Fault, Returned
from tournament.match import LOSSES, NOTED, Match

NAMES = ("ann", "bob")
PACE = Pace(turn=20.0)


def match(game: str = "connect-4", **options: Any) -> Match:
    return Match(catalogue()[game], NAMES, 0.0, **{"pace": PACE} | options)


def ended(of: Match) -> Ended:
    assert of.result is not None
    return of.result


def refuse(of: Match, seat: int, sent: object, at: float) -> None:
    with pytest.raises(Illegal):
        of.play(seat, sent, at)


def kinds(of: Match) -> list[str]:
    return [type(cause).__name__.lower() for cause in ended(of).cause]


def test_whoever_is_too_slow_is_told_how_long_it_had() -> None:
    played = match()
    played.play(0, 3, 5.0)
    played.flag(26.0)
    assert (ended(played).why, ended(played).fault) == ("bob ran out of time", Fault.BOT)
    assert ended(played).cause == (causes.Late(26.0, 1, 1, 20.0, 21.0),)


def test_whoever_had_begun_a_line_when_its_clock_ran_out_is_told_so() -> None:
    played = match()
    played.begun[0] = lambda: 1
    played.begun[1] = lambda: 24
    played.flag(26.0)
    told = "ann ran out of time; 1 byte of a line had come, without the line break at its end"
    assert (ended(played).why, ended(played).decided_by) == (told, "ann ran out of time")
    assert ended(played).cause == (causes.Late(26.0, 0, 0, 20.0, 26.0, begun=1),)


def test_a_clock_that_runs_out_over_refusals_names_the_last_of_them() -> None:
    played = match()
    for number in range(16):
        refuse(played, 0, "e99", number / 4)
    played.flag(20.5)
    reason = 'a move is the number of a column, 0 to 6, not "e99"'
    told = f"ann ran out of time; 16 of its moves were refused before, the last, e99, because {reason}"
    assert (ended(played).why, ended(played).fault) == (told, Fault.BOT)
    assert ended(played).decided_by == "ann ran out of time"
    assert kinds(played) == ["refused"] * 16 + ["late"]
    assert ended(played).cause[15] == causes.Refused(3.75, 0, 0, "e99", reason)


def test_a_refusal_of_an_earlier_move_did_not_lead_to_it() -> None:
    played = match()
    refuse(played, 0, "e99", 1.0)
    played.play(0, 3, 2.0)
    played.play(1, 3, 3.0)
    played.flag(24.0)
    assert ended(played).why == "ann ran out of time"
    assert kinds(played) == ["refused", "late"]


@pytest.mark.parametrize("late", [0.001, 500.0])
def test_whoever_was_disconnected_when_its_clock_ran_out_lost_by_the_network(late: float) -> None:
    played = match(pace=Pace(turn=60.0))
    played.away(0, 90.0, 29.0)
    played.flag(60.0 + late)
    assert ended(played).why == "ann ran out of time, disconnected 31 s earlier"
    assert (ended(played).ending, ended(played).fault) == (Ending.TIME, Fault.NETWORK)
    assert kinds(played) == ["disconnected", "late"]


def test_whoever_came_back_and_was_too_slow_all_the_same_was_too_slow() -> None:
    played = match(pace=Pace(turn=60.0))
    played.away(0, 31.0, 1.0)
    played.here(0, 9.0)
    played.flag(61.0)
    assert (ended(played).why, ended(played).fault) == ("ann ran out of time", Fault.BOT)
    assert kinds(played) == ["disconnected", "returned", "late"]


def test_whoever_does_not_come_back_has_lost_by_the_network() -> None:
    played = match(pace=Pace())
    played.away(1, 32.5, 2.5)
    played.flag(40.0)
    assert ended(played).why == "bob left the match: disconnected 30 s earlier and did not come back"
    assert (ended(played).ending, ended(played).fault) == (Ending.LEFT, Fault.NETWORK)
    assert ended(played).cause == (causes.Disconnected(2.5, 1, 0), causes.Absent(40.0, 1, 30.0))
    assert ended(played).decided_by == "bob left the match"


WHY = "too many lines out of turn"


@pytest.mark.parametrize("held", [False, True])
def test_whoever_was_hung_up_on_and_does_not_come_back_has_lost_by_what_it_did(held: bool) -> None:
    played = match(pace=Pace())
    played.cut_off(1, WHY, 2.0)
    if held:
        played.hold(1, 32.0, 2.0, lost=True)
    else:
        played.away(1, 32.0, 2.0)
    played.flag(33.0)
    earlier = f"disconnected 30 s earlier, because the host hung up on it ({WHY}), and did not come back"
    assert ended(played).why == f"bob left the match: {earlier}"
    assert (ended(played).ending, ended(played).fault) == (Ending.LEFT, Fault.BOT)
    assert ended(played).cause == (causes.Disconnected(2.0, 1, 0, WHY), causes.Absent(33.0, 1, 30.0))
    assert ended(played).decided_by == ("bob did not come" if held else "bob left the match")


def test_whoever_was_hung_up_on_and_cannot_come_back_has_lost_at_once() -> None:
    played = match()
    played.cut_off(0, WHY, 1.0)
    played.leave(0, 1.0)
    assert ended(played).why == f"ann left the match, because the host hung up on it ({WHY})"
    assert (ended(played).fault, ended(played).decided_by) == (Fault.BOT, "ann left the match")
    assert ended(played).cause == (causes.Disconnected(1.0, 0, 0, WHY),)


def test_whoever_was_hung_up_on_when_its_clock_ran_out_has_lost_by_what_it_did() -> None:
    played = match(pace=Pace(turn=60.0))
    played.cut_off(0, WHY, 29.0)
    played.away(0, 90.0, 29.0)
    played.flag(61.0)
    why = f"ann ran out of time, disconnected 31 s earlier, because the host hung up on it ({WHY})"
    assert (ended(played).why, ended(played).fault) == (why, Fault.BOT)


def test_whoever_comes_back_after_it_was_hung_up_on_and_is_lost_again_was_lost_by_the_network() -> None:
    played = match(pace=Pace())
    played.cut_off(0, WHY, 1.0)
    played.away(0, 31.0, 1.0)
    played.here(0, 2.0)
    played.away(0, 33.0, 3.0)
    played.flag(40.0)
    assert ended(played).why == "ann left the match: disconnected 30 s earlier and did not come back"
    assert ended(played).fault is Fault.NETWORK
    assert kinds(played) == ["disconnected", "returned", "disconnected", "absent"]


@pytest.mark.parametrize("why", ["", WHY])
@pytest.mark.parametrize("before", [0, 1, LOSSES - 1, LOSSES, 3 * LOSSES])
def test_the_last_connection_decides_whose_fault_it_is_however_many_were_lost_before(
    before: int, why: str
) -> None:
    """Catches the network that is blamed because the host has hung up too often for that to be told."""
    played = match(pace=Pace(turn=60.0))
    for _ in range(before):
        played.cut_off(0, "another reason", 1.0)
        played.away(0, 31.0, 1.0)
        played.here(0, 1.0)
    if why:
        played.cut_off(0, why, 29.0)
    played.away(0, 90.0, 29.0)
    played.flag(61.0)
    hung_up = f", because the host hung up on it ({why})" if why else ""
    assert ended(played).why == f"ann ran out of time, disconnected 31 s earlier{hung_up}"
    assert ended(played).fault is (Fault.BOT if why else Fault.NETWORK)
    assert ended(played).cause[-2:-1] == (causes.Disconnected(29.0, 0, 0, why),)


def test_whoever_is_hung_up_on_when_its_clock_has_run_out_was_too_slow() -> None:
    played = match()
    played.cut_off(0, WHY, 21.0)
    assert (ended(played).why, kinds(played)) == ("ann ran out of time", ["late"])


def test_whoever_is_taken_out_after_it_was_hung_up_on_is_out_by_nobody_s_fault() -> None:
    played = match(pace=Pace())
    played.cut_off(0, WHY, 1.0)
    played.leave(0, 2.0, out=True)
    assert (ended(played).why, ended(played).fault) == ("ann is out of the tournament", None)


def test_whoever_is_taken_out_before_both_have_moved_has_not_left() -> None:
    played = match(excused=(True, True))
    played.leave(0, 2.0, out=True)
    assert (ended(played).ending, ended(played).winner) == (Ending.VOID, None)
    assert (ended(played).why, ended(played).fault) == ("ann is out of the tournament", None)
    assert ended(played).cause == ()


def test_whoever_says_goodbye_has_lost_by_itself() -> None:
    played = match()
    played.leave(0, 1.0)
    assert (ended(played).why, ended(played).fault) == ("ann left the match", Fault.BOT)
    assert ended(played).cause == ()


def test_whoever_never_came_has_lost_by_itself() -> None:
    played = match(pace=Pace())
    played.hold(1, 30.0, 0.0)
    played.flag(31.0)
    assert (ended(played).why, ended(played).fault) == ("bob did not come", Fault.BOT)
    assert ended(played).cause == (causes.Absent(31.0, 1, 30.0),)


def test_whoever_hangs_up_while_its_clock_waits_was_there() -> None:
    played = match()
    played.play(0, 3, 1.0)
    played.hold(1, 32.0, 2.0, lost=True)
    played.flag(33.0)
    assert ended(played).why == "bob left the match: disconnected 30 s earlier and did not come back"
    assert (ended(played).fault, kinds(played)) == (Fault.NETWORK, ["disconnected", "absent"])
    assert ended(played).decided_by == "bob did not come", "as older protocols have always said it"


def test_a_silence_that_no_connection_was_lost_in_is_told_nobody() -> None:
    played = match(pace=Pace())
    played.away(1, 5.0, 0.0, lost=False)
    played.here(1, 1.0)
    assert len(played.log.events) == 1


def test_an_illegal_move_is_the_bots_fault_and_kept_as_it_was_sent() -> None:
    played = match("quoridor")
    refuse(played, 0, {"action": "move", "position": "e99"}, 1.0)
    last = ended(played)
    assert (last.ending, last.fault) == (Ending.ILLEGAL, Fault.BOT)
    (cause,) = last.cause
    assert isinstance(cause, causes.Refused)
    assert cause.sent == '{"action":"move","position":"e99"}'
    assert last.why == f"ann: {cause.why}" == last.decided_by


def test_a_match_that_is_played_or_resigned_is_nobodys_fault_and_keeps_what_happened() -> None:
    played = match("tic-tac-toe")
    played.away(1, 30.0, 0.5)
    played.here(1, 1.0)
    played.resign(0, 2.0)
    assert (ended(played).fault, kinds(played)) == (None, ["disconnected", "returned"])
    played = match("tic-tac-toe")
    for number, move in enumerate(("NW", "SW", "N", "S", "NE")):
        played.play(number % 2, move, float(number))
    assert (ended(played).fault, ended(played).cause) == (None, ())
    assert ended(played).why == "O has three in a row"


def test_a_stall_that_was_credited_is_told_with_the_next_move() -> None:
    played = match()
    played.credit(0.4, 5.0)
    played.credit(0.6, 6.0)
    assert len(played.log.events) == 1, "a stall concerns every match, and none is told at once"
    played.play(0, 3, 7.0)
    assert played.log.events[1] == Credited(7.0, 0, seconds=1.0)


def test_a_stall_is_in_the_sentence_of_whoever_ran_out_of_time_after_it() -> None:
    played = match()
    played.credit(0.4, 5.0)
    played.flag(21.0)
    told = "ann ran out of time; the host had stood still for 0.4 s, which did not count"
    assert (ended(played).why, kinds(played)) == (told, ["credited", "late"])


def test_a_stall_too_short_to_matter_is_told_nobody() -> None:
    played = match()
    played.credit(NOTED / 2, 5.0)
    played.play(0, 3, 7.0)
    assert not any(isinstance(event, Credited) for event in played.log.events)


def test_what_the_host_failed_at_is_void_and_nobodys_loss() -> None:
    played = match()
    played.play(0, 3, 1.0)
    played.play(1, 3, 2.0)
    played.fail(3.0)
    last = ended(played)
    assert (last.winner, last.ending, last.fault) == (None, Ending.VOID, Fault.HOST)


def test_what_an_organiser_voids_is_nobodys_fault() -> None:
    played = match()
    played.void("a cable", 1.0)
    assert (ended(played).ending, ended(played).fault) == (Ending.VOID, None)


def test_a_match_that_a_stop_of_the_host_cut_short_is_the_hosts_fault() -> None:
    played = match(kept=([3, 3], [1.0, 1.0]))
    for seat in (0, 1):
        played.hold(seat, 30.0, 0.0)
    played.here(1, 1.0)
    played.flag(31.0)
    assert (ended(played).why, ended(played).fault) == (f"{CUT_SHORT}, and ann did not come back", Fault.HOST)


@pytest.mark.parametrize("goodbye", [False, True])
def test_when_two_are_gone_one_goodbye_makes_it_the_bots_fault(goodbye: bool) -> None:
    played = match(pace=Pace())
    played.away(0, 30.0, 0.0)
    if goodbye:
        played.leave(1, 1.0)
    else:
        played.away(1, 31.0, 1.0)
    played.flag(32.0)
    assert (ended(played).why, ended(played).ending) == (NOBODY, Ending.VOID)
    assert ended(played).fault is (Fault.BOT if goodbye else Fault.NETWORK)


@pytest.mark.parametrize("hangs_up", [False, True])
def test_leaving_before_both_have_moved_costs_nothing_where_it_is_excused(hangs_up: bool) -> None:
    played = match(excused=(True, True))
    played.play(0, 3, 1.0)
    if hangs_up:
        played.away(1, 6.0, 1.0)
        played.flag(6.5)
    else:
        played.leave(1, 2.0)
    last = ended(played)
    assert (last.winner, last.ending, last.why) == (None, Ending.VOID, "bob left before both had moved")
    assert last.fault is (Fault.NETWORK if hangs_up else Fault.BOT)


def test_a_flood_of_hang_ups_is_bounded_and_the_last_ones_are_kept() -> None:
    played = match(pace=Pace())
    for number in range(500):
        if number % 2:
            played.cut_off(0, "too many lines", float(number))
        played.away(0, number + 30.0, float(number))
        played.here(0, number + 0.5)
    told = [event for event in played.log.events if isinstance(event, Disconnected | Returned)]
    assert len(told) <= 2 * LOSSES
    assert len(played.cause) <= FIRST + LATEST
    played.away(0, 530.0, 500.0)
    played.flag(inf)
    assert ended(played).fault is Fault.NETWORK
    assert ended(played).why.endswith("disconnected 30 s earlier and did not come back")


def test_what_arrived_at_another_host_earlier_than_was_known_here_is_told_in_its_order() -> None:
    """Catches an end before what led to it: verifying says of such a record that it does not follow."""
    played = match()
    played.play(0, 3, 1.0)
    played.away(0, 30.0, 5.0)
    refuse(played, 1, 99, 4.9)
    played.here(0, 5.1)
    played.resign(1, 5.05)
    moments = [cause.at for cause in ended(played).cause]
    assert len(moments) == 3
    assert sorted(moments) == moments
    assert ended(played).at >= moments[-1]
