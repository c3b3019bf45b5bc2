"""Exports from a host, or from something else in its place, which may send without an end."""

import tracemalloc
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from server.exits import Failure
from server.programs import api_client
from server.programs.api_client import Remote
from server.programs.download import Download
from tests.server.programs.test_api_client import answering
from tests.server.run import quintain
from tests.server.store.faults import little_room

HEAD = b"HTTP/1.0 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
LINE = b'{"type":"match"}\n'


def parts(count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield LINE * 1000


def peak_of(count: int) -> int:
    """How many bytes of memory it takes at the most to take so many parts, and give them."""
    tracemalloc.start()
    try:
        with Download() as found:
            found.take(parts(count))
            assert found.lines == sum(1 for _ in found) == 1000 * count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_export_takes_as_much_memory_however_long_it_is() -> None:
    """Catches several gigabytes for the export of a round robin of a thousand."""
    assert peak_of(500) < 2 * peak_of(5)


def test_an_export_without_an_end_is_given_up_before_the_disk_is_full() -> None:
    """Catches something in a host's place that filled the memory, and a host that was called none."""
    with answering(HEAD + LINE * 1000) as address, Download() as found:
        found.most = 1000
        with pytest.raises(Failure, match="half of the free room is 1,000 bytes"):
            Remote(f"http://{address}").download_for_organiser(found, "tournaments", "cup", "export")


def test_an_export_that_comes_too_slowly_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a byte now and then, for ever."""
    monkeypatch.setattr(api_client, "WHOLE_WITHIN", 0.0)
    monkeypatch.setattr(api_client, "SLOWEST", inf)
    with answering(HEAD + LINE) as address, Download() as found, pytest.raises(Failure, match="too slowly"):
        Remote(f"http://{address}").download_for_organiser(found, "tournaments", "cup", "export")


def test_where_there_is_no_room_for_an_export_that_is_said() -> None:
    with (
        little_room(10),
        Download() as found,
        pytest.raises(Failure, match="cannot be written: File too large"),
    ):
        found.take([LINE])


@pytest.mark.parametrize(
    "answer", [HEAD + b"Mac\xdf\n", HEAD + b"\xc3", HEAD.replace(b"\r\n\r", b"\r\nContent-Length: 99\r\n\r")]
)
def test_of_an_export_that_is_not_whole_nothing_is_written(answer: bytes, tmp_path: Path) -> None:
    file = tmp_path / "export"
    file.write_bytes(b"of yesterday")
    ask = ("tournament", "export", "cup", "--data", str(tmp_path), "--output", str(file), "--url")
    with answering(answer) as address:
        code, _, told = quintain(*ask, f"http://{address}", QUINTAIN_TOKEN="")
    assert (code, told.count("\n"), file.read_bytes()) == (1, 1, b"of yesterday")
