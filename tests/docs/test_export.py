"""The page on exports says by which rules `quintain verify` checks them, and how to follow a chain."""

import csv
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.server.exports import exported, simulated, text
from tournament.format import Aim, Terms, formats
from tournament.standings import RULES

PAGE = Path(__file__).parents[2] / "docs/export.md"


def test_it_names_the_latest_version_of_the_rules_of_each_format_and_of_the_criteria() -> None:
    (named,) = re.findall(r"\((criteria \d.*?), all other formats 1\)", " ".join(PAGE.read_text().split()))
    latest = {name: found.rules for name, found in formats().items() if found.rules > 1}
    said = {name.lower(): int(version) for name, version in re.findall(r"([\w-]+) (\d+)", named)}
    assert said == latest | {"criteria": RULES}


def test_it_describes_every_field_of_a_line() -> None:
    rows = re.findall(r"^\| `([a-z]+)` \| (`.*) \|$", PAGE.read_text(), re.MULTILINE)
    described = {kind: set(re.findall(r"`(\w+)`", fields)) for kind, fields in rows}
    for seed in range(1, 10):
        for everything in (True, False):
            for line in exported(simulated(seed), everything=everything):
                assert line.keys() - {"type"} <= described[line["type"]]
    assert {*Terms.__struct_fields__, *Aim.__struct_fields__} <= described["tournament"]


def followed(lines: list[Any], begins: str = "import hashlib") -> subprocess.CompletedProcess[bytes]:
    """What the program on the page makes of an export, without anything of ours to import."""
    (program,) = re.findall(rf"```python\n({begins}.*?)```", PAGE.read_text(), re.DOTALL)
    return subprocess.run(
        [sys.executable, "-I", "-c", program], input=b"".join(text(lines)), capture_output=True
    )


@pytest.mark.parametrize("seed", range(1, 10))
def test_whoever_follows_the_page_follows_every_chain_and_has_every_receipt(seed: int) -> None:
    lines = exported(simulated(seed), everything=False)
    receipts = [
        (line["fact"]["match"], line["head"])
        for line in lines
        if line["type"] == "fact" and line["fact"]["type"] == "concluded"
    ]
    found = followed(lines)
    assert (found.returncode, found.stderr) == (0, b"")
    assert [tuple(line.split()) for line in found.stdout.decode().splitlines()] == receipts


def test_whoever_follows_the_page_notices_a_change() -> None:
    lines = exported(simulated(1), everything=False)
    match = next(line for line in lines if line["type"] == "match")
    match["times"][0] += 0.000001
    facts = [line.get("fact", {"type": ""}) for line in lines]
    at = [(fact["type"], fact.get("match")) for fact in facts].index(("concluded", match["match"])) + 1
    assert followed(lines).stderr.decode().startswith(f"line {at} does not follow")


@pytest.mark.parametrize("seed", range(1, 4))
def test_whoever_writes_matches_as_a_table_has_all_that_count(seed: int) -> None:
    lines = exported(simulated(seed), everything=False)
    counted = [line for line in lines if line["type"] == "match" and line["score"] is not None]
    found = followed(lines, begins="import csv")
    assert (found.returncode, found.stderr) == (0, b"")
    rows = [*csv.DictReader(found.stdout.decode().splitlines())]
    assert [row["match"] for row in rows] == [match["match"] for match in counted]
    for row, match in zip(rows, counted, strict=True):
        assert [row["first"], row["second"]] == match["players"]
        assert [float(row["first_points"]), float(row["second_points"])] == match["score"]
        assert float(row["seconds"]) == pytest.approx(sum(match["times"]))
