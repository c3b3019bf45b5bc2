"""Laws of every dialect about seats: a name that came without a token is kept until its tournament is over.

Each exchange on each page that is about a tournament is replayed, and breaks off
after each of its lines in turn. A dialect that is added is held to this by its
page, with no edit here.
"""

from functools import partial

import pytest
import trio
import trio.testing
from msgspec.structs import replace

from server.host.host import Host
from server.host.unwelcome import Unwelcome
from server.protocols.dialect import Channel, Speak, Talk
from tests.effort import tries
from tests.server.doors import Page, memory, pages
from tests.server.protocols.overheard import from_zero, listen_in, places
from tests.server.transcripts import Transcript, staged
from tournament.facts import Seated, State
from tournament.record import Record

pytestmark = pytest.mark.slow

ELSEWHERE = "198.51.100.7"
TOKEN = "a token of somebody else's"

every_tournament = pytest.mark.parametrize(
    ("page", "transcript"),
    [
        pytest.param(page, each, id=each.name)
        for page in pages()
        for each in page.transcripts()
        if "tournament" in each.settings
    ],
)


def absent(host: Host, record: Record) -> list[Seated]:
    """The seats of those who have left; a session that is silent has not."""
    here = {visit.player for held in host.reception._visits.values() for visit in held}
    return [
        seat
        for seat in record.seats.values()
        if here.isdisjoint(host.lobby.named(seat.name, record.opened.game))
    ]


async def expect_nobody_else_gets_in(host: Host, record: Record, seat: Seated) -> None:
    strangers = (
        {"peer": ELSEWHERE, "door": seat.door, "keeps": False},
        {"peer": seat.address, "door": "another", "keeps": False},
        {"peer": ELSEWHERE, "door": "another", "token": TOKEN},
        {"peer": seat.address, "door": "another", "token": TOKEN},
    )
    said: set[str] = set()
    for how in strangers:
        with pytest.raises(Unwelcome) as refused:
            await host.arrive(seat.name, record.opened.game, **how)
        said.add(str(refused.value))
    assert len(said) == 1, "what was wrong with it is nobody's business"
    assert not any(secret and secret in said.pop() for secret in (seat.address,))


async def hang_up(page: Page, transcript: Transcript, after: int) -> None:
    """Everybody does, after that line. Then somebody else tries to be them, and they come back."""
    async with staged(transcript, memory, over=page.over) as (host, stage):
        for line in transcript.lines[: after + 1]:
            await stage.perform(line)
        await trio.testing.wait_all_tasks_blocked()
        record = host.tournaments[transcript.settings["tournament"]].record
        if not any("@" in who for line in transcript.lines for who in line.who):
            assert {seat.door for seat in record.seats.values()} <= {page.dialect}
        assert _without_a_token(host, record) <= {*record.seats}
        await stage.clear()
        await trio.sleep(60.0)
        for seat in absent(host, record):
            if record.state is not State.FINISHED:
                await expect_nobody_else_gets_in(host, record, seat)
                back = await host.arrive(
                    seat.name, record.opened.game, keeps=False, peer=seat.address, door=seat.door
                )
                assert back.player.place == record.name
                back.leave()


def _without_a_token(host: Host, record: Record) -> set[str]:
    """Whoever is here and has none to come back with."""
    visits = (visit for held in host.reception._visits.values() for visit in held)
    return {each.player.name for each in visits if each.token is None and each.player.place == record.name}


@every_tournament
def test_nobody_takes_the_seat_of_a_bot_that_came_without_a_token(page: Page, transcript: Transcript) -> None:
    for after in places(transcript)[:: tries(2, 1)]:
        from_zero(partial(hang_up, page, transcript, after))


class Line:
    """A connection that a bot came by, over TCP or websocket, and whether the host has hung up."""

    talk: Talk

    def __init__(self, speak: Speak, channel: Channel) -> None:
        self.hung_up = False
        self._hang_up = channel.hang_up
        self.talk = speak(replace(channel, hang_up=self._end))

    def _end(self, reason: str) -> None:
        self.hung_up = True
        self._hang_up(reason)


async def bind(page: Page, transcript: Transcript, after: int, lines: list[Line]) -> None:
    """The organiser binds every seat to a token, and somebody comes with it."""
    lines.clear()
    async with staged(transcript, memory, over=page.over) as (host, stage):
        for line in transcript.lines[: after + 1]:
            await stage.perform(line)
        await trio.testing.wait_all_tasks_blocked()
        tournament = host.tournaments[transcript.settings["tournament"]]
        record = tournament.record
        for name in [*record.seats] if record.state is not State.FINISHED else []:
            (before,) = host.lobby.named(name, record.opened.game) or (None,)
            seat = before and before.seat
            line = next((each for each in lines if each.talk.attendance.name == name), None)
            token = await host.claims.bind(tournament, name, "the organiser")
            visit = await host.arrive(name, record.opened.game, token=token, peer=ELSEWHERE, door="house")
            assert visit.player.place == record.name
            assert seat is None or (visit.player.seat is seat and seat.match.verdict is None)
            await trio.testing.wait_all_tasks_blocked()
            assert visit.current, "whoever had the seat clears nothing"
            assert visit.player.present
            assert line is None or (line.hung_up and line.talk.attendance.over)
            visit.leave()
        await stage.clear()
        await trio.sleep(60.0)


@every_tournament
def test_a_seat_that_is_bound_goes_over_to_whoever_has_the_token(
    page: Page, transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[Line] = []

    def listening(speak: Speak) -> Speak:
        def spoken(channel: Channel) -> Talk:
            lines.append(Line(speak, channel))
            return lines[-1].talk

        return spoken

    listen_in(monkeypatch, listening)
    for after in places(transcript)[:: tries(2, 1)]:
        from_zero(partial(bind, page, transcript, after, lines))
