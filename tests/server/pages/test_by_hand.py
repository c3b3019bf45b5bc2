"""The board of somebody who plays by hand: what may be clicked, in every game."""

import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from games.catalogue import catalogue
from games.game import Game
from server.pages import by_hand, rendering
from server.pages.door import shows
from server.pages.story import Story
from tests.docs.test_lists import OURS
from tests.games.play import playout
from tests.server.pages.gallery import raised
from tournament.facts import Opened
from tournament.match import Match
from tournament.record import Record

games = pytest.mark.parametrize("game", catalogue().values(), ids=list(catalogue()))


def story_of(game: Game[Any, Any], positions: list[Any], moves: list[Any]) -> Story:
    match = Match(game, ("ann", "bob"), 0.0, name="open-1")
    for at, (position, move) in enumerate(zip(positions, moves, strict=False)):
        match.play(position.turn, game.write(move), at / 1000)
    story = Story(Record("open", Opened(game.name, "open")), match, raised)
    story.complete()
    return story


def clickable(drawn: str) -> list[str]:
    return [unescape(short) for short in re.findall(r'data-move="([^"]*)"', drawn)]


@pytest.mark.slow
@games
@given(data=st.data())
def test_whatever_may_be_played_can_be_clicked_by_whoever_is_to_move_and_nothing_else(
    data: st.DataObject, game: Game[Any, Any]
) -> None:
    played = playout(data, game, {})
    story = story_of(game, played.positions, played.moves)
    ply, position = len(played.moves), played.last
    moves = [] if ply == game.ply_limit else [game.short(move) for move in position.moves()]
    drawn = {seat: by_hand.board(story, ply, seat)["board"] for seat in game.seats}
    assert clickable(drawn[game.seats[position.turn]]) == moves
    assert clickable(drawn[game.seats[1 - position.turn]]) == []
    assert by_hand.board(story, ply, "nobody") == {"ply": ply, "board": drawn[game.seats[1 - position.turn]]}
    if ply:
        mover: int = played.positions[-2].turn
        before = by_hand.board(story, ply - 1, game.seats[mover])["board"]
        assert clickable(before) == [], "what is past cannot be played any more"
    assert by_hand.board(story, ply + 1, game.seats[0])["board"] is None


@pytest.mark.parametrize("game", OURS.values(), ids=list(OURS))  # another need not say where to click
def test_no_two_moves_are_clicked_in_one_place(game: Game[Any, Any]) -> None:
    assert game.spot is not None
    position = game.start()
    for _ in range(30):
        if position.outcome is not None:
            return
        moves = list(position.moves())
        assert len({game.spot(move, position) for move in moves}) == len(moves)
        position = position.play(moves[len(moves) // 2])


@games
def test_a_game_without_spots_has_a_list_of_its_moves(game: Game[Any, Any]) -> None:
    story = story_of(game, [], [])
    story.game = replace(game, spot=None)
    drawn = by_hand.board(story, 0, game.seats[0])["board"]
    shorts = [game.short(move) for move in story.positions[0].moves()]
    assert re.findall(r'<button type="button" data-move="([^"]*)">', drawn) == shorts


def test_the_page_may_reach_the_websocket_and_no_other_page_may() -> None:
    there = rendering.POLICY + "'none'"
    policy = dict(rendering.page("instead.html", **MISSING).headers)["Content-Security-Policy"]
    assert policy == there
    policy = dict(rendering.page("instead.html", speaks_to="ws://a:8001", **MISSING).headers)
    assert policy["Content-Security-Policy"] == f"connect-src 'self' ws://a:8001; {there}"


@pytest.mark.parametrize(
    "url", ["ws://[::1]:8001", "ws://my_host:8001", "wss://[2001:db8::1]", "ws://a/; script-src *"]
)
def test_the_page_may_reach_a_websocket_that_a_policy_cannot_name(url: str) -> None:
    """Browsers ignore such a source, and then block the connection; and no address adds to the policy."""
    policy = dict(rendering.page("instead.html", speaks_to=url, **MISSING).headers)["Content-Security-Policy"]
    assert policy == f"connect-src 'self' {url.partition(':')[0]}:; {rendering.POLICY}'none'"


MISSING: Any = {"heading": "", "what": "", "path": "/", "games": (), "connect": {"http": ""}}


def test_there_is_a_page_for_every_game_and_one_that_says_that_another_is_none() -> None:
    assert all(shows(f"/games/{name}/play") for name in [*catalogue(), "chess"])
    assert not shows("/games/connect-4/moves")
