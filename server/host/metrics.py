"""What a monitor asks for, in the text format that Prometheus reads."""

from server.host.host import Host

HELP = {
    "quintain_matches_playing": "Matches in play.",
    "quintain_matches_over": "Matches that are over, of all tournaments that are known.",
    "quintain_players": "Bots that are here.",
    "quintain_tournaments": "Tournaments that are known.",
    "quintain_stalled_seconds": "Time that the host stood still and gave back to the clocks.",
    "quintain_exceptions": "Exceptions that reached a guard: each is a fault of the host's.",
    "quintain_connections_lost": "Connections whose peer went away.",
}


def metrics(host: Host) -> str:
    tournaments = host.tournaments.values()
    values = {
        "quintain_matches_playing": sum(len(each.matches) for each in tournaments),
        "quintain_matches_over": sum(len(each.record.matches) for each in tournaments),
        "quintain_players": sum(player.present for player in host.lobby.players()),
        "quintain_tournaments": len(host.tournaments),
        "quintain_stalled_seconds": host.timekeeper.stalled,
        "quintain_exceptions": host.guard.caught.total(),
        "quintain_connections_lost": host.guard.gone,
    }
    lines: list[str] = []
    for name, value in values.items():
        lines += (f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge", f"{name} {value}")
    return "\n".join(lines) + "\n"
