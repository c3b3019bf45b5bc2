"""Templates are compiled once, and whatever is kept of that changes no page."""

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from server.pages.compiled import Compiled

SOURCE = "{% for each in seen %}<b>{{ each }}</b>\n{% endfor %}"
SEEN = ["one", "<two>"]
PAGE = "<b>one</b>\n<b>&lt;two&gt;</b>\n"


class Counting(Environment):
    """It says how often it has compiled something."""

    times = 0

    def compile(self, *arguments: object, **named: object) -> object:
        self.times += 1
        return super().compile(*arguments, **named)  # pyright: ignore


def shown(folder: Path, source: str = SOURCE, **options: bool) -> tuple[str, int]:
    """The page, by a process that has only begun, and how often it compiled."""
    options = {"autoescape": True, "trim_blocks": True} | options
    made = Counting(
        loader=DictLoader({"page.html": source}), bytecode_cache=Compiled(options, folder), **options
    )
    return made.get_template("page.html").render(seen=SEEN), made.times


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "new" / "folder"


def test_the_second_process_compiles_nothing_and_shows_the_same(folder: Path) -> None:
    assert shown(folder) == (PAGE, 1)
    assert shown(folder) == (PAGE, 0)


def test_a_template_that_was_changed_is_compiled_again(folder: Path) -> None:
    shown(folder)
    assert shown(folder, "now {{ seen[0] }}") == ("now one", 1)
    assert shown(folder) == (PAGE, 1)


def test_what_was_compiled_with_other_options_is_not_used(folder: Path) -> None:
    shown(folder, autoescape=False)
    assert shown(folder) == (PAGE, 1)
    assert shown(folder, autoescape=False) == ("<b>one</b>\n<b><two></b>\n", 0)


@pytest.mark.slow
def test_whatever_is_in_the_folder_in_its_place_the_page_is_the_same(folder: Path) -> None:
    shown(folder)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    for size in range(0, len(whole), 7):
        kept.write_bytes(whole[:size])
        assert shown(folder) == (PAGE, 1), f"of {size} bytes"
        assert kept.read_bytes() == whole
    kept.unlink()
    kept.mkdir()
    assert shown(folder) == (PAGE, 1)
    assert list(folder.iterdir()) == [kept], "what could not be put in its place is taken away"


def test_nothing_is_kept_where_nothing_can_be_written(folder: Path) -> None:
    folder.parent.write_text("no folder")
    assert shown(folder) == shown(folder) == (PAGE, 1)


def test_nothing_is_kept_where_python_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert shown(folder) == shown(folder) == (PAGE, 1)
    assert not folder.exists()
