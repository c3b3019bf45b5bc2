"""Who holds what, and where a bot belongs."""

from types import SimpleNamespace

import pytest
import trio
import trio.testing

from server.host.abroad import Wanted
from server.host.exposition import Family, Sample
from server.host.histogram import Histogram
from server.host.secrets import token_digest
from server.host.visits import Present
from server.workers.directory import OWN, SOON, Directory, Served
from server.workers.figures import added, counted, families, together
from server.workers.messages import Status
from tests.server.workers.records import record
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
from tournament.record import Record
from tournament.store import Memory

GAME = "connect-4"
CUPS = ("one", "two", "three", "four")
ANN = (GAME, "ann")
OWN_TOKEN = "ann-keeps-this-secret"


def directory(workers: int = 3, together: tuple[frozenset[str], ...] = ()) -> Directory:
    return Directory(workers, Memory(), together)


def where(held: Directory, name: str, tournament: str | None = None, game: str = GAME) -> int:
    return held.where(Wanted(name, game, tournament))


def test_tournaments_are_spread_over_all_workers_before_one_has_two() -> None:
    held = directory()
    for name in CUPS[:3]:
        held.place(record(name))
    assert sorted(map(held.worker, CUPS[:3])) == [0, 1, 2]


def test_whoever_has_many_entrants_has_much_to_do() -> None:
    held = directory(2)
    large = record("one", *(Entered(f"bot-{number}") for number in range(10)))
    held.place(large)
    for name in CUPS[1:]:
        held.place(record(name))
    assert {held.worker(name) for name in CUPS[1:]} == {1 - held.worker("one")}


@pytest.mark.parametrize("end", [State.FINISHED, State.DELETED])
async def test_whoever_has_entrants_later_has_more_to_do_until_its_tournament_is_over(end: State) -> None:
    held = directory(2)
    away = [held.place(record(name)) for name in CUPS[:2]]
    (one,) = [each for each in away if each is not None]
    await held.hear(one.record.kept_as, [Entered(f"bot-{number}") for number in range(10)])
    held.place(record("three"))
    assert held.worker("three") == OWN
    await held.hear(one.record.kept_as, [Turned(end)])
    held.place(record("four"))
    assert held.worker("four") == one.worker
    assert held.alone(one.worker) == held.alone(OWN) == set()


def test_placing_a_tournament_takes_as_long_however_many_there_are() -> None:
    """Catches a start of minutes with thousands of them, and a pause of milliseconds whenever one begins."""
    cost: list[int] = []
    for many in (100, 400):
        held = directory()
        for number in range(many):
            held.place(record(f"cup-{number}", Entered("ann")))

        def place(held: Directory = held) -> None:
            held.place(record("late", Entered("bob")))
            for worker in range(3):
                held.alone(worker)

        cost.append(steps_taken(place))
    assert cost[1] < 1.5 * cost[0]


def test_what_this_process_holds_is_not_held_elsewhere() -> None:
    held = directory(2)
    away = [held.place(record(name)) for name in CUPS]
    for name, each in zip(CUPS, away, strict=True):
        assert (each is None) == (held.worker(name) == OWN) == (name not in held.held)


def test_games_that_belong_together_are_held_by_one_worker() -> None:
    held = directory(4, (frozenset({"quoridor", "tic-tac-toe"}),))
    for name, game in zip(CUPS, ("quoridor", "tic-tac-toe") * 2, strict=True):
        finished = () if name == "one" else (Turned(State.FINISHED),)  # their bots still ask for what is over
        held.place(record(name, *finished, game=game))
    assert len({held.worker(name) for name in CUPS} | {held.table("quoridor")}) == 1


def test_no_other_worker_believes_that_it_alone_has_games_that_belong_together() -> None:
    """It would let bots in that belong elsewhere, without asking."""
    held = directory(4, (frozenset({"quoridor", "tic-tac-toe"}),))
    held.place(record("one", game="quoridor"))
    for worker in range(4):
        alone = {"quoridor", "tic-tac-toe"} if worker == held.worker("one") else set[str]()
        assert held.alone(worker) == alone


def test_an_open_table_is_where_its_bots_were_sent_before_there_was_one_and_stays_there() -> None:
    held = directory()
    chosen = held.table(GAME)
    for number in range(10):  # by now, others have less to do
        held.place(record(f"cup-{number}", *(Entered(f"bot-{each}") for each in range(number))))
    held.place(record(f"open-{GAME}", Turned(State.RUNNING), format="open"))
    assert held.worker(f"open-{GAME}") == chosen
    assert held.table(GAME) == chosen
    assert where(held, "ann", f"open-{GAME}") == chosen
    assert held.opens(GAME) == (chosen == OWN)
    again = directory()  # after a restart
    for number in range(2):
        again.place(record(f"cup-{number}"))
    again.place(record(f"open-{GAME}", Turned(State.RUNNING), format="open"))
    assert again.table(GAME) == again.worker(f"open-{GAME}")


def test_a_bot_goes_to_the_tournament_that_it_names() -> None:
    held = directory()
    for name in CUPS:
        held.place(record(name))
    assert [where(held, "ann", name) for name in CUPS] == [held.worker(name) for name in CUPS]


def test_a_bot_that_names_none_goes_where_it_is_awaited_else_where_it_may_enter_else_to_the_table() -> None:
    held = directory()
    held.place(record("one", Entered("ann"), Turned(State.RUNNING)))
    held.place(record("two"))
    assert where(held, "ann") == held.worker("one")
    assert where(held, "bob") == held.worker("two")
    assert where(held, "bob", game="santorini") == held.table("santorini")
    assert held.expects("ann", GAME)
    assert held.expects("bob", GAME)
    assert not held.expects("bob", "santorini"), "nobody is expected at a table"
    assert [each.name for each in held.entered("ann", GAME)] == ["one"]


def test_a_bot_that_is_not_let_in_is_led_past_a_tournament_by_invitation_unless_it_names_that() -> None:
    held, closed = directory(), Record("one", Opened(GAME, "round-robin", by_invitation=True))
    closed.add(Entered("ann"))
    held.place(closed)
    assert held.place_of(Wanted("ann", GAME, None)) == "one"
    assert held.place_of(Wanted("eve", GAME, None)) == ""
    assert held.place_of(Wanted("eve", GAME, "one")) == "one", "whoever holds it refuses"
    held.place(record("two"))
    assert held.place_of(Wanted("eve", GAME, None)) == "two"


def test_whoever_is_out_is_awaited_there_no_more() -> None:
    held = directory()
    held.place(
        record("one", Entered("ann"), Entered("bob"), Turned(State.RUNNING), Withdrew("ann", annulled=False))
    )
    assert held.place_of(Wanted("ann", GAME, None)) == ""


@pytest.mark.parametrize("name", ["", "\x00", "x" * 100])
def test_a_name_that_nobody_may_have_is_refused_by_this_process(name: str) -> None:
    held = directory()
    held.place(record("one"))
    assert where(held, name) == OWN
    assert held.served(Wanted(name, GAME, "one", "a token"), 0.0) == Served(OWN)


def test_where_there_is_no_such_tournament_or_game_this_process_says_so() -> None:
    held = directory()
    assert where(held, "ann", "nowhere") == where(held, "ann", game="chess") == OWN
    assert held.served(Wanted("ann", GAME, "nowhere", "a token"), 0.0) == Served(OWN)
    assert not held.somebody_is_here(Wanted("ann", GAME, "nowhere")), "it is refused"


@pytest.mark.parametrize("restarted", [False, True])
async def test_whoever_plays_goes_back_to_its_match_though_another_tournament_takes_entrants(
    restarted: bool,
) -> None:
    held, table = directory(2), f"open-{GAME}"
    begun = Drew((Pairing(1, 1, "ann", "bob"),)), Dealt(f"{table}-1", 1)
    away = held.place(record(table, Turned(State.RUNNING), *(begun if restarted else ()), format="open"))
    assert away is not None
    held.place(record("two"))
    if not restarted:
        await held.hear(away.record.kept_as, begun)
    for name in ("ann", "bob"):
        assert where(held, name) == held.worker(table)
    assert where(held, "eve") == held.worker("two")
    over = Concluded(f"{table}-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "four in a row", (1.0, 0.0))
    await held.hear(away.record.kept_as, [over])
    for name in ("ann", "bob"):
        assert where(held, name) == held.worker("two"), "nothing keeps it at the table any more"


def test_whoever_plays_elsewhere_by_then_goes_back_there_when_its_last_match_is_over() -> None:
    held, begun = directory(2), Drew((Pairing(1, 1, "ann", "bob"),))
    records = [
        record(name, Entered("ann"), Entered("bob"), Turned(State.RUNNING), begun, Dealt(f"{name}-1", 1))
        for name in CUPS[:2]
    ]
    for each in records:
        held.place(each)
    over = Concluded("one-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "four in a row", (1.0, 0.0))
    held.told(SimpleNamespace(record=records[0]), over)
    assert held.place_of(Wanted("ann", GAME, None)) == "two"


async def test_a_tournament_that_is_deleted_is_held_by_nobody() -> None:
    held = directory(2)
    away = held.place(record("one", Entered("ann"), Claimed("ann", token_digest(OWN_TOKEN).hex())))
    assert away is not None
    assert held.kept_as("one") is away
    await held.hear("one", [Turned(State.DELETED)])
    assert held.held == {}
    assert held.kept_as("one") is None
    assert [*held.of(away.worker)] == []
    assert held.place_of(Wanted("ann", GAME, "one")) is None
    assert held.place_of(Wanted("ann", GAME, None)) == "", "it awaits nobody"
    anybody = Wanted("ann", GAME, f"open-{GAME}", "another's")
    assert held.served(anybody, 0.0) == Served(held.table(GAME)), "and keeps no name for anybody"


def test_a_worker_that_is_started_again_goes_on_with_its_own_tournaments_and_no_others() -> None:
    held = directory(2)
    for name in CUPS:
        held.place(record(name))
    for worker in range(2):
        assert [each.name for each in held.of(worker)] == [
            name for name in CUPS if held.worker(name) == worker
        ]


async def test_all_who_wait_for_an_end_elsewhere_learn_of_it() -> None:
    held = directory(2)
    away = held.place(record("one"))
    assert away is not None
    learned: list[str] = []

    async def wait(name: str) -> None:
        await away.finished()
        learned.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "ann")
        nursery.start_soon(wait, "bob")
        await held.hear("one", [Turned(State.RUNNING)])
        await trio.testing.wait_all_tasks_blocked()
        assert not learned, "it is not over"
        await held.hear("one", [Turned(State.FINISHED)])
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert sorted(learned) == ["ann", "bob"]


def test_whoever_alone_holds_all_of_a_game_and_is_to_open_its_table_is_told() -> None:
    held = directory(2)
    held.place(record("one"))
    own, other = held.worker("one"), 1 - held.worker("one")
    held._tables[GAME] = own
    assert GAME in held.alone(own)
    held.place(record("two"))
    assert held.worker("two") == other
    assert GAME not in held.alone(own) | held.alone(other)


def test_figures_add_up_and_counters_outlive_their_process() -> None:
    def family(kind: str, value: float | Histogram) -> Family:
        return Family(f"a_{kind}", kind, "", (Sample(value, {"game": "go"}),))  # pyright: ignore

    one, two = Histogram(), Histogram()
    one.observe(0.001)
    two.observe(3.0)
    own = [family("counter", 1), family("gauge", 10), family("histogram", one)]
    other = [family("counter", 2), family("gauge", 20), family("histogram", two)]
    now = {each.kind: each.samples[0].value for each in added(own, [other], [other])}
    assert (now["counter"], now["gauge"]) == (5, 30)
    histogram = now["histogram"]
    assert isinstance(histogram, Histogram)
    assert histogram.up_to()[-1] == 3


def test_processes_that_have_ended_are_one_report_with_what_all_of_them_counted() -> None:
    """Catches a report for each, and there may be one a second for as long as a worker cannot live."""

    def family(kind: str, value: float | Histogram) -> Family:
        return Family(f"a_{kind}", kind, "", (Sample(value, {}),))  # pyright: ignore

    def ended(seconds: float) -> Status:
        delays = Histogram()
        delays.observe(seconds)
        return Status(7, counted([family("counter", 2), family("histogram", delays)]))

    past = None
    for seconds in (0.001, 3.0, 0.2):
        past = together(past, ended(seconds))
    assert past is not None
    assert past.moves == 21
    counter, histogram = [sample.value for each in families(past) for sample in each.samples]
    assert counter == 6
    assert isinstance(histogram, Histogram)
    assert histogram.up_to()[-1] == 3


# One name in one place


class Two:
    """Two workers, with a cup of each and the open table of one of them."""

    def __init__(self) -> None:
        self.held = directory(2)
        for name in ("monday", "friday"):
            self.held.place(record(name))
        self.monday, self.friday = map(self.held.worker, ("monday", "friday"))
        assert self.monday != self.friday

    def served(self, tournament: str | None, token: str | None = OWN_TOKEN, now: float = 0.0) -> Served:
        return self.held.served(Wanted("ann", GAME, tournament, token), now)

    def here(self, worker: int, place: str, token: str = OWN_TOKEN, *, shared: bool = False) -> None:
        digest = token_digest(token).hex() if token else ""
        self.held.moved(worker, ANN, Present(place, digest, shared))


def test_whoever_is_in_a_tournament_is_led_to_the_worker_that_says_it_may_not_leave() -> None:
    two = Two()
    two.here(two.monday, "monday")
    for tournament in ("monday", "friday", None):
        assert two.served(tournament) == Served(two.monday)
    assert two.served("friday", "another's") == two.served("friday", None) == Served(two.monday)
    two.held.moved(two.monday, ANN, None)
    assert two.served("friday") == Served(two.friday)


@pytest.mark.parametrize("fact", [Turned(State.FINISHED), Withdrew("ann", annulled=False)])
def test_it_takes_over_from_itself_where_it_may_leave(fact: AnyFact) -> None:
    two = Two()
    table = two.held.table(GAME)
    two.here(table, f"open-{GAME}")
    other = "friday" if table == two.monday else "monday"
    assert two.served(other) == Served(1 - table, leaves=table)
    assert two.served(other, "another's") == two.served(other, None) == Served(table)
    two.held.moved(table, ANN, None)
    monday, _ = two.held._records["monday"]
    for each in (Entered("ann"), fact):
        monday.add(each)
        two.held.told(SimpleNamespace(record=monday), each)
    two.here(two.monday, "monday")
    assert two.served("friday") == Served(two.friday, leaves=two.monday)


def test_it_takes_over_from_itself_where_there_is_no_end_and_not_where_there_is_one() -> None:
    for format in ("ladder", "round-robin"):
        held = directory(2)
        held.place(record("here", Entered("ann"), Turned(State.RUNNING), format=format))
        held.place(record("cup"))
        here, there = map(held.worker, ("here", "cup"))
        held.moved(here, ANN, Present("here", token_digest(OWN_TOKEN).hex(), shared=False))
        found = held.served(Wanted("ann", GAME, "cup", OWN_TOKEN), 0.0)
        assert found == (Served(there, leaves=here) if format == "ladder" else Served(here))


def test_two_connections_that_come_at_once_are_led_to_one_worker_until_that_says_what_came_of_the_first() -> (
    None
):
    two = Two()
    assert two.served("monday") == two.served("friday") == Served(two.monday)
    assert two.served("friday", "another's") == Served(two.friday)
    assert two.served("friday", now=SOON) == Served(two.friday), "nothing was heard for long"
    two.held.moved(two.friday, ANN, None)
    assert two.served("monday", now=SOON) == Served(two.monday)
    assert len(two.held._coming) == 1
    assert two.served("friday", now=2 * SOON) == Served(two.friday), "nor of this one"


def test_of_a_bot_that_has_gone_nothing_is_remembered() -> None:
    """Catches a memory that grows with each throw-away name."""
    two, ann = Two(), Wanted("ann", GAME, None, OWN_TOKEN)
    assert not two.held.somebody_is_here(ann)
    two.served("monday")
    assert two.held.somebody_is_here(ann), "it is about to be"
    for worker in (two.monday, two.friday):
        two.here(worker, "monday")
    for worker in (two.monday, two.friday):
        assert two.held.somebody_is_here(ann)
        two.held.moved(worker, ANN, None)
    assert not two.held.somebody_is_here(ann)
    assert not two.held._here


def test_what_is_remembered_of_bots_that_come_is_bounded_by_time() -> None:
    two = Two()
    for number in range(100):
        two.held.served(Wanted(f"bot-{number}", GAME, None, "a token"), float(number))
    assert len(two.held._coming) <= SOON + 1


class Places:
    """Two tournaments with two places each, at two workers, and the open table."""

    def __init__(self) -> None:
        self.held = directory(2)
        for name in ("first", "second"):
            self.held.place(Record(name, Opened(GAME, "round-robin", entrants=2)))
        self.first, self.second = map(self.held.worker, ("first", "second"))
        assert self.first != self.second

    def led(self, name: str, tournament: str | None = None, now: float = 0.0) -> str | None:
        """Where a bot is led that comes without a token."""
        wanted = Wanted(name, GAME, tournament)
        self.held.served(wanted, now)
        return self.held.place_of(wanted)


def test_whoever_comes_while_others_are_on_their_way_to_the_last_places_is_led_on() -> None:
    """Catches one that is refused there, as it could be led to where there is room."""
    places = Places()
    led = [places.led(name) for name in ("ann", "bob", "bob", "cid", "dot", "eve")]
    assert led == ["first", "first", "first", "second", "second", ""]


def test_a_place_is_free_again_when_a_bot_that_was_on_its_way_to_it_was_refused() -> None:
    places = Places()
    for name, named in (("ann", "first"), ("bob", None)):
        places.led(name, named)
    places.held.moved(places.first, ANN, None)
    assert places.led("cid") == "first"
    assert places.led("dot") == "second"


async def test_a_bot_that_has_entered_takes_one_place() -> None:
    places = Places()
    remote = places.held.held["first" if places.first != OWN else "second"]
    name = remote.record.name
    places.led("ann", name)
    await places.held.hear(remote.record.kept_as, [Entered("ann")])
    assert places.led("bob", name) == name
    assert not places.held._has_room(remote.record, (GAME, "cid"))
    places.held.moved(places.held.worker(name), ANN, Present(name, "", shared=False))
    assert not places.held._has_room(remote.record, (GAME, "cid"))
    assert places.held._has_room(remote.record, (GAME, "bob")), "it is on its way there itself"


def test_bots_that_do_not_come_take_places_for_a_time_and_nothing_is_remembered_of_them() -> None:
    places = Places()
    for name in ("ann", "bob", "cid", "dot"):
        places.led(name)
    assert places.led("eve", now=SOON) == ""
    assert places.led("eve", now=SOON + 1) == "first"
    assert len(places.held._entering) == len(places.held._places) == 1


def test_an_entrant_of_a_ladder_that_is_full_comes_to_it_again() -> None:
    held = directory(1)
    held.place(ladder := Record("ladder", Opened(GAME, "ladder", entrants=1)))
    ladder.add(Entered("ann"))
    assert held.place_of(Wanted("ann", GAME, None)) == "ladder"
    assert held.place_of(Wanted("bob", GAME, None)) == ""


def test_an_entrant_with_its_token_comes_to_its_tournament_and_nobody_else_has_its_name() -> None:
    """Catches a stranger that keeps a bot out by coming to another worker under its name."""
    two = Two()
    monday, _ = two.held._records["monday"]
    for fact in (Entered("ann"), Claimed("ann", token_digest(OWN_TOKEN).hex())):
        monday.add(fact)
        two.held.told(SimpleNamespace(record=monday), fact)
    assert two.served("friday", "a stranger's") == two.served("friday", None) == Served(two.monday)
    assert two.served("friday") == Served(two.friday), "with its token it may play there as well"
    two.held.moved(two.friday, ANN, None)
    two.here(two.friday, "friday", "a stranger's")
    assert two.served("monday") == two.served(None) == Served(two.monday)


def test_an_entrant_without_a_token_comes_to_its_tournament_and_nobody_else_has_its_name() -> None:
    """Catches a stranger that keeps a bot of the c4-arena out, by coming between two of its matches."""
    two = Two()
    monday, _ = two.held._records["monday"]
    for fact in (Entered("ann"), Seated("ann", "c4-arena", "192.0.2.1")):
        monday.add(fact)
        two.held.told(SimpleNamespace(record=monday), fact)
    for name in ("Ann", "ann"):
        for token in (None, "a stranger's"):
            assert two.held.served(Wanted(name, GAME, "friday", token), 0.0) == Served(two.monday)
    assert two.held.served(Wanted("anna", GAME, "friday"), 0.0) == Served(two.friday)
    two.here(two.friday, "friday", "a stranger's")
    assert two.served(None, None) == Served(two.monday)
    finished = Turned(State.FINISHED)
    monday.add(finished)
    two.held.told(SimpleNamespace(record=monday), finished)
    two.held.moved(two.friday, ANN, None)
    assert two.held.served(Wanted("Ann", GAME, "friday"), 0.0) == Served(two.friday)


@pytest.mark.parametrize("token", [None, OWN_TOKEN])
@pytest.mark.parametrize(
    ("name", "door", "address"),
    [
        ("ann", "house", "192.0.2.1"),
        ("ann", "house", "192.0.2.2"),
        ("ann", "mcp", "192.0.2.1"),
        ("Ann", "house", "192.0.2.1"),
    ],
)
def test_an_entrant_without_a_token_may_play_elsewhere_too_and_nobody_else_may_under_its_name(
    name: str, door: str, address: str, token: str | None
) -> None:
    """Catches a bot that is told by the worker of its first tournament that there is no other one."""
    two = Two()
    monday, _ = two.held._records["monday"]
    for fact in (Entered("ann"), Seated("ann", "house", "192.0.2.1")):
        monday.add(fact)
        two.held.told(SimpleNamespace(record=monday), fact)
    its = (name, door, address) == ("ann", "house", "192.0.2.1")
    wanted = Wanted(name, GAME, "friday", token, door, address)
    assert two.held.served(wanted, 0.0) == Served(two.friday if its else two.monday)


def test_bots_without_tokens_share_a_name_where_their_dialect_lets_them() -> None:
    two = Two()
    for shared in (True, False):
        two.here(two.monday, "monday", "", shared=shared)
        assert two.served("friday", None) == Served(two.friday if shared else two.monday)
    two.here(two.monday, "monday", "", shared=True)
    assert two.served("friday", "ann's") == Served(two.monday)
