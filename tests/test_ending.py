"""A program of the tests that is told to end ends what it has started."""

import os
import signal

import pytest
import trio

from tests.ending import ended_in_order


async def test_whoever_is_told_to_end_ends_first_what_it_has_started() -> None:
    ended = False

    async def program() -> None:
        nonlocal ended
        async with ended_in_order():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                await trio.sleep_forever()
            finally:
                ended = True

    with pytest.raises(SystemExit) as exit:
        await program()
    assert (ended, exit.value.code) == (True, 143)


async def test_whoever_is_done_goes_on() -> None:
    async with ended_in_order():
        pass
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
