"""Reads a websocket frame with a single call, which is enough as long as nobody cuts it in two."""

from client import main, quintain_bot

Websocket = quintain_bot._Websocket
whole = Websocket._frame


def frame(self: "Websocket") -> "tuple[bool, int, bytes] | None":
    found = whole(self)
    assert found is not None or not self._stream.received, "half a frame"
    return found


Websocket._frame = frame
main("ws")
