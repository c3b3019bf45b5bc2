"""Thousands of strangers at each door do no harm, and what would be harm is noticed."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from server.host.host import Host
from server.net.admission import Visitor
from server.net.guard import PEER_GONE
from server.net.wire import Wire
from tests.effort import tries
from tests.fuzz import line
from tests.fuzz.campaign import BATCH, DOORS, Report, play, run
from tests.fuzz.ground import REGULAR, Door, Served
from tests.fuzz.sessions import Say

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUICK = tries(200, 300)  # sessions at each door: `python -m tests.fuzz` has as many as one likes …
ALL = 5000  # … and so many in all in a campaign
SEED = 4
PLANTED = 25  # sessions, in which each planted fault shows: so they do for the seeds after this one
GROWTH = 10_000  # objects, which caches may hold in the end: two for each session would be more

doors = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)

Attend = Callable[[Wire, Visitor], Awaitable[object]]


def harmless(report: Report) -> bool:
    if report.failures:
        print("\n".join(report.lines))
    return not report.failures and report.objects < GROWTH


@doors
def test_strangers_do_no_harm(door: Door) -> None:
    report = run(door, SEED, range(QUICK))
    assert harmless(report)
    assert report.events > QUICK, "nobody got as far as a match"


@pytest.mark.campaign
@doors
def test_more_strangers_do_no_harm(door: Door) -> None:
    assert harmless(run(door, SEED, range(QUICK, ALL)))


# What was harm once


def test_moves_that_no_json_can_repeat_do_no_harm() -> None:
    """They froze the streams of spectators: half a surrogate pair, and lists as deep as can just be read."""
    deep = (b'{"type":"move","move":%b}' % (b"[" * depth + b"]" * depth) for depth in range(960, 990))
    answers = tuple(Say(text, asked=True) for text in (b'"\\ud800"', b'["\\ud800"]', *deep))
    evil = replace(line.house("connect-4"), answers=answers)
    assert harmless(run(replace(line.DOOR, odd=(evil,) * 30), SEED, range(BATCH)))


# What would be harm


def failing(host: Host, attend: Attend) -> Attend:
    """Cannot bear a peer that resets the connection."""

    async def attended(wire: Wire, visitor: Visitor) -> None:
        try:
            await attend(wire, visitor)
        except PEER_GONE:
            raise KeyError("planted") from None

    return attended


def hanging(host: Host, attend: Attend) -> Attend:
    """Keeps whoever it was that had nothing to say."""

    async def attended(wire: Wire, visitor: Visitor) -> None:
        await attend(wire, visitor)
        if not visitor.known:
            await trio.sleep_forever()

    return attended


def remembering(host: Host, attend: Attend) -> Attend:
    """Does not forget who was here."""

    async def attended(wire: Wire, visitor: Visitor) -> None:
        await attend(wire, visitor)
        host.lobby.enter(f"ghost {trio.current_time()}", "quoridor")

    return attended


def jealous(host: Host, attend: Attend) -> Attend:
    """Has room for so many only, and drops who was here first."""
    here: list[Wire] = []

    async def attended(wire: Wire, visitor: Visitor) -> None:
        here.append(wire)
        if len(here) > 10:
            here.pop(0).close()
        await attend(wire, visitor)

    return attended


def unjust(host: Host, attend: Attend) -> Attend:
    """Takes it out on the regulars of the open tables when somebody goes."""

    async def attended(wire: Wire, visitor: Visitor) -> None:
        await attend(wire, visitor)
        for tournament in host.tournaments.values():
            for match in [match for match in tournament.matches.values() if REGULAR in match.names]:
                match.leave(match.names.index(REGULAR), trio.current_time())

    return attended


@pytest.mark.parametrize(
    ("plant", "complaint"),
    [
        (failing, "unexpected"),
        (hanging, "hang"),
        (remembering, "left behind"),
        (jealous, "should have been played"),
        (unjust, "should not have lost"),
    ],
)
def test_a_fault_is_noticed_and_happens_again(
    plant: Callable[[Host, Attend], Attend], complaint: str
) -> None:
    def serve(host: Host) -> Served:
        served = line.DOOR.serve(host)
        return Served(plant(host, served.attend), served.waits, served.left, served.called)

    report = run(replace(line.DOOR, serve=serve), SEED, range(PLANTED))
    (failure,) = report.failures
    assert any(complaint in each for each in failure.complaints), failure.complaints
    assert play(replace(line.DOOR, serve=serve), SEED, failure.numbers) == failure


def test_a_session_can_be_played_by_itself() -> None:
    command = [sys.executable, "-m", "tests.fuzz", "--door", "line", "--seed", "4", "--from", "42"]
    ended = subprocess.run(
        [*command, "--sessions", "1"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith("line: 1 sessions, ")
