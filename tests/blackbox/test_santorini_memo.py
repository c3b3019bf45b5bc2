"""Santorini over TCP, as its memo's bots speak it: sentence by sentence, from outside."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.blackbox.ends import Lines, fresh
from tests.blackbox.inspected import Inspected

pytestmark = pytest.mark.slow
FIELDS = [(x, y) for x in range(6) for y in range(6)]


class Author:
    """A bot as the memo's reader writes it: every line is a state; it answers where `turn` is its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.moved = 1

    def answer(self, state: list[Any]) -> str:
        status, _, board, *bots = state
        own, other = sorted(bots, key=lambda bot: bot[0] != self.name)
        standing = [(own[1][at], own[1][at + 1]) for at in range(0, len(own[1]), 2)]
        taken = [*standing, *((other[1][at], other[1][at + 1]) for at in range(0, len(other[1]), 2))]
        free = [field for field in FIELDS if field not in taken]
        if status == "placeWorker":
            return "{} {}".format(*free[0])
        if status == "moveWorker":
            steps = [
                (board[y][x], worker, x, y)
                for worker, at in enumerate(standing, 1)
                for x, y in free
                if near(at, (x, y)) and board[y][x] <= min(3, board[at[1]][at[0]] + 1)
            ]
            _, self.moved, x, y = max(steps)
            return f"{self.moved} {x} {y}"
        at = standing[self.moved - 1]
        height = board[at[1]][at[0]]
        sites = [(x, y) for x, y in free if near(at, (x, y)) and board[y][x] < 4]
        x, y = min(sites, key=lambda site: (board[site[1]][site[0]] > height, -board[site[1]][site[0]]))
        return f"{x} {y}"


def near(at: tuple[int, int], to: tuple[int, int]) -> bool:
    return at != to and abs(at[0] - to[0]) <= 1 and abs(at[1] - to[1]) <= 1


@contextmanager
def table(host: Inspected, *, hello: str = "{}\n") -> Iterator[tuple[str, Lines, str, Lines, list[Any]]]:
    """Two bots who meet for the first time, and the state that both were sent."""
    ann, bob = fresh("Ann"), fresh("Bob")
    with Lines(host.tcp) as one, Lines(host.tcp) as two:
        one.send(hello.format(ann).encode())
        assert one.silent(), "nothing is said before there is an opponent"
        two.send(hello.format(bob).encode())
        state = one.hear()
        assert two.hear() == state
        yield ann, one, bob, two, state


def play(state: list[Any], bots: dict[str, Lines]) -> list[Any]:
    """Plays to the end, checking that every change is told to both alike; the last state."""
    authors = {name: Author(name) for name in bots}
    while state[0] != "gameOver":
        turn = state[1]
        bots[turn].say(authors[turn].answer(state))
        states = [wire.hear() for wire in bots.values()]
        assert states[0] == states[1], "each bot is sent the same state"
        state = states[0]
    return state


def placed(state: list[Any], bots: dict[str, Lines]) -> list[Any]:
    """Goes on until all workers stand."""
    while state[0] == "placeWorker":
        bots[state[1]].say(Author(state[1]).answer(state))
        state, same = [wire.hear() for wire in bots.values()]
        assert state == same
    return state


def test_the_first_state_is_the_memos_array_with_empty_worker_lists(host: Inspected) -> None:
    with table(host) as (ann, _, bob, _, state):
        assert state == ["placeWorker", ann, [[0] * 6] * 6, [ann, []], [bob, []]]


def test_player_1_is_whose_name_came_first(host: Inspected) -> None:
    late, early = fresh("late"), fresh("early")
    with Lines(host.tcp) as one, Lines(host.tcp) as two:  # who connects first is not who is named first
        two.say(early)
        assert two.silent()
        one.say(late)
        assert one.hear()[3:] == [[early, []], [late, []]]


def test_a_line_from_the_host_is_one_compact_json_array_and_one_line_feed(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, _):
        one.say("0 0")
        line = two.until(b"\n")
        empty = [[0] * 6] * 6
        assert json.loads(line) == ["placeWorker", bob, empty, [ann, [0, 0]], [bob, []]]
        assert not line.endswith(b"\r")
        expected = json.dumps(json.loads(line), separators=(",", ":")).encode()
        assert line == expected, "the memo shows no blanks"


def test_workers_are_placed_in_turn_and_shorter_lists_are_of_unplaced_workers(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, _):
        told: list[tuple[str, list[int], list[int]]] = []
        for wire, line in ((one, "0 0"), (two, "5 5"), (one, "2 3"), (two, "4 1")):
            wire.say(line)
            state = one.hear()
            assert state == two.hear()
            told.append((f"{state[0]} {state[1]}", state[3][1], state[4][1]))
        assert told == [
            (f"placeWorker {bob}", [0, 0], []),
            (f"placeWorker {ann}", [0, 0], [5, 5]),
            (f"placeWorker {bob}", [0, 0, 2, 3], [5, 5]),
            (f"moveWorker {ann}", [0, 0, 2, 3], [5, 5, 4, 1]),
        ]


def test_after_a_move_the_same_bot_builds_and_then_the_other_moves(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, _):
        for wire, line in ((one, "0 0"), (two, "5 5"), (one, "2 3"), (two, "4 1")):
            wire.say(line)
            one.hear(), two.hear()
        one.say("1 1 1")
        moved = one.hear()
        assert (moved[0], moved[1], moved[3][1]) == ("build", ann, [1, 1, 2, 3])
        assert two.hear() == moved
        one.say("0 2")
        built = two.hear()
        assert (built[0], built[1]) == ("moveWorker", bob)
        assert built[2][2][0] == 1, "a board is board[y][x]"
        assert sum(map(sum, built[2])) == 1


def test_a_whole_game_between_two_of_the_memos_bots_ends_with_the_winners_name(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, state):
        end = play(state, {ann: one, bob: two})
        assert end[0] == "gameOver"
        assert end[1] in (ann, bob)


def test_the_name_is_sent_once_and_a_new_match_is_a_new_state_after_game_over(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, state):
        bots = {ann: one, bob: two}
        play(state, bots)
        again = one.hear()
        assert again == two.hear()
        assert again[0] == "placeWorker"
        assert {again[3][0], again[4][0]} == {ann, bob}
        assert play(again, bots)[0] == "gameOver"


def test_sides_change_when_the_same_two_meet_again(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, state):
        play(state, {ann: one, bob: two})
        again = one.hear()
        assert [again[3][0], again[4][0]] == [bob, ann]


def test_what_is_illegal_or_unreadable_gets_the_unchanged_state_again_alone(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, _):
        one.say("0 0")
        state = one.hear()
        assert two.hear() == state
        for line in ("0 0", "6 0", "-1 0", "1 0 0", "x y", "0", '{"x":1}', "[1,1]", "+1 1", "1_0 1", "01 1"):
            two.say(line)
            assert two.hear() == state, line
        assert one.silent(), "the other is not told"
        two.say("1 1")
        assert one.hear()[4] == [bob, [1, 1]]
        assert ann == state[3][0]


def test_digits_of_other_scripts_are_no_digits(host: Inspected) -> None:
    with table(host) as (_, one, _, two, state):
        for line in ("٣ ٣", "１ １", "1\x0b1", "1\x1c1", "1\u20281", "1\u00a01"):
            one.say(line)
            assert one.hear() == state, line
        assert two.silent()


def test_a_carriage_return_and_surrounding_blanks_are_tolerated(host: Inspected) -> None:
    with table(host, hello="  {} \r\n") as (ann, one, bob, two, state):
        assert [state[3][0], state[4][0]] == [ann, bob]
        one.send(b"  0 0  \r\n")
        assert one.hear()[3][1] == [0, 0]
        two.hear()
        two.send(b"\t5 5\r\n")
        assert two.hear()[4][1] == [5, 5]


def test_a_name_may_be_a_json_string(host: Inspected) -> None:
    with table(host, hello='"{}"\n') as (ann, _, bob, _, state):
        assert [state[3][0], state[4][0]] == [ann, bob]


@pytest.mark.parametrize(
    "name",
    ["", "   ", "x" * 33, "Draw", '"Draw"', '""', "a\x07b", "a\x1b[31mb", "a\u202eb", "a\u200bb", "a\u2066b"],
    ids=["empty", "blank", "33", "Draw", "Draw-json", "empty-json", "bell", "escape", "rlo", "zwsp", "lri"],
)
def test_a_name_that_may_not_be_is_refused_with_a_plain_line_and_a_close(host: Inspected, name: str) -> None:
    with Lines(host.tcp) as wire:
        wire.send(name.encode() + b"\n")
        said = wire.rest()
        assert said.endswith(b"\n")
        assert said.count(b"\n") == 1
        assert said.strip()
        assert said[:1] not in b"{["
        assert not any(byte < 32 for byte in said[:-1]), "nothing of it reaches a terminal"


def test_thirty_two_characters_are_a_name(host: Inspected) -> None:
    with Lines(host.tcp) as wire:
        wire.say(fresh("x").ljust(32, "y"))
        assert wire.silent()


def test_a_name_that_is_already_playing_is_refused(host: Inspected) -> None:
    with table(host) as (ann, one, _, _, _), Lines(host.tcp) as other:
        other.say(ann)
        said = other.rest()
        assert said.count(b"\n") == 1
        assert said[:1] not in b"{["
        assert one.silent(), "and whoever plays under it is not disturbed"


def test_names_alike_but_for_case_or_form_collide(host: Inspected) -> None:
    with table(host) as (ann, _, _, _, _):
        for alike in (ann.upper(), ann.replace("A", "\uff21")):
            with Lines(host.tcp) as other:
                other.say(alike)
                assert other.rest().count(b"\n") == 1, alike


def test_whoever_hangs_up_has_lost_and_the_opponent_gets_the_final_state(host: Inspected) -> None:
    """At once: a bot of the memo has no token to come back with."""
    with table(host) as (ann, one, bob, two, state):
        placed(state, {ann: one, bob: two})
        one.close()
        end = two.hear()
        assert end[:2] == ["gameOver", bob]


def test_twenty_refusals_in_one_match_forfeit_it(host: Inspected) -> None:
    with table(host) as (_, one, bob, two, state):
        for number in range(1, 20):
            one.say("9 9")
            assert one.hear() == state, number
        one.say("9 9")
        assert one.hear()[:2] == ["gameOver", bob]
        assert two.hear()[:2] == ["gameOver", bob]


def test_what_is_said_out_of_turn_changes_nothing(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, _):
        two.say("3 3")
        one.say("0 0")
        after = one.hear()
        assert after[:2] == ["placeWorker", bob]
        assert after[3:] == [[ann, [0, 0]], [bob, []]]


def test_half_a_line_and_a_hang_up_are_not_a_move(host: Inspected) -> None:
    with table(host) as (ann, one, bob, two, _):
        one.send(b"0 0")
        one.socket.shutdown(1)
        end = two.hear()
        assert end[:2] == ["gameOver", bob]
        assert end[3] == [ann, []]


def test_a_line_without_end_is_cut_off_at_its_cap(host: Inspected) -> None:
    """512 bytes of a bot that has said its name; the first line may be JSON, and that 4 KiB."""
    with Lines(host.tcp) as wire:
        wire.send(b"x" * 5000)
        assert b"x" * 100 not in wire.rest()
    with table(host) as (_, one, bob, two, _):
        one.send(b"1" * 600)
        one.rest()
        assert two.hear()[:2] == ["gameOver", bob]


def test_a_line_in_half_is_put_together(host: Inspected) -> None:
    with table(host) as (_, one, _, two, _):
        for part in (b"2", b" ", b"3", b"\r", b"\n"):
            one.send(part)
            assert part == b"\n" or one.silent(0.02)
        assert two.hear()[3][1] == [2, 3]
        assert one.hear()[3][1] == [2, 3]


def test_invalid_utf_8_and_utf_16_are_no_name(host: Inspected) -> None:
    for line in (b"\xff\xfe", "Ann".encode("utf-16"), b"\xc0\xafAnn", b'"\\ud800"'):
        with Lines(host.tcp) as wire:
            wire.send(line + b"\n")
            assert wire.rest(), line


def test_whoever_cannot_come_up_with_a_line_that_can_be_read_is_cut_off(host: Inspected) -> None:
    """A junk budget per connection, apart from the twenty refusals in a match: here nobody plays."""
    with Lines(host.tcp) as wire:
        wire.say(fresh())
        wire.send(b"garbage\n" * 300)
        wire.rest()
