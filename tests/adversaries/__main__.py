"""`python -m tests.adversaries`: what twenty-four attackers cost honest bots, one at a time and all together.

Exits with 1 if a point was lost, a seat taken, an internal service called, a
tournament held up for good, or if memory grew by more than `strangers.py` says.
How long moves take is told, but it is no reason to fail: machines are shared.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import aclosing

import msgspec
import trio

from tests.adversaries.event import MATCHES, MATCHES_A_NAME, Past
from tests.adversaries.league import HEAD, SHOWN, TOGETHER, TURNS, Plan, Row, league, line
from tests.adversaries.strangers import LEAGUE
from tests.ending import ended_in_order


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog="python -m tests.adversaries", description=__doc__)
    parser.add_argument("--only", action="append", choices=[*LEAGUE, TOGETHER], metavar="NAME")
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="of a turn; there are twice as many as --turns"
    )
    parser.add_argument("--turns", type=int, default=TURNS, help="of calm, and as many of attack")
    parser.add_argument("--past", type=int, default=MATCHES, help="matches that were played before")
    parser.add_argument("--workers", type=int, default=1, help="of the host; several lend each other matches")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each row")
    parser.add_argument(
        "--planted", action="store_true", help="give the squatters a bot's token: this has to be noticed"
    )
    args = parser.parse_args(arguments)
    only = args.only or [*LEAGUE, TOGETHER]
    chosen = [name for name in only if name != TOGETHER]
    past = Past(args.past, args.past // MATCHES_A_NAME)
    plan = Plan(args.seconds, args.turns, args.planted, past, workers=args.workers)
    rows = trio.run(_held, plan, chosen or list(LEAGUE), bool(chosen), TOGETHER in only, args.json)
    return int(any(row.harms for row in rows))


async def _held(
    plan: Plan, strangers: Sequence[str], alone: bool, together: bool, as_json: bool
) -> list[Row]:
    rows = list[Row]()
    if not as_json:
        print(HEAD, flush=True)
    async with ended_in_order(), aclosing(league(plan, strangers, alone, together)) as found:
        async for row in found:
            rows.append(row)
            if as_json:
                print(msgspec.json.encode(row).decode(), flush=True)
            else:
                cuts = (f"  cut {times} times: {why}" for why, times in list(row.cut.items())[:SHOWN])
                print(line(row), *(f"  HARM: {harm}" for harm in row.harms), *cuts, sep="\n", flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
