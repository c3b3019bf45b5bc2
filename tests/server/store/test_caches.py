"""Files that save time: read only as they were written, and only beside the journal they are of."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.store import caches
from server.store.sqlite import Sqlite
from tournament import entries
from tournament.facts import HOST, Ordered

MAGIC = b"a test\n"


@given(content=st.binary(max_size=100), data=st.data())
def test_a_file_that_was_changed_anywhere_or_cut_is_damaged(
    content: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("caches") / "file"
    caches.write(path, MAGIC, content)
    assert caches.read(path, MAGIC) == content
    written = path.read_bytes()
    place = data.draw(st.integers(0, len(written) - 1))
    for spoiled in (written[:place], written[:place] + bytes([written[place] ^ 1]) + written[place + 1 :]):
        path.write_bytes(spoiled)
        with pytest.raises(ValueError, match="damaged"):
            caches.read(path, MAGIC)


def test_an_entry_is_known_by_its_number_and_all_that_it_says(tmp_path: Path) -> None:
    orders = [entries.entry(number, HOST, 0.0, Ordered("me", "look", str(number))) for number in (1, 2, 3)]
    with closing(Sqlite(tmp_path / "journal")) as engine:
        engine.write(orders)
        kept = [*engine.kept()]
        for entry in kept:
            assert caches.entry_of(engine, entry.number, caches.hash_of(entry)) == entry
        for number, hash in ((1, caches.hash_of(kept[1])), (4, caches.hash_of(kept[2])), (2, b"")):
            with pytest.raises(ValueError, match="another journal"):
                caches.entry_of(engine, number, hash)
