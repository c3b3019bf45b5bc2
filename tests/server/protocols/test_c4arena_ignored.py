"""Connect-4 as the c4-arena speaks it: what is ignored, how that is said, and how often."""

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from server.host.host import Host
from server.net.limits import Limits, Rate
from server.protocols.c4arena.messages import INVALID, NOT_YOUR_TURN, ONLY_START, UNKNOWN, WAITING
from tests.effort import tries
from tests.server.protocols.fours import DRAWN, END, WON, Bot, ignored, pair, place, play, state

DELAYS = [0.0, 0.0, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0, 1.0, 1.0]  # of the answers to what is ignored in a row

SITUATIONS = ["idle", "waiting", "to move", "not to move"]
OUT_OF_STEP = [
    ("idle", b'{"type":"state_request"}', ONLY_START),
    ("idle", b'{"type":"move","move":3}', ONLY_START),
    ("waiting", b'{"type":"state_request"}', WAITING),
    ("waiting", b'{"type":"move","move":3}', WAITING),
    ("not to move", b'{"type":"move","move":3}', NOT_YOUR_TURN),
]
TOO_LONG = "A message may have 4096 bytes"
ASKED, PLAYED = b'{"type":"state_request"}', b'{"type":"move","move":3}'
REASONS = [  # the seed's own words, which clients may look at
    ("idle", {"type": "move", "move": 3}, "Only start messages allowed in current state"),
    ("idle", {"type": "state_request"}, "Only start messages allowed in current state"),
    ("idle", {"type": "hello"}, "Only start messages allowed in current state"),
    ("idle", {}, "Only start messages allowed in current state"),
    ("idle", [1, 2], "Only start messages allowed in current state"),
    ("idle", None, "Only start messages allowed in current state"),
    ("idle", {"type": "start"}, "You need to include an id"),
    ("idle", {"type": "start", "id": None}, "You need to include an id"),
    ("idle", {"type": "start", "id": "  "}, "You need to include an id"),
    ("idle", {"type": "start", "id": 7}, "You need to include an id"),
    ("idle", {"type": "start", "id": "random"}, '"random" is a reserved id used for a reference player'),
    ("idle", {"type": "start", "id": "aima"}, '"aima" is a reserved id used for a reference player'),
    ("waiting", {"type": "start", "id": "Ann"}, "Waiting for match"),
    ("waiting", {"type": "state_request"}, "Waiting for match"),
    ("waiting", {"type": "move", "move": 3}, "Waiting for match"),
    ("to move", {"type": "start", "id": "Ann"}, "Unknown message type"),
    ("to move", {"type": "hello"}, "Unknown message type"),
    ("to move", {"type": 5}, "Unknown message type"),
    ("to move", "move", "Unknown message type"),
    ("to move", {"type": "move"}, "Invalid move"),
    ("to move", {"type": "move", "move": 7}, "Invalid move"),
    ("to move", {"type": "move", "move": -1}, "Invalid move"),
    ("to move", {"type": "move", "move": "3"}, "Invalid move"),
    ("to move", {"type": "move", "move": 3.0}, "Invalid move"),
    ("to move", {"type": "move", "move": True}, "Invalid move"),
    ("to move", {"type": "move", "move": 10**100}, "Invalid move"),
    ("to move", {"type": "move", "move": [3]}, "Invalid move"),
    ("not to move", {"type": "move", "move": 3}, "Not your turn"),
    ("not to move", {"type": "move", "move": 9}, "Not your turn"),
    ("not to move", {"type": "start", "id": "Ann"}, "Unknown message type"),
    # And ours, where the seed has none.
    ("idle", {"type": "start", "id": "Ann", "against": 7}, '"against" is the id of an opponent, or null'),
    ("idle", {"type": "start", "id": "draw"}, "draw is a reserved word"),
    (
        "idle",
        {"type": "hello", "name": "ann", "game": "connect-4"},
        "The house protocol, which begins with a hello, is spoken at the path /play",
    ),
    ("idle", {"type": "start", "id": "a" * 33}, "a name has at most 32 characters, and this one has 33"),
]


async def bot_that_is(situation: str, host: Host) -> Bot:
    if situation in ("idle", "waiting"):
        bot = Bot(host)
        if situation == "waiting":
            await bot.start("Zoe", against="nobody who comes")
        return bot
    bots = await pair(host)
    for bot in bots:
        bot.heard()
    return bots[situation == "not to move"]


@pytest.mark.parametrize(("situation", "message", "reason"), REASONS, ids=lambda value: str(value)[:40])
async def test_what_cannot_be_done_is_repeated_with_the_reason(
    situation: str, message: object, reason: str, autojump_clock: MockClock
) -> None:
    async with place() as host:
        bot = await bot_that_is(situation, host)
        await bot.send(msgspec.json.encode(message))
        assert bot.heard() == [ignored(message, reason)]


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize(
    ("sent", "repeated"),
    [
        (b"start", "start"),
        (b"", ""),
        (b'{"type":"start"', '{"type":"start"'),
        (b'{"type":"move","move":NaN}', '{"type":"move","move":NaN}'),
        (b'{"type":"move","move":1e999}', '{"type":"move","move":1e999}'),
        (b'{"type":"move","move":Infinity}', '{"type":"move","move":Infinity}'),
        (b'\xef\xbb\xbf{"type":"state_request"}', '\ufeff{"type":"state_request"}'),
        (
            '{"type":"state_request"}'.encode("utf-16-le"),
            "".join(f"{c}\0" for c in '{"type":"state_request"}'),
        ),
        (b'{"type":"\\ud800"}', '{"type":"\\ud800"}'),
        (b"[" * 5000, "[" * 256),
        ("é".encode() * 200, "é" * 128),
        (b"x" + "é".encode() * 200, "x" + "é" * 127),
        (b"a\xffb", "ab"),
        (b"[[", "[["),
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_the_first_256_bytes_of_what_cannot_be_read_are_repeated_as_text(
    situation: str, sent: bytes, repeated: str, autojump_clock: MockClock
) -> None:
    async with place() as host:
        bot = await bot_that_is(situation, host)
        await bot.send(sent)
        (told,) = bot.heard()
        assert told == ignored(repeated, "Not a JSON message" if len(sent) <= 4096 else TOO_LONG)


async def test_what_is_repeated_is_written_anew(autojump_clock: MockClock) -> None:
    """Spaces, escapes and keys that are there twice are not given back."""
    async with place() as host:
        bot = Bot(host)
        await bot.send(b'{ "type" :"\\u0068i",\n"a":1, "a":2 }')
        ((_, answer),) = bot.told
        assert answer == b'{"type":"ignored","msg":{"type":"hi","a":2},"reason":"%b"}' % ONLY_START.encode()


async def test_the_last_of_a_key_that_is_there_twice_counts(autojump_clock: MockClock) -> None:
    async with place() as host:
        ann, _ = await pair(host)
        await ann.send(b'{"type":"state_request","type":"move","move":9,"move":3}')
        assert ann.heard() == [state(2, 1, [3], **{"last-move": 3})]


async def test_the_beginning_of_a_message_of_more_than_256_bytes_is_repeated(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        bot = Bot(host)
        fits = {"type": "hi", "more": "x" * (256 - len('{"type":"hi","more":""}'))}
        assert await bot.say(**fits) == [ignored(fits, ONLY_START)]
        (told,) = await bot.say("hi", more="x" * 4000)
        assert told["msg"] == ('{"type":"hi","more":"' + "x" * 4000)[:256]


@pytest.mark.parametrize(
    "message",
    [
        *(b"{" + character.encode() * 400 for character in ("\0", "\x1f", '"', "\\", "x", "é", "\U0001f600")),
        b"\0" * 256,
        b"\x01" * 5000,
        b"[" + b"1e15," * 50 + b"0]",
    ],
    ids=lambda message: repr(message[:8]),
)
async def test_no_more_than_twice_as_much_comes_back(message: bytes, autojump_clock: MockClock) -> None:
    """Written anew, a control character takes six times as many bytes, and some numbers four times."""
    async with place() as host:
        bot = Bot(host)
        await bot.send(message)
        ((_, answer),) = bot.told
        assert len(answer) <= 2 * len(message[:256])
        assert message.decode().startswith(msgspec.json.decode(answer)["msg"])


async def test_a_message_of_more_than_4_kib_is_not_even_read(autojump_clock: MockClock) -> None:
    async with place() as host:
        bot = Bot(host)
        message = b'{"type":"start","id":"Ann"' + b" " * 4096 + b"}"
        await bot.send(message)
        assert bot.heard() == [ignored(message[:256].decode(), TOO_LONG)]


@given(st.sampled_from(SITUATIONS), st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
async def test_whatever_comes_is_answered_and_nothing_fails(situation: str, message: bytes) -> None:
    async with place() as host:
        bot = await bot_that_is(situation, host)
        await bot.send(message)
        (told,) = bot.heard()
        assert told["type"] == "ignored"
        assert told["reason"] in (ONLY_START, WAITING, UNKNOWN, "Not a JSON message")


async def test_a_move_that_was_said_before_its_state_was_told_is_out_of_turn(
    autojump_clock: MockClock,
) -> None:
    """Catches a move that is played because the opponent has answered within the same call."""
    async with place() as host:
        ann = Bot(host)
        await ann.tell("start", id="Ann", against="random")
        before = len((await ann.say("state_request"))[-1]["moves"])
        await ann.send(*(b'{"type":"move","move":%d}' % column for column in (3, 2)))
        *states, last = ann.heard()
        assert last == ignored({"type": "move", "move": 2}, NOT_YOUR_TURN)
        assert [len(each["moves"]) for each in states] == [before + 1, before + 2]


# The answers come slower and slower


async def gaps(bot: Bot, message: bytes, count: int) -> list[float]:
    """How long each answer takes somebody who says the same as soon as it is answered."""
    waited = list[float]()
    for _ in range(count):
        said = trio.current_time()
        bot.talk.hear(message, said)
        assert (await bot.next())["type"] == "ignored"
        waited.append(trio.current_time() - said)
    return waited


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_from_the_third_in_a_row_each_is_answered_later(
    situation: str, autojump_clock: MockClock
) -> None:
    async with place() as host:
        bot = await bot_that_is(situation, host)
        assert await gaps(bot, b"?", len(DELAYS)) == pytest.approx(DELAYS)


async def test_a_move_that_is_played_makes_the_next_quick_again_and_asking_for_the_state_does_not(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        first, _ = await pair(host)
        first.heard()
        assert await gaps(first, b"?", 4) == pytest.approx(DELAYS[:4])
        assert await first.say("state_request") == [state(1, 1, [])]
        assert await gaps(first, b"?", 2) == pytest.approx(DELAYS[4:6])
        await first.move(3)
        first.heard()
        assert await gaps(first, b"?", 4) == pytest.approx(DELAYS[:4])


async def test_starting_makes_the_next_quick_again_and_being_refused_does_not(
    autojump_clock: MockClock,
) -> None:
    async with place() as host:
        bot = Bot(host)
        assert await gaps(bot, b'{"type":"start","id":"draw"}', 4) == pytest.approx(DELAYS[:4])
        await bot.start("Ann")
        assert await gaps(bot, b"?", 4) == pytest.approx(DELAYS[:4])


async def test_starting_does_so_at_once_while_the_host_still_decides(autojump_clock: MockClock) -> None:
    """What comes right after a start comes before the bot has been admitted, and is answered all the same."""
    async with place() as host:
        for name, delays in (("Ann", DELAYS[:1]), ("draw", DELAYS[5:6])):
            bot = Bot(host)
            assert await gaps(bot, b"?", 4) == pytest.approx(DELAYS[:4])
            said = trio.current_time()
            bot.talk.hear(msgspec.json.encode({"type": "start", "id": name}), said)
            if name == "draw":
                await bot.next()  # the start was refused, and is one more of the row
            assert await gaps(bot, b"?", 1) == pytest.approx(delays)


async def test_whoever_is_answered_late_is_answered_in_order(autojump_clock: MockClock) -> None:
    """What all can be told at once waits for nothing, but comes after what was due before it."""
    async with place() as host:
        first, second = await pair(host)
        first.heard()
        await second.send(*(b"%d" % number for number in range(6)))
        assert [each["msg"] for each in second.heard()] == [0, 1]
        await first.move(3)
        *late, told = second.heard()
        assert [each["msg"] for each in late] == [2, 3, 4, 5]
        assert told == state(2, 2, [3], **{"last-move": 3})
        await trio.sleep(10.0)
        assert second.heard() == [], "nothing is said twice"


async def test_whoever_pours_out_messages_is_answered_at_the_same_pace(autojump_clock: MockClock) -> None:
    async with place() as host:
        bot = Bot(host)
        await bot.send(*[b"?"] * len(DELAYS))
        await trio.sleep(20.0)
        expected = [sum(DELAYS[: count + 1]) for count in range(len(DELAYS))]
        assert [at for at, _ in bot.told] == pytest.approx(expected)


async def test_so_is_whoever_has_started_meanwhile(autojump_clock: MockClock) -> None:
    async with place() as host:
        bot = Bot(host)
        await bot.send(*(b"%d" % number for number in range(5)))
        await bot.tell("start", id="Ann")
        await bot.send(b"5")
        await trio.sleep(10.0)
        assert [each["msg"] for each in bot.heard()] == [0, 1, 2, 3, 4, 5]


async def test_what_was_said_early_leaves_no_gap_for_what_is_ignored_next(autojump_clock: MockClock) -> None:
    """Catches an answer that comes when another would have been due."""
    async with place() as host:
        first, _ = await pair(host)
        await first.send(*[b"?"] * 6)
        await trio.sleep(0.75)
        assert len(await first.move(3)) == 7
        await first.send(*[b"?"] * 4)
        await trio.sleep(5.0)
        assert [at for at, _ in first.told] == pytest.approx([0.75, 0.75, 0.85, 1.05])


async def test_however_much_was_said_early_one_task_sees_to_what_waits(autojump_clock: MockClock) -> None:
    """Catches tasks that sleep on for what has been said: two who play each other fast could pile them up."""
    async with place() as host:
        bots = await pair(host)
        before = trio.lowlevel.current_statistics().tasks_living
        for ply, column in enumerate(DRAWN[:-1]):
            await bots[1 - ply % 2].send(*[PLAYED] * 10)
            await bots[ply % 2].move(column)
        assert trio.lowlevel.current_statistics().tasks_living <= before + 2


async def test_a_move_is_played_at_once_however_much_was_ignored_before(autojump_clock: MockClock) -> None:
    """Catches a flag that falls while a move waits behind what is answered late."""
    async with place() as host:
        first, second = await pair(host)
        await trio.sleep(59.9)
        await first.send(*[b"?"] * 9)
        await first.tell("move", move=3)
        assert second.heard()[-1]["moves"] == [3]


async def test_nothing_is_said_to_somebody_who_has_gone(autojump_clock: MockClock) -> None:
    async with place() as host:
        bot = Bot(host)
        await bot.send(*[b"?"] * 6)
        bot.heard()
        await bot.gone()
        await bot.send(b"?")
        await trio.sleep(10.0)
        assert bot.told == []


# Clients in use, and those who flood


async def test_a_client_that_answers_each_ignored_with_a_message_that_is_ignored_may_wait(
    autojump_clock: MockClock,
) -> None:
    """A client in use does that for as long as it waits. It must neither spin nor be cut off."""
    async with place() as host:
        ann, answered = Bot(host), 0
        await ann.start("Ann")
        ann.talk.hear(b'{"type":"state_request"}', trio.current_time())
        with trio.move_on_after(300.0):
            while (await ann.next())["type"] == "ignored":
                answered += 1
                ann.talk.hear(b'{"type":"state_request"}', trio.current_time())
        assert 300 < answered < 310
        assert ann.cut is None
        bob = Bot(host)
        assert len(await bob.start("Bob")) == 1


async def test_a_client_that_tries_columns_until_one_is_free_is_not_cut_off(
    autojump_clock: MockClock,
) -> None:
    """Another does that, as fast as it can: an `ignored` costs it a `state_request` and another try."""
    async with place() as host:
        bots = await pair(host)
        for _ in range(30):
            for ply, column in enumerate(WON):
                mover = bots[ply % 2]
                for _ in range(2 if column == 3 else 1):
                    await mover.move(9)
                    await mover.say("state_request")
                await mover.tell("move", move=column)
            assert bots[0].heard()[-1] == bots[1].heard()[-1] == END
            await bots[0].tell("start", id="Ann")
            await bots[1].tell("start", id="Bob")
            bots = (bots[0], bots[1]) if bots[0].seat() == 1 else (bots[1], bots[0])
            for bot in bots:
                bot.heard()
        assert bots[0].cut is bots[1].cut is None


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_whoever_floods_is_cut_off(situation: str, autojump_clock: MockClock) -> None:
    async with place(limits=Limits(junk=Rate(20, 10.0))) as host:
        bot = await bot_that_is(situation, host)
        await bot.send(*[b"?"] * 20)
        assert bot.cut is None
        await bot.send(b"?")
        assert bot.cut == "too many messages"


async def test_whoever_is_always_a_little_too_fast_is_cut_off_before_much_has_gathered(
    autojump_clock: MockClock,
) -> None:
    """The rate alone lets two a second come, and one a second is answered: what waits would grow for ever."""
    async with place(limits=Limits(junk=Rate(20, 10.0))) as host:
        bot, said = Bot(host), 0
        while bot.cut is None:
            bot.talk.hear(b"?", trio.current_time())
            said += 1
            await trio.sleep(0.6)
            assert said < 100
        assert said - len(bot.told) <= 22


@pytest.mark.parametrize(("situation", "message", "reason"), OUT_OF_STEP)
async def test_eight_answers_wait_for_whoever_is_out_of_step_and_the_rest_is_dropped(
    situation: str, message: bytes, reason: str, autojump_clock: MockClock
) -> None:
    """And nobody is cut for it: a client in use is out of step for a while when its opponent has hung up."""
    async with place() as host:
        bot = await bot_that_is(situation, host)
        await bot.send(*[message] * 1000)
        await trio.sleep(20.0)
        expected = [sum(DELAYS[: count + 1]) for count in range(len(DELAYS))]
        assert [at for at, _ in bot.told] == pytest.approx(expected)
        assert bot.heard() == [ignored(msgspec.json.decode(message), reason)] * len(DELAYS)
        assert bot.talk.attendance.unheard == 1000 - len(DELAYS)
        assert bot.cut is None


@pytest.mark.slow
async def test_long_out_of_step_at_any_pace_is_an_answer_a_second(autojump_clock: MockClock) -> None:
    async with place() as host:
        bot = await bot_that_is("waiting", host)
        seconds = tries(600, 3_600)
        for _ in range(10 * seconds):
            bot.talk.hear(ASKED, trio.current_time())
            await trio.sleep(0.1)
        assert seconds - 10 < len(bot.told) < seconds + 10
        assert bot.cut is None


async def test_whoever_floods_out_of_step_may_come_back_into_it(autojump_clock: MockClock) -> None:
    async with place() as host:
        first, second = await pair(host)
        await second.send(*[PLAYED] * 1000)
        await first.move(3)
        second.heard()
        assert await second.move(2) == [state(1, 2, [3, 2], **{"last-move": 2})]


@pytest.mark.parametrize("message", [b"?", b"{}", b'{"type":"start","id":"Bob"}'])
async def test_whoever_is_out_of_step_is_still_cut_for_junk(
    message: bytes, autojump_clock: MockClock
) -> None:
    async with place(limits=Limits(junk=Rate(20, 10.0))) as host:
        bot = await bot_that_is("not to move", host)
        await bot.send(*[PLAYED] * 1000)
        assert bot.cut is None
        await bot.send(*[message] * 21)
        assert bot.cut == "too many messages"


# Asking for the state


async def test_what_is_asked_for_comes_after_what_was_said_before_and_hurries_nothing(
    autojump_clock: MockClock,
) -> None:
    """Asked for again before it has been told, it is told once."""
    async with place() as host:
        first, second = await pair(host)
        await play((first, second), [3])
        moves = [{"type": "move", "move": column} for column in range(5)]
        told = [ignored(move, NOT_YOUR_TURN) for move in moves]
        now = state(2, 1, [3])
        one, two, three, four, five = (msgspec.json.encode(move) for move in moves)
        await first.send(one, two, ASKED, three, ASKED, four, ASKED, ASKED, ASKED, five)
        assert [msgspec.json.decode(message) for _, message in first.told] == [told[0], told[1], now]
        await trio.sleep(10.0)
        assert [at for at, _ in first.told] == pytest.approx([0.0, 0.0, 0.0, 0.1, 0.1, 0.3, 0.3, 0.7])
        assert first.heard() == [told[0], told[1], now, told[2], now, told[3], now, told[4]]


async def test_a_state_that_waits_is_not_told_after_it_has_changed(autojump_clock: MockClock) -> None:
    """Catches a position that is shown as if it had been reached before, or one that is past."""
    async with place() as host:
        first, second = await pair(host)
        await second.send(*[PLAYED, PLAYED, PLAYED, ASKED])
        second.heard()
        await first.move(3)
        assert second.heard() == [
            ignored({"type": "move", "move": 3}, NOT_YOUR_TURN),
            state(2, 2, [3], **{"last-move": 3}),
        ]
        await trio.sleep(10.0)
        assert second.heard() == []


async def test_whoever_asks_for_the_state_all_the_time_is_told_it_once_a_second(
    autojump_clock: MockClock,
) -> None:
    async with place(limits=Limits(messages=Rate(100, 1e9))) as host:
        first, _ = await pair(host)
        first.heard()
        for _ in range(1000):
            first.talk.hear(ASKED, trio.current_time())
        assert first.heard() == [state(1, 1, [])] * 100
        for _ in range(300):
            await trio.sleep(0.1)
            first.talk.hear(ASKED, trio.current_time())
        assert 27 <= len(first.heard()) <= 30
        assert first.cut is None
        assert first.talk.attendance.unheard > 1000


async def test_whoever_asks_because_it_was_ignored_is_told_at_once_however_often_it_has_asked(
    autojump_clock: MockClock,
) -> None:
    """A client in use knows by that alone that it is to try another column."""
    async with place(limits=Limits(messages=Rate(5, 1e9))) as host:
        first, _ = await pair(host)
        await first.send(*[ASKED] * 6)
        await trio.sleep(2.0)
        first.heard()
        assert await first.move(9) == [ignored({"type": "move", "move": 9}, INVALID)]
        assert await first.say("state_request") == [state(1, 1, [])]
        assert await first.say("state_request") == [], "one for each time that it was ignored"


async def test_moves_are_not_counted_however_fast_they_come(autojump_clock: MockClock) -> None:
    async with place(limits=Limits(messages=Rate(2, 1000.0))) as host:
        bots = await pair(host)
        await play(bots, WON)
        assert bots[0].cut is bots[1].cut is None
