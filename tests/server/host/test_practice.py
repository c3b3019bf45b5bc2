"""The host's own opponents, whom any bot may ask for by name in any game, on a virtual clock."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from games.brains import BRAINS
from games.catalogue import catalogue
from server.export.verify import verify
from server.host.host import Host
from server.host.opening import OPEN
from server.host.practice import LAST, SPARRING
from server.host.unwelcome import Unwelcome
from server.net.limits import Limits
from server.pages.desk.inside import voidable
from tests.server.exports import exported
from tests.server.host.inside import Inside
from tests.server.protocols.room import Guest, Room, SlowToDeal, room
from tests.tournament.world import kept_matches
from tournament.causes import Disconnected, Refused, Returned
from tournament.desk import Desk
from tournament.entries import entry
from tournament.events import Ending
from tournament.facts import Concluded, Opened
from tournament.kinds import BOTS, Kind
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.store import Memory

GAMES = sorted(catalogue())
SECONDS = 0.05  # that everybody takes for a move
LONG = 10_000.0  # virtual seconds in which any of these matches are over


@asynccontextmanager
async def practice(limits: Limits | None = None, store: Memory | None = None) -> AsyncIterator[Room]:
    async with room(limits=limits, store=store) as hall:
        hall.host.thinker = Inside()
        yield hall


async def play(guest: Guest, game: str, matches: int = 1) -> list[dict[str, Any]]:
    """Play the first move there is, as people type it; returns all that it was told until so many ends."""
    rules, you, position, heard = catalogue()[game], "", None, list[dict[str, Any]]()
    late = trio.current_time() + LONG
    while sum(told["type"] == "end" for told in heard) < matches:
        assert trio.current_time() < late, heard[-3:]
        for told in await guest.messages():
            heard.append(told)
            if told["type"] == "begin":
                you, position = told["you"], rules.start()
            elif told["type"] == "turn":
                if told["last"] is not None:
                    position = position.play(rules.read(told["last"], position))
                if told["turn"] == you:
                    short = rules.short(next(iter(position.moves())))
                    await guest.tell(type="move", match=told["match"], ply=told["ply"], move=short)
        await trio.sleep(SECONDS)
    return heard


def record_of(host: Host, game: str = "tic-tac-toe") -> Record:
    return host.tournaments[OPEN + game].record


async def played(hall: Room, opponent: str, game: str = "tic-tac-toe", matches: int = 1) -> list[Concluded]:
    """What came of so many matches against an opponent, as it was kept."""
    ann = await hall.hello("ann", game, against=opponent, matches=matches)
    await play(ann, game, matches)
    return await kept_matches(hall.host.tournaments[OPEN + game])


def house(fact: Concluded) -> int:
    """The seat of the host's own player."""
    return fact.kinds.index(Kind.HOUSE)


@pytest.mark.slow
@pytest.mark.parametrize("opponent", [each.name for each in SPARRING if each.name in BRAINS])
@pytest.mark.parametrize("game", GAMES)
async def test_every_brain_plays_every_game_with_whoever_asks_and_short_strings_are_moves(
    game: str, opponent: str, autojump_clock: MockClock
) -> None:
    async with practice() as hall:
        ann = await hall.hello("ann", game, against=opponent, matches=2)
        heard = await play(ann, game, 2)
        assert not [told for told in heard if told["type"] == "refused"]
        one, other = (told["you"] for told in heard if told["type"] == "begin")
        assert one != other or catalogue()[game].lots, "they take turns to begin"
        for fact in record_of(hall.host, game).matches.values():
            assert set(fact.players) == {"ann", opponent}
            assert fact.ending is Ending.PLAYED
        await ann.tell(type="bye")
        assert not list(hall.host.lobby.players()), "it is gone with its challenger"


async def test_a_match_that_counts_for_nothing_is_not_said_to_be_void_and_cannot_be_voided(
    autojump_clock: MockClock,
) -> None:
    """Catches a button at the desk for what is then refused, because of what the match's page denies."""
    async with practice() as hall:
        await played(hall, "first")
        tournament = hall.host.tournaments[OPEN + "tic-tac-toe"]
        (match,) = tournament.record.matches
        assert not voidable(tournament.record, match)
        said = f"{match} counts for nothing already: one of the two is the host's own"
        with pytest.raises(Refusal, match=re.escape(said)):
            await Desk(tournament).void(match, "a cable")


async def test_whoever_is_told_of_a_match_after_the_first_move_is_told_how_it_began(
    autojump_clock: MockClock,
) -> None:
    """Connect-4's own `random` moves at once, before its challenger is told that there is a match."""
    async with practice() as hall:
        ann = await hall.hello("ann", "connect-4", against="random", matches=2)
        heard = await play(ann, "connect-4", 2)
        begun = [number for number, told in enumerate(heard) if told["type"] == "begin"]
        assert "second" in {heard[number]["you"] for number in begun}
        for begin, turn in ((heard[number], heard[number + 1]) for number in begun):
            assert "moves" not in begin
            assert (turn["ply"], turn["last"], turn["state"]) == (0, None, begin["state"])


@pytest.mark.parametrize("game", GAMES)
async def test_matches_with_the_hosts_own_are_marked_and_in_nobodys_rating(
    game: str, autojump_clock: MockClock
) -> None:
    store = Memory()
    async with practice(store=store) as hall:
        (fact,) = await played(hall, "first", game)
        assert fact.kinds[house(fact) - 1] is Kind.BOT
        assert fact.score is None
        assert record_of(hall.host, game).standings() == []
        lines = exported(store.kept())
        (match,) = (line for line in lines if line["type"] == "match")
        assert sorted(match["kinds"]) == ["bot", "house"]
        text = [msgspec.json.encode(line) + b"\n" for line in lines]
        assert not verify(text).findings
        broken = [line.replace(b'"score":null', b'"score":[1.0,0.0]') for line in text]
        assert verify(broken).findings, "whoever rates it is found out"


def test_what_was_kept_of_bots_has_the_letters_that_it_always_had() -> None:
    fact = Concluded("open-x-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "why", (1.0, 0.0))
    assert fact.kinds == BOTS
    assert b"kinds" not in entry(1, "open-x", 0.0, fact).body.encode()


@pytest.mark.slow
async def test_somebody_slow_moves_in_the_last_second_of_its_clock(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        (fact,) = await played(hall, "practice-slow", "connect-4")
        theirs = [time for ply, time in enumerate(fact.times) if ply % 2 == house(fact)]
        assert theirs
        assert all(60.0 - 2 * LAST < time < 60.0 for time in theirs)
        assert fact.ending is Ending.PLAYED


@pytest.mark.slow
async def test_somebody_careless_tries_an_illegal_move_now_and_then(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        facts = await played(hall, "practice-illegal", "connect-4", 6)
        refused = [cause for fact in facts for cause in fact.cause if isinstance(cause, Refused)]
        turns = sum(len(fact.moves) for fact in facts) / 2
        assert 0 < len(refused) < turns
        assert {fact.ending for fact in facts} == {Ending.PLAYED}, "it costs nothing in this game"
    async with practice() as hall:
        facts = await played(hall, "practice-illegal", "tic-tac-toe", 6)
        lost = [fact for fact in facts if fact.ending is Ending.ILLEGAL]
        assert lost
        assert all(fact.winner == 1 - house(fact) for fact in lost)


@pytest.mark.slow
async def test_somebody_who_leaves_stays_away_until_the_next_match(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        for fact in await played(hall, "practice-leaves", "connect-4", 2):
            assert (fact.ending, fact.winner) == (Ending.LEFT, 1 - house(fact))
            assert isinstance(fact.cause[0], Disconnected)


async def test_somebody_who_returns_goes_on_with_the_match(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        (fact,) = await played(hall, "practice-returns")
        assert [type(cause) for cause in fact.cause] == [Disconnected, Returned]
        assert fact.ending is Ending.PLAYED


@pytest.mark.parametrize("game", GAMES)
async def test_somebody_who_flips_the_table_says_junk_until_the_referee_has_had_enough(
    game: str, autojump_clock: MockClock
) -> None:
    async with practice() as hall:
        (fact,) = await played(hall, "practice-flips", game)
        assert (fact.ending, fact.winner) == (Ending.ILLEGAL, 1 - house(fact))
        assert fact.moves, "it has played before"


async def test_whoever_asks_for_somebody_else_meets_that_one_next(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        ann = await hall.hello("ann", against="first", matches=1)
        await play(ann, "tic-tac-toe")
        await ann.tell(type="hello", name="ann", game="tic-tac-toe", against="greedy")
        (begin,) = await ann.messages("begin")
        assert set(begin["players"]) == {"ann", "greedy"}
        assert sorted(player.name for player in hall.host.lobby.players()) == ["ann", "greedy"]


async def test_an_opponent_may_be_a_bot_that_is_waited_for(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        ann = await hall.hello("ann", against="cy")
        await hall.hello("bob")
        assert not await ann.messages("begin")
        await hall.hello("cy")
        (begin,) = await ann.messages("begin")
        assert set(begin["players"]) == {"ann", "cy"}


@pytest.mark.parametrize(("name", "why"), [("aima", "aima is a reserved word"), ("x" * 33, "at most 32")])
async def test_whoever_asks_for_somebody_who_can_never_come_is_told_so(
    name: str, why: str, autojump_clock: MockClock
) -> None:
    async with practice() as hall:
        with pytest.raises(Unwelcome, match=f"{why}.*the host's own are random, first, greedy"):
            await hall.host.arrive("ann", "santorini", against=name, practises=True)
        assert not list(hall.host.lobby.players())
        assert not hall.host.tournaments, "no table was opened for nobody"
        await hall.host.arrive("ann", "connect-4", against="aima", practises=True)


async def test_nobody_waits_for_itself(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        for name in ("ann", " ANN "):
            with pytest.raises(Unwelcome, match=r"^a bot cannot play itself, .*; the host's own are .*first"):
                await hall.host.arrive("ann", "santorini", against=name, practises=True)
        await hall.host.arrive("ann", "santorini", against="anna", practises=True)


async def test_whoever_practises_is_at_the_open_table_even_while_a_tournament_takes_entrants(
    autojump_clock: MockClock,
) -> None:
    settings = {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}
    async with room(settings) as hall:
        ann = await hall.hello("ann", against="cy")
        assert (await ann.messages("welcome"))[0]["tournament"] is None
        bob = await hall.hello("bob", against="first", tournament="cup")
        (refused,) = await bob.messages()
        assert refused["reason"] == (
            'against is for the open table: in "cup" the format decides who meets whom'
        )


async def test_whoever_goes_on_to_a_tournament_takes_nobody_of_the_house_along(
    autojump_clock: MockClock,
) -> None:
    async with practice() as hall:
        ann = await hall.hello("ann", "connect-4", against=SPARRING[0].name, matches=1)
        await play(ann, "connect-4")
        cup = await hall.host.open("cup", Opened("connect-4", "round-robin", 3))
        await ann.tell(type="hello", name="ann", game="connect-4", tournament="cup")
        assert (await ann.messages("welcome"))[-1]["tournament"] == "cup"
        assert ([*cup.record.entrants], len(hall.host.house_players)) == (["ann"], 0)


async def test_a_bot_that_was_silent_finds_its_opponent_again(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        ann = await hall.hello("ann", against="first")
        (player,) = (each for each in hall.host.lobby.players() if each.kind is Kind.BOT)
        await play(ann, "tic-tac-toe")
        seat = player.seat
        assert seat is not None, "match follows match"
        player.away()
        seat.resign()
        await trio.sleep(1.0)
        await ann.messages()
        assert [each.name for each in hall.host.lobby.players()] == ["ann"], "nobody waits for it"
        player.back()
        (begin,) = await ann.messages("begin")
        assert set(begin["players"]) == {"ann", "first"}


async def test_a_match_that_is_about_to_begin_is_played_though_its_bot_hangs_up_and_comes_back(
    autojump_clock: MockClock,
) -> None:
    async with practice(store=SlowToDeal()) as hall:
        ann = await hall.hello("ann", against="random")
        (welcome,) = await ann.messages("welcome")
        await ann.wire.aclose()
        again = await hall.hello("ann", against="random", token=welcome["token"])
        ends = [told for told in await play(again, "tic-tac-toe", 2) if told["type"] == "end"]
        assert [end["ending"] for end in ends] == ["played", "played"]
        await again.tell(type="bye")
        await trio.sleep(LONG)
        assert not list(hall.host.lobby.players()), "both of the house are gone with their challenger"


async def test_there_are_so_many_of_the_house_and_a_refusal_says_so(autojump_clock: MockClock) -> None:
    async with practice(Limits(practice=2, practice_per_address=1)) as hall:
        come = hall.host.arrive

        async def ask(name: str, peer: str) -> None:
            await come(name, "connect-4", against="first", peer=peer, practises=True)

        await ask("ann", "192.0.2.1")
        with pytest.raises(Unwelcome, match=r"`limits\.practice_per_address` allows no more"):
            await ask("bob", "192.0.2.1")
        await ask("cy", "127.0.0.1")
        with pytest.raises(Unwelcome, match=r"plays 2 bots itself, and `limits\.practice` allows no more"):
            await ask("dee", "127.0.0.1")
        ann = hall.host.lobby.find("ann", "connect-4")
        assert ann is not None
        ann.retire()
        await trio.sleep(1.0)
        await ask("bob", "192.0.2.1")


async def test_whoever_asks_in_vain_leaves_no_table_behind(autojump_clock: MockClock) -> None:
    async with practice(Limits(practice=1)) as hall:
        come = hall.host.arrive
        visit = await come("ann", "connect-4", token="t" * 22, against="first", practises=True)
        with pytest.raises(Unwelcome, match=r"`limits\.practice` allows no more"):
            await come("bob", "santorini", against="first", practises=True)
        assert list(hall.host.tournaments) == ["open-connect-4"]
        again = await come("ann", "connect-4", token=visit.token, against="greedy", practises=True)
        assert again.returned, "whoever wants somebody else gives up the one it has"


@pytest.mark.parametrize("name", [each.name for each in SPARRING if each.name.startswith("practice-")])
async def test_nobody_else_is_called_like_somebody_who_practises(
    name: str, autojump_clock: MockClock
) -> None:
    async with practice() as hall:
        guest = await hall.hello(name)
        (refused,) = await guest.messages()
        assert refused["reason"] == f"{name} is a reserved word"


async def test_whoever_plays_by_hand_is_marked_as_a_person(autojump_clock: MockClock) -> None:
    async with practice() as hall:
        ann = await hall.hello("ann", against="first", person=True, matches=1)
        await play(ann, "tic-tac-toe")
        (fact,) = record_of(hall.host).matches.values()
        assert sorted(fact.kinds) == [Kind.HOUSE, Kind.PERSON]
