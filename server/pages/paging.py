"""Which page of a long list is shown. Pages are counted from 1, and even an empty list has one."""

from server.http.wire import Request


def asked_for(request: Request, name: str) -> int | None:
    """The number for which a request asks under that name."""
    given = request.query.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 7 else None


def page_of(total: int, size: int, asked: int) -> tuple[int, int]:
    """The page nearest to the one asked for, of a list cut into pages of `size`; and how many there are."""
    pages = max(1, -(-total // size))
    return min(max(asked, 1), pages), pages
