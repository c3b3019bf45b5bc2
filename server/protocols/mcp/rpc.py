"""JSON-RPC 2.0, as far as the Model Context Protocol uses it: bytes to a message, answers to bytes.

Pure functions. Which methods there are is in `door.py`. A message without an id is a notification, which
is never answered. Several messages in one body, which old revisions had, are refused.
"""

from typing import Any, TypeGuard

import msgspec
from msgspec import Struct

from server.host import misfits
from server.http.wire import JSON, NO_STORE, Response

UNSTORED = (*JSON, NO_STORE)  # answers hold tokens

UNREADABLE, NO_MESSAGE, NO_METHOD, BAD_PARAMETERS = -32700, -32600, -32601, -32602
HEADERS_DIFFER, NO_SUCH_REVISION = -32020, -32022  # defined by the protocol itself

Id = str | int


class Message(Struct, frozen=True):
    method: str
    params: dict[str, Any]
    id: Id | None  # None: a notification


class RpcError(Exception):
    """The client's fault. The message is for its author."""

    def __init__(
        self,
        code: int,
        sentence: str,
        *,
        status: int = 400,
        id: Id | None = None,
        more: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status
        self.id = id  # of the request, if known
        self.more = more


def read(body: bytes) -> Message:
    """The message in a body; raises `RpcError`."""
    try:
        read = msgspec.json.decode(str(body, "utf-8"))
    except misfits.UNREADABLE as error:
        sentence = f"expected one message as JSON: {misfits.unreadable(error, 'message')}"
        raise RpcError(UNREADABLE, sentence) from None
    match read:
        case {"jsonrpc": "2.0", "method": str(method), **rest}:
            return Message(method, _params(rest), _id(rest))
        case [*_]:
            raise RpcError(NO_MESSAGE, "expected one message, not a list of several")
        case _:
            expected = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
            raise RpcError(NO_MESSAGE, f"expected a request or a notification, such as {expected}")


def _id(rest: dict[str, Any]) -> Id | None:
    if "id" not in rest:
        return None
    if isinstance(id := rest["id"], str) or type(id) is int:
        return id
    raise RpcError(NO_MESSAGE, "the id of a request is a string or a whole number")


def _params(rest: dict[str, Any]) -> dict[str, Any]:
    params: Any = rest.get("params", {})
    if not is_object(params):
        raise RpcError(BAD_PARAMETERS, "params is an object, by name", id=_id(rest))
    return params


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a JSON object, whose keys are strings."""
    return isinstance(value, dict)


def result(id: Id, content: dict[str, Any], *own: tuple[str, str]) -> Response:
    body = msgspec.json.encode({"jsonrpc": "2.0", "id": id, "result": content})
    return Response(200, UNSTORED, body, own=own)


def failure(error: RpcError, id: Id | None = None) -> Response:
    """What a client is told of an error; without the id of a request that could not be read."""
    known = error.id if id is None else id
    content: dict[str, Any] = {"jsonrpc": "2.0"} | ({} if known is None else {"id": known})
    more = {} if error.more is None else {"data": error.more}
    content["error"] = {"code": error.code, "message": str(error), **more}
    return Response(error.status, UNSTORED, msgspec.json.encode(content))


ACCEPTED = Response(202)  # to a notification
