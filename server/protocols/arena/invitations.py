"""How a bot is invited to its battle: the Arena tells it the battle's name, and then it has to come.

Coming is the answer, and the only one that counts: what an address answers to
the invitation is not looked at, and an address whose owner does not come is not
called again. A bot plays one battle at a time, and so it is invited to one at a
time.
"""

from weakref import WeakValueDictionary

import trio
from msgspec.json import encode

from server.http.head import HttpError
from server.net.addresses import BadUrl, Url, taken_apart
from server.net.outbound import Caller, Forbidden
from server.protocols.arena.battle import Battle

TRIES = 2
PAUSE = 10.0  # seconds before the second


class Invitations:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._turns: WeakValueDictionary[Url, trio.Lock] = WeakValueDictionary()

    async def checked(self, address: str, *path: str) -> Url:
        """What a stranger gave as an address, with `path` after it; raises `HttpError` if not called."""
        try:
            if path and "?" in address:
                raise BadUrl("the address of a bot has no query: the name of the game comes after it")
            url = taken_apart("/".join((address.rstrip("/") if path else address, *path)))
            await self._caller.check(url)
        except BadUrl as error:
            raise HttpError(400, str(error)) from None
        except Forbidden as error:
            raise HttpError(403, str(error)) from None
        return url

    def turn(self, url: Url) -> trio.Lock:
        """Held by whoever has a battle with that bot."""
        lock = self._turns.get(url)
        if lock is None:
            lock = self._turns[url] = trio.Lock()
        return lock

    async def invite(self, url: Url, battle: Battle) -> bool:
        """Tell a bot its battle; whether it can have heard of it."""
        return await self.post(url, encode({"battleId": battle.name}))

    async def post(self, url: Url, message: bytes) -> bool:
        """Send a message, and once more if the first could not be sent."""
        for attempt in range(TRIES):
            if attempt:
                await trio.sleep(PAUSE)
            if await self._caller.post(url, message):
                return True
        return False
