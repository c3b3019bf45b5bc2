"""The bill of materials names what is locked, exactly, and is the same however often it is made."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def made(*words: str | Path, folder: Path = ROOT, seed: str = "0") -> bytes:
    """What the command prints, elsewhere and with other hashes of strings."""
    command = [sys.executable, ROOT / "requirements/sbom.py", *words]
    return subprocess.run(
        command, cwd=folder, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
    ).stdout


def components(bill: bytes) -> list[dict[str, Any]]:
    return msgspec.json.decode(bill)["components"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_it_names_what_is_locked_with_versions_and_hashes(lock: Path) -> None:
    locked = set[tuple[str, str, str, frozenset[str]]]()
    for line in lock.read_text().replace("\\\n", "").splitlines():
        named, *hashes = re.split(r"\s+--hash=sha256:", line)
        requirement = Requirement(named)
        version = str(requirement.specifier).removeprefix("==")
        where = str(requirement.marker or "")
        locked.add((requirement.name, version, where.replace('"', "'"), frozenset(map(str.strip, hashes))))
    listed = [
        (
            each["name"],
            each["version"],
            "".join(each["value"] for each in each.get("properties", [])),
            frozenset(each["content"] for each in each["hashes"]),
        )
        for each in components(made(lock))
    ]
    assert len(listed) == len(locked)
    assert set(listed) == locked


def test_it_is_that_of_a_host_unless_it_is_told_otherwise_and_always_the_same(tmp_path: Path) -> None:
    bill = made()
    assert bill == made(ROOT / "requirements/run.txt", folder=tmp_path, seed="1")
    about = msgspec.json.decode(bill)["metadata"]["component"]
    project = msgspec.toml.decode((ROOT / "pyproject.toml").read_bytes())["project"]
    assert {name: about[name] for name in ("name", "version")} == {
        name: project[name] for name in ("name", "version")
    }


def test_it_names_no_place_of_download_and_each_package_by_one_url() -> None:
    for lock in LOCKS:
        bill = made(lock)
        assert re.findall(rb"\w+://\S+", bill) == []
        names = [each["bom-ref"] for each in components(bill)]
        assert len(set(names)) == len(names)
        assert names == [f"pkg:pypi/{each['name']}@{each['version']}" for each in components(bill)]


@pytest.mark.parametrize("line", ["trio>=0.35 --hash=sha256:00", "trio==0.35.0", ""])
def test_a_lock_that_is_none_is_refused(line: str, tmp_path: Path) -> None:
    """Catches a package left out because its line could not be read."""
    lock = tmp_path / "lock.txt"
    lock.write_text(f"trio==0.35.0 --hash=sha256:{'0' * 64}\n{line}\n")
    with pytest.raises(subprocess.CalledProcessError):
        made(lock)
