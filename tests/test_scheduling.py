"""How tests are spread over processes, tried on a few that end theirs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hang import HANG
from tests.server.served import ROOT

pytestmark = pytest.mark.slow

CONFTEST = """
from tests.scheduling import OneWorkerEach

def pytest_xdist_make_scheduler(config, log):
    return OneWorkerEach(config, log)
"""
TESTS = """
import os
import pytest

@pytest.mark.parametrize("number", range(6))
def test(number):
    if number in {ends}:
        os._exit(1)
"""


@pytest.mark.parametrize(("workers", "ends"), [("1", [0, 4]), ("2", [1, 2, 5])], ids=str)
def test_one_that_ends_its_process_has_failed_and_all_others_run_once(
    tmp_path: Path, workers: str, ends: list[int]
) -> None:
    """Catches workers that wait for more than there is, and a test that ends one of them after another."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_ends.py").write_text(TESTS.format(ends=ends))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "xdist", "-n", workers]
    environment = {
        "PYTHONPATH": str(ROOT),
        "PATH": "",
        "PYTHONPYCACHEPREFIX": sys.pycache_prefix or "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # to load those that are not tried here takes half of the time
    }
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=HANG)
    assert f"{len(ends)} failed, {6 - len(ends)} passed" in ran.stdout
    for number in ends:
        assert f"crashed while running 'test_ends.py::test[{number}]'" in ran.stdout
