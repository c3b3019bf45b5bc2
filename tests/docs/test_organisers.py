"""`docs/organisers.md` and `docs/api.md` say what is so."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from server.config import Settings
from server.net.limits import Limits, Rate
from server.protocols.api.openapi import ACTIONS, READS

DOCS = Path(__file__).parents[2] / "docs"
ORGANISERS = (DOCS / "organisers.md").read_text()
API = (DOCS / "api.md").read_text()


def shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case Rate():
            return f"{value.credits} in {value.seconds:g} s"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def test_every_limit_is_there_with_its_default_and_a_reason() -> None:
    rows = re.findall(r"^\| `limits\.(\w+)` \| (.*?) \| (.+) \|$", ORGANISERS, re.MULTILINE)
    assert {name: default for name, default, _ in rows} == {
        field.name: shown(field.default) for field in msgspec.structs.fields(Limits)
    }


def test_the_example_of_a_file_is_one_and_has_every_setting() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", ORGANISERS, re.DOTALL)
    values = tomllib.loads(example)
    msgspec.convert(values, Settings)
    assert set(values) == set(Settings.__struct_fields__)


@pytest.mark.parametrize("path", READS)
def test_every_address_that_is_read_is_on_the_page(path: str) -> None:
    written = path.replace("{name}", "NAME").replace("{match}", "ID")
    assert f"{written}`" in API


@pytest.mark.parametrize("action", ACTIONS)
def test_every_order_is_on_the_page(action: str) -> None:
    assert f"/{action}`" in ORGANISERS
