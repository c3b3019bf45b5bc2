"""Who can read what a host keeps: its owner alone, whoever made the files and when."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from server.commands.keeping import StoreOptions, backup, restore
from server.config import Settings
from server.exits import ConfigError, Failure
from server.export import signing
from server.export.signing import signer
from server.store import private
from server.store.choice import beside, opened
from server.store.data_folder import JOURNAL, TOKEN, VARIABLE, organiser_token, prepared
from server.store.private import create, make_folder, tighten
from tests.server.store.faults import little_room
from tournament.entries import entry
from tournament.facts import Entered


@pytest.fixture(autouse=True)
def lenient() -> Iterator[None]:
    """What most people have: others may read whatever is made without a thought."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def readable(folder: Path) -> dict[str, int]:
    """The files in there that somebody else has rights to, and which."""
    files = [path for path in folder.rglob("*") if rights(path) & 0o077]
    return {str(path.relative_to(folder)): rights(path) for path in files}


def write(settings: Settings) -> None:
    with closing(opened(settings, Path(settings.data))) as engine:
        number = engine.last() + 1
        engine.write([entry(number, "cup", 1.0, Entered(f"bot-{number}"))])
        with closing(beside(settings)) as reader:
            assert reader.last() == number
        folder = Path(settings.data)
        assert {f"{JOURNAL}-wal", f"{JOURNAL}-shm"} <= {path.name for path in folder.iterdir()}
        assert not readable(folder), "while it is open, with what SQLite puts beside it"


def test_a_folder_that_is_made_is_on_the_disk_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an archive that a power cut takes with its new folder, after its tournaments were deleted."""
    forced, fsync = list[int](), os.fsync

    def noted(file: int) -> None:
        fsync(file)
        forced.append(os.fstat(file).st_ino)

    monkeypatch.setattr(os, "fsync", noted)
    make_folder(tmp_path / "archives" / "2029")
    assert {*forced} == {tmp_path.stat().st_ino, (tmp_path / "archives").stat().st_ino}
    forced.clear()
    make_folder(tmp_path / "archives" / "2029")
    assert not forced, "its name was there"


def test_a_file_that_is_written_is_on_the_disk_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a key or a position that a power cut takes, because its folder did not have its name yet."""
    path, forced, fsync = tmp_path / "key", list[tuple[int, bool]](), os.fsync

    def noted(file: int) -> None:
        forced.append((os.fstat(file).st_ino, path.exists()))
        fsync(file)

    monkeypatch.setattr(os, "fsync", noted)
    private.write(path, b"secret")
    assert forced == [(path.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_nobody_else_can_read_a_journal_or_a_copy_of_it_or_look_into_a_folder_that_is_made(
    tmp_path: Path,
) -> None:
    settings = Settings(data=str(tmp_path / "deep" / "data"), reserve_bytes=0)
    folder = prepared(settings.data)
    write(settings)
    where = StoreOptions(data=settings.data)
    backup(where=where)
    backup(str(folder / "named.sqlite"), where=where)
    restore(str(folder / "named.sqlite"), force=True, where=where)
    (folder / "lock").unlink()  # it says which process has the folder: no secret
    assert len(list((folder / "backups").iterdir())) == 2, "a copy, and what was there before it was restored"
    assert rights(folder) == rights(folder / "backups") == 0o700
    assert not readable(folder)
    assert rights(folder.parent) == 0o755, "folders above are like any other"


def test_a_start_takes_the_rights_of_others_from_what_an_older_quintain_has_left(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path), reserve_bytes=0)
    write(settings)
    tmp_path.chmod(0o755)
    copies = tmp_path / "backups"
    copies.mkdir()
    (copies / "old.sqlite").touch(0o644)
    for path in (tmp_path / JOURNAL, copies / "old.sqlite"):
        path.chmod(0o664)
    (tmp_path / "notes").touch(0o644)
    write_again = opened(settings, tmp_path)
    write_again.close()
    assert rights(tmp_path / JOURNAL) == rights(copies / "old.sqlite") == 0o600
    assert rights(tmp_path) == 0o755, "the folder is not ours: somebody has made it, with a purpose"
    assert rights(tmp_path / "notes") == 0o644


def test_what_is_there_already_keeps_its_content_and_what_is_not_there_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    create(tmp_path / "kept")
    tighten(tmp_path / "kept")
    with capture_logs() as logs:
        tighten(tmp_path / "not there")
    assert (tmp_path / "kept").read_text() == "kept"
    assert logs == []
    make_folder(tmp_path)


secrets = pytest.mark.parametrize(("name", "make"), [(TOKEN, organiser_token), (signing.FILE, signer)])


@secrets
def test_a_secret_that_a_power_cut_has_emptied_is_made_anew(
    tmp_path: Path, name: str, make: Callable[[Path], object]
) -> None:
    """Catches an organiser's token that matches whoever brings none."""
    (tmp_path / name).touch(0o600)
    make(tmp_path)
    kept = (tmp_path / name).read_text()
    assert len(kept.strip()) >= 32
    assert rights(tmp_path / name) == 0o600
    make(tmp_path)
    assert (tmp_path / name).read_text() == kept


@secrets
def test_what_is_no_secret_is_refused_with_what_to_do(
    tmp_path: Path, name: str, make: Callable[[Path], object]
) -> None:
    """The line ended with what a codec or a library has to say about its input."""
    (tmp_path / name).write_bytes(b"\xff" * 32)
    with pytest.raises(
        ConfigError, match=f"{name}: this is no .* remove it, and the next start makes another$"
    ):
        make(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(ConfigError, match=f"{name}: the .* cannot be read: Is a directory$"):
        make(tmp_path)


@secrets
def test_a_secret_that_does_not_fit_on_the_disk_is_not_half_there(
    tmp_path: Path, name: str, make: Callable[[Path], object]
) -> None:
    with little_room(16), pytest.raises(Failure, match=f"{name}: .* cannot be written: File too large"):
        make(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_start_takes_the_rights_of_others_to_the_token_and_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that was copied has the rights that the copying user gives to new files."""
    monkeypatch.delenv(VARIABLE, raising=False)
    made = organiser_token(tmp_path), signer(tmp_path)
    for each in tmp_path.iterdir():
        each.chmod(0o644)
    again = organiser_token(tmp_path), signer(tmp_path)
    assert (again[0].text, again[1] and again[1].public) == (made[0].text, made[1] and made[1].public)
    assert not readable(tmp_path)
