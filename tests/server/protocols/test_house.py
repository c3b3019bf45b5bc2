"""The house protocol, over TCP and by itself: what is said when, coming back, and what nobody should say."""

import gc
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from games.catalogue import catalogue
from server.export.json_views import match_in_play, moment
from server.host.placing import Placing
from server.host.unwelcome import LATER, STOPPING
from server.net.limits import Limits, Rate
from server.net.listening import Admission
from server.pages.match import item
from server.pages.story import Story
from server.protocols.dialect import Channel
from server.protocols.house import messages
from server.protocols.house.talk import HouseTalk
from server.stopping import LINGER, until_bots_know
from tests.server.cutting import cut, places
from tests.server.protocols.room import Guest, Room, room
from tests.server.protocols.table import Slow
from tests.server.windowed import Weather
from tournament.desk import Desk
from tournament.facts import Concluded, State

SCHEMA = Path(__file__).parents[3] / "docs/protocols/house.schema.json"
OWN = "a-token-of-ones-own"
FIRST = "open-tic-tac-toe-1"  # the first match there is


def put(field: str) -> dict[str, str]:
    return {"action": "putSymbol", "position": field}


async def pair(hall: Room, game: str = "tic-tac-toe", **more: Any) -> tuple[Guest, Guest]:
    """Ann and Bob, in a match in which Ann is to begin. What they have been told is forgotten."""
    ann, bob = await hall.hello("ann", game, token=OWN, **more), await hall.hello("bob", game, **more)
    assert [message["type"] for message in await ann.messages()] == ["welcome", "begin", "turn"]
    assert [message["type"] for message in await bob.messages()] == ["welcome", "begin", "turn"]
    return ann, bob


async def reasons(guest: Guest) -> list[str]:
    """Why the last things it said were refused; all that it was told is refusals."""
    told = await guest.messages()
    assert all(message["type"] == "refused" for message in told), told
    return [message["reason"] for message in told]


# A match


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(catalogue()))
async def test_two_bots_that_know_only_the_messages_play_every_game_to_its_end(
    game: str, autojump_clock: MockClock
) -> None:
    settings = {"tournament": "cup", "game": game, "format": "double-round-robin", "entrants": "2"}
    async with room(settings) as hall:
        guests = [await hall.hello(name, game) for name in ("ann", "bob")]
        async with trio.open_nursery() as nursery:
            for guest in guests:
                nursery.start_soon(plays, guest, game)
        record = hall.host.tournaments["cup"].record
        assert record.state is State.FINISHED
        assert [match.ending for match in record.matches.values()] == ["played"] * 2


async def plays(guest: Guest, game: str) -> None:
    """Replays what it is told on a board of its own, and answers with the first move there is."""
    rules, you, players, position = catalogue()[game], "", (), None
    while True:
        for told in await guest.messages():
            match told["type"]:
                case "begin":
                    you, players, position = told["you"], (*told["players"],), rules.start()
                case "turn":
                    if told["last"] is not None:
                        position = position.play(rules.read(told["last"], position))
                    assert told["state"] == as_json(rules.show(position, players))
                    if told["turn"] == you:
                        move = next(iter(position.moves()))
                        sent = (
                            rules.short(move)
                            if told["ply"] % 2 and game != "connect-4"
                            else rules.write(move)
                        )
                        await guest.tell(type="move", match=told["match"], ply=told["ply"], move=sent)
                case "standings":
                    return
        await trio.sleep(0.001)


def as_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


async def test_both_are_told_of_every_change_in_the_same_words(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for ply, field in enumerate(("C", "N", "NW", "S", "SE")):
            await (ann, bob)[ply % 2].tell(type="move", match="open-tic-tac-toe-1", ply=ply, move=put(field))
            lines = (await ann.lines())[:2], (await bob.lines())[:2]
            assert lines[0] == lines[1]
            turn = msgspec.json.decode(lines[0][0])
            assert (turn["type"], turn["ply"], turn["last"]) == ("turn", ply + 1, put(field))
        assert turn["turn"] is None
        assert msgspec.json.decode(lines[0][1]) == {
            "type": "end",
            "match": "open-tic-tac-toe-1",
            "winner": "O",
            "ending": "played",
            "why": "O has three in a row",
            "replay": "/matches/open-tic-tac-toe-1",
            "fault": None,
            "cause": [],
            "receipt": await hall.host.store.receipt(
                "open-tic-tac-toe-1".rpartition("-")[0], "open-tic-tac-toe-1"
            ),
        }


async def test_match_and_ply_may_be_left_out_and_a_move_may_be_typed(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.tell(type="move", move="C")
        await bob.say("NW")
        await ann.say('  "N" ')
        assert [told["last"]["position"] for told in await ann.messages("turn")] == ["C", "NW", "N"]


async def test_a_typed_number_is_a_number(autojump_clock: MockClock) -> None:
    settings = {"tournament": "cup", "game": "connect-4", "format": "round-robin", "entrants": "2"}
    async with room(settings) as hall:
        for name in ("ann", "bob"):
            await (guest := await hall.hello(name, "connect-4")).say("3")
            begun = await guest.messages("begin")
        await guest.say("3") if begun[0]["you"] == "first" else None
        assert hall.host.tournaments["cup"].matches["cup-1"].moves in ([], [3])


async def test_the_clocks_are_told_as_they_stand(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await trio.sleep(3.0)
        await ann.say("C")
        assert [told["clock"] for told in await bob.messages()] == [[17.0, 18.0]]
        await trio.sleep(1.5)
        await bob.tell(type="state")
        (told,) = await bob.messages()
        assert (told["type"], told["ply"], told["clock"]) == ("turn", 1, [17.0, 16.5])
        await trio.sleep(1 / 3)
        await bob.tell(type="state")
        assert [told["clock"] for told in await bob.messages()] == [[17.0, 16.167]]


@pytest.mark.parametrize(
    ("said", "ending"),
    [
        ('{"type":"resign"}', "resigned"),
        ('{"type":"resign","match":"open-tic-tac-toe-1"}', "resigned"),
        ('{"type":"move","move":"XX"}', "illegal"),
        ("XX", "illegal"),
        ("", "time"),
    ],
)
async def test_every_ending_has_its_name(said: str, ending: str, autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say(said)
        await trio.sleep(18.1)
        end = (await bob.messages("end"))[0]
        assert (end["winner"], end["ending"]) == ("X", ending)


async def test_a_bye_is_leaving_and_before_both_have_moved_it_costs_nobody_anything(
    autojump_clock: MockClock,
) -> None:
    for moves, winner, ending, why in (
        (("C",), None, "void", "ann left before both had moved"),
        (("C", "NW"), "X", "left", "ann left the match"),
    ):
        async with room() as hall:
            ann, bob = await pair(hall)
            for bot, move in zip((ann, bob), moves, strict=False):
                await bot.say(move)
            await ann.say('{"type":"bye"}')
            (end,) = await bob.messages("end")
            assert (end["winner"], end["ending"], end["why"]) == (winner, ending, why)


async def test_the_clock_of_whoever_is_gone_runs_on(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("C")
        await bob.say("NW")
        await bob.messages()
        await ann.close()
        await trio.sleep(2.0)
        await trio.sleep(18.1)
        assert [end["ending"] for end in await bob.messages("end")] == ["time"]


async def test_a_draw_is_called_so_and_a_void_match_has_no_winner(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for ply, field in enumerate(("NW", "N", "NE", "W", "C", "SW", "E", "SE", "S")):
            await (ann, bob)[ply % 2].say(field)
        assert (await ann.messages("end"))[0]["winner"] == "draw"
        (match,) = hall.host.tournaments["open-tic-tac-toe"].matches.values()
        match.void("for a test", trio.current_time())
        assert [(end["winner"], end["ending"]) for end in await bob.messages("end")] == [
            ("draw", "played"),
            (None, "void"),
        ]


async def test_where_a_fault_costs_a_try_the_bot_alone_is_told(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall, "santorini")
        await ann.tell(type="move", ply=0, move=[6, 0])
        (told,) = await ann.messages()
        assert told == {
            "type": "refused",
            "match": "open-santorini-1",
            "ply": 0,
            "reason": 'expected "x y" or [x,y], a field for a worker, with x and y from 0 to 5; not [6, 0]',
        }
        assert await bob.messages() == []
        await ann.tell(type="move", ply=0, move=[5, 0])
        assert len(await bob.messages("turn")) == 1


async def test_where_a_fault_costs_the_match_the_bot_is_told_which_fault_first(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.tell(type="move", ply=0, move="XX")
        refused, end = (await ann.messages())[:2]
        assert (refused["type"], refused["ply"], end["type"]) == ("refused", 0, "end")
        assert (await bob.messages())[0]["type"] == "end"


@pytest.mark.parametrize(
    "move", [1.0, True, None, "01", [[]], {"a": {}}, 10**100, -1, 7, [3], "3\n", float(10**300)]
)
async def test_what_is_not_quite_a_move_is_not_taken_for_one(move: object, autojump_clock: MockClock) -> None:
    settings = {"tournament": "cup", "game": "connect-4", "format": "round-robin", "entrants": "2"}
    async with room(settings) as hall:
        guests = [await hall.hello(name, "connect-4") for name in ("ann", "bob")]
        for guest in guests:
            await guest.messages()
            await guest.tell(type="move", match="cup-1", ply=0, move=move)
        assert hall.host.tournaments["cup"].matches["cup-1"].moves == []
        assert [len(await reasons(guest)) for guest in guests] == [1, 1]


# What is asked and what is not


async def test_an_answer_to_another_question_has_no_effect_and_costs_nothing(
    autojump_clock: MockClock,
) -> None:
    """In a game in which a fault costs the match."""
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("C")
        await bob.say("N")
        await ann.messages()
        await ann.tell(type="move", ply=0, move="NW")
        await ann.tell(type="move", ply=3, move="NW")
        await ann.tell(type="move", match="open-tic-tac-toe-7", move="NW")
        await bob.tell(type="move", ply=2, move="NW")
        assert await reasons(ann) == [
            "ply 0 is not what is asked: the match is at ply 2",
            "ply 3 is not what is asked: the match is at ply 2",
            'match "open-tic-tac-toe-7" is not being played; open-tic-tac-toe-1 is',
        ]
        assert (await bob.messages("refused"))[0]["reason"] == "it is the other player's turn"
        await ann.tell(type="move", ply=2, move="NW")
        assert len(await ann.messages("turn")) == 1


async def test_the_last_of_a_key_that_is_there_twice_counts(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say('{"type":"move","move":"NW","move":"C"}')
        (told,) = await ann.messages("turn")
        assert told["last"]["position"] == "C"
        await bob.say('{"type":"move","move":"N","type":"state"}', '{"type":"state","type":"bye"}')
        assert [each["type"] for each in await bob.messages()] == ["turn", "turn", "[closed]"]


async def test_late_answers_that_say_what_they_answer_are_never_too_many(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(junk_total=3)) as hall:
        ann, _ = await pair(hall)
        for _ in range(90):
            await trio.sleep(0.01)
            await ann.tell(type="move", match="open-tic-tac-toe-0", ply=9, move="C")
        assert len(await reasons(ann)) == 90


async def test_a_move_sent_before_its_question_needs_a_ply_to_count(autojump_clock: MockClock) -> None:
    moves = [[0, 0], [5, 5], [0, 1], [5, 4]]
    async with room() as hall:
        ann, bob = await pair(hall, "santorini")
        for ply, move in enumerate(moves):
            await (ann, bob)[ply % 2].tell(type="move", move=move)
        await ann.messages()
        first, second = ('{"type":"move","move":[1,1,0]}', '{"type":"move","move":[0,0]}')
        await ann.say(first, second)
        told = await ann.messages()
        assert [each["type"] for each in told] == ["turn", "refused"]
        assert "before the question" in told[1]["reason"]
        await ann.tell(type="move", move=[0, 0])
        await bob.say('{"type":"move","ply":6,"move":[1,4,5]}', '{"type":"move","ply":7,"move":[5,5]}')
        assert hall.host.tournaments["open-santorini"].matches["open-santorini-1"].ply == 8


async def test_illegal_moves_in_one_piece_forfeit_like_those_that_come_one_by_one(
    autojump_clock: MockClock,
) -> None:
    """A refusal leaves the question open: they are no moves before a question, for which a bot is cut off."""
    async with room() as hall:
        ann, bob = await pair(hall, "santorini")
        await ann.say(*['{"type":"move","move":[6,0]}'] * 20)
        told = await ann.messages("refused", "end")
        assert [each["type"] for each in told] == ["refused"] * 20 + ["end"]
        assert told[-1]["ending"] == "illegal"
        assert (await bob.messages("end"))[0]["winner"] == "second"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "this is not JSON: Input data was truncated; over TCP a message is one line"),
        ('\ufeff{"type":"move","move":"C"}', "this is not JSON: a byte order mark is before it"),
        ('{"type":"flip"}', 'type: expected one of hello, move, resign, state, bye, not "flip"'),
        ('{"name":"ann"}', "type is required, and is missing; there are: hello, move, resign, state, bye"),
        ('{"type":"move"}', "this move does not fit: move is required, and is missing"),
        (
            '{"type":"move","move":1,"ply":"1"}',
            'this move does not fit: ply: expected a whole number, not "1"',
        ),
        ('{"type":"move","move":1,"ply":-1}', "ply: expected a whole number of 0 or more, not -1"),
        (
            '{"type":"move","move":1,"ply":' + "9" * 3000 + "}",
            "ply: expected a whole number of 2147483648 or less, not a number of more than",
        ),
        ('{"type":"move","move":NaN}', "this is not JSON"),
        ('{"type":"move","move":1e999}', "a number in this message is too large"),
        pytest.param(
            '{"type":"move","move":' + "[" * 2000 + "]" * 2000 + "}",
            "nested too deeply",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons can read that"),
        ),
        ('{"type":"resign","match":"open-tic-tac-toe-0"}', "is not being played; open-tic-tac-toe-1 is"),
        ('{"type":"hello","name":"ann","game":"tic-tac-toe"}', "you are playing match open-tic-tac-toe-1"),
    ],
    ids=lambda text: text[:50],
)
async def test_what_is_no_message_is_refused_in_words_and_play_goes_on(
    line: str, reason: str, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say(line)
        (told,) = await reasons(ann)
        assert reason in told
        assert len(told) < 400
        await ann.say("C")
        assert len(await bob.messages("turn")) == 1


@pytest.mark.parametrize(
    "junk",
    [
        b"\xff",
        b'{"type":"state\xff"}',
        b'{"type":"resign","unknown":"\xff"}',
        b"\xef\xbb\xbf{}",
        '{"type":"bye"}'.encode("utf-16"),
    ],
)
async def test_what_is_no_utf_8_is_refused(junk: bytes, autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall, "santorini")
        await ann.send(junk + b"\n")
        assert len(await ann.messages("refused")) == len(await ann.messages()) + 1
        await ann.say("0 0")
        assert len(await bob.messages("turn")) == 1


async def test_the_last_of_a_key_that_comes_twice_counts(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, _ = await pair(hall)
        await ann.say('{"type":"move","move":"NW","move":"C"}')
        assert (await ann.messages("turn"))[0]["last"]["position"] == "C"


async def test_fields_and_blank_lines_that_nobody_knows_are_passed_over(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, _ = await pair(hall)
        await ann.say("", "  ", '{"type":"move","colour":"red","move":"C"}')
        assert len(await ann.messages("turn")) == 1


@pytest.mark.parametrize(
    "sent", ["C", '{"type":"state"}', '{"type":"bye"}', '{"type":"move","move":"C"}', '{"type":"resign"}']
)
async def test_before_a_hello_nothing_else_is_understood(sent: str, autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come('{"type":"bye"}', sent)
        assert [reason[:15] for reason in await reasons(ann)] == ["say hello first"] * 2
        await trio.sleep(5.0)
        assert await ann.lines() == ["[closed]"]


async def test_between_matches_there_is_nothing_to_move_resign_or_ask(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.hello("ann")
        await ann.messages()
        for message in ({"type": "state"}, {"type": "resign"}, {"type": "move", "move": "C"}):
            await ann.tell(**message)
        assert await reasons(ann) == ["no match is being played just now"] * 3


async def test_a_match_that_is_over_asks_for_nothing_while_its_end_is_being_kept(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is asked, refused and asked again, as fast as it can, until it is cut for that."""
    async with room() as hall:
        ann, bob = await pair(hall)
        for ply, field in enumerate(("C", "N", "NW", "S")):
            await (ann, bob)[ply % 2].say(field)
        await ann.messages()
        await ann.send(b'SE\n{"type":"move","ply":4,"move":"E"}\n{"type":"state"}\n')
        late, state, _, end = (await ann.messages())[:4]
        assert [late["reason"], state["reason"]] == ["the match is over"] * 2
        assert (end["type"], end["winner"]) == ("end", "O")


async def test_whoever_comes_back_to_a_match_that_is_over_is_told_the_end_and_asked_for_nothing(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is asked for the deciding move once more, and refused as often as it answers."""
    async with room(store=Slow(Concluded)) as hall:
        ann, bob = await pair(hall)
        for ply, field in enumerate(("C", "N", "NW", "S", "SE")):
            await (ann, bob)[ply % 2].say(field)
        await ann.end.close()
        ann = await hall.hello("ann", token=OWN)
        assert [message["type"] for message in await ann.messages()] == ["welcome", "begin"]
        await trio.sleep(15.0)
        turn, end = (await ann.messages())[:2]
        assert (turn["ply"], turn["turn"]) == (5, None)
        assert (end["type"], end["winner"]) == ("end", "O")


# Too much


async def test_too_much_junk_ends_the_connection_in_words(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(junk=Rate(2, 10.0))) as hall:
        ann, _ = await pair(hall)
        await ann.say("{", "{", "{")
        *told, last, closed = await ann.lines()
        assert len(told) == 2
        assert "too many messages without a meaning" in last
        assert closed == "[closed]"


async def test_too_many_messages_end_the_connection_but_answers_are_never_too_many(
    autojump_clock: MockClock,
) -> None:
    async with room(limits=Limits(messages=Rate(10, 1000.0))) as hall:
        ann, bob = await pair(hall)
        for first, second in ((ann, bob), (bob, ann), (ann, bob)):
            for ply, field in enumerate(("NW", "N", "NE", "W", "C", "SW", "E", "SE", "S")):
                await (first, second)[ply % 2].say(field)
        assert len(await ann.messages("end")) == 3
        for _ in range(11):
            await ann.tell(type="state")
        assert (await ann.messages())[-2]["reason"] == "too many messages, and no answers to questions"


async def test_the_second_end_of_an_answer_costs_nothing(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(messages=Rate(3, 1e9))) as hall:
        ann, bob = await pair(hall)
        for ply, field in enumerate(("NW", "N", "NE", "W", "C", "SW", "E", "SE", "S")):
            await (ann, bob)[ply % 2].say(field, "")
        assert len(await ann.messages("end")) == 1
        await ann.say("", "")  # its hello has cost something, too
        assert not await ann.messages("refused", "[closed]")
        await ann.say("")
        assert [told["type"] for told in await ann.messages()] == ["refused", "[closed]"]


async def test_asking_for_the_state_is_no_way_round_the_limit(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(messages=Rate(10, 1000.0))) as hall:
        ann, _ = await pair(hall)
        for _ in range(20):
            await ann.wire.send_all(b'{"type":"state"}\n')
        assert len(await ann.messages("turn")) <= 11


async def test_a_line_that_is_too_long_ends_the_connection_in_words(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, _ = await pair(hall)
        await ann.say(" " * 5000)
        told, closed = await ann.messages()
        assert told["reason"].startswith("a line may have 4096 bytes")
        assert closed["type"] == "[closed]"


async def test_whatever_carries_it_a_message_is_no_longer_than_it_may_be(autojump_clock: MockClock) -> None:
    async with room() as hall:
        said: list[bytes] = []
        channel = Channel(
            hall.host, lambda message, urgent: said.append(message), lambda reason: None, "192.0.2.1"
        )
        house = HouseTalk(channel)
        house.hear(b"{" + b" " * 4096, trio.current_time())
        assert "a message may have 4096 bytes, and this one has 4097" in said[0].decode()


async def test_what_comes_before_the_welcome_waits_for_it_and_is_bounded(autojump_clock: MockClock) -> None:
    hello = '{"type":"hello","name":"ann","game":"tic-tac-toe"}'
    async with room(limits=Limits(early_messages=3)) as hall:
        patient = await hall.come(hello, *['{"type":"state"}'] * 3)
        assert [told["type"] for told in await patient.messages()] == ["welcome"] + ["refused"] * 3
        other = await hall.come(hello.replace("ann", "bob"), *['{"type":"state"}'] * 4)
        assert [told["type"] for told in await other.messages()][-1] == "[closed]"


# Coming in


async def test_a_hello_says_what_it_needs_and_where_it_has_come(autojump_clock: MockClock) -> None:
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}
    async with room(settings) as hall:
        (welcome,) = await (await hall.hello("ann", token=OWN)).messages()
        assert welcome == {
            "type": "welcome",
            "name": "ann",
            "token": OWN,
            "game": "tic-tac-toe",
            "tournament": "cup",
        }
        (elsewhere,) = await (await hall.hello("bob", "quoridor")).messages()
        assert elsewhere["tournament"] is None
        assert len(elsewhere["token"]) >= 22


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        (
            {"game": "chess"},
            f'there is no game "chess"; there are: {", ".join(catalogue())}',
        ),
        ({"protocol": 2}, "this host speaks protocol 1, not 2"),
        ({"tournament": "nowhere"}, "there is no tournament 'nowhere' of tic-tac-toe"),
        ({"name": ""}, "a name has at least one character"),
        ({"name": "Draw"}, "reserved"),
        ({"name": "a" * 33}, "at most 32"),
        ({"name": "a\u202eb"}, "bidirectional"),
        ({"name": "ANN"}, "the name ANN is taken"),
        ({"name": "ann", "token": "another-token-altogether"}, "and this is not its token"),
    ],
    ids=lambda given: str(given)[:40],
)
async def test_a_hello_that_cannot_be_granted_says_why_and_may_be_said_better(
    hello: dict[str, Any], reason: str, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        await hall.hello("ann", token=OWN)
        bob = await hall.come()
        await bob.tell(**{"type": "hello", "name": "bob", "game": "tic-tac-toe"} | hello)
        (told,) = await reasons(bob)
        assert reason in told
        assert OWN not in told
        await bob.tell(type="hello", name="bob", game="tic-tac-toe")
        assert [told["type"] for told in await bob.messages()] == ["welcome", "begin", "turn"]


async def test_whoever_is_not_welcomed_in_time_is_shown_out(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.hello("Draw")
        await trio.sleep(5.0)
        assert [told["type"] for told in await ann.messages()] == ["refused", "[closed]"]


async def test_memo_bots_and_house_bots_play_each_other(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await hall.come("ann"), await hall.hello("bob", "santorini")
        await ann.say("0 0")
        await bob.tell(type="move", ply=1, move=[5, 5])
        assert (await ann.states())[-1] == (await bob.messages())[-1]["state"]


# Coming back


async def test_whoever_comes_back_with_the_token_is_told_all_it_needs_to_go_on(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("C")
        await bob.say("N")
        await ann.close()
        await trio.sleep(10.0)
        again = await hall.hello("ann", token=OWN)
        welcome, begin, turn = await again.messages()
        assert welcome["token"] == OWN
        assert (begin["match"], begin["you"], begin["players"]) == ("open-tic-tac-toe-1", "O", ["ann", "bob"])
        assert (turn["ply"], turn["turn"], turn["last"], turn["clock"]) == (2, "O", put("N"), [10.0, 20.0])
        assert (
            turn["state"] == begin["state"] == {"board": [None, "X", None, None, "O", None, None, None, None]}
        )
        await again.tell(type="move", ply=2, move="NW")
        assert len(await bob.messages("turn")) == 3


async def test_a_newcomer_with_the_token_takes_over_at_once_from_a_connection_that_hangs(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        again = await hall.hello("ann", token=OWN)
        assert [told["type"] for told in await again.messages()] == ["welcome", "begin", "turn"]
        told, closed = await ann.messages()
        assert told["reason"] == "somebody with the same token has taken over"
        assert closed["type"] == "[closed]"
        await trio.sleep(5.0)
        await again.say("C")
        assert len(await bob.messages("turn")) == 1
        assert len(await again.messages("turn")) == 1


async def test_the_end_of_a_connection_that_was_replaced_is_nobodys_end(autojump_clock: MockClock) -> None:
    """Catches cleaning up what somebody else holds by now."""
    async with room() as hall:
        ann, bob = await pair(hall)
        ann.wire.pull()
        again = await hall.hello("ann", token=OWN)
        await trio.sleep(12.0)
        await again.say("C")
        await trio.sleep(17.0)
        assert [told["type"] for told in await bob.messages()] == ["turn"]


async def test_two_bots_with_one_token_cannot_kick_each_other_for_ever(autojump_clock: MockClock) -> None:
    async with room() as hall:
        await pair(hall)
        for _ in range(5):
            assert len(await (await hall.hello("ann", token=OWN)).messages()) == 3
        late = await hall.hello("ann", token=OWN)
        assert await reasons(late) == ["the name ann is being taken over too often: wait for a minute"]


@pytest.mark.usefixtures("nothing_old")
@pytest.mark.slow
async def test_a_connection_that_is_gone_is_forgotten_while_play_goes_on(
    autojump_clock: MockClock,
) -> None:
    def kept() -> int:
        gc.collect()
        return sum(isinstance(each, HouseTalk) for each in gc.get_objects())

    before = kept()
    async with room() as hall:
        _, bob = await pair(hall)
        for _ in range(3):
            again = await hall.hello("ann", token=OWN)
        await trio.sleep(3.0)
        assert kept() - before == 2
        await again.close()
        await bob.close()
        await trio.sleep(3.0)
        assert kept() - before == 0
        assert len(hall.host.tournaments["open-tic-tac-toe"].matches) == 1


async def test_a_token_that_may_never_have_arrived_locks_nobody_out(autojump_clock: MockClock) -> None:
    async with room() as hall:
        lost = await hall.come(weather=Weather(latency=1.0), deaf=True)
        await lost.tell(type="hello", name="ann", game="tic-tac-toe")
        await trio.sleep(1.0)
        lost.wire.reset()
        await trio.sleep(1.0)
        (welcome,) = await (await hall.hello("ann")).messages()
        assert welcome["type"] == "welcome"


async def test_whoever_hangs_up_before_the_welcome_is_not_here(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.come()
        await ann.wire.send_all(b'{"type":"hello","name":"ann","game":"tic-tac-toe"}\n')
        ann.wire.reset()
        await hall.hello("bob")
        assert not hall.host.tournaments["open-tic-tac-toe"].matches


async def test_whoever_is_gone_too_long_has_left(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann, bob = await pair(hall, "connect-4")
        for bot in (ann, bob, ann):  # whoever begins
            await bot.tell(type="move", move=3)
        await ann.close()
        await trio.sleep(30.1)
        (end,) = await bob.messages("end")
        why = "ann left the match: disconnected 30 s earlier and did not come back"
        assert (end["ending"], end["why"], end["fault"]) == ("left", why, "network")
        assert [cause["kind"] for cause in end["cause"]] == ["disconnected", "absent"]


async def test_how_long_a_bot_may_be_gone_is_a_limit(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(away_seconds=3.0)) as hall:
        ann, bob = await pair(hall, "connect-4")
        for bot in (ann, bob, ann):  # whoever begins
            await bot.tell(type="move", move=3)
        await ann.close()
        await trio.sleep(2.9)
        assert not await bob.messages("end")
        await trio.sleep(0.2)
        (end,) = await bob.messages("end")
    assert (end["ending"], end["why"]) == (
        "left",
        "ann left the match: disconnected 3 s earlier and did not come back",
    )


async def test_how_many_moves_may_be_refused_is_a_limit(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(refusals=2)) as hall:
        ann, bob = await pair(hall, "connect-4")
        for bot in (ann, bob):
            for _ in range(2):
                await bot.tell(type="move", move=9, ply=0)
        (end,) = await ann.messages("end")
    assert end["ending"] == "illegal"
    assert "2 moves were refused" in end["why"]


async def test_the_final_standings_say_who_is_out(autojump_clock: MockClock) -> None:
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "3"}
    async with room(settings) as hall:
        bots = [await hall.hello(name) for name in ("ann", "bob", "cas")]
        await Desk(hall.host.tournaments["cup"]).withdraw("cas")
        for bot in bots[:2]:
            await bot.tell(type="resign")
        *_, standings = await bots[0].messages()
    out = {row["name"]: (row.get("out"), row.get("annulled")) for row in standings["rows"]}
    assert out == {"ann": (None, None), "bob": (None, None), "cas": ("withdrawn", True)}


async def test_a_bot_is_told_that_the_standings_of_its_tournament_are_frozen(
    autojump_clock: MockClock,
) -> None:
    """Catches standings of before the last match that looked like the final ones."""
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}
    async with room(settings) as hall:
        ann, _ = await hall.hello("ann"), await hall.hello("bob")
        await Desk(hall.host.tournaments["cup"]).freeze()
        await ann.tell(type="resign")
        *_, standings = await ann.messages()
    assert standings["frozen"]
    assert [row["played"] for row in standings["rows"]] == [0, 0]


async def test_when_its_tournament_is_over_a_bot_is_told_the_standings_and_may_say_hello_again(
    autojump_clock: MockClock,
) -> None:
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}
    async with room(settings) as hall:
        ann, bob = await hall.hello("ann", token=OWN), await hall.hello("bob")
        await ann.tell(type="resign")
        *_, end, standings = await ann.messages()
        assert end["ending"] == "resigned"
        assert standings == (await bob.messages())[-1]
        assert (standings["type"], standings["tournament"], standings["final"]) == ("standings", "cup", True)
        assert [(row["rank"], row["name"], row["points"]) for row in standings["rows"]] == [
            (1, "bob", 1.0),
            (2, "ann", 0.0),
        ]
        for name, guest in (("bob", bob), ("ann", ann)):
            await guest.tell(type="hello", name=name, game="tic-tac-toe")
        welcome, begin, _ = await ann.messages()
        assert (welcome["tournament"], welcome["token"]) == (None, OWN)
        assert begin["players"] == ["ann", "bob"]


async def test_a_host_that_is_to_stop_lets_nobody_in_but_those_who_come_back_to_their_match(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is kept out while the host waits for others, and loses its match by that."""
    async with room() as hall:
        for name in ("Cas", "Dee"):  # for whose match it waits: nobody can come back to that
            await hall.come(name)
        ann, bob = await pair(hall)
        await ann.end.close()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hall.host.drain)
            for other in (None, f"not {OWN}"):
                assert await reasons(await hall.hello("ann", token=other)) == [STOPPING]
            ann = await hall.hello("ann", token=OWN)
            assert [message["type"] for message in await ann.messages()] == ["welcome", "begin", "turn"]
            await ann.say("C")
            (turn,) = await bob.messages()
            assert (turn["ply"], turn["last"]) == (1, put("C"))
            assert await reasons(await hall.hello("eve")) == [STOPPING]
            await hall.host.stop()
            assert await reasons(await hall.hello("ann", token=OWN)) == [STOPPING]
            nursery.cancel_scope.cancel()


async def test_a_host_that_is_to_stop_tells_the_standings_first(autojump_clock: MockClock) -> None:
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}

    async def slowly(work: Callable[[], Any]) -> Any:
        await trio.sleep(1.0)
        return work()

    async with room(settings) as hall:
        hall.host.boards.run = slowly
        ann, bob = await hall.hello("ann"), await hall.hello("bob")
        await ann.messages()
        await bob.messages()
        await ann.tell(type="resign")
        await hall.host.drain()
        await hall.host.stop()
        for guest in (ann, bob):
            told = [message["type"] for message in await guest.messages()]
            assert told == ["end", "standings", "refused", "[closed]"]


async def test_a_host_whose_tournament_is_over_tells_the_standings_before_it_ends(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that ended by `--until-done` while bots were still waiting for the standings."""
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}

    async def slowly(work: Callable[[], Any]) -> Any:
        await trio.sleep(2 * LINGER)
        return work()

    async with room(settings) as hall:
        host = hall.host
        host.boards.run = slowly
        ann, bob = await hall.hello("ann"), await hall.hello("bob")
        await ann.messages()
        await bob.messages()
        await ann.tell(type="resign")
        await host.tournaments["cup"].finished()
        await until_bots_know(host, None, Admission(host.limits), 5 * LINGER)
        await host.stop()
        for guest in (ann, bob):
            told = [message["type"] for message in await guest.messages()]
            assert told == ["end", "standings", "refused", "[closed]"]


async def test_whoever_is_taken_out_of_its_tournament_is_told_so_and_hung_up_on(
    autojump_clock: MockClock,
) -> None:
    """In its match it is told the end first; and when it comes again, it is told the same."""
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "3"}
    why = {"type": "refused", "reason": "ann was withdrawn from cup: ask its organiser why"}
    async with room(settings) as hall:
        ann = await hall.hello("ann", token=OWN)
        await hall.hello("bob")
        cas = await hall.hello("cas")
        desk = Desk(hall.host.tournaments["cup"])
        await ann.messages()
        await desk.withdraw("ann")
        *before, refused, closed = await ann.messages()
        assert (refused, closed["type"]) == (why, "[closed]")
        assert [each["type"] for each in before] in ([], ["end"])
        again = await hall.hello("ann", token=OWN, tournament="cup")
        assert await again.messages() == [why]
        assert "refused" not in [each["type"] for each in await cas.messages()]


async def test_a_bot_may_go_on_to_another_game_over_the_same_connection(autojump_clock: MockClock) -> None:
    async with room() as hall:
        ann = await hall.hello("ann")
        await ann.tell(type="hello", name="annie", game="quoridor")
        first, second = await ann.messages()
        assert (first["game"], second["game"], second["name"]) == ("tic-tac-toe", "quoridor", "annie")
        await hall.hello("bob")
        await hall.hello("cas", "quoridor")
        assert [told["match"] for told in await ann.messages("begin")] == ["open-quoridor-1"]


async def test_bye_ends_the_connection_and_frees_the_name(autojump_clock: MockClock) -> None:
    """That of a bot that has finished a match only for its token: `test_throw_away_names.py`."""
    async with room() as hall:
        ann = await hall.hello("ann", token=OWN)
        await ann.messages()
        await ann.tell(type="bye")
        assert await ann.lines() == ["[closed]"]
        assert len(await (await hall.hello("ann")).messages("welcome")) == 1


async def test_a_bot_that_never_reads_is_cut_and_slows_nobody(autojump_clock: MockClock) -> None:
    async with room(limits=Limits(outbox_seconds=3.0)) as hall:
        deaf = await hall.come(weather=Weather(window=400), deaf=True)
        await deaf.tell(type="hello", name="ann", game="santorini")
        bob = await hall.hello("bob", "santorini")
        await deaf.say("0 0")
        await bob.messages()
        await bob.say("5 5")
        assert len(await bob.messages("turn")) == 1
        await trio.sleep(33.1)
        assert len(await bob.messages("end")) == 1


# Numbers, types and pieces


async def test_messages_are_numbered_where_a_transport_resumes_by_it(autojump_clock: MockClock) -> None:
    async with room() as hall:
        said: list[bytes] = []
        channel = Channel(
            hall.host, lambda message, urgent: said.append(message), lambda reason: None, "192.0.2.1"
        )
        house = HouseTalk(channel, numbered=True)
        house.hear(b'{"type":"hello","name":"ann","game":"tic-tac-toe"}', trio.current_time())
        await hall.hello("bob")
        house.hear(b"C", trio.current_time())
        house.hear(b"{", trio.current_time())
        decoded = [msgspec.json.decode(message, type=messages.Told) for message in said]
        assert [message.seq for message in decoded] == [1, 2, 3, 4, 5]
        assert [type(message).__name__ for message in decoded] == [
            "Welcome",
            "Begin",
            "Turn",
            "Turn",
            "Refused",
        ]


def test_the_published_schema_is_that_of_the_types() -> None:
    current = "python -m server.protocols.house.messages > docs/protocols/house.schema.json"
    assert SCHEMA.read_text() == messages.schema_text(), f"to bring it up to date: {current}"


def test_the_schema_names_every_message() -> None:
    grammar = messages.schema()["$defs"]
    said, told = (set(grammar[side]["discriminator"]["mapping"]) for side in ("FromBot", "ToBot"))
    assert said == {"hello", "move", "resign", "state", "bye"}
    assert told == {"welcome", "begin", "turn", "refused", "end", "standings"}


RECEIPT = re.compile(r"\b[0-9a-f]{64}\b")  # made with a salt of which nobody knows
SCRIPT = [
    b'{"type":"hello","name":"ann","game":"tic-tac-toe","token":"a-token-of-ones-own"}\n',
    b'{"type":"move","ply":0,"move":{"action":"putSymbol","position":"C"}}\r\n',
    b'{"type":"move","ply":7,"move":"\xc3\xa9"}\n',
    b"{\n",
    b"NW\n",
    b'{"type":"resign"}\n',
]


@pytest.mark.slow
@given(places)
def test_however_the_input_is_cut_the_same_is_answered(at: list[int]) -> None:
    assert trio.run(exchange, at, clock=MockClock(autojump_threshold=0)) == WHOLE


async def exchange(at: list[int]) -> list[str]:
    async with room() as hall:
        ann = await hall.come()
        for number, said in enumerate(SCRIPT):
            for piece in cut(said, at):
                await ann.send(piece)
            if number == 0:
                bob = await hall.hello("bob")
            if number == 1:
                await bob.say("N")
        return [RECEIPT.sub("a receipt", line) for line in await ann.lines()]


WHOLE = trio.run(exchange, [], clock=MockClock(autojump_threshold=0))


def test_what_is_cut_is_a_match_with_refusals_in_it() -> None:
    types = [msgspec.json.decode(line)["type"] for line in WHOLE]
    assert types[:9] == ["welcome", "begin", "turn", "turn", "turn", "refused", "refused", "turn", "end"]


@given(st.lists(st.binary(max_size=60) | st.sampled_from(SCRIPT), max_size=6))
def test_whatever_a_stranger_says_nothing_fails(said: list[bytes]) -> None:
    trio.run(babble, said, clock=MockClock(autojump_threshold=0))


async def babble(said: list[bytes]) -> None:
    """`hosting` sees to it that nothing has failed. What is told is always a message."""
    async with room() as hall:
        await hall.hello("bob")
        ann = await hall.come('{"type":"bye"}')
        for content in said:
            await ann.send(content)
        for line in await ann.lines():
            assert line == "[closed]" or msgspec.json.decode(line, type=messages.Told)


# Why it was lost, how long it was thought, and how many matches there are to be


async def test_whoever_does_not_end_its_line_is_told_so(autojump_clock: MockClock) -> None:
    """Catches an author who looks in vain for what is slow in a bot that has answered at once."""
    async with room() as hall:
        ann, bob = await pair(hall, "connect-4")
        for each in (ann, bob):  # one of them is to move, by lot
            await each.send(b'{"type":"move",')
            await each.send(b'"move":3}')
        await trio.sleep(61.0)
        (end,) = await ann.messages("end")
        loser = end["cause"][0]["seat"]
    assert end["why"].endswith(
        " ran out of time; 24 bytes of a line had come, without the line break at its end"
    )
    assert (loser, end["winner"]) == (0, "second")
    assert [(late["kind"], late["begun"]) for late in end["cause"]] == [("late", 24)]


async def test_whoever_has_lost_count_is_told_so(autojump_clock: MockClock) -> None:
    """Catches an author who looks in vain for what is slow in a bot whose moves named another ply."""
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("C")
        await ann.tell(type="move", move="N", ply=0)  # not its turn: nothing that it could run out of time by
        await bob.tell(type="move", move="NW", ply=7)
        await bob.say("NW")
        for ply in (1, 3):
            await ann.tell(type="move", move="N", ply=ply)
        await trio.sleep(61.0)
        end, *_ = await ann.messages("end")
    assert end["why"] == ("ann ran out of time; its last move was sent for ply 3, and the match was at ply 2")
    assert [(late["kind"], late["meant"]) for late in end["cause"]] == [("late", 3)]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"type": "move", "field": "N"}, "this move does not fit: move is required, and is missing"),
        ({"move": "N"}, "type is required, and is missing; there are: hello, move, resign, state, bye"),
        (
            {"type": "move", "move": "N", "match": "cup-1"},
            'match "cup-1" is not being played; open-tic-tac-toe-1 is',
        ),
    ],
)
async def test_whoever_answers_with_what_is_no_move_is_told_so_at_the_end(
    said: dict[str, Any], why: str, autojump_clock: MockClock
) -> None:
    """Catches an author who looks in vain for what is slow in a bot whose answers nobody can read."""
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.say("C")
        await ann.say('{"field":"N"}')  # not its turn: nothing that it could run out of time by
        await bob.say("NW")
        await ann.tell(**said)
        await trio.sleep(61.0)
        end, *_ = await ann.messages("end")
    assert end["why"] == f"ann ran out of time; its last message had no effect: {why}"
    assert [(late["kind"], late["ignored"]) for late in end["cause"]] == [("late", why)]


async def test_whoever_named_another_ply_at_an_earlier_move_has_not_lost_count(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        await ann.tell(type="move", move="C", ply=7)
        await ann.say("C")
        await bob.say("NW")
        await trio.sleep(61.0)
        end, *_ = await ann.messages("end")
    assert end["why"] == "ann ran out of time"


async def test_a_line_that_was_begun_over_an_earlier_connection_is_not_counted(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall, "connect-4")
        await ann.send(b'{"type":"move",')
        again = await hall.hello("ann", "connect-4", token=OWN)
        await trio.sleep(61.0)
        (end,) = await again.messages("end")
        assert [end] == await bob.messages("end")
    assert [(late["kind"], "begun" in late) for late in end["cause"]] == [("late", False)]


async def test_the_end_says_what_led_to_it_and_whose_fault_it_was_as_the_api_does(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall, "connect-4")
        for each in (ann, bob):  # one of them is to move, by lot; to the other this means nothing
            await each.tell(type="move", move="e99")
        await trio.sleep(61.0)
        (end,) = await ann.messages("end")
        assert [end] == await bob.messages("end")
        held = hall.host.tournaments["open-connect-4"]
        fact = await held.concluded("open-connect-4-1")
    assert (end["ending"], end["fault"], end["why"]) == ("time", "bot", fact.why)
    assert fact.why.startswith(f"{fact.players[0]} ran out of time; a move was refused before, e99, because ")
    refused, late = end["cause"]
    assert "begun" not in late, "all lines were ended"
    assert (refused["kind"], refused["seat"], refused["ply"], refused["sent"]) == ("refused", 0, 0, "e99")
    assert (late["kind"], late["deadline"]) == ("late", 60.0)
    assert [refused["at"], late["at"]] == [moment(cause.at) for cause in fact.cause]
    assert refused["at"] < late["at"] == moment(fact.ended or 0.0)
    assert end["receipt"] == await hall.host.store.receipt("open-connect-4", "open-connect-4-1") != ""


async def test_what_a_bot_says_it_has_spent_is_kept_apart_from_what_the_network_took(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        for ply, field in enumerate(("C", "N", "NW", "S", "SE")):
            await trio.sleep(0.5)
            spent = {"spent": 0.375} if ply % 2 == 0 else {}
            await (ann, bob)[ply % 2].tell(type="move", ply=ply, move=field, **spent)
        await trio.sleep(0.1)
        fact = await hall.host.tournaments["open-tic-tac-toe"].concluded("open-tic-tac-toe-1")
    assert (fact.thought, fact.network) == ((1.125, None), (0.375, None))


async def test_a_note_stands_beside_its_move_when_the_match_is_over_and_is_shown_to_nobody_before(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await pair(hall)
        held = hall.host.tournaments["open-tic-tac-toe"]
        notes: dict[int, Any] = {0: "<b>the middle</b>", 2: {"tokens": 12, "score": -0.5}, 4: "won"}
        for ply, field in enumerate(("C", "N", "NW", "S", "SE")):
            note = {"note": notes[ply]} if ply in notes else {}
            await (ann, bob)[ply % 2].tell(type="move", ply=ply, move=field, **note)
            await trio.sleep(0.1)
            if ply < 4:
                match = held.matches["open-tic-tac-toe-1"]
                assert match_in_play(held.record, match, True)["notes"] == ()
                assert not Story(held.record, match, hall.host.guard.report).notes
        fact = await held.concluded("open-tic-tac-toe-1")
        told = "".join(await bob.lines())
    assert {noted.ply - 1: noted.note for noted in fact.notes} == notes
    assert "middle" not in told
    story = Story(held.record, fact, hall.host.guard.report)
    items = [item(story, ply, ()) for ply in story.tell()]
    assert '<p class="note">&lt;b&gt;the middle&lt;/b&gt;</p>' in items[0]
    assert '<p class="note">tokens 12, score -0.5</p>' in items[2]
    assert "note" not in items[1]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"spent": -1}, "spent: expected a number of 0 or more, not -1"),
        ({"spent": "long"}, 'spent: expected a number, not "long"'),
        ({"spent": 1e300}, "spent: expected a number of 1000000 or less, not 1e+300"),
        ({"note": "x" * 501}, "note: expected a text of at most 500 characters, not one of 501"),
        ({"note": 7}, "note: expected a text or an object, not 7"),
        ({"note": {"depth": "deep"}}, "note: expected a number each time, not a text"),
        (
            {"note": {"tokens": 2**63}},
            "note: expected a whole number of 9223372036854775807 or less each time, not that",
        ),
        (
            {"note": {"tokens": -(10**400)}},
            "note: expected a whole number of -9223372036854775807 or more each time, not that",
        ),
        (
            {"note": {str(n): n for n in range(17)}},
            "note: expected an object of at most 16 fields, not one of 17",
        ),
    ],
)
async def test_nonsense_about_the_time_spent_and_notes_that_are_none_are_refused(
    said: dict[str, Any], why: str, autojump_clock: MockClock
) -> None:
    async with room() as hall:
        ann, _ = await pair(hall)
        await ann.tell(type="move", move="C", **said)
        (reason,) = await reasons(ann)
    assert reason == f"this move does not fit: {why}"


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ({"move": "C", "match": FIRST, "ply": 0, "note": "x" * 501}, (FIRST, 0)),
        ({"move": "C", "match": FIRST, "ply": 0, "spent": -1}, (FIRST, 0)),
        ({"match": FIRST, "ply": 0}, (FIRST, 0)),
        ({"ply": 0}, (None, 0)),
        ({"move": "C", "match": FIRST, "ply": "0"}, (None, None)),
    ],
)
async def test_a_move_that_cannot_be_read_is_refused_with_the_question_that_it_claims_to_answer(
    said: dict[str, Any], named: tuple[str | None, int | None], autojump_clock: MockClock
) -> None:
    """Catches a bot that waits to be asked again, and loses by the clock for a note that is too long."""
    async with room() as hall:
        ann, _ = await pair(hall)
        await ann.tell(type="move", **said)
        (told,) = await ann.messages()
        assert (told["type"], told.get("match"), told.get("ply")) == ("refused", *named)
        await ann.tell(type="move", move="C", match=FIRST, ply=0)
        assert [message["ply"] for message in await ann.messages("turn")] == [1]


async def test_a_bot_that_wants_so_many_matches_is_dealt_no_more_until_it_says_hello_again(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann = await hall.hello("ann", token=OWN, matches=2, version="1.2")
        bob = await hall.hello("bob")
        for _ in range(3):
            await trio.sleep(1.0)
            await bob.tell(type="resign")
        await trio.sleep(1.0)
        told = [message["type"] for message in await ann.messages()]
        assert (told.count("begin"), told.count("end"), told[-1]) == (2, 2, "end")
        fact = await hall.host.tournaments["open-tic-tac-toe"].concluded("open-tic-tac-toe-1")
        assert sorted(fact.versions, key=str) == ["1.2", None]
        await ann.tell(type="hello", name="ann", game="tic-tac-toe", matches=1)
        assert [message["type"] for message in await ann.messages()] == ["welcome", "begin", "turn"]


async def test_a_match_that_a_bot_comes_back_to_is_one_of_those_that_it_wants(
    autojump_clock: MockClock,
) -> None:
    async with room() as hall:
        ann, bob = await hall.hello("ann", token=OWN, matches=1), await hall.hello("bob")
        await trio.sleep(1.0)
        await ann.close()
        ann = await hall.hello("ann", token=OWN, matches=1)
        await trio.sleep(1.0)
        await bob.tell(type="resign")
        await trio.sleep(1.0)
        assert [message["type"] for message in await ann.messages()] == ["welcome", "begin", "turn", "end"]


async def test_a_bot_that_cannot_come_in_by_a_fault_of_the_hosts_own_is_told_and_may_come_again(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a bot that waits for ever for an answer, and a name that is taken until the next restart."""

    def fail(placing: Placing, *_: Any) -> None:
        raise ZeroDivisionError

    async with room() as hall:
        with monkeypatch.context() as broken:
            broken.setattr(Placing, "place", fail)
            ann = await hall.hello("ann", token=OWN)
            (refused,) = await ann.messages()
            assert (refused["type"], refused["reason"]) == ("refused", f"a fault of the host: {LATER}")
            assert hall.host.guard.caught.total() == 1
            hall.host.guard.caught.clear()
        assert not hall.host.reception.held("ann", "tic-tac-toe")
        again = await hall.hello("ann")
        assert [message["type"] for message in await again.messages()] == ["welcome"]


@pytest.mark.slow
async def test_a_fault_of_the_hosts_own_while_a_bot_plays_makes_the_match_void(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(house: HouseTalk, *_: Any) -> None:
        raise ZeroDivisionError

    async with room() as hall:
        ann, bob = await pair(hall)
        monkeypatch.setattr(HouseTalk, "_move", fail)
        await ann.tell(type="move", move="C")
        (end,) = await bob.messages("end")
        voids = hall.host.measures.voids
        hall.host.guard.caught.clear()
    assert (end["winner"], end["ending"], end["fault"]) == (None, "void", "host")
    assert end["why"] == "a fault of the host"
    assert voids == {"host": 1}
