"""Groups of tournaments, over the API: which there are, and the table over all tournaments of a group.

Each function answers one route of `table.py`.
"""

from itertools import islice

from server.host.boards import NoBoard
from server.host.grouping import frozen, groups, members, table_over
from server.host.view import HeldTournament, View
from server.http.head import HttpError
from server.http.wire import Response, json_response
from server.net.escaping import in_quotes
from server.protocols.api.call import Answer, Look
from server.protocols.api.paging import asked
from server.protocols.api.reading import not_yet


def listed(call: Look) -> Answer:
    """All groups, or the table of the one in ?name=; `..` is no name to clients where it is in a path."""
    if name := call.exchange.request.query.get("name"):
        return table(call, name, found(call.view, name))
    known, page = groups(call.view), asked(call.exchange.request)
    some = islice(known.items(), page.after, page.end)
    shown = [{"group": name, "tournaments": [each.record.name for each in held]} for name, held in some]
    return json_response(200, {"groups": shown, "next": page.next(len(known))})


def found(view: View, name: str) -> list[HeldTournament]:
    """The tournaments of a group; raises `HttpError`."""
    if not (held := members(view.tournaments, name)):
        raise HttpError(404, f"there is no group {in_quotes(name)}")
    return held


async def table(call: Look, name: str, held: list[HeldTournament]) -> Response:
    page = asked(call.exchange.request)
    try:
        rows = await table_over(call.view, held, call.board)
    except NoBoard as error:
        raise not_yet(error) from None
    names = [each.record.name for each in held]
    shown = {"group": name, "tournaments": names, "frozen": frozen(each.record for each in held)}
    return json_response(200, shown | {"rows": rows[page.after : page.end], "next": page.next(len(rows))})
