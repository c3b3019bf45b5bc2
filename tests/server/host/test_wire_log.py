"""The wire log: in the order of coming, with times, within its limits, and nothing of what is erased."""

import gc
import weakref
from collections.abc import Mapping
from random import Random

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from server.host.wire_log import BESIDES, NO_TAPE, PIECE, TAPE, Tape, WireLog
from server.host.wire_reader import messages_of, unmarked
from server.net.limits import Limits
from tournament.match import Match
from tournament.player import Seat
from tournament.timekeeper import Timekeeper

LARGE = Limits(wire_log_seat_bytes=1_000_000)
SMALL = Limits(wire_log_bytes=60_000, wire_log_seat_bytes=8192, wire_log_message_bytes=1000)
UUID = "0b5c3c76-5f5e-4a6e-9d3b-1f2e3d4c5b6a"


def seat(name: str, index: int = 0, began: float | None = None, dealt_at: float | None = None) -> Seat:
    at = trio.current_time() if began is None else began
    match = Match(catalogue()["tic-tac-toe"], ("ann", "bob"), at, name=name, dealt_at=dealt_at)
    return Seat(match, index, Timekeeper())


def texts(tape: Tape) -> list[bytes]:
    return [message.text for message in tape.messages]


def held(tapes: Mapping[int, Tape]) -> int:
    """Bytes that messages take up."""
    return sum(len(each.text) + BESIDES for tape in tapes.values() for each in tape.messages)


async def test_messages_are_in_the_order_of_their_coming_with_seconds_since_the_match_began(
    autojump_clock: MockClock,
) -> None:
    wires, began = WireLog(Limits()), trio.current_time()
    tape = wires.tape(seat("cup-1"), None)
    await trio.sleep(1.5)
    tape.told(b"your turn\n")
    tape.heard(b"b2\n\n", began + 1.25)  # it was read only now
    await trio.sleep(2.0)
    tape.told(b"well\r\n")
    assert messages_of(tape) == [
        {"at": 1.5, "from": "host", "text": "your turn"},
        {"at": 1.25, "from": "bot", "text": "b2\n\n"},
        {"at": 3.5, "from": "host", "text": "well\r"},
    ]
    assert tape.omitted == 0


async def test_a_seat_keeps_its_latest_messages_and_says_how_many_there_were_before_them(
    autojump_clock: MockClock,
) -> None:
    wires, random = WireLog(SMALL), Random(1)
    tape = wires.tape(seat("cup-1"), None)
    said = [b"%d " % n + b"x" * random.choice((0, 5, 50, 900)) for n in range(500)]
    for number, text in enumerate(said, 1):
        tape.heard(text, 0.0)
        kept = texts(tape)
        assert kept == said[number - len(kept) : number]
        assert tape.omitted == number - len(kept)
        assert held(wires.of("cup-1")) <= SMALL.wire_log_seat_bytes
        assert held(wires.of("cup-1")) + TAPE <= wires.size <= SMALL.wire_log_seat_bytes + TAPE
    assert held(wires.of("cup-1")) >= SMALL.wire_log_seat_bytes - PIECE - 2 * (BESIDES + 1000)


async def test_a_long_message_is_cut_and_says_so_whatever_came_before_it(autojump_clock: MockClock) -> None:
    """Catches one that fits in by chance, because much room was made for an earlier one."""
    random, wires = Random(2), WireLog(SMALL)
    tape = wires.tape(seat("cup-1"), None)
    for _ in range(500):
        size = random.choice((1, 500, 1000, 1001, 1100, 3000, 70_000))
        tape.heard(b"x" * size, 0.0)
        cut = b"x" * 1000 + f"… {size - 1000} more bytes".encode()
        assert tape.messages[-1].text == (b"x" * size if size <= 1000 else cut)


async def test_past_the_limit_the_oldest_matches_are_erased_and_nothing_of_them_is_kept(
    autojump_clock: MockClock,
) -> None:
    wires, tapes = WireLog(SMALL), dict[str, Tape]()
    for number in range(200):
        await trio.sleep(1.0)
        name = f"cup-{number}"
        for index in (0, 1):
            tapes[name] = wires.tape(seat(name, index), None)
            for _ in range(20):
                tapes[name].told(b"x" * 100)
        kept = [each for each in tapes if wires.of(each)]
        assert kept == [*tapes][-len(kept) :]
        assert 1 <= len(kept) < 10
        assert wires.size <= SMALL.wire_log_bytes
    gone = tapes["cup-0"]
    gone.told(b"more")
    gone.heard(b"x" * 2000, 0.0)
    assert not gone.messages
    assert wires.size <= SMALL.wire_log_bytes
    assert wires.tape(seat("cup-0", began=1.0), None) is NO_TAPE  # the rest of it would be taken for all


async def test_what_is_counted_is_nothing_once_all_is_erased(autojump_clock: MockClock) -> None:
    wires = WireLog(SMALL)
    for number in range(50):
        await trio.sleep(1.0)
        tape = wires.tape(seat(f"cup-{number}"), None)
        for size in range(0, 3000, 7):
            tape.heard(b"x" * size, 0.0)
    wires.most = -1
    wires.make_room()
    assert wires.size == 0


async def test_whoever_comes_back_to_a_seat_goes_on_in_the_same_log(autojump_clock: MockClock) -> None:
    wires, first = WireLog(Limits()), seat("cup-1")
    assert wires.tape(first, None) is wires.tape(first, None)
    assert wires.tape(Seat(first.match, 1, Timekeeper()), None) is not wires.tape(first, None)


@pytest.mark.slow
async def test_a_log_holds_on_to_no_match(autojump_clock: MockClock) -> None:
    wires, played = WireLog(Limits()), seat("cup-1")
    tape = wires.tape(played, None)
    tape.told(b"your turn")
    gone = weakref.ref(played.match)
    del played
    gc.collect()
    assert gone() is None
    assert texts(tape) == [b"your turn"]


def test_between_matches_nothing_is_kept() -> None:
    NO_TAPE.heard(b"hello", 0.0)
    assert not NO_TAPE.messages
    assert NO_TAPE.omitted == 0


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('{"type":"hello","token":"abcdefghij","name":"a"}', '{"type":"hello","token":"abcd…","name":"a"}'),
        ('{"token" : "ab\\"cdef","x":1}', '{"token" : "ab\\"…","x":1}'),
        ('{"token":"abcdefghij', '{"token":"abcd…'),
        ("{'token': 'abcdefghij'}", "{'token': 'abcd…'}"),
        ("action=flip&token=abcdefghij&x=1", "action=flip&token=abcd…&x=1"),
        ("200 X-Turn-Token: abcdefghij {}", "200 X-Turn-Token: abcd… {}"),
        (f'{{"battleId":"{UUID}"}}', '{"battleId":"0b5c…"}'),
        (f'data: {{"youAre":"X","id":"{UUID}"}}', 'data: {"youAre":"X","id":"0b5c…"}'),
        ('{"type":"move","move":3}', '{"type":"move","move":3}'),
        ('{"type":"start","id":"ann of the tokens"}', '{"type":"start","id":"ann of the tokens"}'),
    ],
)
def test_tokens_are_cut_and_nothing_else(said: str, shown: str) -> None:
    assert unmarked(said) == shown
    assert unmarked(shown) == shown


@pytest.mark.parametrize("limits", [SMALL, LARGE], ids=["not all fits", "all fits"])
async def test_what_was_noted_elsewhere_is_repeated_as_if_it_were_noted_here(limits: Limits) -> None:
    random, there, here, again = Random(3), WireLog(LARGE), WireLog(limits), WireLog(limits)
    noted, expected = there.tape(seat("cup-1"), None), here.tape(seat("cup-1"), None)
    for number in range(200):
        text, at = random.randbytes(random.randrange(2000)), float(number)
        for tape in (noted, expected):
            if number % 3:
                tape.told(text, at)
            else:
                tape.heard(text, at)
    tape = again.tape(seat("cup-1"), None)
    tape.repeat(noted.snapshot)
    assert tape.messages == expected.messages
    assert tape.omitted == expected.omitted
    assert (tape.omitted > 0) == (limits is SMALL)
    assert again.size == here.size
    tape.told(b"x" * 5000, 200.0)
    expected.told(b"x" * 5000, 200.0)
    assert (tape.messages, again.size) == (expected.messages, here.size)


async def test_a_tape_that_is_repeated_says_how_much_the_other_had_omitted() -> None:
    noted = WireLog(SMALL).tape(seat("cup-1"), None)
    for number in range(200):
        noted.told(b"x" * 100, float(number))
    tape = WireLog(SMALL).tape(seat("cup-1"), None)
    tape.repeat(noted.snapshot)
    assert tape.messages == noted.messages
    assert tape.omitted == noted.omitted > 0


async def test_a_match_shares_no_tape_with_one_of_a_deleted_tournament_that_had_its_name(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot's author who reads what another bot says at the same seat of a later match."""
    wires = WireLog(Limits())
    before = [wires.tape(seat("cup-1", index, dealt_at=1000.0), None) for index in (0, 1)]
    before[0].heard(b"1", 0.0)
    now = seat("cup-1", 0, dealt_at=2000.0)
    tape = wires.tape(now, None)
    before[0].heard(b"2", 0.0)
    tape.heard(b"3", 0.0)
    assert wires.of("cup-1") == {0: tape}
    assert wires.tape(now, None) is tape
    assert texts(tape) == [b"3"]
    assert wires.size == TAPE + PIECE
