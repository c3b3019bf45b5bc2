"""Sessions of the older revisions: each remembers the token that its model plays with, and nothing else.

A session is forgotten when its client ends it, when it has been silent for a long time, or when there is
no room for another one: then the one silent for longest, of those in which nobody plays, makes way. A bot is
not forgotten: whoever has its token goes on in another session, or without one.
"""

import secrets
from collections.abc import Callable, Iterable

from server.net.admission import network_of
from server.net.limits import Limits

IDLE = 3600.0  # seconds after which a session is forgotten


class Session:
    def __init__(self, origin: str, now: float) -> None:
        self.name = secrets.token_urlsafe(16)
        self.origin = origin  # the network from which it was opened; "" where these are not counted
        self.heard = now
        self.token: str | None = None


class Full(Exception):
    """There is no room for another session. The message is for whoever asked for one."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Sessions:
    def __init__(
        self, limits: Limits, is_played: Callable[[Session], bool], gone: Callable[[str], object]
    ) -> None:
        """`is_played` says whether a model has its place by that session.

        `gone` is called with each key that other processes need not know any more.
        """
        self._limits = limits
        self._is_played = is_played
        self._gone = gone
        self._sessions: dict[str, Session] = {}  # by name; the one heard last comes last
        self._ended: dict[str, None] = {}  # the latest that were ended, by name

    def open(self, peer: str, now: float, name: str | None = None) -> Session:
        """A new session; raises `Full`. One with a `name` was opened in another process and goes on here."""
        self._forget(now - IDLE)
        origin = network_of(peer, self._limits.trust_loopback)
        mine = [session for session in self._sessions.values() if origin and session.origin == origin]
        if len(mine) >= self._limits.connections_per_address and not self._drop_one_of(mine):
            raise Full("too many sessions were opened from your address: end some with DELETE", 429)
        if len(self._sessions) >= self._limits.sessions and not self._drop_one_of(self._sessions.values()):
            raise Full("too many sessions are open: come again later", 503)
        session = Session(origin, now)
        if name is not None:
            session.name = name
        self._sessions[session.name] = session
        return session

    def find(self, name: str, now: float) -> Session | None:
        session = self._sessions.pop(name, None)
        if session is not None:
            session.heard = now
            self._sessions[name] = session
        return session

    def end(self, name: str) -> Session | None:
        session = self._sessions.pop(name, None)
        if session is not None:
            self._ended[name] = None
            if len(self._ended) > self._limits.sessions:
                earliest = next(iter(self._ended))
                del self._ended[earliest]
                self._leads_nowhere(earliest)
        return session

    def has_ended(self, name: str) -> bool:
        return name in self._ended

    def _drop_one_of(self, sessions: Iterable[Session]) -> bool:
        """Forget the first in which nobody plays; False if there is none. Its client may begin again."""
        for session in sessions:
            if not self._is_played(session):
                del self._sessions[session.name]
                self._leads_nowhere(session.name)
                return True
        return False

    def _forget(self, before: float) -> None:
        for name, session in tuple(self._sessions.items()):
            if session.heard >= before:
                break
            del self._sessions[name]
            self._leads_nowhere(name)

    def _leads_nowhere(self, name: str) -> None:
        for key in (name, announced(name)):
            self._gone(key)


def announced(name: str) -> str:
    """The key by which other processes know an open session; its name leads to where it has joined."""
    return f"opened {name}"
