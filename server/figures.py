"""Figures for a monitor beside the host's own: the process, the build, and what waits.

`server/host/metrics.py` has the host's own figures. Where the system has no `/proc`, figures of the
process are left out.
"""

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from server.certificate import Certificate
from server.config import Settings
from server.host.exposition import Family, Sample, single
from server.net.open_files import room_for_files
from server.store.regular_backups import RegularBackups
from server.version import own_version
from server.webhooks import positions

PROC = Path("/proc/self")
OPEN_FILES = PROC / "fd"
BEGUN = time.time()  # about when the process was started, when this is imported
VERSION = own_version()  # looked for now: that opens files, and later there may be none left

Queues = Mapping[str, Callable[[], int]]  # by name: how many wait


def build() -> Iterator[Family]:
    sample = Sample(1, {"version": VERSION, "python": platform.python_version()})
    yield Family("quintain_build_info", "gauge", "1, with the versions of the host and of Python.", (sample,))


def waiting(queues: Queues) -> Iterator[Family]:
    samples = tuple([Sample(count(), {"queue": name}) for name, count in queues.items()])
    yield Family(
        "quintain_queue_length",
        "gauge",
        "How much waits for the journal, for show, or for house players to think about.",
        samples,
    )


def backups(copies: RegularBackups) -> Iterator[Family]:
    if copies.elsewhere:  # or it would look as if none were made
        return
    name = "quintain_backup_last_success_timestamp_seconds"
    yield single(name, "gauge", "When the latest backup was made; 0: never.", copies.made or 0.0)
    failures = "quintain_backup_failures_total"
    yield single(failures, "counter", "Backups that could not be made, or were damaged.", copies.failures)


def certificate(used: Certificate) -> Iterator[Family]:
    if used.dates is not None:
        name = "quintain_certificate_end_timestamp_seconds"
        yield single(name, "gauge", "Until when clients trust the certificate in use.", used.dates.ends)


def webhooks(settings: Settings, last: Callable[[], int]) -> Iterator[Family]:
    """Figures of webhooks by their places in the configuration: an address may have a secret in it."""
    behind = positions.behind(Path(settings.data) / positions.FILE, settings.webhook, last())
    samples = tuple([Sample(each, {"webhook": str(number)}) for number, each in enumerate(behind)])
    if samples:
        name = "quintain_webhook_behind_entries"
        yield Family(name, "gauge", "Entries of the journal that a webhook has not been told of.", samples)


def open_files_counted() -> int:
    """How many files the process has open, if the system counts them: Linux does so from 6.2 on. Else 0."""
    try:
        return os.stat(OPEN_FILES).st_size
    except OSError:
        return 0


def process() -> Iterator[Family]:
    """Figures of the process, under the names that the libraries for Prometheus use."""
    times = os.times()
    cpu = times.user + times.system
    yield single("process_cpu_seconds_total", "counter", "Processor time that the process has used.", cpu)
    yield single("process_start_time_seconds", "gauge", "When the process was started.", BEGUN)
    yield single("process_max_fds", "gauge", "How many files it may have open.", room_for_files())
    with suppress(OSError, ValueError, IndexError):
        pages = os.sysconf("SC_PAGE_SIZE")
        virtual, resident = map(int, (PROC / "statm").read_text().split()[:2])
        files = open_files_counted() or len(os.listdir(OPEN_FILES))
        yield single("process_virtual_memory_bytes", "gauge", "Memory that it has mapped.", virtual * pages)
        yield single("process_resident_memory_bytes", "gauge", "Memory that it occupies.", resident * pages)
        yield single("process_open_fds", "gauge", "Files that it has open.", files)
