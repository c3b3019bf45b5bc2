"""Interrupts come between the steps of a command, and what a step does is done to its end."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from server.programs.interrupts import SIGNALS, Interrupts, later
from tests.ending import signals_as_before


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    with signals_as_before():
        yield


def interrupted(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


def ended_by_interrupt(run: Callable[[], None]) -> None:
    with pytest.raises(KeyboardInterrupt), Interrupts():
        run()


def step(number: signal.Signals, done: list[str]) -> None:
    with later():
        interrupted(number)
        done.append("kept")
        interrupted(number)
        done.append("counted")


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_that_comes_in_a_step_waits_for_its_end(number: signal.Signals) -> None:
    done: list[str] = []

    def run() -> None:
        with later():
            done.append("undisturbed")
        step(number, done)

    ended_by_interrupt(run)
    assert done == ["undisturbed", "kept", "counted"]


@pytest.mark.parametrize("number", SIGNALS)
def test_between_two_steps_it_comes_at_once(number: signal.Signals) -> None:
    done: list[str] = []

    def run() -> None:
        with later():
            done.append("undisturbed")
        interrupted(number)
        done.append("too late")

    ended_by_interrupt(run)
    assert done == ["undisturbed"]


@pytest.mark.parametrize("number", SIGNALS)
def test_one_that_follows_at_once_ends_nothing_that_is_being_cleared_away(number: signal.Signals) -> None:
    """Catches programs that ran on after two quick Ctrl-Cs. One that comes later is a wish of its own."""
    done: list[str] = []
    times = iter((10.0, 10.0, 10.5, 20.0))

    def clear_away() -> None:
        interrupted(number)
        interrupted(number)
        done.append("cleared away")
        interrupted(number)
        done.append("too late")

    def run() -> None:
        with Interrupts(times.__next__), ExitStack() as ending:
            ending.callback(clear_away)
            interrupted(number)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert done == ["cleared away"]


def failing() -> None:
    with later():
        interrupted(signal.SIGINT)
        raise OSError("the disk is full")


def test_what_a_step_raises_is_not_hidden_by_an_interrupt() -> None:
    with pytest.raises(OSError, match="the disk is full"), Interrupts():
        failing()


def lost(number: signal.Signals) -> None:
    """Be interrupted where Python drops what is raised."""

    class Finalized:
        def __del__(self) -> None:
            interrupted(number)

    Finalized()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_that_python_loses_comes_after_the_next_step(number: signal.Signals) -> None:
    done: list[str] = []

    def run() -> None:
        lost(number)
        with later():
            done.append("a step")
        done.append("another")

    ended_by_interrupt(run)
    assert done == ["a step"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("number", SIGNALS)
def test_and_at_the_end_at_the_latest(number: signal.Signals) -> None:
    ended_by_interrupt(lambda: lost(number))


def test_afterwards_signals_do_what_they_did_before() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(KeyboardInterrupt), Interrupts():
        interrupted(signal.SIGTERM)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_whoever_ignores_ctrl_c_goes_on_ignoring_it() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interrupts():
        interrupted(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
