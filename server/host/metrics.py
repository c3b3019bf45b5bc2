"""The host's figures for a monitor, in the text format that Prometheus reads."""

from collections.abc import Iterator

from server.host.host import Host
from server.host.measures import Histogram

HELP = {
    "quintain_matches_playing": "Matches in play.",
    "quintain_matches_over_total": "Matches that are over, of all tournaments that are known.",
    "quintain_moves_total": "Moves that were played.",
    "quintain_players": "Bots that are here.",
    "quintain_tournaments": "Tournaments that are known.",
    "quintain_stalled_seconds_total": "Time that the host stood still and gave back to the clocks.",
    "quintain_exceptions_total": "Exceptions that reached a guard: each is a fault of the host's.",
    "quintain_connections_lost_total": "Connections whose peer went away.",
    "quintain_move_seconds": "From the arrival of a move to its being told, of one move in 64.",
    "quintain_loop_lag_seconds": "How late the event loop of the matches is, measured every 50 ms.",
    "quintain_commit_seconds": "From handing facts to the journal until they are safe.",
}


def metrics(host: Host) -> str:
    tournaments = host.tournaments.values()
    values: dict[str, float | Histogram] = {
        "quintain_matches_playing": sum(len(each.matches) for each in tournaments),
        "quintain_matches_over_total": sum(each.record.ended for each in tournaments),
        "quintain_moves_total": host.timekeeper.moves,
        "quintain_players": sum(player.present for player in host.lobby.players()),
        "quintain_tournaments": len(host.tournaments),
        "quintain_stalled_seconds_total": host.timekeeper.stalled,
        "quintain_exceptions_total": host.guard.caught.total(),
        "quintain_connections_lost_total": host.guard.gone,
        "quintain_move_seconds": host.measures.moves,
        "quintain_loop_lag_seconds": host.measures.lag,
        "quintain_commit_seconds": host.measures.commits,
    }
    return "".join(f"{line}\n" for name, value in values.items() for line in _lines(name, value))


def _lines(name: str, value: float | Histogram) -> Iterator[str]:
    yield f"# HELP {name} {HELP[name]}"
    if isinstance(value, Histogram):
        yield f"# TYPE {name} histogram"
        counts = value.up_to()
        for bound, count in zip((*value.bounds, "+Inf"), counts, strict=True):
            yield f'{name}_bucket{{le="{bound}"}} {count}'
        yield f"{name}_sum {value.total}"
        yield f"{name}_count {counts[-1]}"
    else:
        yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
        yield f"{name} {value}"
