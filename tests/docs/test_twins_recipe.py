"""The program in `docs/organisers.md` that looks for two names of one bot finds them in an export."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.hang import HANG
from tests.server.exports import exported, simulated, text

PAGE = (Path(__file__).parents[2] / "docs/organisers.md").read_text()
SEED = 3


def said(lines: list[Any]) -> list[str]:
    (program,) = re.findall(r"```python\n(import json\n.*?)```", PAGE, re.DOTALL)
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, input=b"".join(text(lines)), capture_output=True, check=True, timeout=HANG)
    return run.stdout.decode().splitlines()


def test_whoever_plays_the_same_matches_is_found_and_nobody_else() -> None:
    lines = exported(simulated(SEED))
    matches = [line for line in lines if line["type"] == "match" and line["plies"]]
    assert said(lines) == []
    name, _ = Counter(name for match in matches for name in match["players"]).most_common(1)[0]
    theirs = [match for match in matches if name in match["players"]]
    assert len(theirs) > 1
    twin = [
        match | {"players": ["twin" if each == name else each for each in match["players"]]}
        for match in theirs
    ]
    pair = " and ".join(sorted((name, "twin")))
    assert said(lines + twin) == [f"{pair}: the same match, move by move, {len(theirs)} times"]
    reversed_seats = [match | {"players": match["players"][::-1]} for match in twin]
    assert said(lines + reversed_seats) == [], "they did not move first where the other one did"
