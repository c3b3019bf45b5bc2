"""Matches that go on after a restart: from the moves that were kept, with the clocks that were left."""

from typing import Any

import pytest
import trio
from msgspec import json, structs
from structlog.testing import capture_logs
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Game, Illegal, Pace
from tests.tournament.world import World, first, play, silent
from tournament import entries
from tournament.events import CUT_SHORT, Began, Disconnected, Ending, Moved
from tournament.facts import Claimed, Dealt, Disqualified, Drew, Entered, Kept, Opened, State, Turned
from tournament.format import Pairing
from tournament.match import LOSSES, Match
from tournament.player import UNSEEN, Player
from tournament.store import Memory

NAMES = ("ann", "bob")
PACE = Pace(bank=10.0, gain=2.0)
GRACE = 30.0
KEPT = [{"action": "putSymbol", "position": field} for field in ("C", "N", "NW")], [3.0, 1.5, 0.5]


def interrupted(kept: Any = KEPT, at: float = 100.0, pace: Pace = PACE) -> Match:
    """A match that goes on, for which both seats are held."""
    match = Match(catalogue()["tic-tac-toe"], NAMES, at, pace=pace, kept=kept)
    for seat in (0, 1):
        match.hold(seat, at + GRACE, at)
    return match


def test_a_match_goes_on_from_the_moves_that_were_kept() -> None:
    whole = Match(catalogue()["tic-tac-toe"], NAMES, 0.0, pace=PACE)
    for number, (move, at) in enumerate(zip(KEPT[0], (3.0, 4.5, 5.0), strict=True)):
        whole.play(number % 2, move, at)
    match = interrupted()
    assert match.positions == whole.positions
    assert (match.moves, match.times) == (whole.moves, whole.times)
    assert match.to_move == 1
    kinds = [type(event) for event in match.log.events]
    assert kinds == [Began, Moved, Moved, Moved]
    lefts = [(event.seat, event.left) for event in match.log.events if isinstance(event, Moved)]
    assert lefts == [(0, 9.0), (1, 10.5), (0, 10.5)]


@pytest.mark.parametrize("game", catalogue().values(), ids=catalogue())
def test_a_move_that_was_kept_is_told_in_the_same_bytes_as_before(game: Game[Any, Any]) -> None:
    """The journal sorts the names in an object, and a game writes them in an order of its own."""
    move = game.write(next(iter(game.start().moves())))
    kept = json.decode(json.encode(move, order="sorted"))
    match = Match(game, NAMES, 0.0, kept=([kept], [1.0]))
    assert json.encode(match.moves) == json.encode([move])


def test_it_goes_on_with_the_clocks_that_were_left() -> None:
    assert interrupted().left(100.0) == (10.5, 10.5)


def test_the_clock_of_the_mover_begins_when_its_bot_is_back() -> None:
    match = interrupted()
    match.here(0, 105.0)
    assert match.left(120.0) == (10.5, 10.5), "bob is to move, and is not back"
    match.here(1, 120.0)
    assert match.left(124.0) == (10.5, 6.5)
    match.play(1, "S", 124.0)
    assert match.left(124.0) == (10.5, 8.5)


def test_whoever_is_back_may_move_while_the_other_is_awaited() -> None:
    match = interrupted()
    match.here(1, 101.0)
    match.play(1, "S", 102.0)
    assert match.left(115.0) == (10.5, 11.5), "ann is to move, and is not back"
    match.here(0, 115.0)
    match.play(0, "SE", 116.0)
    assert match.result is not None
    assert match.result.ending is Ending.PLAYED


@pytest.mark.parametrize(
    ("back", "why"),
    [
        ((), "ann and bob did not come back"),
        ((0,), "bob did not come back"),
        ((1,), "ann did not come back"),
    ],
)
def test_a_match_to_which_somebody_does_not_come_back_is_void(back: tuple[int, ...], why: str) -> None:
    """Catches a bot that loses by a fault of the host's."""
    match = interrupted(pace=Pace(bank=100.0))
    for seat in back:
        match.here(seat, 101.0)
    match.flag(100.0 + GRACE)
    assert match.result is None
    match.flag(100.1 + GRACE)
    assert match.result is not None
    assert (match.result.winner, match.result.ending) == (None, Ending.VOID)
    assert match.result.why == f"{CUT_SHORT}, and {why}"


def test_so_many_lost_connections_are_told_of_a_match_however_often_it_is_interrupted() -> None:
    game = catalogue()["tic-tac-toe"]
    match, told = Match(game, NAMES, 0.0, pace=Pace()), []
    for _ in range(3):
        for _ in range(LOSSES // 2 - 1):
            match.away(0, 30.0, 1.0)
            match.here(0, 1.0)
        told.append(sum(isinstance(event, Disconnected) for event in match.log.events))
        match = Match(game, NAMES, 0.0, pace=Pace(), kept=([], []), asides=match.asides)
        match.here(0, 0.0)
    assert told == [LOSSES // 2 - 1, LOSSES - 2, LOSSES]


def test_whoever_was_back_and_leaves_then_has_left() -> None:
    match = interrupted(pace=Pace(bank=100.0))
    for seat in (0, 1):
        match.here(seat, 101.0)
    match.leave(0, 102.0)
    assert match.result is not None
    assert (match.result.winner, match.result.ending) == (1, Ending.LEFT)


def test_a_bot_that_is_gone_for_good_without_having_been_back_has_not_left() -> None:
    match = interrupted(pace=Pace(bank=100.0))
    match.leave(0, 101.0)
    match.here(1, 102.0)
    assert match.result is not None
    assert match.result.ending is Ending.VOID


def test_whoever_was_taken_out_of_the_tournament_loses_to_whoever_comes_back() -> None:
    """Catches a match that is void because a bot that nobody would have let in did not come back."""
    match = interrupted(pace=Pace(bank=100.0))
    match.leave(0, 101.0, out=True)
    assert match.result is None
    match.here(1, 102.0)
    assert match.result is not None
    assert (match.result.winner, match.result.ending) == (1, Ending.LEFT)
    assert match.result.why == "ann is out of the tournament"


@pytest.mark.parametrize(
    "moves",
    [("C", "C"), ("C", "N", "NW", "NE", "SE"), ("nowhere",)],
    ids=["illegal", "over", "no move"],
)
def test_what_is_no_match_that_goes_on_is_refused(moves: tuple[str, ...]) -> None:
    with pytest.raises(Illegal):
        interrupted((list(moves), [1.0] * len(moves)))


def test_a_match_has_lasted_as_long_as_was_played_though_the_wall_clock_was_put_back() -> None:
    """Catches an export in which a match ends before it began."""
    match = Match(catalogue()["tic-tac-toe"], NAMES, 100.0, kept=KEPT, epoch=1000.0, dealt_at=1090.0)
    assert match.began == 1090.0
    match.epoch = 900.0
    assert match.began == 1000.0 - sum(KEPT[1])


# In a tournament


def opened(format: str) -> Opened:
    return Opened("tic-tac-toe", format, None if format == "open" else 2, pace=Pace(bank=100.0))


async def left_behind(format: str = "round-robin", behave: Any = first) -> Memory:
    """What is kept of a tournament whose host stops in the middle of a match."""
    store = Memory()
    await store.keep("cup", 0.0, [opened(format), *([Turned(State.RUNNING)] if format == "open" else [])])
    async with trio.open_nursery() as nursery:
        here = World(opened(format), store)
        for name in NAMES:
            player = here.come(name)
            player.key = f"the digest of {name}'s token"
            player.way_back = f"to {name}"
            nursery.start_soon(play, player, behave)
            await here.tournament.enter(name)
        nursery.start_soon(here.tournament.run)
        await trio.sleep(2.5)
        assert len(here.tournament.matches) == 1
        nursery.cancel_scope.cancel()
    return Memory(store.kept()) if behave is silent else store


def awaited(here: World, name: str) -> Player:
    player = here.come(name)
    player.move_to("cup")
    player.away()
    return player


@pytest.mark.parametrize("format", ["round-robin", "open"])
async def test_a_tournament_goes_on_with_the_match_that_was_in_play(
    format: str, autojump_clock: MockClock
) -> None:
    here = World(opened(format), await left_behind(format))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        players = [awaited(here, name) for name in NAMES]
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        (match,) = here.tournament.matches.values()
        assert (match.name, match.ply) == ("cup-1", 2)
        for player in players:
            player.back()
            nursery.start_soon(play, player, first)
        while not here.concluded():  # noqa: ASYNC110 - on a virtual clock
            await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    end = here.concluded()[0]
    assert (end.match, end.ending, end.score) == ("cup-1", Ending.PLAYED, (1.0, 0.0))
    assert len(end.moves) == 7


@pytest.mark.parametrize("known", [True, False], ids=["", "as by an older host"])
async def test_when_a_match_began_is_known_after_a_restart_if_it_was_kept(
    known: bool, autojump_clock: MockClock
) -> None:
    await trio.sleep(7.0)
    left = await left_behind()
    store = left if known else Memory([_without_a_time(entry) for entry in left.kept()])
    began = 7.0 if known else None
    here = World(opened("round-robin"), store)
    async with trio.open_nursery() as nursery:
        for player in [awaited(here, name) for name in NAMES]:
            nursery.start_soon(play, player, silent)
            player.back()
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        (match,) = here.tournament.matches.values()
        assert match.began == began
        nursery.cancel_scope.cancel()
    strange = World(opened("round-robin"), store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(strange.tournament.run)
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    (end,) = strange.concluded()
    assert (end.why, end.began) == (CUT_SHORT, began)
    over = strange.tournament.record
    kept = over.dealt, over.dealt_at, over.own_options, over.keys, over.ways_back
    assert not any(kept), "of what is over nothing is remembered twice"


def _without_a_time(entry: Kept) -> Kept:
    """As it was kept before there were times in this fact; it is still kept in the same letters."""
    if not isinstance(entry.fact, Dealt):
        return entry
    old = Dealt(*structs.astuple(entry.fact)[:-1])
    text = '{"type":"dealt","match":"cup-1","pairing":1,"options":null,"keys":['
    assert entries.body(old).startswith(text)
    assert entries.body(old).endswith("]}")
    assert entries.fact(entries.body(old)) == old
    return structs.replace(entry, fact=old)


async def test_what_goes_on_is_kept_as_it_goes_on(autojump_clock: MockClock) -> None:
    """Catches a match that goes on twice from the same position."""
    store = await left_behind()
    here = World(opened("round-robin"), store)
    async with trio.open_nursery() as nursery:
        for player in [awaited(here, name) for name in NAMES]:
            nursery.start_soon(play, player, first)
            player.back()
        nursery.start_soon(here.tournament.run)
        await trio.sleep(2.5)
        nursery.cancel_scope.cancel()
    assert [len(story.moves) for story in store.jotted().values()] == [4]


async def test_whoever_does_not_come_back_plays_again_and_loses_only_by_missing_that(
    autojump_clock: MockClock,
) -> None:
    here = World(opened("round-robin"), await left_behind())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        ann, _ = [awaited(here, name) for name in NAMES]
        nursery.start_soon(here.tournament.run)
        nursery.start_soon(play, ann, silent)
        ann.back()
        with trio.fail_after(90.0):
            await here.tournament.finished()
        nursery.cancel_scope.cancel()
    void, lost = here.concluded()
    assert (void.match, void.ending, void.score) == ("cup-1", Ending.VOID, None)
    assert void.why == f"{CUT_SHORT}, and bob did not come back"
    assert len(void.moves) == 2
    assert (lost.match, lost.ending, lost.why) == ("cup-1.2", Ending.LEFT, "bob did not come")


async def test_a_match_is_void_whose_players_cannot_come_back_to_it(autojump_clock: MockClock) -> None:
    """Nobody in the lobby is awaited: a host knows its bots again, and these are strangers."""
    here = World(opened("round-robin"), await left_behind())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    assert [(end.match, end.why) for end in here.concluded()] == [("cup-1", CUT_SHORT)]


@pytest.mark.parametrize("part", ["start", "read"])
async def test_a_match_is_void_with_which_its_game_fails(
    part: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a new version of a game with which no match goes on, of any other game either."""

    def fail(*_: object) -> None:
        raise KeyError("?")

    store = await left_behind()
    changed = structs.replace(catalogue()["tic-tac-toe"], **{part: fail})
    monkeypatch.setattr("tests.tournament.world.catalogue", lambda: {"tic-tac-toe": changed})
    here = World(opened("round-robin"), store)
    async with trio.open_nursery() as nursery:
        for name in NAMES:
            awaited(here, name)
        with capture_logs() as logs:
            nursery.start_soon(here.tournament.run)
            await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    assert [(end.match, end.why) for end in here.concluded()] == [("cup-1", CUT_SHORT)]
    assert [(log["match"], log["why"]) for log in logs] == [("cup-1", "the game failed: KeyError('?')")]


async def test_a_match_does_not_take_a_player_for_whom_another_is_about_to_begin(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is dealt two matches at once: elsewhere its deal was being kept meanwhile."""
    here = World(opened("round-robin"), await left_behind())
    async with trio.open_nursery() as nursery:
        players = [awaited(here, name) for name in NAMES]
        players[0].reserved = True
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    assert players[0].seat is None
    assert [(end.match, end.why) for end in here.concluded()] == [("cup-1", CUT_SHORT)]


# How Ann returns: whether a token is known to be hers, what the deal has as her key and as her way back, and
# whether somebody is there under her name
RETURNS = {
    "by a claim": (True, "", "", True),
    "by a claim, with a way back": (True, "", "her words", True),
    "by her token": (False, "digest", "", True),
    "by a token that she may not have": (False, UNSEEN + "digest", "", True),
    "for this match, under that token": (False, UNSEEN + "digest", "her words", True),
    "for this match, by her way back": (False, UNSEEN + "digest", "her words", False),
    "for this match, beside a namesake": (False, "", "her words", True),
    "not, without her token": (True, "digest", "her words", False),
    "not, without a way back": (False, UNSEEN + "digest", "", False),
    "not, without any": (False, "", "", True),
}


@pytest.mark.parametrize("bob", [True, False], ids=["", "and bob does not"])
@pytest.mark.parametrize("how", RETURNS)
async def test_who_goes_on_is_whoever_the_deal_means_and_stays_no_longer_than_it_means(
    how: str, bob: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that is sent away with a match of before, and one that is awaited for ever."""
    claimed, key, words, there = RETURNS[how]
    facts = [
        opened("round-robin"),
        *map(Entered, NAMES),
        *([Claimed("ann", "ab" * 32)] if claimed else []),
        Turned(State.RUNNING),
        Drew((Pairing(1, 1, *NAMES),)),
        Dealt("cup-1", 1, None, (key, "digest"), (words, "")),
    ]
    store, told = Memory(), list[tuple[str, str]]()
    await store.keep("cup", 0.0, facts)
    here = World(
        opened("round-robin"), store, awaited=lambda seat, player, words: told.append((player.name, words))
    )
    ann = awaited(here, "ann") if there else None
    if bob:
        awaited(here, "bob")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        comes, only = not how.startswith("not"), how.startswith("for this match")
        players = here.tournament.players("cup-1")
        assert bool(players) == (comes and bob)
        assert told == ([("ann", words)] if players and words else [])
        if players:
            assert players[0].for_one_match == only
            assert (players[0] is ann) == (there and "namesake" not in how)
        stay = [player for player in here.lobby.named("ann", "tic-tac-toe") if not player.for_one_match]
        assert stay == ([ann] if ann is not None and "under that token" not in how else [])
        assert len(here.lobby.named("ann", "tic-tac-toe")) == len(stay) + (only and bob)
        nursery.cancel_scope.cancel()


async def test_whoever_was_taken_out_before_the_restart_has_lost_once_the_other_is_back(
    autojump_clock: MockClock,
) -> None:
    store = await left_behind()
    await store.keep("cup", 0.0, [Disqualified("ann", "two bots in one")])
    here = World(opened("round-robin"), store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        players = [awaited(here, name) for name in NAMES]
        nursery.start_soon(here.tournament.run)
        await trio.sleep(1.0)
        assert here.tournament.matches
        players[1].back()
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    (end,) = here.concluded()
    assert (end.match, end.ending, end.score) == ("cup-1", Ending.LEFT, (0.0, 1.0))
    assert end.why == "ann is out of the tournament"


async def test_a_match_that_was_kept_only_as_a_deal_begins_anew(autojump_clock: MockClock) -> None:
    here = World(opened("round-robin"), await left_behind(behave=silent))
    async with trio.open_nursery() as nursery:
        for player in [awaited(here, name) for name in NAMES]:
            nursery.start_soon(play, player, first)
            player.back()
        nursery.start_soon(here.tournament.run)
        await here.tournament.finished()
        nursery.cancel_scope.cancel()
    (end,) = here.concluded()
    assert (end.match, end.ending) == ("cup-1", Ending.PLAYED)
