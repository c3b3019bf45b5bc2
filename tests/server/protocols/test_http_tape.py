"""What a bot said and heard at each door is what the wire log has of its match, with the times of both."""

from typing import Any

import msgspec
import trio
from trio.testing import MockClock

from server.host.host import Host
from server.host.wire_reader import messages_of
from tests.server.protocols import fours
from tests.server.protocols.lists import lists
from tests.server.protocols.room import room
from tests.server.protocols.table import SIDES, table
from tests.server.protocols.test_house_http import House

Noted = list[tuple[str, str]]


def noted(host: Host, match: str, seat: int) -> Noted:
    return [(each["from"], each["text"]) for each in messages_of(host.wires.of(match)[seat])]


def heard(notes: Noted) -> list[str]:
    return [text for who, text in notes if who == "host"]


async def test_santorini_as_the_memo_has_it(autojump_clock: MockClock) -> None:
    async with room() as here:
        ann, bob = await here.come("ann"), await here.come("bob")
        for bot, lines in ((ann, ("0 0", "9 9", " 0 1 ")), (bob, ("3 3", "3 4", "1 1 1"))):
            for line in lines:
                await bot.say(line)
                await trio.sleep(0.25)
        match = "open-santorini-1"
        hers, his = noted(here.host, match, 0), noted(here.host, match, 1)
        assert heard(hers) == await ann.lines()
        assert heard(his) == await bob.lines()
        assert [text for who, text in hers if who == "bot"] == ["0 0", "9 9", " 0 1 "]
        assert [text for who, text in his if who == "bot"] == ["3 3", "3 4", "1 1 1"]
        said = [each for each in messages_of(here.host.wires.of(match)[0]) if each["from"] == "bot"]
        assert [round(each["at"] - said[0]["at"], 6) for each in said] == [0.0, 0.25, 0.5]
        await bob.wire.aclose()  # and so the match is over, which is the last that is noted
        await trio.sleep(40.0)
        assert "gameOver" in heard(noted(here.host, match, 0))[-1]


async def test_the_house_protocol_over_lines(autojump_clock: MockClock) -> None:
    async with room() as here:
        ann, bob = await here.hello("ann", "santorini"), await here.hello("bob", "santorini")
        first = await ann.messages()
        ply = first[-1]
        assert [each["type"] for each in first] == ["welcome", "begin", "turn"]
        said: list[str] = []
        for message in (
            {"type": "move", "move": "nonsense"},
            {"type": "hello", "name": "ann", "game": "tic-tac-toe", "token": "sesame, and open"},
            {"type": "move", "move": [0, 0], "ply": ply["ply"]},
            {"type": "resign"},
        ):
            said.append(msgspec.json.encode(message).decode())
            await ann.say(said[-1])
        notes, match = noted(here.host, "open-santorini-1", 0), {"match": "open-santorini-1"}
        got = first[1:] + await ann.messages()
        ended = next(n for n, each in enumerate(got) if each["type"] == "end")
        assert got[ended].items() >= match.items()
        assert [msgspec.json.decode(text) for text in heard(notes)] == got[: ended + 1]
        cut = [text.replace("sesame, and open", "sesa…") for text in said]
        assert [text for who, text in notes if who == "bot"] == cut
        await ann.say('{"type":"state"}')  # which is no longer of that match
        assert noted(here.host, "open-santorini-1", 0) == notes
        his = heard(noted(here.host, "open-santorini-1", 1))
        assert his == (await bob.lines())[1 : len(his) + 1]


async def test_a_bot_that_comes_back_goes_on_in_its_log(autojump_clock: MockClock) -> None:
    async with room() as here:
        ann = await here.hello("ann", token="sixteen letters!")
        await here.hello("bob", token="another sixteen!")
        before = await ann.lines()
        await ann.wire.aclose()
        again = await here.hello("ann", token="sixteen letters!")
        notes = noted(here.host, "open-tic-tac-toe-1", 0)
        assert heard(notes) == before[1:] + (await again.lines())[1:]


async def test_connect_4_as_the_arena_speaks_it(autojump_clock: MockClock) -> None:
    async with fours.place() as host:
        bots = ann, _ = [fours.Bot(host), fours.Bot(host)]
        for bot, name in zip(bots, ("Ann", "Bob"), strict=True):
            await bot.tell("start", id=name)
        first = next(bot for bot in bots if msgspec.json.decode(bot.told[0][1])["turn"] == bot.seat())
        index = first.seat() - 1
        said = [b'{"type":"move","move":3}', b"what?", b"why?", b"how?", b'{"type":"stateRequest"}']
        for message in said:
            await trio.sleep(0.3)
            await first.send(message)
        await trio.sleep(5.0)
        (match,) = host.tournaments["open-connect-4"].matches.values()
        notes = messages_of(host.wires.of(match.name)[index])
        began = match.log.events[0].at
        assert [(n["at"], n["text"]) for n in notes if n["from"] == "host"] == [
            (round(at - began, 6), text.decode()) for at, text in first.told
        ]
        assert [n["text"] for n in notes if n["from"] == "bot"] == [text.decode() for text in said]
        assert ann.cut is None


async def test_the_arena(autojump_clock: MockClock) -> None:
    async with lists() as here:
        one, other = await here.pair()
        assert (await one.put("C"))[0] == 200
        assert (await one.put("NW"))[0] == 409
        assert (await other.put("NW"))[0] == 200
        events = await one.told()
        notes = noted(here.host, "open-tic-tac-toe-1", 0)
    start, play = (f"/tic-tac-toe/{what}/{one.battle[:4]}…" for what in ("start", "play"))
    put = '{"action":"putSymbol","position":"%s"}'
    assert [text for who, text in notes if who == "bot"] == [
        f"GET {start}",
        f"POST {play} {put % 'C'}",
        f"POST {play} {put % 'NW'}",
    ]
    streamed = [msgspec.json.decode(text[6:]) for text in heard(notes) if text.startswith("data: ")]
    assert streamed == [{"youAre": one.side, "id": f"{one.battle[:4]}…"}, *events]
    answers = [text for text in heard(notes) if not text.startswith("data: ")]
    assert answers[0].startswith('200 {"message":"received your command"')
    assert answers[1:] == ['409 {"error":"not your turn"}']
    assert one.battle not in str(notes)
    assert other.battle not in str(notes)


async def test_hexagon_dots(autojump_clock: MockClock) -> None:
    async with table() as here:
        game = await here.made()
        ann, bob = here.bot("ann"), here.bot("bob")
        await ann.join(game)
        await bob.join(game)
        answers: list[Any] = [await ann.turn()]
        tokens = [ann.token]
        await ann.move(b"nonsense")
        answers.append(await ann.told())
        await ann.move(SIDES[0])
        await bob.turn()
        await bob.move(SIDES[1])
        answers.append(await ann.turn())
        notes = noted(here.host, "open-hexagon-dots-1", 0)
    header = f"X-Turn-Token: {tokens[0][:4]}…"
    move = msgspec.json.encode(SIDES[0]).decode()
    assert [text for who, text in notes if who == "bot"] == [
        f"POST {game}/moves {header} nonsense",
        f"POST {game}/moves {header} {move}",
    ]
    assert [text.split(" ")[0] for text in heard(notes)] == ["200", "400", "200"]
    assert heard(notes)[1] == f"400 {answers[1].body.decode()}"
    for text, answer in zip(heard(notes)[::2], answers[::2], strict=True):
        turn = f"X-Turn-Token: {answer.headers['x-turn-token'][:4]}…"
        assert text == f"200 {turn} {answer.body.decode()}"


async def test_what_comes_after_the_end_of_a_game_is_in_its_log(autojump_clock: MockClock) -> None:
    """An author whose bot was late finds its move there, and what it was told."""
    async with table() as here:
        ann, bob = await here.pair()
        await trio.sleep(5.1)
        await bob.end()
        await ann.move(SIDES[0])
        answer = await ann.told()
        assert answer.status == 410
        (_, late), told = noted(here.host, "open-hexagon-dots-1", 0)[-2:]
        assert late.endswith(msgspec.json.encode(SIDES[0]).decode())
        assert told == ("host", f"410 {answer.body.decode()}")


async def test_the_house_protocol_over_http(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = House(here.server.connect), House(here.server.connect)
        await ann.hello("ann")
        await bob.hello("bob")
        await ann.listen()
        got = await ann.polled()
        await ann.listen()
        await ann.tell(type="move", move={"action": "putSymbol", "position": "C"})
        got += await ann.polled()
        notes = noted(here.host, "open-tic-tac-toe-1", 0)
    messages = [text for text in heard(notes) if text.startswith("{")]
    assert [msgspec.json.decode(text) for text in messages] == got
    assert [text for text in heard(notes) if not text.startswith("{")] == [f'200 {{"seq":{got[-1]["seq"]}}}']
    session = ann.session.rpartition("/")[2]
    polls = [text for who, text in notes if who == "bot" and text.startswith("GET")]
    assert polls == [f"GET /play/{session[:4]}…?after={n}" for n in (1, got[-2]["seq"])]
    assert session not in str(notes)
