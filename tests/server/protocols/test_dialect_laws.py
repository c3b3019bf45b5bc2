"""Laws of every dialect that has a page, present and future.

Each exchange on each page is replayed (`tests/server/transcripts.py`) while something
happens to it: its bytes come in other pieces, a connection is lost, another one
takes over, the host stops, the tournament ends. A dialect that is added is held
to these laws by its page, with no edit here.
"""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import cycle

import msgspec
import pytest
import structlog.testing
import trio
import trio.testing
from msgspec.structs import replace
from trio.testing import MockClock

from server.host.host import Host
from server.host.unwelcome import STOPPING, Unwelcome
from server.protocols.common.states import TABLE, Happening, State
from server.protocols.dialect import Channel, Speak, Talk
from tests.effort import IS_CAMPAIGN
from tests.server.doors import Page, Stream, in_memory_with, memory
from tests.server.protocols.overheard import (
    a_transcript_of_every_page,
    a_transcript_of_every_page_soon,
    every_transcript,
    from_zero,
    listen_in,
    look_seldom,
    places,
)
from tests.server.transcripts import Stage, Transcript, replay, staged
from tournament import facts
from tournament.desk import Desk
from tournament.folding import fold
from tournament.match import Match
from tournament.player import Player
from tournament.tournament import Tournament

A_WHILE = 60.0  # seconds after which a bot that is away has lost its match
LONG = 4300.0  # after which all clocks have run out and nobody is awaited or remembered: an hour is the most
CUTS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)  # places at which every message is cut in two
SEATED = [state for state, happenings in TABLE.items() if Happening.ENDED in happenings]

encode = msgspec.json.Encoder().encode


# In other pieces


class InPieces(trio.abc.Stream):
    """A bot's stream: whatever is said at once comes in pieces, each when the one before it has been read."""

    def __init__(self, stream: Stream, cut: Callable[[bytes], list[bytes]]) -> None:
        self._stream = stream
        self._cut = cut

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        for piece in self._cut(bytes(data)):
            await self._stream.send_all(piece)
            await trio.testing.wait_all_tasks_blocked()

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()


def byte_by_byte(content: bytes) -> list[bytes]:
    return [content[place : place + 1] for place in range(len(content))]


def in_two(place: int, content: bytes) -> list[bytes]:
    place %= len(content) + 1
    return [piece for piece in (content[:place], content[place:]) if piece]


def within_the_first(cut: Callable[[bytes], list[bytes]], content: bytes) -> list[bytes]:
    """Lines that are said at once stay so, or the later ones would answer what the first have led to."""
    first, end, rest = content.partition(b"\n")
    *pieces, last = cut(first + end)
    return [*pieces, last + rest]


async def replay_in_pieces(page: Page, transcript: Transcript, cut: Callable[[bytes], list[bytes]]) -> None:
    doors = in_memory_with(partial(InPieces, cut=cut), partial(InPieces, cut=partial(within_the_first, cut)))
    await replay(transcript, doors, over=page.over)


@pytest.mark.slow
@a_transcript_of_every_page
async def test_it_does_not_matter_where_a_message_is_cut(
    page: Page, transcript: Transcript, autojump_clock: MockClock
) -> None:
    """At every place at once: each byte arrives alone. Below it is every transcript, in two pieces."""
    await replay_in_pieces(page, transcript, byte_by_byte)


@pytest.mark.slow
@every_transcript
def test_it_does_not_matter_in_which_two_pieces_messages_come(page: Page, transcript: Transcript) -> None:
    """Not at each place, which would take minutes: in every message at once, at another place in each."""
    mine = len(transcript.lines) % len(CUTS)
    for place in CUTS if IS_CAMPAIGN else CUTS[mine : mine + 1]:
        from_zero(partial(replay_in_pieces, page, transcript, partial(in_two, place)))


# Whatever happens


class Watched:
    """A talk over TCP or websocket, what it was heard to say, and what was wrong with that."""

    talk: Talk

    def __init__(self, witness: "Witness", speak: Speak, channel: Channel) -> None:
        self._witness = witness
        self._channel = channel
        self._hung_up = False
        self.talk = speak(replace(channel, say=self._say, hang_up=self._hang_up))

    @property
    def state(self) -> State:
        return self.talk.attendance.state

    def _say(self, message: bytes, urgent: bool) -> None:
        if self.state is State.OVER or self._hung_up:
            self._witness.faults.append(f"said after the end: {message!r}")
        if self.state not in SEATED and self._witness.shows_a_position(message):
            self._witness.faults.append(f"a position shown to one who is {self.state}: {message!r}")
        self._channel.say(message, urgent)

    def _hang_up(self, reason: str) -> None:
        if self.state is not State.OVER:
            self._witness.faults.append(f"hung up on one who is {self.state}: {reason}")
        self._hung_up = True
        self._channel.hang_up(reason)

    def faults(self, host: Host) -> Iterator[str]:
        """What does not fit together, at a moment at which nothing is under way."""
        here = self.talk.attendance
        if (here.visit is not None) != (self.state in (State.IN, *SEATED)) and not here.over:
            yield f"{self.state} with the visit {here.visit}"
        if (here.seat is not None) != (self.state in SEATED) and not here.over:
            yield f"{self.state} with the seat {here.seat}"
        if here.visit is not None and not here.over and not host.reception.holds(here.visit):
            yield f"{here.visit.player.name} thinks that it is here"
        if here.seat is not None and not here.over and here.seat.match.log.closed:
            yield f"{here.name} is at a match that is over"


class Witness:
    """Hears all that the dialects over TCP and websocket say, and knows all matches."""

    def __init__(self) -> None:
        self.all: list[Watched] = []
        self.matches: list[Match] = []
        self.faults: list[str] = []

    def forget(self) -> None:
        self.all.clear()
        self.matches.clear()
        self.faults.clear()

    def watching(self, speak: Speak) -> Speak:
        def watched(channel: Channel) -> Talk:
            self.all.append(Watched(self, speak, channel))
            return self.all[-1].talk

        return watched

    def meet(self, host: Host) -> None:
        host.on_begun.append(lambda tournament, match: self.matches.append(match))

    def shows_a_position(self, message: bytes) -> bool:
        """However a dialect puts it: the state is in there as the game shows it."""
        return any(
            encode(match.game.show(position, match.names)) in message
            for match in self.matches
            for position in match.positions
        )

    def check(self, host: Host) -> None:
        wrong = [*self.faults, *(fault for watched in self.all for fault in watched.faults(host))]
        assert not wrong, "; ".join(wrong)


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    """One who has its ear in the doors."""
    new = Witness()
    listen_in(monkeypatch, new.watching)
    look_seldom(monkeypatch)
    return new


Blow = Callable[[Host, Stage, Witness, str], Awaitable[None]]


async def lose_a_connection(host: Host, stage: Stage, witness: Witness, speaker: str) -> None:
    await stage.hang_up(speaker)


async def end_all_tournaments(host: Host, stage: Stage, witness: Witness, speaker: str) -> None:
    """By putting everybody out; open tables never end."""
    for tournament in tuple(host.tournaments.values()):
        if tournament.record.state is facts.State.RUNNING and not tournament.record.format.endless:
            for name in [name for name, each in tournament.record.entrants.items() if not each.gone]:
                await Desk(tournament).disqualify(name, "this is the end")
            await tournament.finished()


async def take_over(host: Host, stage: Stage, witness: Witness, speaker: str) -> None:
    """Every bot that has a token is replaced, in the middle of what it does; nobody else can be."""
    for watched in witness.all:
        here = watched.talk.attendance
        if here.visit is None or here.over:
            continue
        player, token, seat, before = here.visit.player, here.visit.token, here.seat, here.state
        if token is None:
            with pytest.raises(Unwelcome):
                await host.arrive(player.name, player.game, token="of somebody else")
            assert (here.state, here.seat) == (before, seat)
        else:
            visit = await host.arrive(player.name, player.game, token=token)
            assert here.over
            assert visit.player is player
            assert player.seat is seat
            assert seat is None or seat.match.verdict is None
            visit.leave()


async def stop(host: Host, stage: Stage, witness: Witness, speaker: str) -> None:
    """After that nothing counts that a bot does, and nobody comes in."""
    kept = [*host.store.kept()]
    await host.stop()
    await trio.testing.wait_all_tasks_blocked()
    assert all(watched.state is State.OVER for watched in witness.all)
    with pytest.raises(Unwelcome, match=STOPPING):
        await host.arrive("late", "tic-tac-toe")
    await stage.clear()
    await trio.sleep(A_WHILE)
    assert [*host.store.kept()] == kept


BLOWS: dict[str, Blow] = {
    "a connection is lost": lose_a_connection,
    "all tournaments end": end_all_tournaments,
    "somebody takes over": take_over,
    "the host stops": stop,
}


def playing(tournament: Tournament) -> list[Match]:
    return [match for match in tournament.matches.values() if match.verdict is None]


def unheld(host: Host) -> list[Player]:
    """Whoever is still in the lobby, and no tournament waits for."""
    return [player for player in host.lobby.players() if not host.roll.awaits(player.name, player.game)]


def called(transcript: Transcript) -> set[str]:
    """Whoever the host calls when there is a match: these bots need no connection to be here."""
    return {who.removesuffix("@called") for line in transcript.lines for who in line.who if "@called" in who}


async def suffer(blow: Blow, page: Page, transcript: Transcript, after: int, witness: Witness) -> None:
    """Replay to after that line; then it comes, and then everybody leaves."""
    witness.forget()
    with structlog.testing.capture_logs() as logged:
        async with staged(transcript, memory, over=page.over) as (host, stage):
            witness.meet(host)
            for line in transcript.lines[: after + 1]:
                await stage.perform(line)
            await trio.testing.wait_all_tasks_blocked()
            witness.check(host)
            speaker = next(line.who[0] for line in transcript.lines[after::-1] if line.way == ">")
            await blow(host, stage, witness, speaker)
            await trio.testing.wait_all_tasks_blocked()
            witness.check(host)
            await trio.sleep(A_WHILE)
            witness.check(host)
            await stage.clear()
            await trio.sleep(LONG)
            witness.check(host)
            assert not host.on_stop, "a connection that is gone waits for a goodbye"
            for tournament in host.tournaments.values():
                again = fold(host.store.kept())[tournament.record.name]
                assert again.standings() == tournament.record.standings()
            if not host.draining:
                assert not [match for each in host.tournaments.values() for match in playing(each)]
                assert not [each.name for each in unheld(host) if each.name not in called(transcript)]
    assert not [each for each in logged if each["log_level"] in ("error", "critical")]


@a_transcript_of_every_page_soon
def test_whatever_happens_in_the_middle_the_host_stays_sane(
    page: Page, transcript: Transcript, witness: Witness
) -> None:
    """After every other place one of the things that can happen, by turns."""
    for after, blow in zip(places(transcript)[::2], cycle(BLOWS), strict=False):
        from_zero(partial(suffer, BLOWS[blow], page, transcript, after, witness))


@pytest.mark.slow
@pytest.mark.campaign  # the test above has every other place, and everything that can happen at some of them
@every_transcript
@pytest.mark.parametrize("blow", BLOWS)
def test_the_host_stays_sane_wherever(
    blow: str, page: Page, transcript: Transcript, witness: Witness
) -> None:
    for after in places(transcript):
        from_zero(partial(suffer, BLOWS[blow], page, transcript, after, witness))
