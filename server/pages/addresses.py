"""Where the doors listen, and the addresses by which the reader of a page reaches them."""

import re
from collections.abc import Mapping

from msgspec import Struct

from server.http.wire import Request

HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


class Addresses(Struct, frozen=True):
    """Where the doors listen: `127.0.0.1:8000`, as the ready line has it."""

    tcp: str = "127.0.0.1:8000"
    websocket: str = "127.0.0.1:8001"
    http: str = "127.0.0.1:8080"
    # By which others reach these ports, if not at the name of the page; None: they do not
    tcp_url: str | None = ""
    websocket_url: str = ""

    def reached(self, request: Request) -> Mapping[str, str]:
        """How to reach the doors, under the host name by which the request came.

        `url` is empty if others do not reach the TCP port. `host` and `tcp` are then where it listens.
        """
        asked = HOST.fullmatch(request.headers.get("host", ""))
        name = asked[1] if asked else self.http.rpartition(":")[0]
        websocket = self.websocket.rpartition(":")[2]
        url = "" if self.tcp_url is None else self.tcp_url or f"tcp://{name}:{self.tcp.rpartition(':')[2]}"
        host, _, tcp = (url or self.tcp).removeprefix("tcp://").rpartition(":")
        own = "s" if request.secure else ""
        seen = "s" if over_tls(request) else ""
        return {
            "host": host.strip("[]"),
            "tcp": tcp,
            "url": url,
            "websocket": self.websocket_url or f"ws{own}://{name}:{websocket}",
            "http": f"http{seen}://{asked[0] if asked else self.http}",
        }


def over_tls(request: Request) -> bool:
    """Whether the browser speaks TLS, with this host or with a proxy, which says so.

    Anybody can say so. Nothing follows but what their own browser is shown and keeps.
    """
    said = request.headers.get("x-forwarded-proto", "")
    first = said.partition(",")[0]  # of several proxies, the one with which the browser speaks
    return request.secure or first.strip().lower() == "https"
