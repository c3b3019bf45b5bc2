"""`quintain new`: a folder with whatever its README names, and a sentence where there can be none."""

import re
from pathlib import Path

import pytest

from games.catalogue import catalogue
from server.commands.new import GAME, GAMES, PLACE, STARTERS, new
from server.exits import MISUSED
from tests.server.run import quintain

EVERY = pytest.mark.parametrize("language", STARTERS)


@EVERY
def test_a_folder_has_the_starter_and_a_readme_for_the_game(language: str, tmp_path: Path) -> None:
    """Catches a file that was renamed, and a bot that still plays the game that it has in `clients/`."""
    assert new(language, game="santorini", folder=tmp_path / "mine") == 0
    starter = STARTERS[language]
    assert {file.name for file in (tmp_path / "mine").iterdir()} == {*starter.files, "README.md"}
    bot = (tmp_path / "mine" / starter.files[0]).read_text()
    assert "santorini" in bot
    assert GAME not in bot
    readme = (tmp_path / "mine/README.md").read_text()
    assert "Santorini" in readme
    assert starter.run.format(game="santorini") in readme
    assert starter.build in readme
    assert "quintain bot greedy --game santorini" in readme
    has_tokens = any(name.lower().startswith("tokens.") for name in starter.files)
    assert ("where the bot's token is kept" in readme) is has_tokens
    (host,) = re.findall(r"QUINTAIN_URL=(\S+)", readme)
    assert f"`--url {host}`" in readme, "how a house bot, too, comes to another host"
    for name in starter.files[1:]:
        assert (tmp_path / "mine" / name).read_text() == (PLACE / language / name).read_text()


@EVERY
def test_a_starter_names_its_game_once_where_it_is_replaced(language: str) -> None:
    """Catches a bot in which the game cannot be replaced, or is said in another spelling."""
    bot = (PLACE / language / STARTERS[language].files[0]).read_text()
    code = [line for line in bot.splitlines() if not line.strip().startswith(("#", "//", "*", "//!"))]
    assert sum(GAME in line for line in code) == 1


def test_the_games_that_starters_know_are_there() -> None:
    assert set(GAMES) <= set(catalogue())


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_the_starter_in_shell_plays_legal_moves_alone(game: str, tmp_path: Path) -> None:
    """The others play on a host, in `test_starters.py`; this one is a program for `quintain play`."""
    new("shell", game=game, folder=tmp_path / "mine")
    words = ("match", "./bot.sh", "brain:random", "--game", game, "--games", "2", "--json")
    code, out, errors = quintain(*words, folder=tmp_path / "mine")
    assert code == 0, errors
    assert set(re.findall(r'"ending": ?"(\w+)"', out)) == {"played"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("lisp", "--game", "quoridor"), "there is no starter in 'lisp'; there are: python, javascript, c,"),
        (("go", "--game", "chess"), "there is no game 'chess'; there are: "),
        (
            ("go", "--game", "quoridor", "--folder", "full"),
            "full is not empty: expected a folder that is",
        ),
        (("go", "--game", "quoridor", "--folder", "full/file"), "full/file is a file: expected the name of"),
    ],
)
def test_where_there_can_be_no_folder_a_sentence_says_why(
    words: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("mine")
    code, out, errors = quintain("new", *words, folder=tmp_path)
    assert (code, out) == (MISUSED, "")
    (line,) = errors.splitlines()
    assert reason in line
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["file"]
