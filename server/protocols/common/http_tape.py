"""HTTP as a bot's author reads it in the wire log: a request or an answer, in a line and its body.

    POST /tic-tac-toe/play/3f0e… {"action":"putSymbol","position":"b2"}
    200 X-Turn-Token: 5aac… {"lines":[],"hexagons":[],…

Headers about how to read a message, and not about what it says, are left out.
Addresses and tokens that nobody else knows are cut before they are kept.
"""

from functools import lru_cache

from server.host.wire_log import masked
from server.http.wire import Request, Response

TURN = "X-Turn-Token"
LINES = 1024  # beginnings of requests that are remembered: a bot sends the same one with every move


def requested(request: Request, secret: str) -> bytes:
    """A request with `secret` in its address or headers."""
    path, body = request.path, request.body
    line = _line(request.method, path, secret if secret in path else "")
    if request.query:
        line += _encoded("?" + "&".join([f"{name}={value}" for name, value in request.query.items()]))
    if (token := request.headers.get("x-turn-token")) is not None:
        line += _turn(token)
    return b"%b %b" % (line, body) if body else line


def responded(response: Response) -> bytes:
    """An answer."""
    line, body = b"%d" % response.status, response.body
    for name, value in response.own:
        if name == TURN:
            line += _turn(value)
    return b"%b %b" % (line, body) if body else line


@lru_cache(LINES)
def _line(method: str, path: str, secret: str) -> bytes:
    line = f"{method} {path}"
    return _encoded(line.replace(secret, masked(secret)) if secret else line)


def _turn(token: str) -> bytes:
    return f" {TURN}: {masked(token)}".encode("utf-8", "replace")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
