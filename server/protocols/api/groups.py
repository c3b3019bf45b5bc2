"""Groups of tournaments, over the API: which there are, and the table over all tournaments of a group.

Each function answers one route of `table.py`.
"""

from server.host.boards import NoBoard
from server.host.grouping import groups
from server.host.view import Held
from server.http.wire import Response, json_response
from server.protocols.api.call import Look
from server.protocols.api.paging import asked
from server.protocols.api.reading import not_yet
from tournament.across import across


def listed(call: Look) -> Response:
    found = groups(call.view).items()
    shown = [{"group": name, "tournaments": [each.record.name for each in held]} for name, held in found]
    return json_response(200, {"groups": shown})


async def table(call: Look, name: str, held: list[Held]) -> Response:
    page = asked(call.exchange.request)
    try:
        tables = [(await call.board(each.record))[1].rows for each in held]
    except NoBoard as error:
        raise not_yet(error) from None
    rows = await call.view.boards.run(lambda: across(tables))
    frozen = any(each.record.frozen is not None for each in held)
    shown = {"group": name, "tournaments": [each.record.name for each in held], "frozen": frozen}
    return json_response(200, shown | {"rows": rows[page.after : page.end], "next": page.next(len(rows))})
