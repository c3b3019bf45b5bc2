"""Why a connection to somebody else came to nothing, in the words of whatever found it out.

Trio says only that it did. What the system, the look-up of a name or TLS had to say is the cause of that.
"""

import os
import ssl
from collections.abc import Iterator
from socket import gaierror
from typing import cast


def why(failure: BaseException) -> str:
    """In one line, in which nothing is there twice: a name may have several addresses that all refuse."""
    return ", ".join(dict.fromkeys(_reasons(failure)))


def _reasons(failure: BaseException) -> Iterator[str]:
    if failure.__cause__ is not None:
        yield from _reasons(failure.__cause__)
    elif isinstance(failure, ExceptionGroup):
        for part in cast("ExceptionGroup[Exception]", failure).exceptions:
            yield from _reasons(part)
    elif isinstance(failure, ssl.SSLCertVerificationError):
        yield f"its certificate is not trusted here: {failure.verify_message}"
    elif isinstance(failure, ssl.SSLError) and failure.reason:
        yield f"no TLS comes about: {failure.reason.replace('_', ' ').lower()}"
    elif isinstance(failure, OSError) and failure.errno and not isinstance(failure, gaierror | ssl.SSLError):
        yield os.strerror(failure.errno)
    else:
        yield getattr(failure, "strerror", None) or str(failure) or type(failure).__name__
