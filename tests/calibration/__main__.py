"""`python -m tests.calibration`: the gate as tables, and what does not meet it."""

import argparse
import sys

from tests.calibration import deciding
from tests.calibration.gate import (
    ADVANTAGES,
    DRAWS,
    KINDS,
    SPREADS,
    Cell,
    Kind,
    average,
    bins,
    cells,
    objections,
)


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.calibration")
    asked.add_argument("what", nargs="*", help=f"decide, or of {', '.join(KINDS)}; all of these unless set")
    asked.add_argument("--events", type=float, default=100, help="per cent of the usual number of events")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--jobs", type=int, default=1, help="processes: cells and settings go on side by side")
    chosen = asked.parse_args()
    if chosen.what == ["decide"]:
        return deciding.tell(chosen.events / 100, chosen.seed, chosen.jobs)
    wrong: list[str] = []
    for name in chosen.what or KINDS:
        kind = KINDS[name]
        events = max(2, round(kind.events * chosen.events / 100))
        found = cells(name, events, chosen.seed, chosen.jobs)
        print(table(kind, events, found), flush=True)
        wrong += objections(kind, found)
    print(f"\n{len(wrong)} figures do not meet the gate" + "".join(f"\n- {each}" for each in wrong))
    return int(bool(wrong))


def table(kind: Kind, events: int, found: list[Cell]) -> str:
    """A line for each share of draws: coverage by spread and on average, by advantage of the first move."""
    lines = [f"\n{kind.title}: {events} events in each of {len(found)} cells\n"]
    lines += [
        "| draws | "
        + " | ".join(f"spread {spread:.0f}" for spread in SPREADS)
        + " | average | width | plain fit |"
    ]
    lines += ["|" + "---|" * (len(SPREADS) + 4)]
    for draws in DRAWS:
        row = [f"{draws:.0%}"]
        those = [cell for cell in found if cell.draws == draws]
        for spread in SPREADS:
            shares = [100 * cell.coverage for cell in those if cell.spread == spread]
            row.append(" ".join(f"{share:.1f}" for share in shares))
        averages = [average([cell for cell in those if cell.advantage == each]) for each in ADVANTAGES]
        error = (sum(each**2 for _, each in averages) / len(averages)) ** 0.5
        row.append(" ".join(f"{100 * mean:.1f}" for mean, _ in averages) + f" ± {100 * error:.1f}")
        count = sum(cell.intervals for cell in those)
        row += [f"{sum(getattr(cell, each) for cell in those) / count:.0f}" for each in ("width", "before")]
        lines.append(f"| {' | '.join(row)} |")
    said = [each for each in bins(pair for cell in found for pair in cell.said) if each.count]
    lines += ["", "| P(first) | " + " | ".join(f"{each.said / each.count:.0%}" for each in said) + " |"]
    lines += ["|" + "---|" * (len(said) + 1)]
    lines += ["| happened | " + " | ".join(f"{each.happened / each.count:.0%}" for each in said) + " |"]
    lines += ["| of | " + " | ".join(f"{each.count:,}" for each in said) + " |"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
