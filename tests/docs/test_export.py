"""The page on exports says by which versions of the rules `quintain verify` checks them."""

import re
from pathlib import Path

from tournament.format import formats
from tournament.standings import RULES

PAGE = Path(__file__).parents[2] / "docs/export.md"


def test_it_names_the_latest_version_of_the_rules_of_each_format_and_of_the_criteria() -> None:
    (named,) = re.findall(r"\((criteria \d.*?), all other formats 1\)", " ".join(PAGE.read_text().split()))
    latest = {name: found.rules for name, found in formats().items() if found.rules > 1}
    said = {name.lower(): int(version) for name, version in re.findall(r"([\w-]+) (\d+)", named)}
    assert said == latest | {"criteria": RULES}
