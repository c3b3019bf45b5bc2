"""A list that can be followed."""

import structlog
import trio

from tournament.events import AnyEvent, Began, Ended, Ending, Refused
from tournament.log import Log

BEGAN = Began(0.0, ("ann", "bob"))
ENDED = Ended(9.0, 0, Ending.PLAYED, "three in a row")


def refused(count: int) -> Refused:
    return Refused(float(count), 0, 0, "?", "cannot be read", count)


def test_a_follower_is_told_what_is_there_and_then_what_comes_in_order() -> None:
    log, told = Log(), list[AnyEvent]()
    log.append(BEGAN, refused(1))
    log.follow(told.append)
    log.append(refused(2))
    assert told == [BEGAN, refused(1), refused(2)]


def test_following_from_an_index_goes_on_where_one_stopped() -> None:
    log, told = Log(), list[AnyEvent]()
    log.append(BEGAN, refused(1), refused(2))
    log.follow(told.append, start=2)
    assert told == [refused(2)]


def test_whoever_has_stopped_is_told_no_more() -> None:
    log, told = Log(), list[AnyEvent]()
    follower = log.follow(told.append)
    log.append(BEGAN)
    follower.stop()
    log.append(refused(1))
    assert told == [BEGAN]


def test_all_are_told_the_same_order_though_one_appends_while_it_is_told() -> None:
    """Catches telling recursively: the second follower would hear of 2 before 1."""
    log, eager, patient = Log(), list[AnyEvent](), list[AnyEvent]()

    def answer(event: AnyEvent) -> None:
        eager.append(event)
        if event == BEGAN:
            log.append(refused(2))

    log.follow(answer)
    log.follow(patient.append)
    log.append(BEGAN, refused(1))
    assert eager == patient == log.events == [BEGAN, refused(1), refused(2)]


def test_a_follower_that_fails_is_dropped_and_costs_nobody_else_anything() -> None:
    log, told = Log(), list[AnyEvent]()

    def fail(event: AnyEvent) -> None:
        raise ZeroDivisionError

    with structlog.testing.capture_logs() as lines:
        log.follow(fail)
        log.follow(told.append)
        log.append(BEGAN)
        log.append(ENDED)
    assert told == [BEGAN, ENDED]
    assert len(lines) == 1


def test_whoever_is_to_hear_of_failures_is_told_what_was_raised() -> None:
    log, reported = Log(), list[Exception]()
    log.report = reported.append

    def fail(event: AnyEvent) -> None:
        raise ZeroDivisionError

    log.follow(fail)
    log.append(BEGAN)
    log.append(ENDED)
    assert [type(each) for each in reported] == [ZeroDivisionError]


def test_nobody_is_kept_after_the_end() -> None:
    """Most followers hold the match: it would be freed only by the collector, which hardly ever looks."""
    log, told = Log(), list[AnyEvent]()

    def end(event: AnyEvent) -> None:
        if event == BEGAN:
            log.append(ENDED)

    log.follow(end)
    log.follow(told.append)
    log.append(BEGAN)
    assert not log.followed
    log.follow(told.append)
    assert told == [BEGAN, ENDED] * 2
    assert not log.followed


def test_whoever_stops_is_told_nothing_more_of_what_was_appended_together() -> None:
    log, told = Log(), list[AnyEvent]()

    def tell(event: AnyEvent) -> None:
        told.append(event)
        if event == refused(1):
            following.stop()

    log.append(BEGAN)
    following = log.follow(tell)
    log.append(refused(1), ENDED)
    assert told == [BEGAN, refused(1)]


async def test_a_reader_gets_everything_and_stops_with_the_match() -> None:
    log, read = Log(), list[AnyEvent]()

    async def reader() -> None:
        read.extend([event async for event in log.read()])

    log.append(BEGAN)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(reader)
        await trio.testing.wait_all_tasks_blocked()
        log.append(refused(1))
        await trio.testing.wait_all_tasks_blocked()
        log.append(refused(2), ENDED)
    assert read == log.events


def test_a_log_is_closed_by_an_ending_alone() -> None:
    log = Log()
    assert not log.closed
    log.append(BEGAN)
    assert not log.closed
    log.append(ENDED)
    assert log.closed
