"""Whom this machine trusts, for connections over TLS that the host itself makes.

To read all certificates takes some 50 ms of a processor, so nobody waits for it who calls nobody: they are
read when somebody is called for the first time, in a thread.
"""

import ssl
from functools import cache

import trio


async def trusted() -> ssl.SSLContext:
    return await trio.to_thread.run_sync(_read)


@cache
def _read() -> ssl.SSLContext:
    return ssl.create_default_context()
