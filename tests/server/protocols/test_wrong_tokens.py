"""Too many wrong tokens from one address: each door says so in its own way, over HTTP with a time to wait."""

from trio.testing import MockClock

from server.net.limits import Limits, Rate
from tests.server.protocols.lists import lists
from tests.server.protocols.room import room
from tests.server.protocols.table import said, table

FEW = Limits(wrong_tokens=Rate(2, 60.0))
WHY = "too many wrong tokens came from your address: wait for a minute"


async def test_by_the_arena_with_429(autojump_clock: MockClock) -> None:
    async with lists(limits=FEW) as here:
        await here.join("ann", token="anns own secret 1")
        guesses = [
            await here.ask("/tic-tac-toe/join", {"name": "ann", "token": f"a guess, number {number}"})
            for number in range(3)
        ]
        assert [answer.status for answer in guesses] == [409, 409, 429]
        assert said(guesses[-1]) == {"error": WHY}
        assert guesses[-1].headers["retry-after"] == "30"


async def test_by_the_house_protocol_over_http_with_429(autojump_clock: MockClock) -> None:
    hello = {"type": "hello", "name": "ann", "game": "tic-tac-toe"}
    async with table({}, FEW) as here:
        assert (await here.caller().ask("POST", "/play", hello)).status == 201
        guesses = [
            await here.caller().ask("POST", "/play", {**hello, "token": f"a guess, number {number}"})
            for number in range(3)
        ]
        assert [answer.status for answer in guesses] == [403, 403, 429]
        assert said(guesses[-1])["reason"] == WHY
        assert guesses[-1].headers["retry-after"] == "30"


async def test_by_the_house_protocol_over_tcp_with_a_hang_up(autojump_clock: MockClock) -> None:
    async with room(limits=FEW) as hall:
        await hall.hello("ann")
        guessers = [await hall.hello("ann", token=f"a guess, number {number}") for number in range(3)]
        assert await guessers[-1].messages() == [{"type": "refused", "reason": WHY}, {"type": "[closed]"}]


async def test_for_as_long_as_the_limit_says(autojump_clock: MockClock) -> None:
    """It said a minute, whatever the organiser had set, and a bot that came after that came in vain."""
    async with room(limits=Limits(wrong_tokens=Rate(2, 7200.0), takeovers=Rate(1, 600.0))) as hall:
        own = {"token": "ann-keeps-this-secret"}
        ann = [await hall.hello("ann", **own) for _ in range(3)]
        guessers = [await hall.hello("ann", token=f"a guess, number {number}") for number in range(3)]
        assert [(await bot.messages("refused"))[-1]["reason"] for bot in (ann[-1], guessers[-1])] == [
            "the name ann is being taken over too often: come again later, in 600 seconds",
            "too many wrong tokens came from your address: come again later, in 3600 seconds",
        ]
