"""The games that come with Quintain are wherever the docs list games, with their options.

Games of other people are not: their own docs have those.
"""

import re
from pathlib import Path

import pytest

from games.catalogue import catalogue

ROOT = Path(__file__).parents[2]
OURS = {name: game for name, game in catalogue().items() if game.start.__module__.startswith("games.")}


def spelled(page: str) -> str:
    return " ".join((ROOT / page).read_text().split())


def test_the_command_line_lists_them() -> None:
    (listed,) = re.findall(r"GAME is (.*?), or a game that", spelled("docs/command-line.md"))
    assert set(re.findall("`(.*?)`", listed)) == set(OURS)


@pytest.mark.parametrize("name", OURS)
def test_the_readme_names_each(name: str) -> None:
    assert OURS[name].title in spelled("README.md")


@pytest.mark.parametrize("name", OURS)
def test_every_option_is_on_the_page_for_organisers(name: str) -> None:
    page = (ROOT / "docs/organisers.md").read_text()
    rows = page.partition("| game | option | |\n")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| (?:`(.*?)` )?\| (`.*?`) \|", rows, re.MULTILINE)
    options, game = set[str](), ""
    for named, some in listed:
        game = named or game
        if game == name:
            options |= {*re.findall("`(.*?)`", some)}
    assert options == set(OURS[name].options)
