"""What is true of every game, whoever wrote it and under all its options.

`docs/add-a-game.md` has these promises in words. The rules of single games are
tested in files of their own, and against the oracles.
"""

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from random import Random
from time import thread_time
from typing import Any
from unicodedata import category
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from games.brains import BRAINS
from games.catalogue import catalogue
from games.game import Game, Illegal, typed
from games.svg import MARK, SEATS
from tests.effort import tries
from tests.games.junk import KNOWN, LARGE, anything, near_misses, other_words, reordered, says
from tests.games.play import (
    Options,
    each_game,
    each_variant,
    playout,
    random_match,
    replay,
    variants,
)

NAMES = ("Ann", "Ås <&> \"'")
NEAR = 9  # moves of a position of which each is looked at; of those after them, there are many of each kind
PASSES = 25  # over as many characters as the largest message has, in a loop of Python: junk costs no more


def through_json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def assert_is_a_sentence(text: str) -> None:
    assert text.strip()
    assert len(text) <= 300
    if not text.isprintable():  # which is soon found out, and there are other spaces, too
        assert not [character for character in text if category(character)[0] == "C"], ascii(text)
    assert "Error" not in text
    assert "Traceback" not in text


# Positions


@each_variant
def test_the_collector_finds_nothing_in_a_match_that_an_earlier_one_does_not_have(
    game: Game[Any, Any], options: Options
) -> None:
    """A host has the positions of a thousand matches, and stands still while the collector looks at them."""
    moves = random_match(game, options, Random(1)).moves
    earlier, later = (_kept(game, options, moves) for _ in range(2))
    known = {id(each) for each in earlier}
    assert [each for each in later if id(each) not in known] == []


def _kept(game: Game[Any, Any], options: Options, moves: Sequence[Any]) -> list[object]:
    """What the collector looks at of a match: its positions, what they hold, and its moves as written."""
    positions = [game.opening(options)]
    for move in moves:
        positions.append(positions[-1].play(move))
    held = [value for position in positions for value in (position, *structs.astuple(position))]
    return [each for each in (*held, *map(game.write, moves)) if gc.is_tracked(each)]


@each_variant
@given(data=st.data())
def test_a_game_is_over_exactly_when_nobody_can_move(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    for position in playout(data, game, options).positions:
        assert (position.outcome is not None) == (not list(position.moves()))
        assert position.turn in (0, 1)
        if position.outcome is not None:
            assert position.outcome.winner in (None, 0, 1)
            assert_is_a_sentence(position.outcome.why)


@each_variant
@given(data=st.data())
def test_moves_come_once_each_and_always_in_the_same_order(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    played = playout(data, game, options)
    moves = list(played.last.moves())
    assert moves == list(played.last.moves()) == list(replay(game, options, played.moves).moves())
    assert len({game.short(move) for move in moves}) == len(moves)
    assert len({msgspec.json.encode(game.write(move)) for move in moves}) == len(moves)
    assert all(move not in moves[:at] for at, move in enumerate(moves))


@each_variant
@given(data=st.data())
def test_a_replay_of_the_moves_gives_the_same_position(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    played = playout(data, game, options)
    again = game.opening(options)
    for move, position in zip(played.moves, played.positions, strict=False):
        assert again == position
        assert hash(again) == hash(position)
        again = again.play(game.read(through_json(game.write(move)), again))
    assert again == played.last
    assert game.show(again, NAMES) == game.show(played.last, NAMES)


@each_variant
@given(data=st.data())
def test_a_position_is_a_value_that_playing_does_not_change(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    played = playout(data, game, options)
    position, twin = played.last, replay(game, options, played.moves)
    before = (hash(position), repr(position), game.show(position, NAMES), position.turn, position.outcome)
    for move in position.moves():
        assert position.play(move) == twin.play(move)
        assert position.play(move) != position
    game.draw(position)
    assert before == (
        hash(position),
        repr(position),
        game.show(position, NAMES),
        position.turn,
        position.outcome,
    )
    assert position == twin


@each_variant
@pytest.mark.parametrize("seed", range(5))
def test_play_comes_to_an_end(game: Game[Any, Any], options: Options, seed: int) -> None:
    assert game.ply_limit is None or game.ply_limit > 0
    played = random_match(game, options, Random(seed))
    assert played.last.outcome is not None or len(played.moves) == game.ply_limit


@each_variant
@given(data=st.data())
def test_an_evaluation_lies_between_a_loss_and_a_win(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    if game.evaluate is not None:
        for position in playout(data, game, options).positions:
            assert -1 <= game.evaluate(position) <= 1


# Moves


@each_variant
@given(data=st.data())
def test_what_is_written_can_be_read_back(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    position = playout(data, game, options).last
    for move in position.moves():
        written = through_json(game.write(move))
        assert game.read(written, position) == move
        assert game.read(reordered(written), position) == move
        assert game.read(typed(game.short(move)), position) == move


@cache
def moves_of(game_name: str) -> list[Any]:
    """Moves of all kinds: those of some matches under all options."""
    game = catalogue()[game_name]
    matches = [random_match(game, options, Random(seed)) for options in variants(game) for seed in range(4)]
    return list({move for match in matches for position in match.positions for move in position.moves()})


@each_variant
@given(data=st.data())
def test_a_legal_move_never_raises_and_an_illegal_one_always_does(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    position = playout(data, game, options).last
    legal = list(position.moves())
    for move in {*moves_of(game.name), *legal}:
        if move in legal:
            position.play(move)
        else:
            with pytest.raises(Illegal) as refusal:
                position.play(move)
            assert_is_a_sentence(str(refusal.value))


@each_variant
@given(data=st.data())
def test_what_was_written_elsewhere_is_a_legal_move_here_or_illegal(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    position = playout(data, game, options).last
    legal = list(position.moves())
    for move in moves_of(game.name):
        for sent in (through_json(game.write(move)), typed(game.short(move))):
            try:
                read = game.read(sent, position)
                position.play(read)
            except Illegal as refusal:
                assert_is_a_sentence(str(refusal))
            else:
                assert read in legal


# Junk


def assert_no_harm(game: Game[Any, Any], position: Any, sent: Any) -> None:
    """Either a sentence says what is wrong with it, or it is a move, in a spelling that was promised."""
    try:
        move = game.read(sent, position)
        position.play(move)
    except Illegal as refusal:
        assert_is_a_sentence(str(refusal))
    else:
        assert says(sent, typed(game.short(move))) or says(sent, through_json(game.write(move)))


@each_variant
@given(data=st.data(), sent=anything)
def test_junk_is_illegal_and_nothing_worse(
    data: st.DataObject, sent: Any, game: Game[Any, Any], options: Options
) -> None:
    assert_no_harm(game, playout(data, game, options).last, sent)


@each_variant
@given(data=st.data())
def test_what_is_almost_a_move_is_illegal(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    position = playout(data, game, options).last
    move = data.draw(st.sampled_from(list(position.moves()) or moves_of(game.name)))
    sent = data.draw(
        near_misses(through_json(game.write(move))) | near_misses(game.short(move)), label="sent"
    )
    assert_no_harm(game, position, sent)


@each_variant
@given(data=st.data())
def test_a_move_in_other_words_is_that_move_or_illegal(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    position = playout(data, game, options).last
    for move in position.moves():
        for sent in other_words(through_json(game.write(move))):
            assert_no_harm(game, position, sent)
            with suppress(Illegal):
                assert game.read(sent, position) == move


@pytest.mark.slow
@each_variant
def test_known_junk_is_illegal_throughout_a_match(game: Game[Any, Any], options: Options) -> None:
    for position in random_match(game, options, Random(1)).positions[:60]:
        for sent in KNOWN:
            assert_no_harm(game, position, sent)


@pytest.mark.slow
@each_game
def test_no_junk_is_slow(game: Game[Any, Any]) -> None:
    for position in random_match(game, {}, Random(1)).positions[:40:8]:
        for sent in LARGE:
            assert min(seconds(game, position, sent) for _ in range(3)) < PASSES * a_pass()


def a_pass() -> float:
    """Seconds of this thread's own time, in the weather of what it is held against."""
    begun = thread_time()
    for character in "x" * 65_536:
        assert character
    return thread_time() - begun


def seconds(game: Game[Any, Any], position: Any, sent: Any) -> float:
    begun = thread_time()
    with pytest.raises(Illegal) as refusal:
        position.play(game.read(sent, position))
    spent = thread_time() - begun
    assert_is_a_sentence(str(refusal.value))
    return spent


# Showing and drawing


@each_variant
@given(data=st.data())
def test_every_position_shows_as_json(data: st.DataObject, game: Game[Any, Any], options: Options) -> None:
    for position in playout(data, game, options).positions:
        written = msgspec.json.encode(game.show(position, NAMES)).decode()
        assert json.dumps(json.loads(written), separators=(",", ":"), ensure_ascii=False) == written


@each_variant
@given(data=st.data())
def test_every_position_draws_as_svg_with_a_title(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    played = playout(data, game, options)
    for drawing in (game.draw(played.last), game.draw(played.last, *played.moves[-1:])):
        svg = ElementTree.fromstring(drawing)  # noqa: S314
        assert svg.tag == "{http://www.w3.org/2000/svg}svg"
        assert (svg.findtext("{http://www.w3.org/2000/svg}title") or "").strip()
        assert len((svg.get("viewBox") or "").split()) == 4
        for words in svg.iter("{http://www.w3.org/2000/svg}text"):
            assert "opacity" not in words.attrib, f"{words.text} can hardly be read"


@each_variant
def test_the_last_move_is_marked(game: Game[Any, Any], options: Options) -> None:
    opening = game.opening(options)
    moves = list(opening.moves())
    for move in (*moves[:NEAR], *moves[NEAR :: tries(7, 1)]):
        assert game.draw(opening.play(move), move) != game.draw(opening.play(move))


@each_variant
def test_the_title_of_a_drawing_says_how_it_ended_or_whose_turn_it_is(
    game: Game[Any, Any], options: Options
) -> None:
    first, *_, last_but_one, last = random_match(game, options, Random(1)).positions
    for position in (first, last_but_one, last):
        title = ElementTree.fromstring(game.draw(position))[0].text or ""  # noqa: S314
        said = position.outcome.why if position.outcome else f"{game.seats[position.turn]} to "
        assert said in title


@pytest.mark.parametrize("name", ["connect-4", "tic-tac-toe"])
def test_what_is_put_on_the_board_is_drawn_and_marked_where_it_is_pressed(name: str) -> None:
    game = catalogue()[name]
    played = random_match(game, {}, Random(1))
    for before, move, after in zip(played.positions, played.moves, played.positions[1:], strict=False):
        assert game.spot is not None
        place = ElementTree.fromstring(game.spot(move, before))  # noqa: S314
        left, top, width, height = (float(place.get(name, 0)) for name in ("x", "y", "width", "height"))
        for colour in (MARK, SEATS[before.turn]):
            new = [*middles(game.draw(after, move), colour)]
            for known in middles(game.draw(before), colour):
                new.remove(known)
            assert new
            assert all(0 < x - left < width and 0 < y - top < height for x, y in new)


def middles(drawing: str, colour: str) -> Iterator[tuple[float, float]]:
    """The middle of each shape that has this colour."""
    for shape in ElementTree.fromstring(drawing).iter():  # noqa: S314
        if colour in (shape.get("fill"), shape.get("stroke")):
            x, y, width, height, cx, cy, x1, y1, x2, y2 = (
                float(shape.get(name, 0))
                for name in ("x", "y", "width", "height", "cx", "cy", "x1", "y1", "x2", "y2")
            )
            yield x + width / 2 + cx + (x1 + x2) / 2, y + height / 2 + cy + (y1 + y2) / 2


# What a game declares


@each_game
def test_a_game_declares_two_seats_and_a_pace_that_binds(game: Game[Any, Any]) -> None:
    assert len(set(game.seats)) == 2
    assert game.pace.bank or game.pace.turn
    assert game.title.strip()


@each_game
def test_a_game_under_its_defaults_begins_with_seat_0(game: Game[Any, Any]) -> None:
    assert game.opening({}) == game.start()
    assert game.start().turn == 0
    assert game.start().outcome is None


@each_game
def test_every_option_of_a_game_is_in_one_of_its_variants(game: Game[Any, Any]) -> None:
    """Or the laws would be put to its default alone."""
    assert {name for variant in game.variants for name in variant} == set(game.options)


@each_game
def test_a_game_says_how_it_is_played_and_how_moves_are_typed(game: Game[Any, Any]) -> None:
    assert game.rules.strip()
    assert "`" in game.rules, "a move as it is typed stands between backticks"


@each_game
def test_a_house_player_has_a_name_of_its_own_and_a_brain(game: Game[Any, Any]) -> None:
    names = [opponent.name for opponent in game.opponents]
    assert len(set(names)) == len(names)
    for opponent in game.opponents:
        assert opponent.name == opponent.name.strip().lower()
        assert opponent.brain in BRAINS
        assert opponent.seconds >= 0
