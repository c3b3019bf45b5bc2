"""The snapshot beside the journal: a start with it is a start without it, only sooner."""

import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from structlog.testing import capture_logs

from server.commands.kept_tournament import kept_tournament
from server.exits import Failure
from server.store import snapshots
from server.store.snapshots import FILE, OF_WHOLE, Folded, folded, load, refresh, save
from server.store.sqlite import Sqlite
from tests.tournament.histories import history
from tests.tournament.test_columns import said as shown
from tests.tournament.test_snapshot import known
from tests.tournament.test_tally import forgetful
from tournament import entries
from tournament.entries import Entry
from tournament.events import Ending
from tournament.facts import (
    HOST,
    AnyFact,
    Concluded,
    Dealt,
    Drew,
    Entered,
    Froze,
    Opened,
    Ordered,
    State,
    Turned,
)
from tournament.format import Pairing, formats
from tournament.tally import Tallies

pytestmark = pytest.mark.slow

TABLES = {"open-a": "open", "open-b": "ladder", "cup": "round-robin"}
ENDLESS = ("open-a", "open-b")
FACTS = 200  # of each


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    """Little is much here."""
    with forgetful(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(snapshots, "MANY", 10)
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / FILE


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Sqlite]:
    engine = Sqlite(tmp_path / "quintain.sqlite")
    yield engine
    engine.close()


def happened() -> list[tuple[str, AnyFact]]:
    """To three tournaments in turns, and orders in between."""
    lives: list[list[tuple[str, AnyFact]]] = []
    for seed, (name, format) in enumerate(TABLES.items()):
        opened, facts = history(format, Random(seed), FACTS)
        texts = [entries.entry(1, "", 0.0, fact).body.replace("cup-", f"{name}-") for fact in facts]
        lives.append([(name, opened), *((name, entries.fact(text)) for text in texts)])
    orders = [(HOST, Ordered("me", "look", str(number))) for number in range(FACTS)]
    return [fact for facts in zip(*lives, orders, strict=False) for fact in facts]


def write(engine: Sqlite, facts: list[tuple[str, AnyFact]]) -> None:
    last = engine.last()
    rows = [entries.entry(last + 2 * n, *named(fact, n)) for n, fact in enumerate(facts, 1)]
    engine.write(rows)


def named(fact: tuple[str, AnyFact], when: float) -> tuple[str, float, AnyFact]:
    return fact[0], when, fact[1]


def said(found: Folded) -> tuple[object, ...]:
    return {name: known(record) for name, record in found.records.items()}, found.audit, found.number


def test_a_start_with_a_snapshot_of_any_age_knows_what_one_without_knows(engine: Sqlite, path: Path) -> None:
    facts = happened()
    for some in (facts[:150], facts[150:151], facts[151:400], [], facts[400:]):
        write(engine, some)
        assert said(folded(engine, path)) == said(folded(engine, None))
        refresh(engine, path)
        assert path.exists()
        assert folded(engine, path).since < snapshots.MANY
        assert said(folded(engine, path)) == said(folded(engine, None))
    orders = [fact for _, fact in facts if isinstance(fact, Ordered)]
    assert [entry.fact for entry in folded(engine, path).audit] == orders


def test_whole_records_have_snapshots_too(engine: Sqlite, tmp_path: Path) -> None:
    """As for a host that does everything in one process; those of tournaments with an end are read again."""
    facts = happened()
    for some in (facts[:150], facts[150:151], facts[151:400], [], facts[400:]):
        write(engine, some)
        whole = folded(engine, None, whole=True)
        for _ in range(2):
            records, audit = load(engine, tmp_path, whole=True)
            assert all(record.whole for record in records.values())
            assert [*records] == [*whole.records]
            assert {name: shown(record) for name, record in records.items()} == {
                name: shown(record) for name, record in whole.records.items()
            }
            assert audit == whole.audit
    assert folded(engine, tmp_path / OF_WHOLE, whole=True).since < snapshots.MANY


def test_what_is_over_is_not_read_again(engine: Sqlite, tmp_path: Path) -> None:
    """Catches that the process for pages read all matches of all tournaments at each start."""
    facts: list[AnyFact] = [Opened("tic-tac-toe", "round-robin"), *map(Entered, "ab"), Turned(State.RUNNING)]
    facts += [Drew((Pairing(1, 1, "a", "b"),)), Dealt("cup-1", 1)]
    facts += [Concluded("cup-1", 1, ("a", "b"), 0, Ending.PLAYED, "so", (1.0, 0.0)), Turned(State.FINISHED)]
    for name in ("cup", "cap"):
        write(
            engine,
            [
                (name, entries.fact(entries.entry(1, "", 0.0, fact).body.replace("cup", name)))
                for fact in facts
            ],
        )
    write(engine, [("going", Opened("tic-tac-toe", "round-robin"))])
    deleted: list[AnyFact] = [Opened("tic-tac-toe", "round-robin"), Entered("a"), Turned(State.DELETED)]
    write(engine, [("gone", fact) for fact in deleted])
    read = list[str | None]()

    class Counting(Sqlite):
        def kept(self, after: int = 0, tournament: str | None = None) -> Iterator[Entry]:
            read.append(tournament)
            return super().kept(after, tournament)

    for whole, again in ((True, ["going"]), (False, [])):
        first, _ = load(engine, tmp_path, whole=whole)
        with closing(Counting(tmp_path / "quintain.sqlite")) as counting:
            second, _ = load(counting, tmp_path, whole=whole)
        assert [name for name in read if name is not None] == again
        assert second["gone"].state is first["gone"].state is State.DELETED
        assert {name: known(record) for name, record in second.items()} == {
            name: known(record) for name, record in first.items()
        }
        read.clear()


def test_a_start_says_how_far_it_is_if_it_reads_much(
    engine: Sqlite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MUCH", 100)
    write(engine, happened()[:250])
    told = list[int]()
    load(engine, tmp_path, told=told.append)
    numbers = [entry.number for entry in engine.kept()]
    assert told == [numbers[99], numbers[199]]
    told.clear()
    load(engine, tmp_path, told=told.append)  # with a snapshot there is nothing to read
    assert told == []


def test_a_snapshot_for_another_way_of_starting_is_not_taken(engine: Sqlite, path: Path) -> None:
    write(engine, happened())
    for whole in (True, False):
        save(path, folded(engine, None, whole=whole))
        assert not any(
            record.whole is whole for record in folded(engine, path, whole=not whole).records.values()
        )


def test_a_new_one_is_taken_when_much_has_been_written_and_no_sooner(engine: Sqlite, path: Path) -> None:
    facts = happened()
    write(engine, facts[:9])
    assert refresh(engine, path) == 0
    assert not path.exists()
    write(engine, facts[9:10])
    assert refresh(engine, path) == engine.last()
    before = path.read_bytes()
    write(engine, facts[10:19])
    assert refresh(engine, path) < engine.last()
    assert path.read_bytes() == before


def lies(known: Folded) -> None:
    """What it says is not so: had it been believed, somebody would notice."""
    for record in known.records.values():
        record.results.tallies = Tallies()
        record.ended += 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"a cable", b"a Cable").replace(b"open-a-1", b"open-a-3"),
        lambda content: b"x" + content[1:],
        lambda content: content + b"x",
        lambda content: content[:60] + bytes(200) + content[260:],
    ],
    ids=["empty", "half", "another text", "another kind", "longer", "zeros"],
)
def test_a_damaged_snapshot_costs_time_and_nothing_else(
    engine: Sqlite, path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    write(engine, happened())
    expected = said(folded(engine, None))
    refresh(engine, path)
    path.write_bytes(spoil(path.read_bytes()))
    assert said(folded(engine, path)) == expected
    refresh(engine, path)
    assert folded(engine, path).since == 0, "it is good again"


def test_a_snapshot_of_another_version_is_not_believed(
    engine: Sqlite, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(engine, happened())
    found = folded(engine, None)
    lies(found)
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "VERSION", snapshots.VERSION + 1)
        save(path, found)
    assert said(folded(engine, path)) == said(folded(engine, None))


@pytest.mark.parametrize("kept", [200, 400, 600])
def test_a_snapshot_of_another_journal_is_not_believed(
    engine: Sqlite, path: Path, tmp_path: Path, kept: int
) -> None:
    """As after a backup was restored: it may be shorter or longer, and something else has happened since."""
    facts = happened()
    other = Sqlite(tmp_path / "other.sqlite")
    write(other, facts[:400])
    found = folded(other, None)
    lies(found)
    save(path, found)
    other.close()
    write(engine, facts[:150])
    write(engine, [(HOST, Ordered("me", "restore"))])
    write(engine, facts[150 : kept - 1])
    assert said(folded(engine, path)) == said(folded(engine, None))


@pytest.mark.parametrize("format", formats())
@pytest.mark.parametrize("state", [None, State.FINISHED])
def test_a_folder_is_shown_as_its_journal_says_whatever_the_snapshot(
    engine: Sqlite, tmp_path: Path, format: str, state: State | None
) -> None:
    """It may be of any age, damaged, of another host's journal, or of records that are not whole."""
    opened, facts = history(format, Random(3), FACTS)
    told = [("cup", fact) for fact in (opened, *facts, *([Turned(state)] if state else ()))]
    path, elsewhere = tmp_path / OF_WHOLE, tmp_path / "elsewhere"
    elsewhere.mkdir()
    with closing(Sqlite(elsewhere / "quintain.sqlite")) as other:
        write(other, [*told[:100], (HOST, Ordered("me", "restore")), *told[101:]])
        save(path, folded(other, None, whole=True))
    foreign = path.read_bytes()
    for some in (told[:150], told[150:]):
        write(engine, [*some, (HOST, Ordered("me", "look"))])
        path.unlink(missing_ok=True)
        found = kept_tournament(tmp_path, "cup")

        def assert_same(found: object = found) -> None:
            assert kept_tournament(tmp_path, "cup") == found

        path.write_bytes(foreign)
        assert_same()
        for whole in (False, True):
            save(path, folded(engine, None, whole=whole))
            assert_same()
        taken = path.read_bytes()
        path.write_bytes(taken[:-1])
        assert_same()
        path.write_bytes(taken)  # which is older than what comes next
        write(engine, [("cup", Froze(True)), ("cup", Entered("newcomer"))])
        aged = kept_tournament(tmp_path, "cup")
        path.unlink()
        assert kept_tournament(tmp_path, "cup") == aged


def test_what_a_snapshot_knows_of_a_tournament_is_not_read_again_to_show_it(
    engine: Sqlite, tmp_path: Path
) -> None:
    """Catches half a minute for a ladder of 200,000 matches, of which a host that starts reads nothing."""
    facts = happened()
    write(engine, [*facts, ("gone", Opened("tic-tac-toe", "ladder")), ("gone", Turned(State.DELETED))])
    write(engine, [(HOST, Ordered("me", "look"))])
    found = {name: kept_tournament(tmp_path, name) for name in ENDLESS}
    save(tmp_path / OF_WHOLE, folded(engine, None, whole=True))
    with closing(sqlite3.connect(tmp_path / "quintain.sqlite", isolation_level=None)) as connection:
        connection.execute("UPDATE journal SET body = 'unreadable' WHERE tournament <> ?", (HOST,))
    assert {name: kept_tournament(tmp_path, name) for name in ENDLESS} == found
    with pytest.raises(Failure, match="there is no tournament 'gone'"):
        kept_tournament(tmp_path, "gone")


def test_a_snapshot_is_nobody_elses_to_read_and_never_half_there(engine: Sqlite, path: Path) -> None:
    write(engine, happened())
    refresh(engine, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not [*path.parent.glob("*.part")]


def test_a_snapshot_that_finds_no_room_leaves_nothing_behind(engine: Sqlite, path: Path) -> None:
    """A host whose disk is full waits for the room that it takes."""
    write(engine, happened())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with capture_logs() as logged:
            save(path, folded(engine, None))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [line["event"] for line in logged] == ["no snapshot could be written: the next start reads more"]
    assert not [*path.parent.glob(f"{path.name}*")]


def test_where_no_snapshot_can_be_written_nothing_else_fails(engine: Sqlite, tmp_path: Path) -> None:
    write(engine, happened())
    path = tmp_path / "no such folder" / FILE
    refresh(engine, path)
    assert said(folded(engine, path)) == said(folded(engine, None))
