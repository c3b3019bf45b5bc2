"""Who plays what at the event, and how: the honest bots that attackers meet."""

from tests.adversaries.dialects import (
    arena,
    c4_arena,
    hexagon_dots,
    house_http,
    house_tcp,
    house_websocket,
    memo,
)
from tests.adversaries.honest import Pair

ENTRANTS = ("bob", "ida")  # of tournaments
REGULARS = ("lola", "otto")  # of open tables

CUPS = (  # tournaments of two, which last for longer than anybody looks
    Pair(ENTRANTS, "cup-santorini", "santorini", memo),
    Pair(ENTRANTS, "cup-connect-4", "connect-4", c4_arena),
    Pair(ENTRANTS, "cup-tic-tac-toe", "tic-tac-toe", arena),
    Pair(ENTRANTS, "cup-hexagon-dots", "hexagon-dots", hexagon_dots, share_a_watch=True),
    Pair(ENTRANTS, "cup-quoridor", "quoridor", house_http),
)
TABLES = (  # where strangers are dealt to as well
    Pair(REGULARS, "open-tic-tac-toe", "tic-tac-toe", house_tcp),
    Pair(REGULARS, "open-connect-4", "connect-4", house_websocket),
    Pair(REGULARS, "open-quoridor", "quoridor", house_http),
)
