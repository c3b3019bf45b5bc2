"""Requests to a host that may be gone at any moment."""

import trio

from tests.adversaries.wires import Answer, Gone, Requests
from tests.hang import HANG

TOKEN = "a-token-of-the-organiser"
AGAIN = 0.05  # seconds until a host is asked again …
TRIES = 100  # … and how often, for what may not have come to its pages yet


async def ask(port: int, method: str, path: str, body: object = None, *, token: str = TOKEN) -> Answer:
    """The answer; raises `OSError` where nobody was asked, and `Gone` where nobody has answered."""
    with trio.fail_after(HANG):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            authorised = {"Authorization": f"Bearer {token}"} if token else {}
            return await Requests(stream).ask(method, path, body, Connection="close", **authorised)


async def asked(port: int, path: str, *, token: str = TOKEN) -> Answer:
    """The same of what may be asked again: until there is an answer other than that it has to wait."""
    with trio.fail_after(HANG):
        while True:
            try:
                if (answer := await ask(port, "GET", path, token=token)).status != 503:
                    return answer
            except (OSError, Gone):
                pass
            await trio.sleep(AGAIN)
