"""`make bench`, or `make bench ARGS="games"` for a part of it."""

import sys
from collections.abc import Callable, Mapping

from tests.bench import games

PARTS: Mapping[str, Callable[[], None]] = {"games": games.bench}


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        print(f"no such part: {' '.join(unknown)}; there are: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    for name in chosen or PARTS:
        PARTS[name]()
    return 0


sys.exit(main(sys.argv[1:]))
