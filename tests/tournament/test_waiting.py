"""What is dealt and what is waited for is the same, found by player or by looking at every open pairing."""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from math import inf
from random import Random

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.steps import steps_taken
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened, State, Turned, Voided
from tournament.format import Pairing
from tournament.lobby import Lobby
from tournament.pairing.round_robin import table
from tournament.player import Player
from tournament.presence import Presence
from tournament.record import Record
from tournament.timekeeper import Timekeeper
from tournament.waiting import FEW, START, Waiting

GRACE = 30.0
NAMES = tuple("abcdefgh")
seeds = st.integers(0, 2**32 - 1)


def drawn(random: Random, count: int, first: int = 1) -> list[Pairing]:
    return [Pairing(first + more, 1, *random.sample(NAMES, 2)) for more in range(count)]


# By hand, as it used to be done


def greedy(
    pairings: Collection[Pairing], available: Collection[str], sought: Collection[str]
) -> Iterator[Pairing]:
    taken = set[str]()
    for pairing in pairings:
        names = {*pairing.names}
        if names <= {*available} and names & {*sought} and names.isdisjoint(taken):
            taken |= names
            yield pairing


def overdue(
    record: Record, idle: Collection[str], absent: Collection[str], missing: dict[int, dict[str, float]]
) -> list[Pairing]:
    """Also brings `missing`, for whom each pairing waits since when, up to date: those that wait go first."""
    now, waited, waiting = trio.current_time(), set[str](), dict[int, dict[str, float]]()
    for number, pairing in sorted(record.open.items(), key=lambda each: each[0] not in missing):
        names = {*pairing.names}
        if names & {*absent} and names.isdisjoint(waited) and names - {*absent} <= {*idle}:
            waited |= names
            before = missing.get(number, {})
            waiting[number] = {name: before.get(name, now) for name in names & {*absent}}
    over = [number for number, since in waiting.items() if now >= max(since.values()) + GRACE]
    missing.clear()
    missing.update((number, since) for number, since in waiting.items() if number not in over)
    return [record.open[number] for number in sorted(over)]


# The index


@given(seed=seeds, steps=st.integers(0, 60))
def test_it_is_the_open_pairings_in_the_order_of_drawing_whatever_comes_and_goes(
    seed: int, steps: int
) -> None:
    random, waiting, known = Random(seed), Waiting(), dict[int, Pairing]()
    closed: list[Pairing] = []
    for _ in range(steps):
        chosen = random.random()
        if chosen < 0.4:
            for pairing in drawn(random, random.randint(1, 5), len(known) + len(closed) + 1):
                waiting.add(pairing)
                known[pairing.number] = pairing
        elif chosen < 0.8 and known:
            closed.append(known.pop(random.choice(list(known))))
            waiting.discard(closed[-1].number)
            waiting.discard(closed[-1].number)
        elif closed:
            again = closed.pop(random.randrange(len(closed)))
            known[again.number] = again
            waiting.add(again)
            waiting.add(again)
        copied = waiting.__copy__()
        copied.add(Pairing(1000, 1, "a", "b"))
        expected = dict(sorted(known.items()))
        assert list(waiting.items()) == list(expected.items())
        assert len(waiting) == len(expected)
        for names in (("a",), ("b", "c")):
            mine = [each for each in expected.values() if not {*names}.isdisjoint(each.names)]
            assert waiting.of(names, len(known)) == mine
            assert waiting.of(names, 2) == mine[:2]


class Number(int):
    compared = 0

    def __lt__(self, other: int) -> bool:
        Number.compared += 1
        return int(self) < int(other)


def test_a_pairing_that_comes_back_does_not_have_all_others_sorted() -> None:
    """After one void of half a million, whoever opened the tournament's page held up show for 0.1 s."""

    def compared(count: int) -> int:
        waiting = Waiting(Pairing(Number(number), 1, "a", "b") for number in range(1, count + 1))
        for number in (1, 3):
            again = waiting[number]
            waiting.discard(number)
            waiting.add(again)
        Number.compared = 0
        assert [*islice(waiting, 4)] == [1, 2, 3, 4]
        return Number.compared

    assert compared(1000) == compared(10)


@given(seed=seeds, count=st.integers(0, 40), few=st.sampled_from([0, 2, FEW]))
def test_who_can_meet_is_what_a_look_at_every_pairing_finds(seed: int, count: int, few: int) -> None:
    random = Random(seed)
    pairings = drawn(random, count)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tournament.waiting.FEW", few)
        waiting = Waiting(pairings)
    for pairing in random.sample(pairings, count // 3):
        waiting.discard(pairing.number)
        pairings.remove(pairing)
    available = {name for name in NAMES if random.random() < 0.6}
    sought = {name for name in available if random.random() < 0.6}
    found = list(waiting.meetings(available, dict.fromkeys(sought, START)))
    assert found == list(greedy(pairings, available, sought))


@given(seed=seeds, count=st.integers(0, 60), most=st.integers(1, 4), rounds=st.integers(1, 12))
def test_whoever_stops_early_goes_on_as_if_it_had_looked_at_everything_again(
    seed: int, count: int, most: int, rounds: int
) -> None:
    """As where so many matches at once are allowed: players become free and busy meanwhile."""
    random = Random(seed)
    waiting = Waiting(drawn(random, count))
    free, sought = set[str](), dict[str, int]()
    for _ in range(rounds):
        for name in NAMES:
            if name not in free and random.random() < 0.5:
                free.add(name)
                sought[name] = START
            elif name in free and random.random() < 0.1:
                free.discard(name)
                sought.pop(name, None)
        expected = list(greedy(waiting.values(), free, free))[:most]
        found = list(islice(waiting.meetings(free, sought), most))
        assert found == expected
        for pairing in found:
            free.difference_update(pairing.names)
            waiting.discard(pairing.number)
        if random.random() < 0.3:
            for pairing in drawn(random, 3, count + 1):
                waiting.add(pairing)
                sought |= {name: START for name in pairing.names if name in free}
            count += 3


@pytest.mark.parametrize("count", [100, 400])
def test_what_one_who_is_free_again_costs_does_not_grow_with_the_pairings_of_others(count: int) -> None:
    names = [f"p{number}" for number in range(count)]
    meetings = [pair for round in table(names) for pair in round]
    waiting = Waiting(Pairing(number, 1, *pair) for number, pair in enumerate(meetings, 1))
    playing = {*names[2:]}
    steps = steps_taken(lambda: list(waiting.meetings({*names} - playing, {"p1": START})))
    assert steps < 100 * count, f"of {len(meetings)} pairings"


@pytest.mark.parametrize("count", [100, 400])
def test_what_some_pairings_of_fifty_cost_does_not_grow_with_all_that_they_have(count: int) -> None:
    names = [f"p{number}" for number in range(count)]
    meetings = [pair for round in table(names) for pair in round]
    waiting = Waiting(Pairing(number, 1, *pair) for number, pair in enumerate(meetings, 1))
    steps = steps_taken(lambda: waiting.of(names[:50], 10))
    assert steps < 5_000, f"of {len(meetings)} pairings"


def test_whoever_has_nothing_to_play_costs_nothing_where_pairings_are_looked_up() -> None:
    """Catches a look at all who are out of a tournament, after each of its matches."""

    def effort(out: int) -> int:
        waiting = Waiting([Pairing(1, 1, "ann", "bob"), Pairing(2, 1, "cas", "dee")])
        names = {"ann", *(f"p{number}" for number in range(out))}
        assert [pairing.number for pairing in waiting.of(names, 10)] == [1]
        return steps_taken(lambda: waiting.of(names, 10))

    assert effort(400) == effort(100)


def test_who_waits_for_one_opponent_costs_the_same_however_often_they_are_to_meet() -> None:
    """Catches a look at all pairings of whoever is free again in a gauntlet of thousands of rounds."""

    def effort(rounds: int) -> int:
        waiting = Waiting(
            Pairing(2 * round + place, round, "one", other)
            for round in range(1, rounds + 1)
            for place, other in enumerate(("ann", "bob"))
        )
        copied = waiting.__copy__()
        return steps_taken(lambda: [*copied.meetings({"ann", "bob"}, {"ann": START, "bob": START})])

    assert effort(400) == effort(100)


def test_how_many_pairings_are_due_takes_as_long_to_say_however_many_rounds_are_to_come() -> None:
    def effort(rounds: int) -> int:
        waiting = Waiting((Pairing(round, round, "ann", "bob") for round in range(1, rounds + 1)), begun=2)
        waiting.discard(2)
        assert waiting.due == waiting.__copy__().due == 1
        waiting.begin(3)
        assert (len(waiting), waiting.due) == (rounds - 1, 2)
        return steps_taken(lambda: waiting.due)

    assert effort(400) == effort(100)


# All of it, with people who come and go


class Rival:
    """A tournament that deals to a lobby by looking at everything, beside one that asks `Presence`."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.record = Record("cup", Opened("tic-tac-toe", "round-robin"))
        self.lobby = Lobby()
        self.presence = Presence(self.record, "tic-tac-toe", self.lobby, Timekeeper(inf), GRACE)
        self.lobby.listen(lambda player: self.presence.heard(player.name))
        self.players: dict[str, Player] = {}
        self.missing: dict[int, dict[str, float]] = {}
        self.lobby.enter("zoe", "tic-tac-toe")  # who plays nothing: without anybody here, waits stand still
        self.add(Entered("zoe"))
        self.add(Drew(()))

    def add(self, fact: AnyFact) -> None:
        self.record.add(fact)
        self.presence.told(fact)

    def idle(self) -> list[str]:
        return [
            each.name
            for each in sorted(self.lobby.players("tic-tac-toe"), key=lambda player: player.arrival)
            if each.idle and each.name in self.record.entrants and each.place in (None, "cup")
        ]

    def absent(self) -> set[str]:
        found = {name: self.lobby.find(name, "tic-tac-toe", "cup") for name in self.record.entrants}
        return {name for name, player in found.items() if player is None or not player.present}

    def happen(self) -> None:
        """Somebody enters, comes, goes, is busy elsewhere; a match ends, is void, or is voided; or a draw."""
        random, record = self.random, self.record
        name = random.choice(NAMES)
        player = self.players.get(name)
        match random.randrange(9):
            case 0:
                self.add(Entered(name))
            case 1 | 2 if player is None or player.retired:
                self.players[name] = self.lobby.enter(name, "tic-tac-toe")
            case 1 | 2 if not player.present:
                player.back()
            case 3 if player is not None:
                player.away()
            case 4 if player is not None and random.random() < 0.3:
                player.retire()
            case 4 if player is not None:
                player.move_to(random.choice((None, "cup", "another")))
            case 5 if len(record.entrants) > 2:
                entrants = [name for name in record.entrants if name != "zoe"]
                pairs = [random.sample(entrants, 2) for _ in range(random.randint(1, 6))]
                number = len(record.drawn)
                self.add(Drew(tuple(Pairing(more, 1, *pair) for more, pair in enumerate(pairs, number + 1))))
            case 6 | 7 if record.dealt:
                self.conclude(*random.choice(list(record.dealt.items())))
            case 8 if counting := [each for each in record.matches if record.matches[each].score]:
                self.add(Voided(random.choice(counting), "?"))
            case _:
                pass

    def conclude(self, match: str, number: int) -> None:
        names = self.record.drawn[number].names
        void = self.random.random() < 0.3
        ending, score = (Ending.VOID, None) if void else (Ending.PLAYED, (1.0, 0.0))
        self.add(Concluded(match, number, (names[0], names[1]), None, ending, "so", score))
        for name in names:
            self.players[name].free()

    def deal(self, room: int) -> tuple[Sequence[Pairing], Sequence[Pairing]]:
        """As many as may be dealt, found in the one way and in the other."""
        idle = self.idle()
        expected = list(greedy(self.record.open.values(), idle, idle))[:room]
        found: list[Pairing] = []
        if room:
            for pairing, players in self.presence.meetings():
                assert tuple(player.name for player in players) == pairing.names
                found.append(pairing)
                for player in players:
                    player.reserved = True
                if len(found) == room:
                    break
        for pairing in found:
            self.add(Dealt(self.record.match_name(pairing.number), pairing.number))
        return found, expected


@given(seed=seeds, steps=st.integers(0, 120), most=st.sampled_from((0, 1, 2, 9)))
def test_the_same_is_dealt_and_waited_for_as_by_looking_at_everybody(
    seed: int, steps: int, most: int
) -> None:
    async def go() -> None:
        rival = Rival(Random(seed))
        for _ in range(steps):
            rival.happen()
            if rival.random.random() < 0.3:
                await trio.sleep(rival.random.choice((1.0, 12.0, 31.0)))
            if rival.random.random() < 0.6:
                assert rival.presence.absent == rival.absent()
                found, expected = rival.deal(most)
                assert found == expected
                if len(found) < most:
                    assert not rival.presence.more_can_meet
                    idle, absent = rival.idle(), rival.absent()
                    over = sorted(rival.presence.settled(60.0, playing=True), key=lambda each: each.number)
                    assert over == overdue(rival.record, idle, absent, rival.missing)
                    due = [max(since.values()) + GRACE for since in rival.missing.values()]
                    assert rival.presence.waits_until == min(due, default=inf)
                else:
                    rival.presence.wait_for_nobody()
                    rival.missing.clear()

    trio.run(go, clock=MockClock(autojump_threshold=0))


async def test_whoever_is_busy_without_having_said_so_is_not_dealt_to_and_keeps_nobody_from_playing() -> None:
    """Another tournament may have taken somebody that has not been bound to one."""
    rival = Rival(Random(1))
    for name in "abc":
        rival.add(Entered(name))
        rival.players[name] = rival.lobby.enter(name, "tic-tac-toe")
    rival.add(Drew((Pairing(1, 1, "a", "b"), Pairing(2, 1, "b", "c"))))
    assert rival.presence.absent == set()
    rival.players["a"].reserved = True
    found, expected = rival.deal(9)
    assert [pairing.number for pairing in found] == [2]
    assert found == expected


async def test_a_round_of_many_who_are_here_begins_without_a_look_at_each_of_them() -> None:
    """Catches finding out anew who is here and whom they meet, of thousands in one step of the loop."""
    count = 500
    record = Record("cup", Opened("tic-tac-toe", "swiss"))
    lobby = Lobby()
    presence = Presence(record, "tic-tac-toe", lobby, Timekeeper(inf), GRACE)

    def add(fact: AnyFact) -> None:
        record.add(fact)
        presence.told(fact)

    names = [f"bot-{number}" for number in range(count)]
    for name in names:
        lobby.enter(name, "tic-tac-toe")
        add(Entered(name))
    presence.pause()  # while entrants come

    def begin() -> None:
        presence.told(round)
        assert sum(1 for _ in islice(presence.meetings(), 10)) == 10

    start = steps_taken(lambda: add(Turned(State.RUNNING)))
    pairs = enumerate(zip(names[::2], names[1::2], strict=True), 1)
    round = Drew(tuple([Pairing(number, 1, first, second) for number, (first, second) in pairs]))
    record.add(round)
    assert start + steps_taken(begin) < 150 * count
