"""Tables for a terminal: what is whole in them, what is written how, and how wide they are."""

from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper

import pytest
from rich.cells import cell_len

from server.programs.table import WIDTH, table
from server.programs.terminal import say
from tests.steps import steps_taken

STEPS = 1000  # for a cell; it takes a fifth of that

NAME = "spring-course-2026-week-14-double-round-robin-of-connect-4"


def test_a_name_in_a_table_is_whole_however_long_it_is() -> None:
    """Catches `spring-course-2026-we…` in a list of tournaments, which is copied into the next command."""
    shown = table(
        ("tournament ", "format ", "figure"), [(NAME, "double-round-robin" * 3, 1)], f"{NAME}: " * 4
    )
    assert shown.count(NAME) == 5
    assert "…" not in shown


def test_names_and_figures_are_whole_though_there_are_blanks_in_them() -> None:
    """Catches `Herr Müller ist doof` on three lines, and `± 163` below its strength."""
    rows = [("Herr Müller ist doof", "−36 ± 163", "the first of five who came from the same school " * 3)]
    shown = table(("name ", "strength", "affiliation "), rows)
    assert all(cell in shown for cell in rows[0][:2])
    assert max(map(cell_len, shown.split("\n"))) <= WIDTH


def test_a_cell_of_a_table_has_all_of_its_lines() -> None:
    """Catches a line break that was shown as two characters, and a reason that ended after 128 of them."""
    lines = ["ann: 9 was refused: " + "a move is the number of a column, " * 5 + "or so", "ann came back"]
    shown = table(("ply", "before it "), [(1, "\n".join(lines))])
    assert "\\n" not in shown
    assert " ".join(shown.split()).endswith(" ".join(lines))


def test_what_a_terminal_would_obey_is_escaped_in_a_table() -> None:
    assert "\x1b" not in table(("name ",), [("\x1b[31mann",)], "\x1b[2J")


@pytest.mark.parametrize(("encoding", "line"), [("utf-8", "─"), ("cp1252", "-"), ("ascii", "-")])
def test_the_line_under_the_headings_is_one_that_the_output_can_hold(encoding: str, line: str) -> None:
    out = TextIOWrapper(BytesIO(), encoding)
    with redirect_stdout(out):
        say(table(("name ", "points"), [("ann", 1)]))
    assert line * 10 in out.buffer.getvalue().decode(encoding)


def test_figures_stand_below_one_another_and_so_do_words() -> None:
    rows = [
        ("1", "ann", 1234.5, 12000, ""),
        ("2", "Grünkohl 🥬", 0.0, 7, "gone"),
        ("10", "漢字", 1e7, 0, None),
    ]
    assert table(("rank", "name ", "points", "played", "out "), rows, "cup").split("\n") == [
        "cup",
        "",
        "  rank   name              points   played   out",
        f" {'─' * 49}",
        "     1   ann              1,234.5   12,000",
        "     2   Grünkohl 🥬            0        7   gone",
        "    10   漢字          10,000,000        0",
    ]


@pytest.mark.parametrize("word", ["liège", "漢字", "🥬", "e\u0301le\u0300ve"])
def test_sentences_go_on_on_the_next_line_within_the_width_whatever_letters_they_have(word: str) -> None:
    sentence = " ".join([word] * 60)
    lines = table(("name ", "about ", "figure"), [(NAME, sentence, 7)]).split("\n")
    assert max(map(cell_len, lines)) <= WIDTH
    assert sum(line.split().count(word) for line in lines) == 60


def test_a_line_of_a_table_takes_as_long_in_a_long_one() -> None:
    """Catches half a minute for the standings of 20,000: each cell was laid out like a page of text."""
    rows = [(str(row), f"bot-{row}", 1.5, 9, 4, 3, 2, "12 ± 30", "Liège") for row in range(50)]
    assert steps_taken(lambda: table(["words "] * 9, rows)) < 50 * 9 * STEPS
