"""Inviting everybody on a list: who is on it, and a file for each with a token that only its owner reads."""

import json
import secrets
from pathlib import Path

import pytest

from server.commands.entrant_list import Invited, invite, listed
from server.exits import Failure
from tests.server.store.faults import little_room

ABOUT = {"tournament": "friday", "game": "santorini", "format": "swiss", "start_at": None}


def test_a_list_has_headings_in_any_order_or_is_names_alone() -> None:
    both = [Invited("ann", "ETH", "ann@example"), Invited("bob, jr", "", "")]
    assert listed('contact,Name,affiliation\nann@example,ann,ETH\n\n,"bob, jr",\n') == both
    for divider in (";", "\t"):  # as a spreadsheet writes it where the comma is in numbers
        text = 'contact,Name,affiliation\nann@example,ann,ETH\n\n,"bob, jr",\n'
        assert listed(text.replace(",", divider).replace(f"bob{divider} jr", "bob, jr")) == both
    assert listed("a;b\n") == [Invited("a;b")]
    assert listed("\ufeffname\r\nann\r\nbob\r\n") == [Invited("ann"), Invited("bob")]
    assert listed("name,\nann,\n") == [Invited("ann")], "a spreadsheet may add an empty column"
    assert listed("ann\nbob\n") == [Invited("ann"), Invited("bob")]
    assert listed('name,affiliation\nann,"ETH\r\nZürich"\n') == [Invited("ann", "ETH Zürich")], (
        "two lines in a cell"
    )


def test_a_name_has_its_accents_as_its_author_types_them() -> None:
    """Catches an invitation that names a file which looks like that of the bot's token, and is another."""
    assert listed("name\nZoe\u0308\n") == listed("Zoe\u0308\n") == [Invited("Zo\u00eb")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "1 to 10,000 bots on the list, not 0"),
        ("name\n", "not 0"),
        ("name\nann\nann\n", "line 3: ann is on the list twice"),
        ("name\nMía\nbob\nmia\n", "line 4: people would take mia for Mía in line 2"),
        ("name\nann\nhost\n", "line 3: host is a reserved word"),
        ("ann\nann\u200b\n", r"line 2: .* U\+200B, character 4 of this one"),
        ("name,contact\n,ann@example\n", "line 2: expected a name"),
        ('name\n"an\nna"\n', r"line 3: .* U\+000A, character 3 of this one"),
        ("name\nann\x0bbob\n", r"line 2: .* U\+000B, character 4 of this one"),
        ("name,affilation\nann,ETH\n", 'headings name, affiliation, contact, .*, not "affilation"'),
        ("name,Name\nann,bob\n", 'line 1: .* each once at most, not "name"'),
        ("name,\nann,\nbob,ETH\n", 'line 3: "ETH" has no heading above it'),
        ("name\nann,ETH\n", 'line 2: "ETH" has no heading above it'),
        ("ann,ETH\n", "a line of headings"),
        ("Affiliation\nETH\n", "a line of headings with name"),  # and not two bots
        ('"ann","ETH"\n', "a line of headings"),
        (f"name,affiliation\nann,{'x' * 65}\n", "line 2: expected an affiliation of at most 64 characters"),
        (f"name,contact\nann,{'x' * 201}\n", "line 2: expected a contact of at most 200 characters"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(Failure, match=why):
        listed(text)


def test_each_invitation_is_a_file_of_its_own_with_what_a_bot_says_first(tmp_path: Path) -> None:
    bots = [Invited("ann", contact="ann@example"), Invited("../b ob"), Invited("a/b")]
    folder = tmp_path / "letters"
    written = [*invite(bots, folder, ABOUT, "http://host", lambda bot: f"token of {bot.name}")]
    assert sorted(folder.iterdir()) == sorted(written)
    for bot, path in zip(bots, written, strict=True):
        assert path.stat().st_mode & 0o077 == 0, "for nobody else to read"
        *_, hello = path.read_text().splitlines()
        expected = {"type": "hello", "name": bot.name, "game": "santorini", "token": f"token of {bot.name}"}
        assert json.loads(hello) == expected
    assert "Contact: ann@example" in written[0].read_text()
    assert "\n    ~/.local/state/quintain-bot/host-santorini-a_b\n" in written[2].read_text()
    assert "connect to. If that is host, write it there" in written[2].read_text(), "or another file"
    with pytest.raises(Failure, match="exists"):
        next(invite(bots, folder, ABOUT, "http://host", lambda bot: bot.name))


@pytest.mark.slow
def test_a_thousand_invitations_sort_as_the_list_does(tmp_path: Path) -> None:
    """Catches `1000-` before `101-` in every folder that is shown sorted."""
    bots = [Invited(f"bot-{number}") for number in range(1, 1001)]
    written = [*invite(bots, tmp_path, ABOUT, "http://host", lambda bot: bot.name)]
    assert sorted(written) == written
    assert written[0].name == "0001-bot-1.txt"


def test_a_full_disk_costs_no_token_for_it_is_told_only_once(tmp_path: Path) -> None:
    asked = list[Invited]()

    def ask(bot: Invited) -> str:
        asked.append(bot)
        return secrets.token_urlsafe(16)

    with little_room(100), pytest.raises(Failure, match=r"001-ann\.txt: cannot be written: File too large"):
        list(invite([Invited("ann")], tmp_path, ABOUT, "http://host", ask))
    assert asked == []
    assert list(tmp_path.iterdir()) == []


def test_where_no_folder_can_be_made_nobody_is_invited(tmp_path: Path) -> None:
    """Catches a traceback."""
    file = tmp_path / "letters"
    file.touch()
    with pytest.raises(Failure, match=r"letters: cannot be made: File exists"):
        list(
            invite([Invited("ann")], file, ABOUT, "http://host", lambda bot: pytest.fail("it was asked for"))
        )


def test_whoever_is_refused_has_no_invitation_and_those_before_keep_theirs(tmp_path: Path) -> None:
    def ask(bot: Invited) -> str:
        if bot.name == "bob":
            raise Failure("that name is taken")
        return bot.name

    with pytest.raises(Failure, match="taken"):
        list(invite([Invited("ann"), Invited("bob"), Invited("cas")], tmp_path, ABOUT, "http://host", ask))
    assert [path.name for path in tmp_path.iterdir()] == ["001-ann.txt"]
