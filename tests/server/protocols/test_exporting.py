"""Exports of large tournaments: how many at once, and for how long."""

import gc
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.protocols.api import export_places
from server.protocols.api.exporting import MANY
from tests.server.protocols.test_api import TOKEN, Office, office
from tests.server.web import Client, get
from tests.server.windowed import Weather
from tournament.entries import Entry
from tournament.facts import Drew
from tournament.format import Pairing
from tournament.record import PIECE, Record
from tournament.store import Memory

NAME = "exported"  # of no other test's tournament, whose records may not be collected yet
ASKED = get(f"/api/tournaments/{NAME}/export", "Connection: close")
AUTHORISED = get(f"/api/tournaments/{NAME}/export", "Connection: close", f"Authorization: Bearer {TOKEN}")
SLOW, FAST = Weather(window=1024), Weather(window=1 << 30)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_old")]


class Unread(Memory):
    """A store that cannot be read until `readable` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.readable = trio.Event()

    async def entries(self, tournament: str, after: int = 0) -> Sequence[Entry]:
        await self.readable.wait()
        return await super().entries(tournament, after)


async def drawn(here: Office, pairings: int) -> None:
    await here.tell("/api/tournaments", 201, name=NAME, game="tic-tac-toe", format="gauntlet")
    record = here.host.tournaments[NAME].record
    record.add(Drew([Pairing(number, 1, "ann", "bob") for number in range(1, pairings + 1)]))


async def exporting(here: Office, weather: Weather, peer: str) -> Client:
    client = here.server.connect(weather, peer=peer)
    await client.end.send_all(ASKED)
    await trio.testing.wait_all_tasks_blocked()
    return client


def copies() -> int:
    """Records of the tournament beside its own."""
    gc.collect()
    return sum(isinstance(each, Record) and each.name == NAME for each in gc.get_objects()) - 1


async def test_of_large_tournaments_each_network_gets_one_export_at_a_time(autojump_clock: MockClock) -> None:
    """Catches a stranger who fills the memory with copies, by reading sixty exports slowly."""
    async with office() as here:
        await drawn(here, MANY + 1)
        slow = await exporting(here, SLOW, "192.0.2.1")
        gone, patient = [await exporting(here, FAST, "192.0.2.1") for _ in range(2)]
        assert (await gone.now(), await patient.now()) == (b"", b"")
        assert copies() == 1
        organiser = here.server.connect(FAST, peer="192.0.2.1")
        await organiser.end.send_all(AUTHORISED)
        assert (await organiser.now()).endswith(b"0\r\n\r\n")
        gone.end.close()
        whole = await (await exporting(here, FAST, "198.51.100.1")).now()
        assert whole.endswith(b"0\r\n\r\n")
        slow.end.close()
        assert (await patient.now()).endswith(b"0\r\n\r\n")
        assert copies() == 0


async def test_of_large_tournaments_there_are_a_few_exports_at_once_and_of_small_ones_any_number(
    autojump_clock: MockClock,
) -> None:
    for pairings, most in ((MANY, 2 * export_places.AT_ONCE), (MANY + 1, export_places.AT_ONCE)):
        async with office() as here:
            await drawn(here, pairings)
            for number in range(2 * export_places.AT_ONCE):
                await exporting(here, SLOW, f"192.0.2.{number}")
            assert copies() == most


async def nibble(client: Client) -> None:
    """Take as little as one can without being cut off at once, and notice the end."""
    received = b"something"
    while received:
        await trio.sleep(9)
        received = await client.end.receive_some(1024)


async def test_nobody_keeps_a_place_by_taking_an_export_slowly(autojump_clock: MockClock) -> None:
    """Catches four strangers in four networks who hold all places, and everybody else up, for hours."""
    async with office() as here, trio.open_nursery() as nursery:
        await drawn(here, MANY + 1)
        for number in range(export_places.AT_ONCE):
            nursery.start_soon(nibble, await exporting(here, SLOW, f"192.0.2.{number}"))
        waiting, begun = await exporting(here, FAST, "198.51.100.1"), trio.current_time()
        assert (await waiting.rest()).endswith(b"0\r\n\r\n")
        assert trio.current_time() - begun < 60


@pytest.mark.parametrize(("asked", "gets_all"), [(AUTHORISED, True), (ASKED, False)])
async def test_an_organiser_may_take_an_export_slowly(
    asked: bytes, gets_all: bool, autojump_clock: MockClock
) -> None:
    async with office() as here:
        await drawn(here, MANY + 1)
        client = here.server.connect(Weather(window=16384))
        await client.end.send_all(asked)
        taken = bytearray()
        while received := await client.end.receive():
            taken += received
            await trio.sleep(9)
        assert taken.endswith(b"0\r\n\r\n") is gets_all


@pytest.mark.parametrize("after", [0, 10])
async def test_the_export_for_somebody_who_has_hung_up_ends(after: int, autojump_clock: MockClock) -> None:
    """Catches a stranger who has the host make exports that nobody reads, hundreds at once."""
    async with office() as here:
        await drawn(here, 20 * MANY)
        client = here.server.connect(FAST)
        await client.end.send_all(ASKED)
        for _ in range(after):
            await trio.lowlevel.checkpoint()
        client.end.close()
        for _ in range(30):
            await trio.lowlevel.checkpoint()
        assert copies() == 0


async def test_nothing_is_copied_for_an_export_that_waits_for_the_journal(autojump_clock: MockClock) -> None:
    """Catches a hundred strangers who fill the memory with copies while the journal is read for another."""
    store = Unread()
    async with office(store) as here:
        await drawn(here, MANY)
        client = await exporting(here, FAST, "192.0.2.1")
        assert copies() == 0
        store.readable.set()
        assert (await client.now()).endswith(b"0\r\n\r\n")


async def test_whoever_wants_only_the_head_of_an_export_has_nothing_copied(autojump_clock: MockClock) -> None:
    """Catches a stranger who has the host make hundreds of exports over one connection."""
    async with office() as here:
        await drawn(here, MANY)
        client = here.server.connect(FAST)
        await client.end.send_all(9 * get(f"/api/tournaments/{NAME}/export", method="HEAD"))
        for _ in range(30):
            await trio.lowlevel.checkpoint()
            assert copies() == 0
        assert (await client.now()).count(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n") == 9


async def test_a_client_that_has_ended_its_side_gets_its_export(autojump_clock: MockClock) -> None:
    """Catches `printf REQUEST | nc -N`, which got the first half of a small export, and no error."""
    async with office() as here:
        await drawn(here, 10)
        client = here.server.connect(FAST)
        await client.end.send_all(ASKED)
        await client.end.send_eof()
        assert (await client.now()).endswith(b"0\r\n\r\n")


async def test_an_export_has_all_pairings_of_a_draw_or_none(autojump_clock: MockClock) -> None:
    """Catches an export from while a large draw is added, with pairings of which no fact tells."""
    async with office() as here, trio.open_nursery() as nursery:
        await here.tell("/api/tournaments", 201, name=NAME, game="tic-tac-toe", format="gauntlet")
        cup = here.host.tournaments[NAME]
        pairings = [Pairing(number, 1, "ann", "bob") for number in range(1, 5 * PIECE + 1)]
        nursery.start_soon(cup.keep, Drew(pairings))
        while not cup.record.drawn:
            await trio.lowlevel.checkpoint()
        assert len(cup.record.drawn) < len(pairings)
        body = (await here.server.connect(FAST).ask(ASKED)).body
        types = Counter(msgspec.json.decode(line)["type"] for line in body.splitlines())
        assert (types["pairing"], types["fact"]) in ((0, 2), (len(pairings), 3))
