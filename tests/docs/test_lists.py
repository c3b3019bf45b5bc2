"""What the docs list or count is what there is: above all, the games and dialects that come with Quintain.

Those of other people are not: their own docs have those.
"""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest
from msgspec import Struct

from games.catalogue import catalogue
from server.commands.new import STARTERS
from server.host.forgetting import NAME_KEPT
from server.pages.door import FIRST
from server.pages.door import ROOT as ROOT_PAGES
from server.protocols.catalogue import dialects
from server.protocols.dialect import Dialect, OverHttp, OverTcp, OverWebsocket
from server.show.conduit import ToPlay, ToShow
from server.workers.messages import OfWorker, Several, ToWorker
from tests.clients.starters import LANGUAGES, lines
from tournament.format import offered

ROOT = Path(__file__).parents[2]
HERE = "server.protocols."
OURS = {name: game for name, game in catalogue().items() if game.start.__module__.startswith("games.")}
TITLES = sorted(game.title for game in OURS.values())
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CARRIED = {OverTcp: "lines", OverWebsocket: "frames", OverHttp: "requests"}


def spelled(page: str) -> str:
    return " ".join((ROOT / page).read_text().split())


def found(pattern: str, text: str) -> tuple[str, ...]:
    """The groups of the only place where a text has that."""
    (match,) = re.finditer(pattern, text)
    return match.groups()


def test_the_pages_are_listed() -> None:
    """But for what only other pages lead to."""
    page = (ROOT / "docs/pages.md").read_text()
    listed = set(re.findall(r"[` ]/([a-z][a-z.-]*)", page))
    assert FIRST | ROOT_PAGES | {"games"} <= listed | {"", "static", "favicon.ico"}


def test_organisers_are_told_of_every_figure_for_a_monitor() -> None:
    known = {
        each.value
        for path in (ROOT / "server").rglob("*.py")
        if "server.host.exposition import" in (code := path.read_text(encoding="utf-8"))
        for each in ast.walk(ast.parse(code))
        if isinstance(each, ast.Constant) and re.fullmatch("(quintain|process)_[a-z_]+", str(each.value))
    }
    told = (ROOT / "docs/organisers.md").read_text().partition("\n## Metrics\n")[2].partition("\n## ")[0]
    assert known
    assert set(re.findall(r"`((?:quintain|process)_[a-z_]+)`", told)) == known


def rows(head: str) -> list[list[str]]:
    """Those of the table in the architecture that has this head."""
    table = (ROOT / "docs/architecture.md").read_text().partition(f"{head}\n")[2].partition("\n\n")[0]
    return [row.strip("| ").split(" | ") for row in table.splitlines()[1:]]


def home(dialect: Dialect) -> str:
    """The module where it is spoken, or the folder if there is one; "" for those of other people."""
    way = dialect.carried_by[0]
    module = (way.serve if isinstance(way, OverHttp) else way.speak).__module__
    if not module.startswith(HERE):
        return ""
    first, *inner = module.removeprefix(HERE).split(".")
    return f"{first}/" if inner else f"{first}.py"


DIALECTS = [dialect for dialect in dialects().values() if home(dialect)]


def test_authors_of_bots_are_told_for_how_long_a_name_is_kept() -> None:
    (kept,) = found(r"for (\w+) minutes after the bot has gone", spelled("docs/bot-authors.md"))
    assert NUMBERS.index(kept) * 60 == NAME_KEPT
    for protocol in ("house", "arena"):
        assert found(r"taken for (\w+) minutes", spelled(f"docs/protocols/{protocol}.md")) == (kept,)


def test_authors_of_bots_are_told_how_long_each_starter_is() -> None:
    listed = re.findall(r"^\| (\S+) \| (\d+ \+ \d+) \|", (ROOT / "docs/clients.md").read_text(), re.MULTILINE)
    assert listed == [(STARTERS[language].title, lines(language)) for language in LANGUAGES]


def test_the_command_line_lists_them() -> None:
    (listed,) = re.findall(r"GAME is (.*?), or a game that", spelled("docs/command-line.md"))
    assert set(re.findall("`(.*?)`", listed)) == set(OURS)


def test_every_format_is_on_its_page_with_what_is_true_of_it_and_on_that_of_the_command_line() -> None:
    (listed,) = re.findall("FORMAT is (.*?);", spelled("docs/command-line.md"))
    assert set(re.findall("`(.*?)`", listed)) == set(offered())
    page = (ROOT / "docs/formats.md").read_text()
    told = page.partition("| format | everybody plays |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [row.strip("| ").split(" | ") for row in told]
    assert {name: rest for name, _, *rest in cells} == {
        f"[`{name}`](#{name})": [
            "no" if found.endless or found.rounds else "yes",
            "yes" if found.late else "no",
            "–" if found.endless else "annuls" if found.annuls else "forfeits",
        ]
        for name, found in offered().items()
    }
    assert set(re.findall(r"^\((.*)\)=$", page, re.MULTILINE)) == set(offered())


def test_the_readme_names_them_and_says_how_many_there_are() -> None:
    number, listed = found(r"\*\*(\w+) games\*\*, and yours: (.*?), in round robins", spelled("README.md"))
    assert sorted(re.split(", | and ", listed)) == TITLES
    (in_the_tour,) = found(r"(\w+) games of one file each", spelled("README.md"))
    assert number.lower() == in_the_tour == NUMBERS[len(OURS)]


def test_the_architecture_explains_the_positions_of_each() -> None:
    assert sorted(title for title, *_ in rows("| game | a position is | what keeps it fast |")) == TITLES


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


def test_the_readme_says_how_many_dialects_are_older_than_the_house_protocol() -> None:
    """All but that one and the one for language models."""
    (number,) = found(r"the house protocol, (\w+) older dialects", spelled("README.md"))
    assert number == NUMBERS[len(DIALECTS) - 2]


def test_the_architecture_lists_the_dialects_with_what_carries_them() -> None:
    listed = {
        where.strip("`"): set(re.split(", | and ", by))
        for _, where, by in rows("| dialect | where | carried by |")
    }
    assert listed == {home(each): {CARRIED[type(way)] for way in each.carried_by} for each in DIALECTS}


def tags(*said: type[Struct]) -> set[object]:
    return {each.__struct_config__.tag for each in said}


def test_the_architecture_lists_what_processes_say_to_each_other() -> None:
    _, *after = (ROOT / "docs/architecture.md").read_text().split("| message | from | says |\n")
    cells = [[row.split(" | ")[0] for row in each.partition("\n\n")[0].splitlines()] for each in after]
    listed = [{name for cell in table for name in re.findall("`(.+?)`", cell)} for table in cells]
    to_and_from_show = tags(*get_args(ToShow), *get_args(ToPlay))
    assert listed == [to_and_from_show, tags(*get_args(ToWorker), *get_args(OfWorker), Several)]


def test_the_architecture_says_what_each_wing_may_import() -> None:
    """As the wing's own `__init__.py` does, which another test compares with the imports."""
    wings = rows("| wing | what it is for | may import |")
    for wing, _, may in wings:
        text = " ".join((ROOT / "server" / wing.strip("`/") / "__init__.py").read_text().split())
        (said,) = re.findall(r"May import: (.*?)\.(?: |$)", text)
        assert {*re.findall("`(.*?)`", may)} == {*re.findall("`(.*?)`", said)}, wing
    folders = {path.parent.name for path in (ROOT / "server").glob("*/__init__.py")}
    assert {wing.strip("`/") for wing, *_ in wings} == folders


def test_each_decision_is_listed_once_under_its_subject() -> None:
    """Catches a decision that nobody finds, because there are more than a hundred."""
    page = (ROOT / "docs/decisions.md").read_text()
    index, _, decisions = page.partition("\n## ")
    listed = [" ".join(each.split()) for each in re.findall(r"\[([^\]]+)\]\(#", index)]
    headings = re.findall(r"^## (.*)$", f"## {decisions}", re.MULTILINE)
    assert sorted(listed) == sorted(headings)
