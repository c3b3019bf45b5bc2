"""The tables of long tournaments, in a file beside the journal, for whoever looks first after a start.

To compute such a table takes seconds, in which a visitor would see none. The file is a cache
(`server/store/caches.py`). The tables in it are those of some minute before the stop, and say so: one is
current if nothing has been decided since, and is shown until there is another in any case.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import structlog
import trio
from msgspec import Struct

from server.exits import ConfigError, Unavailable
from server.show.mirror import Mirror
from server.store import caches
from server.store.caches import BOARDS
from server.store.journal import Reader
from tournament.score_sheet import Board
from tournament.standings import RULES

MAGIC = b"quintain boards\n"
PAUSE = 60.0  # seconds between two looks whether there are new ones

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class BoardsContent(Struct, frozen=True, array_like=True):
    rules: int
    number: int  # of an entry of the journal by which all of this had happened
    hash: bytes  # of that entry
    boards: dict[str, Board]  # by the names under which their tournaments are kept


def load(reader: Reader, folder: Path) -> Mapping[str, Board]:
    """The boards that were kept last; none if they are of no use."""
    path = folder / BOARDS
    try:
        found = msgspec.msgpack.decode(caches.read(path, MAGIC), type=BoardsContent)
        if found.rules != RULES:
            raise ValueError("it is of another Quintain")
        caches.entry_of(reader, found.number, found.hash)
        caches.expect_all(reader, found.number, found.boards)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("the kept tables are of no use: they are computed", path=str(path), why=str(error))
        return {}
    return found.boards


def save(reader: Reader, folder: Path, boards: Mapping[str, Board], number: int) -> None:
    """Keep these boards; by the journal's entry of that number, all that is in them had happened."""
    entry = next(iter(reader.kept(number - 1)))
    content = BoardsContent(RULES, number, caches.hash_of(entry), dict(boards))
    try:
        caches.write(folder / BOARDS, MAGIC, msgspec.msgpack.encode(content))
    except OSError as error:
        log.warning("no tables could be kept: the next start computes them first", why=str(error))


class BoardKeeper:
    """Keeps the boards of long tournaments, now and then, and knows those of before the start."""

    def __init__(self, mirror: Mirror, reader: Reader, folder: Path) -> None:
        self._mirror = mirror
        self._reader = reader
        self._folder = folder
        self._kept: Mapping[str, Board] = {}

    async def load(self) -> None:
        """Have the boards shown that were kept before, once the mirror has its records."""
        found = await trio.to_thread.run_sync(load, self._reader, self._folder)
        for record in self._mirror.records():
            if (board := found.get(record.kept_as)) is not None:
                self._mirror.boards.remember(record, board)
        self._kept = self._boards()

    async def run(self) -> None:
        while True:
            await trio.sleep(PAUSE)
            await self.keep()

    async def keep(self) -> None:
        """Keep the boards if any is new."""
        boards = self._boards()
        if all(self._kept.get(name) is board for name, board in boards.items()):
            return
        try:
            number = await self._mirror.read_up_to(0)  # so that no board has more than that
            await trio.to_thread.run_sync(save, self._reader, self._folder, boards, number)
        except (Unavailable, ConfigError) as error:
            log.debug("the journal cannot be read just now", why=str(error))
        else:
            self._kept = boards

    def _boards(self) -> Mapping[str, Board]:
        records, known = self._mirror.long(), self._mirror.boards.known
        return {record.kept_as: board for record in records if (board := known(record)) is not None}
