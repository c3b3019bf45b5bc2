"""`games/catalogue.py`: a game is found by being there, ours in its folder, others by entry point."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import games
from games.catalogue import GROUP, BadCatalogue, catalogue
from server.host.opening import OPEN
from tournament.folding import NAME

RENAMED = """
import msgspec
from games.connect4 import GAME as ORIGINAL
GAME = msgspec.structs.replace(ORIGINAL, name="{name}")
"""

FAILING = """
import msgspec
from games.connect4 import GAME as ORIGINAL
def start():
    raise ZeroDivisionError("no board")
GAME = msgspec.structs.replace(ORIGINAL, name="four", start=start)
"""

UNSOUND = """
import msgspec
from games.connect4 import GAME as ORIGINAL
class Four(msgspec.Struct, frozen=True):
    turn: bool = False
    outcome: None = None
    def moves(self):
        return [3]
GAME = msgspec.structs.replace(ORIGINAL, name="four", start=Four)
"""

Package = Callable[[str, str], str]


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """What is found while a test lasts is forgotten after it."""
    catalogue.cache_clear()
    yield
    catalogue.cache_clear()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Install a package of one module that declares its GAME; returns how the entry point is named."""

    def install(module: str, source: str) -> str:
        site = tmp_path / module
        described = site / f"{module}-1.dist-info"
        described.mkdir(parents=True)
        (site / f"{module}.py").write_text(source)
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
        (described / "entry_points.txt").write_text(f"[{GROUP}]\nit = {module}:GAME\n")
        monkeypatch.syspath_prepend(site)
        return f"entry point it = {module}:GAME"

    return install


def test_the_five_games_are_there_by_their_names() -> None:
    assert set(catalogue()) >= {"connect-4", "hexagon-dots", "quoridor", "santorini", "tic-tac-toe"}
    assert list(catalogue()) == sorted(catalogue())
    assert all(game.name == name for name, game in catalogue().items())


def test_the_catalogue_is_made_once_and_cannot_be_changed() -> None:
    assert catalogue() is catalogue()
    with pytest.raises(TypeError):
        catalogue()["chess"] = catalogue()["connect-4"]  # type: ignore[index]


def test_a_module_in_the_folder_that_declares_a_game_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(catalogue())
    catalogue.cache_clear()
    (tmp_path / "found_by_being_there.py").write_text(RENAMED.format(name="connect-four"))
    (tmp_path / "found_and_not_a_game.py").write_text("PAWNS = 8\n")
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(tmp_path)])
    assert set(catalogue()) == before | {"connect-four"}


def test_a_game_of_another_package_is_found_by_its_entry_point(installed: Package) -> None:
    before = set(catalogue())
    catalogue.cache_clear()
    installed("quintain_renamed", RENAMED.format(name="connect-for-fun"))
    assert set(catalogue()) == before | {"connect-for-fun"}


def test_two_games_of_one_name_are_refused_and_both_are_named(installed: Package) -> None:
    where = installed("quintain_twice", "from games.connect4 import GAME\n")
    with pytest.raises(BadCatalogue) as refusal:
        catalogue()
    assert str(refusal.value) == f"{where}: there is a game 'connect-4' already, from games.connect4"


@pytest.mark.parametrize("name", ["Go Bang!", "", "a/b", "..", "four\\n", "x" * 60])
def test_a_name_that_no_address_and_no_tournament_could_have_is_refused(
    installed: Package, name: str
) -> None:
    """What was played of such a game was exported, and then not imported again."""
    where = installed("quintain_misnamed", RENAMED.format(name=name))
    with pytest.raises(BadCatalogue) as refusal:
        catalogue()
    assert str(refusal.value).startswith(f"{where}: expected as its name a letter or digit, ")


def test_the_open_table_of_every_game_is_called_as_a_tournament_may_be(installed: Package) -> None:
    longest = "4" + "x" * 58
    installed("quintain_long_name", RENAMED.format(name=longest))
    assert longest in catalogue()
    assert all(NAME.fullmatch(OPEN + name) for name in catalogue())


@pytest.mark.parametrize(
    ("module", "source", "why"),
    [
        ("quintain_raises", "raise RuntimeError('no licence')", "cannot be loaded: no licence"),
        ("quintain_unparsed", "GAME = (", "cannot be loaded: "),
        ("quintain_empty", "", "cannot be loaded: "),
        ("quintain_a_word", "GAME = 'nim'", "expected a Game, found a str"),
        ("quintain_a_class", "from games.game import Game as GAME", "expected a Game, found a "),
        ("quintain_no_start", FAILING, "the game cannot begin: ZeroDivisionError: no board"),
        (
            "quintain_whether",
            UNSOUND,
            "the game cannot begin: Unsound: the seat to move is 0 or 1, not False",
        ),
    ],
)
def test_a_broken_game_is_refused_and_named(installed: Package, module: str, source: str, why: str) -> None:
    where = installed(module, source)
    with pytest.raises(BadCatalogue) as refusal:
        catalogue()
    assert str(refusal.value).startswith(f"{where}: {why}")


def test_a_broken_game_in_the_folder_is_refused_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_by_a_word.py").write_text("GAME = 'nim'\n")
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(tmp_path)])
    with pytest.raises(BadCatalogue, match=r"^games\.broken_by_a_word: expected a Game, found a str$"):
        catalogue()
