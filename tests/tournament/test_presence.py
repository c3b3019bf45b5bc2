"""Who is here, as a format without an end is told."""

from collections.abc import Callable, Iterator, Sequence
from math import inf

import trio
import trio.testing

from tests.steps import steps_taken
from tests.tournament.world import World
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Drew, Entered, Opened, RoundBegan, State, Turned, Withdrew
from tournament.format import Entrant, Pairing
from tournament.lobby import Lobby
from tournament.presence import PIECE, Presence
from tournament.record import Record
from tournament.timekeeper import Timekeeper


async def test_a_format_is_told_of_who_is_free_and_of_one_who_is_not() -> None:
    record = Record("cup", Opened("tic-tac-toe", "ladder"))
    lobby = Lobby()
    presence = Presence(record, "tic-tac-toe", lobby, Timekeeper(inf), 30.0)
    names = ("ann", "bob", "cas", "dee", "eve")
    for name in names:
        record.add(Entered(name))
    stranger, ann, bob, cas, dee, eve = (lobby.enter(name, "tic-tac-toe") for name in ("zoe", *names))
    lobby.enter("ann", "connect-4").reserved = True
    bob.meet_only("ann")
    assert presence.here(presence.idle()) == [
        Entrant("ann"), Entrant("bob", against="ann"), Entrant("cas"), Entrant("dee"), Entrant("eve")
    ]  # fmt: skip
    stranger.reserved = cas.reserved = dee.reserved = True
    eve.away()
    ann.free()
    assert presence.here(presence.idle()) == [
        Entrant("ann"),
        Entrant("bob", against="ann"),
        Entrant("cas", free=False),
    ]
    record.add(Withdrew("cas", False))
    assert presence.here(presence.idle())[2:] == [Entrant("dee", free=False)]
    dee.move_to("another")
    assert presence.here(presence.idle())[2:] == []
    ann.move_to("another")
    assert [player.name for player in presence.idle()] == ["bob"]


async def test_two_who_are_free_on_a_ladder_are_found_as_soon_however_many_wait_elsewhere() -> None:
    """Catches a look, for each match of theirs, at all bots of the game that wait for another tournament."""

    async def effort(count: int) -> int:
        record, lobby = Record("cup", Opened("tic-tac-toe", "ladder")), Lobby()
        presence = Presence(record, "tic-tac-toe", lobby, Timekeeper(inf), 30.0)
        for number in range(count):
            lobby.enter(f"bot-{number}", "tic-tac-toe", "another")
        for name in ("ann", "bob"):
            record.add(Entered(name))
            lobby.enter(name, "tic-tac-toe", "cup")
        assert presence.here(presence.idle()) == [Entrant("ann"), Entrant("bob")]
        return steps_taken(lambda: presence.here(presence.idle()))

    assert await effort(500) == await effort(5)


async def test_of_thousands_about_whom_something_has_changed_a_few_are_looked_at_at_a_time() -> None:
    """When a round of ten thousand bots began, a look at all of them held up all moves for 15 ms."""
    record, lobby, done = Record("cup", Opened("tic-tac-toe", "swiss")), Lobby(), list[str]()
    for number in range(8 * PIECE):
        record.add(Entered(f"bot-{number}"))
        if number % 2:
            lobby.enter(f"bot-{number}", "tic-tac-toe")
    presence = Presence(record, "tic-tac-toe", lobby, Timekeeper(inf), 30.0)
    presence.heard_of_all()

    async def take_turns() -> None:
        for _ in range(4):
            await trio.lowlevel.checkpoint()
        done.append("four turns")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_turns)
        await presence.catch_up()
        done.append("all looked at")
    assert done == ["four turns", "all looked at"]
    assert presence.absent == {f"bot-{number}" for number in range(0, 8 * PIECE, 2)}


async def test_whoever_asks_who_is_missing_has_no_thousands_looked_at_at_a_time() -> None:
    """Catches 40 ms for which nobody moved, where that was asked while a round of ten thousand began."""
    here, count = World(Opened("tic-tac-toe", "swiss")), 8 * PIECE
    await here.tournament.keep(*(Entered(f"bot-{number}") for number in range(count)))
    assert steps_taken(here.tournament.missing) < count
    await here.tournament.foresee()
    assert len(here.tournament.missing()) == count


async def test_to_find_who_is_missing_takes_little_for_each() -> None:
    """Some 21 steps; catches a look at the pairings of each of ten thousand, with 42, twice a second."""
    record, count = Record("cup", Opened("tic-tac-toe", "knockout")), 8 * PIECE
    for number in range(count):
        record.add(Entered(f"bot-{number}"))
    record.add(Turned(State.RUNNING))
    pairs = [Pairing(number + 1, 1, f"bot-{2 * number}", f"bot-{2 * number + 1}") for number in range(PIECE)]
    record.add(Drew(tuple(pairs)))
    presence = Presence(record, "tic-tac-toe", Lobby(), Timekeeper(inf), 30.0)
    presence.heard_of_all()
    await presence.catch_up()
    assert list(presence.missing()) == [f"bot-{number}" for number in range(2 * PIECE)]
    assert steps_taken(presence.missing) < 30 * count


def first_round(record: Record, count: int) -> Iterator[AnyFact]:
    """What happens until the first round of a knockout is over, which those who begin have won."""
    for number in range(count):
        yield Entered(f"bot-{number}")
    yield Turned(State.RUNNING)
    yield RoundBegan(1, 0.0)
    yield Drew(tuple(record.format.draw([*record.entrants.values()], *record.past(), record.terms)))
    for number, pairing in [*record.drawn.items()]:
        match, (first, second) = record.match_name(number), pairing.names
        yield Concluded(match, number, (first, second), 0, Ending.LEFT, f"{second} left", (1.0, 0.0))


async def test_who_is_missing_for_the_next_round_of_a_large_knockout_is_known_from_its_draw() -> None:
    """Catches a draw of ten thousand, only to know them, that held up all moves for 37 ms."""
    opened, count = Opened("tic-tac-toe", "knockout", round_every=60.0, start_at=0.0), 1024
    record = Record("cup", opened)
    for fact in first_round(record, count):
        record.add(fact)

    def draw() -> Sequence[Pairing]:
        return record.format.draw([*record.entrants.values()], *record.past(), record.terms)

    presence = Presence(record, "tic-tac-toe", Lobby(), Timekeeper(inf), 30.0)
    presence.heard_of_all()
    await presence.catch_up()
    assert steps_taken(presence.missing) < 30 * count
    presence.foresee(draw())
    assert presence.missing().keys() == {pairing.first for pairing in record.drawn.values()}
    presence.told(RoundBegan(2, 60.0))
    assert not presence.missing()


async def test_whoever_asks_while_a_round_of_a_large_knockout_is_drawn_is_told_all_afterwards() -> None:
    """Catches a list without anybody, which was made during the draw and stood until somebody came."""
    opened, count = Opened("tic-tac-toe", "knockout", round_every=60.0, start_at=0.0), 1024
    asked, goes_on = trio.Event(), trio.Event()

    async def elsewhere(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
        asked.set()
        await goes_on.wait()
        return draw()

    here = World(opened, elsewhere=elsewhere, wall=lambda: 30.0)
    record = here.tournament.record
    await here.store.keep("cup", 0.0, [opened])
    for fact in first_round(record, count):
        await here.tournament.keep(fact)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.tournament.run)
        await asked.wait()
        assert not here.tournament.missing()
        goes_on.set()
        await trio.testing.wait_all_tasks_blocked()
        winners = {pairing.first for pairing in record.drawn.values()}
        assert {each.name for each in here.tournament.missing()} == winners
        nursery.cancel_scope.cancel()
