"""`python -m tests.evening`: hold the evening, and print what everybody was told; it takes some minutes."""

import sys
from argparse import ArgumentParser
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.evening.evening import Found, Plan, evening

WHOSE = {None: "nobody's", "bot": "the bot's", "network": "the network's", "host": "the host's"}


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.evening", description=__doc__)
    parser.parse_args()
    with TemporaryDirectory() as folder:
        found = evening(Path(folder), Plan(), partial(print, flush=True))
    print(*told(found), sep="\n")
    return 0


def told(found: Found) -> list[str]:
    """For each bot: its place, and why it lost what it lost, with how often."""
    lines = [f"{len(found.typed)} commands, {found.seconds:.0f} s, {len(found.matches)} matches"]
    for row in found.standings:
        name = row["name"]
        record = f"{row['wins']}-{row['draws']}-{row['losses']}"
        lines.append(f"{row['rank']:3}  {name:8} {row['points']:g} points, {record}")
        lines += (f"       host to its hello: {why}" for why in found.authors[name].refusals)
        reasons = Counter((each["ending"], each["why"], WHOSE[each["fault"]]) for each in found.lost(name))
        lines += (
            f"       {count:2} x {ending}, {whose} fault: {why}"
            for (ending, why, whose), count in reasons.most_common()
        )
    return lines


if __name__ == "__main__":
    sys.exit(main())
