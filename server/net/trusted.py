"""The certificates that this machine trusts, for TLS connections that the host itself makes.

Reading all of them takes some 50 ms of a processor. So they are read at the first call, in a thread, and a
host that calls nobody does not read them.
"""

import ssl
from functools import cache

import trio


async def trusted() -> ssl.SSLContext:
    return await trio.to_thread.run_sync(_read)


@cache
def _read() -> ssl.SSLContext:
    return ssl.create_default_context()
