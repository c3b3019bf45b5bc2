"""The TCP door: Santorini as the memo has it, and everything else that a stranger may send there."""

import gc
from codecs import BOM_UTF8
from math import inf, nextafter

import msgspec
import pytest
import structlog
import structlog.testing
import trio
import trio.testing
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs
from trio.testing import MockClock

from games.santorini import GAME, start
from server.host.host import Host
from server.host.names import key
from server.net.limits import Limits, Rate
from server.net.still_there import LONGEST
from server.protocols import catalogue
from server.protocols.catalogue import dialects, lines
from server.protocols.dialect import Channel
from server.protocols.house.talk import HouseTalk
from server.protocols.santorini_memo import HANGING_UP, Memo
from server.protocols.tcp import Connection, attend
from tests.hang import HANG, SLOWLY
from tests.server.cutting import cut, places
from tests.server.ends import Connect, End, in_memory, over_sockets
from tests.server.protocols.room import FLAT, Guest, Room, SlowToEnter, room
from tests.server.transcripts import hosting
from tests.server.windowed import Weather
from tournament.desk import Desk
from tournament.facts import State
from tournament.match import Match

EMPTY = ["placeWorker", "Ann", FLAT, ["Ann", []], ["Bob", []]]
ONE_PLACED = ["placeWorker", "Bob", FLAT, ["Ann", [0, 0]], ["Bob", []]]
SWAPPED = ["placeWorker", "Bob", FLAT, ["Bob", []], ["Ann", []]]
CUP = {"tournament": "cup", "game": "santorini", "format": "round-robin"}
NO_LINE_END = "a line ends with \\n, and the end of the first one did not come in time"
HELLOS = ("Ann", '{"type":"hello","name":"Ann","game":"santorini"}')
LOST = (GAME.pace.turn or 0.0) + 0.5  # seconds after which whoever says nothing has lost for certain
PLACING = ("0 0", "5 5", "2 3", "4 1")


async def pair(hall: Room) -> tuple[Guest, Guest]:
    """Ann and Bob, who have both been asked for Ann's first worker."""
    ann, bob = await hall.come("Ann"), await hall.come("Bob")
    assert await ann.states() == await bob.states() == [EMPTY]
    return ann, bob


# Names


@pytest.mark.parametrize(
    "line",
    [b"Ann", b'"Ann"', b"Ann\r", b"  Ann\t ", b' "Ann" ', b'"\\u0041nn"', BOM_UTF8 + b"Ann"],
    ids=repr,
)
async def test_a_name_is_a_bare_line_or_a_json_string(line: bytes, autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come()
        await ann.send(line + b"\n")
        await hall.come("Bob")
        assert await ann.states() == [EMPTY]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "at least one character"),
        (b"  \t ", "at least one character"),
        (b'""', "at least one character"),
        (b"a" * 33, "at most 32 characters"),
        (b"Draw", "reserved"),
        (b" dRAW ", "reserved"),
        (b"An\x1b[2Jn", "control"),
        ("An\u202en".encode(), "bidirectional"),
        (BOM_UTF8 + BOM_UTF8 + b"Ann", "invisible"),
        ("A\ufeffnn".encode(), "invisible"),
        (b"An\x85n", "UTF-8"),
        ("Ann".encode("utf-16"), "UTF-8"),
        (b'"\\ud800"', "JSON string"),
        (b'"Ann', "JSON string"),
        (b"A" * 513, "a line of 513 bytes is too long"),
        (b"A" * 5000, "4096 bytes"),
        (b"GET / HTTP/1.1", "no web server"),
        (b"PRI * HTTP/2.0", "no web server"),
        (b"SSH-2.0-OpenSSH_9.2", "no web server"),
        (b"\x16\x03\x01\x02\x00\x01", "UTF-8|control"),
    ],
    ids=lambda given: repr(given)[:40],
)
async def test_a_name_that_nobody_may_have_is_refused_in_a_plain_line_and_a_close(
    line: bytes, reason: str, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        stranger = await hall.come()
        await stranger.send(line + b"\n")
        told, closed = await stranger.lines()
        assert told[:1] not in "[{", "this is no state"
        assert any(part in told for part in reason.split("|")), told
        assert closed == "[closed]"
        await hall.come("Bob")
        assert not list(hall.host.tournaments["open-santorini"].matches)


async def test_a_byte_order_mark_before_a_hello_is_left_out_and_only_there(
    autojump_clock: MockClock,
) -> None:
    """As C# writes it by itself, in whichever pieces it comes."""
    hello = BOM_UTF8 + b'{"type":"hello","name":"Ann","game":"santorini"}\n'
    async with room() as hall:
        ann = await hall.come()
        for byte in hello:
            await ann.send(bytes([byte]))
        assert [each["type"] for each in await ann.messages()] == ["welcome"]
        await ann.send(BOM_UTF8 + b'{"type":"bye"}\n')
        (told,) = await ann.messages()
        assert told == {"type": "refused", "reason": "this is not JSON: a byte order mark is before it"}


async def test_a_name_is_had_by_one_at_a_time_whatever_its_spelling(autojump_clock: MockClock) -> None:
    async with room() as hall:
        await hall.come("Ann")
        alike = "one that looks like it"
        for same, one in (("Ann", "it"), ("ANN", alike), ("Ａnn", alike)):
            other = await hall.come(same)
            taken = f"the name {same} is taken: somebody is here under {one}"
            assert await other.lines() == [taken, "[closed]"]


async def test_a_name_is_free_again_when_its_bot_has_gone(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.close()
        again = await hall.come("Ann")
        assert (await bob.states())[0] == ["gameOver", "Bob", *EMPTY[2:]]
        assert await again.states() == [SWAPPED]


async def test_a_bot_that_hangs_up_after_each_match_is_dealt_the_next_when_it_has_come_again(
    autojump_clock: MockClock,
) -> None:
    """As a program that plays a single game does. Catches that it loses matches that it never saw."""
    async with room() as hall:
        ann, bob = await pair(hall)
        await trio.sleep(LOST)
        assert [state[0] for state in await ann.states()] == ["gameOver", "placeWorker"]
        await ann.close()  # as late as it could be: the host has yet to learn this
        for _ in range(3):
            ann = await hall.come("Ann")
            await bob.lines()
            await trio.sleep(LOST)
            assert [state[0] for state in await ann.states()] == ["placeWorker", "gameOver"]
            assert [state[0] for state in await bob.states()] == ["gameOver"]
            await ann.close()


async def test_it_has_as_long_to_hang_up_where_the_host_stands_still(autojump_clock: MockClock) -> None:
    """Catches a match that it never saw, and that is void although it has hung up in time."""
    async with room() as hall:
        ann, _ = await pair(hall)
        await trio.sleep(LOST)
        await ann.close()
        ann = await hall.come("Ann")
        await trio.sleep(LOST)
        autojump_clock.jump(HANGING_UP)
        await trio.testing.wait_all_tasks_blocked()
        assert [state[0] for state in await ann.states()] == ["placeWorker", "gameOver"]
        await ann.close()
        ann = await hall.come("Ann")
        await trio.sleep(LOST)
        assert [state[0] for state in await ann.states()] == ["placeWorker", "gameOver"]


async def test_a_bot_that_stays_after_a_match_is_not_waited_for_again(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, _ = await pair(hall)
        await trio.sleep(LOST)
        await ann.close()
        ann = await hall.come("Ann")
        await trio.sleep(LOST + HANGING_UP)
        assert [state[0] for state in await ann.states()] == ["placeWorker", "gameOver", "placeWorker"]
        await trio.sleep(LOST)
        assert [state[0] for state in await ann.states()] == ["gameOver", "placeWorker"]


@pytest.mark.parametrize("first", HELLOS, ids=["memo", "house"])
async def test_it_is_noted_of_bots_of_the_memo_alone_that_they_hang_up_after_a_match(
    first: str, autojump_clock: MockClock
) -> None:
    """Catches bots of other wires, all of which hang up some day, in whose favour those are forgotten."""
    async with room() as hall:
        ann = await hall.come(first)
        await hall.come("Bob")
        await trio.sleep(LOST)
        await ann.close()
        await trio.sleep(0.1)
        assert hall.host.one_match_each.is_known(("santorini", key("Ann"))) == (first == "Ann")


@pytest.mark.parametrize(
    "first", [b"Ann", b'{"type":"hello","name":"Ann","game":"santorini"}'], ids=["memo", "house"]
)
@pytest.mark.parametrize("rounds", range(4))
async def test_whoever_hung_up_and_comes_at_once_is_let_in(
    rounds: int, first: bytes, autojump_clock: MockClock
) -> None:
    """Even if the event loop goes a few rounds before it reads the hang-up, and has the name by then."""
    async with room() as hall:
        gone, back = await hall.come(first.decode()), await hall.come()
        await back.wire.send_all(first + b"\n")
        for _ in range(rounds):
            await trio.lowlevel.checkpoint()
        await gone.close()
        await hall.come("Bob")
        assert not [line for line in await back.lines() if "taken" in line or line == "[closed]"]


async def test_whoever_comes_just_as_the_host_stops_is_hung_up_on_without_a_word(
    autojump_clock: MockClock,
) -> None:
    """Its name is all right, and it may parse every line as a state."""
    async with room() as hall:
        hall.host.draining = True
        ann = await hall.come("Ann")
        assert await ann.lines() == ["[closed]"]


async def test_whoever_says_no_name_in_time_is_shown_out(autojump_clock: MockClock) -> None:
    async with room() as hall:
        silent, halfway = await hall.come(), await hall.come()
        await halfway.send(b"An")
        await trio.sleep(4.9)
        assert await silent.lines() == await halfway.lines() == []
        await trio.sleep(0.1)
        assert await silent.lines() == ["[closed]"]
        assert await halfway.lines() == [NO_LINE_END, "[closed]"]


@pytest.mark.parametrize(
    "sent", [b"Ann", b"Ann\r", b"Ann\0", b'{"type":"hello","name":"ann","game":"santorini"}']
)
async def test_whoever_forgets_the_end_of_the_first_line_is_told(
    sent: bytes, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann = await hall.come()
        await ann.send(sent)
        await trio.sleep(5.0)
        assert await ann.lines() == [NO_LINE_END, "[closed]"]
        assert "open-santorini" not in hall.host.tournaments


async def test_whoever_has_said_a_name_may_wait_for_ever(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come("Ann")
        await trio.sleep(80_000.0)
        await hall.come("Bob")
        assert await ann.states() == [EMPTY]


async def test_the_first_of_two_names_that_come_in_one_go_is_player_1(autojump_clock: MockClock) -> None:
    """Tasks that are started in one go run in any order."""
    begun = list[Match]()
    async with hosting({}, None, None) as (host, _):
        host.on_begun.append(lambda tournament, match: begun.append(match))
        channel = Channel(host, lambda line, urgent: None, lambda why: None, "192.0.2.1")
        for number in range(20):
            for name in (f"first {number}", f"second {number}"):
                Memo(channel).hear(name.encode(), trio.current_time())
            await trio.sleep(0.1)  # before anybody is out of time, and free again
    assert [match.names for match in begun] == [(f"first {n}", f"second {n}") for n in range(20)]


@pytest.mark.parametrize("sent", [b"Ann", b"", b"Ann\r", b'{"type":"hello","name":"Ann","game":"santorini"}'])
async def test_half_a_first_line_is_nobody(sent: bytes, autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come()
        await ann.send(sent)
        await ann.wire.send_eof()
        assert await ann.lines() == ["[closed]"]
        assert "open-santorini" not in hall.host.tournaments


async def test_whoever_hangs_up_while_coming_in_is_not_here(autojump_clock: MockClock) -> None:
    async with room(store=SlowToEnter()) as hall:
        ann = await hall.come("Ann")
        await trio.sleep(4.0)
        await ann.close()
        await hall.come("Bob")
        await trio.sleep(30.0)
        assert not hall.host.tournaments["open-santorini"].record.drawn
        assert [player.name for player in hall.host.lobby.players()] == ["Bob"]


@pytest.mark.parametrize("first", HELLOS, ids=["memo", "house"])
async def test_whoever_hangs_up_while_coming_in_and_comes_at_once_is_let_in(
    first: str, autojump_clock: MockClock
) -> None:
    """Catches a bot whose name is taken by itself while its entry is being kept."""
    async with room(store=SlowToEnter()) as hall:
        gone = await hall.come(first)
        await gone.close()
        back = await hall.come(first)
        await trio.sleep(60.0)
        assert [player.name for player in hall.host.lobby.players()] == ["Ann"]
        await hall.come("Bob")
        await trio.sleep(20.0)
        assert not [line for line in await back.lines() if "taken" in line or line == "[closed]"]
        assert hall.host.tournaments["open-santorini"].matches


@pytest.mark.parametrize("first", HELLOS, ids=["memo", "house"])
@pytest.mark.parametrize("plays", [False, True])
async def test_a_bot_whose_network_was_gone_and_that_comes_again_at_once_is_let_in(
    first: str, plays: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that loses its matches for two minutes, while its own dead connection has its name."""
    async with room() as hall:
        gone = await hall.come(first)
        bobs = [await hall.come("Bob")] if plays else []
        gone.wire.pull()
        back = await hall.come(first)
        await trio.sleep(2 * LONGEST)
        assert [player.name for player in hall.host.lobby.players()].count("Ann") == 1
        bobs = bobs or [await hall.come("Bob")]
        await trio.sleep(60.0)
        heard = await back.lines()
        assert heard
        assert not [line for line in heard if "taken" in line]
        assert len(hall.host.tournaments["open-santorini"].matches) == 1


@pytest.mark.parametrize("first", HELLOS, ids=["memo", "house"])
async def test_nobody_is_let_in_under_the_name_of_a_bot_whose_machine_is_there(
    first: str, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        here = await hall.come(first)
        other = await hall.come(first)
        await trio.sleep(2 * LONGEST)
        assert [line for line in await other.lines() if "taken" in line]
        assert "[closed]" not in await here.lines()


async def test_that_the_host_is_slow_to_let_it_in_is_no_bots_fault(autojump_clock: MockClock) -> None:
    async with room(store=SlowToEnter()) as hall:
        ann, bob = await hall.come("Ann"), await hall.hello("bob", "santorini")
        await trio.sleep(13.0)
        assert len(await ann.states()) == 1
        assert len(await bob.messages("turn")) == 1


@pytest.mark.parametrize("said", ["", "A"], ids=["nothing", "half a name"])
async def test_whoever_said_its_name_while_the_host_stood_still_is_let_in(
    said: str, autojump_clock: MockClock
) -> None:
    """Catches an event without those who were just coming when its machine stood still for some seconds."""
    async with room() as hall:
        ann, silent = await hall.come(), await hall.come()
        await ann.send(said.encode())
        autojump_clock.jump(2 * hall.host.limits.hello_seconds)
        await ann.say("nn" if said else "Ann")
        assert await ann.lines() == []
        assert [player.name for player in hall.host.lobby.players()] == ["Ann"]
        await trio.sleep(1.0)
        assert await silent.lines() == ["[closed]"], "and whoever said nothing is not waited for"


async def test_whoever_is_let_in_at_the_very_end_of_the_time_is_in(autojump_clock: MockClock) -> None:
    """Five times, because it is by chance which task runs first."""
    for _ in range(5):
        async with room(limits=Limits(hello_seconds=4.0), store=SlowToEnter()) as hall:
            ann = await hall.come("Ann")
            await trio.sleep(30.0)
            assert await ann.lines() == []


async def test_whoever_has_said_a_name_is_no_stranger_whom_a_flood_drives_out(
    autojump_clock: MockClock,
) -> None:
    async with room(limits=Limits(unauthenticated=2)) as hall:
        ann, house = await hall.come("Ann"), await hall.hello("bob", "quoridor")
        await house.lines()
        strangers = [await hall.come() for _ in range(3)]
        assert [await guest.lines() for guest in (ann, house, *strangers)] == [[], [], ["[closed]"], [], []]


# Play


@pytest.mark.parametrize(
    "unreadable",
    [
        *(
            "6 0",
            "0 6",
            "-1 0",
            "0  0",
            "00 0",
            "0,0",
            "0",
            "0 0 0",
            "+1 0",
            "1_0 0",
            "0x1 0",
            "[0,0]",
            "null",
        ),
        *(
            "1.0 1",
            "true",
            "٣ ٣",
            "１ １",
            "0\u00a00",
            "0\x0b0",
            "0\u20280",
            "hello",
            '"0 0"',
            "NaN",
            "x" * 500,
        ),
        '{"type":"move","move":[0,0]}',
    ],
)
async def test_what_is_no_move_is_answered_to_its_bot_alone_with_the_unchanged_state(
    unreadable: str, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say(unreadable)
        assert await ann.states() == [EMPTY]
        assert await bob.states() == []
        await ann.say("0 0")
        assert await ann.states() == await bob.states() == [ONE_PLACED]


async def test_bytes_that_are_no_text_are_no_move(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for junk in (b"\xff\xfe", "0 0".encode("utf-16-le"), "\ufeff0 0".encode(), b"0\x000", b"0 0\x85"):
            await ann.send(junk + b"\n")
            assert await ann.states() == [EMPTY]
        assert await bob.states() == []


@pytest.mark.parametrize("line", [b"0 0\n", b"0 0\r\n", b"  0 0\t\n", b"0 0\n\n", b"\n\n0 0\n"])
async def test_blanks_around_a_move_and_empty_lines_do_no_harm(
    line: bytes, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.send(line)
        assert await ann.states() == await bob.states() == [ONE_PLACED]


async def test_the_twentieth_refusal_in_a_match_forfeits_it(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for _ in range(19):
            await ann.say("0 9")
            assert await ann.states() == [EMPTY]
        await ann.say("0 9")
        over = ["gameOver", "Bob", *EMPTY[2:]]
        assert await ann.states() == await bob.states() == [over, SWAPPED]
        (match,) = hall.host.tournaments["open-santorini"].record.matches.values()
        assert match.ending == "illegal"


async def test_a_refusal_leaves_its_question_open_for_what_came_in_the_same_piece(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("0 9", "0 0")
        assert await ann.states() == [EMPTY, ONE_PLACED]
        assert await bob.states() == [ONE_PLACED]


async def test_illegal_moves_in_one_piece_forfeit_like_those_that_come_one_by_one(
    autojump_clock: MockClock,
) -> None:
    """They are no lines out of turn, for which the bot would be cut off, and the match perhaps void."""
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say(*["0 9"] * 25)
        over = ["gameOver", "Bob", *EMPTY[2:]]
        assert await ann.states() == [EMPTY] * 19 + [over, SWAPPED]
        assert await bob.states() == [over, SWAPPED]
        (match,) = hall.host.tournaments["open-santorini"].record.matches.values()
        assert (match.ending, match.winner) == ("illegal", 1)


async def test_refusals_are_counted_anew_in_every_match(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for who in (ann, bob, ann, bob):
            for _ in range(20):
                await trio.sleep(0.1)
                await who.say("9 9")
        assert len(hall.host.tournaments["open-santorini"].record.matches) == 4
        assert "[closed]" not in [*await ann.lines(), *await bob.lines()]


async def test_the_clock_runs_on_through_retries(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for _ in range(9):
            await trio.sleep(1.0)
            await ann.say("0 9")
        await trio.sleep(1.1)
        assert (await bob.states())[0][:2] == ["gameOver", "Bob"]
        assert (await ann.states())[9][:2] == ["gameOver", "Bob"]


@pytest.mark.parametrize(("late", "winner"), [(-1e-9, None), (0.0, None), (1e-9, "Bob")])
async def test_an_answer_at_the_deadline_is_in_time_and_after_it_is_not(
    late: float, winner: str | None, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        deadline = hall.host.tournaments["open-santorini"].matches["open-santorini-1"].deadline
        with trio.CancelScope(deadline=nextafter(deadline, inf) if late > 0 else deadline + late):
            await trio.sleep_forever()
        await ann.say("0 0")
        state = (await bob.states())[0]
        assert state == (ONE_PLACED if winner is None else ["gameOver", winner, *EMPTY[2:]])


async def test_lines_out_of_turn_are_passed_over(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await bob.say("0 0")
        await bob.say("nonsense")
        assert await ann.states() == await bob.states() == []
        await ann.say("0 0")
        assert await ann.states() == await bob.states() == [ONE_PLACED]


async def test_a_move_that_was_sent_before_its_question_is_not_played(autojump_clock: MockClock) -> None:
    """It says try again instead: what it answers, nobody can know."""
    async with room() as hall:
        ann, bob = await pair(hall)
        for bot, placing in zip((ann, bob) * 2, PLACING, strict=True):
            await bot.say(placing)
        await bob.states()
        await ann.states()
        await ann.say("1 1 1", "0 1")
        moved, again = await ann.states()
        assert moved == again
        assert moved[0] == "build"
        assert await bob.states() == [moved]
        await ann.say("0 1")
        assert (await ann.states())[0][2][1][0] == 1


async def test_lines_that_follow_the_name_at_once_are_not_played(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come("Ann", "0 0")
        await hall.come("Bob")
        assert await ann.states() == [EMPTY]


async def test_whoever_hangs_up_has_lost_and_the_other_is_told(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("0 0")
        await bob.say("5 5")
        before = (await bob.states())[-1]
        await ann.close()
        assert await bob.states() == [["gameOver", "Bob", *before[2:]]]
        (match,) = hall.host.tournaments["open-santorini"].record.matches.values()
        assert (match.winner, match.ending) == (1, "left")


async def test_whoever_hangs_up_before_both_have_moved_has_lost_on_the_wire(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.close()
        assert await bob.states() == [["gameOver", "Bob", *EMPTY[2:]]]
        (match,) = hall.host.tournaments["open-santorini"].record.matches.values()
        assert (match.winner, match.ending, match.score) == (None, "void", None)
        assert match.why == "Ann left before both had moved"


async def test_whoever_is_taken_out_before_both_have_moved_has_lost_on_the_wire(
    autojump_clock: MockClock,
) -> None:
    async with room(CUP | {"entrants": "2"}) as hall:
        ann, bob = await hall.come("Ann"), await hall.come("Bob")
        (dealt,) = await ann.states()
        assert await bob.states() == [dealt]
        cup = hall.host.tournaments["cup"]
        await Desk(cup).withdraw("Ann")
        told, closed = await ann.lines()
        assert (msgspec.json.decode(told), closed) == (["gameOver", "Bob", *dealt[2:]], "[closed]")
        assert await bob.lines() == [told, closed]
        void, lost = cup.record.matches.values()
        assert void.why == lost.why == "Ann is out of the tournament"
        assert (void.ending, lost.ending) == ("void", "left")


async def test_half_a_move_and_the_end_is_no_move(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.send(b"0 0")
        await ann.wire.send_eof()
        assert await bob.states() == [["gameOver", "Bob", *EMPTY[2:]]]


async def test_a_move_and_the_end_is_a_move(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.wire.send_all(b"0 0\n")
        await ann.wire.send_eof()
        assert await bob.states() == [ONE_PLACED, ["gameOver", "Bob", *ONE_PLACED[2:]]]


async def test_a_broken_connection_is_a_hang_up(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        ann.wire.reset()
        assert await bob.states() == [["gameOver", "Bob", *EMPTY[2:]]]


async def test_a_win_counts_however_fast_its_bot_hangs_up(autojump_clock: MockClock) -> None:
    moves = "0 0,5 5,2 3,4 1,1 1 1,0 1,2 3 1,2 0,1 0 1,1 0,2 2 1,1 0,1 1 0,2 0,2 3 0,2 0,1 2 0"
    async with room() as hall:
        ann, bob = await pair(hall)
        position, bots = start(), (ann, bob)
        *others, last = moves.split(",")
        for move in others:
            await bots[position.turn].say(move)
            position = position.play(GAME.read(move, position))
        await ann.wire.send_all(f"{last}\n".encode())
        await ann.close()
        assert (await bob.states())[-1][:2] == ["gameOver", "Ann"]
        (match,) = hall.host.tournaments["open-santorini"].record.matches.values()
        assert (match.winner, match.ending) == (0, "played")


async def test_when_its_tournament_is_over_the_connection_ends_after_the_last_line(
    autojump_clock: MockClock,
) -> None:
    async with room(CUP | {"entrants": "3"}) as hall:
        bots = [await hall.come(name) for name in ("Ann", "Bob", "Cas")]
        await trio.sleep(40.0)  # nobody answers anything
        assert hall.host.tournaments["cup"].record.state is State.FINISHED
        for bot in bots:
            *_, last, closed = await bot.lines()
            assert last.startswith('["gameOver"')
            assert closed == "[closed]"


async def test_whoever_is_taken_out_of_its_tournament_is_hung_up_on_when_it_plays_nothing(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that waits for ever for its next match."""
    async with room(CUP | {"entrants": "3"}) as hall:
        bots = [await hall.come(name) for name in ("Ann", "Bob", "Cas")]
        for name in ("Ann", "Bob", "Cas"):
            await Desk(hall.host.tournaments["cup"]).withdraw(name)
        heard = [await bot.lines() for bot in bots]
        assert [lines[-1] for lines in heard] == ["[closed]"] * 3
        assert sorted([len(lines), *[line[:11] for line in lines[1:-1]]] for lines in heard) == [
            [1],
            [3, '["gameOver"'],
            [3, '["gameOver"'],
        ]


@pytest.mark.slow
async def test_everybody_plays_everybody_over_one_connection(autojump_clock: MockClock) -> None:
    async with room(CUP | {"entrants": "4"}) as hall:
        connect = in_memory(hall.host, attend)
        await everybody_plays(connect, hall.host)


@pytest.mark.slow
async def test_over_real_sockets_it_is_the_same(slow_clock: MockClock) -> None:
    async with hosting(CUP | {"entrants": "4"}) as (host, nursery):
        connect = await over_sockets(host, nursery, attend)
        with trio.fail_after(HANG * SLOWLY):
            await everybody_plays(connect, host)


async def everybody_plays(connect: Connect, host: Host) -> None:
    async with trio.open_nursery() as nursery:
        for name in ("Ann", "Bob", "Cas", "Dee"):
            nursery.start_soon(plays, await connect(), name)
    record = host.tournaments["cup"].record
    assert record.state is State.FINISHED
    assert [match.ending for match in record.matches.values()] == ["played"] * 6


async def plays(end: End, name: str) -> None:
    """Knows the wire and nothing else: names itself, answers with the first field that will do."""
    await end.say(name)
    worker = 1
    while line := await end.hear():
        status, turn, board, *players = msgspec.json.decode(line)
        if turn != name or status == "gameOver":
            continue
        taken = {(at[i], at[i + 1]) for _, at in players for i in range(0, len(at), 2)}
        mine = next(at for who, at in players if who == name)
        stand = {1: (*mine[0:2],), 2: (*mine[2:4],)}
        free = [(x, y) for y in range(6) for x in range(6) if (x, y) not in taken and board[y][x] < 4]
        if status == "placeWorker":
            answer = "{} {}".format(*free[0])
        elif status == "build":
            answer = "{} {}".format(*next(field for field in free if near(field, stand[worker])))
        else:
            worker, (x, y) = next(
                (number, field)
                for number, at in stand.items()
                for field in reversed(free)
                if near(field, at) and board[field[1]][field[0]] <= board[at[1]][at[0]] + 1
            )
            answer = f"{worker} {x} {y}"
        await end.say(answer)
    await end.close()


def near(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) == 1


# Talk without end


async def test_too_many_lines_out_of_turn_end_the_connection(autojump_clock: MockClock) -> None:
    limits = Limits(junk=Rate(3, 10.0), junk_total=6)
    async with room(limits=limits) as hall:
        ann, bob = await pair(hall)
        await bob.say(*["0 0"] * 3)
        assert await bob.lines() == []
        await bob.say("0 0")
        assert await bob.lines() == ["[closed]"]
        assert (await ann.states())[0][:2] == ["gameOver", "Ann"]


async def test_junk_is_counted_over_the_life_of_a_connection_too(autojump_clock: MockClock) -> None:
    limits = Limits(junk=Rate(3, 1.0), junk_total=6)
    async with room(limits=limits) as hall:
        ann = await hall.come("Ann")
        for _ in range(6):
            await ann.say("0 0")
            assert await ann.lines() == []
            await trio.sleep(1.0)
        await ann.say("0 0")
        assert await ann.lines() == ["[closed]"]


async def test_what_comes_after_the_end_is_not_looked_at(autojump_clock: MockClock) -> None:
    """A flood costs one line in the log, and so does a name that is refused."""
    async with room() as hall:
        with structlog.testing.capture_logs() as logs:
            refused = await hall.come("Draw", *["0 0"] * 20)
            assert len(await refused.lines()) == 2
            assert [entry["event"] for entry in logs] == ["turned away"]
            flooding = await hall.come("Ann", *["0 0"] * 100)
            assert await flooding.lines() == ["[closed]"]
            assert [entry["event"] for entry in logs].count("cut") == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"], ids=repr)
async def test_the_second_end_of_an_answer_costs_nothing(end: str, autojump_clock: MockClock) -> None:
    """Or a bot that ends its lines twice would be cut as soon as its opponents are fast."""
    async with room(limits=Limits(messages=Rate(3, 1e9))) as hall:
        ann, bob = await pair(hall)
        for guest, answer in zip((ann, bob) * 2, PLACING, strict=True):
            await guest.send(f"{answer}\n{end}".encode())
        for _ in range(15):
            await ann.send(f"9 9 9\n{end}".encode())  # refused, so it is asked again
        await ann.send(f"1 1 1\n{end}".encode())
        assert (await ann.states())[-1][:2] == ["build", "Ann"]
        await ann.send(end.encode() * 3)
        assert await ann.lines() == []
        await ann.send(end.encode())
        assert await ann.lines() == ["[closed]"]


async def test_empty_lines_without_end_end_the_connection(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come("Ann")
        await ann.say(*[""] * 100)
        assert await ann.lines() == []
        await ann.say("")
        assert await ann.lines() == ["[closed]"]


@pytest.mark.parametrize("sent", [b"0" * 513, b"0" * 513 + b"\n", b"0" * 100_000, b"0 0\n" + b"0" * 513])
async def test_a_line_without_end_ends_the_connection(sent: bytes, autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.send(sent)
        assert (await ann.lines())[-1] == "[closed]"
        assert (await bob.states())[-1][:2] == ["gameOver", "Bob"]


async def test_a_bot_that_never_reads_loses_and_slows_nobody(autojump_clock: MockClock) -> None:
    begun = list[Match]()
    async with room(limits=Limits(outbox_seconds=3.0)) as hall:
        hall.host.on_begun.append(lambda tournament, match: begun.append(match))
        deaf = await hall.come("Ann", weather=Weather(window=200), deaf=True)
        bob = await hall.come("Bob")
        await deaf.say("0 0")
        assert await bob.states() == [EMPTY, ONE_PLACED]
        await bob.say("5 5")
        assert len(await bob.states()) == 1
        await trio.sleep(3.1)
        assert (await bob.states())[0][:2] == ["gameOver", "Bob"]
        assert (result := begun[0].result) is not None
        assert result.why == "Ann left the match, because the host hung up on it (it took nothing for 3 s)"


async def test_whoever_does_not_take_the_last_line_in_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with room() as hall:
        await hall.come("Ann")
        stranger = await hall.come("Ann", weather=Weather(window=10), deaf=True)
        await trio.sleep(2.1)
        with pytest.raises(trio.BrokenResourceError):
            await stranger.send(b"0 0\n" * 10)


@pytest.mark.usefixtures("nothing_old")
@pytest.mark.slow
async def test_connections_that_are_gone_leave_nothing_behind(autojump_clock: MockClock) -> None:
    """But for the last match, which whoever looked at it last still has in its hands."""
    left: list[int] = []
    async with room() as hall:
        for _ in range(4):
            ann, bob = await hall.come("Ann"), await hall.hello("bob", "santorini", token="bobs-own-token-16")
            await ann.say("0 0")
            await ann.close()
            await bob.close()
            await trio.sleep(31.0)
            gc.collect()
            left.append(sum(type(kept) in (Connection, Memo, HouseTalk, Match) for kept in gc.get_objects()))
    assert left[-1] - left[0] < 5, "as many as one match has"


# Whatever the network does


WORDS = [b"Ann\n", b"0 0\r\n", b" 2 3\n", b"1 1 1 \n", b"0 9\n", b"0 1\n"]


@pytest.mark.slow
@given(places)
@example([])
@example([1, 3, 4, 5, 6])
def test_however_the_input_is_cut_the_same_is_answered(at: list[int]) -> None:
    assert trio.run(exchange, at, clock=MockClock(autojump_threshold=0)) == WHOLE


async def exchange(at: list[int]) -> tuple[list[str], list[str]]:
    """What both bots are sent in a match in which each line of Ann's comes in pieces."""
    async with room() as hall:
        ann, bob = await hall.come(), await hall.come()
        answers = iter(("Bob", "5 5", "4 1", None, None, None))
        for word in WORDS:
            for piece in cut(word, at):
                await ann.send(piece)
            if answer := next(answers):
                await bob.say(answer)
        return await ann.lines(), await bob.lines()


WHOLE = trio.run(exchange, [], clock=MockClock(autojump_threshold=0))


def test_what_is_cut_is_a_match_with_a_refusal_in_it() -> None:
    ann, bob = WHOLE
    assert len(ann) == len(bob) + 1 == 8
    assert ann[-1].startswith('["moveWorker","Bob",[[0,0,0,0,0,0],[1,0')


@given(st.binary(max_size=200), st.integers(0, 5))
def test_whatever_a_stranger_sends_nothing_fails(content: bytes, after: int) -> None:
    trio.run(babble, content, after, clock=MockClock(autojump_threshold=0))


async def babble(content: bytes, after: int) -> None:
    """`hosting` sees to it that nothing has failed. Bob's match must go on, be won or be void."""
    async with room() as hall:
        bob, ann = await hall.come("Bob"), await hall.come()
        for word in WORDS[:after]:
            await ann.send(word)
        await bob.lines()
        await ann.send(content)
        await ann.close()
        await trio.sleep(20.0)
        record = hall.host.tournaments["open-santorini"].record
        ends = [(match.winner, match.ending, match.players) for match in record.matches.values()]
        assert all(ending == "void" or winner == players.index("Bob") for winner, ending, players in ends)


# Dialects of other packages


async def test_a_dialect_that_fails_to_recognise_a_line_leaves_it_to_the_others(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a dialect that decodes every first line, and cuts off whoever plays by another."""

    def recognises(line: bytes) -> bool:
        raise UnicodeDecodeError("ascii", line, 0, 1, "?")

    before = lines()
    monkeypatch.setattr(
        "server.protocols.tcp.lines", lambda: (structs.replace(before[0], recognises=recognises), *before)
    )
    async with room() as hall:
        await pair(hall)
        (welcome,) = await (await hall.hello("Zo\u00eb")).messages()
        assert welcome["type"] == "welcome"
        assert {place.split()[0] for place in hall.host.guard.caught} == {"UnicodeDecodeError"}
        hall.host.guard.caught.clear()


async def test_a_dialect_that_fails_to_prepare_keeps_no_other_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches one that ends the host just after its start."""

    def fail() -> None:
        raise KeyError("?")

    prepared = list[str]()
    odd = structs.replace(dialects()["house"], name="odd", prepare=fail)
    other = structs.replace(odd, name="other", prepare=lambda: prepared.append("other"))
    monkeypatch.setattr(catalogue, "dialects", lambda: {each.name: each for each in (odd, other)})
    with structlog.testing.capture_logs() as logs:
        await catalogue.prepare()
    assert prepared == ["other"]
    assert [log["dialect"] for log in logs] == ["odd"]
