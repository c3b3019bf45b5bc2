"""Clients of the c4-arena that cannot wait: in a league, and at a table where people hang up."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import pytest

from tests.effort import tries
from tests.hang import HANG
from tests.server.served import Served
from tests.veterans.company import matches, together
from tests.veterans.restless import Restless, quit_often

pytestmark = pytest.mark.slow

NAMES = ("Alice", "Bob", "Carl", "Dora")
HANG_UPS = tries(10, 30)  # for each of them; `tests/blackbox/test_c4_arena.py` has more


def test_clients_that_talk_back_to_every_refusal_play_a_league_to_the_end(
    hold: Callable[..., Served],
) -> None:
    host = hold("connect-4", len(NAMES))
    with ExitStack() as connections:
        bots = [connections.enter_context(Restless(host.websocket, name)) for name in NAMES]
        bots[0].start()
        bots[0].react(bots[0].hear(HANG))
        assert bots[0].reasons == {"Waiting for match"}, "it moved before anybody else was there"
        for bot in bots[1:]:
            bot.start()
        together(host, *(partial(bot.play, "end", len(NAMES) - 1) for bot in bots))
    assert {match["ending"] for match in matches(host, NAMES)} == {"played"}
    assert [bot.ends for bot in bots] == [{"end": len(NAMES) - 1, "disconnected": 0}] * len(NAMES)


@pytest.mark.slow
def test_clients_whose_opponents_hang_up_time_and_again_are_never_cut(hold: Callable[..., Served]) -> None:
    host = hold()
    with ExitStack() as connections:
        bots = [connections.enter_context(Restless(host.websocket, name)) for name in NAMES[:3]]
        for bot in bots:
            bot.start()
        together(
            host,
            *(partial(bot.play, "disconnected", HANG_UPS) for bot in bots),
            *(partial(quit_often, host.websocket, f"-{bot.name}-", bot.name, HANG_UPS) for bot in bots),
        )
        for bot in bots:
            assert bot.ends["disconnected"] == HANG_UPS
            assert "Only start messages allowed in current state" in bot.reasons, "it moved after the end"
            bot.start("random")
        together(host, *(partial(bot.play, "end", 1) for bot in bots))
