"""The workers of pytest, which do not all compile the same at the same time."""

import fcntl
from pathlib import Path

import pytest

from tests.read_first import HAVE_READ, bytecode, read_first


def is_taken(folder: Path) -> bool:
    """Whether another process would wait: a lock belongs to a file that was opened, not to a process."""
    with (folder / HAVE_READ).open("rb") as note:
        try:
            fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_others_wait_while_the_first_one_reads_and_then_nobody_waits(tmp_path: Path) -> None:
    """Catches a fresh clone whose four workers compile the same, and later ones that wait for each other."""
    folder = tmp_path / "bytecode"
    with read_first(folder):
        assert is_taken(folder)
    assert not is_taken(folder)
    with read_first(folder):
        assert not is_taken(folder)


def test_whoever_fails_to_read_leaves_it_to_the_next(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError), read_first(tmp_path):
        raise SyntaxError
    with read_first(tmp_path):
        assert is_taken(tmp_path)


def test_nobody_waits_where_no_bytecode_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor where it lies beside the sources, which are no place for a note."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("sys.pycache_prefix", str(tmp_path))
    assert bytecode() == tmp_path
    monkeypatch.setattr("sys.pycache_prefix", None)
    assert bytecode() is None
    monkeypatch.setattr("sys.pycache_prefix", str(tmp_path))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert bytecode() is None
    with read_first(bytecode()):
        assert not [*tmp_path.iterdir()]
