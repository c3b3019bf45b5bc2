"""The house protocol over HTTP: sessions, streams, long polls, and who is there."""

import re
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.catalogue import catalogue
from server.host.unwelcome import STOPPING
from server.net.limits import Limits, Rate
from server.protocols import tcp
from server.protocols.house.sessions import AT_A_TIME, SWEEP
from tests.server.ends import in_memory
from tests.server.protocols.table import (
    Caller,
    Slow,
    Table,
    playing,
    request,
    results,
    said,
    scores,
    table,
)
from tests.server.transcripts import Bot
from tests.server.web import Answer, Client
from tests.server.windowed import Weather
from tournament.events import Ending
from tournament.facts import Entered, Opened, State
from tournament.store import Store

GAME = "tic-tac-toe"
LONGEST = ("quoridor", "santorini")  # games that take more seconds than others
CUP = {"tournament": "cup", "game": GAME, "format": "round-robin", "entrants": "2"}
TABLE = "open-tic-tac-toe"


class House(Caller):
    """A bot that speaks the house protocol: one connection to say things, others to listen."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        super().__init__(connect)
        self.ear = Caller(connect)
        self.session = ""
        self.welcome: dict[str, Any] = {}
        self.last = 0  # the number of the last message that it has

    async def hello(self, name: str, game: str = GAME, **more: Any) -> Answer:
        answer = await self.ask("POST", "/play", {"type": "hello", "name": name, "game": game, **more})
        if answer.status == 201:
            self.welcome = said(answer)
            self.session = answer.headers["location"]
            self.last = 1
        return answer

    async def tell(self, **message: Any) -> int:
        """Say something; returns the number that it is given."""
        answer = await self.ask("POST", self.session, message)
        assert answer.status == 200, answer
        return said(answer)["seq"]

    async def listen(self) -> None:
        """Begin a long poll."""
        await self.ear.send("GET", f"{self.session}?after={self.last}")

    async def polled(self) -> list[dict[str, Any]]:
        """What the long poll was answered with."""
        return self._learn(await self.ear.told())

    def _learn(self, answer: Answer) -> list[dict[str, Any]]:
        assert answer.status == 200, answer
        for message in said(answer):
            self.last += 1
            assert message["seq"] == self.last, "the numbers go on without a gap"
        return said(answer)

    async def news(self, *types: str) -> list[dict[str, Any]]:
        """Everything up to now; only of these types, if there are any."""
        told: list[dict[str, Any]] = []
        await self.listen()
        while (answer := await self.ear.heard()) is not None and answer.status != 410:
            told += self._learn(answer)
            await self.listen()
        await self.ear.hang_up()
        return [message for message in told if not types or message["type"] in types]


class Stream(Caller):
    """Listens to an event stream."""

    async def open(self, session: str, after: int | None = None) -> None:
        await self.send("GET", session, None, *([] if after is None else [f"Last-Event-ID: {after}"]))

    async def events(self) -> list[tuple[int, dict[str, Any]]]:
        """What has come since; after the head, which is looked at once."""
        found: list[tuple[int, dict[str, Any]]] = []
        for chunk in (await self.client.now()).split(b"\r\n"):
            if chunk.startswith(b"id: "):
                name, content = chunk.removesuffix(b"\n\n").split(b"\n")
                assert content.startswith(b"data: {")
                found.append((int(name[4:]), msgspec.json.decode(content[6:])))
        return found


@asynccontextmanager
async def hall(
    settings: dict[str, str] | None = None, limits: Limits | None = None, store: Store | None = None
) -> AsyncIterator[tuple[Table, Callable[[], House]]]:
    """A host, and how bots of the house protocol come to it."""
    async with table(settings, limits, store=store) as here:
        yield here, lambda: House(here.server.connect)


async def pair(come: Callable[[], House], game: str = GAME) -> tuple[House, House]:
    """Ann and Bob in a match, in which Ann is asked."""
    ann, bob = come(), come()
    await ann.hello("ann", game)
    await bob.hello("bob", game)
    for bot in (ann, bob):
        assert [message["type"] for message in await bot.news()] == ["begin", "turn"]
    return ann, bob


# Sessions


async def test_a_hello_is_answered_by_a_welcome_and_a_session(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann = come()
        answer = await ann.hello("ann")
        assert answer.status == 201
        welcome = said(answer)
        assert [*welcome] == ["type", "name", "token", "game", "tournament", "seq", "session"]
        assert (welcome["type"], welcome["name"], welcome["seq"]) == ("welcome", "ann", 1)
        assert answer.headers["location"] == f"/play/{welcome['session']}"
        assert len(welcome["session"]) >= 22, "128 bits"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.campaign if name in LONGEST else ())  # `test_house.py` plays all
        for name in sorted(catalogue())
    ],
)
async def test_every_game_is_played_to_its_end(name: str, autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann, bob = await pair(come, name)
        random = Random(name)
        match = playing(here, "ann")
        bots = {"ann": ann, "bob": bob}
        while match.result is None:
            ply, mover = match.ply, bots[match.names[match.position.turn]]
            move = match.game.write(random.choice(list(match.position.moves())))
            await mover.tell(type="move", match=match.name, ply=ply, move=move)
            for bot in (ann, bob):
                turn = (await bot.news())[0]
                assert (turn["type"], turn["ply"], turn["last"]) == ("turn", ply + 1, match.moves[ply])
        (result,) = await results(here, f"open-{name}")
        assert result.ending is Ending.PLAYED


async def test_what_a_message_came_to_is_among_the_messages(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann, bob = await pair(come, "santorini")
        assert await ann.tell(type="move", move="0 0") == 4
        (turn,) = await ann.news()
        assert (turn["seq"], turn["last"]) == (4, [0, 0])
        assert await ann.tell(type="move", move="1 1") == 5
        assert await bob.tell(type="move", move="0 0") == 5
        (early,), (_, refused) = await ann.news(), await bob.news()
        assert (early["type"], early["reason"]) == ("refused", "it is the other player's turn")
        assert (refused["type"], refused["ply"], refused["seq"]) == ("refused", 1, 5)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"", 400, "say hello first"),
        (b"ann", 400, "say hello first"),
        (BOM_UTF8 + b'{"type":"hello"', 400, "this is not JSON: a byte order mark is before it"),
        (b'{"type":"move","move":"C"}', 400, "say hello first"),
        (b'{"type":"hello","name":"ann"}', 400, "game is required, and is missing"),
        (
            b'{"type":"hello","name":1,"game":"quoridor"}',
            400,
            "this hello does not fit: name: expected a text, not 1",
        ),
        (b'{"type":"hello",' + b"[" * 3000, 400, "malformed|nested"),
        (b'{"type":"hello","name":"\xff","game":"quoridor"}', 400, "UTF-8|utf-8|unicode|Invalid"),
        (b'{"type":"hello","name":"ann","game":"chess"}', 403, "there is no game"),
        (b'{"type":"hello","name":"ann","game":"quoridor","protocol":2}', 403, "speaks protocol 1, not 2"),
        (b'{"type":"hello","name":"","game":"quoridor"}', 403, "at least one character"),
        (b'{"type":"hello","name":"ann","game":"quoridor","tournament":"x"}', 403, "no tournament"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_hello_that_cannot_be_taken_is_refused_and_opens_nothing(
    body: bytes, status: int, reason: str, autojump_clock: MockClock
) -> None:
    async with hall(limits=Limits(sessions=1)) as (_, come):
        answer = await come().ask("POST", "/play", body)
        assert answer.status == status
        assert any(part in answer.body.decode() for part in reason.split("|")), answer.body
        assert (await come().hello("ann")).status == 201, "there is still room for one"


async def test_a_name_that_is_taken_is_refused(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        await pair(come)
        answer = await come().hello("ann", token="x" * 22)
        assert (answer.status, said(answer)["type"]) == (403, "refused")
        assert "is taken" in said(answer)["reason"]


async def test_what_is_not_there_is_said_in_words(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann = come()
        await ann.hello("ann")
        for method, path, status, allowed in (
            ("GET", "/play", 405, "POST"),
            ("DELETE", ann.session, 405, "GET, POST"),
            ("GET", "/play/nobody", 404, None),
            ("POST", f"{ann.session}/more", 404, None),
        ):
            answer = await ann.ask(method, path)
            assert (answer.status, answer.headers.get("allow")) == (status, allowed)
            assert "error" in said(answer)


# Listening


async def test_a_long_poll_is_answered_as_soon_as_there_is_something(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann, bob = await pair(come)
        await bob.listen()
        await trio.sleep(10.0)
        assert await bob.ear.heard() is None
        await ann.tell(type="move", move="C")
        (turn,) = await bob.polled()
        assert turn["turn"] == "X"


async def test_a_long_poll_ends_in_time_with_nothing(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann = come()
        await ann.hello("ann")
        for _ in range(3):
            begun = trio.current_time()
            await ann.ear.client.end.send_all(request("GET", f"{ann.session}?after=1"))
            answer = await ann.ear.client.answer()
            assert (answer.status, answer.body) == (200, b"[]")
            assert 25.0 <= trio.current_time() - begun <= 26.0


async def test_a_long_poll_is_told_again_what_it_does_not_say_that_it_has(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann, _ = await pair(come)
        whole = said(await ann.ask("GET", f"{ann.session}?after=0"))
        assert [message["type"] for message in whole] == ["welcome", "begin", "turn"]
        for after in (1, 2):
            assert said(await ann.ask("GET", f"{ann.session}?after={after}")) == whole[after:]


@pytest.mark.parametrize("after", ["", "x", "-1", "1.0", "\u0663", "12345678901"])
async def test_a_long_poll_says_a_number(after: str, autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann = come()
        await ann.hello("ann")
        await ann.client.end.send_all(f"GET {ann.session}?after=".encode() + after.encode("unicode_escape"))
        await ann.client.end.send_all(b" HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await ann.client.answer()).status == 400


async def test_a_stream_tells_everything_once_and_goes_on_after_the_last_event(
    autojump_clock: MockClock,
) -> None:
    async with hall() as (here, come):
        ann, bob = await pair(come)
        stream = Stream(here.server.connect)
        await stream.open(ann.session)
        head = await stream.events()
        assert [number for number, _ in head] == [1, 2, 3]
        await ann.tell(type="move", move="C")
        ((number, turn),) = await stream.events()
        assert (number, turn["seq"], turn["ply"]) == (4, 4, 1)
        await stream.hang_up()
        await bob.tell(type="move", move="N")
        await ann.tell(type="move", move="NW")
        await stream.open(ann.session, after=4)
        assert [(number, turn["ply"]) for number, turn in await stream.events()] == [(5, 2), (6, 3)]


async def test_when_the_host_stops_a_stream_ends_with_the_reason_and_its_bot_loses_nothing(
    autojump_clock: MockClock,
) -> None:
    async with hall() as (here, come):
        ann, bob = await pair(come)
        stream = Stream(here.server.connect)
        await stream.open(ann.session, after=ann.last)
        await bob.listen()
        assert await stream.events() == []
        await here.host.stop()
        said_last = await stream.client.now()
        number = ann.last + 1
        assert f'id: {number}\ndata: {{"type":"refused","reason":"{STOPPING}"'.encode() in said_last
        assert said_last.endswith(b"\r\n0\r\n\r\n"), "it is over, and not only interrupted"
        assert await bob.ear.heard() is None, "a request that is held is answered by whoever holds it"
        await trio.sleep(60.0)
        assert not here.host.known[TABLE].record.ended, "their match goes on at the next start"


async def test_whoever_is_silent_is_missed_also_when_nobody_was_there_before(
    autojump_clock: MockClock,
) -> None:
    async with hall() as (here, come):
        for name in ("ann", "bob"):
            await come().hello(name)
            assert here.host.here(TABLE).names == (name,)
            await trio.sleep(200.0)
            assert here.host.here(TABLE).names == ()


async def test_a_silent_stream_gives_signs_of_life(autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann = come()
        await ann.hello("ann")
        stream = Stream(here.server.connect)
        await stream.open(ann.session, after=1)
        head = await stream.client.now()
        assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        await trio.sleep(33.0)
        assert (await stream.client.now()).count(b": still here\n\n") == 2
        await trio.sleep(10.0)
        await ann.tell(type="state")
        assert len(await stream.events()) == 1
        await trio.sleep(13.0)
        assert await stream.client.now() == b"", "something has just been said"


async def test_whoever_listens_anew_takes_the_place_of_whoever_listened(autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann, _ = await pair(come)
        await ann.listen()
        stream, other = Stream(here.server.connect), Stream(here.server.connect)
        await stream.open(ann.session, after=3)
        assert await ann.polled() == []
        await other.open(ann.session, after=3)
        assert (await stream.client.now()).endswith(b"\r\n0\r\n\r\n")
        await ann.tell(type="move", move="C")
        assert len(await other.events()) == 1
        assert len(here.host.on_stop) == 1
        await other.hang_up()
        assert not here.host.on_stop, "nobody who listens has to be told when the host stops"


async def test_a_deaf_stream_is_cut_and_gone_on_with(autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann, bob = await pair(come)
        deaf = Stream(lambda: here.server.connect(Weather(window=400)))
        await deaf.open(ann.session, after=3)
        for ply, move in enumerate(("C", "N", "NW", "W", "NE")):
            await (ann, bob)[ply % 2].tell(type="move", move=move)
        await trio.sleep(11.0)
        with trio.fail_after(1.0):
            assert not (await deaf.client.rest()).endswith(b"\r\n0\r\n\r\n")
        again = Stream(here.server.connect)
        await again.open(ann.session, after=5)
        assert [number for number, _ in await again.events()] == [6, 7, 8]


async def test_what_is_kept_of_what_was_said_is_bounded_in_bytes_too(autojump_clock: MockClock) -> None:
    async with hall(limits=Limits(outbox_bytes=1000)) as (_, come):
        ann = come()
        await ann.hello("ann")
        for _ in range(20):
            await ann.tell(type="state")
        answer = await ann.ask("GET", f"{ann.session}?after=1")
        gone = re.search(r"messages up to (\d+) are gone", said(answer)["error"])
        assert gone is not None
        kept = await ann.ask("GET", f"{ann.session}?after={gone[1]}")
        assert 800 < len(kept.body) < 1050


async def test_whoever_is_too_far_behind_is_told_to_come_anew(autojump_clock: MockClock) -> None:
    async with hall(limits=Limits(outbox_messages=3)) as (_, come):
        ann, bob = await pair(come)
        for ply, move in enumerate(("C", "N", "NW")):
            await (ann, bob)[ply % 2].tell(type="move", move=move)
        answer = await ann.ask("GET", f"{ann.session}?after=2")
        assert (answer.status, "messages up to 3 are gone" in said(answer)["error"]) == (410, True)
        assert len(said(await ann.ask("GET", f"{ann.session}?after=3"))) == 3
        await ann.hello("ann", token=ann.welcome["token"])
        begin, turn = await ann.news()
        assert (begin["type"], turn["ply"]) == ("begin", 3), "all that it takes to go on"


# Who is there


@pytest.mark.slow
async def test_a_bot_that_listens_may_be_silent_for_ever(autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann = come()
        await ann.hello("ann")
        stream = Stream(here.server.connect)
        await stream.open(ann.session)
        await trio.sleep(1_000.0)  # one that polls may be silent for a minute
        bob = come()
        await bob.hello("bob")
        assert [event["type"] for _, event in await stream.events()] == ["welcome", "begin", "turn"]


async def test_a_bot_that_polls_now_and_then_is_there(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann = come()
        await ann.hello("ann")
        await ann.news()
        for _ in range(5):
            await trio.sleep(58.0)
            await ann.listen()
            assert await ann.ear.heard() is None
            await ann.ear.hang_up()
        bob = come()
        await bob.hello("bob")
        assert await ann.news("begin")


async def test_a_bot_that_says_something_now_and_then_is_there(autojump_clock: MockClock) -> None:
    async with hall() as (_, come):
        ann = come()
        await ann.hello("ann")
        for number in range(2, 6):
            assert await ann.tell(type="state") == number
            await trio.sleep(58.0)


async def test_a_minute_begins_when_the_poll_has_ended(autojump_clock: MockClock) -> None:
    async with hall(CUP | {"bank": "1000"}) as (_, come):
        ann, bob = await pair(come)
        await bob.listen()
        await trio.sleep(24.0)
        await ann.tell(type="move", move="C")
        await bob.polled()
        await trio.sleep(59.0)
        await bob.listen()
        assert await bob.ear.heard() is None, "the session goes on"


async def test_a_bot_that_is_not_heard_of_is_gone_and_can_come_back(autojump_clock: MockClock) -> None:
    async with hall(CUP | {"bank": "1000"}) as (here, come):
        ann, bob = await pair(come)
        await bob.listen()
        await trio.sleep(25.5)
        await bob.news()
        await trio.sleep(36.0)
        assert not playing(here, "ann").log.closed
        for path in (ann.session, f"{ann.session}?after=3"):
            answer = await ann.ask("POST" if path == ann.session else "GET", path, b"{}")
            assert (answer.status, said(answer)["error"]) == (
                410,
                "the session is over: nothing was heard from the bot for too long",
            )
        assert (await ann.hello("ann", token=ann.welcome["token"])).status == 201
        begin, _ = await ann.news()
        assert begin["match"] == "cup-1"
        await ann.tell(type="move", move="C")
        assert [turn["ply"] for turn in await bob.news("turn")] == [1]


async def test_however_many_are_gone_at_once_others_get_their_turn(autojump_clock: MockClock) -> None:
    """Catches a look at all sessions in one step: where 2,000 bots had gone, moves waited for 72 ms."""
    async with hall(limits=Limits(connections_per_address=1000)) as (here, come):
        for number in range(5 * AT_A_TIME):
            await come().hello(f"bot-{number}", against="nobody")
        left = [5 * AT_A_TIME]
        for _ in range(12):
            await trio.sleep(SWEEP)
            for _ in range(10):
                left.append(sum(player.present for player in here.host.lobby.players()))
                await trio.lowlevel.checkpoint()
        assert left[-1] == 0
        assert max(before - after for before, after in pairwise(left)) <= 2 * AT_A_TIME


@pytest.mark.parametrize("thinks", [False, True], ids=["after the welcome", "on its turn"])
async def test_the_time_for_which_the_host_stood_still_is_no_silence(
    thinks: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot whose request lay unread in its socket, and that was then told it had been silent."""
    async with hall(CUP | {"bank": "1000"}) as (_, come):
        if thinks:
            ann, bob = await pair(come)
            await bob.listen()
            await trio.sleep(55.0)
        else:
            ann = come()
            await ann.hello("ann")
        autojump_clock.jump(30.0)
        await trio.testing.wait_all_tasks_blocked()
        await ann.tell(type="move", move="C") if thinks else await ann.tell(type="state")
        if not thinks:
            await trio.sleep(61.5)
            answer = await ann.ask("GET", f"{ann.session}?after=9")
            assert answer.status == 410, "it was not heard of after that"


async def test_a_bot_that_stays_away_has_lost(autojump_clock: MockClock) -> None:
    async with hall(CUP | {"bank": "1000"}) as (here, come):
        ann, bob = await pair(come)
        await ann.tell(type="move", move="C")
        await bob.tell(type="move", move="NW")
        stream = Stream(here.server.connect)
        await stream.open(bob.session, after=5)
        await trio.sleep(89.0)
        assert await stream.events() == []
        await trio.sleep(3.0)
        (_, end), (_, standings) = await stream.events()
        assert (end["ending"], end["winner"]) == ("left", "X")
        assert (standings["type"], standings["rows"][0]["name"]) == ("standings", "bob")
        assert here.host.tournaments["cup"].record.state is State.FINISHED


async def test_a_welcome_that_was_lost_can_be_asked_for_again_soon(autojump_clock: MockClock) -> None:
    """Nothing was heard of its session: it may never have come."""
    async with hall() as (_, come):
        lost, ann = come(), come()
        await lost.send("POST", "/play", {"type": "hello", "name": "ann", "game": GAME})
        await lost.hang_up()
        await trio.sleep(11.0)
        assert (await ann.hello("ann")).status == 201


async def test_whoever_hangs_up_before_the_welcome_was_never_there(autojump_clock: MockClock) -> None:
    async with hall(store=Slow(Entered, Opened)) as (_, come):
        lost, ann = come(), come()
        await lost.send("POST", "/play", {"type": "hello", "name": "ann", "game": GAME})
        await lost.hang_up()
        await trio.sleep(12.0)
        assert (await ann.hello("ann")).status == 201


async def test_however_long_it_takes_to_let_a_bot_in_its_hello_is_answered(autojump_clock: MockClock) -> None:
    """Catches a bot that waited for ever: it seemed silent, though its request was held."""
    async with hall(limits=Limits(session_seconds=5.0), store=Slow(Entered, Opened)) as (_, come):
        ann = come()
        await ann.send("POST", "/play", {"type": "hello", "name": "ann", "game": GAME})
        await trio.sleep(60.0)
        assert (await ann.told()).status == 201


async def test_a_bye_is_the_end_and_what_was_said_can_still_be_heard(autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann, bob = await pair(come)
        await ann.tell(type="move", move="C")
        await bob.tell(type="move", move="NW")
        await ann.tell(type="bye")
        (end,) = await bob.news("end")
        assert (end["winner"], end["ending"]) == ("X", "left")
        told = said(await ann.ask("GET", f"{ann.session}?after=3"))
        assert [message["type"] for message in told] == ["turn", "turn"]
        assert told[-1]["ply"] == 2
        stream = Stream(here.server.connect)
        await stream.open(ann.session, after=3)
        rest = await stream.client.now()
        assert b"id: 5\n" in rest
        assert rest.endswith(b"\r\n0\r\n\r\n"), "nothing more will come"
        answer = await ann.ask("GET", f"{ann.session}?after=5")
        assert (answer.status, said(answer)) == (410, {"error": "the session is over: the bot said bye"})
        answer = await ann.ask("GET", ann.session, None, "Last-Event-ID: 5")
        assert answer.status == 410, "whoever has the whole stream does not open it again and again"
        await trio.sleep(62.0)
        assert (await ann.ask("GET", f"{ann.session}?after=4")).status == 404
        assert (await come().hello("ann")).status == 403, "the name is its token's for a while"


async def test_too_much_junk_ends_a_session_with_the_reason(autojump_clock: MockClock) -> None:
    async with hall(limits=Limits(junk=Rate(5, 10.0))) as (here, come):
        ann = come()
        await ann.hello("ann")
        stream = Stream(here.server.connect)
        await stream.open(ann.session, after=1)
        for _ in range(6):
            await ann.tell(type="nonsense")
        events = await stream.events()
        assert [event["type"] for _, event in events] == ["refused"] * 6
        assert "too many messages without a meaning" in events[-1][1]["reason"]
        assert (await ann.ask("POST", ann.session, {"type": "state"})).status == 410


async def test_a_move_that_was_sent_before_the_question_is_no_answer(autojump_clock: MockClock) -> None:
    """Unless it says which question it answers: then it is for the referee."""
    async with hall() as (here, come):
        ann, bob = await pair(come)
        move = msgspec.json.encode({"type": "move", "move": "N"})
        state = msgspec.json.encode({"type": "state"})
        early = here.server.connect()
        await early.end.send_all(request("GET", f"{bob.session}?after={bob.last}"))
        await early.end.send_all(request("POST", bob.session, move))
        await trio.sleep(1.0)
        await ann.tell(type="move", move="C")
        assert (await early.answer()).status == 200
        assert (await early.answer()).status == 200
        (refused,) = await bob.news("refused")
        assert "before the question was asked" in refused["reason"]
        await early.end.send_all(request("POST", bob.session, state) + request("POST", bob.session, move))
        assert [turn["ply"] for turn in await ann.news("turn")] == [1, 2], "that was in time"


async def test_a_move_that_came_after_the_question_and_was_read_late_is_an_answer(
    autojump_clock: MockClock,
) -> None:
    async with hall(CUP) as (here, come):
        ann, bob = await pair(come)
        one = here.server.connect()
        move = msgspec.json.encode({"type": "move", "move": "C"})
        poll = request("GET", f"{ann.session}?after=99")
        await one.end.send_all(poll + request("POST", ann.session, move))
        await trio.sleep(14.0)
        assert await bob.news() == []
        await ann.listen()
        assert (await one.answer()).body == b"[]"
        assert said(await one.answer()) == {"seq": 4}
        assert [turn["clock"] for turn in await bob.news("turn")] == [[20.0, 18.0]], "and it took no time"


async def test_when_all_sessions_are_taken_nobody_comes_in(autojump_clock: MockClock) -> None:
    async with hall(limits=Limits(sessions=1)) as (_, come):
        assert (await come().hello("ann")).status == 201
        answer = await come().hello("bob")
        assert (answer.status, "too many sessions" in said(answer)["error"]) == (503, True)


async def test_as_many_sessions_as_there_may_be(autojump_clock: MockClock) -> None:
    async with hall(limits=Limits(sessions=3, connections_per_address=2)) as (_, come):
        assert (await come().hello("ann")).status == 201
        bob = come()
        assert (await bob.hello("bob")).status == 201
        answer = await come().hello("cas")
        assert (answer.status, "from your address" in said(answer)["error"]) == (429, True)
        await bob.tell(type="bye")
        assert (await come().hello("cas")).status == 201


async def test_a_session_that_is_over_is_kept_only_while_nobody_wants_its_room(
    autojump_clock: MockClock,
) -> None:
    """Catches strangers who keep everybody out a minute longer than they are there."""
    limits = Limits(sessions=2, session_begin_seconds=5.0, session_seconds=60.0)
    async with hall(limits=limits) as (_, come):
        ann, stranger = come(), come()
        assert (await ann.hello("ann")).status == 201
        assert (await stranger.hello("bob")).status == 201
        await ann.listen()
        await trio.sleep(6.0)
        assert (await come().hello("cas")).status == 201
        assert (await come().hello("dan")).status == 503, "nobody who is there makes way"


# Other transports


class Wired(Bot):
    """The same over TCP."""

    async def messages(self, *types: str) -> list[dict[str, Any]]:
        await trio.testing.wait_all_tasks_blocked()
        told = [msgspec.json.decode(line) if line[:1] == "{" else {"type": line} for line in self.heard]
        self.heard.clear()
        return [message for message in told if not types or message["type"] in types]

    async def tell(self, **message: Any) -> None:
        await self.end.say(msgspec.json.encode(message).decode())


async def wired(here: Table, nursery: trio.Nursery) -> Wired:
    bot = Wired(await in_memory(here.host, tcp.attend)())
    nursery.start_soon(bot.listen)
    return bot


async def test_a_match_begun_over_tcp_is_gone_on_with_over_http_and_the_other_way_round(
    autojump_clock: MockClock,
) -> None:
    async with hall() as (here, come), trio.open_nursery() as nursery:
        ann, bob = await wired(here, nursery), come()
        await ann.tell(type="hello", name="ann", game=GAME)
        (welcome,) = await ann.messages()
        await bob.hello("bob")
        await ann.tell(type="move", move="C")
        await bob.tell(type="move", move="N")
        assert [turn["ply"] for turn in await ann.messages("turn")] == [0, 1, 2]

        over_http = come()
        await over_http.hello("ann", token=welcome["token"])
        begin, turn = await over_http.news()
        assert (begin["you"], turn["ply"], turn["turn"]) == ("O", 2, "O")
        refused, closed = await ann.messages()
        assert (refused["type"], closed["type"]) == ("refused", "[closed]")
        await over_http.tell(type="move", match=turn["match"], ply=2, move="NW")

        wire = await wired(here, nursery)
        await wire.tell(type="hello", name="bob", game=GAME, token=bob.welcome["token"])
        _, begin, turn = await wire.messages()
        assert (begin["you"], turn["ply"], turn["turn"]) == ("X", 3, "X")
        assert "taken over" in (await bob.news("refused"))[0]["reason"]
        await wire.tell(type="move", move="S")
        await over_http.news()
        await over_http.tell(type="move", move="SE")
        assert (await wire.messages("end"))[0]["winner"] == (await over_http.news("end"))[0]["winner"] == "O"
        nursery.cancel_scope.cancel()


async def test_a_bot_of_hexagon_dots_own_protocol_meets_one_of_the_house(autojump_clock: MockClock) -> None:
    async with hall() as (here, come):
        ann, bob = come(), here.bot("bob")
        await ann.hello("ann", "hexagon-dots")
        await bob.join((await bob.ask("GET", "/match")).headers["location"])
        begin, _ = await ann.news()
        assert begin["players"] == ["ann", "bob"]
        await ann.tell(type="move", move="0,0 0,1")
        assert said(await bob.turn())["lines"][0]["owner"]["name"] == "ann"
        await ann.tell(type="resign")
        await bob.move(None, bob.token)
        assert scores(await bob.end()) == ["disqualified", 0]
