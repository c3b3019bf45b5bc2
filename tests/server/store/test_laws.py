"""What holds of every store."""

from pathlib import Path

import pytest
import trio

from games.game import Pace
from tests.server.store.jotting import gone_on_with, played
from tests.server.store.shelves import SHELVES, Shelf, postgres
from tournament.asides import Aside, Remark, Thought, Trouble
from tournament.causes import Refused
from tournament.events import Ending
from tournament.facts import (
    Admitted,
    AnyFact,
    Called,
    CheckedIn,
    Chose,
    Claimed,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    EndedEarly,
    Entered,
    Froze,
    Kept,
    NoShow,
    Opened,
    Ordered,
    Released,
    Revealed,
    RoundBegan,
    Sealed,
    Seated,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import Pairing, Terms
from tournament.notes import Noted
from tournament.store import Conflict, Jottings, Memory

OPENED = Opened("tic-tac-toe", "round-robin", 2)
WON = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "three in a row", (1.0, 0.0))
LOST = Concluded("cup-1", 1, ("ann", "bob"), 1, Ending.PLAYED, "three in a row", (0.0, 1.0))
PLAYED = Concluded(
    "cup-2",
    2,
    ("bob", "ann"),
    None,
    Ending.TIME,
    'bob said "\\u0000 – ×\n"',
    (0.5, 0.5),
    ("NW", 3, [1, 2], {"column": 3}, None),
    (0.1, 1e-9, 1 / 3, 17.0, 0.0),
    {"rows": 4, "cols": 3},
)
EVERY_KIND: list[AnyFact] = [
    Opened("connect-4", "swiss", None, Terms(5, 7, True), {"b": 1, "a": "x"}, Pace(18.0, 2.0, 30.0)),
    Entered("ann", 1500.5),
    Turned(State.PAUSED),
    Drew((Pairing(1, 1, "ann", "bob"), Pairing(2, 1, "cas", None))),
    Dealt("cup-1", 1, {"rows": 3}),
    Dealt("cup-3", 1, at=1700000000.125),
    PLAYED,
    Withdrew("ann", annulled=True),
    Disqualified("bob", "two bots in one"),
    Voided("cup-2", "a cable"),
    Claimed("ann", "ab" * 32),
    Seated("ann", "santorini-memo", "192.0.2.1"),
    Released("ann"),
    Called("ann", "http://192.0.2.7:5000/tic-tac-toe", "00ff", "192.0.2.7", True),
    Called("ann"),
    Froze(on=True),
    Ordered("the organiser", "void", "cup-2: a cable"),
    Sealed("ab" * 32),
    Chose(7, "cd" * 16),
    Revealed(7, "cd" * 16),
    CheckedIn("ann"),
    NoShow("bob"),
    Admitted("bob"),
    EndedEarly(),
    Described("ann", "a school – of games", "ann@example.org"),
    RoundBegan(2, 1700000000.125),
]


@pytest.fixture(params=[*SHELVES, pytest.param("postgres", marks=pytest.mark.slow)])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    if request.param == "postgres":
        return postgres(request.getfixturevalue("server").database())
    return SHELVES[request.param](tmp_path)


async def test_what_is_kept_is_there_in_order_and_stays_there(shelf: Shelf) -> None:
    expected = [
        Kept("cup", 1.0, OPENED),
        Kept("cup", 1.0, Entered("ann")),
        Kept("cup", 2.5, Turned(State.RUNNING)),
    ]
    async with shelf() as store:
        await store.keep("cup", 1.0, [OPENED, Entered("ann")])
        await store.keep("cup", 2.5, [Turned(State.RUNNING)])
        assert list(store.kept()) == expected
    async with shelf() as store:
        assert list(store.kept()) == expected


async def test_every_kind_of_fact_comes_back_as_it_was(shelf: Shelf) -> None:
    async with shelf() as store:
        await store.keep("cup", 1.0, EVERY_KIND)
    async with shelf() as store:
        assert [entry.fact for entry in store.kept()] == EVERY_KIND
        assert await store.concluded("cup", "cup-2") == PLAYED


def test_every_kind_of_fact_is_tried() -> None:
    assert {type(fact) for fact in EVERY_KIND} == set(AnyFact.__args__)


@pytest.mark.parametrize("fact", [OPENED, Entered("ann"), Dealt("cup-1", 1), WON])
async def test_keeping_again_what_there_is_one_of_is_keeping_it_once(shelf: Shelf, fact: Entered) -> None:
    async with shelf() as store:
        await store.keep("cup", 1.0, [fact])
        await store.keep("cup", 2.0, [fact])
    async with shelf() as store:
        await store.keep("cup", 3.0, [fact])
        assert list(store.kept()) == [Kept("cup", 1.0, fact)]


async def test_what_there_may_be_any_number_of_is_there_as_often_as_it_was_kept(shelf: Shelf) -> None:
    paused = Turned(State.PAUSED)
    async with shelf() as store:
        await store.keep("cup", 1.0, [paused])
    async with shelf() as store:
        await store.keep("cup", 1.0, [paused])
        assert list(store.kept()) == [Kept("cup", 1.0, paused)] * 2


async def test_nothing_that_is_kept_can_be_changed(shelf: Shelf) -> None:
    async with shelf() as store:
        await store.keep("cup", 1.0, [WON])
        with pytest.raises(Conflict):
            await store.keep("cup", 2.0, [Entered("zoe"), LOST])
    async with shelf() as store:
        with pytest.raises(Conflict):
            await store.keep("cup", 2.0, [Entered("zoe"), LOST])
        assert list(store.kept()) == [Kept("cup", 1.0, WON)], "all or none"


async def test_a_contradiction_costs_nobody_else_anything(shelf: Shelf) -> None:
    """Catches a group commit that fails for all because of one."""
    conflicts: list[str] = []

    async def keep(tournament: str, fact: AnyFact) -> None:
        try:
            await store.keep(tournament, 2.0, [fact])
        except Conflict:
            conflicts.append(tournament)

    async with shelf() as store:
        await store.keep("cup", 1.0, [WON])
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(keep, f"cup {number}", Entered("ann"))
            nursery.start_soon(keep, "cup", LOST)
        assert conflicts == ["cup"]
        assert len(list(store.kept())) == 21


async def test_many_who_keep_at_once_lose_nothing(shelf: Shelf) -> None:
    async def keep(name: str) -> None:
        for number in range(10):
            await store.keep(name, float(number), [Turned(State.PAUSED), Turned(State.RUNNING)])

    async with shelf() as store, trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(keep, f"cup-{number}")
    async with shelf() as store:
        for number in range(10):
            kept = [entry for entry in store.kept() if entry.tournament == f"cup-{number}"]
            assert [entry.when for entry in kept] == [float(when // 2) for when in range(20)]


async def test_tournaments_are_apart(shelf: Shelf) -> None:
    async with shelf() as store:
        await store.keep("cup", 1.0, [Entered("ann")])
        await store.keep("league", 1.0, [Entered("ann")])
        assert [kept.tournament for kept in store.kept()] == ["cup", "league"]


async def test_a_match_that_is_not_over_cannot_be_read(shelf: Shelf) -> None:
    async with shelf() as store:
        await store.keep("cup", 1.0, [Dealt("cup-1", 1)])
        with pytest.raises(KeyError):
            await store.concluded("cup", "cup-1")
        await store.keep("cup", 1.0, [WON])
        assert await store.concluded("cup", "cup-1") == WON
        with pytest.raises(KeyError):
            await store.concluded("league", "cup-1")


async def test_what_is_jotted_down_is_there_until_the_match_is_concluded(shelf: Shelf) -> None:
    async with shelf() as store:
        match = played(store, "cup-1")
        played(store, "cup-2", (1, 2, 3))
        for ply, move in enumerate(("NW", [1, 2], {"column": 3}), 1):
            match.play(move, ply / 3)
        jotted = {
            "cup-1": Jottings(("NW", [1, 2], {"column": 3}), (1 / 3, 2 / 3, 1.0)),
            "cup-2": Jottings((1, 2, 3), (0.5, 0.5, 0.5)),
        }
    async with shelf() as store:
        assert store.jotted() == jotted
        gone_on_with(store, "cup-1").play("NW")
        await store.keep("cup", 1.0, [WON])
        assert set(store.jotted()) == {"cup-2"}
    async with shelf() as store:
        assert set(store.jotted()) == {"cup-2"}


async def test_what_is_jotted_down_last_is_there_after_a_stop(shelf: Shelf) -> None:
    async with shelf() as store:
        played(store, "cup-1", ["NW"])
    async with shelf() as store:
        assert store.jotted() == {"cup-1": Jottings(("NW",), (0.5,))}


async def test_what_there_is_beside_moves_is_there_however_often_a_host_starts(shelf: Shelf) -> None:
    """Catches what is written twice or no more, and what was said with a move that is not kept."""
    expected: list[Aside] = []
    for life in range(4):
        async with shelf() as store:
            match = gone_on_with(store, "cup-1")
            assert (len(match.moves), match.asides) == (life, expected)
            expected += [
                Trouble(Refused(1.5, 0, life, "nowhere", "there is no such field")),
                Thought(life + 1, 0.25),
                Remark(Noted(life + 1, 0, {"depth": 9})),
            ]
            match.asides.extend([*expected[-3:], Thought(life + 2, 0.75)])
            match.play("NW")
    async with shelf() as store:
        await store.keep("cup", 1.0, [WON])
    async with shelf() as store:
        assert store.jotted() == {}


async def test_a_store_can_be_copied_into_memory(shelf: Shelf) -> None:
    async with shelf() as store:
        await store.keep("cup", 1.0, EVERY_KIND)
        assert Memory(store.kept()).kept() == tuple(store.kept())
