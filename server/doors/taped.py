"""HTTP as a bot's author reads it in the wire log: a request or an answer, in a line and its body.

    POST /tic-tac-toe/play/3f0e… {"action":"putSymbol","position":"b2"}
    200 X-Turn-Token: 5aac… {"lines":[],"hexagons":[],…

Headers that say how something is to be read, and not what it says, are left out.
Addresses and tokens that nobody else knows are cut before they are kept.
"""

from server.http import Request, Response
from server.wire_log import masked

TURN = "X-Turn-Token"


def requested(request: Request, secret: str) -> bytes:
    """A request, in whose address or headers is `secret`."""
    line = f"{request.method} {request.path}"
    if secret in line:
        line = line.replace(secret, masked(secret))
    if request.query:
        line += "?" + "&".join([f"{name}={value}" for name, value in request.query.items()])
    if (token := request.headers.get("x-turn-token")) is not None:
        line += f" {TURN}: {masked(token)}"
    return _noted(line, request.body)


def responded(response: Response) -> bytes:
    """An answer."""
    line = str(response.status)
    for name, value in response.own:
        if name == TURN:
            line += f" {TURN}: {masked(value)}"
    return _noted(line, response.body)


def _noted(line: str, body: bytes) -> bytes:
    return f"{line} ".encode("utf-8", "replace") + body if body else line.encode("utf-8", "replace")
