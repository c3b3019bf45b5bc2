"""Tournaments by invitation, seen from the host: who is led past them, and whose an entered name is."""

from collections.abc import Awaitable

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from server.host.host import Host
from server.host.opening import check
from server.host.unwelcome import Unwelcome
from tests.server.doors import Page, memory, pages
from tests.server.host.test_host import GAME, come, running
from tests.server.transcripts import Transcript, opened_as, staged
from tournament.desk import Desk
from tournament.facts import Claimed, Opened, Seated, State
from tournament.refusals import Refusal
from tournament.store import Memory
from tournament.tournament import Tournament

TOKEN = "a token of sixteen and more"


async def closed(host: Host, *names: str, entrants: int | None = None) -> Tournament:
    cup = await host.open("cup", Opened(GAME, "round-robin", entrants, by_invitation=True))
    for name in names:
        await Desk(cup).enter(name)
    return cup


async def test_whoever_names_it_and_is_not_let_in_is_told_so(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await closed(host)
        with pytest.raises(Unwelcome, match="cup is by invitation: its organiser can let you in, with"):
            await host.arrive("eve", GAME, tournament="cup", token=TOKEN)
        assert host.lobby.find("eve", GAME) is None


@pytest.mark.parametrize("what", ["bind", "invite"])
async def test_nobody_has_checked_in_by_being_given_a_token(what: str, autojump_clock: MockClock) -> None:
    """Catches an entrant that was drawn, and lost by its absence, because its name had been bound."""
    async with running() as (host, _):
        opened = Opened(GAME, "round-robin", start_at=100.0, check_in=50.0, by_invitation=True)
        cup = await host.open("cup", opened)
        for name in ("ann", "bob"):
            await Desk(cup).enter(name)
        await trio.sleep(60.0)
        await (host.claims.bind if what == "bind" else host.claims.invite)(cup, "ann", "somebody")
        await host.arrive("bob", GAME)
        await trio.sleep(10.0)
        assert cup.record.checked_in == {"bob"}


async def test_whoever_names_the_game_alone_is_led_past_it(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        await closed(host, "ann")
        assert (await come(host, nursery, "eve")).player.place == f"open-{GAME}"
        await host.open("other", Opened(GAME, "round-robin", 3))
        assert (await come(host, nursery, "fay")).player.place == "other"
        assert (await come(host, nursery, "ann")).player.place == "cup"


async def test_an_entered_name_belongs_to_whoever_comes_first_under_it(autojump_clock: MockClock) -> None:
    store = Memory()
    async with running(store) as (host, _):
        await closed(host, "ann", "bob")
        ours = {"keeps": False, "door": "santorini", "peer": "192.0.2.1"}
        assert (await host.arrive("ann", GAME, **ours)).player.place == "cup"
        (await host.arrive("bob", GAME, token=TOKEN)).acknowledge()
        await trio.sleep(1.0)
    kept = [each.fact for each in store.kept() if isinstance(each.fact, Seated | Claimed)]
    assert [type(fact) for fact in kept] == [Seated, Claimed]
    async with running(store) as (host, _):
        for name in ("ann", "bob"):
            with pytest.raises(Unwelcome, match="is taken"):
                await host.arrive(name, GAME, door="santorini", peer="192.0.2.2")
        assert (await host.arrive("ann", GAME, **ours)).player.place == "cup"
        assert (await host.arrive("bob", GAME, token=TOKEN)).player.place == "cup"


async def test_invited_and_entered_bots_play_it_together(autojump_clock: MockClock) -> None:
    async with running() as (host, nursery):
        cup = await closed(host, "ann", entrants=2)
        token = await host.claims.invite(cup, "bob", "the organiser")
        await come(host, nursery, "ann", keeps=False, door="santorini")
        await trio.sleep(60.0)
        assert cup.record.state is State.REGISTERING
        await come(host, nursery, "bob", token=token)
        await trio.sleep(60.0)
        assert cup.record.state is State.FINISHED


async def test_an_invited_bot_has_the_name_as_it_was_invited_and_not_as_somebody_spelled_it_before(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is refused because another looks like it, and that other is itself."""
    async with running() as (host, nursery):
        await host.open("practice", Opened(GAME, "round-robin", 2))
        before = [await come(host, nursery, name, token=TOKEN) for name in ("Mía", "bob")]
        await trio.sleep(60.0)
        for visit in before:
            visit.leave()
        token = await host.claims.invite(await closed(host), "Mia", "the organiser")
        player = (await host.arrive("Mia", GAME, token=token)).player
        assert (player.name, player.place) == ("Mia", "cup")


@pytest.mark.parametrize("here", [True, False])
async def test_a_name_that_is_in_use_is_not_given_to_whoever_spells_it_differently(
    here: bool, autojump_clock: MockClock
) -> None:
    """Catches a token that is void in the middle of a tournament, because of somebody else's invitation."""
    async with running() as (host, nursery):
        await host.open("practice", Opened(GAME, "round-robin", 2))
        visit = await come(host, nursery, "Mía", token=TOKEN)
        if not here:
            visit.leave()
        cup = await closed(host)
        with pytest.raises(Refusal, match="people would take Mia for Mía, and that name is in use"):
            await host.claims.invite(cup, "Mia", "the organiser")
        await host.claims.enter(cup, "Mia", "the organiser")
        with pytest.raises(Refusal, match="people would take Mia for Mía, and that name is in use"):
            await host.claims.invite(cup, "Mia", "the organiser")
        assert (await host.arrive("Mía", GAME, token=TOKEN)).player is visit.player


async def test_whoever_is_away_from_its_match_keeps_its_name_where_nobody_awaits_it(
    autojump_clock: MockClock,
) -> None:
    """Catches a match at an open table that is lost by somebody else's invitation."""
    async with running() as (host, _):
        visit = await host.arrive("Mía", GAME, token=TOKEN)
        await host.arrive("bob", GAME)
        await trio.sleep(0.1)
        visit.leave()
        assert visit.player.seat is not None
        with pytest.raises(Refusal, match="people would take Mia for Mía, and that name is in use"):
            await host.claims.invite(await closed(host), "Mia", "the organiser")
        assert (await host.arrive("Mía", GAME, token=TOKEN)).player.seat is visit.player.seat


async def ordered(*orders: Awaitable[object]) -> list[str]:
    """Give several orders at once; returns why some of them were refused."""
    refusals: list[str] = []

    async def give(order: Awaitable[object]) -> None:
        try:
            await order
        except Refusal as refusal:
            refusals.append(str(refusal))

    async with trio.open_nursery() as nursery:
        for order in orders:
            nursery.start_soon(give, order)
    return refusals


async def test_one_of_two_who_invite_one_name_to_two_tournaments_at_once_is_refused() -> None:
    """Catches a token that was given to somebody and is void already."""
    async with running() as (host, _):
        cups = [await host.open(name, Opened(GAME, "round-robin", by_invitation=True)) for name in ("a", "b")]
        (why,) = await ordered(*(host.claims.invite(cup, "ann", "the organiser") for cup in cups))
        assert why.startswith("ann takes part in ")
        assert sum("ann" in cup.record.entrants for cup in cups) == 1


@pytest.mark.parametrize("elsewhere", [True, False])
async def test_whoever_needs_no_invitation_gets_in_as_its_refusal_says(
    elsewhere: bool, autojump_clock: MockClock
) -> None:
    """Catches an organiser who is sent from one order to another, and from that back to the first."""
    async with running() as (host, nursery):
        if elsewhere:  # it has a token from another tournament's organiser
            first = await host.open("first", Opened(GAME, "round-robin", by_invitation=True))
            await host.claims.invite(first, "ann", "the organiser")
        else:
            await come(host, nursery, "ann")
        ours = await closed(host)
        await refuses(host, ours, "ann", "needs no invitation; to let it in, enter it by name$")
        await host.claims.enter(ours, "ann", "the organiser")
        await refuses(host, ours, "ann", "needs no invitation: it is an entrant of cup already$")
        open_to_all = await host.open("open", Opened(GAME, "round-robin", 2))
        await refuses(host, open_to_all, "ann", "needs no invitation: whoever comes enters open$")
        for name in ("bob", "cas"):
            await come(host, nursery, name, tournament="open")
        await open_to_all.changed()
        assert open_to_all.record.state is State.RUNNING
        await refuses(host, open_to_all, "ann", "needs no invitation; to let it in, enter it by name$")
        await open_to_all.finished()
        await refuses(host, open_to_all, "ann", "^open is over$")


async def refuses(host: Host, cup: Tournament, name: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        await host.claims.invite(cup, name, "the organiser")


async def test_one_of_two_who_enter_names_that_look_alike_at_once_is_refused() -> None:
    async with running() as (host, _):
        cup = await closed(host)
        (why,) = await ordered(*(host.claims.enter(cup, name, "the organiser") for name in ("Bob1", "B0b1")))
        assert "whom people would take for" in why
        assert len(cup.record.entrants) == 1


async def test_whoever_practises_is_at_the_open_table(autojump_clock: MockClock) -> None:
    async with running() as (host, _):
        await closed(host)
        visit = await host.arrive("eve", GAME, against="random", practises=True)
        assert visit.player.place == f"open-{GAME}"


@pytest.mark.parametrize("format", ["ladder"])
def test_what_has_no_end_is_for_all(format: str) -> None:
    check("cup", Opened(GAME, format))
    with pytest.raises(Refusal, match=f"a {format} has no end: whoever comes takes part, so leave by_inv"):
        check("cup", Opened(GAME, format, by_invitation=True))


async def names_of(page: Page, transcript: Transcript) -> list[str]:
    """The entrants of its tournament, in their order, when everything was said."""
    async with staged(transcript, memory, over=page.over) as (host, stage):
        for line in transcript.lines:
            await stage.perform(line)
        return [*host.tournaments[transcript.settings["tournament"]].record.entrants]


@pytest.mark.parametrize(
    ("page", "transcript"),
    [
        pytest.param(page, each, id=each.name)
        for page in pages()
        for each in page.transcripts()
        if "tournament" in each.settings
    ],
)
@pytest.mark.slow
async def test_bots_of_every_dialect_play_under_names_that_were_entered(
    page: Page, transcript: Transcript, autojump_clock: MockClock
) -> None:
    """Each transcript of a tournament goes word by word as if the tournament were for all."""
    names, name = await names_of(page, transcript), transcript.settings["tournament"]
    without = {key: value for key, value in transcript.settings.items() if key != "tournament"}
    async with staged(replace(transcript, settings=without), memory, over=page.over) as (host, stage):
        cup = await host.open(name, replace(opened_as(transcript.settings), by_invitation=True))
        for each in names:
            await Desk(cup).enter(each)
        for line in transcript.lines:
            await stage.perform(line)
        await stage.expect_silence("the end")
