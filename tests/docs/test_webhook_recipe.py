"""The program in `docs/organisers.md` between a host's webhooks and a chat room works as it is."""

import re
import threading
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from server.webhooks.posting import Undelivered, post
from server.webhooks.told import WebhookBody
from tests.hang import LOOK
from tests.server.webhooks.receiver import SECRET, receiving

PAGE = (Path(__file__).parents[2] / "docs/organisers.md").read_text()
SERVES = 'HTTPServer(("127.0.0.1", 9000), Hook).serve_forever()'


def event(**said: Any) -> bytes:
    return msgspec.json.encode(
        WebhookBody("1", at="2026-03-01T12:00:00.000Z", tournament="cup", game="santorini", **said)
    )


async def test_the_room_is_told_who_won_and_strangers_are_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = re.findall(r"```python\n(import hashlib.*?)```", PAGE, re.DOTALL)
    assert SERVES in program
    async with receiving() as room:
        room.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        monkeypatch.setenv("SECRET", SECRET)
        monkeypatch.setenv("ROOM", room.url)
        names: dict[str, Any] = {}
        exec(program.replace(SERVES, 'bridge = HTTPServer(("127.0.0.1", 0), Hook)'), names)  # noqa: S102 - ours
        bridge: HTTPServer = names["bridge"]
        names["Hook"].log_message = lambda *words: None
        threading.Thread(target=bridge.serve_forever, args=(LOOK,), daemon=True).start()
        url = f"http://127.0.0.1:{bridge.server_port}/"
        try:
            await post(url, event(type="tournament.begun"), SECRET)
            sides = ("ann", "bob")
            await post(url, event(type="match.ended", players=sides, winner=1), SECRET)
            await post(url, event(type="match.ended", players=sides, winner=None), SECRET)
            with pytest.raises(Undelivered, match="403"):
                await post(url, event(type="tournament.ended"), "a stranger's secret")
        finally:
            await trio.to_thread.run_sync(bridge.shutdown)
            bridge.server_close()
    said = [each["text"] for each in room.told]
    assert said == ["cup: tournament.begun", "ann - bob: bob", "ann - bob: draw"]
