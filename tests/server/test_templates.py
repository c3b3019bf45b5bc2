"""The configurations to begin with are valid, and hold what they say."""

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from server.commands.templates import TEMPLATES, Template
from server.config import settings
from server.host.opening import check


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_a_configuration_that_a_host_takes(name: Template, tmp_path: Path) -> None:
    path = tmp_path / "quintain.toml"
    path.write_text(TEMPLATES[name])
    found = settings(str(path), {}, {})
    assert [each.name for each in found.tournament] == [
        each["name"] for each in tomllib.loads(TEMPLATES[name])["tournament"]
    ]
    for each in found.tournament:
        check(each.name, each.opened())


def test_all_templates_are_there() -> None:
    assert tuple(TEMPLATES) == get_args(Template)
