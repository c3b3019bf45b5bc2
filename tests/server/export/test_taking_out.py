"""`quintain archive`: what is taken out of a store is in a file, and all else stays as it was."""

import os
import re
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from server.commands.archive import archive
from server.commands.keeping import StoreOptions, import_
from server.commands.kept_tournament import kept_tournament
from server.exits import DONE, FAILED, Failure, Misuse, Unavailable
from server.export.passing import More, nobody_looks
from server.export.taking_out import take_out
from server.export.transfer import READINGS, bring_in, leaving
from server.export.verify import verify
from server.store.choice import beside
from server.store.data_folder import JOURNAL, locked, prepared
from server.store.schema import NothingKept
from server.store.snapshots import FILE, folded, save
from server.store.sqlite import Sqlite
from tests.server.exports import simulated
from tests.server.store.faults import little_room
from tournament import entries
from tournament.entries import Entry
from tournament.facts import HOST, AnyFact, Dealt, Drew, Entered, Kept, Opened, State, Turned
from tournament.format import Pairing

pytestmark = pytest.mark.slow

DAY = 86_400.0  # seconds
TABLE = "open-tic-tac-toe"
AT_THE_TABLE: tuple[AnyFact, ...] = (
    Opened("tic-tac-toe", "open"),
    Turned(State.RUNNING),
    Entered("ann"),
    Entered("bob"),
    Drew((Pairing(1, 1, "ann", "bob"),)),
)
IN_PLAY = Dealt(f"{TABLE}-1", 1)


def over(name: str, later: float = 0.0) -> list[Kept]:
    """A tournament that is over."""
    own = [each for each in simulated(7) if each.tournament == "one"]
    bodies = [entries.body(each.fact).replace('"one-', f'"{name}-') for each in own]
    return [Kept(name, each.when + later, entries.fact(body)) for each, body in zip(own, bodies, strict=True)]


def everything() -> list[Kept]:
    """Two tournaments that are over, mixed, one that was deleted, an open table, and one to come."""
    mixed = [each for pair in zip(over("one"), over("two", time.time()), strict=True) for each in pair]
    deleted = [Kept("gone", 3.0, Opened("tic-tac-toe", "swiss")), Kept("gone", 4.0, Turned(State.DELETED))]
    table = [Kept(TABLE, 5.0, fact) for fact in AT_THE_TABLE]
    return [*mixed, *deleted, *table, Kept("soon", 6.0, Opened("tic-tac-toe", "round-robin"))]


def keep(path: Path, facts: Sequence[Kept]) -> None:
    with closing(Sqlite(path)) as engine:
        first = engine.last() + 1
        engine.write(
            [entries.entry(n, each.tournament, each.when, each.fact) for n, each in enumerate(facts, first)]
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with everything."""
    folder = prepared(str(tmp_path / "data"))
    keep(folder / JOURNAL, everything())
    return folder


@pytest.fixture
def where(folder: Path) -> StoreOptions:
    return StoreOptions(data=str(folder))


def kept(where: StoreOptions) -> dict[str, bytes]:
    """What is exported of each tournament."""
    with closing(beside(where.settings())) as reader:
        return {name: b"".join(leaving(reader, [name])) for name in reader.latest() if name != HOST}


def test_an_archive_is_sound_and_brings_back_what_was_taken_out(where: StoreOptions, tmp_path: Path) -> None:
    before, file = kept(where), tmp_path / "new" / "one.jsonl"
    assert archive("one", to=str(file), where=where) == DONE
    assert kept(where) == {name: told for name, told in before.items() if name != "one"}
    assert file.read_bytes() == before["one"]
    assert file.stat().st_mode & 0o077 == 0, "it has what only the host should know"
    with file.open("rb") as source:
        assert verify(source).findings == []
    assert import_(str(file), where=where) == DONE
    assert kept(where) == before


def test_what_has_a_name_again_is_left_as_it_is(where: StoreOptions, folder: Path, tmp_path: Path) -> None:
    archive("one", to=str(tmp_path / "one.jsonl"), where=where)
    keep(folder / JOURNAL, [Kept("one", 9.0, Opened("connect-4", "swiss"))])
    before = kept(where)
    with closing(Sqlite(folder / JOURNAL)) as engine, (tmp_path / "one.jsonl").open("rb") as source:
        assert bring_in(source, engine, tmp_path) == {"one": None}
    assert kept(where) == before


def test_what_the_next_start_would_open_anew_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "quintain.toml").write_text('[[tournament]]\nname = "one"\ngame = "tic-tac-toe"\n')
    where = StoreOptions(data=str(folder), config=str(tmp_path / "quintain.toml"))
    archive("two", to=str(tmp_path / "two.jsonl"), where=where)
    assert not capsys.readouterr().err
    archive("one", to=str(tmp_path / "one.jsonl"), where=where)
    said = "quintain: the configuration has one: the next start opens it anew"
    assert capsys.readouterr().err.splitlines() == [said]


def test_a_name_that_was_used_before_means_the_latest_wherever_the_others_come_from(
    where: StoreOptions, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches an export of what was deleted long ago, in place of what people know by that name."""
    (tmp_path / "quintain.toml").write_text('[[tournament]]\nname = "gone"\ngame = "tic-tac-toe"\n')
    again = [Kept("gone~2", each.when, each.fact) for each in over("gone", 9.0)]
    keep(folder / JOURNAL, again)
    where = StoreOptions(data=str(folder), config=str(tmp_path / "quintain.toml"))
    latest = kept(where)["gone~2"]
    archive("gone~1", to=str(tmp_path / "first.jsonl"), where=where)
    assert not capsys.readouterr().err, "it is there still"
    import_(str(tmp_path / "first.jsonl"), where=where)
    assert kept(where)["gone"] == latest
    assert kept_tournament(folder, "gone")["state"] == "finished"
    archive("gone", to=str(tmp_path / "second.jsonl"), where=where)
    said = "quintain: the configuration has gone: the next start opens it anew"
    assert capsys.readouterr().err.splitlines() == [said]
    assert (tmp_path / "second.jsonl").read_bytes() == latest


def test_a_name_means_what_is_not_deleted_also_where_a_clock_was_set_back_since(
    where: StoreOptions, folder: Path, tmp_path: Path
) -> None:
    """Catches a tournament that was not there, and its name an archive of what had been deleted before it.

    The other host of a database may have another time, too.
    """
    before = [Kept("cup", 1e9, Opened("tic-tac-toe", "swiss")), Kept("cup", 1e9, Turned(State.DELETED))]
    keep(folder / JOURNAL, [*before, *(Kept("cup~2", each.when, each.fact) for each in over("cup"))])
    assert kept_tournament(folder, "cup")["state"] == "finished"
    found = kept(where)
    assert found["cup"] == found["cup~2"]
    archive("cup", to=str(tmp_path / "cup.jsonl"), where=where)
    assert (tmp_path / "cup.jsonl").read_bytes() == found["cup~2"]
    assert kept(where).keys() == found.keys() - {"cup~2"}


def test_no_number_of_an_entry_is_used_again(where: StoreOptions, folder: Path, tmp_path: Path) -> None:
    """Catches webhooks that are not told of what has the numbers of what was taken out."""
    with closing(beside(where.settings())) as reader:
        last = reader.last()
    keep(folder / JOURNAL, over("latest"))
    archive("latest", to=str(tmp_path / "latest.jsonl"), where=where)
    with closing(beside(where.settings())) as reader:
        (mark,) = reader.kept(last)
    assert (mark.number, mark.tournament, mark.kind) == (last + len(over("latest")) + 1, HOST, "ordered")
    assert '"latest, to latest.jsonl"' in mark.body


def test_the_room_is_given_back(where: StoreOptions, folder: Path, tmp_path: Path) -> None:
    before = (folder / JOURNAL).stat().st_size
    archive("one", "two", to=str(tmp_path / "both.jsonl"), where=where)
    assert (folder / JOURNAL).stat().st_size < before


def test_what_has_been_over_for_long_is_taken_out_and_nothing_else(
    where: StoreOptions, tmp_path: Path
) -> None:
    """Nothing was heard of the open table and of the one to come for longer."""
    archive(days=1, to=str(tmp_path / "old.jsonl"), where=where)
    assert set(kept(where)) == {"two", TABLE, "soon"}
    archive(days=1, to=str(tmp_path / "older.jsonl"), where=where)
    assert not (tmp_path / "older.jsonl").exists(), "there was nothing to archive"


def test_a_preview_changes_nothing(
    where: StoreOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = kept(where)
    archive("one", "gone", preview=True, to=str(tmp_path / "one.jsonl"), where=where)
    assert kept(where) == before
    assert not (tmp_path / "one.jsonl").exists()
    assert capsys.readouterr().out.splitlines() == [f"one: {len(over('one'))} facts", "gone: 2 facts"]


def test_a_start_from_a_snapshot_does_not_show_what_was_taken_out(
    where: StoreOptions, folder: Path, tmp_path: Path
) -> None:
    """Catches a tournament that is listed though nothing of it can be read.

    The folder's own snapshot goes, or each start would log that it is of no use; other folders may have one.
    """
    keep(folder / JOURNAL, [Kept("soon", 7.0, Entered("ann"))])
    elsewhere = tmp_path / FILE
    with closing(beside(where.settings())) as reader:
        for path in (folder / FILE, elsewhere):
            save(path, folded(reader, None))
    archive("one", "gone", TABLE, to=str(tmp_path / "one.jsonl"), where=where)
    assert not (folder / FILE).exists()
    with closing(beside(where.settings())) as reader:
        assert set(folded(reader, elsewhere).records) == {"two", "soon"}
    keep(folder / JOURNAL, [Kept(name, 8.0, Opened("connect-4", "swiss")) for name in ("one", "gone", TABLE)])
    with closing(beside(where.settings())) as reader:
        records = folded(reader, elsewhere).records
    new = {name for name, each in records.items() if each.opened.game == "connect-4"}
    assert new == {"one", "gone", TABLE}
    assert not any(records[name].entrants for name in new)
    assert kept_tournament(folder, "one")["game"] == "connect-4"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("soon", "soon is not over, but registering: end or delete it first, on the running host"),
        (TABLE, f"{TABLE} has matches in play, such as {IN_PLAY.match}: start the host again to end them"),
        ("nowhere", "there is no tournament 'nowhere'; there are: one, two, gone, "),
    ],
)
def test_what_may_go_on_stays(name: str, why: str, where: StoreOptions, folder: Path, tmp_path: Path) -> None:
    keep(folder / JOURNAL, [Kept(TABLE, 7.0, IN_PLAY)])
    before = kept(where)
    with pytest.raises(Failure, match=why):
        archive("one", name, to=str(tmp_path / "one.jsonl"), where=where)
    assert kept(where) == before
    assert not (tmp_path / "one.jsonl").exists()


def test_a_file_that_is_there_or_cannot_be_written_costs_nothing(
    where: StoreOptions, folder: Path, tmp_path: Path
) -> None:
    before, file = kept(where), tmp_path / "one.jsonl"
    with (
        closing(Sqlite(folder / JOURNAL)) as engine,
        little_room(2_000),
        pytest.raises(Failure, match=r"one\.jsonl: cannot be written: File too large"),
    ):
        take_out(engine, folder, ["one"], file)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data"], "nothing is left of it"
    file.write_text("mine")
    with pytest.raises(Failure, match=r"one\.jsonl: there is a file of that name already"):
        archive("one", to=str(file), where=where)
    assert file.read_text() == "mine"
    assert kept(where) == before


def test_what_somebody_has_changed_stays(where: StoreOptions, folder: Path, tmp_path: Path) -> None:
    """Catches the last trace of it that is thrown away, as the chain of the file would be whole."""
    with closing(sqlite3.connect(folder / JOURNAL)) as connection, connection:
        connection.execute("UPDATE journal SET at = at + 1 WHERE tournament = 'one' AND kind = 'drew'")
    before = kept(where)
    why = r"one was changed in the store: the receipt for one-[0-9]+ no longer fits"
    with pytest.raises(Failure, match=why):
        archive("one", to=str(tmp_path / "one.jsonl"), where=where)
    assert kept(where) == before
    assert not (tmp_path / "one.jsonl").exists()


def test_what_somebody_has_changed_keeps_nothing_else_in_the_store(
    where: StoreOptions, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(folder / JOURNAL)) as connection, connection:
        connection.execute("UPDATE journal SET at = at + 1 WHERE tournament = 'one' AND kind = 'drew'")
    before = kept(where)
    for preview in (True, False):
        assert archive(days=1, to=str(tmp_path / "old.jsonl"), preview=preview, where=where) == FAILED
        out, err = capsys.readouterr()
        assert out.splitlines()[0] == "gone: 2 facts"
        assert re.fullmatch(r"quintain: one was changed in the store: .*, so it stays in the store\n", err)
    assert kept(where) == {name: told for name, told in before.items() if name != "gone"}
    assert archive(days=1, to=str(tmp_path / "older.jsonl"), where=where) == FAILED
    assert not (tmp_path / "older.jsonl").exists(), "there was nothing to archive"


def test_what_no_import_would_take_back_stays(where: StoreOptions, folder: Path, tmp_path: Path) -> None:
    """Catches an archive that is of no use, which is found out years later."""
    strange = [*over("two")[:5], Kept("two", 1.0, Entered("nobody, as it is too late")), *over("two")[5:]]
    keep(folder / JOURNAL, [Kept("odd", each.when, each.fact) for each in strange])
    before = kept(where)
    why = r"nothing was taken out, because no import would take it back: line [0-9]+"
    with pytest.raises(Failure, match=why):
        archive("odd", to=str(tmp_path / "one.jsonl"), where=where)
    assert kept(where) == before
    assert not (tmp_path / "one.jsonl").exists()


@contextmanager
def another_comes_first(folder: Path, file: Path, what: str) -> Iterator[More]:
    """Another host's archive gets the name of a file while what is to have it is checked."""
    if what == "check":
        with closing(Sqlite(folder / JOURNAL)) as other:
            take_out(other, folder, ["two"], file)
    yield nobody_looks


def test_two_hosts_whose_archives_are_to_have_one_name_lose_nothing(
    folder: Path, where: StoreOptions, tmp_path: Path
) -> None:
    """Catches a tournament that is in neither store, and whose file the other archive has replaced."""
    theirs, file, before = prepared(str(tmp_path / "theirs")), tmp_path / "2029.jsonl", kept(where)
    keep(theirs / JOURNAL, everything())
    two = kept(StoreOptions(data=str(theirs)))["two"]
    shown = partial(another_comes_first, theirs, file)
    with (
        closing(Sqlite(folder / JOURNAL)) as engine,
        pytest.raises(Failure, match=r"2029\.jsonl: there is a file of that name already"),
    ):
        take_out(engine, folder, ["one"], file, shown=lambda what, whole: shown(what))
    assert kept(where) == before
    assert file.read_bytes() == two


def test_a_file_may_have_any_name(where: StoreOptions, tmp_path: Path) -> None:
    """Catches a file that is written, and a command that fails because the order cannot name it."""
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/of \xff.jsonl"))
    assert archive("one", to=str(file), where=where) == DONE
    assert "one" not in kept(where)


def test_a_store_that_fails_at_last_says_that_the_file_is_there(
    folder: Path, where: StoreOptions, tmp_path: Path
) -> None:
    before, file = kept(where), tmp_path / "one.jsonl"

    class Full(Sqlite):
        def take_out(self, tournaments: Collection[str], mark: Entry) -> None:
            with little_room(1000):
                super().take_out(tournaments, mark)

    with (
        closing(Full(folder / JOURNAL)) as engine,
        pytest.raises(Unavailable, match=r"one\.jsonl is whole, but perhaps nothing was taken out"),
    ):
        take_out(engine, folder, ["one"], file)
    assert kept(where) == before
    assert file.read_bytes() == before["one"]


@pytest.mark.parametrize(("name", "lines"), [("one", 1), ("one", 12), ("two", 1)])
def test_an_export_meanwhile_is_whole_or_fails(
    name: str, lines: int, where: StoreOptions, tmp_path: Path
) -> None:
    """Catches a file that ends in the middle of a tournament, and an exit code that says that it is whole."""
    with closing(beside(where.settings())) as reader:
        export = leaving(reader, ["one", "two"])
        for _ in range(lines):
            next(export)
        archive(name, to=str(tmp_path / "one.jsonl"), where=where)
        with pytest.raises(Failure, match="was archived while it was being exported"):
            list(export)


class Hiding(Sqlite):
    """Does not show the last fact of a tournament for some readings, and then does."""

    hides = count(1)

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:  # pyright: ignore
        rows = list(super().kept(after, tournament))
        return rows[:-1] if tournament and next(self.hides) <= 1 + READINGS else rows


def test_what_the_file_lacks_stays_too(folder: Path, where: StoreOptions, tmp_path: Path) -> None:
    before = kept(where)
    with closing(Hiding(folder / JOURNAL)) as engine, pytest.raises(Failure, match="is not what is kept"):
        take_out(engine, folder, ["one"], tmp_path / "one.jsonl")
    assert kept(where) == before
    assert not (tmp_path / "one.jsonl").exists()


def test_a_store_that_a_host_uses_is_left_alone(folder: Path, where: StoreOptions, tmp_path: Path) -> None:
    with locked(folder), pytest.raises(Failure, match="another host"):
        archive("one", to=str(tmp_path / "one.jsonl"), where=where)


def test_what_to_archive_and_where_has_to_be_said(where: StoreOptions, tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="name the tournaments to archive, or use --days"):
        archive(to="one.jsonl", where=where)
    with pytest.raises(Misuse, match="name the tournaments to archive, or use --days"):
        archive("one", days=3, to="one.jsonl", where=where)
    with pytest.raises(Misuse, match="say where they go: --to FILE"):
        archive("one", where=where)
    mistyped = tmp_path / "dada"
    with pytest.raises(NothingKept, match="no host has kept anything here"):
        archive("one", to="one.jsonl", where=StoreOptions(data=str(mistyped)))
    assert not mistyped.exists()
