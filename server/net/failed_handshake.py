"""What a peer is told with which no TLS comes about.

OpenSSL has an alert for whoever speaks a version that is too old, or no cipher that is
known here: their own library says it in words. Whoever speaks HTTP without TLS, as after
`http://` or `ws://` at such a port, could not read an alert, and gets a sentence.
"""

import ssl
from contextlib import suppress

import trio

_SENTENCE = "this port speaks TLS: its address begins with https://, or with wss:// for a websocket"
_BODY = b'{"error":"%b"}' % _SENTENCE.encode()
IN_PLAIN = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%b" % (len(_BODY), _BODY)
)


def last_words(stream: trio.SSLStream[trio.abc.Stream], failure: trio.BrokenResourceError) -> bytes:
    """What to send beneath `stream`, whose handshake had this failure; b"" where there is nothing to say."""
    cause = failure.__cause__
    if not isinstance(cause, ssl.SSLError):
        return b""  # the connection is lost
    if cause.reason == "HTTP_REQUEST":
        return IN_PLAIN
    with suppress(AttributeError):  # another version of trio may keep it elsewhere
        return stream._outgoing.read()  # pyright: ignore[reportPrivateUsage] - trio leaves the alert there
    return b""
