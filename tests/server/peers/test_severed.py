"""A bot that cannot come back to its match, relayed by another host: whose fault it is that it is gone."""

import pytest
import trio
from trio.testing import MockClock

from server.peers.channel import FarEnd
from server.peers.messages import Open
from server.peers.peering import RelayedPeer
from server.protocols import handed
from tests.server.peers.relayed import linked
from tests.server.transcripts import hosting
from tournament.events import Ending, Fault


@pytest.mark.parametrize("what", ["bot hangs up", "link is cut"])
async def test_a_lost_link_costs_no_bot_a_match_and_hanging_up_does(
    what: str, autojump_clock: MockClock
) -> None:
    async with hosting({}) as (host, _):

        async def attend(wire: FarEnd, opened: Open) -> None:
            await handed.attend(host, wire, RelayedPeer(wire), opened.door, opened.path, wire.pieces)

        async with linked(attend) as between, linked(attend) as other:
            bots = {"ann": between.bot((b"ann\n", 0.0)), "bob": other.bot((b"bob\n", 0.0))}
            await trio.sleep(1.0)
            table = host.tournaments["open-santorini"]
            (match,) = table.matches.values()
            for field in (b"0 0", b"0 1", b"4 4", b"4 3"):
                assert match.to_move is not None
                await bots[match.names[match.to_move]].send_all(field + b"\n")
                await trio.sleep(0.1)
            assert match.both_have_moved
            if what == "link is cut":
                between.cut()
            else:
                await bots["ann"].aclose()
            await trio.sleep(1.0)
            (over,) = table.record.matches.values()
    if what == "link is cut":
        assert (over.ending, over.winner, over.fault) == (Ending.VOID, None, Fault.HOST)
        assert over.why == "the link between two hosts, over which ann played, was lost"
    else:
        assert over.winner is not None
        assert (over.ending, over.players[over.winner], over.fault) == (Ending.LEFT, "bob", Fault.BOT)
