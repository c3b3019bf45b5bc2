"""A tournament from a data folder, in the shape of the API's answer, for when there is no host to ask."""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from server.config import Settings
from server.exits import Failure
from server.export.json_views import entrants_shown, tournament_summed
from server.store.choice import beside
from server.store.journal import is_deleted
from server.store.snapshots import record_of
from tournament.facts import State
from tournament.folding import latest_called


def kept_tournament(data: Path, name: str) -> dict[str, Any]:
    """The tournament; raises `Failure` if there is none. Only a host knows who is missing, and until when."""
    with closing(beside(Settings(data=str(data)))) as reader:
        own = latest_called(name, reader.latest(), partial(is_deleted, reader))
        record = None if own is None else record_of(reader, data, own)
    if record is None or record.state is State.DELETED:
        raise Failure(f"{data}: there is no tournament {name!r} in its journal")
    awaits_nobody = record.state is State.FINISHED or record.format.endless or not record.entrants
    summed = tournament_summed(record, list(record.dealt), None, () if awaits_nobody else None)
    entrants = entrants_shown(record, record.entrants.values(), everything=True)
    return summed | {"entrants": entrants, "next": None}
