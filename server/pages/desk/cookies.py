"""The cookies of a request: where a browser shows its session."""

from server.http.wire import Request


def cookie(request: Request, name: str) -> str:
    """The value of a cookie; "" where there is none."""
    for pair in request.headers.get("cookie", "").replace(",", ";").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return ""
