"""What is made once for all who ask: never older than the question, and nobody's end is anybody else's."""

import trio
import trio.testing

from server.net.one_for_all import OneForAll


class Maker:
    """Makes numbers, each when it is let."""

    def __init__(self) -> None:
        self.begun = 0
        self.let = trio.Semaphore(0)
        self.made = OneForAll(self._make)
        self.got: list[int] = []

    async def _make(self) -> int:
        self.begun += 1
        number = self.begun
        await self.let.acquire()
        return number

    async def ask(self) -> None:
        self.got.append(await self.made.get())


async def test_all_who_ask_before_it_is_begun_share_it_and_nobody_gets_what_was_begun_before() -> None:
    maker = Maker()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(maker.ask)
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(50):
            nursery.start_soon(maker.ask)
        await trio.testing.wait_all_tasks_blocked()
        maker.let.release()
        await trio.testing.wait_all_tasks_blocked()
        assert (maker.begun, maker.got) == (2, [1])
        maker.let.release()
    assert (maker.begun, maker.got) == (2, [1] + [2] * 50)


async def test_where_whoever_makes_it_gives_up_the_next_one_makes_it() -> None:
    maker = Maker()
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as hurry:
            async with trio.open_nursery() as hasty:
                hasty.start_soon(maker.ask)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(maker.ask)
                await trio.testing.wait_all_tasks_blocked()
                hurry.cancel()
        maker.let.release()
    assert maker.got == [2]
