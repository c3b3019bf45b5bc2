"""What every host does at its start or right after it, done once before any is forked.

See `Reception` in `server/host/reception.py`, and `_warm_up` in `server/serve.py`. Nothing here starts a
thread: what has several is not to be forked.
"""

from server.host.look_alikes import skeleton
from server.pages.rendering import warm
from server.protocols.catalogue import dialects

skeleton("a")  # its data is read
warm()
for dialect in dialects().values():
    if dialect.prepare is not None:
        dialect.prepare()
