"""What each version of a bot has done: rated as bots of their own, the latest first, and for whoever asks."""

from collections.abc import Callable, Sequence

import msgspec
import pytest
import trio
from trio.testing import MockClock

from server.host import versions as module
from server.host.appearances import Index
from server.host.versions import LISTED, WAIT, YOUNG, Version, Versions, backwards, called, rated, versions
from server.net.guard import Guard
from tests.server.pages.sitting import sitting
from tests.server.protocols.test_api import GAME, office
from tests.server.transcripts import at_once
from tests.tournament.world import first, play
from tournament.events import Ending
from tournament.facts import Concluded, Disqualified, Drew, Entered, Froze, Opened, Voided
from tournament.format import Pairing
from tournament.record import Record
from tournament.settling import settled

SCORES = {0: (1.0, 0.0), 1: (0.0, 1.0)}


def record(results: Sequence[tuple[str | None, int]], opponent: str = "bob", since: float = 0.0) -> Record:
    """Matches of ann, in the versions given, and who has won each: 0 is ann. A second later another ends."""
    made = Record("cup", Opened(GAME, "ladder"))
    for name in ("ann", opponent):
        made.add(Entered(name))
    extend(made, results, opponent, since)
    return made


def extend(
    made: Record, results: Sequence[tuple[str | None, int]], opponent: str = "bob", since: float = 0.0
) -> None:
    for number, (version, winner) in enumerate(results, made.last_drawn + 1):
        made.add(Drew((Pairing(number, number, "ann", opponent),)))
        made.add(
            Concluded(
                *(f"cup-{number}", number, ("ann", opponent), winner, Ending.PLAYED, "so", SCORES[winner]),
                moves=(number, 1),
                ended=since + number,
                versions=(version, None),
            )
        )


def of_ann(*records: Record) -> list[Version]:
    index = Index()
    found = [(each, index.find(each, "ann")) for each in records]
    return versions("ann", index.sums("ann", found), rated(records))


@pytest.mark.slow
def test_every_version_has_its_own_results_and_strength_and_the_latest_is_first() -> None:
    known = record([(None, 1)] * 4 + [("1", 1)] * 12 + [("2", 0)] * 12 + [("1", 1)])
    one, two, unsaid = of_ann(known)
    assert (one.version, one.played, one.points, one.latest) == ("1", 13, 0.0, 29.0)
    assert (two.version, two.played, two.points, two.wins) == ("2", 12, 12.0, 12)
    assert (unsaid.version, unsaid.losses) == (None, 4)
    assert one.rating is not None
    assert two.rating is not None
    assert two.rating > one.rating + 200


@pytest.mark.slow
def test_what_counts_no_more_is_in_no_version() -> None:
    known = record([("1", 0)] * 3 + [("2", 0)])
    known.add(Voided("cup-4", "a cable", ("ann", "bob"), (1.0, 0.0)))
    assert [each.version for each in of_ann(known)] == ["1"]
    known.add(Disqualified("bob", "two in one"))
    (one,) = of_ann(known)
    assert (one.played, one.rating) == (3, None)


@pytest.mark.slow
def test_the_matches_of_all_tournaments_of_a_game_count_together() -> None:
    (one,) = of_ann(record([("1", 0)] * 5), record([("1", 1)] * 3, "cas"))
    assert (one.played, one.points) == (8, 5.0)


@pytest.mark.slow
def test_a_match_that_was_never_played_is_of_no_version() -> None:
    """A bot whose opponent was out, or had stayed away, was said to have given none in its latest matches."""
    known = record([("1", 0), ("1", 1)])
    known.add(Drew((Pairing(3, 3, "ann", "bob"),)))
    known.add(settled(known, known.drawn[3], {"bob": 40.0}, set(), 50.0))
    (one,) = of_ann(known)
    assert (one.version, one.played, one.wins) == ("1", 2, 1)


def test_the_latest_version_is_the_one_that_played_last_in_whatever_tournament() -> None:
    """Catches a version that was not the latest because it had played before in a tournament opened since."""
    table, cup = record([("1", 0), ("2", 1)], since=100.0), record([("2", 1)])
    assert [(each.version, each.latest) for each in of_ann(table, cup)] == [("2", 102.0), ("1", 101.0)]


def test_results_are_gone_through_in_the_order_in_which_matches_ended_in_whatever_tournament() -> None:
    table, cup = record([("1", 0)] * 3, since=100.0), record([("1", 1)] * 2, since=101.5)
    played = [(each, result.pairing.number) for each, result in backwards([table, cup])]
    assert played == [(cup, 2), (table, 3), (cup, 1), (table, 2), (table, 1)]


@pytest.mark.slow
def test_versions_of_a_bot_that_names_each_match_anew_are_bounded() -> None:
    many = of_ann(record([(str(number), 0) for number in range(3 * LISTED)]))
    assert [each.version for each in many] == [str(3 * LISTED - 1 - number) for number in range(LISTED)]


def test_no_name_is_a_name_and_a_version_of_somebody_else() -> None:
    assert len({called("a", None), called("a", "b"), called("a\nb"[:1], ""), called("ab", None)}) == 3


@pytest.mark.slow
async def test_the_page_of_a_bot_has_a_version_where_one_is_said(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold(entrants=2)
        for name, version in (("ann", "<1>\u202e"), ("bob", None)):
            visit = await here.host.arrive(name, GAME, version=version)
            here.nursery.start_soon(play, visit.player, first)
        await trio.sleep(100.0)
        browser = await here.log_in()
        page = await browser.read("/bots/ann")
        assert "Latest version: <b><bdi>&lt;1&gt;\u202e</bdi></b>, strength" in page, "which it does not turn"
        assert "version" not in await browser.read("/bots/bob")


@pytest.mark.slow
async def test_a_bot_is_asked_about_and_its_ratings_are_made_once_for_all(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3)
        for name, version in (("ann", "<1>"), ("bob", None), ("c/d", None)):
            visit = await here.host.arrive(name, GAME, version=version)
            here.nursery.start_soon(play, visit.player, first)
        await trio.sleep(100.0)
        found = await here.read("/api/bots/ann")
        (career,) = found["games"]
        assert (found["name"], career["game"], career["tournaments"]) == ("ann", GAME, ["cup"])
        (version,) = career["versions"]
        assert (career["version"], version["version"], version["played"]) == ("<1>", "<1>", 2)
        assert (career["rating"], career["interval"]) == (version["rating"], version["interval"])
        slashed = await here.read("/api/bots?name=c/d")
        assert slashed["games"][0]["versions"][0]["version"] is None
        assert await here.read("/api/bots/c%2Fd") == slashed
        assert here.host.versions.made == 1
        assert "expected ?name=" in (await here.read("/api/bots", 400))["error"]
        assert "nobody named" in (await here.read("/api/bots/eve", 404))["error"]
        assert "nobody named 'e/f'" in (await here.read("/api/bots/e%2Ff", 404))["error"]
        assert msgspec.json.encode(found)


@pytest.mark.slow
async def test_a_tournament_with_the_name_of_a_deleted_one_is_rated_anew(autojump_clock: MockClock) -> None:
    deleted, now = record([("1", 0)] * 3), record([("2", 0)] * 3)
    now.kept_as = "cup~2"
    async with trio.open_nursery() as nursery:
        known = Versions(lambda: Guard(nursery), at_once)
        assert called("ann", "1") in await known.ratings(GAME, [deleted])
        rated_now = await known.ratings(GAME, [now])
        assert called("ann", "2") in rated_now
        assert called("ann", "1") not in rated_now


class Slowly:
    """Work is done after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def __call__(self, work: Callable[[], object]) -> object:
        await trio.sleep(self.seconds)
        return work()


async def test_ratings_are_worked_out_for_one_game_after_another(autojump_clock: MockClock) -> None:
    """Catches a process that grows by the room for all games' ratings when bots of each are looked at."""
    games, said = ("connect-4", "quoridor", "santorini"), list[str]()

    async def run(work: Callable[[], object]) -> object:
        said.append("begun")
        await trio.sleep(1.0)
        said.append("over")
        return work()

    async with trio.open_nursery() as nursery:
        known = Versions(lambda: Guard(nursery), run)
        for game in games:
            nursery.start_soon(known.ratings, game, [record([("1", 0)] * 3)])
    assert said == ["begun", "over"] * len(games)


async def test_what_is_frozen_is_in_no_rating_that_others_see(autojump_clock: MockClock) -> None:
    """Catches ratings for the organiser that the public gets as well, because its own take long."""
    frozen = record([("1", 0)] * 3)
    frozen.add(Froze(True))
    extend(frozen, [("2", 0)] * 3)
    async with trio.open_nursery() as nursery:
        known = Versions(lambda: Guard(nursery), Slowly(WAIT * 2))
        for _ in range(5):
            await known.ratings(GAME, [frozen])  # as an organiser sees it
            assert called("ann", "2") not in await known.ratings(GAME, [frozen.public])
        assert called("ann", "2") in await known.ratings(GAME, [frozen])
        assert called("ann", "1") in await known.ratings(GAME, [frozen.public])
        nursery.cancel_scope.cancel()


async def test_where_there_are_many_results_nobody_waits_for_the_latest(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches pages that each wait for a fit of twenty thousand results."""
    monkeypatch.setattr(module, "LONG", 3)
    many = record([("1", 0)] * 3)
    async with trio.open_nursery() as nursery:
        known = Versions(lambda: Guard(nursery), Slowly(1.0))
        await known.ratings(GAME, [many])
        extend(many, [("2", 0)])
        asked = trio.current_time()
        assert called("ann", "2") not in await known.ratings(GAME, [many])
        assert trio.current_time() == asked
        await trio.sleep(5.0)
        assert called("ann", "2") in await known.ratings(GAME, [many]), "it was made meanwhile"
        extend(many, [("3", 0)])
        await trio.sleep(YOUNG)
        assert called("ann", "3") in await known.ratings(GAME, [many]), "nobody had asked for long"
