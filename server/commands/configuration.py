"""`quintain config`: the settings in force, and whether they are valid."""

from json import dumps

import msgspec

from server.commands.flags import Flag
from server.commands.keeping import KEPT, Kept
from server.exits import DONE
from server.net.escaping import json_line
from server.programs.terminal import say
from server.store.address import shown


def config(*, json: Flag = False, where: Kept = KEPT) -> int:
    """Show the settings in force, and what is wrong with them.

    Flags over environment (`QUINTAIN_PORTS__TCP=9000`) over file over defaults.
    What cannot be taken is one line with the place, the key and the reason, and
    exit code 2. Passwords are not shown.

    Example: what a host would be started with here:

        quintain config --config quintain.toml

    Parameters
    ----------
    json
        On one line, for programs.
    """
    found = msgspec.to_builtins(where.settings())
    found["store"] = shown(found["store"])
    say(json_line(found) if json else dumps(found, indent=2))
    return DONE
