"""`quintain admin-link`: the way into the organiser's desk of a host that runs."""

from server.commands.hosts import DeskOptions
from server.exits import DONE
from server.programs.answers import Link
from server.programs.terminal import say


def admin_link(*, desk: DeskOptions | None = None) -> int:
    """Print a one-time link that opens the organiser's desk in a browser.

    The link is valid for 15 minutes.

    Example: for a host with another data folder, on another port:

        quintain admin-link --data friday --url http://127.0.0.1:9000
    """
    remote = (desk or DeskOptions()).remote()
    say(remote.url + remote.post("admin-link", like=Link)["path"])
    return DONE
