"""Too many new names from one address: each protocol refuses them in its own way, and names the limit."""

import pytest
from trio.testing import MockClock

from server.net.limits import Limits, Rate
from tests.server.protocols.fours import Bot, ignored, place
from tests.server.protocols.lists import lists
from tests.server.protocols.room import room
from tests.server.protocols.table import said, table
from tests.server.transcripts import hosting

FEW = Limits(new_names=Rate(0, 100.0))
RATE = "`limits.new_names` allows 0 at once, and 0 a second after that"
WHY = f"too many new names came from your address: {RATE}"


async def test_by_the_memo_with_a_line_and_then_a_hang_up(autojump_clock: MockClock) -> None:
    async with room(limits=FEW) as hall:
        ann = await hall.come("Ann")
        assert await ann.lines() == [WHY, "[closed]"]


async def test_by_the_house_protocol_with_a_refusal_after_which_it_may_go_on(
    autojump_clock: MockClock,
) -> None:
    async with room(limits=FEW) as hall:
        ann = await hall.hello("ann")
        assert await ann.messages() == [{"type": "refused", "reason": WHY}]


async def test_by_the_c4_arena_with_what_it_ignores(autojump_clock: MockClock) -> None:
    async with place(limits=FEW) as host:
        assert await Bot(host).start("Ann") == [ignored({"type": "start", "id": "Ann"}, WHY)]


async def test_by_hexagon_dots_with_429(autojump_clock: MockClock) -> None:
    async with table(limits=FEW) as here:
        ann = here.bot("ann")
        await ann.join(await here.made())
        answer = await ann.told()
        assert (answer.status, answer.body.decode()) == (429, WHY)
        assert answer.headers["retry-after"] == "100"


async def test_by_the_arena_with_429(autojump_clock: MockClock) -> None:
    async with lists(limits=FEW) as here:
        answer = await here.ask("/tic-tac-toe/join", {"name": "ann"})
        assert (answer.status, said(answer)) == (429, {"error": WHY})
        assert answer.headers["retry-after"] == "100"


async def test_by_the_house_protocol_over_http_with_429(autojump_clock: MockClock) -> None:
    async with table({}, FEW) as here:
        hello = {"type": "hello", "name": "ann", "game": "tic-tac-toe"}
        answer = await here.caller().ask("POST", "/play", hello)
        assert answer.status == 429
        assert b"`limits.new_names`" in answer.body
        assert answer.headers["retry-after"] == "100"


@pytest.mark.parametrize("many", [1, 5])
async def test_nothing_is_kept_of_whoever_is_refused(many: int, autojump_clock: MockClock) -> None:
    async with hosting({}, FEW) as (host, _):
        for number in range(many):
            with pytest.raises(Exception, match=r"limits\.new_names"):
                await host.arrive(f"ann {number}", "tic-tac-toe")
        assert not [*host.lobby.players()]
        assert not host.reception._visits | host.reception._claims
        assert not host.tournaments
