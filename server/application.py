"""The application that answers requests in a process that plays: dialects, API, wire log, desk and pages."""

from collections.abc import Callable, Sequence

from server.config import Settings
from server.export.signing import Signer
from server.host.host import Host
from server.host.wire_reader import WireReader
from server.http.exchange import App
from server.http.origins import Origins
from server.http.routes import HttpDoor, routed
from server.pages.addresses import Addresses
from server.pages.desk.door import DeskDoor
from server.pages.desk.sessions import Sessions
from server.pages.door import Pages
from server.pages.wire import WirePage
from server.protocols.api.door import Api


def application(
    host: Host,
    settings: Settings,
    addresses: Addresses,
    token: str,
    spoken: Sequence[HttpDoor],
    *,
    sessions: Sessions | None,
    login: Callable[[], str] | None,
    key: Signer | None,
    looks: bool,
) -> App:
    """`spoken` are the doors of dialects. The organiser's `token` also makes links to the desk, by `login`.

    Without `sessions` there is no desk. It `looks` if there is no process for pages to answer for
    the API.
    """
    pages = Pages(host, addresses, key=key and key.public, limits=settings.limits)
    origins = Origins(settings.origins)
    doors = (
        *spoken,
        Api(host, token, login, origins, looks=looks, signer=key),
        WirePage(pages, WireReader(host, token)),
        DeskDoor(host, pages.site, sessions, origins),
    )
    return routed(doors, pages, origins)
