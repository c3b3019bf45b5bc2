"""What becomes of a test whose machine lacks what it needs and could have: a browser, a database, files."""

import os
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    """Skip, with that reason; under continuous integration, where nobody reads reasons, fail."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)
