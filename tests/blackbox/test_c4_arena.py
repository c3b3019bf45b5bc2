"""Connect-4 over websocket, as c4-arena's clients speak it: sentence by sentence, from outside."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pytest

from tests.blackbox.ends import Frames, Wire, fresh
from tests.blackbox.inspected import Inspected
from tests.blackbox.old_fours import ALL, Leaver, OldClient
from tests.effort import tries

pytestmark = pytest.mark.slow
CLIENTS, HANG_UPS = tries(2, 4), tries(50, 200)
THINKS = 0.005  # seconds over a move, in which its opponent hangs up
DRAWN = [int(column) for column in "545062455041104565311226266362030334314210"]


@contextmanager
def table(host: Inspected) -> Iterator[tuple[dict[int, Frames], dict[int, str]]]:
    """Two who came for each other and have their first state; by their number in the game."""
    ids = fresh("Alice"), fresh("Bob")
    with Frames(host.websocket) as alice, Frames(host.websocket) as bob:
        alice.say({"type": "start", "id": ids[0], "against": ids[1]})
        assert alice.silent()
        bob.say({"type": "start", "id": ids[1], "against": ids[0]})
        first = alice.hear()
        second = bob.hear()
        assert {first["you"], second["you"]} == {1, 2}
        yield {first["you"]: alice, second["you"]: bob}, {first["you"]: ids[0], second["you"]: ids[1]}


def playing(seats: dict[int, Frames], moves: list[int]) -> dict[int, Any]:
    """Plays these columns; both must get a state after every one of them."""
    states: dict[int, Any] = {}
    for number, column in enumerate(moves):
        seats[number % 2 + 1].say({"type": "move", "move": column})
        states = {you: wire.hear() for you, wire in seats.items()}
        for you, state in states.items():
            assert (state["type"], state["you"]) == ("state", you)
            assert state["moves"][-1] == state["last-move"] == column
    return states


def test_the_first_state_has_these_keys_and_no_more(host: Inspected) -> None:
    ids = fresh(), fresh()
    with Frames(host.websocket) as one, Frames(host.websocket) as two:
        one.say({"type": "start", "id": ids[0], "against": ids[1]})
        two.say({"type": "start", "id": ids[1], "against": None})
        for wire in (one, two):
            state = wire.hear()
            assert state == {"type": "state", "turn": 1, "you": state["you"], "moves": [], "state": [0] * 42}


def test_both_get_a_state_after_every_legal_move_and_it_is_column_major_from_the_bottom(
    host: Inspected,
) -> None:
    with table(host) as (seats, _):
        states = playing(seats, [3, 3, 0])
        board = [0] * 42
        board[18], board[19], board[0] = 1, 2, 1
        for you in (1, 2):
            assert states[you] == {
                "type": "state",
                "turn": 2,
                "you": you,
                "moves": [3, 3, 0],
                "last-move": 0,
                "state": board,
            }


def test_a_win_is_told_to_both_as_a_state_with_turn_0_and_the_winner_then_end(host: Inspected) -> None:
    with table(host) as (seats, _):
        states = playing(seats, [0, 1, 0, 1, 0, 1, 0])
        for you, state in states.items():
            assert (state["turn"], state["winner"], state["you"]) == (0, 1, you)
            assert state["state"][:4] == [1, 1, 1, 1]
            assert seats[you].hear() == {"type": "end"}


def test_a_draw_has_winner_0(host: Inspected) -> None:
    with table(host) as (seats, _):
        states = playing(seats, DRAWN)
        for you, state in states.items():
            assert (state["turn"], state["winner"]) == (0, 0)
            assert seats[you].hear() == {"type": "end"}


def test_winner_is_absent_before_the_end(host: Inspected) -> None:
    with table(host) as (seats, _):
        assert all("winner" not in state for state in playing(seats, [0, 1, 0, 1, 0, 1]).values())


def test_a_state_request_is_answered_to_the_asker_alone(host: Inspected) -> None:
    with table(host) as (seats, _):
        playing(seats, [3])
        seats[1].say({"type": "state_request"})
        state = seats[1].hear()
        assert (state["turn"], state["you"], state["moves"]) == (2, 1, [3])
        assert "last-move" not in state, "it is in the state that first shows that move"
        assert seats[2].silent()


def test_after_end_the_same_socket_may_start_again_under_another_id(host: Inspected) -> None:
    with table(host) as (seats, ids):
        playing(seats, [0, 1, 0, 1, 0, 1, 0])
        assert [wire.hear() for wire in seats.values()] == [{"type": "end"}] * 2
        other = fresh()
        seats[1].say({"type": "start", "id": other, "against": ids[2]})
        seats[2].say({"type": "start", "id": ids[2], "against": other})
        assert {wire.hear()["you"] for wire in seats.values()} == {1, 2}


def test_whoever_is_left_gets_a_state_then_disconnected_and_no_end(host: Inspected) -> None:
    with table(host) as (seats, _):
        playing(seats, [3])
        seats[1].close()
        assert seats[2].hear()["type"] == "state"
        assert seats[2].hear() == {"type": "disconnected"}
        assert seats[2].silent()
        seats[2].say({"type": "start", "id": fresh(), "against": "random"})
        assert seats[2].hear()["type"] == "state", "after `disconnected` the same socket may start again"


def test_a_closing_handshake_is_a_disconnect_too(host: Inspected) -> None:
    with table(host) as (seats, _):
        seats[1].frame(b"\x03\xe8", opcode=8)
        assert seats[2].hear()["type"] == "state"
        assert seats[2].hear() == {"type": "disconnected"}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"type": "move", "move": 3}, "Only start messages allowed in current state"),
        ({"type": "state_request"}, "Only start messages allowed in current state"),
        ({"type": "nonsense"}, "Only start messages allowed in current state"),
        ({"type": "start"}, "You need to include an id"),
        (
            {"type": "start", "id": "random"},
            '"random" is a reserved id used for a reference player',
        ),
        ({"type": "start", "id": "aima"}, '"aima" is a reserved id used for a reference player'),
    ],
)
def test_before_the_start_others_are_ignored_with_their_reason(
    host: Inspected, message: dict[str, Any], reason: str
) -> None:
    with Frames(host.websocket) as wire:
        wire.say(message)
        assert wire.hear() == {"type": "ignored", "msg": message, "reason": reason}


@pytest.mark.parametrize(
    "message", [{"type": "move", "move": 0}, {"type": "state_request"}, {"type": "start", "id": "zoe"}]
)
def test_while_waiting_everything_is_ignored_as_waiting_for_match(
    host: Inspected, message: dict[str, Any]
) -> None:
    with Frames(host.websocket) as wire:
        wire.say({"type": "start", "id": fresh(), "against": fresh("nobody")})
        wire.say(message)
        assert wire.hear() == {"type": "ignored", "msg": message, "reason": "Waiting for match"}


def test_reasons_in_a_game(host: Inspected) -> None:
    with table(host) as (seats, _):
        for you, message, reason in (
            (2, {"type": "move", "move": 0}, "Not your turn"),
            (1, {"type": "move", "move": 7}, "Invalid move"),
            (2, {"type": "dance", "extra": [1, {"a": None}]}, "Unknown message type"),
            (1, {"type": "move", "move": -1}, "Invalid move"),
        ):
            seats[you].say(message)
            assert seats[you].hear() == {"type": "ignored", "msg": message, "reason": reason}
        playing(seats, [0] * 6)
        full = {"type": "move", "move": 0}
        seats[1].say(full)
        assert seats[1].hear() == {"type": "ignored", "msg": full, "reason": "Invalid move"}
        assert seats[2].silent()


@pytest.mark.parametrize(
    "move",
    ["1.0", "true", '"1"', "null", "[1]", "{}", "1e2", "9" * 100, "-0.5", "3.5", "99999999999999999999"],
)
def test_what_is_no_integer_is_no_move(host: Inspected, move: str) -> None:
    with table(host) as (seats, _):
        seats[1].say(f'{{"type":"move","move":{move}}}')
        assert seats[1].hear()["type"] == "ignored"
        assert seats[2].silent(0.05)
        assert playing(seats, [3])[2]["moves"] == [3]


@pytest.mark.parametrize(
    "text",
    ["not json", '{"type":"move","move":NaN}', '{"type":', "[" * 5000, "", "\ufeff{}", "3", "[]", '"x"'],
)
def test_what_cannot_be_parsed_is_ignored_with_the_raw_text_cut_at_256_bytes(
    host: Inspected, text: str
) -> None:
    with Frames(host.websocket) as wire:
        wire.say(text)
        answer = wire.hear()
        assert answer["type"] == "ignored"
        assert answer["msg"] in (text[:256], 3, [], "x")


def test_an_echo_is_at_most_256_bytes_even_of_what_parses(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        wire.say({"type": "dance", "long": "é" * 10_000})
        _, payload = wire.read()
        assert len(payload) <= 256 + 150, "the echo, and the reason around it"


def test_keys_in_any_order_blanks_and_extra_keys_are_as_good(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        wire.say(f'{{ "extra" : [1] ,\n "against" : "random", "id" : "{fresh()}" , "type" : "start" }}')
        assert wire.hear()["type"] == "state"


def test_consecutive_ignored_are_delayed_from_the_third_and_doubling(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        took: list[float] = []
        for _ in range(5):
            began = time.monotonic()
            wire.say({"type": "state_request"})
            wire.hear()
            took.append(time.monotonic() - began)
        for measured, least in zip(took, (0, 0, 0.1, 0.2, 0.4), strict=True):
            assert measured >= least - 0.02, took


def test_a_state_request_does_not_reset_the_delay(host: Inspected) -> None:
    with table(host) as (seats, _):
        for _ in range(4):
            seats[2].say({"type": "move", "move": 0})
            assert seats[2].hear()["reason"] == "Not your turn"
            seats[2].say({"type": "state_request"})
            assert seats[2].hear()["type"] == "state"
        began = time.monotonic()
        seats[2].say({"type": "move", "move": 0})
        seats[2].hear()
        assert time.monotonic() - began >= 0.38


def test_whoever_is_out_of_step_gets_ten_answers_and_is_not_cut(host: Inspected) -> None:
    """Two at once, and eight that wait; what comes beyond is passed over in silence."""
    with Frames(host.websocket) as wire:
        for number in range(500):
            wire.say({"type": "move", "move": number})
        assert [wire.hear()["msg"]["move"] for _ in range(10)] == list(range(10))
        wire.say({"type": "start", "id": fresh(), "against": "random"})
        while (told := wire.hear())["type"] == "ignored":
            pass
        assert told["type"] == "state"


def outlast(host: Inspected, client: OldClient) -> None:
    """Be this client until it has been hung up on so many times, and has then played a match to its end."""
    with Frames(host.websocket) as wire:
        wire.say(client.start())
        while True:
            told = wire.hear()  # or it has been cut
            if told["type"] == "end" and client.told["disconnected"] >= HANG_UPS:
                return
            if (answer := client.answer(told)) is not None:
                if answer["type"] == "move":
                    wire.silent(THINKS)  # it looks at what comes meanwhile later
                wire.say(answer)


def hang_up(host: Inspected, name: str, client: OldClient) -> None:
    """On this client, so many times; and at last play a match with it to its end.

    Until then it makes two moves at most. The client, which says more moves than it is asked for, would
    win some matches after three, and would be gone before that last one if it won at the wrong moment.
    """
    for moves in cycle(range(3)):
        done = client.told["disconnected"] >= HANG_UPS
        leaver = Leaver(name, client.name, ALL if done else moves)
        with Frames(host.websocket) as wire:
            wire.say(leaver.start())
            while not (leaver.leaves or leaver.over):
                if (answer := leaver.answer(wire.hear())) is not None:
                    wire.say(answer)
        if done:
            return


def test_clients_in_use_are_not_cut_by_hang_ups_however_many_and_play_on(host: Inspected) -> None:
    with ThreadPoolExecutor(2 * CLIENTS) as pool:
        clients = [OldClient(fresh("old"), against=fresh("leaver")) for _ in range(CLIENTS)]
        outlasting = [pool.submit(outlast, host, client) for client in clients]
        hanging_up = [pool.submit(hang_up, host, str(client.against), client) for client in clients]
        for each in outlasting + hanging_up:
            each.result()
    for client in clients:
        assert client.told["ignored"] > HANG_UPS, "it was out of step"


@pytest.mark.parametrize("opponent", ["random", "aima"])
def test_house_players_are_there_at_once_and_play(host: Inspected, opponent: str) -> None:
    with Frames(host.websocket) as wire:
        wire.say({"type": "start", "id": fresh(), "against": opponent})
        state = wire.hear()
        seen = len(state["moves"])
        while not seen or state["turn"] != state["you"]:
            if state["turn"] == state["you"]:
                wire.say({"type": "move", "move": 3})
            state = wire.hear()
            seen = len(state["moves"])
        assert state["type"] == "state"


def test_against_is_honoured_in_both_directions(host: Inspected) -> None:
    anna, ben, cleo = fresh("anna"), fresh("ben"), fresh("cleo")
    with (
        Frames(host.websocket) as one,
        Frames(host.websocket) as two,
        Frames(host.websocket) as three,
    ):
        one.say({"type": "start", "id": anna, "against": ben})
        three.say({"type": "start", "id": cleo, "against": anna})
        assert one.silent(), "she waits for another"
        assert three.silent(0)
        two.say({"type": "start", "id": ben})
        assert one.hear()["type"] == two.hear()["type"] == "state"
        assert three.silent()


def test_two_sockets_with_one_id_may_wait_and_never_meet(host: Inspected) -> None:
    name = fresh("same")
    with Frames(host.websocket) as one, Frames(host.websocket) as two:
        for wire in (one, two):
            wire.say({"type": "start", "id": name, "against": None if wire is one else name})
        assert one.silent()
        assert two.silent()


def test_two_sockets_with_one_id_both_play_others(host: Inspected) -> None:
    name, one_other, two_other = fresh("same"), fresh(), fresh()
    with (
        Frames(host.websocket) as one,
        Frames(host.websocket) as two,
        Frames(host.websocket) as three,
        Frames(host.websocket) as four,
    ):
        for wire in (one, two):
            wire.say({"type": "start", "id": name, "against": one_other if wire is one else two_other})
        three.say({"type": "start", "id": one_other, "against": name})
        four.say({"type": "start", "id": two_other, "against": name})
        assert [wire.hear()["type"] for wire in (one, two, three, four)] == ["state"] * 4


def test_a_pair_that_is_already_playing_is_never_drawn(host: Inspected) -> None:
    with table(host) as (_, ids), Frames(host.websocket) as one, Frames(host.websocket) as two:
        one.say({"type": "start", "id": ids[1], "against": ids[2]})
        two.say({"type": "start", "id": ids[2], "against": ids[1]})
        assert one.silent()
        assert two.silent()


def test_the_pair_that_played_least_goes_first(host: Inspected) -> None:
    with table(host) as (seats, ids), Frames(host.websocket) as third:
        playing(seats, [0, 1, 0, 1, 0, 1, 0])
        assert [wire.hear() for wire in seats.values()] == [{"type": "end"}] * 2
        seats[1].say({"type": "start", "id": ids[1], "against": ids[2]})
        third.say({"type": "start", "id": fresh(), "against": ids[2]})
        assert third.silent()
        assert seats[1].silent(0)
        seats[2].say({"type": "start", "id": ids[2]})
        assert third.hear()["type"] == "state"
        assert seats[1].silent()


def test_sides_are_at_random(host: Inspected) -> None:
    with Frames(host.websocket) as one, Frames(host.websocket) as two:
        seen: set[int] = set()
        for _ in range(30):
            ids = fresh(), fresh()
            one.say({"type": "start", "id": ids[0], "against": ids[1]})
            two.say({"type": "start", "id": ids[1], "against": ids[0]})
            first = one.hear()["you"]
            two.hear()
            seen.add(first)
            if len(seen) == 2:
                return
            seats = {first: one, 3 - first: two}
            playing(seats, [0, 1, 0, 1, 0, 1, 0])
            one.hear(), two.hear()
    raise AssertionError("the same side thirty times")


def test_no_two_c4_clients_need_a_token_to_come_back(host: Inspected) -> None:
    """Its clients say nothing but an id; a name once used must not be locked."""
    name = fresh("again")
    for _ in range(3):
        with Frames(host.websocket) as wire:
            wire.say({"type": "start", "id": name, "against": "random"})
            assert wire.hear()["type"] == "state"


def test_compression_is_never_agreed(host: Inspected) -> None:
    with Frames(host.websocket, extra="Sec-WebSocket-Extensions: permessage-deflate\r\n") as wire:
        assert " 101 " in wire.greeting
        assert "extensions" not in wire.greeting.lower()


def test_a_ping_is_answered_with_its_own_words(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        wire.frame(b"there?", opcode=9)
        assert wire.read() == (10, b"there?")


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([(b"{}", 1, True, False)], 1002),
        ([(b"{}", 3, True, True)], 1002),
        ([(b"x", 0, True, True)], 1002),
        ([(b"x" * 126, 9, True, True)], 1002),
        ([(b"\xff\xfe", 1, True, True)], 1007),
        ([(b"x" * 65537, 1, True, True)], 1009),
    ],
    ids=["unmasked", "opcode", "stray continuation", "long ping", "utf-8", "too big"],
)
def test_what_breaks_the_websocket_protocol_is_closed_with_its_code(
    host: Inspected, frames: list[tuple[bytes, int, bool, bool]], code: int
) -> None:
    with Frames(host.websocket) as wire:
        for frame in frames:
            wire.frame(*frame)
        assert wire.closing() == code


def test_a_message_in_two_fragments_is_one_message(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        wire.frame(b'{"type":"sta', last=False)
        wire.frame(b'te_request"}', opcode=0)
        assert wire.hear()["msg"] == {"type": "state_request"}


def test_endless_empty_fragments_are_cut_off(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        wire.frame(b"{", last=False)
        for _ in range(100):
            try:
                wire.frame(b"", opcode=0, last=False)
            except (BrokenPipeError, ConnectionResetError):
                break
        wire.rest()


def test_a_ping_flood_is_closed_with_1008(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        for _ in range(60):
            wire.frame(b"", opcode=9)
        assert wire.closing() == 1008


@pytest.mark.parametrize(
    "head",
    [
        b"Host: localhost\r\nSec-WebSocket-Protocol: \xff\r\n",
        b"Host: \xff\r\n",
        b"Host: localhost\r\nSec-WebSocket-Version: 99\r\n",
        b"Host: localhost\r\nSec-WebSocket-Key: short\r\n",
    ],
    ids=["protocol", "host", "version", "key"],
)
def test_a_malformed_handshake_ends_that_connection_and_nothing_else(host: Inspected, head: bytes) -> None:
    with Wire(host.websocket) as wire:
        wire.send(b"GET / HTTP/1.1\r\n" + head + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        wire.rest()
    with Frames(host.websocket) as wire:
        assert " 101 " in wire.greeting


def test_junk_beyond_the_budget_ends_the_connection(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        for _ in range(60):
            wire.say("junk")
        assert wire.closing() in (1008, 1002)
