"""The bill of materials: what a host runs on, as CycloneDX has it, made of the lock alone.

    python requirements/sbom.py [LOCK]

The lock is `requirements/run.txt` unless another one is named. Each package is listed with its version, the
hash of every file that may be installed, and where it is installed, if that is not everywhere. There is no
time, no random number and no place of download in it, so the same lock always makes the same file.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENT = re.compile(
    r"(?P<name>[a-z0-9._-]+)(\[.*?\])?==(?P<version>[^\s;]+)( ; (?P<where>.*?))?(?= --hash)"
)


def components(lock: str) -> list[dict[str, object]]:
    return [component(line) for line in lock.replace("\\\n", "").splitlines()]


def component(requirement: str) -> dict[str, object]:
    """One line of a lock. Raises `ValueError` if it is not pinned, or has no hash."""
    found = REQUIREMENT.match(re.sub(r"\s+", " ", requirement))
    if found is None:
        raise ValueError(f"expected NAME==VERSION with hashes, and got {requirement[:80]}")
    purl = f"pkg:pypi/{found['name']}@{found['version']}"
    hashes = sorted(re.findall(r"--hash=sha256:([0-9a-f]{64})", requirement))
    listed: dict[str, object] = {
        "type": "library",
        "bom-ref": purl,
        "name": found["name"],
        "version": found["version"],
        "hashes": [{"alg": "SHA-256", "content": each} for each in hashes],
        "purl": purl,
    }
    if found["where"]:
        listed["properties"] = [{"name": "quintain:where", "value": found["where"]}]
    return listed


def bill(lock: str, project: str) -> dict[str, object]:
    """That of a project: the text of its lock, and of its pyproject.toml."""
    about = tomllib.loads(project)["project"]
    purl = f"pkg:pypi/{about['name']}@{about['version']}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": about["name"],
                "version": about["version"],
                "description": about["description"],
                "licenses": [{"license": {"id": about["license"]}}],
                "purl": purl,
            }
        },
        "components": components(lock),
    }


if __name__ == "__main__":
    lock = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "run.txt"
    project = HERE.parent / "pyproject.toml"
    sys.stdout.write(f"{json.dumps(bill(lock.read_text(), project.read_text()), indent=2)}\n")
