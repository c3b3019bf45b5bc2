"""The layout shows the design, and these tests keep it so."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("games", "tournament", "server")  # each may import those before it, and itself
TOP = {"pyproject.toml", "server", "games", "tournament", "tests", "docs", "clients"}
TOP |= {"README.md", "LICENSE", "CHANGELOG.md", "Makefile", "requirements", ".ci", ".gitignore", ".npmrc"}

# What the rules of a game have no use for: a clock, a socket, a thread, an event loop.
WORLDLY = {
    "asyncio",
    "concurrent",
    "datetime",
    "multiprocessing",
    "os",
    "select",
    "selectors",
    "signal",
    "socket",
}
WORLDLY |= {"sqlite3", "ssl", "subprocess", "threading", "time", "trio"}


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def parsed(source: Path) -> ast.Module:
    return ast.parse(source.read_text())


@cache
def imported(source: Path) -> list[str]:
    """What a file imports, wherever in the file it does; of `from a import b`, `a.b`."""
    found: list[str] = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: imports are the literal names"
            assert node.module is not None
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def imports(source: Path) -> Iterator[str]:
    """The top-level names of that."""
    return (name.split(".")[0] for name in imported(source))


# The server's files are so many that to parse them is not for the daily loop.
each_layer = pytest.mark.parametrize(
    "layer", ["games", "tournament", pytest.param("server", marks=pytest.mark.slow)]
)


@each_layer
def test_imports_only_go_down(layer: str) -> None:
    above = set(LAYERS[LAYERS.index(layer) + 1 :]) | {"tests", "clients"}
    upward = {(source.name, name) for source in sources(layer) for name in imports(source) if name in above}
    assert sources(layer)
    assert not upward


def test_games_know_no_clock_socket_thread_or_event_loop() -> None:
    worldly = {
        (source.name, name) for source in sources("games") for name in imports(source) if name in WORLDLY
    }
    assert not worldly


# The server is boxes: its folders, which are wings, and its single files. Arrows are imports between boxes.

SERVER = ROOT / "server"
WINGS = sorted(found.parent for found in SERVER.glob("*/__init__.py"))
MAY_IMPORT = re.compile(r"May import: (.*?)[.;](?:\s|$)", re.DOTALL)


def names_within(folder: Path, box: Path) -> set[str]:
    """What the files of a box import of a folder, as `net.wire.Wire`, beside what is in the box itself."""
    within = ".".join(folder.relative_to(ROOT).parts) + "."
    own = f"{within}{box.stem}."
    files = [box] if box.is_file() else sorted(box.rglob("*.py"))
    found = {name for file in files for name in imported(file) if name.startswith(within)}
    return {name.removeprefix(within) for name in found if not f"{name}.".startswith(own)}


def arrows() -> dict[str, set[str]]:
    """Each box with those that it imports."""
    boxes = [*WINGS, *(file for file in SERVER.glob("*.py") if file.name != "__init__.py")]
    return {box.stem: {name.split(".")[0] for name in names_within(SERVER, box)} for box in boxes}


def allowed(package: Path) -> set[str]:
    """What a package says that it may import."""
    purpose = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    found = MAY_IMPORT.search(purpose)
    assert found is not None, f"{package.name}: expected `May import: …` at the head of its __init__.py"
    return set(re.findall(r"`([\w.]+)`", found[1]))


def covers(permitted: str, name: str) -> bool:
    return f"{name}.".startswith(f"{permitted}.")


@pytest.mark.slow
@pytest.mark.parametrize("wing", WINGS, ids=lambda wing: wing.name)
def test_a_wing_imports_what_it_says_that_it_may_and_nothing_else(wing: Path) -> None:
    names, permitted = names_within(SERVER, wing), allowed(wing)
    assert not {name for name in names if not any(covers(may, name) for may in permitted)}
    assert not {may for may in permitted if not any(covers(may, name) for name in names)}, "not used"


def test_what_dialects_have_in_common_imports_what_it_says_that_it_may() -> None:
    common = SERVER / "protocols/common"
    outside = {name for name in names_within(SERVER, common) if not name.startswith("protocols.")}
    assert {name.split(".")[0] for name in outside} == allowed(common)


@pytest.mark.slow
def test_no_two_boxes_of_the_server_import_each_other_not_even_by_way_of_others() -> None:
    TopologicalSorter(arrows()).prepare()  # raises CycleError, which names them


def dialects() -> list[Path]:
    """The files and folders that declare one, found without importing any."""
    declares = re.compile(r"^DIALECT\b", re.MULTILINE)
    inside = (SERVER / "protocols").glob("*/dialect.py")
    single = (file for file in (SERVER / "protocols").glob("*.py") if declares.search(file.read_text()))
    return sorted([*(file.parent for file in inside), *single])


BUILT_ON = {"mcp": {"house"}}  # what it says are the messages of the house protocol, by other requests


@pytest.mark.slow
def test_dialects_are_imported_neither_by_each_other_nor_by_what_carries_them() -> None:
    found = {dialect.stem for dialect in dialects()}
    assert len(found) >= 5
    protocols = SERVER / "protocols"
    parts = [part for part in protocols.iterdir() if part.suffix == ".py" or (part / "__init__.py").exists()]
    for part in (*parts, SERVER / "http"):
        names = {name.split(".")[0] for name in names_within(protocols, part)}
        assert not (names & found) - BUILT_ON.get(part.stem, set()), part.stem


def tracked(*patterns: str) -> list[str]:
    """What belongs to the repository, or would once it is added."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.splitlines()


def test_the_top_level_is_the_five_folders_and_what_goes_with_them() -> None:
    assert {line.split("/")[0] for line in tracked()} <= TOP


@each_layer
def test_every_file_says_what_it_is_for(layer: str) -> None:
    silent = [str(source) for source in sources(layer) if not ast.get_docstring(parsed(source))]
    assert not silent


def test_lock_files_name_no_place_of_download() -> None:
    locks = sorted((ROOT / "requirements").glob("*.txt"))
    assert {lock.stem for lock in locks} >= {"run", "dev"}
    for lock in locks:
        content = lock.read_text()
        assert "://" not in content, lock
        assert not re.search(
            r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links)\b", content, re.MULTILINE
        ), lock
    for lock in tracked("*package-lock.json"):
        assert '"resolved"' not in (ROOT / lock).read_text(), lock


def test_every_locked_requirement_is_pinned_and_hashed() -> None:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        for requirement in lock.read_text().replace("\\\n", "").splitlines():
            assert re.match(r"[a-z0-9._\-\[\],]+==\S+", requirement), f"{lock.name}: {requirement[:80]}"
            assert "--hash=sha256:" in requirement, f"{lock.name}: {requirement[:80]}"


def test_no_lock_knows_only_what_one_machine_has() -> None:
    """A package has more than one file: one for each platform and Python, or a wheel and its source.

    A lock with the only wheel that an index nearby had installs on that Python and that platform alone.
    """
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        for requirement in lock.read_text().replace("\\\n", "").splitlines():
            assert requirement.count("--hash=sha256:") > 1, f"{lock.name}: {requirement[:80]}"


def test_what_is_declared_is_locked() -> None:
    """Catches a dependency added to pyproject.toml without `make lock`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = [each for extra in project["project"]["optional-dependencies"].values() for each in extra]
    declared = {"run": project["project"]["dependencies"], "extras": extras} | project["dependency-groups"]
    for group, requirements in declared.items():
        lock = (ROOT / f"requirements/{group}.txt").read_text()
        for requirement in requirements:
            name = re.match(r"[A-Za-z0-9\-_.]+", requirement)
            assert name is not None
            assert re.search(rf"^{re.escape(name[0])}(\[.*\])?==", lock, re.MULTILINE), (
                f"{name[0]} in {group}.txt"
            )


def test_what_a_host_runs_on_has_one_version_in_all_locks() -> None:
    """What is tested and audited is what is installed. Catches a lock not compiled with the others."""
    pinned = re.compile(r"^([a-z0-9._-]+)(?:\[.*?\])?==(\S+)", re.MULTILINE)
    locks = {lock.stem: lock.read_text() for lock in (ROOT / "requirements").glob("*.txt")}
    run = {*pinned.findall(locks["run"])}
    names = {name for name, _ in run}
    for lock in locks.keys() - {"uv"}:
        assert {pin for pin in pinned.findall(locks[lock]) if pin[0] in names} == run, lock


def test_a_host_needs_what_it_imports_and_nothing_else() -> None:
    """Catches a dependency that is used no more, and one that is there only because of another one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    needed, optional = (
        {re.split("[^a-z0-9-]", each)[0].replace("-", "_").removesuffix("_py") for each in some}
        for some in (project["dependencies"], extras)
    )
    files = [source for layer in LAYERS for source in sources(layer)]
    found = {name.split(".")[0] for source in files for name in imported(source)} - sys.stdlib_module_names
    assert needed <= found
    assert found <= needed | optional | {*LAYERS, "quintain_bot"}


@pytest.mark.slow
@pytest.mark.parametrize("package", ["games", "tournament"])
def test_a_layer_loads_nothing_heavy_until_it_is_needed(package: str) -> None:
    """numpy and networkx take longer to import than the host takes to start."""
    program = (
        "import sys, importlib, pkgutil\n"
        f"import {package}\n"
        f"for found in pkgutil.walk_packages({package}.__path__, '{package}.'):\n"
        "    importlib.import_module(found.name)\n"
        "print([name for name in ('numpy', 'networkx', 'scipy') if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
@pytest.mark.parametrize("target", ["serve", "demo"])
def test_a_checkout_may_lie_in_a_folder_whose_name_has_a_space(target: str, tmp_path: Path) -> None:
    """Catches `make serve` in "My Projects", which looked for a program of that name."""
    folder = tmp_path / "My Projects"
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    environment = {"PATH": os.environ["PATH"]}  # and nothing of a `make test` that runs this
    make = ("make", "--dry-run", target)
    told = subprocess.run(make, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    words = shlex.split(told.stdout.splitlines()[-1])
    assert words[-2:] == [".venv/bin/quintain", target]
    assert words[-3] == f"PYTHONPYCACHEPREFIX={folder}/.cache/bytecode"
