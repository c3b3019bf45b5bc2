"""The flag `--format`: the formats that its help lists.

Importing this imports every format there is, which takes some hundredths of a second.
"""

from typing import Annotated

from cyclopts import Parameter

from server.commands.games import listed
from tournament.format import offered

FormatName = Annotated[
    str,
    Parameter(help=f"The format, round-robin unless set: {listed([*offered()])}.", show_default=False),
]
