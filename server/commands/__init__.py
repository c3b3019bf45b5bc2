"""What `quintain` can be told to do: one file a group of commands, imported when it is asked for.

A command is a function whose docstring is its help page. It prints its result
and returns an exit code, or raises a `Failure`. To add one, write it here and
give it a line in `COMMANDS`.

May import: `net`, `store`, `export`, `programs`, `config`, `doctor`, `exits`,
`host.names`, `logs`, `show.__main__`, `show.child`, `show.conduit`, `serve`, `without_rich`,
`workers.__main__` and `workers.starting`.
"""

from collections.abc import Mapping
from types import MappingProxyType

# The module of each command, and the first line of its help for the list, without importing it.
COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "serve": ("serve:serve", "Start a host, and hold tournaments until told to stop."),
        "demo": ("demo:demo", "Hold a tournament of house bots in every game, over real connections."),
        "bot": ("bot:bot", "Play with a house bot, on any host."),
        "play": ("play:play", "Play with a program of yours, on any host."),
        "match": ("match:match", "Have two programs play each other here, without a host."),
        "check": ("check:check", "Test a program or a client, and say what broke."),
        "new": ("new:new", "Create a folder with a working bot, in a language of your choice."),
        "tournament": ("tournament:app", "Manage the tournaments of a running host."),
        "admin-link": (
            "admin_link:admin_link",
            "Print a one-time link that opens the organiser's desk in a browser.",
        ),
        "standings": ("results:standings", "Print the standings of a tournament."),
        "replay": ("results:replay", "Print a match, move by move."),
        "import-match": (
            "import_match:import_match",
            "Read a match from its text, and replay it by the rules.",
        ),
        "export": ("keeping:export", "Write tournaments to standard output, as JSON Lines."),
        "import": ("keeping:import_", "Put the tournaments of an export into a store."),
        "archive": ("archive:archive", "Move tournaments that are over out of a store, into a file."),
        "backup": ("keeping:backup", "Copy everything that is kept to a file."),
        "restore": ("keeping:restore", "Go back to a backup."),
        "config": ("configuration:config", "Show the settings in force, and what is wrong with them."),
        "doctor": ("doctor:doctor", "Check whether a host can run here, and say what is wrong."),
        "verify": ("verifying:verify", "Replay every match of an export, and report what does not follow."),
    }
)
