"""Entering everybody on a list: from a CSV file to an invitation for each bot, a file each.

The list has a line of headings with `name` among them, and a line for each bot. `affiliation`, which
everybody will see, and `contact`, which only organisers will, are kept with the entrant and go into the
invitation, so that its sender knows the recipient. A name has its accents as keyboards write them, for it is
a part of the name of a file, where its author has to find it. Without headings, the list is names alone, one
a line. Any other heading is an error: a misspelt one would lose its column. Columns are divided by commas,
or by what spreadsheets write instead in some countries: semicolons or tabs.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import urlsplit

from msgspec import Struct

from games.game import quoted
from server.exits import Failure
from server.host.names import BadName, checked, key
from server.net.escaping import safe
from server.store.private import FILE, make_folder
from tournament.desk import AFFILIATION, CONTACT

MOST = 10_000  # bots on a list
TOKEN = 22  # characters of a token
DIGITS = 3  # at least, of the number before the name of a file
DIVIDERS = (",", ";", "\t")  # of columns
PLAIN = re.compile(r"[^A-Za-z0-9_-]")


class Invited(Struct, frozen=True):
    """A line of the list."""

    name: str
    affiliation: str = ""
    contact: str = ""


HEADINGS = Invited.__struct_fields__
NAMELESS = [[heading] for heading in HEADINGS if heading != "name"]  # first lines that are no bot's name


def listed(text: str) -> list[Invited]:
    """The bots on a list; raises `Failure`, which names a line that is wrong."""
    written = text.removeprefix("\ufeff")
    divider = next((each for each in DIVIDERS if "name" in _headings(written, each)), ",")
    reader = csv.reader(StringIO(written, newline=""), delimiter=divider, strict=True)
    lines = [(reader.line_num, line) for line in reader]  # a cell may have several lines
    headings = _headings(written, divider)
    named = "name" in headings
    if not named and (headings[:1] in NAMELESS or any(len(line) > 1 for _, line in lines)):
        raise Failure("expected a line of headings with name among them, or one name per line")
    for place, heading in enumerate(headings if named else ()):
        if heading and (heading not in HEADINGS or heading in headings[:place]):
            expected = f"expected the headings {', '.join(HEADINGS)}, each once at most"
            raise Failure(f"line 1: {expected}, not {quoted(heading)}")
    found: dict[str, tuple[int, Invited]] = {}  # by the name, as the host compares names
    for number, line in lines[1:] if named else lines:
        cells = [each.strip() for each in line]
        about: dict[str, str] = {}
        for heading, cell in zip_longest(headings if named else ["name"], cells, fillvalue=""):
            if heading:
                about[heading] = normalize("NFC", cell) if heading == "name" else " ".join(cell.split())
            elif cell:
                raise Failure(f"line {number}: {quoted(cell)} has no heading above it")
        if not any(about.values()):
            continue
        one = Invited(*(about.get(field, "") for field in Invited.__struct_fields__))
        for what, text, most in (
            ("an affiliation", one.affiliation, AFFILIATION),
            ("a contact", one.contact, CONTACT),
        ):
            if len(text) > most:
                raise Failure(f"line {number}: expected {what} of at most {most} characters, not {len(text)}")
        if not one.name:
            raise Failure(f"line {number}: expected a name")
        try:
            checked(one.name)
        except BadName as error:
            raise Failure(f"line {number}: {safe(str(error))}") from None
        if (same := found.get(key(one.name))) is not None:
            there, other = same[0], safe(same[1].name)
            if same[1].name == one.name:
                raise Failure(f"line {number}: {other} is on the list twice")
            raise Failure(f"line {number}: people would take {safe(one.name)} for {other} in line {there}")
        found[key(one.name)] = number, one
    if not 0 < len(found) <= MOST:
        raise Failure(f"expected 1 to {MOST:,} bots on the list, not {len(found):,}")
    return [one for _, one in found.values()]


def _headings(written: str, divider: str) -> list[str]:
    first = next(csv.reader(StringIO(written, newline=""), delimiter=divider), list[str]())
    return [each.strip().lower() for each in first]


def read(path: Path) -> list[Invited]:
    try:
        return listed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Failure(f"{path}: expected UTF-8") from None
    except csv.Error as error:
        raise Failure(f"{path}: {error}") from None
    except Failure as failure:
        raise Failure(f"{path}: {failure}") from None


def invite(
    invited: list[Invited], folder: Path, about: dict[str, Any], url: str, ask: Callable[[Invited], str]
) -> Iterator[Path]:
    """Invite bots one by one, writing each token down as soon as it comes: it is told only once."""
    try:
        make_folder(folder)
    except OSError as error:
        raise Failure(f"{folder}: cannot be made: {error.strerror}") from None
    digits = max(DIGITS, len(str(len(invited))))  # as many for each: else 1000 would stand before 101
    for number, one in enumerate(invited, 1):
        path = folder / f"{number:0{digits}}-{PLAIN.sub('_', one.name)}.txt"
        try:
            path.touch(FILE, exist_ok=False)
        except OSError as error:
            raise Failure(f"{path}: cannot be made: {error.strerror}") from None
        try:
            # With room for the token: if there is none, no token is asked for.
            path.write_text(letter(one, about, url, "-" * TOKEN), encoding="utf-8")
            token = ask(one)
        except OSError as error:
            path.unlink()
            raise Failure(f"{path}: cannot be written: {error.strerror}; its bot was not invited") from None
        except BaseException:
            path.unlink()
            raise
        path.write_text(letter(one, about, url, token), encoding="utf-8")
        yield path


def letter(one: Invited, about: dict[str, Any], url: str, token: str) -> str:
    """The text to send to the author of a bot."""
    hello = {"type": "hello", "name": one.name, "game": about["game"], "token": token}
    host = urlsplit(url).hostname
    kept = f"{host}-{about['game']}-{one.name}".replace("/", "_")  # as clients name it
    said = [
        f"Tournament: {about['tournament']} ({about['game']}, {about['format']})",
        f"Bot: {one.name}",
        *([f"Affiliation: {one.affiliation}"] if one.affiliation else []),
        *([f"Contact: {one.contact}"] if one.contact else []),
        *([f"Begins: {about['start_at']}"] if about.get("start_at") else []),
        f"Pages: {url}/tournaments/{about['tournament']}",
        f"How to connect: {url}/games/{about['game']}",
        f"Token: {token}",
        "",
        "Only whoever has the token can play under this name: keep it to yourself.",
        "Bots of quintain new, and quintain play, read it from a file, whose name begins with the host in",
        f"the address that they connect to. If that is {host}, write it there before they start:",
        "",
        f"    ~/.local/state/quintain-bot/{kept}",
        "",
        "The first message of the bot, in the house protocol:",
        "",
        json.dumps(hello, ensure_ascii=False, separators=(",", ":")),
    ]
    return "\n".join(said) + "\n"
