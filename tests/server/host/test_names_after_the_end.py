"""Whose the names of a tournament are when it goes on after its end, because a match of it was voided."""

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from server.host.claims import Replaced
from server.host.forgetting import EVERY, NAME_KEPT
from server.host.host import OPEN, Host
from server.host.secrets import token_digest
from server.host.unwelcome import Unwelcome
from tests.server.host.test_host import GAME, come, running
from tests.server.host.test_seats import OURS
from tournament.desk import Desk
from tournament.facts import Opened, State
from tournament.store import Memory

TOKENS = {name: f"the token that {name} brings along" for name in ("ann", "bob")}
OTHER = "a token of somebody else called ann"


async def hold(host: Host, nursery: trio.Nursery) -> None:
    """Hold a tournament to its end, after which its bots go, and their names become free."""
    await host.open("cup", Opened(GAME, "round-robin", 2))
    visits = [await come(host, nursery, name, token=token, resumes=True) for name, token in TOKENS.items()]
    for visit in visits:
        visit.acknowledge()
    await trio.sleep(60.0)
    assert host.tournaments["cup"].record.state is State.FINISHED
    for visit in visits:
        visit.leave()
    await trio.sleep(NAME_KEPT + 2 * EVERY)


async def hold_without_tokens(host: Host, nursery: trio.Nursery) -> None:
    """A tournament whose bots leave after it, and had come without tokens."""
    await host.open("cup", Opened(GAME, "round-robin", 2))
    visits = [await come(host, nursery, name, **OURS) for name in ("ann", "bob")]
    await trio.sleep(60.0)
    for visit in visits:
        visit.leave()


async def void(host: Host) -> None:
    await Desk(host.tournaments["cup"]).void("cup-1", "a cable")
    assert host.tournaments["cup"].record.state is State.RUNNING
    await wait_all_tasks_blocked()


async def expect_the_owner_to_play(host: Host, nursery: trio.Nursery) -> None:
    claims = {**host.tournaments["cup"].record.claims}
    for name, token in TOKENS.items():
        assert (await come(host, nursery, name, token=token)).player.place == "cup"
    await trio.sleep(60.0)
    assert host.tournaments["cup"].record.results.counted == {1: "cup-1.2"}
    assert host.tournaments["cup"].record.claims == claims


@pytest.mark.parametrize("again", [False, True])
async def test_the_names_are_kept_for_the_bots_with_their_tokens(
    again: bool, autojump_clock: MockClock
) -> None:
    """Catches a stranger who played the match in an entrant's place, and locked that out for good."""
    store = Memory()
    async with running(store) as (host, nursery):
        await hold(host, nursery)
        if not again:
            await void(host)
            with pytest.raises(Unwelcome, match="taken"):
                await host.arrive("ann", GAME)
            await expect_the_owner_to_play(host, nursery)
            return
    async with running(store) as (host, nursery):  # the host was started again meanwhile
        await void(host)
        with pytest.raises(Unwelcome, match="taken"):
            await host.arrive("ann", GAME, token=OTHER)
        await expect_the_owner_to_play(host, nursery)


async def test_whoever_gets_a_new_token_in_one_tournament_plays_with_it_in_all(
    autojump_clock: MockClock,
) -> None:
    """In others that have not ended, its name belongs to the token of before."""
    async with running() as (host, _):
        for name in ("cup", "cap"):
            await host.open(name, Opened(GAME, "round-robin", 3))
            ann = await host.arrive("ann", GAME, token=TOKENS["ann"], tournament=name, resumes=True)
            ann.acknowledge()
            await wait_all_tasks_blocked()
            ann.leave()
        token = await host.claims.bind(host.tournaments["cap"], "ann", "somebody")
        assert (await host.arrive("ann", GAME, token=token, tournament="cup")).player.place == "cup"


async def test_a_token_that_was_replaced_in_another_process_is_replaced_here_and_no_other_is(
    autojump_clock: MockClock,
) -> None:
    """The name may be another bot's there, with a token of its own."""
    async with running() as (host, _):
        await host.open("cup", Opened(GAME, "round-robin", 3))
        ann = await host.arrive("ann", GAME, token=TOKENS["ann"], tournament="cup", resumes=True)
        ann.acknowledge()
        await wait_all_tasks_blocked()
        ann.leave()
        mine, others, after = map(token_digest, (TOKENS["ann"], OTHER, "a new token of ann's"))
        claims = host.tournaments["cup"].record.claims
        await host.claims.replace(Replaced("ann", GAME, others.hex(), after.hex()))
        assert claims == {"ann": mine.hex()}
        with pytest.raises(Unwelcome, match="not its token"):
            await host.arrive("ann", GAME, token="a new token of ann's", tournament="cup")
        await host.claims.replace(Replaced("ann", GAME, mine.hex(), after.hex()))
        assert claims == {"ann": after.hex()}
        with pytest.raises(Unwelcome, match="not its token"):
            await host.arrive("ann", GAME, token=TOKENS["ann"], tournament="cup")
        again = await host.arrive("ann", GAME, token="a new token of ann's", tournament="cup")
        assert again.player.place == "cup"


@pytest.mark.parametrize("token", [None, OTHER])
async def test_whoever_has_come_under_such_a_name_meanwhile_is_no_entrant(
    token: str | None, autojump_clock: MockClock
) -> None:
    """Catches a bot of the open table that became an entrant by a name that it had taken when it was free."""
    async with running() as (host, nursery):
        await hold(host, nursery)
        (await host.arrive("ann", GAME, token=token)).leave(for_good=token is None)
        visit = await host.arrive("ann", GAME, token=token)
        await void(host)
        with pytest.raises(Unwelcome, match="taken"):
            await host.arrive("ann", GAME, token=token, tournament="cup")
        visit.leave(for_good=token is None)
        visit = await host.arrive("ann", GAME, token=token)
        assert visit.player.place == OPEN + GAME
        visit.leave(for_good=True)
        token = await host.claims.bind(host.tournaments["cup"], "ann", "somebody")
        assert (await host.arrive("ann", GAME, token=token)).player.place == "cup"


async def test_a_seat_is_kept_from_whoever_has_a_token_for_its_name_by_then(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that took the seat of one without a token, by the name that it had in the meantime."""
    async with running() as (host, nursery):
        await hold_without_tokens(host, nursery)
        elsewhere = {"token": OTHER, "peer": "192.0.2.99", "door": "house"}
        (await host.arrive("ann", GAME, **elsewhere)).leave(for_good=True)
        await void(host)
        visit = await host.arrive("ann", GAME, **elsewhere)
        assert visit.player.place == OPEN + GAME
        visit.acknowledge()
        await wait_all_tasks_blocked()
        assert [*host.tournaments["cup"].record.seats] == ["ann", "bob"]


async def test_they_are_free_when_the_host_is_started_again(autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, nursery):
        await hold(host, nursery)
    async with running(store) as (host, _):
        assert (await host.arrive("ann", GAME, token=OTHER)).player.place == OPEN + GAME


async def test_whoever_is_led_out_of_a_deleted_tournament_is_led_to_nobody_elses_seat(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, nursery):
        await hold_without_tokens(host, nursery)
        await host.open("cap", Opened(GAME, "round-robin", 3))
        visit = await host.arrive("ann", GAME, tournament="cap", **OURS | {"peer": "192.0.2.99"})
        await void(host)
        await host.delete(host.tournaments["cap"], "somebody")
        assert visit.player.place == OPEN + GAME


@pytest.mark.parametrize("token", [None, OTHER])
async def test_whoever_is_led_out_of_a_deleted_tournament_is_led_to_none_where_its_name_is_anothers(
    token: str | None, autojump_clock: MockClock
) -> None:
    async with running() as (host, nursery):
        await hold(host, nursery)
        await host.open("cap", Opened(GAME, "round-robin", 3))
        visit = await host.arrive("ann", GAME, token=token, keeps=token is not None, tournament="cap")
        await void(host)
        await host.delete(host.tournaments["cap"], "somebody")
        assert visit.player.place == OPEN + GAME
