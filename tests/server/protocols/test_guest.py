"""Who joins the Arena: held requests, calls, coming back, tournaments that are over, other transports."""

from codecs import BOM_UTF8
from collections.abc import Mapping
from math import inf
from typing import Any, cast

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.abroad import Wanted
from server.host.secrets import token_digest
from server.host.untold import LATE
from server.net.limits import Limits
from server.net.still_there import LONGEST
from server.protocols.arena.messages import FLIP
from server.protocols.common.tournament_end import TournamentEnds
from tests.server.protocols.interrupted import Late
from tests.server.protocols.knight import Knight
from tests.server.protocols.lists import (
    CUP,
    Fighter,
    Lists,
    Slow,
    Telephone,
    answered,
    dead,
    flipped,
    lists,
    picks_up,
    put,
)
from tests.server.protocols.room import Room
from tests.server.protocols.table import Slow as SlowOver
from tests.server.transcripts import hosting, opened_as
from tests.server.web import Client, get
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import Called, Concluded, Dealt, Entered, Opened, State, Turned
from tournament.match import GRACE
from tournament.store import Memory

OWN = "a-token-of-ones-own"
DOUBLE = {**CUP, "format": "double-round-robin"}


async def said(client: Client, method: str = "POST") -> tuple[int, Any]:
    with trio.fail_after(1.0):
        answer = await client.answer(method)
    return answer.status, msgspec.json.decode(answer.body)


def battles(here: Lists, number: str) -> list[str]:
    """Those that somebody was called to."""
    return [message["battleId"] for where, message in here.telephone.calls if where.startswith(number)]


def endings(here: Lists, tournament: str = "open-tic-tac-toe") -> list[tuple[int | None, Ending]]:
    return [
        (match.winner, match.ending) for match in here.host.tournaments[tournament].record.matches.values()
    ]


# Without an address


@pytest.mark.slow
async def test_a_request_to_join_is_answered_with_a_match(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann = await here.join("ann")
        await trio.sleep(3600.0)
        assert await here.waits(ann), "however long that takes"
        bob = await here.join("bob", token=OWN)
        (_, for_ann), (_, for_bob) = await said(ann), await said(bob)
        assert [*for_ann] == ["battleId", "token"]
        assert len(for_ann["token"]) >= 22, "128 bits or more"
        assert for_bob["token"] == OWN
        assert for_ann["battleId"] != for_bob["battleId"]


async def test_a_form_joins_as_well(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann = here.send("/tic-tac-toe/join", b"name=ann&token=a-token+of-20-letters")
        await here.join("bob")
        assert (await said(ann))[1]["token"] == "a-token of-20-letters"


async def test_for_the_next_match_a_bot_joins_again(autojump_clock: MockClock) -> None:
    """Between its matches it is away, and nothing is dealt to it."""
    async with lists() as here:
        fighters = [Fighter(here, "") for _ in range(2)]
        names = {"ann": "token-of-ann-0000", "bob": "token-of-bob-0000"}
        for match in range(3):
            clients = [await here.join(name, token=token) for name, token in names.items()]
            for fighter, client in zip(fighters, clients, strict=True):
                fighter.battle = await answered(client)
                await fighter.start()
            assert [fighter.side for fighter in fighters] == (["O", "X"], ["X", "O"])[match % 2]
            first, second = sorted(fighters, key=lambda fighter: fighter.side)
            await first.flip()
            await second.flip()
            await trio.sleep(100.0)
            assert len(endings(here)) == match + 1


async def test_whoever_joins_elsewhere_as_it_is_dealt_a_match_is_dealt_no_other_before_the_end(
    autojump_clock: MockClock,
) -> None:
    """Catches two matches at once, of which the second failed, by a fault of the host."""
    async with lists(store=SlowOver(Dealt)) as here:
        for name in ("ann", "bob"):
            await here.join(name, token=name * 6)
        await trio.sleep(1.0)
        await here.host.open("cup", Opened("tic-tac-toe", "round-robin", 2))
        for name in ("cas", "ann"):
            await here.join(name, token=name * 6, tournament="cup")
        for _ in range(300):
            await trio.sleep(1.0)
            held = here.host.tournaments.values()
            hers = [match.name for each in held for match in each.matches.values() if "ann" in match.names]
            assert len(hers) <= 1
        assert not here.host.guard.caught
        assert here.host.tournaments["cup"].record.ended


async def test_whoever_is_called_on_by_another_process_is_dealt_matches_whatever_was_refused_before(
    autojump_clock: MockClock,
) -> None:
    async with lists(CUP) as here:
        await here.host.tournaments["cup"].keep(Entered("bob"), Entered("cas"))
        table = await here.host.table("tic-tac-toe")
        await table.keep(Entered("ann"))  # so her name is kept while she is away
        (await here.host.arrive("ann", "tic-tac-toe", token=OWN)).leave()
        assert (await said(await here.join("ann", tournament="cup", token=OWN)))[0] == 409
        url = here.telephone.connect(NUMBERS[0])
        await table.keep(Called("ann", f"{url}/tic-tac-toe", token_digest(OWN).hex(), "192.0.2.1"))
        here.arena._guests.recall(table)
        await here.join("dee")
        await trio.sleep(1.0)
        assert len(battles(here, NUMBERS[0])) == 1


async def test_whoever_is_called_on_after_a_restart_shares_what_its_address_may_play(
    autojump_clock: MockClock,
) -> None:
    """Catches bots on a ladder that play without rests, once the host has been started again."""
    async with lists() as here:
        table = await here.host.table("tic-tac-toe")
        url = here.telephone.connect(NUMBERS[0])
        await table.keep(Called("ann", f"{url}/tic-tac-toe", token_digest(OWN).hex(), "192.0.2.1"))
        here.arena._guests.recall(table)
        assert [player.address for player in here.host.lobby.players()] == ["192.0.2.1"]


async def test_whoever_hangs_up_before_there_is_a_match_is_dealt_none(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann = await here.join("ann")
        ann.end.close()
        await trio.sleep(1.0)
        assert not here.arena._guests._guests
        bob = await here.join("bob")
        await trio.sleep(1.0)
        assert await here.waits(bob)
        again = await here.join("ann")
        assert await answered(again), "nobody had got the token yet, so that it may come without"
        assert await answered(bob)


async def test_whoever_hangs_up_on_a_ladder_leaves_nothing_behind(autojump_clock: MockClock) -> None:
    """Catches ever more memory for names that strangers make up."""
    async with lists() as here:
        await open_ladder(here)
        for number in range(10):
            client = await here.join(f"nobody {number}")
            client.end.close()
        await trio.sleep(1.0)
        assert not here.arena._guests._guests
        ann, _ = await here.pair()
        await ann.flip()
        await trio.sleep(1.0)
        assert not here.arena._guests._guests, "nor does whoever has played, and does not join again"


async def test_whoever_joins_and_hangs_up_again_and_again_leaves_nothing_behind(
    autojump_clock: MockClock,
) -> None:
    """Catches ever more memory for one name: without its token, each request comes from somebody else."""
    async with lists({**CUP, "entrants": "3"}) as here:
        waiting: list[int] = []
        for _ in range(3):
            client = await here.join("ann")
            client.end.close()
            await trio.testing.wait_all_tasks_blocked()
            (ends,) = [each for each in here.host.on_fact if isinstance(each, TournamentEnds)]
            waiting.append(len(ends._waiting["cup"]))
        assert waiting == [1, 1, 1]


@pytest.mark.parametrize("rounds", range(4))
async def test_whoever_hung_up_and_joins_at_once_is_let_in(rounds: int, autojump_clock: MockClock) -> None:
    """Even if the event loop goes a few rounds before it reads the hang-up, and has the request by then."""
    async with lists() as here:
        gone = await here.join("ann")
        again = here.send("/tic-tac-toe/join", {"name": "ann"})
        for _ in range(rounds):
            await trio.lowlevel.checkpoint()
        gone.end.close()
        await here.join("bob")
        assert (await said(again))[0] == 200


@pytest.mark.parametrize("settings", [{}, CUP], ids=["open table", "tournament"])
async def test_whoever_lost_its_network_and_joins_again_is_let_in(
    settings: dict[str, str], autojump_clock: MockClock
) -> None:
    """Catches a match that waits for minutes for a bot that asks for it, but got its answer elsewhere."""
    async with lists(settings) as here:
        gone = await here.join("ann")
        gone.end.pull()
        again = here.send("/tic-tac-toe/join", {"name": "ann"})
        await trio.sleep(2 * LONGEST)
        bob = await here.join("bob")
        for client in (again, bob):
            assert (await said(client))[0] == 200


async def test_whoever_is_there_keeps_its_name_and_its_place(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann = await here.join("ann")
        again = here.send("/tic-tac-toe/join", {"name": "ann"})
        assert (await said(again))[0] == 409
        bob = await here.join("bob")
        for client in (ann, bob):
            assert (await said(client))[0] == 200


@pytest.mark.parametrize("rounds", range(4))
async def test_a_request_to_join_that_was_given_up_takes_the_place_of_none(
    rounds: int, autojump_clock: MockClock
) -> None:
    """It may be read after the one that was made instead, and its hang-up a little later."""
    async with lists() as here:
        ann, given_up = await here.join("ann", token=OWN), here.server.connect()
        body = msgspec.json.encode({"name": "ann", "token": OWN})
        await trio.testing.wait_all_tasks_blocked()
        await given_up.end.send_all(
            get("/tic-tac-toe/join", f"Content-Length: {len(body)}", method="POST") + body
        )
        for _ in range(rounds):
            await trio.lowlevel.checkpoint()
        given_up.end.close()
        bob = await here.join("bob")
        assert await answered(ann) != await answered(bob)


async def test_a_name_that_was_heard_of_is_its_tokens(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        await ann.put("C")
        await bob.put("N")
        await ann.put("XX")
        await bob.flip()
        assert await here.says("/tic-tac-toe/join", {"name": "ANN"}) == (
            409,
            {
                "error": "the name ANN is taken by one that looks like it, and this is not its token: "
                "come under another name, or bring its token"
            },
        )
        wrong = [
            (await here.says("/tic-tac-toe/join", {"name": "ann", "token": f"wrong-wrong-{n:04}"}))[0]
            for n in range(12)
        ]
        assert wrong == [409] * 10 + [429] * 2


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"", 400, "expected a JSON object or a form"),
        (b'[{"name":"ann"}]', 400, "expected a JSON object or a form"),
        (b'"ann"', 400, "expected a JSON object or a form"),
        (b"<name>ann</name>", 400, "expected a JSON object or a form"),
        (
            b'--cut\r\nContent-Disposition: form-data; name="name"\r\n\r\nann\r\n--cut--\r\n',
            400,
            "application/x-www-form-urlencoded",
        ),
        (BOM_UTF8 + b'{"name":"ann"}', 400, "this is not JSON: a byte order mark is before it"),
        (b"{}", 400, "name"),
        (b'{"name":5}', 400, "name"),
        (b'{"name":""}', 400, "at least one character"),
        (b'{"name":"Draw"}', 400, "reserved"),
        (b'{"name":"ann\\u202e"}', 400, "bidirectional"),
        (b'{"name":"ann","tournament":"friday"}', 409, "no tournament 'friday' of tic-tac-toe"),
        (b'{"name":"ann","teamUrl":"bots.example"}', 400, "http://"),
        (b'{"name":"ann","teamUrl":"http://me@192.0.2.7/"}', 400, "without a user"),
        (b'{"name":"ann","teamUrl":"http://192.0.2.7/?a=b"}', 400, "no query"),
        (b'{"name":"ann","teamUrl":"http://192.0.2.7:22"}', 400, "port 22 is not called"),
        (b'{"name":"ann","teamUrl":"http://192.0.2.7"}', 403, "nothing that this host may call"),
    ],
)
async def test_whoever_cannot_join_is_told_why(
    body: bytes, status: int, reason: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        got, said = await here.says("/tic-tac-toe/join", body)
        assert (got, reason in said["error"]) == (status, True), said
        assert here.host.lobby.find("ann", "tic-tac-toe") is None


async def test_a_host_that_is_about_to_stop_takes_nobody(autojump_clock: MockClock) -> None:
    async with lists() as here:
        here.host.draining = True
        assert (await here.says("/tic-tac-toe/join", {"name": "ann"}))[0] == 503
        url = here.telephone.connect("bot.example:5000")
        assert (await here.says("/tic-tac-toe/evaluate", {"teamUrl": url}))[0] == 503
        answer = await here.ask("/tic-tac-toe/join", {"name": "ann"})
        assert answer.headers["retry-after"] == "5"


@pytest.mark.slow
async def test_bots_without_an_address_play_a_tournament_to_its_end(autojump_clock: MockClock) -> None:
    heard: dict[str, tuple[int, Any]] = {}

    async def enlist(name: str) -> None:
        heard[name] = await knights[name].enlist(name)

    async with lists({**CUP, "entrants": "4"}) as here:
        knights = {name: Knight(here, "tic-tac-toe") for name in ("ann", "bob", "cas", "dee")}
        async with trio.open_nursery() as nursery:
            for name in knights:
                nursery.start_soon(enlist, name)
        assert heard == dict.fromkeys(knights, (410, {"error": "cup is over"}))
        assert len(endings(here, "cup")) == 6
        assert {ending for _, ending in endings(here, "cup")} == {Ending.PLAYED}
        assert {knight.most for knight in knights.values()} == {1}


async def test_whoever_is_away_when_its_tournament_ends_hears_of_it_on_coming_back(
    autojump_clock: MockClock,
) -> None:
    async with lists(CUP) as here:
        clients = [await here.join(name, token=OWN) for name in ("ann", "bob")]
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        await ann.flip()
        await bob.flip()
        await trio.sleep(300.0)
        assert here.host.tournaments["cup"].record.state is State.FINISHED
        by_name = {"name": "bob", "tournament": "cup"}
        assert await here.says("/tic-tac-toe/join", by_name) == (410, {"error": "cup is over"})
        assert (await here.says("/tic-tac-toe/join", {"name": "ann"}))[0] == 409, "its token says who it is"
        coming_back = {"name": "ann", "token": OWN}
        assert await here.says("/tic-tac-toe/join", coming_back) == (410, {"error": "cup is over"})
        assert await here.waits(await here.join("ann", token=OWN)), "now it waits at the open table"


async def test_whoever_waits_hears_of_the_end_at_once(autojump_clock: MockClock) -> None:
    """Its opponents in the last match play on; it has nothing to do any more."""
    async with lists({**CUP, "entrants": "3"}) as here:
        clients = {name: await here.join(name, token=OWN + name) for name in ("ann", "bob", "cas")}
        for _ in range(3):
            playing = [name for name, client in clients.items() if not await here.waits(client)]
            fighters = [Fighter(here, await answered(clients.pop(name))) for name in playing]
            for fighter in fighters:
                await fighter.start()
            (waiting,) = clients
            for fighter in sorted(fighters, key=lambda each: each.side):
                await fighter.flip()
            if here.host.tournaments["cup"].record.state is not State.FINISHED:
                clients |= {name: await here.join(name, token=OWN + name) for name in playing}
        assert await said(clients[waiting]) == (410, {"error": "cup is over"})


async def test_whoever_is_taken_out_hears_of_that_at_once_or_on_coming_back(
    autojump_clock: MockClock,
) -> None:
    async with lists({**CUP, "entrants": "3"}) as here:
        desk = Desk(here.host.tournaments["cup"])
        ann = await here.join("ann", token=OWN + "ann")
        await desk.withdraw("ann")
        assert await said(ann) == (410, {"error": "ann was withdrawn from cup: ask its organiser why"})
        clients = [await here.join(name, token=OWN + name) for name in ("bob", "cas")]
        await desk.start()
        fighters = [Fighter(here, await answered(client)) for client in clients]
        for fighter in fighters:
            await fighter.start()
        await desk.disqualify("bob", "two bots in one")
        await trio.sleep(1.0)
        out = {"error": "bob was disqualified from cup: ask its organiser why"}
        assert await here.says("/tic-tac-toe/join", {"name": "bob", "token": OWN + "bob"}) == (410, out)


async def test_whoever_joins_again_while_its_tournament_ends_hears_of_that(autojump_clock: MockClock) -> None:
    """Between the last result and the end of the tournament the store is asked, and time passes."""
    async with lists(CUP) as here:
        here.host.tournaments["cup"]._keeper._store = Slow()
        clients = [await here.join(name, token=OWN + name) for name in ("ann", "bob")]
        await trio.sleep(5.0)
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        await ann.flip()
        again = await here.join("ann", token=OWN + "ann")
        assert here.host.tournaments["cup"].record.state is State.RUNNING
        await trio.sleep(2.0)
        assert await said(again) == (410, {"error": "cup is over"})
        assert await here.waits(await here.join("ann", token=OWN + "ann")), "it has heard that, once"


async def test_whoever_has_gone_on_to_another_tournament_hears_of_no_end_but_that_ones(
    autojump_clock: MockClock,
) -> None:
    async with lists(CUP) as here:
        cup = here.host.tournaments["cup"]
        await here.host.open("league", cup.record.opened)
        await here.join("ann", token=OWN, tournament="cup")
        ann = await here.join("ann", token=OWN, tournament="league")
        await cup.keep(Turned(State.FINISHED))
        assert await here.waits(ann)
        await here.host.tournaments["league"].keep(Turned(State.FINISHED))
        assert await said(ann) == (410, {"error": "league is over"})


async def test_the_second_of_two_that_arrive_with_one_token_stays(autojump_clock: MockClock) -> None:
    async with lists(store=Slow()) as here:
        first, second = await here.join("ann", token=OWN), await here.join("ann", token=OWN)
        await trio.sleep(5.0)
        assert await said(first) == (409, {"error": "somebody with the same token has taken over"})
        await here.join("bob")
        await trio.sleep(5.0)
        assert await answered(second)


async def test_the_second_of_two_that_join_again_with_one_token_stays(autojump_clock: MockClock) -> None:
    """Both want to go on from the open table to a tournament, which takes a moment."""
    async with lists(CUP) as here:
        here.host.tournaments["cup"]._keeper._store = Slow()
        await here.host.table("tic-tac-toe")
        waiting = await here.join("ann", token=OWN, tournament="open-tic-tac-toe")
        first, second = [await here.join("ann", token=OWN, tournament="cup") for _ in range(2)]
        assert await said(waiting) == (409, {"error": "somebody with the same token has taken over"})
        await trio.sleep(5.0)
        assert await said(first) == (409, {"error": "somebody with the same token has taken over"})
        await here.join("bob", tournament="cup")
        await trio.sleep(5.0)
        assert await answered(second)


async def test_whoever_joins_again_while_its_match_is_dealt_has_its_clock_wait(
    autojump_clock: MockClock,
) -> None:
    """It has asked to go on to a tournament, which is decided after the match was dealt."""
    async with lists(CUP) as here:
        await here.host.table("tic-tac-toe")
        await here.join("ann", token=OWN, tournament="open-tic-tac-toe")
        for tournament in here.host.tournaments.values():
            tournament._keeper._store = Slow()
        bob = await here.join("bob", tournament="open-tic-tac-toe")
        await trio.sleep(0.3)
        again = await here.join("ann", token=OWN, tournament="cup")
        assert await here.waits(bob), "the match is not dealt yet"
        await trio.sleep(0.4)
        assert not await here.waits(bob), "now it is"
        assert await here.waits(again)
        await trio.sleep(1.0)
        ann = Fighter(here, await answered(again))
        await Fighter(here, await answered(bob)).start()
        await trio.sleep(3.0)
        assert await ann.start() == []
        assert ann.side == "O"
        assert await ann.put("C") == (200, 20000)


async def test_whoever_hangs_up_while_its_match_is_dealt_may_come_back_for_a_while(
    autojump_clock: MockClock,
) -> None:
    async with lists(CUP) as here:
        ann = await here.join("ann", token=OWN)
        here.host.tournaments["cup"]._keeper._store = Slow()
        bob = await here.join("bob")
        await trio.sleep(1.7)
        assert await here.waits(ann), "the match is not dealt yet"
        ann.end.close()
        await trio.sleep(1.0)
        fighter = Fighter(here, await answered(bob))
        await fighter.start()
        for _ in range(5):
            await trio.sleep(5.0)
            assert await answered(await here.join("ann", token=OWN)), "which makes it present, and no more"
            assert await fighter.told() == []
        await trio.sleep(5.0)
        assert await fighter.told() == []
        assert fighter.stream.over, "it did not come within half a minute"
        assert endings(here, "cup") == [(None, Ending.VOID)]


async def test_the_time_in_which_the_host_keeps_nothing_is_not_counted_for_whoever_has_yet_to_come(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that joins again, is told its battle, and has lost it before it can open the stream."""
    limits = Limits()
    async with lists(CUP, limits) as here:
        clients = [await here.join(name, token=OWN + name) for name in ("ann", "bob")]
        _, bob = [Fighter(here, await answered(client)) for client in clients]
        await bob.start()
        here.host.timekeeper.pause("the disk is full")
        await trio.sleep(2 * limits.start_seconds)
        here.host.timekeeper.resume("the disk is full")
        await trio.sleep(limits.start_seconds - 1.0)
        again = await answered(await here.join("ann", token=OWN + "ann"))
        await trio.sleep(0.9)
        assert endings(here, "cup") == []
        await Fighter(here, again).start()
        await trio.sleep(1.0)
        assert endings(here, "cup") == []


async def test_whoever_joins_again_has_as_long_to_come_as_before(autojump_clock: MockClock) -> None:
    """Catches a match that is dealt to somebody who is here again, before its request is."""
    async with lists(DOUBLE) as here:
        clients = [await here.join(name, token=OWN + name) for name in ("ann", "bob")]
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        await ann.flip()
        await bob.flip()
        bobs = await here.join("bob", token=OWN + "bob")
        anns = await here.join("ann", token=OWN + "ann")
        bob, ann = Fighter(here, await answered(bobs)), Fighter(here, await answered(anns))
        await bob.start()
        await bob.put("C")
        await trio.sleep(290.0)
        assert await ann.start() == [put("O", "C")]
        assert await ann.put("N") == (200, 20000)


# With an address


@pytest.mark.slow
async def test_whoever_gives_an_address_is_called_to_each_of_its_matches(autojump_clock: MockClock) -> None:
    async with lists({**DOUBLE, "entrants": "3"}) as here:
        knights: dict[str, Knight] = {}
        for number, name in enumerate(("ann", "bob", "cas")):
            knight = knights[name] = Knight(here, "tic-tac-toe")
            url = here.telephone.connect(f"192.0.2.{number}:5000", knight.called)
            joined = await here.says("/tic-tac-toe/join", {"name": name, "teamUrl": f"{url}/"})
            assert joined[0] == 202
            assert [*joined[1].items()][::2] == [("name", name), ("tournament", "cup")]
        await here.host.tournaments["cup"].finished()
        assert {ending for _, ending in endings(here, "cup")} == {Ending.PLAYED}
        for number in range(3):
            assert len(battles(here, f"192.0.2.{number}:5000/tic-tac-toe")) == 4
        assert [*here.host.lobby.players("tic-tac-toe")] == [], (
            "called bots are present until then, no longer"
        )
        assert {knight.most for knight in knights.values()} == {1}


async def test_whoever_was_called_is_called_again_if_a_match_is_voided_after_the_end(
    autojump_clock: MockClock,
) -> None:
    """Catches bots that lost the match, or had it decided as 0–0, because nobody told them of it."""
    async with lists(CUP) as here:
        for number, name in enumerate(("ann", "bob")):
            url = here.telephone.connect(f"192.0.2.{number}:5000", Knight(here, "tic-tac-toe").called)
            await here.join(name, teamUrl=url)
        cup = here.host.tournaments["cup"]
        for match in ("cup-1", "cup-1.2"):
            await cup.finished()
            await trio.sleep(3600.0)
            assert cup.record.results.counted == {1: match}
            assert cup.record.matches[match].ending is Ending.PLAYED
            await Desk(cup).void(match, "a cable")


async def test_what_a_bot_answers_to_a_call_is_not_waited_for(autojump_clock: MockClock) -> None:
    """It often answers only when the game is over."""
    async with lists() as here:
        knight = Knight(here, "tic-tac-toe")

        async def hangs(where: str, message: dict[str, Any]) -> bool:
            await knight.called(where, message)
            await trio.sleep(3600.0)
            return True

        here.telephone.connect("192.0.2.7:5000", hangs)
        await here.join("ann", teamUrl="http://192.0.2.7:5000")
        bob = Fighter(here, await answered(await here.join("bob")))
        assert await bob.start() == [put("O", knight.battles[0][1]["position"])]


async def test_whoever_comes_before_its_call_is_over_has_its_clock_running(autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighters: list[Fighter] = []

        async def comes_at_once(where: str, message: dict[str, Any]) -> bool:
            fighters.append(Fighter(here, message["battleId"]))
            await fighters[0].start()
            await trio.sleep(3.0)
            return True

        await here.join("ann", teamUrl=here.telephone.connect("192.0.2.7:5000", comes_at_once))
        bob = Fighter(here, await answered(await here.join("bob")))
        await bob.start()
        await trio.sleep(18.1)
        assert await fighters[0].told() == [{"winner": "X"}]


@pytest.mark.slow
async def test_a_bot_that_does_not_come_has_lost_and_leaves_the_open_table(autojump_clock: MockClock) -> None:
    """Nobody's address is called for ever because somebody else gave it."""
    async with lists() as here:
        ann = here.telephone.connect("192.0.2.7:5000")
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "teamUrl": ann}))[1][
            "tournament"
        ] is None
        bob = Fighter(here, await answered(await here.join("bob", token=OWN)))
        await bob.start()
        await trio.sleep(299.0)
        assert await bob.told() == []
        await trio.sleep(1.1)
        assert await bob.told() == []
        assert bob.stream.over
        assert endings(here) == [(None, Ending.VOID)]
        again = await here.join("bob", token=OWN)
        await trio.sleep(600.0)
        assert await here.waits(again)
        assert len(here.telephone.calls) == 1


async def test_whoever_is_called_leaves_the_open_table_after_an_hour_whether_it_has_played_or_not(
    autojump_clock: MockClock,
) -> None:
    async with lists(limits=Limits(table_seconds=3600.0)) as here:
        ann, cas = (here.telephone.connect(f"192.0.2.{number}:5000") for number in (7, 8))
        await here.join("ann", teamUrl=ann)
        await trio.sleep(1800.0)
        await here.join("cas", "quoridor", teamUrl=cas)
        await trio.sleep(1799.0)
        names = {player.name for player in here.host.lobby.players()}
        assert names == {"ann", "cas"}
        await trio.sleep(2.0)
        assert [player.name for player in here.host.lobby.players()] == ["cas"]
        await trio.sleep(1800.0)
        assert not list(here.host.lobby.players())
        await here.join("dan", teamUrl=here.telephone.connect("192.0.2.9"))  # when nobody is there any more
        await trio.sleep(3601.0)
        assert not list(here.host.lobby.players())
        bob = await here.join("bob", token=OWN)
        await trio.sleep(60.0)
        assert await here.waits(bob)
        assert not here.telephone.calls


async def test_a_bot_that_cannot_be_called_is_tried_once_more_and_has_lost(autojump_clock: MockClock) -> None:
    async with lists({**CUP, "format": "double-round-robin"}) as here:
        ann = here.telephone.connect("192.0.2.7:5000", dead)
        await here.join("ann", teamUrl=ann)
        bob = Knight(here, "tic-tac-toe")
        with trio.fail_after(60.0):
            assert (await bob.enlist("bob"))[0] == 410
        first_time = (None, Ending.VOID)
        assert endings(here, "cup") == [first_time, (1, Ending.LEFT), first_time, (0, Ending.LEFT)]
        assert len(here.telephone.calls) == 8


@pytest.mark.parametrize("place", ["open-tic-tac-toe", "ladder"])
async def test_a_bot_that_misses_a_battle_where_there_is_no_end_is_called_no_more(
    place: str, autojump_clock: MockClock
) -> None:
    """Catches a program that has gone, and holds up one opponent after the other."""
    async with lists() as here:
        await open_ladder(here)
        url = here.telephone.connect("192.0.2.7:5000", dead)
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "teamUrl": url, "tournament": place}))[
            0
        ] == 202
        knight = Knight(here, "tic-tac-toe")
        await here.join(
            "bob", teamUrl=here.telephone.connect("192.0.2.8:5000", knight.called), tournament=place
        )
        await trio.sleep(60.0)
        assert "ann" not in [player.name for player in here.host.lobby.players()]
        assert len(endings(here, place)) == 1
        await here.join("ann", teamUrl=url, tournament=place)
        await trio.sleep(60.0)
        assert len(endings(here, place)) == 2, "it may join again"


async def test_a_bot_that_answers_at_the_second_call_plays(autojump_clock: MockClock) -> None:
    async with lists(CUP) as here:
        knight = Knight(here, "tic-tac-toe")

        async def sleepy(where: str, message: dict[str, Any]) -> bool:
            return len(here.telephone.calls) > 1 and await knight.called(where, message)

        await here.join("ann", teamUrl=here.telephone.connect("192.0.2.7:5000", sleepy))
        assert (await Knight(here, "tic-tac-toe").enlist("bob"))[0] == 410
        assert endings(here, "cup") == [(None, Ending.PLAYED)]


@pytest.mark.slow
async def test_whoever_is_called_from_an_open_table_joins_again_after_a_while(
    autojump_clock: MockClock,
) -> None:
    async with lists(limits=Limits(table_seconds=100.0)) as here:
        knights = [
            Knight(here, "tic-tac-toe", seconds=1.0),
            Knight(here, "tic-tac-toe", seconds=1.0),
        ]
        for number, knight in enumerate(knights):
            url = here.telephone.connect(f"192.0.2.{number}:5000", knight.called)
            await here.join(f"knight{number}", teamUrl=url)
        await trio.sleep(1000.0)
        assert 10 <= len(endings(here)) <= 12, "a match takes nine seconds"
        assert [*here.host.lobby.players("tic-tac-toe")] == []


async def test_whoever_is_called_and_whose_tournament_is_deleted_leaves_the_open_table_after_a_while(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is called for ever, and an address that is taken as long as the host runs."""
    async with lists(CUP, limits=Limits(table_seconds=100.0)) as here:
        ann = {"name": "ann", "teamUrl": here.telephone.connect("192.0.2.7:5000")}
        assert (await here.says("/tic-tac-toe/join", ann))[0] == 202
        await trio.sleep(1000.0)
        await here.host.delete(here.host.tournaments["cup"], "somebody")
        for seconds, there in ((99.0, ["ann"]), (2.0, [])):
            await trio.sleep(seconds)
            assert [player.name for player in here.host.lobby.players()] == there
        assert (await here.says("/tic-tac-toe/join", {**ann, "name": "bob"}))[0] == 202


async def test_a_bot_plays_one_battle_at_a_time(autojump_clock: MockClock) -> None:
    """Bob may flip the table; so long neither he nor Ann is called to the next match."""
    async with lists(DOUBLE) as here:
        for name in ("ann", "bob"):
            await here.join(name, teamUrl=here.telephone.connect(f"{name}.example"))
        ann, bob = [Fighter(here, battles(here, f"{name}.example")[0]) for name in ("ann", "bob")]
        for fighter in (ann, bob):
            await fighter.start()
        await ann.put("XX")
        await trio.sleep(9.0)
        assert len(here.host.tournaments["cup"].matches) == 1, "the next has begun"
        assert len(here.telephone.calls) == 2
        await trio.sleep(2.0)
        assert len(here.telephone.calls) == 4
        await trio.sleep(299.0)
        late = Fighter(here, battles(here, "bob.example")[1])
        await late.start()
        assert (await late.put("C"))[0] == 200, "the time to come begins with the call"


async def test_nobody_waits_for_the_answer_to_a_call(autojump_clock: MockClock) -> None:
    """Catches bots whose next battle begins when the host hangs up on them, because they never answer."""

    async def never_answers(where: str, message: dict[str, Any]) -> bool:
        await trio.sleep(Limits().call_seconds)
        return True

    async with lists(DOUBLE) as here:
        for name in ("ann", "bob"):
            await here.join(name, teamUrl=here.telephone.connect(f"{name}.example", never_answers))
        ann, bob = [Fighter(here, battles(here, f"{name}.example")[0]) for name in ("ann", "bob")]
        for fighter in (ann, bob):
            await fighter.start()
        for fighter in (ann, bob):
            await fighter.flip()
        await trio.sleep(Limits().call_seconds / 2)
        assert len(here.telephone.calls) == 4


async def test_a_bot_loses_nothing_because_somebody_has_it_evaluated(autojump_clock: MockClock) -> None:
    """However long its case takes, to which it is called before: anybody may ask for an evaluation."""
    limits = Limits()

    async def called_late(where: str, message: dict[str, Any]) -> bool:
        await trio.sleep(2 * limits.start_seconds)
        return True

    async with lists(CUP, limits) as here:
        url = here.telephone.connect("ann.example", called_late)
        await here.says("/tic-tac-toe/evaluate", {"teamUrl": url, "caseType": "BASE_AI_X"})
        await here.join("ann", teamUrl=url)
        await here.join("bob", teamUrl=here.telephone.connect("bob.example"))
        await Fighter(here, battles(here, "bob.example")[0]).start()
        await trio.sleep(4 * limits.start_seconds)
        _, battle = battles(here, "ann.example")
        await Fighter(here, battle).start()
        assert endings(here, "cup") == []


@pytest.mark.parametrize("seconds", [0.0, inf])
async def test_a_bot_that_joins_again_and_again_keeps_its_opponent_waiting_no_longer_for_that(
    seconds: float, autojump_clock: MockClock
) -> None:
    """Not even if it wants to be called at another address each time, and each call takes so long."""
    limits = Limits()

    async def called(where: str, message: dict[str, Any]) -> bool:
        await trio.sleep(seconds)
        return True

    async with lists(CUP, limits) as here:
        await here.join("ann", teamUrl=here.telephone.connect("ann.example", called), token=OWN)
        await here.join("bob", teamUrl=here.telephone.connect("bob.example"))
        await Fighter(here, battles(here, "bob.example")[0]).start()
        for number in range(4):
            await trio.sleep(limits.start_seconds / 2)
            address = here.telephone.connect(f"ann-{number}.example", called)
            await here.join("ann", teamUrl=address, token=OWN, tournament="cup")
        assert endings(here, "cup"), "she did not come to the first match"


async def test_a_bot_that_joins_again_and_again_has_one_call_at_a_time(autojump_clock: MockClock) -> None:
    """Or its calls, at ever other addresses of one server, delay those of all other bots there."""
    waiting: list[str] = []

    async def never_answers(where: str, message: dict[str, Any]) -> bool:
        waiting.append(where)
        try:
            await trio.sleep_forever()
        finally:
            waiting.remove(where)
        return True

    async with lists(CUP) as here:
        await here.join("ann", teamUrl=here.telephone.connect("ann.example", never_answers), token=OWN)
        await here.join("bob", teamUrl=here.telephone.connect("bob.example"))
        for number in (1, 2, 2, 3, 3):
            address = f"http://ann.example/{number}"
            await here.join("ann", teamUrl=address, token=OWN, tournament="cup")
            assert waiting == [f"/{number}/tic-tac-toe"]
        assert len(battles(here, "ann.example")) == 4, "once at each address"


async def test_no_bot_is_called_to_a_battle_that_is_over(autojump_clock: MockClock) -> None:
    """Or a bot that plays one battle is called to another, and calls that nobody needs delay the others."""
    limits = Limits()
    reached: list[str] = []

    async def called_late(where: str, message: dict[str, Any]) -> bool:
        await trio.sleep(2 * limits.flip_seconds)
        reached.append(message["battleId"])
        return True

    async with lists(DOUBLE, limits) as here:
        await here.join("ann", teamUrl=here.telephone.connect("ann.example", called_late))
        await here.join("bob", teamUrl=here.telephone.connect("bob.example"))
        bob = Fighter(here, battles(here, "bob.example")[0])
        await bob.start()
        await bob.flip()
        await trio.sleep(4 * limits.flip_seconds)
        assert reached == battles(here, "ann.example")[1:], "she is called to the second battle alone"
        assert len(reached) == 1


async def test_a_call_that_fails_by_a_fault_of_the_hosts_keeps_nobody_waiting(
    autojump_clock: MockClock,
) -> None:
    async def fails(where: str, message: dict[str, Any]) -> bool:
        raise RuntimeError("no thread can be started for the look-up")

    async with lists(CUP) as here:
        await here.join("ann", teamUrl=here.telephone.connect("ann.example", fails))
        await here.join("bob", teamUrl=here.telephone.connect("bob.example"))
        bob = Fighter(here, battles(here, "bob.example")[0])
        await bob.start()
        await bob.told()
        assert bob.stream.over
        assert Ending.VOID in {ending for _, ending in endings(here, "cup")}
        assert here.host.guard.caught
        here.host.guard.caught.clear()


async def test_a_bot_loses_nothing_because_the_host_has_many_others_to_call_before_it(
    autojump_clock: MockClock,
) -> None:
    """Catches bots that lose their matches without ever having been called to them."""
    limits = Limits()

    async def called_late(where: str, message: dict[str, Any]) -> bool:
        await trio.sleep(2 * limits.start_seconds)
        return True

    async with lists(CUP, limits) as here:
        for name in ("ann", "bob"):
            await here.join(name, teamUrl=here.telephone.connect(f"{name}.example", called_late))
        await trio.sleep(3 * limits.start_seconds - 1.0)
        for name in ("ann", "bob"):
            await Fighter(here, battles(here, f"{name}.example")[0]).start()
        await trio.sleep(2.0)
        assert endings(here, "cup") == []


async def test_an_address_is_one_bots(autojump_clock: MockClock) -> None:
    async with lists(limits=Limits(called_bots=2)) as here:
        url = here.telephone.connect("192.0.2.7:5000")
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "teamUrl": url}))[0] == 202
        status, said = await here.says("/tic-tac-toe/join", {"name": "bob", "teamUrl": url + "/"})
        assert (status, "one name" in said["error"]) == (409, True)
        assert (await here.says("/quoridor/join", {"name": "bob", "teamUrl": url}))[0] == 202
        status, said = await here.says("/tic-tac-toe/join", {"name": "cas", "teamUrl": f"{url}/cas"})
        assert (status, "which is the limit" in said["error"]) == (429, True)


@pytest.mark.parametrize("settings", [{}, CUP], ids=["an open table", "a tournament"])
async def test_whoever_knows_where_a_bot_is_called_is_not_taken_for_it_from_elsewhere(
    settings: dict[str, str], autojump_clock: MockClock
) -> None:
    async with lists(settings) as here:
        ann = {"name": "ann", "teamUrl": here.telephone.connect("192.0.2.7:5000")}
        joined = [await here.says("/tic-tac-toe/join", ann, peer=f"192.0.2.{number}") for number in (1, 2, 1)]
        assert [status for status, _ in joined] == [202, 409, 202]


async def test_an_address_is_one_bots_when_two_ask_at_once(autojump_clock: MockClock) -> None:
    """Each is admitted when the journal has it: meanwhile the other asks as well."""
    async with lists(CUP) as here:
        url = here.telephone.connect("192.0.2.7:5000")
        statuses = dict[str, int]()

        async def joins(name: str) -> None:
            statuses[name], _ = await here.says("/tic-tac-toe/join", {"name": name, "teamUrl": url})

        async with trio.open_nursery() as nursery:
            for name in ("ann", "bob"):
                nursery.start_soon(joins, name)
        assert sorted(statuses.values()) == [202, 409], statuses


async def test_one_client_does_not_use_up_the_calls_of_all_others(autojump_clock: MockClock) -> None:
    limits = Limits(connections_per_address=2)
    async with lists(limits=limits) as here:
        url = here.telephone.connect("192.0.2.7:5000")

        async def joins(number: int, peer: str) -> int:
            asked = {"name": f"bot-{number}", "teamUrl": f"{url}/{number}", "token": OWN}
            return (await here.says("/tic-tac-toe/join", asked, peer=peer))[0]

        assert [await joins(number, "2001:db8::1") for number in range(3)] == [202, 202, 429]
        assert await joins(3, "2001:db8::2") == 429, "the same customer's"
        assert await joins(1, "2001:db8::2") == 202, "one that is here may say so again"
        assert await joins(4, "198.51.100.1") == 202
        assert [await joins(number, "127.0.0.1") for number in range(5, 9)] == [202] * 4


async def test_whoever_is_turned_away_is_forgotten_with_its_address(autojump_clock: MockClock) -> None:
    async with lists() as here:
        url = here.telephone.connect("192.0.2.7:5000")
        ann = {"name": "ann", "token": OWN, "teamUrl": url}
        assert (await here.says("/tic-tac-toe/join", ann))[0] == 202
        assert (await here.says("/tic-tac-toe/join", {**ann, "tournament": "monday"}))[0] == 409
        assert (await here.says("/tic-tac-toe/join", {"name": "bob", "teamUrl": url}))[0] == 202


async def test_whoever_is_called_and_may_never_have_got_its_token_joins_again_without(
    autojump_clock: MockClock,
) -> None:
    """The answer may be lost, or the bot started again; it is who is called at that address."""
    async with lists(CUP) as here:
        ann = {"name": "ann", "teamUrl": here.telephone.connect("192.0.2.7:5000")}
        (status, first), (again, second) = [await here.says("/tic-tac-toe/join", ann) for _ in range(2)]
        assert (status, again) == (202, 202)
        assert first["token"] != second["token"]
        why = "the name ann is taken, and this is not its token: come under another name, or bring its token"
        taken = (409, {"error": why})
        assert await here.says("/tic-tac-toe/join", {**ann, "token": first["token"]}) == taken
        elsewhere = {**ann, "teamUrl": here.telephone.connect("192.0.2.8:5000")}
        assert await here.says("/tic-tac-toe/join", elsewhere) == taken
        assert await here.says("/tic-tac-toe/join", {"name": "ann"}) == taken
        bob = await here.join("bob")
        assert await answered(bob)
        assert len(battles(here, "192.0.2.7:5000")) == 1
        assert (await here.says("/tic-tac-toe/join", {**ann, "token": second["token"]}))[0] == 202
        assert await here.says("/tic-tac-toe/join", ann) == taken, "it has shown that it has the token"


async def test_a_bot_is_called_to_a_battle_once(autojump_clock: MockClock) -> None:
    """One that joins again while it is being called is called again only if it has not come by then."""
    async with lists() as here:
        url = here.telephone.connect("192.0.2.7:5000")
        for _ in range(3):
            await here.says("/tic-tac-toe/join", {"name": "ann", "token": OWN, "teamUrl": url})
            await here.join("bob")
        fighter = Fighter(here, battles(here, "192.0.2.7:5000")[0])
        await fighter.start()
        await fighter.flip()
        await trio.sleep(60.0)
        assert len(here.telephone.calls) == 1


# Coming back


async def test_whoever_joins_again_in_the_middle_of_a_battle_is_led_back_to_it(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        ann, bob = await here.join("ann", token=OWN), await here.join("bob")
        fighters = [Fighter(here, await answered(client)) for client in (ann, bob)]
        for fighter in fighters:
            await fighter.start()
        await fighters[0].put("C")
        assert await answered(await here.join("ann", token=OWN)) == fighters[0].battle
        assert await fighters[0].told() == [put("O", "C")]
        assert not fighters[0].stream.over


async def test_whoever_gives_an_address_in_the_middle_of_a_battle_is_called_to_it(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        ann, _ = await here.join("ann", token=OWN), await here.join("bob")
        battle = await answered(ann)
        url = here.telephone.connect("192.0.2.7:5000")
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "token": OWN, "teamUrl": url}))[0] == 202
        await trio.testing.wait_all_tasks_blocked()
        assert battles(here, "192.0.2.7:5000") == [battle]


async def test_two_requests_of_one_bot_are_not_held_at_once(autojump_clock: MockClock) -> None:
    async with lists() as here:
        first, second = await here.join("ann", token=OWN), await here.join("ann", token=OWN)
        assert await said(first) == (409, {"error": "somebody with the same token has taken over"})
        assert await here.waits(second)
        await here.join("bob")
        assert await answered(second)


async def test_two_clients_of_one_name_do_not_drive_each_other_out_for_ever(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        clients = [await here.join("ann", token=OWN) for _ in range(8)]
        status, told = await said(clients[-1])
        assert (status, "taken over too often" in told["error"]) == (409, True)
        assert await here.waits(clients[5])


# Other transports


async def test_a_bot_may_go_on_over_another_transport(autojump_clock: MockClock) -> None:
    async with lists() as here:
        room = Room(here.host, here.nursery)
        fighters = [await here.join("ann", token=OWN), await here.join("bob")]
        ann, bob = [Fighter(here, await answered(client)) for client in fighters]
        await bob.start()
        elsewhere = await room.hello("ann", token=OWN)
        begun, turn = (await elsewhere.messages())[1:]
        assert (begun["type"], turn["clock"]) == ("begin", [18.0, 18.0])
        assert (await here.ask(f"/tic-tac-toe/play/{ann.battle}", {"action": "putSymbol"})).status == 423
        await trio.sleep(2.0)
        await elsewhere.tell(type="move", move="C")
        assert await bob.told() == [put("O", "C")]
        await bob.put("N")
        await trio.sleep(16.0)
        await elsewhere.tell(type="move", move="NW")
        assert await bob.told() == [put("X", "N"), put("O", "NW")]
        await bob.put("E")
        await trio.sleep(10.0)
        assert await bob.told() == [put("X", "E"), {"winner": "X"}], "its clock runs, as any other"


async def test_whoever_has_gone_to_another_transport_has_the_table_flipped_for_it(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        clients = await here.join("ann"), await here.join("bob", token=OWN)
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        await Room(here.host, here.nursery).hello("bob", token=OWN)
        assert await bob.told() == []
        assert bob.stream.over
        await ann.put("XX")
        assert await ann.told() == [put("O", "XX"), flipped("X")]
        assert ann.stream.over


async def test_whoever_goes_to_another_transport_with_the_table_still_standing_lets_it_stand(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        url = here.telephone.connect("192.0.2.7:5000")
        await here.says("/tic-tac-toe/join", {"name": "bob", "token": OWN, "teamUrl": url})
        ann = Fighter(here, await answered(await here.join("ann")))
        bob = Fighter(here, battles(here, "192.0.2.7:5000")[0])
        for fighter in (ann, bob):
            await fighter.start()
        await bob.put("C")
        await ann.put("C")
        await Room(here.host, here.nursery).hello("bob", token=OWN)
        for fighter in (ann, bob):
            assert await fighter.told() == [put("O", "C"), put("X", "C")]
            assert fighter.stream.over


async def test_to_be_called_from_elsewhere_stops_no_clock(autojump_clock: MockClock) -> None:
    """Catches the clock of a bot that waits for a stream, in a match that has long begun."""
    async with lists() as here:
        ann = await Room(here.host, here.nursery).hello("ann", token=OWN)
        bob = Fighter(here, await answered(await here.join("bob")))
        await bob.start()
        await trio.sleep(10.0)
        url = here.telephone.connect("192.0.2.7:5000")
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "token": OWN, "teamUrl": url}))[0] == 202
        await trio.sleep(8.1)
        assert await bob.told() == [{"winner": "X"}]
        assert (await ann.lines())[-1] == "[closed]"


async def test_whoever_has_gone_elsewhere_while_it_is_called_has_its_clock_running(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:

        async def takes_its_time(where: str, message: dict[str, Any]) -> bool:
            await trio.sleep(3.0)
            return True

        url = here.telephone.connect("192.0.2.7:5000", takes_its_time)
        await here.says("/tic-tac-toe/join", {"name": "ann", "token": OWN, "teamUrl": url})
        bob = Fighter(here, await answered(await here.join("bob")))
        await bob.start()
        await Room(here.host, here.nursery).hello("ann", token=OWN)
        await trio.sleep(18.1)
        assert await bob.told() == [{"winner": "X"}]


async def test_whoever_comes_here_while_it_arrives_elsewhere_stays_here(autojump_clock: MockClock) -> None:
    async with lists(CUP) as here:
        here.host.tournaments["cup"]._keeper._store = Slow()
        elsewhere = await Room(here.host, here.nursery).hello("ann", token=OWN)
        ann = await here.join("ann", token=OWN)
        await trio.sleep(2.0)
        assert [(told["type"], told["reason"]) for told in await elsewhere.messages()] == [
            ("refused", "somebody with the same token has taken over")
        ]
        await here.join("bob")
        await trio.sleep(5.0)
        assert await answered(ann)


async def test_a_command_that_is_being_decided_is_answered_all_the_same(autojump_clock: MockClock) -> None:
    """Its bot says hello elsewhere while the store is asked to keep the result."""
    async with lists(CUP) as here:
        clients = await here.join("ann", token=OWN), await here.join("bob")
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        here.host.tournaments["cup"]._keeper._store = Slow()
        deciding = here.send(f"/tic-tac-toe/play/{ann.battle}", {"action": FLIP})
        await trio.sleep(0.1)
        assert await here.waits(deciding)
        await Room(here.host, here.nursery).hello("ann", token=OWN)
        assert (await said(deciding))[0] == 200


async def test_a_bot_may_come_from_another_transport(autojump_clock: MockClock) -> None:
    """It is told the match from the beginning, and its clock has run all the time."""
    async with lists() as here:
        ann = await Room(here.host, here.nursery).hello("ann", token=OWN)
        bob = Fighter(here, await answered(await here.join("bob")))
        await bob.start()
        await ann.tell(type="move", move="C")
        await bob.put("N")
        await trio.sleep(5.0)
        fighter = Fighter(here, await answered(await here.join("ann", token=OWN)))
        await trio.sleep(5.0)
        assert await fighter.start() == [put("O", "C"), put("X", "N")]
        assert await fighter.put("NW") == (200, 12000)


async def test_an_opponent_who_cannot_flip_has_the_table_flipped_for_it(autojump_clock: MockClock) -> None:
    async with lists() as here:
        clients = [await here.join("ann"), await Room(here.host, here.nursery).hello("bob")]
        ann = Fighter(here, await answered(clients[0]))
        await ann.start()
        await ann.put("XX")
        assert await ann.told() == [put("O", "XX"), flipped("X")]
        assert ann.stream.over


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ({"type": "move", "move": "XX"}, {"action": '"XX"'}),
        ({"type": "move", "move": 5}, {"action": "5"}),
        ({"type": "move", "move": {"action": "putSymbol", "position": "XX"}}, put("", "XX")),
        ({"type": "move", "move": {"action": 5}}, {"action": "an object of 1"}),
    ],
)
async def test_what_an_opponent_sends_elsewhere_is_shown_here(
    message: dict[str, Any], shown: dict[str, str], autojump_clock: MockClock
) -> None:
    async with lists() as here:
        bob = await Room(here.host, here.nursery).hello("bob")
        ann = Fighter(here, await answered(await here.join("ann")))
        await ann.start()
        await bob.tell(**message)
        assert await ann.told() == [{**shown, "player": "O"}]
        assert (await ann.flip())[0] == 200
        assert await ann.told() == [flipped("X")]
        assert ann.stream.over


async def test_a_move_against_the_rules_that_is_written_short_elsewhere_is_shown_as_a_move(
    autojump_clock: MockClock,
) -> None:
    """Catches `"C"` as an action of its own, which no bot of the Arena knows."""
    async with lists() as here:
        bob = await Room(here.host, here.nursery).hello("bob")
        ann = Fighter(here, await answered(await here.join("ann")))
        await ann.start()
        await bob.tell(type="move", move="C")
        await ann.put("NW")
        await bob.tell(type="move", move="C")
        assert await ann.told() == [put("O", "C"), put("X", "NW"), put("O", "C")]
        assert (await ann.flip())[0] == 200


async def test_a_line_that_is_no_text_anywhere_is_shown_too(autojump_clock: MockClock) -> None:
    """Catches an event that cannot be written: of what is half a character, the words as typed are shown."""
    async with lists() as here:
        bob = await Room(here.host, here.nursery).hello("bob")
        ann = Fighter(here, await answered(await here.join("ann")))
        await ann.start()
        await bob.say('"\\ud800"')
        assert await ann.told() == [{"player": "O", "action": '"\\"\\\\ud800\\""'}]


async def test_an_opponent_who_resigns_elsewhere_has_lost(autojump_clock: MockClock) -> None:
    async with lists() as here:
        bob = await Room(here.host, here.nursery).hello("bob")
        ann = Fighter(here, await answered(await here.join("ann")))
        await ann.start()
        await bob.tell(type="resign")
        assert await ann.told() == [{"winner": "X"}]
        assert ann.stream.over
        assert endings(here) == [(1, Ending.RESIGNED)]


async def test_whoever_has_a_place_or_a_battle_is_no_stranger(autojump_clock: MockClock) -> None:
    """And so is not driven out by a flood of those who are."""

    class Someone:
        known = proxied = False

        def authenticated(self) -> None:
            self.known = True

        def objection(self, named: str) -> str:
            return ""

    async def known(path: str, body: dict[str, Any] | None = None) -> bool:
        someone = Someone()
        here.send(path, body, visitor=someone)
        await trio.testing.wait_all_tasks_blocked()
        return someone.known

    async with lists() as here:
        assert await known("/tic-tac-toe/join", {"name": "ann"})
        bob = await answered(await here.join("bob"))
        assert await known(f"/tic-tac-toe/start/{bob}")
        assert await known(f"/tic-tac-toe/play/{bob}", {"action": "putSymbol"})
        assert not await known("/tic-tac-toe/join", {"name": ""})
        assert not await known("/tic-tac-toe/start/guessed")
        assert not await known("/tic-tac-toe/play/guessed", {"action": "putSymbol"})


@pytest.mark.slow
async def test_nothing_of_a_battle_outlives_it_but_what_was_told(autojump_clock: MockClock) -> None:
    async with lists({**DOUBLE, "entrants": "3"}) as here:
        knights = [Knight(here, "tic-tac-toe", watchful=number > 0) for number in range(3)]
        for number, knight in enumerate(knights):
            knight.choose = (lambda position: 0) if number == 1 else knight.choose
            url = here.telephone.connect(f"192.0.2.{number}:5000", knight.called)
            await here.join(f"knight{number}", teamUrl=url)
        await here.host.tournaments["cup"].finished()
        await trio.sleep(20.0)
        assert len(here.arena._past) == 12
        assert not here.arena._battles
        assert not here.arena._sides
        assert not here.arena._guests._guests
        assert FLIP.encode() in b"".join(event for _, told in here.arena._past.values() for event in told)


# When the host is started again

TOKENS = {"ann": "token-of-ann-0000", "bob": "token-of-bob-0000"}


@pytest.mark.parametrize("settings", [CUP, {}], ids=["a tournament", "an open table"])
@pytest.mark.parametrize("tokens", [TOKENS, {"ann": None, "bob": None}], ids=["a token", "no token"])
@pytest.mark.parametrize("joins", [True, False], ids=["joins again", "opens its stream again"])
async def test_a_battle_goes_on_after_a_restart(
    joins: bool, tokens: Mapping[str, str | None], settings: dict[str, str], autojump_clock: MockClock
) -> None:
    """Its stream tells all that was kept from the beginning, so what was not kept confuses nobody."""
    store = Memory()
    async with lists(settings, store=store) as here:
        fighters = {name: Fighter(here, "") for name in TOKENS}
        clients = {name: await here.join(name, **_brought(token)) for name, token in tokens.items()}
        given: dict[str, str] = {}
        for name, fighter in fighters.items():
            _, answer = await said(clients[name])
            fighter.battle, given[name] = answer["battleId"], answer["token"]
            await fighter.start()
        first, second = sorted(fighters, key=lambda name: fighters[name].side)
        await fighters[first].put("C")
        await fighters[second].put("N")
        battles = {name: fighter.battle for name, fighter in fighters.items()}
        (match,) = store.jotted()
    left = Late(store, lost=1)
    for _ in range(2):  # however often
        async with lists(settings, store=left) as here:
            early = await here.says(f"/tic-tac-toe/play/{battles[second]}", {"action": "putSymbol"})
            assert early == (409, {"error": "battle not started"})
            for name, battle in battles.items():
                if joins:
                    assert await answered(await here.join(name, token=given[name])) == battle
                fighter = fighters[name] = Fighter(here, battle)
                assert await fighter.start() == [put("O", "C")]
        left = Late(left)
    async with lists(settings, store=left) as here:
        for name, battle in battles.items():
            fighters[name] = Fighter(here, battle)
            await fighters[name].start()
        for name, field in ((second, "S"), (first, "NW"), (second, "E"), (first, "SE")):
            assert (await fighters[name].put(field))[0] == 200
        assert (await fighters[first].told())[-1] == {"winner": "O"}
        (end,) = [entry.fact for entry in left.kept() if isinstance(entry.fact, Concluded)]
        assert (end.match, end.ending, len(end.moves)) == (match, Ending.PLAYED, 5)
        await trio.sleep(GRACE + 1.0)
        assert not [player for player in here.host.lobby.players() if player.present]
        if not settings and tokens["ann"] is None:
            assert not list(here.host.lobby.players()), "nobody waits for it any more"


def _brought(token: str | None) -> dict[str, str]:
    return {} if token is None else {"token": token}


@pytest.mark.parametrize("settings", [CUP, {}], ids=["a tournament", "an open table"])
async def test_whoever_had_not_opened_its_stream_before_a_restart_is_led_to_its_battle_by_its_token(
    settings: dict[str, str], autojump_clock: MockClock
) -> None:
    """Catches a bot that waits until its match is void, because it had not been heard of since its answer."""
    store = Memory()
    async with lists(settings, store=store) as here:
        clients = {name: await here.join(name) for name in TOKENS}
        answers = {name: (await said(client))[1] for name, client in clients.items()}
    for again in (False, True):
        async with lists(settings, store=Late(store)) as here:
            for name, answer in answers.items():
                if again:
                    await Fighter(here, answer["battleId"]).start()
                    assert (await here.says("/tic-tac-toe/join", {"name": name}))[0] == 409, "it is heard of"
                assert (await said(await here.join(name, token=answer["token"])))[1] == answer
            assert not endings(here, settings.get("tournament", "open-tic-tac-toe"))


async def over_and_stopped(store: Memory) -> None:
    """A host that stopped when a tournament was over, and neither bot had heard of that."""
    async with lists(CUP, store=store) as here:
        clients = {name: await here.join(name, token=token) for name, token in TOKENS.items()}
        fighters = [Fighter(here, await answered(client)) for client in clients.values()]
        for fighter in fighters:
            await fighter.start()
        for fighter in sorted(fighters, key=lambda each: each.side):
            await fighter.flip()
        await trio.sleep(1.0)
        assert here.host.tournaments["cup"].record.state is State.FINISHED


async def test_whoever_is_away_over_the_end_and_a_restart_hears_of_the_end_once(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that joins again for its next match and waits at an open table for ever."""
    store = Memory()
    await over_and_stopped(store)
    async with lists(CUP, store=Late(store)) as here:
        ann, bob = [{"name": name, "token": token} for name, token in TOKENS.items()]
        wanted = Wanted("ann", "tic-tac-toe", None, TOKENS["ann"])
        assert here.host.untold.why(wanted) == "cup is over", "so no other host has to be asked"
        assert await here.says("/tic-tac-toe/join", ann) == (410, {"error": "cup is over"})
        assert await here.waits(await here.join(**ann)), "now it waits at the open table"
        assert await here.says("/tic-tac-toe/join", bob) == (410, {"error": "cup is over"})


async def test_whoever_comes_long_after_the_end_or_has_played_since_comes_for_something_else(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    await over_and_stopped(store)
    async with lists(CUP, store=Late(store)) as here:
        await trio.sleep(LATE + 1.0)
        assert await here.waits(await here.join("ann", token=TOKENS["ann"]))
    store = Memory()
    await over_and_stopped(store)
    left = Late(store)
    async with lists(CUP, store=left) as here:
        for name, token in TOKENS.items():
            assert (await here.says("/tic-tac-toe/join", {"name": name, "token": token}))[0] == 410
        clients = [await here.join(name, token=token) for name, token in TOKENS.items()]
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        for fighter in (ann, bob):
            await fighter.start()
        first, second = sorted((ann, bob), key=lambda each: each.side)
        await first.put("C")
        await second.put("N")
        await first.flip()
        await second.flip()
        await trio.sleep(1.0)
        assert endings(here)
    async with lists(CUP, store=Late(left)) as here:
        clients = [await here.join(name, token=token) for name, token in TOKENS.items()]
        assert [await answered(client) for client in clients], "they are dealt the next match"


async def test_whoever_was_taken_out_hears_of_it_after_a_restart(autojump_clock: MockClock) -> None:
    store = Memory()
    async with lists({**CUP, "entrants": "3"}, store=store) as here:
        for name in ("ann", "bob"):
            await here.join(name, token=OWN + name)
        await trio.sleep(1.0)
        await Desk(here.host.tournaments["cup"]).withdraw("ann")
    async with lists(CUP, store=Late(store)) as here:
        out = {"error": "ann was withdrawn from cup: ask its organiser why"}
        assert await here.says("/tic-tac-toe/join", {"name": "ann", "token": OWN + "ann"}) == (410, out)


async def test_whoever_never_got_its_answer_before_a_restart_may_come_anew_and_others_to_their_battles(
    autojump_clock: MockClock,
) -> None:
    """Whoever comes first has a name whose token may not have arrived; a battle is its bot's."""
    store = Memory()
    async with lists(CUP, store=store) as here:
        clients = {name: await here.join(name) for name in TOKENS}
        answers = {name: (await said(client))[1] for name, client in clients.items()}
    async with lists(CUP, store=Late(store)) as here:
        anew = await here.join("ann")
        assert await here.waits(anew)
        assert await Fighter(here, answers["ann"]["battleId"]).start() == []
        assert (await said(await here.join("bob", token=answers["bob"]["token"])))[1] == answers["bob"]


async def test_whoever_came_to_its_battle_after_a_restart_has_its_name_also_when_that_is_over(
    autojump_clock: MockClock,
) -> None:
    """It has got the answer with its battle, and its token with that."""
    store = Memory()
    async with lists(DOUBLE, store=store) as here:
        clients = [await here.join(name) for name in TOKENS]
        names = [await answered(client) for client in clients]
    async with lists(DOUBLE, store=Late(store)) as here:
        await fought(here, *names)
        assert endings(here, "cup")[0][1] is Ending.ILLEGAL
        for name in TOKENS:
            assert (await here.says("/tic-tac-toe/join", {"name": name}))[0] == 409
        assert not here.arena._awaited


async def test_a_battle_that_is_played_over_another_protocol_is_not_found(autojump_clock: MockClock) -> None:
    store = Memory()
    async with lists(store=store) as here:
        clients = {name: await here.join(name, token=token) for name, token in TOKENS.items()}
        battles = {name: await answered(client) for name, client in clients.items()}
    async with lists(store=Late(store)) as here:
        visit = await here.host.arrive("ann", "tic-tac-toe", token=TOKENS["ann"])
        assert visit.player.seat is not None
        for name, status in (("ann", 404), ("bob", 409)):
            path = f"/tic-tac-toe/play/{battles[name]}"
            assert (await here.says(path, {"action": "putSymbol"}))[0] == status


async def test_whoever_comes_back_over_another_protocol_is_dealt_its_next_match_there(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that counted as away from then on, and lost all that it had still to play."""
    store = Memory()
    async with lists(DOUBLE, store=store) as here:
        for name, token in TOKENS.items():
            await here.join(name, token=token)
    async with lists(DOUBLE, store=Late(store)) as here:
        room = Room(here.host, here.nursery)
        ann, bob = [await room.hello(name, token=token) for name, token in TOKENS.items()]
        await ann.tell(type="resign")
        for guest in (ann, bob):
            assert [begin["match"] for begin in await guest.messages("begin")] == ["cup-1", "cup-2"]


async def test_whoever_goes_on_over_another_protocol_may_let_go_of_its_stream(
    autojump_clock: MockClock,
) -> None:
    store, settings = Memory(), {**DOUBLE, "bank": "600"}
    async with lists(settings, store=store) as here:
        clients = {name: await here.join(name, token=token) for name, token in TOKENS.items()}
        battles = {name: await answered(client) for name, client in clients.items()}
    async with lists(settings, store=Late(store)) as here:
        fighters = {name: Fighter(here, battle) for name, battle in battles.items()}
        for fighter in fighters.values():
            await fighter.start()
        first, second = sorted(fighters, key=lambda name: fighters[name].side)
        elsewhere = await Room(here.host, here.nursery).hello(first, token=TOKENS[first])
        fighters[first].stream.client.end.close()
        await trio.sleep(GRACE + 1.0)
        await elsewhere.tell(type="move", move="C")
        assert await fighters[second].told() == [put("O", "C")]
        await fighters[second].put("C")
        assert (await fighters[second].told())[-1] == flipped("O"), "no flip can come from there"
        (end,) = await elsewhere.messages("end")
        assert (end["winner"], end["ending"]) == ("O", "illegal")
        await here.join(second, token=TOKENS[second])
        assert [begin["match"] for begin in await elsewhere.messages("begin")] == ["cup-2"]


@pytest.mark.parametrize("called", [False, True], ids=["asks", "is called"])
async def test_the_clock_of_whoever_joins_again_after_a_restart_waits_for_its_stream(
    called: bool, autojump_clock: MockClock
) -> None:
    """As that of whoever opens its stream without joining: it ran from the answer on, and cost the match."""
    store, late = Memory(), GRACE - 5.0
    async with lists(CUP, store=store) as here:
        clients = {name: await here.join(name, token=token) for name, token in TOKENS.items()}
        fighters = {name: Fighter(here, await answered(client)) for name, client in clients.items()}
        for fighter in fighters.values():
            await fighter.start()
        first, second = sorted(fighters, key=lambda name: fighters[name].side)
        battles = {name: fighter.battle for name, fighter in fighters.items()}
    for opens in (True, False):
        async with lists(CUP, store=Late(store)) as here:
            other = Fighter(here, battles[second])
            await other.start()
            more = {"teamUrl": here.telephone.connect("192.0.2.7:5000", dead)} if called else {}
            await here.join(first, token=TOKENS[first], **more)
            await trio.sleep(late)
            if opens:
                fighter = Fighter(here, battles[first])
                assert await fighter.start() == []
                assert await fighter.put("C") == (200, 20_000)
                assert await other.told() == [put("O", "C")]
            else:
                await trio.sleep(GRACE + 1.0 - late)
                await other.told()
                assert other.stream.over, "nobody is bound for longer"


async def test_whoever_is_called_again_after_a_restart_is_told_its_battle(autojump_clock: MockClock) -> None:
    store, told = Memory(), list[Any]()
    for again in (False, True):
        async with lists(CUP, store=Late(store) if again else store) as here:
            url = here.telephone.connect("192.0.2.9:5000", picks_up)
            await here.join("ann", token=TOKENS["ann"], teamUrl=url)
            if not again:
                await here.join("bob", token=TOKENS["bob"])
            await trio.sleep(1.0)
            told += here.telephone.calls
    assert len(told) == 2
    assert told[0] == told[1]


@pytest.mark.parametrize("finishes", [True, False], ids=["finishes its battle first", "joins at once"])
async def test_whoever_was_called_and_never_used_its_token_may_join_again_after_a_restart(
    finishes: bool, autojump_clock: MockClock
) -> None:
    """Catches a bot that is told that its name is taken: it knew its battle, and perhaps not its token."""
    store, numbers = Memory(), {"ann": "192.0.2.7:5000", "bob": "192.0.2.8:5000"}

    async def join(here: Lists) -> list[int]:
        asked = [
            {"name": name, "teamUrl": here.telephone.connect(number)} for name, number in numbers.items()
        ]
        return [(await here.says("/tic-tac-toe/join", each))[0] for each in asked]

    settings = {**CUP, "format": "double-round-robin"}
    async with lists(settings, store=store) as here:
        assert await join(here) == [202, 202]
        await trio.sleep(1.0)
        names = [name for number in numbers.values() for name in battles(here, number)]
        fighters = [Fighter(here, name) for name in names]
        for fighter in fighters:
            await fighter.start()
        fighters.sort(key=lambda each: each.side)
        for fighter, field in zip(fighters, ("NW", "N"), strict=True):
            await fighter.put(field)
        await trio.sleep(1.0)
    async with lists(settings, store=Late(store)) as here:
        if finishes:
            fighters = [Fighter(here, fighter.battle) for fighter in fighters]
            for fighter in fighters:
                await fighter.start()
            assert await join(here) == [202, 202], "it is called on, and known by where"
            for fighter in fighters:
                await fighter.flip()
            await trio.sleep(1.0)
        assert await join(here) == [202, 202]
        await trio.sleep(60.0)
        calls = [battles(here, number) for number in numbers.values()]
        assert all(calls), "both are called to a battle"
        assert endings(here, "cup")[0][1] is (Ending.ILLEGAL if finishes else Ending.VOID)


async def called_to_a_cup(here: Lists) -> dict[str, Fighter]:
    """Ann and Bob are in the middle of a battle to which they were called, by their sides."""
    for number, name in (("192.0.2.7:5000", "ann"), ("192.0.2.8:5000", "bob")):
        asked = {"name": name, "teamUrl": here.telephone.connect(number)}
        assert (await here.says("/tic-tac-toe/join", asked))[0] == 202
    await trio.sleep(1.0)
    fighters = [Fighter(here, battles(here, number)[0]) for number in NUMBERS]
    for fighter in fighters:
        await fighter.start()
    first, second = sorted(fighters, key=lambda each: each.side)
    await first.put("C")
    return {"O": first, "X": second}


NUMBERS = ("192.0.2.7:5000", "192.0.2.8:5000")


def connected(here: Lists) -> None:
    for number in NUMBERS:
        here.telephone.connect(number)


async def fought(here: Lists, *names: str) -> None:
    """Both come to their battle, and the first to move loses it by flipping the table."""
    fighters = [Fighter(here, name) for name in names]
    for fighter in fighters:
        await fighter.start()
    first, second = sorted(fighters, key=lambda each: each.side)
    await first.flip()
    await second.flip()
    await trio.sleep(1.0)


@pytest.mark.parametrize("comes", [True, False], ids=["comes back by itself", "does not come back"])
async def test_whoever_is_called_is_called_on_after_a_restart(comes: bool, autojump_clock: MockClock) -> None:
    """Catches bots that nobody calls any more: they lost the rest of their tournament, match by match."""
    store = Memory()
    async with lists(DOUBLE, store=store) as here:
        before = await called_to_a_cup(here)
    async with lists(DOUBLE, store=Late(store)) as here:
        connected(here)
        if comes:
            fighters = {side: Fighter(here, fighter.battle) for side, fighter in before.items()}
            for fighter in fighters.values():
                assert await fighter.start() == [put("O", "C")]
            await fighters["X"].flip()
            await fighters["O"].flip()
        await trio.sleep(1.0)
        assert bool(here.telephone.calls) == comes, "nobody is called to the middle of a battle"
        await trio.sleep(GRACE)
        calls = [battles(here, number) for number in NUMBERS]
        assert [len(each) for each in calls] == [1, 1]
        await fought(here, *(each[0] for each in calls))
        ends = [ending for _, ending in endings(here, "cup")]
        assert ends == [Ending.ILLEGAL if comes else Ending.VOID, Ending.ILLEGAL]


async def test_whoever_is_called_and_waits_is_called_to_its_match_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with lists(CUP, store=store) as here:
        url = here.telephone.connect(NUMBERS[0])
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "teamUrl": url}))[0] == 202
        await trio.sleep(1.0)
    async with lists(CUP, store=Late(store)) as here:
        connected(here)
        await here.join("bob")
        await trio.sleep(1.0)
        assert len(battles(here, NUMBERS[0])) == 1


async def test_whoever_is_called_on_is_known_by_where_however_often_the_host_is_started_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that never read its token, and is told that its name is taken from the second time on."""
    store = Memory()
    async with lists(DOUBLE, store=store) as here:
        await called_to_a_cup(here)
    for _ in range(3):
        store = Late(store)
        async with lists(DOUBLE, store=store) as here:
            connected(here)
            await trio.sleep(GRACE + 1.0)
            assert all(battles(here, number) for number in NUMBERS)
    async with lists(DOUBLE, store=Late(store)) as here:
        connected(here)
        await trio.sleep(1.0)
        asked = {"name": "ann", "teamUrl": f"http://{NUMBERS[0]}"}
        assert (await here.says("/tic-tac-toe/join", asked))[0] == 202


@pytest.mark.parametrize("name", ["open-tic-tac-toe", "ladder"])
async def test_a_stranger_is_called_on_after_a_restart_where_there_is_no_end(
    name: str, autojump_clock: MockClock
) -> None:
    """Catches a program that waits to be called for ever, as nobody knows of it any more."""
    store, limits = Memory(), Limits(table_seconds=HOUR)
    async with lists(store=store, limits=limits) as here:
        await open_ladder(here)
        url = here.telephone.connect(NUMBERS[0])
        await here.says("/tic-tac-toe/join", {"name": "ann", "teamUrl": url, "tournament": name})
        await trio.sleep(1.0)
    for life in range(3):  # however often
        store = Late(store)
        async with lists(store=store, limits=limits) as here:
            connected(here)
            await trio.sleep(1.0)
            assert ("ann", name) in [(player.name, player.place) for player in here.host.lobby.players()]
            await here.join(f"bob-{life}", tournament=name)
            await trio.sleep(GRACE + 1.0)  # after a match that the stop has cut short
            assert len(battles(here, NUMBERS[0])) == 1
    store = Late(store)
    async with lists(store=store, limits=limits) as here:
        connected(here)
        await trio.sleep(HOUR + 1.0)
        stays = name == "ladder"  # whoever is called from an open table is for an hour
        assert [*here.host.tournaments[name].record.called] == ["ann"] * stays
    async with lists(store=Late(store), limits=limits) as here:
        await trio.sleep(1.0)
        assert [player.name for player in here.host.lobby.players()] == ["ann"] * stays


HOUR = 3600.0


async def open_ladder(here: Lists) -> None:
    await Desk(await here.host.open("ladder", Opened("tic-tac-toe", "ladder"))).start()


async def test_whoever_is_called_in_another_place_is_called_there_alone_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is led back to the open table, where it has waited before."""
    store = Memory()
    async with lists(store=store) as here:
        await open_ladder(here)
        asked = {"name": "ann", "teamUrl": here.telephone.connect(NUMBERS[0]), "token": OWN}
        for name in ("open-tic-tac-toe", "ladder"):
            assert (await here.says("/tic-tac-toe/join", {**asked, "tournament": name}))[0] == 202
            await trio.sleep(1.0)
        called = {held.record.name: [*held.record.called] for held in here.host.tournaments.values()}
        assert called == {"ladder": ["ann"], "open-tic-tac-toe": []}
    async with lists(store=Late(store)) as here:
        await trio.sleep(1.0)
        assert [player.place for player in here.host.lobby.players()] == ["ladder"]


@pytest.mark.parametrize("token", [None, OWN])
async def test_whoever_is_called_joins_again_after_a_restart_as_before_it(
    token: str | None, autojump_clock: MockClock
) -> None:
    """From the same machine, or with its token; nobody else has its name."""
    store = Memory()
    async with lists(CUP, store=store) as here:
        url = here.telephone.connect(NUMBERS[0])
        asked = {"name": "ann", "teamUrl": url, **({} if token is None else {"token": token})}
        _, answer = await here.says("/tic-tac-toe/join", asked)
        await trio.sleep(1.0)
    for again in (asked, {**asked, "token": answer["token"]}, {"name": "ann", "token": answer["token"]}):
        async with lists(CUP, store=Late(store)) as here:
            connected(here)
            await trio.sleep(1.0)
            strange = {"name": "ann", "token": "the-token-of-somebody-else"}
            assert (await here.says("/tic-tac-toe/join", strange))[0] == 409
            if "teamUrl" in again:
                assert (await here.says("/tic-tac-toe/join", again))[0] == 202
            else:
                assert await here.waits(await here.join("ann", token=answer["token"]))


async def join_to_be_called(here: Lists, *, tokens: bool) -> None:
    """Three bots join with the addresses at which they are called, and have been by now."""
    for name, number in zip(TOKENS, NUMBERS, strict=True):
        token = {"token": TOKENS[name]} if tokens else {}
        await here.says(
            "/tic-tac-toe/join", {"name": name, "teamUrl": here.telephone.connect(number), **token}
        )
    await trio.sleep(1.0)


async def test_whoever_went_on_without_being_called_is_not_called_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with lists({**CUP, "entrants": "3"}, store=store) as here:
        await join_to_be_called(here, tokens=True)
        await here.join("ann", token=TOKENS["ann"])
        elsewhere = Room(here.host, here.nursery)
        await elsewhere.hello("bob", token=TOKENS["bob"])
        await trio.sleep(1.0)
        assert not here.host.tournaments["cup"].record.called
    async with lists({**CUP, "entrants": "3"}, store=Late(store)) as here:
        await trio.sleep(1.0)
        assert not here.arena._guests._guests


async def test_where_somebody_is_called_is_known_in_the_end_however_quickly_that_changes(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that is called again after a restart, as it went on before its address was kept."""
    async with lists({**CUP, "entrants": "3"}, store=Slow()) as here:
        first, second = (here.telephone.connect(number) for number in NUMBERS)
        asked = {"name": "ann", "token": OWN}
        called = here.host.tournaments["cup"].record.called
        for urls in ((first, None), (first, None, second), (None, first, second, None)):
            for url in urls:
                if url is None:
                    await here.join("ann", token=OWN)
                else:
                    assert (await here.says("/tic-tac-toe/join", {**asked, "teamUrl": url}))[0] == 202
            await trio.sleep(100.0)  # it may take over from itself again
            assert [each.url for each in called.values()] == [f"{url}/tic-tac-toe"] * (url is not None)


async def test_whoever_an_organiser_took_out_or_released_is_not_called_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with lists({**CUP, "entrants": "3"}, store=store) as here:
        await join_to_be_called(here, tokens=False)
        desk = Desk(here.host.tournaments["cup"])
        await desk.withdraw("ann")
        await desk.release("bob")
    async with lists({**CUP, "entrants": "3"}, store=Late(store)) as here:
        await trio.sleep(1.0)
        assert not here.arena._guests._guests


@pytest.mark.parametrize("from_here", [True, False])
async def test_another_host_calls_nobody_who_could_only_be_called_from_the_first_ones_machine(
    from_here: bool, autojump_clock: MockClock
) -> None:
    store = Memory()
    await store.keep("cup", 0.0, [opened_as(CUP), Entered("ann")])
    called = Called("ann", "http://127.0.0.1:5000/tic-tac-toe", "00ff", "127.0.0.1", from_here)
    await store.keep("cup", 0.0, [called])
    async with hosting(CUP, store=store) as (host, nursery):
        host.group = cast("Any", object())  # there is one
        here = Lists(host, nursery, Telephone())
        assert len(here.arena._guests._guests) == (not from_here)


async def test_whoever_does_not_join_again_after_a_restart_plays_a_fresh_match(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with lists(CUP, store=store) as here:
        clients = {name: await here.join(name, token=token) for name, token in TOKENS.items()}
        battles = {name: await answered(client) for name, client in clients.items()}
        assert len(set(battles.values())) == 2
    async with lists(CUP, store=store) as here:
        ann = await here.join("ann", token=TOKENS["ann"])
        fighter = Fighter(here, await answered(ann))
        await fighter.start()
        if fighter.side == "O":
            await fighter.put("C")
        await trio.sleep(31.0)
        assert endings(here, "cup") == [(None, Ending.VOID)]
        await fighter.told()
        assert fighter.stream.over
