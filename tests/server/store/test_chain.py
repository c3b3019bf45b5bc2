"""The chain of a tournament's facts: what holds of it in every store, and of journals from before it."""

import shutil
import socket
import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from server import supervised
from server.exits import Unavailable
from server.store import journal, schema
from server.store.copies import backups
from server.store.journal import Engine, Jot, jot
from server.store.snapshots import folded
from server.store.sqlite import Sqlite
from server.store.sqlite_database import Connection, connected
from server.store.sqlite_reader import SqliteReader
from tests.server.store.faults import Faulty
from tests.server.store.shelves import SHELVES, Shelf, postgres
from tests.server.store.test_laws import EVERY_KIND, LOST, OPENED, PLAYED, WON
from tournament.chain import START, Heads, heads
from tournament.entries import DRAWN, PRIVATE, SALT, Entry, body, entry, fact, public
from tournament.facts import Claimed, Dealt, Entered, Ordered, Seated, Voided
from tournament.folding import fold
from tournament.store import Conflict

OLD = Path(__file__).parent / "journals" / "schema-1.sqlite"


@pytest.fixture(params=[*SHELVES, pytest.param("postgres", marks=pytest.mark.slow)])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    if request.param == "postgres":
        return postgres(request.getfixturevalue("server").database())
    return SHELVES[request.param](tmp_path)


def computed(rows: list[Entry]) -> list[str]:
    """The heads of one tournament, by what `docs/export.md` says of them and not by the code for it."""
    found, head = list[str](), bytes(32)
    for row in rows:
        shown, seal = row.body, ""
        if row.salt:
            part = public(fact(row.body))
            shown = "" if part is None else body(part)
            seal = sha256(f"{row.salt}\0{row.body}".encode()).hexdigest()
        line = "\0".join((row.tournament, repr(row.when), row.kind, row.key or "", shown, seal))
        head = sha256(head + sha256(line.encode()).digest()).digest()
        found.append(head.hex())
    return found


@pytest.mark.slow
async def test_a_receipt_is_the_head_of_the_chain_that_ends_with_the_fact(shelf: Shelf) -> None:
    async with shelf() as store:
        receipts = [
            *await store.keep("cup", 1.0, EVERY_KIND[:6]),
            *await store.keep("cup", 2.5, EVERY_KIND[6:]),
        ]
        rows = list(await store.entries("cup"))
        assert receipts == computed(rows)
        assert len(set(receipts)) == len(EVERY_KIND)
        assert await store.receipt("cup", PLAYED.match) == receipts[EVERY_KIND.index(PLAYED)]
        with pytest.raises(KeyError):
            await store.receipt("cup", "cup-3")
    async with shelf() as store:
        assert list(await store.entries("cup")) == rows
        more = await store.keep("cup", 3.0, [Entered("zoe")])
        assert [*receipts, *more] == computed(list(await store.entries("cup")))
        assert [row.number for row in await store.entries("cup", rows[3].number)] == [
            row.number for row in await store.entries("cup")
        ][4:]


async def test_chains_of_tournaments_are_apart(shelf: Shelf) -> None:
    async with shelf() as store:
        alone = [(await store.keep(name, 1.0, [OPENED]))[0] for name in ("cup", "league")]
        for name, first in zip(("cup", "league"), alone, strict=True):
            (second,) = await store.keep(name, 2.0, [Entered("ann")])
            assert [first, second] == computed(list(await store.entries(name)))
    assert alone[0] != alone[1], "a receipt says of which tournament it is"


async def test_what_is_kept_twice_is_in_the_chain_once_and_has_the_receipt_that_it_had(shelf: Shelf) -> None:
    async with shelf() as store:
        first = await store.keep("cup", 1.0, [OPENED, Entered("ann"), WON])
        again = await store.keep("cup", 9.0, [Entered("bob"), WON, Entered("ann")])
        assert list(again[1:]) == [first[2], first[1]]
        assert [*first, again[0]] == computed(list(await store.entries("cup")))
        with pytest.raises(Conflict):
            await store.keep("cup", 9.0, [Entered("zoe"), LOST])
        last = await store.keep("cup", 9.0, [Entered("cas")])
        assert [*first, again[0], *last] == computed(list(await store.entries("cup")))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "sqlite":
        found: Engine = Sqlite(tmp_path / "quintain.sqlite")
    else:
        from server.store.postgres import Postgres

        found = Postgres(request.getfixturevalue("server").database())
    yield found
    found.close()


def test_a_commit_whose_outcome_nobody_knows_changes_no_head(engine: Engine) -> None:
    """Catches a chain that goes on from heads that were only meant to be written, or has them twice."""
    rows = [entry(number, "cup", 1.0, fact) for number, fact in enumerate(EVERY_KIND, 1)]
    expected = heads(rows, Heads(lambda _: START))
    for after, there in ((False, 4), (True, 8)):
        faulty = Faulty(engine, 0, 1, after=after)
        with pytest.raises(Unavailable):
            faulty.write(rows[:there])
        # Whoever tries again has drawn new salts meanwhile: what is there keeps its own.
        again = [entry(row.number, "cup", 1.0, EVERY_KIND[row.number - 1]) for row in rows[: there + 2]]
        faulty.write(again)
        there_now = list(engine.kept(0, "cup"))
        assert [head.hex() for head in engine.write(again)] == computed(there_now)
    assert len(engine.write(rows)) == len(expected)
    assert [head.hex() for head in engine.write(rows)] == computed(list(engine.kept(0, "cup")))


def test_what_is_written_together_is_kept_whole_or_not_at_all(engine: Engine) -> None:
    """Catches half a tournament that a host goes on from, after an import or a restore that was killed."""
    rows = [entry(number, "cup", 1.0, fact) for number, fact in enumerate(EVERY_KIND, 1)]
    jots = [jot("cup-1", 1, (1,), (0.5,)), jot("cup-3", 1, (2,), (0.5,))]
    engine.write(rows[:1])

    def broken_off() -> Iterator[Sequence[Entry | Jot]]:
        yield jots
        yield rows[1:9]
        yield rows[9:12]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.write_together(broken_off())
    with pytest.raises(Conflict):
        engine.write_together([rows[5:], rows[:5]])
    assert (list(engine.kept()), list(engine.jotted())) == (rows[:1], [])
    engine.write_together([jots, rows[1:9], [], rows[9:12]])
    assert list(engine.jotted()) == jots
    assert [*engine.write(rows[:12]), *engine.write(rows[12:])] == heads(rows, Heads(lambda _: START))
    assert list(engine.kept()) == rows


def test_what_is_taken_out_is_gone_and_nothing_else_and_no_number_comes_again(engine: Engine) -> None:
    """Catches a new chain that goes on from the head of one that is no more."""
    names = ("cup", "league", "gone", "")
    rows = [entry(number, names[number % 4], 1.0, fact) for number, fact in enumerate(EVERY_KIND, 1)]
    engine.write(rows)
    mark = entry(len(rows) + 1, "", 2.0, Ordered("somebody", "archive", "gone"))
    with pytest.raises(Conflict):
        engine.take_out(["gone"], rows[0])
    assert list(engine.kept()) == rows
    engine.take_out(["gone", "nowhere", "cup"], mark)
    left = [row for row in rows if row.tournament in ("league", "")]
    assert list(engine.kept()) == [*left, mark]
    assert engine.last() == mark.number
    again = [
        entry(mark.number + 1, "cup", 3.0, OPENED),
        entry(mark.number + 2, "league", 3.0, Entered("zoe")),
    ]
    found = [head.hex() for head in engine.write(again)]
    assert found == [computed(list(engine.kept(0, name)))[-1] for name in ("cup", "league")]


class Unclear:
    """A connection that loses the answer to its next commit."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.lost = False

    def execute(self, sql: str, *parameters: Any) -> Any:
        done = self._connection.execute(sql, *parameters)
        if sql == "COMMIT" and self.lost:
            self.lost = False
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_a_chain_goes_on_from_what_is_there_and_not_from_what_was_last_known(tmp_path: Path) -> None:
    """Catches an engine that goes on from the head before a commit that was done, and that nobody repeats."""
    connections: list[Unclear] = []

    def connect(path: Path) -> Connection:
        connections.append(Unclear(connected(path)))
        return connections[-1]

    engine = Sqlite(tmp_path / "quintain.sqlite", connect=connect)
    engine.write([entry(1, "cup", 1.0, OPENED)])
    connections[0].lost = True
    with pytest.raises(Unavailable):
        engine.write([entry(2, "cup", 1.0, Entered("ann"))])
    (head,) = engine.write([entry(3, "cup", 1.0, Entered("bob"))])
    there = list(engine.kept(0, "cup"))
    assert (len(there), head.hex()) == (3, computed(there)[-1])
    engine.close()


def test_a_fact_that_is_all_public_has_no_salt_and_any_other_has_one_of_its_own() -> None:
    seat = Seated("ann", "tcp", "192.0.2.1")
    two = entry(1, "cup", 1.0, seat), entry(1, "cup", 1.0, seat)
    assert two[0].salt != two[1].salt, "nobody finds out an address by trying all there are"
    for each in EVERY_KIND:
        assert bool(entry(1, "cup", 1.0, each).salt) is (public(each) is not each), each
    assert entry(1, "cup", 1.0, Dealt("cup-1", 1)).salt == ""


def test_what_only_the_organiser_may_know_is_public_nowhere() -> None:
    secret = "7f3a secret"
    told = [Claimed("ann", secret), Seated("ann", "tcp", secret), Ordered(secret, "void", secret)]
    assert [public(fact) for fact in told] == [None, None, None]
    ways = f"arena {secret}", f"hexagon-dots /g/1 {secret}"
    parts = [Dealt("cup-1", 1, None, (secret, secret), ways), Voided("cup-1", secret)]
    assert all(secret not in body(part) for fact in parts if (part := public(fact)) is not None)
    assert {type(fact) for fact in EVERY_KIND if public(fact) is None} == set(PRIVATE)


# Journals from before there were chains


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copy(OLD, tmp_path / "quintain.sqlite"))


def raw(path: Path) -> list[tuple[Any, ...]]:
    connection = connected(path)
    try:
        query = "SELECT number, tournament, at, kind, key, body FROM journal ORDER BY number"
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_journal_of_schema_1_is_upgraded_with_every_result_as_it_was_and_a_copy_kept(old: Path) -> None:
    before, expected = raw(old), msgspec.json.decode(OLD.with_suffix(".json").read_bytes())
    engine = Sqlite(old)
    try:
        assert raw(old) == before
        records = fold(map(journal.kept, engine.kept()))
        for name, told in expected.items():
            rows = [
                {key: msgspec.to_builtins(row)[key] for key in told["standings"][0]}
                for row in records[name].standings()
            ]
            assert rows == told["standings"], name
            assert str(records[name].state) == told["state"]
            assert sorted(records[name].entrants) == told["entrants"]
            for result in told["results"]:
                match = journal.concluded(engine, name, result["match"])
                found = msgspec.json.encode({key: getattr(match, key) for key in result})
                assert msgspec.json.decode(found) == result
        (copy,) = backups(old).iterdir()
        assert raw(copy) == before
        for name in records:
            rows = list(engine.kept(0, name))
            for row, head in zip(rows, computed(rows), strict=True):
                if row.kind == "concluded" and row.key is not None:
                    assert engine.receipt(name, row.key.partition(" ")[2]) == head
        salted = {row.kind for row in engine.kept() if row.salt}
        assert {"seated", "claimed", "ordered"} <= salted
    finally:
        engine.close()


def test_an_upgrade_says_how_far_it_is_and_the_service_manager_is_asked_to_wait(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an upgrade of millions that systemd ended after ten minutes, and had begin again."""
    monkeypatch.setattr(schema, "MUCH", 100)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "manager"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "manager"))
        manager.setblocking(False)
        with capture_logs() as told:
            Sqlite(old).close()
        upgraded = [line["entries"] for line in told if "is upgraded" in line["event"] and "entries" in line]
        assert upgraded == list(range(100, len(raw(old)) + 1, 100)) != []
        for _ in range(1 + len(upgraded)):  # the first before the copy
            assert manager.recv(100).decode() == supervised.MORE_TIME


def test_no_two_lines_have_the_same_salt() -> None:
    """Catches salts that are drawn in advance and given out twice: equal facts would have equal seals."""
    seated = Seated("ann", "tcp", "192.0.2.1")
    salts = [entry(number, "cup", 0.0, seated).salt for number in range(3 * DRAWN)]
    assert len(set(salts)) == len(salts)
    assert {len(bytes.fromhex(salt)) for salt in salts} == {SALT}


async def test_a_chain_goes_on_from_an_upgraded_journal(old: Path) -> None:
    engine = Sqlite(old)
    (name, *_) = folded(engine, None).records
    before = list(engine.kept(0, name))
    (head,) = engine.write([entry(engine.last() + 1, name, 1e10, Entered("zoe"))])
    assert head.hex() == computed([*before, list(engine.kept(0, name))[-1]])[-1]
    engine.close()
    reader = SqliteReader(old)
    assert list(reader.kept(0, name))[:-1] == before
    reader.close()


@pytest.mark.slow
def test_a_journal_of_schema_1_in_postgresql_is_upgraded_as_well(server: Any, tmp_path: Path) -> None:
    import psycopg

    from server.store import postgres

    url = server.database()
    first = postgres.MIGRATIONS[0].read_text()
    rows = raw(OLD)
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(first)
        session.execute("CREATE TABLE quintain_schema (version integer NOT NULL)")
        session.execute("INSERT INTO quintain_schema VALUES (1)")
        with session.cursor() as cursor:
            cursor.executemany("INSERT INTO journal VALUES (%s, %s, %s, %s, %s, %s)", rows)
    engine = postgres.Postgres(url, tmp_path / "backups")
    try:
        (copy,) = (tmp_path / "backups").iterdir()
        assert raw(copy) == rows
        assert [(r.number, r.tournament, r.when, r.kind, r.key, r.body) for r in engine.kept()] == rows
        for name in {row[1] for row in rows}:
            own = list(engine.kept(0, name))
            heads = computed(own)
            for row, head in zip(own, heads, strict=True):
                if row.kind == "concluded" and row.key is not None:
                    assert engine.receipt(name, row.key.partition(" ")[2]) == head
            (more,) = engine.write([entry(engine.last() + 1, name, 1e10, Entered("zoe"))])
            assert more.hex() == computed(list(engine.kept(0, name)))[-1]
    finally:
        engine.close()


def test_an_engine_knows_when_the_latest_of_each_tournament_was_kept(engine: Engine) -> None:
    assert engine.latest() == {}
    rows = [("b", 3.0), ("", 2.0), ("a", 5.0), ("b", 1.5), ("a~2", 4.0)]
    engine.write([Entry(n, name, when, "ordered", None, "{}") for n, (name, when) in enumerate(rows, 1)])
    assert list(engine.latest().items()) == [("b", 1.5), ("", 2.0), ("a", 5.0), ("a~2", 4.0)]
