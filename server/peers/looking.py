"""What a program that is not a host finds out about a database and the hosts that share it."""

import time
from collections.abc import Callable
from contextlib import closing

from msgspec import Struct

from server.exits import Unavailable
from server.peers.leases import Peer
from server.peers.registry import PEERS, connected, peers_of
from server.store.postgres_database import Connection, Deadline, line, psycopg

NOW = "SELECT extract(epoch FROM clock_timestamp())"
TRIAL = "CREATE TABLE quintain_trial AS SELECT repeat('-', 100) FROM generate_series(1, 1000)"


class Looked(Struct, frozen=True):
    """What a program that is not a host finds."""

    peers: tuple[Peer, ...]
    ahead: float  # seconds by which the clock here is ahead of the database's
    refuses: str  # why nothing can be written there; "" if something can
    set_up: bool  # whether a host of this version, or of one like it, has ever been there


def look(url: str, wall: Callable[[], float] = time.time) -> Looked:
    """Look at the hosts of a database, changing nothing. Raises `Unavailable`."""
    try:
        with closing(connected(url, Deadline())) as session:
            begun = wall()
            ((now,),) = session.execute(NOW)
            ahead = begun - float(now)
            try:
                peers, set_up = peers_of(session.execute(PEERS)), True
            except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
                peers, set_up = (), False
            return Looked(peers, ahead, _refuses(session), set_up)
    except psycopg.Error as error:
        raise Unavailable(line(error)) from error


def _refuses(session: Connection) -> str:
    """Why no table can be made and filled; the attempt is undone."""
    try:
        with session.transaction(force_rollback=True):
            session.execute(TRIAL)
    except psycopg.Error as error:
        return line(error)
    return ""
