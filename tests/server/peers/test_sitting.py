"""An organiser's sessions at the desks of several hosts: whoever logs in, or out, at one does so at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from trio.testing import MockClock

from server.pages.desk.sessions import SESSION_SECONDS, Session, Sessions
from tests.server.peers.several import One, Shared, link
from tests.server.protocols.lists import Telephone

HEARD = 1.0  # seconds in which another host has heard what this one has just done


class Desks:
    """Two hosts, each with a desk."""

    def __init__(self, ones: tuple[One, One]) -> None:
        self._ones = ones
        self.sessions = Sessions(), Sessions()
        for one, sessions in zip(ones, self.sessions, strict=True):
            one.doors(Telephone(), sessions)

    @asynccontextmanager
    async def linked(self) -> AsyncIterator[None]:
        """While this goes on, the hosts reach each other, and have told each other all."""
        async with trio.open_nursery() as nursery:
            link(nursery, *self._ones)
            await trio.sleep(HEARD)
            yield
            await trio.sleep(HEARD)
            nursery.cancel_scope.cancel()
        for one in self._ones:
            one.links.links.clear()

    def log_in(self) -> str:
        """Log in at the first desk; returns the secret in the cookie."""
        now, desk = trio.current_time(), self.sessions[0]
        secret = desk.open(desk.link(now), now)
        assert secret is not None
        return secret

    def found(self, secret: str, later: float = 0.0) -> list[Session | None]:
        """The session with that secret at each desk, so many seconds later."""
        return [desk.find(secret, trio.current_time() + later) for desk in self.sessions]


@asynccontextmanager
async def desks() -> AsyncIterator[Desks]:
    database = Shared(trio.current_time)
    async with trio.open_nursery() as nursery:
        ones = One(database), One(database)
        for one in ones:
            await one.run(nursery)
        yield Desks(ones)
        nursery.cancel_scope.cancel()


async def test_whoever_logs_in_at_one_desk_is_logged_in_at_all_for_as_long(autojump_clock: MockClock) -> None:
    """Catches forms that another host takes for forged, and a session that lasts longer there."""
    async with desks() as here:
        early = here.log_in()
        async with here.linked():
            late = here.log_in()
        for secret in (early, late):
            first, second = here.found(secret, SESSION_SECONDS - 3 * HEARD)
            assert first is not None
            assert second is not None
            assert first.form_token == second.form_token
            assert here.found(secret, SESSION_SECONDS) == [None, None]


async def test_whoever_logs_out_at_one_desk_is_logged_out_at_all(autojump_clock: MockClock) -> None:
    async with desks() as here, here.linked():
        secret = here.log_in()
        await trio.sleep(HEARD)
        here.sessions[1].close(secret)
        await trio.sleep(HEARD)
        assert here.found(secret) == [None, None]


async def test_whoever_logs_out_while_hosts_have_lost_each_other_stays_logged_out(
    autojump_clock: MockClock,
) -> None:
    """Catches a session that the other host, which has not heard that it was closed, opens again at both."""
    async with desks() as here:
        async with here.linked():
            secret = here.log_in()
        here.sessions[0].close(secret)
        async with here.linked():
            pass
        assert here.found(secret) == [None, None]
