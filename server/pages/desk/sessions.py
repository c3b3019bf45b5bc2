"""Who may sit at the desk: links that open it once, and sessions that they open.

There is no password to guess or to keep. A link contains a secret that is good for
one login, and a session has another one, in a cookie. Only digests of both are
remembered, and neither outlives the host. Not here: HTTP.
"""

import secrets
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable

from msgspec import Struct

from server.host.secrets import token_digest
from server.net.budgets import Budgets
from server.net.limits import Bucket, Rate

LINK_SECONDS = 900.0  # to get a link from a terminal into a browser without haste
SESSION_SECONDS = 43_200.0  # a day at a tournament
LINKS = 20  # not yet used; beyond these the oldest is dropped
SESSIONS = 100  # likewise, and closed ones that are remembered: an organiser has a few browsers
LOGINS = Rate(5, 60.0)  # tries without a link from one address
TOLD = Rate(5, 60.0)  # refused tries, from all addresses together, that are noted one by one
BYTES = 32  # of a secret


class Session(Struct, frozen=True):
    until: float
    form_token: str  # in every form of its pages; no other site can know it


class Sessions:
    """The links and sessions that exist. The caller tells the time."""

    def __init__(self) -> None:
        self._links: OrderedDict[bytes, float] = OrderedDict()  # by digest: until when it is good
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()
        self._closed: deque[bytes] = deque(maxlen=SESSIONS)  # digests of sessions that nobody opens again
        self._tries = Budgets(LOGINS)
        self._told: Bucket | None = None
        self._refused = 0  # refused tries not noted yet
        # Called with the digest of each session that is opened, or closed.
        self.told: Callable[[bytes, Session | None], None] = lambda digest, session: None

    def link(self, now: float) -> str:
        """A new secret for a link."""
        secret = secrets.token_urlsafe(BYTES)
        self._links[token_digest(secret)] = now + LINK_SECONDS
        while len(self._links) > LINKS:
            self._links.popitem(last=False)
        return secret

    def may_try(self, address: str, now: float) -> bool:
        """Whether a client from that address, which has tried without a link, may do so once more."""
        return self._tries.take(address, now)

    def open(self, secret: str, now: float) -> str | None:
        """Use up a link; returns the secret of a new session, None if the link is not valid."""
        if self._links.pop(token_digest(secret), now) <= now:
            return None
        opened = secrets.token_urlsafe(BYTES)
        digest, session = (
            token_digest(opened),
            Session(now + SESSION_SECONDS, secrets.token_urlsafe(BYTES)),
        )
        self.take(digest, session)
        self.told(digest, session)
        return opened

    def take(self, digest: bytes, session: Session | None) -> None:
        """Note a session that was opened, perhaps in another process; None: it was closed, and stays so.

        Another process may say later that it is open, because it has not heard yet that it was closed.
        """
        if digest in self._closed:
            return
        if session is None:
            self._sessions.pop(digest, None)
            self._closed.append(digest)
            return
        self._sessions[digest] = session
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)

    def known(self) -> Iterable[tuple[bytes, Session | None]]:
        """What another process has to `take` to know the same sessions."""
        return (*self._sessions.items(), *((digest, None) for digest in self._closed))

    def find(self, secret: str, now: float) -> Session | None:
        session = self._sessions.get(token_digest(secret))
        return session if session is not None and now < session.until else None

    def close(self, secret: str) -> None:
        self.take(token_digest(secret), None)
        self.told(token_digest(secret), None)

    def refused(self, now: float) -> int:
        """Count a refused try; returns how many to note now, or 0 to note them later."""
        self._refused += 1
        self._told = self._told or Bucket(TOLD, now)
        if not self._told.take(now):
            return 0
        counted, self._refused = self._refused, 0
        return counted
