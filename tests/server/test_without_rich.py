"""No process that serves imports rich."""

import subprocess
import sys

import pytest

from tests.hang import HANG
from tests.server.served import ROOT


def printed(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=HANG, check=True
    ).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["server.commands.serve, server.serve", "server.show.__main__", "server.workers.__main__"]
)
def test_what_is_imported_to_serve_has_structlog_and_no_rich(first: str) -> None:
    """Catches a module that imports structlog before that could be prevented."""
    program = f"import sys, {first}; print('structlog' in sys.modules, 'rich' in sys.modules)"
    assert printed(program) == "True False\n"


@pytest.mark.slow
def test_rich_can_be_imported_afterwards() -> None:
    """For help and for errors of the command line, which are drawn with it."""
    assert printed("import server.without_rich, rich.table; print(rich.table.Table.__name__)") == "Table\n"
