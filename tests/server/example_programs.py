"""Bots that are programs: a good one, and one for each way of going wrong."""

import sys
from pathlib import Path

HEAD = """import json, sys, time
for line in sys.stdin:
    turn = json.loads(line)
    state = turn["state"]
"""
GOOD = """    move = next(column for column in range(7) if state[column * 6 + 5] == 0)
    print(move, flush=True)
"""
FIELDS = "type match ply turn last state clock you players options moves refused"

PROGRAMS = {
    "good": HEAD + GOOD,
    "illegal": HEAD + "    print(9, flush=True)\n",
    "mute": HEAD + "    time.sleep(0.01)\n",
    "unflushed": "import sys\nout = open(1, 'w', 4096)\nfor line in sys.stdin:\n    print(3, file=out)\n",
    "chatty": HEAD + GOOD + "    print('done', flush=True)\n",
    "crashing": HEAD + "    if turn['ply'] > 3:\n        sys.exit('no idea \\x1b[31m')\n" + GOOD,
    "strict": HEAD + f"    assert set(turn) <= set('{FIELDS}'.split()), 'what is this?'\n" + GOOD,
    "stubborn": "import time\n" + HEAD + GOOD + "while True:\n    time.sleep(1)\n",
}


def command(folder: Path, name: str) -> str:
    path = folder / f"{name}.py"
    path.write_text(PROGRAMS[name])
    return f"{sys.executable} {path}"
