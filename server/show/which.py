"""Which requests are answered in show: those for pages, and those that only look at tournaments.

All processes ask here, and have to agree: each hands the requests that it does not answer to another.
"""

from server.http.routes import is_page
from server.http.sharing import READS
from server.http.wire import Request
from server.pages.door import shows
from server.protocols.api.door import looks


class ShownRequests:
    def __init__(self, *, door_at_root: bool) -> None:
        """`door_at_root`: some dialect also answers at `/`, for programs and not for browsers."""
        self.door_at_root = door_at_root

    def is_shown(self, request: Request) -> bool:
        return request.method in READS and (
            is_page(request, shows, door_at_root=self.door_at_root) or looks(request)
        )
