"""Whom the host trusts when it calls: whoever has the name that was called, by certificates read once."""

import ssl

from server.net.trusted import trusted


async def test_certificates_and_names_are_checked_and_read_once() -> None:
    """Catches a context that believes anybody, and one made for each call, for 50 ms of a processor."""
    context = await trusted()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert await trusted() is context
