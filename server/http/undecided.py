"""An order whose answer is lost with the process, or the host, that was to carry it out.

Nobody can say any more whether it was carried out, so this must not read like a refusal, after which it may
simply be given again. Balancers answer with the same status when a host dies on them.

What bots ask is no order: by the rules of their protocols they may ask again.
"""

from server.http.bare_page import asks_for_page, refusal
from server.http.head import HttpError
from server.http.sharing import READS
from server.http.wire import Request, Response

GIVEN_AT = ("api", "admin")  # the first parts of the paths
UNDECIDED = (
    "what was to carry out this order was lost before it had answered, so nobody knows whether it was done: "
    "look, and give it again if it was not"
)


def is_order(request: Request) -> bool:
    return request.method not in READS and request.path.strip("/").partition("/")[0] in GIVEN_AT


def undecided(request: Request) -> Response:
    return refusal(HttpError(502, UNDECIDED), to_browser=asks_for_page(request.headers))
