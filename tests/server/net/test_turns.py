"""Turns: whoever took one first goes on first, and whoever has given it up holds nobody up."""

import pytest
import trio
import trio.testing

from server.net.turns import OneARound, Turn, Turns

MANY = 1000  # who come at once
TIMES = 30  # trio runs those that wake up together in any order: once would prove nothing


async def test_tasks_go_on_in_the_order_in_which_they_took_their_turns() -> None:
    for _ in range(TIMES):
        turns, gone_on = Turns(), list[int]()

        async def go_on(turn: Turn, number: int, gone_on: list[int]) -> None:
            with turn:
                await turn.come()
            gone_on.append(number)

        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(go_on, turns.take(), number, gone_on)
        assert gone_on == [*range(5)]


async def test_many_go_on_in_their_order_in_far_fewer_rounds_of_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches bots that wait for seconds in a flood, in which each round takes long."""
    monkeypatch.setattr(trio._core._run, "_ALLOW_DETERMINISTIC_SCHEDULING", False)  # as where hosts run

    class Rounds(trio.abc.Instrument):
        count = 0

        def before_io_wait(self, timeout: float) -> None:
            self.count += 1

    turns, gone_on, rounds = Turns(), list[int](), Rounds()

    async def go_on(turn: Turn, number: int) -> None:
        with turn:
            await turn.come()
        gone_on.append(number)

    first = turns.take()
    async with trio.open_nursery() as nursery:
        for number in range(MANY):
            nursery.start_soon(go_on, turns.take(), number)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(rounds)
        first.over()
    trio.lowlevel.remove_instrument(rounds)
    assert gone_on == [*range(MANY)]
    assert rounds.count < MANY / 4


async def test_whoever_is_cancelled_or_has_given_up_holds_nobody_up() -> None:
    turns = Turns()
    first, second, third = turns.take(), turns.take(), turns.take()
    gone_on = trio.Event()

    async def go_on() -> None:
        with third:
            await third.come()
        gone_on.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(go_on)
        await trio.testing.wait_all_tasks_blocked()
        second.over()
        await trio.testing.wait_all_tasks_blocked()
        assert not gone_on.is_set(), "the first has not had its turn yet"
        with trio.CancelScope() as scope, first:
            scope.cancel()
            await trio.sleep_forever()
        await trio.testing.wait_all_tasks_blocked()
        assert gone_on.is_set()


async def test_whoever_is_next_does_not_wait() -> None:
    with Turns().take() as turn, trio.testing.assert_no_checkpoints():
        await turn.come()
        turn.over()
        turn.over()


async def test_whoever_wants_many_turns_keeps_nobody_from_one() -> None:
    turns, had = OneARound(), list[str]()

    async def come(whose: str) -> None:
        await turns.come(whose)
        had.append(whose)

    async with trio.open_nursery() as nursery:
        for whose in ("many", "some"):
            for _ in range(MANY if whose == "many" else 10):
                nursery.start_soon(come, whose)
        await trio.lowlevel.checkpoint()
        nursery.start_soon(come, "one")
    assert had.index("one") <= 10
    assert [each for each in had[:22] if each == "some"] == ["some"] * 10
    assert len(had) == MANY + 11


@pytest.mark.parametrize("addresses", ["ab", "abcdef"])
async def test_there_is_one_turn_a_round_and_whoever_is_cancelled_loses_nobody_a_turn(addresses: str) -> None:
    for cancelled in range(6):
        turns, had, scopes = OneARound(), list[int](), [trio.CancelScope() for _ in range(6)]

        async def come(number: int, had: list[int], turns: OneARound, scope: trio.CancelScope) -> None:
            with scope:
                await turns.come(addresses[number % len(addresses)])
                had.append(number)

        async with trio.open_nursery() as nursery:
            for number, scope in enumerate(scopes):
                nursery.start_soon(come, number, had, turns, scope)
            for number in range(6):
                await trio.lowlevel.checkpoint()
                assert len(had) <= number + 1
                if number == 1:
                    scopes[cancelled].cancel()
        assert len(had) >= 5
        await come(6, had, turns, trio.CancelScope())
        assert had[-1] == 6
