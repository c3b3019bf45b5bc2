"""One side of a match as the Arena tells it: the stream, the commands, the clock, the end."""

import re
import sys
from collections.abc import Sequence
from math import nextafter
from typing import Any

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from games.tictactoe import GAME as TIC_TAC_TOE
from server.export.verify import verify
from server.http.exchange import Exchange
from server.http.wire import Request
from server.net.guard import Guard
from server.net.limits import Limits
from server.protocols.arena.battle import Battle
from server.protocols.arena.messages import FLIP, Command
from tests.server.exports import exported, text
from tests.server.protocols.lists import (
    CUP,
    LAST_CHUNK,
    STREAM_HEAD,
    Fighter,
    Lists,
    Slow,
    Stream,
    answered,
    flipped,
    lists,
    put,
)
from tests.server.web import get
from tests.server.windowed import Weather
from tournament.events import Ending
from tournament.match import Match
from tournament.player import Seat
from tournament.timekeeper import Timekeeper

UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
QUICK = {**CUP, "bank": "4", "gain": "2"}  # a clock that is shorter than the time to flip


async def concluded(here: Lists, tournament: str = "open-tic-tac-toe") -> list[tuple[int | None, Ending]]:
    """How its matches ended so far: the winning seat, and why."""
    await trio.testing.wait_all_tasks_blocked()
    matches = here.host.tournaments[tournament].record.matches.values()
    return [(match.winner, match.ending) for match in matches]


async def hears(fighters: Sequence[Fighter], *events: dict[str, str], over: bool = False) -> None:
    for fighter in fighters:
        assert await fighter.told() == list(events)
        assert fighter.stream.over == over


# The stream


async def test_the_stream_is_exactly_this(autojump_clock: MockClock) -> None:
    """Clients in use hang or flip the table when a byte of it is different."""
    async with lists() as here:
        ann, bob = [await answered(client) for client in [await here.join("ann"), await here.join("bob")]]
        stream = here.send(f"/tic-tac-toe/start/{ann}?since=now&since=ever")
        here.send(f"/tic-tac-toe/start/{bob}")
        await trio.testing.wait_all_tasks_blocked()
        await here.says(f"/tic-tac-toe/play/{ann}", {"action": "putSymbol", "position": "NE"})
        await here.says(f"/tic-tac-toe/play/{bob}", {"action": FLIP})
        await here.says(f"/tic-tac-toe/play/{ann}", {"action": FLIP})
        assert await stream.now() == (
            STREAM_HEAD
            + b'42\r\ndata: {"youAre":"O","id":"'
            + ann.encode()
            + b'"}\n\n\r\n'
            + b'3b\r\ndata: {"player":"O","action":"putSymbol","position":"NE"}\n\n\r\n'
            + 'data: {"player":"X","action":"(╯°□°)╯︵ ┻━┻"}\n\n'.encode().join((b"3e\r\n", b"\r\n"))
            + 'data: {"player":"O","action":"(╯°□°)╯︵ ┻━┻"}\n\n'.encode().join((b"3e\r\n", b"\r\n"))
            + LAST_CHUNK
        )


async def test_the_quoridor_stream_names_its_sides_and_moves(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair("quoridor")
        assert (ann.side, bob.side) == ("first", "second")
        assert await ann.command(action="move", position="e2") == (200, 62000)
        assert await bob.command(action="putWall", position="c6h") == (200, 62000)
        for fighter in (ann, bob):
            assert await fighter.told() == [
                {"player": "first", "action": "move", "position": "e2"},
                {"player": "second", "action": "putWall", "position": "c6h"},
            ]


async def test_each_player_has_a_battle_of_its_own(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        assert ann.battle != bob.battle
        assert re.fullmatch(UUID, ann.battle)
        assert re.fullmatch(UUID, bob.battle)


async def test_a_second_start_takes_the_stream_over_and_is_told_everything(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        await ann.put("C")
        await hears([ann, bob], put("O", "C"))
        before = ann.stream
        assert await ann.start() == [put("O", "C")]
        assert await before.told() == []
        assert before.over
        await bob.put("N")
        await hears([ann, bob], put("X", "N"))
        assert await before.told() == []


@pytest.mark.parametrize("rounds", range(4))
async def test_a_stream_that_was_given_up_takes_the_place_of_none(
    rounds: int, autojump_clock: MockClock
) -> None:
    """Its request may be read after the one that opens the stream again, and its hang-up a little later."""
    async with lists() as here:
        ann, bob = await here.pair()
        given_up = here.server.connect()
        await trio.testing.wait_all_tasks_blocked()
        await given_up.end.send_all(get(f"/tic-tac-toe/start/{ann.battle}"))
        for _ in range(rounds):
            await trio.lowlevel.checkpoint()
        given_up.end.close()
        await ann.put("C")
        await hears([ann, bob], put("O", "C"))


async def test_after_the_end_all_is_told_again_and_the_stream_ends(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        for fighter, field in ((ann, "NW"), (bob, "W"), (ann, "N"), (bob, "C"), (ann, "NE")):
            await fighter.put(field)
        told = await bob.told()
        assert told[-1] == {"winner": "O"}
        for _ in range(2):
            assert await bob.start() == told
            assert bob.stream.over


async def test_a_limited_number_of_finished_battles_is_kept(autojump_clock: MockClock) -> None:
    async with lists(limits=Limits(battles_kept=3)) as here:
        fighters: list[Fighter] = []
        for number in range(2):
            fighters += await here.pair("tic-tac-toe", f"a{number}", f"b{number}")
            await fighters[-2].put("XX")
            await fighters[-1].flip()
        statuses = [(await here.ask(f"/tic-tac-toe/start/{each.battle}")).status for each in fighters]
        assert statuses == [404, 200, 200, 200]
        commands = [(await fighter.put("C"))[0] for fighter in fighters]
        assert commands == [404, 423, 423, 423]


# Commands


class Exchanges:
    """Answers nobody; keeps what would have gone out on every connection, in its order."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def exchange(self, at: float = 0.0) -> Exchange:
        return Exchange(Request("POST", "/", {}, {}, b"", "", at, False), self)

    def respond(self, exchange: Exchange, response: Any) -> None:
        self.sent.append(msgspec.json.decode(response.body))

    def open(self, exchange: Exchange, status: int, headers: Any) -> None: ...

    def put(self, exchange: Exchange, content: bytes) -> None:
        self.sent.append(msgspec.json.decode(content.removeprefix(b"data: ")))

    def close(self, exchange: Exchange) -> None:
        self.sent.append("closed")

    def authenticated(self) -> None: ...


@pytest.mark.parametrize("command", [Command("putSymbol", "N"), Command("putSymbol", "XX"), Command(FLIP)])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_move_is_on_both_streams_before_its_request_is_answered(
    order: tuple[int, int], command: Command
) -> None:
    timekeeper, wires, sides = Timekeeper(), Exchanges(), dict[int, Battle]()
    async with trio.open_nursery() as nursery:
        names, at = ("ann", "bob"), trio.current_time()
        match = Match(TIC_TAC_TOE, names, at, decided=lambda match, verdict: None)
        for seat in order:
            Battle(Seat(match, seat, timekeeper), sides, Guard(nursery), Limits(), lambda battle: None)
            sides[seat].start(wires.exchange())
        sides[0].play(wires.exchange(trio.current_time()), lambda: command)
        match.announce()
        nursery.cancel_scope.cancel()
    *echoes, answer = wires.sent[2:]
    assert [(echo["player"], echo["action"]) for echo in echoes] == [("O", command.action)] * 2
    assert [*answer] == ["message", "moveId", "clock"]


async def test_a_move_that_decides_is_answered_when_the_result_is_safe(autojump_clock: MockClock) -> None:
    async with lists(store=Slow()) as here:
        clients = [await here.join(name) for name in ("ann", "bob")]
        await trio.sleep(5.0)
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        for fighter, field in ((ann, "NW"), (bob, "W"), (ann, "N"), (bob, "C")):
            await fighter.put(field)
        await hears([ann, bob], put("O", "NW"), put("X", "W"), put("O", "N"), put("X", "C"))
        deciding = here.send(f"/tic-tac-toe/play/{ann.battle}", {"action": "putSymbol", "position": "NE"})
        await trio.sleep(0.4)
        too_late = here.send(f"/tic-tac-toe/play/{bob.battle}", {"action": "putSymbol", "position": "E"})
        assert await deciding.now() == await too_late.now() == b"", "nobody can see that it is over"
        await hears([ann, bob])
        await trio.sleep(0.2)
        await hears([ann, bob], put("O", "NE"), {"winner": "O"}, over=True)
        assert (await deciding.answer("POST")).status == 200
        assert (await too_late.answer("POST")).status == 423


async def test_an_accepted_command_is_answered_exactly_so(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, _ = await here.pair()
        await trio.sleep(0.69)
        answer = await here.ask(
            f"/tic-tac-toe/play/{ann.battle}", b'{"action": "putSymbol", "position": "SE", "player": "X"}'
        )
        assert answer.status == 200
        assert re.fullmatch(
            '{"message":"received your command","moveId":"' + UUID + '","clock":19310}', answer.body.decode()
        )
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        assert answer.headers["referrer-policy"] == "no-referrer"
        await hears([ann], put("O", "SE"))


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/tic-tac-toe/play/nobody-knows-this", 404, b'{"error":"Battle not found"}'),
        ("/quoridor/play/{bob}", 404, b'{"error":"Battle not found"}'),
        ("/tic-tac-toe/play/{bob}", 409, b'{"error":"battle not started"}'),
        ("/tic-tac-toe/play/{over}", 423, b'{"error":"Battle already ended"}'),
    ],
)
async def test_a_command_that_has_no_effect_is_refused_exactly_so(
    path: str, status: int, body: bytes, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        cas, dee = await here.pair("tic-tac-toe", "cas", "dee")
        await cas.flip()
        await dee.flip()
        ann, bob = [await answered(client) for client in [await here.join("ann"), await here.join("bob")]]
        await Fighter(here, ann).start()
        where = path.format(ann=ann, bob=bob, over=cas.battle)
        answer = await here.ask(where, {"action": "putSymbol", "position": "C"})
        assert (answer.status, answer.body) == (status, body)
        assert await Fighter(here, bob).start() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"{",
        b'{"action":"putSymbol","position":"C"',
        b'{"action":"putSymbol","position":"C"} {}',
        b'{"action":5}',
        b'{"action":"putSymbol","position":4}',
        b'{"action":"putSymbol","position":null}',
        b'{"position":"C"}',
        b'{"action":"putSymbol","position":"\xff"}',
        b'{"action":"putSymbol","position":"C","unknown":"\xff"}',
        b'{"action":"putSymbol","position":"\\ud800"}',
        b'\xef\xbb\xbf{"action":"putSymbol","position":"C"}',
        '{"action":"putSymbol","position":"C"}'.encode("utf-16"),
        b'{"action":"putSymbol","position":NaN}',
        pytest.param(
            b'{"action":"putSymbol","a":' + b"[" * 2000 + b"]" * 2000 + b"}",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons can read that"),
        ),
        b'["putSymbol","C"]',
        b'"C"',
        b"position=C",
        b"action=putSymbol&position=%zz",
        b"action=%ff",
    ],
    ids=lambda body: repr(body)[:40],
)
async def test_what_is_no_command_is_400_and_costs_nothing(body: bytes, autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        status, said = await here.says(f"/tic-tac-toe/play/{ann.battle}", body)
        assert status == 400
        assert [*said] == ["error"]
        await hears([ann, bob])
        assert (await ann.put("C"))[0] == 200
        await hears([ann, bob], put("O", "C"))


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (content_type, body)
        for content_type in ("application/json", "application/x-www-form-urlencoded", "text/plain", "")
        for body in (
            b'{"action":"putSymbol","position":"SE"}',
            b' {"position":"SE","action":"putSymbol","action2":[]}\r\n',
            b'{"action":"flip","action":"putSymbol","position":"SE"}',
            b"action=putSymbol&position=SE",
            b"position=%53%45&player=X&action=putSymbol",
        )
        if b"=" not in body or content_type != "application/json"
    ],
)
async def test_json_and_forms_are_understood_whatever_they_are_called(
    content_type: str, body: bytes, autojump_clock: MockClock
) -> None:
    """Most bots in use send forms; some send JSON and call it one. Of a name that comes twice, the last."""
    async with lists() as here:
        ann, bob = await here.pair()
        headers = {"Content-Type": content_type} if content_type else {}
        status, _ = await here.says(f"/tic-tac-toe/play/{ann.battle}", body, headers=headers)
        assert status == 200
        await hears([ann, bob], put("O", "SE"))


@pytest.mark.parametrize(
    "body",
    [
        msgspec.json.encode({"action": FLIP}),
        msgspec.json.encode({"action": FLIP, "position": None}),
        b'{"action":"(\\u256f\\u00b0\\u25a1\\u00b0)\\u256f\\ufe35 \\u253b\\u2501\\u253b"}',
        f"action={FLIP}".replace(" ", "+").encode(),
        b"action=%28%E2%95%AF%C2%B0%E2%96%A1%C2%B0%29%E2%95%AF%EF%B8%B5%20%E2%94%BB%E2%94%81%E2%94%BB",
    ],
)
async def test_a_flip_is_a_flip_however_it_is_written(body: bytes, autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        await ann.put("nowhere")
        assert (await here.says(f"/tic-tac-toe/play/{bob.battle}", body))[0] == 200
        await hears([ann, bob], put("O", "nowhere"), flipped("X"), over=True)


async def test_out_of_turn_no_move_has_any_effect(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        for command in (bob.put("C"), bob.put("XX"), bob.command(action="flip")):
            assert await command == (409, "not your turn")
        await ann.put("C")
        assert await ann.put("C") == (409, "not your turn")
        await hears([ann, bob], put("O", "C"))
        assert await concluded(here) == []


async def test_whoever_sends_nonsense_without_end_is_told_to_stop(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        statuses = [(await bob.put("C"))[0] for _ in range(30)]
        assert statuses == [409] * 20 + [429] * 10
        await ann.put("C")
        assert (await bob.put("N"))[0] == 200, "an answer is never refused for that"


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ({"action": "putSymbol", "position": "XX"}, {"action": "putSymbol", "position": "XX"}),
        ({"action": "putSymbol"}, {"action": "putSymbol"}),
        ({"action": "", "position": ""}, {"action": "", "position": ""}),
        ({"action": "leave", "player": "X", "winner": "O"}, {"action": "leave"}),
        ({"action": "a" * 1000, "position": "p" * 1000}, {"action": "a" * 60, "position": "p" * 60}),
        ({"action": "\n\ndata: {}", "position": "\u2028"}, {"action": "\n\ndata: {}", "position": "\u2028"}),
    ],
)
async def test_a_bad_move_is_shown_to_both_as_any_other(
    sent: dict[str, str], shown: dict[str, str], autojump_clock: MockClock
) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        assert await ann.command(**sent) == (200, 18000)
        await hears([ann, bob], {"player": "O", **shown})


# The clock


async def test_the_clock_does_not_run_before_the_stream_is_opened(autojump_clock: MockClock) -> None:
    async with lists(CUP) as here:
        ann, bob = [await answered(client) for client in [await here.join("ann"), await here.join("bob")]]
        await trio.sleep(299.0)
        fighter = Fighter(here, ann)
        await fighter.start()
        await trio.sleep(1.0)
        assert await fighter.put("C") == (200, 19000)
        await trio.sleep(0.1)
        late = Fighter(here, bob)
        assert (await here.ask(f"/tic-tac-toe/start/{bob}")).status == 200
        assert await late.put("N") == (423, "Battle already ended"), "it came after 300 s"


async def test_the_clock_does_not_run_while_the_answer_to_a_join_is_on_its_way(
    autojump_clock: MockClock,
) -> None:
    """Catches a match that is dealt to somebody before its door knows it."""
    async with lists(limits=Limits(ghost_seconds=300.0), store=Slow()) as here:
        clients = [await here.join(name) for name in ("ann", "bob")]
        await trio.sleep(120.0)
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        await ann.start()
        assert await ann.put("C") == (200, 20000)
        await trio.sleep(120.0)
        assert await bob.start() == [put("O", "C")]
        assert await bob.put("N") == (200, 20000)


async def test_both_have_the_time_to_come_that_the_setting_gives(autojump_clock: MockClock) -> None:
    async with lists(CUP, Limits(start_seconds=20.0)) as here:
        ann, _ = [await answered(client) for client in [await here.join("ann"), await here.join("bob")]]
        fighter = Fighter(here, ann)
        await trio.sleep(19.0)
        await fighter.start()
        await fighter.put("C")
        await trio.sleep(1.1)
        await hears([fighter], put("O", "C"), over=True)
        assert await concluded(here, "cup") == [(None, Ending.VOID)]


@pytest.mark.parametrize(("delay", "in_time"), [(nextafter(18.0, 0), True), (18.0, True), (18.001, False)])
async def test_a_command_at_the_deadline_is_in_time(
    delay: float, in_time: bool, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        await trio.sleep(delay)
        assert (await ann.put("C"))[0] == (200 if in_time else 423)
        await hears([ann, bob], put("O", "C") if in_time else {"winner": "X"}, over=not in_time)


async def test_whoever_answers_with_what_cannot_be_read_is_told_so_in_the_record(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        assert (await ann.command(position="C"))[0] == 400
        await trio.sleep(18.1)
        await hears([ann, bob], {"winner": "X"}, over=True)
        (over,) = here.host.tournaments["open-tic-tac-toe"].record.matches.values()
        assert over.why.endswith("had no effect: the body cannot be read: action is required, and is missing")


async def test_lateness_is_noticed_at_the_time(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        await trio.sleep(17.9)
        await hears([ann, bob])
        await trio.sleep(0.2)
        await hears([ann, bob], {"winner": "X"}, over=True)
        assert await ann.put("C") == (423, "Battle already ended")
        assert await concluded(here) == [(1, Ending.TIME)]


# The end


@pytest.mark.parametrize(
    ("game", "moves", "winner"),
    [
        ("tic-tac-toe", "NW W N C NE", "O"),
        ("tic-tac-toe", "NW W N C S E", "X"),
        ("tic-tac-toe", "NW N NE W C SW E SE S", "draw"),
        ("quoridor", "e2 d9 e3 d8 e4 d7 e5 d6 e6 d5 e7 d4 e8 d3 e9", "first"),
        ("quoridor", "e2 e8 e3 e7 e4 e6 d4 e5 c4 e4 b4 e3 a4 e2 a5 e1", "second"),
    ],
)
async def test_the_last_event_names_the_winner(
    game: str, moves: str, winner: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        fighters = await here.pair(game)
        action = "move" if game == "quoridor" else "putSymbol"
        for ply, position in enumerate(moves.split()):
            assert (await fighters[ply % 2].command(action=action, position=position))[0] == 200
        for fighter in fighters:
            *told, last = await fighter.told()
            assert len(told) == len(moves.split())
            assert last == {"winner": winner}
            assert fighter.stream.over


async def test_a_match_of_quoridor_that_goes_on_and_on_is_drawn(autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighters = await here.pair("quoridor")
        for ply in range(200):
            position = (("d1", "e1"), ("d9", "e9"))[ply % 2][ply // 2 % 2]
            assert (await fighters[ply % 2].command(action="move", position=position))[0] == 200
        for fighter in fighters:
            assert (await fighter.told())[-1] == {"winner": "draw"}
            assert fighter.stream.over


@pytest.mark.parametrize("fault", [{"action": "putSymbol", "position": "XX"}, {"action": FLIP}])
async def test_after_a_fault_the_other_may_flip_the_table(
    fault: dict[str, str], autojump_clock: MockClock
) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        await ann.command(**fault)
        await hears([ann, bob], {"player": "O", **fault})
        assert await concluded(here) == [(1, Ending.ILLEGAL)], "it has lost at that instant"
        await trio.sleep(9.9)
        assert await ann.flip() == (423, "Battle already ended")
        assert await bob.put("C") == (423, "Battle already ended")
        assert await bob.flip() == (200, 18000)
        await hears([ann, bob], flipped("X"), over=True)
        for fighter in (ann, bob):
            assert await fighter.flip() == (423, "Battle already ended")
        assert await concluded(here) == [(1, Ending.ILLEGAL)]


@pytest.mark.parametrize("position", ["", "C"])
async def test_a_flip_for_no_reason_is_told_as_any_other_flip(
    position: str, autojump_clock: MockClock
) -> None:
    """Some clients send a position with everything, and others know a move by it."""
    async with lists() as here:
        fighters = await here.pair()
        assert (await fighters[0].command(action=FLIP, position=position))[0] == 200
        await hears(fighters, flipped("O"))


@pytest.mark.parametrize("flips", [0, 1])
async def test_a_flip_although_nothing_was_wrong_has_lost_in_turn_or_out_of_it(
    flips: int, autojump_clock: MockClock
) -> None:
    async with lists(CUP) as here:
        fighters = await here.pair()
        wrong, wronged = fighters[flips], fighters[1 - flips]
        assert (await wrong.flip())[0] == 200
        await hears(fighters, flipped("OX"[flips]))
        assert await wrong.flip() == (423, "Battle already ended")
        assert (await wronged.flip())[0] == 200
        await hears(fighters, flipped("OX"[1 - flips]), over=True)
        (match,) = here.host.tournaments["cup"].record.matches.values()
        assert (match.winner, match.ending) == (1 - flips, Ending.ILLEGAL)
        assert match.why.endswith(": flipped the table although nothing was wrong")
        assert verify(text(exported(here.host.store.kept()))).findings == []


@pytest.mark.parametrize(("settings", "grace"), [(CUP, 10.0), (QUICK, 4.0)])
async def test_a_table_that_is_not_flipped_falls_by_itself(
    settings: dict[str, str], grace: float, autojump_clock: MockClock
) -> None:
    """After 10 seconds, and never later than the clock of whoever might have flipped it."""
    async with lists(settings) as here:
        ann, bob = await here.pair()
        await ann.put("XX")
        await hears([ann, bob], put("O", "XX"))
        await trio.sleep(grace - 0.1)
        await hears([ann, bob])
        await trio.sleep(0.2)
        await hears([ann, bob], over=True)
        assert await bob.flip() == (423, "Battle already ended")


async def test_whoever_may_flip_the_table_may_come_for_it_late(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = [await answered(client) for client in [await here.join("ann"), await here.join("bob")]]
        cheat, late = Fighter(here, ann), Fighter(here, bob)
        await cheat.start()
        await cheat.put("XX")
        assert await late.flip() == (409, "battle not started")
        assert await late.start() == [put("O", "XX")]
        assert (await late.flip())[0] == 200
        await hears([late], flipped("X"), over=True)


async def test_a_match_that_counts_for_nothing_ends_without_a_word(autojump_clock: MockClock) -> None:
    async with lists(CUP) as here:
        ann, bob = await here.pair()
        (match,) = here.host.tournaments["cup"].matches.values()
        match.void("the organiser wants it so", trio.current_time())
        await hears([ann, bob], over=True)


# Connections


async def test_a_stream_that_is_lost_can_be_opened_again_for_a_while(autojump_clock: MockClock) -> None:
    async with lists({**CUP, "bank": "100"}) as here:
        ann, bob = await here.pair()
        ann.stream.client.end.close()
        await trio.sleep(29.0)
        assert await ann.start() == []
        await trio.sleep(29.0)
        assert (await ann.put("C"))[0] == 200
        assert (await bob.put("N"))[0] == 200
        ann.stream.client.end.close()
        await trio.sleep(29.0)
        await hears([bob], put("O", "C"), put("X", "N"))
        await trio.sleep(1.1)
        await hears([bob], {"winner": "X"}, over=True)
        assert await concluded(here, "cup") == [(1, Ending.LEFT)]


async def test_a_lost_stream_that_was_replaced_is_no_loss(autojump_clock: MockClock) -> None:
    """A half-open connection that goes at last, after its bot has come back, takes nothing with it."""
    async with lists({**CUP, "bank": "100"}) as here:
        ann, _ = await here.pair()
        before = ann.stream
        await ann.start()
        before.client.end.reset()
        await trio.sleep(60.0)
        assert (await ann.put("C"))[0] == 200


async def test_a_stream_that_is_not_the_battles_any_more_takes_nothing_with_it(
    autojump_clock: MockClock,
) -> None:
    """Whatever order the end of one connection and the beginning of the next are heard in."""
    wires = Exchanges()
    async with trio.open_nursery() as nursery:
        match = Match(TIC_TAC_TOE, ("ann", "bob"), trio.current_time())
        battle = Battle(Seat(match, 0, Timekeeper()), {}, Guard(nursery), Limits(), lambda battle: None)
        first, second = wires.exchange(), wires.exchange()
        battle.start(first)
        battle.start(second)
        for callback in first.callbacks:
            callback()
        assert match.deadline == 18.0, "nobody is away"
        battle.play(wires.exchange(trio.current_time()), lambda: Command("putSymbol", "N"))
        assert [sent for sent in wires.sent if sent != "closed"][-2] == put("O", "N")


async def test_whoever_does_not_read_its_stream_keeps_nobody_waiting(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = [await answered(client) for client in [await here.join("ann"), await here.join("bob")]]
        fighters = [Fighter(here, ann), Fighter(here, bob)]
        deaf = here.send(f"/tic-tac-toe/start/{bob}", weather=Weather(window=300))
        await fighters[0].start()
        for turn, field in enumerate(("NW", "C", "N", "E", "NE")):
            assert (await fighters[turn % 2].put(field))[0] == 200
        assert (await fighters[0].told())[-1] == {"winner": "O"}
        stream = Stream(deaf)
        while not stream.over:
            told = await stream.wait()
        assert told[-1] == {"winner": "O"}


async def test_what_only_a_bot_knows_is_in_no_log(autojump_clock: MockClock) -> None:
    with capture_logs() as logs:
        async with lists() as here:
            ann, bob = await here.pair()
            await ann.put("XX")
            await bob.put("C")
            await bob.flip()
            ann.stream.client.end.reset()
    assert ann.battle not in str(logs)
    assert bob.battle not in str(logs)
