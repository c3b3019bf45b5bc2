"""What a host does in a thread once its ports are open, done once before any is forked.

See `_warm_up` in `server/serve.py`. Nothing here starts a thread: what has several is not to be forked.
"""

from server.pages.rendering import warm
from server.protocols.catalogue import dialects

warm()
for dialect in dialects().values():
    if dialect.prepare is not None:
        dialect.prepare()
