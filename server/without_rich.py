"""Imports structlog as if rich were not installed; import this first in a process that serves.

structlog draws tracebacks with rich wherever that is installed; it is, because help is drawn with it. A
host's tracebacks are plain, and importing rich takes a tenth of a second of each start and six megabytes of
each process.
"""

import sys
from importlib import import_module

if not {"rich", "structlog"} & set(sys.modules):
    sys.modules["rich"] = None  # pyright: ignore[reportArgumentType] - to import it is an error now
    try:
        import_module("structlog")
    finally:
        del sys.modules["rich"]
