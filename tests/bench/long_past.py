"""A host with a long past: its data folder, as it is after a start, kept for all runs of the bench.

The first run writes the journal and has a host read it, which takes some minutes for millions of
matches. Each run works on a copy. `make clean` deletes what is kept.
"""

import http.client
import shutil
import time
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from server.store.snapshots import FILE, OF_WHOLE
from server.store.sqlite_reader import MIGRATIONS
from tests.bench import past
from tests.bench.server import Server, quintain

CACHE = Path(__file__).parents[2] / ".cache" / "bench"
KEPT = (past.JOURNAL, FILE, OF_WHOLE)
PAUSE = 0.1  # seconds between two looks whether pages are there


def copied(folder: Path, matches: int, names: int) -> None:
    """Put a journal with so many matches by so many names into a folder, with its snapshots."""
    kept = _kept(matches, names)
    if not kept.exists():
        print(f"a journal with {matches:,} matches is written, once: that takes some minutes", flush=True)
        _make(kept, matches, names)
    for name in KEPT:
        if (kept / name).exists():  # a short past has no snapshots
            shutil.copyfile(kept / name, folder / name)


def seconds_until_shown(server: Server, since: float) -> float:
    """From that reading of `time.perf_counter` to the first page that is not `come again`."""
    while True:
        connection = http.client.HTTPConnection(*server.address("http"))
        connection.request("GET", "/api/tournaments")
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return time.perf_counter() - since
        time.sleep(PAUSE)


def _kept(matches: int, names: int) -> Path:
    """One folder for each way in which it could have been written."""
    sources = (Path(past.__file__), *MIGRATIONS)
    digest = blake2b(b"".join(source.read_bytes() for source in sources), digest_size=4).hexdigest()
    return CACHE / f"{matches}-matches-{names}-names-{digest}"


def _make(kept: Path, matches: int, names: int) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=kept.parent) as folder:
        past.write(Path(folder, past.JOURNAL), matches, names)
        with quintain(folder) as server:
            seconds_until_shown(server, time.perf_counter())
            server.process.terminate()
            server.process.wait()
        made = Path(folder, "made")
        made.mkdir()
        for name in KEPT:
            if Path(folder, name).exists():
                Path(folder, name).rename(made / name)
        made.rename(kept)
