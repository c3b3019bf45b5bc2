"""Configurations to begin with: what `quintain config --template NAME` prints."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Template = Literal["course", "ladder", "cup"]

_COURSE = """\
# A course: everybody plays everybody, twice, at a fixed hour; the same again every week.
# Bots are invited by name, so that nobody can play under somebody else's; to week 2 when week 1 is over.
# NAME is the host's name as bots reach it, which is in the letters:
#     quintain tournament enter week-1 --from students.csv --invitations letters --url http://NAME:8080

bind = "0.0.0.0"          # bots come from other machines

[backups]
every = "1d"
keep = 14

[[tournament]]
name = "week-1"
game = "santorini"
format = "double-round-robin"
group = "course"          # the weeks belong together
absent = "settle"         # the host stops waiting for a bot that misses two matches in a row
start_at = 2030-03-01T17:00:00Z
pace = { turn = 5.0 }

[[tournament]]
name = "week-2"
game = "santorini"
format = "double-round-robin"
group = "course"
absent = "settle"
start_at = 2030-03-08T17:00:00Z
pace = { turn = 5.0 }
"""

_LADDER = """\
# A ladder: it never ends, bots come and go, and each is paired with somebody of about its strength.
# Start it once with `quintain tournament start ladder`, as soon as two bots are there.

bind = "0.0.0.0"          # bots come from other machines

[backups]
every = "6h"
keep = 28

[[tournament]]
name = "ladder"
game = "connect-4"
format = "ladder"
pace = { bank = 60.0, gain = 0.5 }
"""

_CUP = """\
# A cup in one evening: a Swiss tournament of seven rounds, and a knockout of the best eight.
# Enter the best eight in the final, the best first, for they are seeded in this order. Tell them to come back
# with --tournament final. It begins when all of them are there; nobody else can come.
#     quintain tournament enter final NAME NAME …

bind = "0.0.0.0"          # bots come from other machines

[[tournament]]
name = "swiss"
game = "quoridor"
format = "swiss"
rounds = 7
group = "cup"
start_at = 2030-03-01T18:00:00Z
check_in = "15m"          # whoever has not been here by then is not drawn
pace = { bank = 120.0, gain = 1.0 }

[[tournament]]
name = "final"
game = "quoridor"
format = "knockout"
entrants = 8
by_invitation = true      # only entrants play here
group = "cup"
pace = { bank = 300.0, gain = 2.0 }
"""

TEMPLATES: Mapping[Template, str] = MappingProxyType({"course": _COURSE, "ladder": _LADDER, "cup": _CUP})
