"""The host to which a command speaks, and with whose rights: flags that such commands have in common."""

from dataclasses import dataclass

from cyclopts import Parameter

from server.commands.flags import Secret
from server.programs.api_client import Remote


@Parameter(name="*")
@dataclass(frozen=True)
class HostOptions:
    """The host.

    Parameters
    ----------
    url
        The address of the host's HTTP port.
    """

    url: str = "http://127.0.0.1:8080"

    def remote(self) -> Remote:
        return Remote(self.url)


@Parameter(name="*")
@dataclass(frozen=True)
class DeskOptions:
    """The host, for its organiser.

    Parameters
    ----------
    url
        The address of the host's HTTP port.
    token
        The organiser's token; unless set, QUINTAIN_TOKEN or the one in the data folder.
    data
        The host's data folder.
    """

    url: str = "http://127.0.0.1:8080"
    token: Secret = None
    data: str = "quintain-data"

    def remote(self) -> Remote:
        return Remote(self.url, self.token, self.data)
