"""The revisions of the protocol that the host speaks, and how a request says which one it uses.

The newest is stateless: each request carries its revision in `_meta` and again, with its method and the
name of its tool, in headers, which have to agree. The older ones begin with `initialize`, and the server
gives them a session, which a header names from then on.

Pure functions of a request and its message.
"""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from server.net.escaping import in_quotes
from server.protocols.mcp.rpc import (
    BAD_PARAMETERS,
    HEADERS_DIFFER,
    NO_SUCH_REVISION,
    Message,
    RpcError,
    is_object,
)

STATELESS = ("2026-07-28",)
WITH_SESSION = ("2025-11-25", "2025-06-18")  # the first is offered to a client that asks for none of them
REVISIONS = (*STATELESS, *WITH_SESSION)

REVISION = "mcp-protocol-version"  # headers
METHOD, NAME = "mcp-method", "mcp-name"
META = "io.modelcontextprotocol/"  # the prefix of the protocol's own keys in `_meta`
BASE64, ITS_END = "=?base64?", "?="

Headers = Mapping[str, str]


def is_stateless(headers: Headers, message: Message) -> bool:
    """Whether a message is of a stateless revision; raises `RpcError` if it contradicts itself."""
    meta = _meta(message)
    said: object = meta.get(f"{META}protocolVersion")
    header = headers.get(REVISION)
    if said is None and (header is None or header in WITH_SESSION):
        return False
    _check_revision(header if said is None else said, message)
    if header != said:
        raise _differ("MCP-Protocol-Version", header, said, message)
    if said in WITH_SESSION:
        return False
    if not is_object(meta.get(f"{META}clientCapabilities")):
        expected = f"expected {META}clientCapabilities in _meta, an object that may be empty"
        raise RpcError(BAD_PARAMETERS, expected, id=message.id)
    _expect(headers, METHOD, message.method, message)
    if message.method == "tools/call":
        _expect(headers, NAME, message.params.get("name"), message)
    return True


def agreed(asked: object) -> str:
    """The revision of a new session: the one that the client asks for, if it is spoken."""
    return asked if isinstance(asked, str) and asked in WITH_SESSION else WITH_SESSION[0]


def _meta(message: Message) -> dict[str, Any]:
    meta: Any = message.params.get("_meta", {})
    if not is_object(meta):
        raise RpcError(BAD_PARAMETERS, "_meta is an object", id=message.id)
    return meta


def _check_revision(said: object, message: Message) -> None:
    if said not in REVISIONS:
        more = {"supported": list(REVISIONS), "requested": said}
        sentence = f"this host speaks the revisions {', '.join(REVISIONS)}"
        raise RpcError(NO_SUCH_REVISION, sentence, id=message.id, more=more)


def _expect(headers: Headers, name: str, value: object, message: Message) -> None:
    if (header := headers.get(name)) is None or _decoded(header) != value:
        raise _differ("-".join(part.capitalize() for part in name.split("-")), header, value, message)


def _differ(name: str, header: object, value: object, message: Message) -> RpcError:
    came = "is missing" if header is None else f"is {in_quotes(str(header))}"
    has = "none" if value is None else in_quotes(str(value))
    return RpcError(HEADERS_DIFFER, f"the header {name} {came}, and the body has {has}", id=message.id)


def _decoded(header: str) -> str | None:
    """A header's value, which is in base64 if it cannot stand there as it is."""
    if not (header.startswith(BASE64) and header.endswith(ITS_END)):
        return header
    try:
        return b64decode(header[len(BASE64) : -len(ITS_END)], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
