"""Whose seat it is: names that came without a token, for as long as a tournament lasts."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.host.claims import Claims, way_back
from server.host.host import OPEN, Host
from server.host.reception import Reception
from server.host.roll import Roll
from server.host.unwelcome import Guessing, Unwelcome
from server.host.visits import Visit
from server.net.limits import Limits
from tests.server.host.test_host import GAME, come, running
from tests.server.protocols.table import Slow
from tournament.desk import Desk
from tournament.facts import Claimed, Dealt, Drew, Entered, Opened, Seated, State
from tournament.format import Pairing
from tournament.lobby import Lobby
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.store import Memory

HOME, DOOR, TOKEN = "192.0.2.1", "santorini", "a token of sixteen and more"
OURS: dict[str, Any] = {"keeps": False, "peer": HOME, "door": DOOR}
STRANGERS: list[dict[str, Any]] = [
    OURS | {"peer": "192.0.2.2"},
    OURS | {"peer": "2001:db8::1"},
    OURS | {"door": "connect-4"},
    {"peer": HOME, "door": "house"},
    {"peer": HOME, "door": "house", "token": TOKEN},
    {"peer": "192.0.2.2", "door": DOOR, "token": TOKEN},
]


async def expect_strangers_turned_away(host: Host) -> None:
    """With words that say nothing of whoever has the seat."""
    for how in STRANGERS:
        with pytest.raises(Unwelcome) as refused:
            await host.arrive("ann", GAME, **how)
        assert str(refused.value) == "the name ann is taken: ask the organiser, if it is yours"


async def cup(host: Host, entrants: int | None = 3) -> None:
    await host.open("cup", Opened(GAME, "round-robin", entrants))


async def test_a_seat_is_kept_for_the_door_and_address_that_it_was_taken_from(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, _):
        await cup(host)
        visit = await host.arrive("ann", GAME, **OURS)
        visit.leave()
        await expect_strangers_turned_away(host)
        assert (await host.arrive("ann", GAME, **OURS)).player.place == "cup"


async def test_whoever_looks_like_the_owner_of_a_seat_has_it_as_little(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await cup(host)
        (await host.arrive("Al", GAME, **OURS)).leave()
        for name in ("A1", "AI", "аӏ"):
            for where in (None, OPEN + GAME):
                with pytest.raises(Unwelcome, match="is taken"):
                    await host.arrive(name, GAME, tournament=where, **OURS)


async def test_whoever_tries_tokens_at_a_seat_is_guessing(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await cup(host)
        (await host.arrive("ann", GAME, **OURS)).leave()
        for guess in range(host.limits.wrong_tokens.credits):
            with pytest.raises(Unwelcome, match="is taken"):
                await host.arrive("ann", GAME, token=f"guess {guess:020}", peer=HOME)
        with pytest.raises(Guessing):
            await host.arrive("ann", GAME, token=f"guess {0:020}", peer=HOME)


async def test_seats_outlast_the_host(autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, _):
        await cup(host)
        await host.arrive("ann", GAME, **OURS)
        assert [kept.fact for kept in store.kept()][-1] == Seated("ann", DOOR, HOME)
    async with running(store) as (host, _):
        await expect_strangers_turned_away(host)
        assert (await host.arrive("ann", GAME, **OURS)).player.place == "cup"
        assert len([kept for kept in store.kept() if isinstance(kept.fact, Seated)]) == 1, "nothing is new"


async def test_when_the_tournament_is_over_the_name_is_anybodys(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        await cup(host, 2)
        visits = [await come(host, nursery, name, **OURS) for name in ("ann", "bob")]
        await trio.sleep(100.0)
        assert host.tournaments["cup"].record.state is State.FINISHED
        for visit in visits:
            visit.leave()
        assert (await host.arrive("ann", GAME, **STRANGERS[0])).player.place == f"open-{GAME}"


@pytest.mark.parametrize("since", [0.0, 5.0])
@pytest.mark.parametrize("what", ["is deleted", "ends"])
async def test_whoever_is_let_in_as_its_tournament_is_over_plays_elsewhere_and_has_no_seat(
    what: str, since: float, autojump_clock: MockClock
) -> None:
    """Catches a bot that waited for ever, and whose name nobody from another address could have again."""
    async with running(Slow(Seated)) as (host, nursery):
        await cup(host, None)
        held = host.tournaments["cup"]
        await held.keep(Entered("ann"), Entered("bob"))
        if what == "ends":
            await Desk(held).start()
        visits = list[Visit]()

        async def arrive() -> None:
            visits.append(await host.arrive("ann", GAME, **OURS))

        nursery.start_soon(arrive)
        await trio.sleep(since)
        await (Desk(held).end() if what == "ends" else host.delete(held, "somebody"))
        await trio.sleep(13.0)
        (ann,) = visits
        assert ann.player.place == OPEN + GAME
        ann.leave()
        visit = await host.arrive("ann", GAME, **OURS | {"peer": "192.0.2.2"})
        assert visit.player.place == OPEN + GAME


async def test_at_an_open_table_nobody_has_a_seat(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        for how in (OURS, *STRANGERS):
            (await host.arrive("ann", GAME, **how)).leave()


async def test_a_name_that_is_shared_is_in_a_tournament_once(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await cup(host)
        await host.arrive("ann", GAME, **OURS, shared=True)
        with pytest.raises(Unwelcome, match="somebody plays in cup under it"):
            await host.arrive("ann", GAME, **OURS, shared=True)


async def test_bots_behind_one_gateway_are_one(autojump_clock: MockClock) -> None:
    """Nothing tells them apart; `docs/organisers.md` says so."""
    async with running() as (host, _):
        await cup(host)
        (await host.arrive("ann", GAME, **OURS)).leave()
        assert (await host.arrive("ann", GAME, **OURS)).player.place == "cup"


async def test_a_name_with_a_token_has_no_seat_and_its_bot_may_move(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await cup(host)
        visit = await host.arrive("ann", GAME, token=TOKEN, peer=HOME, door="house")
        assert not host.tournaments["cup"].record.seats
        visit.leave()
        assert (
            await host.arrive("ann", GAME, token=TOKEN, peer="192.0.2.9", door="arena")
        ).player.place == "cup"


async def test_whoever_was_given_a_token_and_shows_it_owns_the_name_by_that(
    autojump_clock: MockClock,
) -> None:
    async with running() as (host, _):
        await cup(host)
        visit = await host.arrive("ann", GAME, peer=HOME, door="house")
        assert host.tournaments["cup"].record.seats == {"ann": Seated("ann", "house", HOME)}
        visit.acknowledge()
        await trio.testing.wait_all_tasks_blocked()
        assert not host.tournaments["cup"].record.seats
        visit.leave()
        with pytest.raises(Unwelcome, match="this is not its token"):
            await host.arrive("ann", GAME, peer=HOME, door="house")
        assert (await host.arrive("ann", GAME, token=visit.token, peer="192.0.2.9")).player is visit.player


@pytest.mark.parametrize("where", ["cup", "cap"])
async def test_a_new_token_is_the_one_for_all_tournaments_also_after_a_restart(
    where: str, autojump_clock: MockClock
) -> None:
    """Catches one that was refused, in favour of the last, because an older tournament knew only that."""
    store = Memory()
    async with running(store) as (host, _):
        for name in ("cup", "cap"):
            await host.open(name, Opened(GAME, "round-robin", 3))
            visit = await host.arrive("ann", GAME, token=TOKEN, tournament=name, resumes=True)
            visit.acknowledge()
            await trio.testing.wait_all_tasks_blocked()
            visit.leave()
        token = await host.claims.bind(host.tournaments[where], "ann", "somebody")
    async with running(store) as (host, _):
        with pytest.raises(Unwelcome, match="this is not its token"):
            await host.arrive("ann", GAME, token=TOKEN)
        assert (await host.arrive("ann", GAME, token=token)).player.place in ("cup", "cap")


async def test_whose_a_name_is_is_kept_once_and_only_where_there_is_an_end(autojump_clock: MockClock) -> None:
    """Catches a journal that grows with every bot that comes again."""
    store = Memory()
    async with running(store) as (host, _):
        await cup(host)
        for where in ("cup", OPEN + GAME):
            for _ in range(3):
                visit = await host.arrive("ann", GAME, token=TOKEN, tournament=where)
                visit.acknowledge()
                await trio.testing.wait_all_tasks_blocked()
                visit.leave()
    assert [kept.tournament for kept in store.kept() if isinstance(kept.fact, Claimed)] == ["cup"]


# What the organiser can do


async def seated(host: Host) -> tuple[Visit, Desk]:
    await cup(host)
    visit = await host.arrive("ann", GAME, **OURS)
    return visit, Desk(host.tournaments["cup"], "the organiser")


async def test_a_seat_that_is_released_is_whoevers_that_comes_next(autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, _):
        visit, desk = await seated(host)
        visit.leave()
        await desk.release("ann")
        again = await host.arrive("ann", GAME, **STRANGERS[0])
        assert again.player.place == "cup"
        again.leave()
        with pytest.raises(Unwelcome, match="is taken"):
            await host.arrive("ann", GAME, **OURS)
    async with running(store) as (host, _):
        with pytest.raises(Unwelcome, match="is taken"):
            await host.arrive("ann", GAME, **OURS)
        await host.arrive("ann", GAME, **STRANGERS[0])


@pytest.mark.parametrize("here", [True, False])
async def test_a_seat_that_is_bound_is_whoevers_that_has_the_token(
    here: bool, autojump_clock: MockClock
) -> None:
    store = Memory()
    async with running(store) as (host, _):
        visit, _ = await seated(host)
        if not here:
            visit.leave()
        token = await host.claims.bind(host.tournaments["cup"], "ann", "the organiser")
        told: list[str] = []
        visit.replaced = told.append
        assert visit.current == here, "it plays on"
        for how in (OURS, *STRANGERS):
            with pytest.raises(Unwelcome, match="is taken"):
                await host.arrive("ann", GAME, **how)
        again = await host.arrive("ann", GAME, token=token, peer="192.0.2.9", door="house")
        assert again.player.place == "cup"
        assert (len(told), visit.current) == (int(here), False)
        again.leave()
    assert [*(kept.fact for kept in store.kept() if isinstance(kept.fact, Claimed))]
    async with running(store) as (host, _):
        with pytest.raises(Unwelcome, match="is taken"):
            await host.arrive("ann", GAME, **OURS)
        await host.arrive("ann", GAME, token=token)


async def test_whoever_is_replaced_by_a_token_does_not_lose_the_match(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await cup(host, 2)
        visit = await host.arrive("ann", GAME, **OURS)
        await host.arrive("bob", GAME, **OURS)
        await trio.sleep(0.5)
        seat = visit.player.seat
        assert seat is not None
        token = await host.claims.bind(host.tournaments["cup"], "ann", "the organiser")
        again = await host.arrive("ann", GAME, token=token)
        visit.leave(for_good=True)
        assert again.player.seat is seat
        assert seat.match.verdict is None


async def test_what_cannot_be_released_is_refused_in_words(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        _, desk = await seated(host)
        with pytest.raises(Refusal, match="cup has no entrant 'bob'"):
            await desk.release("bob")
        await desk.release("ann")
        with pytest.raises(Refusal, match="ann belongs to nobody"):
            await desk.release("ann")
        await host.claims.bind(host.tournaments["cup"], "ann", "the organiser")
        with pytest.raises(Refusal, match="ann belongs to a token"):
            await desk.release("ann")
        with pytest.raises(Refusal, match="has no end"):
            await Desk(await host.table(GAME)).release("ann")
        with pytest.raises(Refusal, match="has no end"):
            await host.claims.bind(await host.table(GAME), "ann", "the organiser")


@pytest.mark.parametrize("brought", [True, False])
async def test_whoever_brought_its_token_to_a_match_has_its_name_after_a_restart(
    brought: bool, autojump_clock: MockClock
) -> None:
    """And whoever was only given one, and may never have got it, is not locked out."""
    lobby, roll = Lobby(), Roll()
    before, after = (Reception(Lobby(), Limits()), Reception(lobby, Limits(), roll))
    visits = [before.arrive(name, GAME, token=f"{name}'s {TOKEN}") for name in ("ann", "bob")]
    for visit in visits:
        visit.resumes = True
    first, second = (way_back(visit, has_it=brought) or "" for visit in visits)
    record = Record("table", Opened(GAME, "open"))
    for fact in (Drew((Pairing(1, 1, "ann", "bob"),)), Dealt("table-1", 1, keys=(first, second))):
        record.add(fact)
    Claims(after, roll, {}).restore_players(record)
    if brought:
        with pytest.raises(Unwelcome, match="this is not its token"):
            after.arrive("ann", GAME)
    else:
        assert after.arrive("ann", GAME).token
    assert after.arrive("bob", GAME, token=visits[1].token).player.place == record.name


async def test_whoever_has_shown_the_token_it_was_given_before_its_match_has_its_name_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    """At an open table as well, which keeps no names."""
    store = Memory()
    async with running(store) as (host, _):
        ann = await host.arrive("ann", GAME, resumes=True)
        ann.acknowledge()
        await host.arrive("bob", GAME, resumes=True)
        await trio.sleep(0.1)
        assert ann.player.seat is not None
    async with running(store) as (host, _):
        with pytest.raises(Unwelcome, match="this is not its token"):
            await host.arrive("ann", GAME)
        assert (await host.arrive("ann", GAME, token=ann.token)).player.seat is not None


async def test_a_bot_without_a_token_or_that_never_resumes_has_no_way_back() -> None:
    reception = Reception(Lobby(), Limits())
    assert way_back(reception.arrive("ann", GAME), has_it=True) is None
    without = reception.arrive("bob", GAME, keeps=False)
    without.resumes = True
    assert way_back(without, has_it=True) is None
