"""Which bots have yet to hear that their tournament is over: with its token, in time, and once."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from server.host.abroad import Wanted
from server.host.reception import Reception
from server.host.secrets import token_digest
from server.host.untold import LATE, SOON, UNTOLD, Untold
from server.host.view import HeldTournament
from server.net.limits import Limits
from tests.steps import steps_taken
from tournament.events import Ending
from tournament.facts import (
    AnyFact,
    Claimed,
    Concluded,
    Dealt,
    Drew,
    Entered,
    Opened,
    Seated,
    State,
    Turned,
    Withdrew,
)
from tournament.format import Pairing
from tournament.lobby import Lobby
from tournament.record import Record

GAME = "tic-tac-toe"
TOKENS = {name: f"{name}-keeps-this-secret" for name in ("ann", "bob")}
OVER = Turned(State.FINISHED)
WHERE = (GAME, "ann")


class World:
    """Tournaments with Ann and Bob, and a clock on the wall."""

    def __init__(self, *names: str) -> None:
        self.now = 1_000_000.0
        self.expects = False  # whether another tournament awaits or takes whoever comes
        self.told: list[tuple[str, str]] = []
        self.records = {name: Record(name, Opened(GAME, "round-robin")) for name in names}
        self.untold = self.started_again()
        for name in names:
            for bot, token in TOKENS.items():
                self.add(name, Entered(bot), Claimed(bot, token_digest(token).hex()))

    def started_again(self) -> Untold:
        """What a host that has been started again knows: the records, and nothing else."""
        lobby, limits = Lobby(), Limits()
        reception = Reception(lobby, limits)
        self.untold = Untold(
            self._records, lambda name, game: self.expects, lobby, reception, lambda: self.now
        )
        self.untold.on_told = lambda tournament, name: self.told.append((tournament, name))
        return self.untold

    def _records(self, name: str, game: str) -> list[Record]:
        return [record for record in self.records.values() if game == GAME and name in record.entrants]

    def add(self, name: str, *facts: AnyFact) -> None:
        record = self.records[name]
        for fact in facts:
            record.add(fact)
            self.untold.hear(cast("HeldTournament", SimpleNamespace(record=record)), fact)

    def play(self, name: str) -> None:
        """Ann beats Bob there."""
        number = self.records[name].last_drawn + 1
        match = f"{name}-{number}"
        self.add(name, Drew((Pairing(number, number, "ann", "bob"),)), Dealt(match, number))
        score, moved = (1.0, 0.0), ({"position": "C"},)
        ended = Concluded(match, number, ("ann", "bob"), 0, Ending.PLAYED, "so", score, moved, ended=self.now)
        self.add(name, ended)

    def hears(self, name: str = "ann", tournament: str | None = None, token: Any = None) -> str:
        """What a bot that comes like that hears, and has heard then."""
        wanted = Wanted(name, GAME, tournament, token or TOKENS[name.strip()])
        why = self.untold.why(wanted)
        self.untold.has_been_told(wanted)
        return why


def test_whoever_comes_back_hears_once_that_its_tournament_is_over() -> None:
    world = World("cup")
    assert not world.hears()
    world.play("cup")
    world.add("cup", OVER)
    assert [world.hears("ann"), world.hears("ann"), world.hears(" bob ")] == [
        "cup is over",
        "",
        "cup is over",
    ]
    assert world.told == [("cup", "ann"), ("cup", "bob")]


def test_whoever_has_no_token_is_known_by_its_door_and_address_for_a_minute() -> None:
    """Only a door that has words for it asks: whoever asks where a bot is served is told nothing."""
    world = World("cup")
    for name in ("cas", "dan"):
        world.add("cup", Entered(name), Seated(name, "hexagon-dots", "10.0.0.1"))
    world.play("cup")
    cas = Wanted("cas", GAME, None, None, "hexagon-dots", "10.0.0.1")
    assert not world.untold.why(cas), "it is not over"
    world.add("cup", OVER)
    others = replace(cas, address="10.0.0.2"), replace(cas, door="tcp"), replace(cas, door="", address="")
    assert [world.untold.why(each) for each in others] == ["", "", ""]
    assert (world.untold.end(cas), world.untold.why(cas)) == (None, "cup is over")
    world.untold.has_been_told(cas)
    assert (world.untold.why(cas), world.told) == ("", [("cup", "cas")])
    world.now += SOON
    assert world.untold.why(replace(cas, name="dan")) == "cup is over"
    world.now += 0.001
    assert not world.untold.why(replace(cas, name="dan"))


def test_whoever_another_tournament_expects_plays_there_and_hears_later_or_if_it_asks() -> None:
    world = World("cup")
    world.play("cup")
    world.add("cup", OVER)
    world.expects = True
    assert [world.hears("ann"), world.hears("bob", tournament="cup")] == ["", "cup is over"]
    world.expects = False
    assert [world.hears("ann"), world.hears("bob")] == ["cup is over", ""]


def test_whoever_names_the_tournament_hears_of_its_end_each_time_for_an_hour() -> None:
    world = World("cup", "league")
    world.play("cup")
    world.add("cup", OVER)
    assert [world.hears(tournament="cup"), world.hears(), world.hears(tournament="cup")] == [
        "cup is over",
        "",
        "cup is over",
    ]
    assert not world.hears(tournament="league")
    world.now += LATE + 1.0
    assert not world.hears(tournament="cup")


@pytest.mark.parametrize("again", [False, True])
def test_nobody_else_hears_of_an_end_nor_whoever_wants_something_else(again: bool) -> None:
    world = World("cup")
    world.play("cup")
    world.add("cup", OVER)
    if again:
        world.started_again()
    for wanted in (
        Wanted("ann", GAME, None),
        Wanted("ann", GAME, None, TOKENS["bob"]),
        Wanted("ann", GAME, "league", TOKENS["ann"]),
        Wanted("ann", "connect-4", None, TOKENS["ann"]),
        Wanted("cas", GAME, None, TOKENS["ann"]),
        Wanted("\0", GAME, None, TOKENS["ann"]),
    ):
        assert not world.untold.why(wanted)
        assert world.untold.end(wanted) is None
        world.untold.has_been_told(wanted)
    assert world.hears(tournament="cup") == "cup is over"


def test_what_is_not_known_after_a_restart_is_bounded_by_an_hour_and_by_what_was_played_since() -> None:
    world = World("cup", "league")
    world.play("cup")
    world.add("cup", OVER)
    assert world.hears("ann") == world.hears("bob") == "cup is over"
    world.started_again()
    world.now += LATE
    assert world.hears("ann") == "cup is over", "nobody knows any more that it has heard that"
    world.now += 1.0
    assert not world.hears("bob")
    world.now -= 2.0
    world.play("league")
    assert not world.hears("bob")


def test_who_has_heard_of_an_end_is_remembered_for_as_long_as_it_is_told_and_no_longer() -> None:
    here = World()
    for name in ("mon", "tue", "wed"):
        here.untold.note(name, "ann")
        here.now += LATE / 2 + 1.0
    assert [*here.untold.heard()] == [("tue", "ann"), ("wed", "ann")]


def test_of_many_that_were_over_within_the_hour_the_last_is_told_and_each_is_looked_at_once() -> None:
    """Catches comparing each with each: a bot may play hundreds of small tournaments in an hour."""
    steps: list[int] = []
    for many in (20, 40):
        world = World(*(f"cup-{number}" for number in range(many)))
        for name in world.records:
            world.now += 1.0
            world.play(name)
            world.add(name, OVER)
        wanted = Wanted("ann", GAME, None, TOKENS["ann"])
        steps.append(steps_taken(lambda world=world, wanted=wanted: world.untold.end(wanted)))
        assert world.hears("ann") == f"cup-{many - 1} is over"
    assert steps[1] < 2.2 * steps[0]


def test_an_organiser_may_end_a_tournament_long_after_its_last_match() -> None:
    world = World("cup")
    world.play("cup")
    world.now += 2 * LATE
    assert not world.untold.is_past(world.records["cup"])
    world.add("cup", OVER)
    assert not world.untold.is_past(world.records["cup"])
    assert world.hears() == "cup is over"
    world.now += LATE + 1.0
    assert world.untold.is_past(world.records["cup"])


def test_the_first_of_two_tournaments_that_are_over_is_told_first() -> None:
    world = World("monday", "friday")
    for name in ("friday", "monday"):
        world.add(name, OVER)
        world.now += 1.0
    assert [world.hears() for _ in range(3)] == ["friday is over", "monday is over", ""]


def test_a_tournament_that_goes_on_and_is_over_again_is_told_again() -> None:
    world = World("cup")
    for turned in (OVER, Turned(State.RUNNING), OVER):
        world.add("cup", turned)
        assert world.hears() == ("cup is over" if turned is OVER else "")


@pytest.mark.parametrize("over", [(), (OVER,)], ids=["goes on", "over"])
def test_whoever_was_taken_out_hears_why_once_and_of_no_end(over: tuple[Turned, ...]) -> None:
    world = World("cup")
    world.add("cup", Withdrew("ann", annulled=False), *over)
    assert not world.hears(tournament="cup"), "which refuses it by itself"
    assert world.hears() == "ann was withdrawn from cup: ask its organiser why"
    world.add("cup", OVER)
    assert not world.hears()


def test_another_process_may_have_told_it_before_this_one_knows_of_the_end() -> None:
    world = World("cup")
    world.untold.note("cup", "ann")
    world.play("cup")
    world.records["cup"].add(OVER)  # as it is read from the journal that hosts share
    assert [world.hears("ann"), world.hears("bob")] == ["", "cup is over"]
    assert world.told == [("cup", "bob")]


def test_what_is_remembered_is_bounded() -> None:
    world = World(*map(str, range(9)))
    for name in world.records:
        world.add(name, OVER)
        world.hears("ann", name)
        world.now += LATE / 2
    assert len(world.untold._ends) <= 3, "those of the last hour"
    for number in range(2 * UNTOLD):
        world.untold.tell_later((GAME, f"bot-{number}"), "a token", "it was withdrawn")
    assert len(world.untold._news) == UNTOLD


def test_why_somebody_was_taken_out_is_told_once_to_whoever_has_its_token() -> None:
    world = World("cup")
    world.untold.tell_later(WHERE, TOKENS["ann"], "ann was withdrawn")
    assert not world.hears(token=TOKENS["bob"])
    assert [world.hears(), world.hears()] == ["ann was withdrawn", ""]
