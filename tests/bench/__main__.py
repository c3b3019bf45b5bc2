"""`make bench`, or a part of it: `make bench ARGS="games"`, `make bench ARGS="tcp websocket 1000"`.

A number is how many matches are in play at once where a door is measured.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial

from server.net.open_files import room_for_files
from tests.bench import (
    connections,
    doors,
    games,
    ignored,
    lag,
    lending,
    memory,
    names,
    pages,
    past,
    ratings,
    spectators,
    store,
    tournaments,
    workers,
)

DOORS = ("tcp", "websocket", "http")


def parts(matches: int) -> Mapping[str, Callable[[], None]]:
    return {
        "games": games.bench,
        **{door: partial(doors.bench, door, matches) for door in DOORS},
        "memory": memory.bench,
        "store": store.bench,
        "spectators": partial(spectators.bench, matches),
        "names": partial(names.bench, matches),
        "ignored": ignored.bench,
        "lag": partial(lag.bench, matches),
        "lending": lending.bench,
        "tournaments": tournaments.bench,
        "past": past.bench,
        "pages": pages.bench,
        "ratings": ratings.bench,
        "connections": connections.bench,
        "workers": partial(workers.bench, matches),
    }


def main(chosen: list[str]) -> int:
    numbers = [int(word) for word in chosen if word.isdecimal()]
    there = parts(numbers[-1] if numbers else doors.MATCHES)
    wanted = [word for word in chosen if not word.isdecimal()]
    unknown = [name for name in wanted if name not in there]
    if unknown:
        print(f"no such part: {' '.join(unknown)}; there are: {' '.join(there)}", file=sys.stderr)
        return 2
    room_for_files()  # a thousand matches are four thousand connections, and servers inherit the limit
    for name in wanted or there:
        there[name]()
    return 0


sys.exit(main(sys.argv[1:]))
