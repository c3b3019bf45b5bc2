"""What every dialect owes the host besides what it says: wire log, budget, questions, admission, the way.

A dialect that forgets one of these looks right on its page. So each exchange on
each page is replayed here while somebody takes notes. A dialect that is added is
held to these laws by its page, with no edit here.
"""

from collections import Counter
from functools import partial
from itertools import cycle

import pytest
import trio
import trio.testing
from msgspec.structs import replace
from trio.testing import MockClock

from server.host.abroad import Wanted
from server.host.host import Host
from server.host.reception import Visit
from server.host.wire_log import NO_TAPE, Tape
from server.net.admission import Admission, Visitor
from server.net.limits import Limits, Rate
from server.net.wire import Wire
from server.protocols.common.attendance import Attendance
from server.protocols.dialect import Channel, Speak, Talk
from tests.effort import tries
from tests.server.doors import Page, in_memory_with, memory
from tests.server.protocols.overheard import (
    every_transcript,
    every_transcript_over_connections,
    from_zero,
    listen_in,
    places,
)
from tests.server.transcripts import Transcript, replay, staged
from tests.server.workers.test_handing import Elsewhere
from tournament.causes import Disconnected
from tournament.events import HOST_FAILED, Ending, Moved
from tournament.match import Match

Question = tuple[str, int]  # which match, and at which ply

BLANK, JUNK = b" ", b"!"
ENDLESS = 1000  # messages after which a dialect will never have enough
FLOODED = Limits(messages=Rate(tries(25, 100), 20.0), junk=Rate(tries(10, 20), 10.0))  # soon past these
SLACK = 2  # messages: the answer to a question, and the one that is too many


class Overheard:
    """A talk over TCP or websocket, and what is noted of it."""

    def __init__(self, notes: "Notes", speak: Speak, channel: Channel) -> None:
        self.said = b""  # by the bot, last
        self.unasked = 0  # messages of the bot that are no answers
        self.hung_up = False
        self._notes = notes
        self._say = channel.say
        self._answered: Question | None = None  # last …
        self._asked = 0  # … when so many questions had been asked
        self._hang_up = channel.hang_up
        self._talk = speak(replace(channel, say=self._note, hang_up=self._note_end))

    @property
    def attendance(self) -> Attendance:
        return self._talk.attendance

    def hear(self, message: bytes, at: float, fresh: bool = True) -> None:
        here, question = self.attendance, self.question
        if question is None or question == self._answered:
            self.unasked += 1
        elif here.asked <= self._asked:
            self._notes.faults.append(f"{question} was asked without a call of `ask`")
        else:
            self._answered, self._asked = question, here.asked
        self._notes.latest, self.said = self, message
        self._notes.keep(here.tape, True, message)
        self._talk.hear(message, at, fresh)

    def give_up(self, reason: str) -> None:
        self._talk.give_up(reason)

    def gone(self) -> None:
        self._talk.gone()

    @property
    def question(self) -> Question | None:
        """That this bot is to answer now."""
        seat = self.attendance.seat
        return (seat.match.name, seat.match.ply) if seat is not None and seat.to_move else None

    def _note_end(self, reason: str) -> None:
        self.hung_up = True
        self._hang_up(reason)

    def _note(self, message: bytes, urgent: bool) -> None:
        self._notes.keep(self.attendance.tape, False, message)
        self._say(message, urgent)


class Notes:
    """All that bots and dialects say to each other over TCP and websocket."""

    def __init__(self) -> None:
        self.talks: list[Overheard] = []
        self.latest: Overheard | None = None  # whose bot has spoken last
        self.faults: list[str] = []
        self._kept: dict[Tape, Counter[tuple[bool, bytes]]] = {}

    def taking(self, speak: Speak) -> Speak:
        def noted(channel: Channel) -> Talk:
            self.talks.append(Overheard(self, speak, channel))
            return self.talks[-1]

        return noted

    def keep(self, tape: Tape, by_bot: bool, message: bytes) -> None:
        if tape is not NO_TAPE:
            self._kept.setdefault(tape, Counter())[by_bot, message.rstrip(b"\n")] += 1

    def missing(self) -> list[tuple[bool, bytes]]:
        """What was said by whom in the course of a match and is not in the wire log."""
        return [
            each
            for tape, kept in self._kept.items()
            for each in kept - Counter((said.by_bot, said.text.rstrip(b"\n")) for said in tape.messages)
        ]


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Notes:
    new = Notes()
    listen_in(monkeypatch, new.taking)
    return new


# The wire log, and questions, and what is no answer to one


@every_transcript_over_connections
async def test_questions_are_counted_what_is_said_is_in_the_wire_log_and_whoever_is_let_go_of_is_hung_up_on(
    page: Page, transcript: Transcript, notes: Notes, autojump_clock: MockClock
) -> None:
    """Or a message that was under way when a question was asked would be taken for its answer.

    And a bot would wait for ever that could not be told of its match by a fault of ours: it is to come anew.
    """
    async with staged(transcript, memory, over=page.over) as (_, stage):
        for line in transcript.lines:
            await stage.perform(line)
        await stage.expect_silence("the end")
        assert not notes.faults
        assert not notes.missing()
        for talk in notes.talks:
            if (visit := talk.attendance.visit) is not None and visit.current:
                visit.replaced(HOST_FAILED)
                assert talk.hung_up


@pytest.mark.slow
@every_transcript_over_connections
def test_answers_cost_nothing(page: Page, transcript: Transcript, notes: Notes) -> None:
    """Every exchange can be had with no more credits than a bot sends messages that answer nothing."""
    from_zero(partial(replay, transcript, memory, over=page.over))
    credits = max([talk.unasked for talk in notes.talks], default=0) or 1
    limits = Limits(messages=Rate(credits, 1e6))
    from_zero(partial(replay, transcript, memory, over=page.over, limits=limits))


# Floods


async def flood(talk: Overheard, message: bytes, most: int) -> None:
    """Say the same at one moment, again and again, until the bot is cut off or no longer listened to.

    What it says when it is to move is not counted here: the referee counts moves that may not be played.
    """
    here, count, unasked, seat = talk.attendance, 0, 0, talk.attendance.seat
    unheard = here.unheard
    while not here.over and here.unheard == unheard:
        count, seat = count + 1, here.seat
        unasked += talk.question is None
        talk.hear(message, trio.current_time())
        await trio.testing.wait_all_tasks_blocked()
        assert unasked <= most + SLACK, f"{message!r} is still listened to"
        assert count < ENDLESS, f"{message!r} is listened to for ever"
    if here.over and seat is not None:
        result = seat.match.result
        if result is None or result.ending in (Ending.LEFT, Ending.VOID):
            why = [each.why for each in seat.match.cause if isinstance(each, Disconnected)]
            assert any(why), "it was cut off, and its match does not say so"


async def suffer(kind: bytes | None, page: Page, transcript: Transcript, after: int, notes: Notes) -> None:
    """Replay to after that line; then whoever has spoken last says this on and on. None: its own words."""
    notes.latest = None
    async with staged(transcript, memory, over=page.over, limits=FLOODED) as (host, stage):
        for line in transcript.lines[: after + 1]:
            await stage.perform(line)
        await trio.testing.wait_all_tasks_blocked()
        if (talk := notes.latest) is not None:
            limits = host.limits
            most = limits.junk.credits if kind == JUNK else limits.messages.credits
            await flood(talk, kind or talk.said, most)


@pytest.mark.slow
@every_transcript_over_connections
def test_nobody_is_listened_to_without_an_end(page: Page, transcript: Transcript, notes: Notes) -> None:
    """Whoever repeats its own words at every other place, and at some whoever says nothing or nonsense."""
    for after in places(transcript)[:: tries(2, 1)]:
        from_zero(partial(suffer, None, page, transcript, after, notes))
    for after, kind in zip(places(transcript)[::3], cycle((BLANK, JUNK)), strict=False):
        from_zero(partial(suffer, kind, page, transcript, after, notes))


@pytest.mark.slow
@pytest.mark.campaign  # the test above has some places
@every_transcript_over_connections
@pytest.mark.parametrize("kind", [BLANK, JUNK], ids=["blank", "junk"])
def test_nobody_is_listened_to_without_an_end_wherever(
    kind: bytes, page: Page, transcript: Transcript, notes: Notes
) -> None:
    for after in places(transcript):
        from_zero(partial(suffer, kind, page, transcript, after, notes))


# Strangers


class Gate(Admission):
    """Lets everybody in, and keeps who came and who has shown who it is."""

    def __init__(self) -> None:
        super().__init__(Limits())
        self.visitors: list[Visitor] = []
        self.known: set[Visitor] = set()

    def admit(self, wire: Wire) -> Visitor | None:
        visitor = super().admit(wire)
        if visitor is not None:
            self.visitors.append(visitor)
        return visitor

    def knows(self, visitor: Visitor) -> None:
        super().knows(visitor)
        self.known.add(visitor)


@pytest.mark.slow
@every_transcript
async def test_whoever_has_come_in_or_speaks_in_a_match_is_no_stranger_and_the_wire_log_has_every_move(
    page: Page, transcript: Transcript, autojump_clock: MockClock
) -> None:
    """Else a flood of strangers could close the connection of a bot that plays.

    Over HTTP, a request and its answer are noted by the dialect.
    """
    gate, matches, came = Gate(), list[Match](), dict[str, Visitor]()
    async with staged(transcript, in_memory_with(admission=gate), over=page.over) as (host, stage):
        host.on_begun.append(lambda tournament, match: matches.append(match))
        for line in transcript.lines:
            before, visitors = done(host, matches), len(gate.visitors)
            await stage.perform(line)
            await trio.testing.wait_all_tasks_blocked()
            if line.way != ">":
                continue
            if len(gate.visitors) > visitors:
                came[line.who[0]] = gate.visitors[-1]
            visitor = came.get(line.who[0])
            if visitor is not None and done(host, matches) > before:
                assert visitor in gate.known, f"{line.who[0]} is a stranger after line {line.number}"
        for match in matches:
            expect_all_in_the_wire_log(host, match)


def expect_all_in_the_wire_log(host: Host, match: Match) -> None:
    """Every move, and what it answered."""
    moves = Counter(event.seat for event in match.log.events if isinstance(event, Moved))
    tapes = host.wires.of(match.name)
    assert tapes or not moves  # a house player has none
    for index, tape in tapes.items():
        said = [each.text for each in tape.messages if each.by_bot]
        told = [each.text for each in tape.messages if not each.by_bot]
        assert len([text for text in said if not text.startswith(b"GET ")]) >= moves[index]
        assert len(told) >= moves[index]
        requests = [text for text in said if text.startswith(b"POST ")]
        answers = [text for text in told if text[:3].isdigit()]
        assert len(answers) >= len(requests) - 1, "one may be held"


# The way to another process


class Here(Elsewhere):
    """Every tournament is held here, and each bot that a door asks about is noted."""

    def __init__(self, host: Host) -> None:
        super().__init__()
        self.entered = host.roll.of

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> None:
        self.wanted.append(wanted)


@every_transcript_over_connections
async def test_a_door_asks_where_to_serve_each_bot_before_it_is_let_in(
    page: Page, transcript: Transcript, autojump_clock: MockClock
) -> None:
    """Or it is refused wherever another worker, or another host, holds what it wants to play in."""
    async with staged(transcript, memory, over=page.over) as (host, stage):
        host.abroad = here = Here(host)
        for line in transcript.lines:
            await stage.perform(line)
        assert {*host.measures.came} <= {(each.door, each.game) for each in here.wanted}


def done(host: Host, matches: list[Match]) -> int:
    """How many bots are here, and how much they have said in their matches."""
    tapes = [tape for match in matches for tape in host.wires.of(match.name).values()]
    return sum(said.by_bot for tape in tapes for said in tape.messages) + len([*host.lobby.players()])
