"""python -m tests.server.export.bbppairings PROGRAM: give bbpPairings our exports, and keep what it says."""

import subprocess
import sys
from pathlib import Path

from server.export.trf import trf
from tests.hang import HANG
from tests.server.export.bbppairings.events import EVENTS, event, falsified, kept
from tests.server.export.test_trf import recorded


def main(program: str) -> None:
    for number in range(EVENTS):
        text = trf(recorded(event(number)))
        kept(number, "trf").write_bytes(text.encode())
        taken = asked(program, kept(number, "trf"))
        if taken.returncode:
            raise SystemExit(f"bbpPairings does not take event {number}: {taken.stderr.decode()}")
        kept(number, "drawn").write_bytes(taken.stdout)
        wrong = kept(number, "wrong")
        wrong.write_bytes(falsified(text).encode())
        refused = asked(program, wrong)
        wrong.unlink()
        if not refused.returncode:
            raise SystemExit(f"bbpPairings takes event {number} with points that do not follow")
        kept(number, "refused").write_text(refused.stderr.decode().partition(": ")[2])


def asked(program: str, file: Path) -> subprocess.CompletedProcess[bytes]:
    """To draw the next round, for which it has to read all that there is."""
    return subprocess.run(
        [program, "--dutch", str(file), "-p"], capture_output=True, timeout=HANG, check=False
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
