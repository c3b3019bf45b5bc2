"""A match that was read back is judged by the rules, its clocks and its ending."""

import re

from games.catalogue import catalogue
from server.export.match_import import checked
from server.export.match_text import read, text
from tests.server.export.test_match_text import played, record


def test_what_does_not_follow_from_the_moves_is_found() -> None:
    game = catalogue()["tic-tac-toe"]
    written = text(record(game), played(game))
    turned = re.sub(r"player \d has won", "nobody has won", written)
    slow = re.sub(r"0\.\d{6} s", "9999.000000 s", written, count=1)
    for spoilt in (turned, slow):
        _, findings = checked(read(spoilt))
        assert findings


def test_a_format_that_is_not_there_is_a_finding() -> None:
    game = catalogue()["tic-tac-toe"]
    _, findings = checked(read(text(record(game), played(game)).replace("round-robin", "swindle")))
    assert findings == ["there is no format swindle"]
