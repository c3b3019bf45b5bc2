"""What the page of a group shows: the table over its tournaments."""

from typing import Any

from server.host.grouping import frozen, members, table_over
from server.host.view import View
from server.pages import formatting
from server.pages.paging import page_of
from server.pages.tables import PAGE


async def page(host: View, name: str, asked: int) -> dict[str, Any] | None:
    """What the template is given; `asked` is the page of the table. None: there is no such group."""
    if not (held := members(host.tournaments, name)):
        return None
    rows = await table_over(host, held, host.boards.public)
    number, pages = page_of(len(rows), PAGE, asked)
    shown = rows[(number - 1) * PAGE : number * PAGE]
    said = dict[str, str]()
    for each in held:
        said |= each.record.public.affiliations  # the latest count
    return {
        "name": name,
        "held": held,
        "frozen": frozen(each.record for each in held),
        "rows": shown,
        "affiliations": {row.name: said[row.name] for row in shown if row.name in said},
        "page": number,
        "pages": pages,
        "address": formatting.paged(formatting.group_address(name)),
    }
