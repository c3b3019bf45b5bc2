"""How far a command has come: what is told adds up to all of the work."""

from contextlib import closing
from pathlib import Path

import pytest

from server.export.passing import counted, watched
from server.export.transfer import READINGS, STAGES, bring_in, leaving
from server.export.verify import PASSES, verify
from server.store.sqlite import Sqlite
from server.store.sqlite_reader import SqliteReader
from tests.server.exports import exported, simulated, text
from tournament import entries

pytestmark = pytest.mark.slow


def test_what_is_told_of_values_adds_up_and_they_stay_as_they_are() -> None:
    told: list[float] = []
    assert list(watched(["a", "b", "c", "d"], 6.0, told.append)) == ["a", "b", "c", "d"]
    assert told == [1.5] * 4
    told.clear()
    assert list(counted([b"one\n", b"three\n"], told.append)) == [b"one\n", b"three\n"]
    assert told == [4, 6]


def test_an_export_an_import_and_verify_say_how_far_they_are_from_nothing_to_all(tmp_path: Path) -> None:
    facts = simulated(7)  # two tournaments
    rows = [
        entries.entry(number, each.tournament, each.when, each.fact) for number, each in enumerate(facts, 1)
    ]
    with closing(Sqlite(tmp_path / "old.sqlite")) as engine:
        engine.write(rows)
    told: list[float] = []
    with closing(SqliteReader(tmp_path / "old.sqlite")) as reader:
        lines = list(leaving(reader, (), None, told.append))
        assert sum(told) == READINGS * reader.last()
    size = sum(map(len, lines))
    told.clear()
    assert not verify(lines, None, told.append).findings
    assert sum(told) == pytest.approx(PASSES * size, rel=0.02)  # what is on disk has numbers besides
    told.clear()
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        bring_in(lines, engine, tmp_path, told.append)
    assert sum(told) == pytest.approx(STAGES * size, rel=0.05)


def test_a_file_without_facts_is_told_of_as_well() -> None:
    lines = text(exported(simulated(2), facts=False))
    told: list[float] = []
    assert not verify(lines, None, told.append).findings
    assert sum(told) == pytest.approx(PASSES * sum(map(len, lines)), rel=0.05)
