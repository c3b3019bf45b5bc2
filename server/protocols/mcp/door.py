"""The Model Context Protocol over HTTP: `POST /mcp` takes one message and returns its answer as JSON.

This file decides which methods there are in which revision; tools are in `tools.py`. Nothing is streamed,
so `GET` has nothing to offer. A browser that comes by `GET` is led to the page of the protocol.

Pages of other sites may do nothing here, and those of sites that the organiser lists may do everything, which
a browser has to be told.
"""

from collections.abc import Awaitable
from typing import Any

import trio

from server.host.host import Host
from server.host.wire_log import NO_TAPE
from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.origins import Origins
from server.http.sharing import HEADERS, Sharing, preflight
from server.http.wire import Response, takes_only
from server.net.escaping import in_quotes, safe
from server.protocols.mcp import rpc
from server.protocols.mcp.places import Places
from server.protocols.mcp.revisions import META, REVISIONS, agreed, is_stateless
from server.protocols.mcp.rpc import BAD_PARAMETERS, NO_MESSAGE, NO_METHOD, Message, RpcError
from server.protocols.mcp.sessions import Full, Session, Sessions, announced
from server.protocols.mcp.tools import TOOLS, Tool, ToolCall, called, listed
from server.protocols.mcp.words import INSTRUCTIONS

HOST = {"name": "quintain", "title": "Quintain", "version": "1"}
CAPABILITIES: dict[str, Any] = {"tools": {}}
CACHED = {"ttlMs": 3_600_000, "cacheScope": "public"}  # the tools are the same as long as the host runs
SESSION = "mcp-session-id"
PAGE = "/protocols/mcp"
WITH_LISTED = Sharing(
    frozenset({"POST", "DELETE"}),
    "DELETE, POST",
    headers=f"{HEADERS}, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
)
READABLE = ("Access-Control-Expose-Headers", "Mcp-Session-Id")


class McpDoor:
    paths = frozenset({"mcp"})

    def __init__(self, host: Host, origins: Origins) -> None:
        self._host = host
        self._origins = origins
        self._places = Places(host)
        self._sessions = Sessions(host.limits, self._places.is_played, lambda key: host.on_key_gone(key))

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request = exchange.request
        if request.path.rstrip("/") != "/mcp":
            raise HttpError(404, f"there is nothing at {safe(request.path)}")
        exchange.shared = self._origins.lists(request)
        if where := self._origins.foreign(request):
            sentence = f"a page of {where} may not play here: the organiser can list its site as `origins`"
            exchange.respond(rpc.failure(RpcError(NO_MESSAGE, sentence, status=403)))
        elif request.method == "POST":
            return self._post(exchange)
        elif request.method == "DELETE":
            self._end(exchange)
        elif request.method == "OPTIONS" and exchange.shared:
            exchange.respond(preflight(request, WITH_LISTED))
        elif "text/html" in request.headers.get("accept", ""):
            exchange.respond(Response(303, own=(("Location", PAGE),)))
        else:
            exchange.respond(takes_only(request, "POST", "DELETE"))
        return None

    def _post(self, exchange: Exchange) -> Awaitable[object] | None:
        message: Message | None = None
        try:
            message = rpc.read(exchange.request.body)
            stateless = is_stateless(exchange.request.headers, message)
            return self._take(exchange, message, stateless)
        except RpcError as error:
            exchange.respond(rpc.failure(error, None if message is None else message.id))
            return None

    def _take(self, exchange: Exchange, message: Message, stateless: bool) -> Awaitable[object] | None:
        if message.id is None:
            exchange.respond(rpc.ACCEPTED)
            return None
        if message.method == "initialize" and not stateless:
            exchange.respond(self._begin(exchange, message, message.id))
            return None
        session = None if stateless else self._session(exchange)
        match message.method:
            case "tools/call":
                return self._call(exchange, message, message.id, session, stateless)
            case "tools/list":
                content = {"tools": listed(), **(CACHED if stateless else {})}
            case "server/discover" if stateless:
                content = {"supportedVersions": list(REVISIONS), "capabilities": CAPABILITIES}
                content |= {"instructions": INSTRUCTIONS, **CACHED}
            case "ping" if not stateless:
                content = {}
            case _:
                sentence = f"there is no method {in_quotes(message.method)} here"
                raise RpcError(NO_METHOD, sentence, status=404 if stateless else 200)
        exchange.respond(rpc.result(message.id, _whole(content, stateless)))
        return None

    # Sessions

    def _begin(self, exchange: Exchange, message: Message, id: rpc.Id) -> Response:
        session = self._opened(exchange)
        self._host.on_key(announced(session.name))
        content = {
            "protocolVersion": agreed(message.params.get("protocolVersion")),
            "capabilities": CAPABILITIES,
            "serverInfo": HOST,
            "instructions": INSTRUCTIONS,
        }
        readable = (READABLE,) if exchange.shared else ()
        return rpc.result(id, content, ("Mcp-Session-Id", session.name), *readable)

    def _opened(self, exchange: Exchange, name: str | None = None) -> Session:
        try:
            return self._sessions.open(exchange.request.peer, trio.current_time(), name)
        except Full as full:
            raise RpcError(NO_MESSAGE, str(full), status=full.status) from None

    def _session(self, exchange: Exchange) -> Session:
        name = exchange.request.headers.get(SESSION)
        if name is None:
            expected = "begin with initialize, and send the Mcp-Session-Id that its answer has"
            raise RpcError(NO_MESSAGE, expected)
        session = self._sessions.find(name, trio.current_time())
        led = any(map(self._host.is_key, (announced(name), name)))  # by who opened it, or where it has joined
        if session is None and led and not self._sessions.has_ended(name):
            return self._opened(exchange, name)
        if session is None:
            raise RpcError(NO_MESSAGE, "this session is over: begin again with initialize", status=404)
        return session

    def _end(self, exchange: Exchange) -> None:
        """End a session. Its model may go on with its token, elsewhere or later."""
        session = self._sessions.end(exchange.request.headers.get(SESSION, ""))
        if session is None:
            raise HttpError(404, "there is no such session: DELETE takes its Mcp-Session-Id")
        exchange.respond(Response(204))

    # Tools

    def _call(
        self, exchange: Exchange, message: Message, id: rpc.Id, session: Session | None, stateless: bool
    ) -> Awaitable[None]:
        name, arguments = message.params.get("name"), message.params.get("arguments", {})
        if not isinstance(name, str) or not rpc.is_object(arguments):
            raise RpcError(BAD_PARAMETERS, 'expected {"name": …, "arguments": {…}}, a string and an object')
        if (tool := TOOLS.get(name)) is None:
            sentence = f"there is no tool {in_quotes(name)}; there are: {', '.join(TOOLS)}"
            raise RpcError(BAD_PARAMETERS, sentence, status=400 if stateless else 200)
        brought: object = arguments.get("token")
        token = brought if isinstance(brought, str) else None
        known = token or (None if session is None else session.token)
        place = None if known is None else self._places.find(known)
        call = ToolCall(exchange, self._host, self._places, session, place, token)
        return self._called(call, tool, arguments, id, stateless)

    async def _called(
        self, call: ToolCall, tool: Tool, arguments: dict[str, Any], id: rpc.Id, stateless: bool
    ) -> None:
        exchange, place, tape = call.exchange, call.place, NO_TAPE
        if place is not None:
            exchange.authenticated()
            place.heard(exchange.request.arrived)
            tape = place.note_call(exchange)
        try:
            told = await called(call, tool, arguments)
        except Exception as error:
            if place is not None:
                place.failed(error)
            raise
        content = {"content": [{"type": "text", "text": told.text}], "structuredContent": told.message}
        response = rpc.result(id, _whole(content | {"isError": told.failed}, stateless))
        if place is not None:
            place.note_answer(tape, response)
        exchange.respond(response)


def _whole(content: dict[str, Any], stateless: bool) -> dict[str, Any]:
    """A result with all that its revision requires."""
    if not stateless:
        return content
    return {"resultType": "complete", **content, "_meta": {f"{META}serverInfo": HOST}}
