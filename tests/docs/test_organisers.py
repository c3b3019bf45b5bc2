"""`docs/organisers.md` and `docs/api.md` say what is so."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct, inspect

from server.config import Settings, settings
from server.host.tournament_settings import TournamentSettings
from server.net.limits import YEAR, Limits, Rate
from server.protocols.api.orders import Order
from server.protocols.api.table import ROUTES, document, listing
from server.webhooks.told import WebhookBody
from tournament.match_names import named

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


def bounds(settings: type[Struct], *kinds: str) -> dict[str, float]:
    """What its fields have at least or at most, where that is a bound of one of these kinds."""
    described = inspect.type_info(settings)
    assert isinstance(described, inspect.StructType)
    found = dict[str, float]()
    for field in described.fields:
        either = field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,)
        set_here = [getattr(each, kind, None) for each in either for kind in kinds]
        if given := [bound for bound in set_here if bound is not None]:
            (found[field.name],) = given
    return found


def test_every_limit_is_there_with_its_default_and_a_reason() -> None:
    rows = re.findall(r"^\| `limits\.(\w+)` \| (.*?) \| (.+) \|$", ORGANISERS, re.MULTILINE)
    assert {name: default for name, default, _ in rows} == {
        field.name: shown(field.default) for field in msgspec.structs.fields(Limits)
    }


def test_the_example_of_a_file_is_one_and_has_every_setting(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", ORGANISERS, re.DOTALL)
    values = tomllib.loads(example)
    file = tmp_path / "quintain.toml"
    file.write_text(example)
    settings(str(file), {}, {})
    assert set(values) == set(Settings.__struct_fields__)
    _, _, tournament = example.rpartition("[[tournament]]")
    named = set(re.findall(r"\w+", tournament))
    assert set(TournamentSettings.__struct_fields__) <= named


def test_the_largest_values_of_a_tournament_are_there() -> None:
    (table,) = re.findall(r"^\| setting \| at most \| \|\n((?:\|.*\n)+)", ORGANISERS, re.MULTILINE)
    listed = dict[str, str]()
    for names, most in re.findall(r"^\| (`.*?`) \| (.*?) \|", table, re.MULTILINE):
        listed |= dict.fromkeys(re.findall("`(.*?)`", names), most)
    largest = bounds(TournamentSettings, "le", "lt", "max_length")
    assert largest
    assert all(f"{most:,}" in listed[name] for name, most in largest.items())


def test_the_smallest_values_of_limits_are_there() -> None:
    page = " ".join(ORGANISERS.split())
    said = re.findall(r"Counts are 0 or more, `(\w+)` 1 or more,.*? only (`.*?`) may be 0\.", page)
    ((count, times),) = said
    least, most = bounds(Limits, "ge"), bounds(Limits, "le")
    is_a_time = {name for name, value in most.items() if value == YEAR}
    assert {name for name, value in least.items() if value == 1} == {count}
    assert set(least) & is_a_time == set(re.findall(r"\w+", times)) - {"and"}


def test_the_list_of_routes_is_that_of_the_table() -> None:
    current = "put there what `python -m server.protocols.api.table` prints"
    (section,) = re.findall(r"^## Routes\n\n(\|.*?\n)\n", API, re.DOTALL | re.MULTILINE)
    assert section == listing(), f"to bring it up to date, {current}"


def test_they_say_how_a_match_that_is_played_again_is_named() -> None:
    again = named("friday", 7, 2)
    assert all(f"`{again}`" in page for page in (ORGANISERS, API))


def test_every_field_that_a_webhook_is_told_is_there() -> None:
    section = ORGANISERS.partition("\n## Webhooks\n")[2].partition("\n## ")[0]
    told = set(re.findall(r"[`\"](\w+)[`\"]", section))
    assert set(WebhookBody.__struct_fields__) <= told


def test_every_field_of_an_answer_is_on_the_page() -> None:
    named = {word for code in re.findall("`([^`]+)`", API) for word in re.findall(r"\w+", code)}
    schemas = msgspec.json.decode(document().body)["components"]["schemas"]
    fields = {field for schema in schemas.values() for field in schema.get("properties", ())}
    assert "tournament" in fields
    assert fields - named == set()


@pytest.mark.parametrize("path", [route.path for route in ROUTES if route.takes is Order and route.listed])
def test_every_order_is_on_the_page(path: str) -> None:
    assert f"/{path.rpartition('/')[2]}`" in ORGANISERS
