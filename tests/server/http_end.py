"""A bot's end of a connection to an HTTP door, as transcripts have it: a request, an answer, a line each.

    POST /g/1/moves X-Turn-Token: 3f0e [{"row":0,"col":0},{"row":0,"col":1}]
    200 X-Turn-Token: 5aac {"lines":[],"hexagons":[],…

Headers that say how an answer is to be read, and not what it says, are left out.
Of an answer that is streamed the head comes first, then every chunk as a line
of its own, and `[end]`.
"""

import re

import trio

from tests.server.ends import LOST, NEW_LINE, End

REQUEST = re.compile(r"(?P<line>[A-Z]+ \S+)(?P<headers>(?: [A-Z][A-Za-z-]*: \S+)*)(?: (?P<body>.*))?")
UNSAID = {
    "access-control-allow-origin",
    "access-control-expose-headers",
    "cache-control",
    "connection",
    "content-length",
    "content-type",
    "referrer-policy",
    "transfer-encoding",
    "x-accel-buffering",
    "x-content-type-options",
}


class HttpEnd(End):
    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._received = b""
        self.streaming = False

    async def say(self, text: str) -> None:
        request = REQUEST.fullmatch(text)
        assert request is not None, f"this is no request: {text}"
        body = (request["body"] or "").replace(NEW_LINE, "\n").encode()
        headers = [": ".join(pair) for pair in re.findall(r" (\S+): (\S+)", request["headers"])]
        head = [f"{request['line']} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers]
        await self.stream.send_all("\r\n".join([*head, "", ""]).encode() + body)

    async def hear(self) -> str | None:
        try:
            return _shown(await self._chunk()) if self.streaming else await self._answer()
        except LOST:
            return None
        except EOFError:
            assert not self._received, f"the host hung up in the middle of {self._received!r}"
            return None

    async def close(self) -> None:
        await self.stream.aclose()

    async def _answer(self) -> str:
        status, *lines = (await self._line(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): (name, value) for name, value in (line.split(": ", 1) for line in lines)}
        shown = [status.split(" ")[1]]
        shown += [": ".join(headers[name]) for name in headers if name not in UNSAID]
        self.streaming = "transfer-encoding" in headers
        if not self.streaming:
            _, length = headers.get("content-length", ("", "0"))
            shown.append(_shown(await self._exactly(int(length))))
        return " ".join(filter(None, shown))

    async def _chunk(self) -> bytes:
        size = int(await self._line(b"\r\n"), 16)
        content = await self._exactly(size + 2)
        self.streaming = size > 0
        return content[:-2] if size else b"[end]"

    async def _line(self, end: bytes) -> bytes:
        while end not in self._received:
            await self._more()
        line, _, self._received = self._received.partition(end)
        return line

    async def _exactly(self, size: int) -> bytes:
        while len(self._received) < size:
            await self._more()
        content, self._received = self._received[:size], self._received[size:]
        return content

    async def _more(self) -> None:
        received = await self.stream.receive_some()
        if not received:
            raise EOFError
        self._received += received


def _shown(content: bytes) -> str:
    """As one line."""
    return content.decode().rstrip("\n").replace("\n", NEW_LINE)
