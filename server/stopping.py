"""How a host ends: its tournament is over, or it is told to stop.

At the first signal it waits for matches that no restart can resume, at the second for
nothing. Then bots, spectators and webhooks are told, and the standings are printed.
"""

import atexit
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import structlog
import trio

from server import supervised
from server.config import Settings
from server.exits import DONE, code_of, leave
from server.host.host import Host
from server.host.opening import OPEN
from server.host.unwelcome import STOPPING
from server.host.view import HeldTournament
from server.http.service import Http
from server.net.admission import Admission
from server.programs.report import report
from server.show.process import Show
from server.webhooks import positions
from server.webhooks.posting import SECONDS
from server.workers.workers import Workers
from tournament.facts import State
from tournament.record import Record

if TYPE_CHECKING:
    from server.peers.peering import Peering  # psycopg, which it needs, is an extra

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LINGER = 1.0  # seconds for bots to learn how it ended before their connections go
LAST = 5.0  # seconds for a server to keep the last, after which nobody waits for it any longer
AGAIN = "quintain standings NAME, once the host runs again"  # where unprinted standings are
PRINTING = 6.0  # seconds for printing standings, when the host was told to stop: containers wait 10 s in all

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Running(NamedTuple):
    """A host and what runs beside it, as far as it has to be told that this is the end."""

    settings: Settings
    host: Host
    workers: Workers | None
    peering: "Peering | None"
    http: Http
    show: Show | None
    admission: Admission
    last: Callable[[], int]  # the number of the latest entry that is safe


@contextmanager
def signals_to_the_end() -> Generator[None]:
    """A context around a receiver of signals, after which another signal still ends the host as it should.

    Impatient people send more than are waited for. These would end the process as signals do by themselves,
    in the middle of closing what is open, and with another exit code.
    """
    _answer_signals(lambda number, frame: None)  # what the receiver has left: the host ends in any case
    try:
        yield
    finally:
        _answer_signals(leave)
        atexit.register(_answer_signals, signal.SIG_IGN)  # Python then puts back what ends a process


def _answer_signals(answer: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for number in SIGNALS:
        signal.signal(number, answer)


async def until_the_end(
    host: Host, workers: Workers | None, until_done: str | None, signals: AsyncIterator[int], grace: float
) -> int:
    """Wait for the tournament, or for a signal and what cannot be resumed then; returns the exit code."""
    code = DONE
    async with trio.open_nursery() as nursery:

        async def stop() -> None:
            nonlocal code
            number = await anext(signals)
            code = code_of(number)
            supervised.notify(supervised.STOPPING)
            log.info("stopping", signal=signal.Signals(number).name, grace=grace)
            nursery.start_soon(stop_now)
            await _drained(host, workers, grace)
            nursery.cancel_scope.cancel()

        async def stop_now() -> None:
            await anext(signals)
            nursery.cancel_scope.cancel()

        nursery.start_soon(stop)
        if until_done is None:
            await trio.sleep_forever()
        else:
            awaited = host.known[until_done]
            await awaited.finished()
            if awaited.record.state is State.DELETED:
                log.warning("the tournament that was waited for was deleted", tournament=until_done)
        nursery.cancel_scope.cancel()
    return code


async def _drained(host: Host, workers: Workers | None, grace: float) -> None:
    """Begin nothing more, and wait for what no restart can make up for, but no longer than `grace`."""
    with trio.move_on_after(grace):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(host.drain)
            if workers is not None:
                nursery.start_soon(workers.drain)


async def close(running: Running, until_done: str | None, as_json: bool, signals: AsyncIterator[int]) -> bool:
    """Print the standings and say goodbye to everybody; returns whether the standings could be printed."""
    host = running.host
    over = not host.draining  # whether its tournament is over, or else it was told to stop
    printed = True
    if over:  # there is time
        printed = await print_standings(host, until_done, as_json)
        await until_bots_know(host, running.workers, running.admission, running.settings.grace)
    until = trio.current_time() + LINGER
    with trio.move_on_at(until):
        await _say_goodbye(running)
    if over:
        await _until_all_are_gone_or(until, running.admission)
        await until_webhooks_know(running.settings, running.last, signals)
    else:
        printed = await print_meanwhile(host, until_done, as_json, running.admission, until, signals)
    return printed


async def _say_goodbye(running: Running) -> None:
    """Tell everybody that the host stops. Their connections end when they have been told."""
    if running.workers is not None:
        with trio.move_on_after(LINGER / 2):  # one that hangs keeps nobody else from being told goodbye
            await running.workers.stop(STOPPING)
    await running.host.stop()
    if running.peering is not None:
        await running.peering.give_up(LAST)
    running.http.drain(STOPPING)
    if running.show is not None:
        running.show.lending.drain(STOPPING)


async def until_bots_know(host: Host, workers: Workers | None, admission: Admission, grace: float) -> None:
    """Wait until bots have heard how the tournament that was waited for has ended.

    Clients that poll have yet to ask, and whoever is to be told the standings may have to wait for them.
    """
    with trio.move_on_after(LINGER):
        await until_all_are_gone(admission)
    await _drained(host, workers, grace)


async def until_all_are_gone(admission: Admission) -> None:
    """Wait for every connection to end."""
    while len(admission):  # noqa: ASYNC110 - nobody tells when the last has gone
        await trio.sleep(LINGER / 20)


async def until_webhooks_know(
    settings: Settings, last: Callable[[], int], signals: AsyncIterator[int]
) -> None:
    """Wait until webhooks were told all there is, for as long as one may take to answer, or for a signal.

    A host that held one tournament may never be started again.
    """
    file = Path(settings.data) / positions.FILE
    with trio.move_on_after(SECONDS) as in_time:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_at_the_next, signals, in_time)
            while any(positions.behind(file, settings.webhook, last())):  # noqa: ASYNC110 - a file tells nobody
                await trio.sleep(LINGER / 20)
            nursery.cancel_scope.cancel()
    if in_time.cancelled_caught:
        log.warning("webhooks have yet to be told how it ended: the next start on this folder tells them")


async def print_standings(host: Host, until_done: str | None, as_json: bool) -> bool:
    """Print the standings of the tournament waited for, or of all that are not over and have results.

    Returns whether that went well: where it does not, bots and webhooks are told all the same.
    """
    try:
        for tournament in _worth_telling(host, until_done):
            record = tournament.record.after()  # a copy: an organiser's last order may be on its way
            tell = partial(_print, record, as_json=as_json)
            await trio.to_thread.run_sync(tell, abandon_on_cancel=True)
    except BrokenPipeError:  # whoever started the host read no more than the ready line
        return True
    except OSError as error:
        log.error("standard output cannot be written", why=error.strerror, see=AGAIN)
        return False
    return True


async def print_meanwhile(
    host: Host,
    until_done: str | None,
    as_json: bool,
    admission: Admission,
    until: float,
    signals: AsyncIterator[int],
) -> bool:
    """Print the standings while connections end, and wait for those until then; as `print_standings`.

    Whoever has stopped the host sees them at once, and not after the last client that is slow to hang up.
    A machine that is busy takes long, and whoever does not want to wait for that signals once more.
    """
    printed = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_until_all_are_gone_or, until, admission)
        with trio.move_on_after(PRINTING) as in_time:
            async with trio.open_nursery() as waiting:
                waiting.start_soon(_cancel_at_the_next, signals, in_time)
                printed = await print_standings(host, until_done, as_json)
                waiting.cancel_scope.cancel()
        if in_time.cancelled_caught:
            log.warning("the standings were not printed in time", see=AGAIN)
    return printed


async def _cancel_at_the_next(signals: AsyncIterator[int], waited: trio.CancelScope) -> None:
    await anext(signals)
    waited.cancel()


async def _until_all_are_gone_or(until: float, admission: Admission) -> None:
    with trio.move_on_at(until):
        await until_all_are_gone(admission)


def _print(record: Record, *, as_json: bool) -> None:
    """Takes long where there are many names, or nobody reads what is printed.

    It bypasses Python's own buffer: a thread that was given up while it waits for a reader would hold the
    buffer's lock, and the process could not end.
    """
    text = f"{report(record, as_json=as_json)}\n".encode(sys.stdout.encoding, sys.stdout.errors or "strict")
    written = 0
    while written < len(text):
        written += os.write(sys.stdout.fileno(), text[written:])


def _worth_telling(host: Host, until_done: str | None) -> Sequence[HeldTournament]:
    """As of now: tournaments may be opened and deleted until the host has stopped."""
    if until_done is not None:
        return [host.known[until_done]] if until_done in host.known else []
    return [
        each
        for each in host.known.values()
        if each.record.state is not State.FINISHED
        and (each.record.ended or not each.record.name.startswith(OPEN))
    ]
