"""`quintain config`: the settings in force, and whether they are valid."""

from json import dumps

import msgspec

from server.commands.flags import Flag
from server.commands.keeping import KEPT, StoreOptions
from server.commands.templates import TEMPLATES, Template
from server.exits import DONE, Misuse
from server.net.escaping import json_line
from server.programs.terminal import say
from server.store.address import shown

HIDDEN = "***"  # in place of a secret


def config(*, json: Flag = False, template: Template | None = None, where: StoreOptions = KEPT) -> int:
    """Show the settings in force, and what is wrong with them.

    Flags override the environment (`QUINTAIN_PORTS__TCP=9000`), which overrides
    the file, which overrides the defaults. A setting that cannot be used is
    reported in one line with the place, the key and the reason, and exit code
    2. Passwords and secrets are not shown.

    Example: the settings that a host would start with here:

        quintain config --config quintain.toml

    Parameters
    ----------
    json
        On one line, for programs.
    template
        Print a configuration to begin with instead, for a quintain.toml: course, ladder or cup.
    """
    if template is not None:
        if json or where != KEPT:
            raise Misuse("--template prints a text that is always the same: it takes no other flag")
        say(TEMPLATES[template].rstrip())
        return DONE
    found = msgspec.to_builtins(where.settings())
    found["store"] = shown(found["store"])
    for webhook in found["webhook"]:
        webhook |= {"url": shown(webhook["url"]), "secret": HIDDEN}
    say(json_line(found) if json else dumps(found, indent=2))
    return DONE
