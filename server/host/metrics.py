"""The host's figures for a monitor: what it knows of itself, and what others have added to `host.figures`.

No label is a name that a stranger can choose: there are as many samples as games, doors and endings.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from games.catalogue import catalogue
from server.host.exposition import Family, Sample, exposition, single
from server.host.host import Host
from server.host.measures import NOBODYS
from server.net.pauses import WithPauses
from tournament.events import Ending, Fault
from tournament.facts import State

AT_A_TIME = 16  # tournaments that are looked at before other tasks get their turn
FAULTS = (*(fault.value for fault in Fault), NOBODYS)


async def metrics(host: Host) -> str:
    own = await of_the_host(host)
    beside = (family for figures in host.figures for family in figures())
    here = (*own, *beside)
    return exposition(here if host.workers is None else host.workers.figures(here))


async def of_the_host(host: Host) -> Sequence[Family]:
    """Its own figures. Others get their turns meanwhile: there may be thousands of tournaments."""
    return *await _of_tournaments(host), *_of_all_else(host)


def _of_all_else(host: Host) -> Iterator[Family]:
    measures = host.measures
    played = measures.played(host.going_on)
    yield _by("game", catalogue(), "quintain_moves_total", "counter", "Moves that were played.", played)
    how = "Matches that ended since the host was started, by how."
    yield _by_game_and("ending", Ending, "quintain_matches_over_total", how, measures.over)
    whose = "Matches that were not played to their end, by whose fault that is."
    yield _by_game_and("fault", Fault, "quintain_faults_total", whose, measures.faults)
    yield Family(
        "quintain_matches_void_total",
        "counter",
        "Matches that count for nothing, by whose fault that is.",
        tuple([Sample(measures.voids[fault], {"fault": fault}) for fault in FAULTS]),
    )
    yield Family(
        "quintain_bots_came_total",
        "counter",
        "Bots that were let in, by the protocol that they speak.",
        tuple(
            [
                Sample(count, {"door": door or NOBODYS, "game": game})
                for (door, game), count in sorted(measures.came.items())
            ]
        ),
    )
    doors = sorted(measures.accepted)
    yield _by("door", doors, "quintain_connections", "gauge", "Open connections.", measures.connections)
    yield _by(
        "door", doors, "quintain_connections_total", "counter", "Connections accepted.", measures.accepted
    )
    yield single(
        "quintain_connections_lost_total", "counter", "Connections whose peer went away.", host.guard.gone
    )
    yield single(
        "quintain_exceptions_total",
        "counter",
        "Exceptions that reached a guard: each is a fault of the host's.",
        host.guard.caught.total(),
    )
    yield single(
        "quintain_stalled_seconds_total",
        "counter",
        "Time that the host stood still, or stopped all clocks: nobody is charged for it.",
        host.timekeeper.stalled,
    )
    yield single(
        "quintain_store_trouble",
        "gauge",
        "1 while nothing can be kept, else 0.",
        int(bool(host.store.trouble)),
    )
    yield Family(
        "quintain_move_seconds",
        "histogram",
        "From the arrival of a move to its announcement, for one move in 64.",
        tuple([Sample(measures.moves[game], {"game": game}) for game in catalogue()]),
    )
    yield single(
        "quintain_loop_lag_seconds",
        "histogram",
        "How late the event loop of the matches is, measured every 50 ms.",
        measures.lag,
    )
    yield single(
        "quintain_commit_seconds",
        "histogram",
        "From handing facts to the journal until they are safe.",
        measures.commits,
    )


async def _of_tournaments(host: Host) -> Sequence[Family]:
    playing, missing, found = Counter[str](), Counter[str](), Counter[State]()
    async for each in WithPauses(host.going_on, AT_A_TIME):
        playing[each.record.opened.game] += len(each.matches)
        missing[each.record.opened.game] += len(each.missing())
        found[each.record.state] += 1
    found[State.FINISHED] = len(host.tournaments) - found.total()  # the most, on a host that is old
    here = Counter(player.game for player in host.lobby.players() if player.present)
    states = Counter({state.value: count for state, count in found.items()})
    games, known = catalogue(), [state.value for state in State]
    return (
        _by("game", games, "quintain_matches_playing", "gauge", "Matches in play.", playing),
        _by("game", games, "quintain_players", "gauge", "Bots that are connected or present.", here),
        _by("game", games, "quintain_players_missing", "gauge", "Bots that are awaited, and gone.", missing),
        _by("state", known, "quintain_tournaments", "gauge", "Tournaments that are known.", states),
    )


def _by(
    label: str,
    values: Iterable[str],
    name: str,
    kind: Literal["counter", "gauge"],
    help: str,
    counts: Counter[str],
) -> Family:
    """A sample for each value that the label can have, even if nothing was counted."""
    return Family(name, kind, help, tuple([Sample(counts[each], {label: each}) for each in values]))


def _by_game_and(
    label: str, values: Iterable[str], name: str, help: str, counts: Counter[tuple[str, str]]
) -> Family:
    """The same for each game, from counts by game and by that label."""
    pairs = [(game, str(value)) for game in catalogue() for value in values]
    return Family(
        name,
        "counter",
        help,
        tuple([Sample(counts[pair], {"game": pair[0], label: pair[1]}) for pair in pairs]),
    )
