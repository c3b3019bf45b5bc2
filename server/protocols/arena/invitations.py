"""Inviting bots to their battles: the Arena tells a bot the battle's name, and then it has to come.

The only answer that counts is that the bot comes: the response to the invitation
is ignored, and an address whose bot does not come is not called again. A bot plays
one battle at a time, so it is invited to one at a time.
"""

from weakref import WeakValueDictionary

import trio
from msgspec import structs
from msgspec.json import encode

from server.http.head import HttpError
from server.net.addresses import BadUrl, Url, taken_apart
from server.net.outbound import Caller, Forbidden
from server.protocols.arena.battle import Battle

TRIES = 2
PAUSE = 10.0  # seconds before the second try


class Invitations:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._turns: WeakValueDictionary[str, trio.Lock] = WeakValueDictionary()  # by the address

    async def checked(self, address: str, *path: str, from_here: bool, origin: str) -> Url:
        """A given address, with `path` after it; raises `HttpError` if it may not be called.

        `from_here` says that the request came from this machine, and `origin` from which network. A client
        for which nobody is called is told so first, whatever the address is: any other answer would reveal
        something about it.
        """
        try:
            self._caller.permit(from_here)
            if path and "?" in address:
                raise BadUrl("the address of a bot has no query: the name of the game comes after it")
            whole = "/".join((address.rstrip("/") if path else address, *path))
            url = structs.replace(taken_apart(whole), from_here=from_here, origin=origin)
            await self._caller.check(url)
        except BadUrl as error:
            raise HttpError(400, str(error)) from None
        except Forbidden as error:
            raise HttpError(403, str(error)) from None
        return url

    def turn(self, url: Url) -> trio.Lock:
        """The lock that is held during a battle with that bot."""
        lock = self._turns.get(url.text)
        if lock is None:
            lock = self._turns[url.text] = trio.Lock()
        return lock

    async def invite(self, url: Url, battle: Battle) -> None:
        """Tell a bot its battle. Until then its clock waits."""
        battle.await_call()
        try:
            battle.called(await self.post(url, encode({"battleId": battle.name})))
        except Exception as error:
            battle.failed(error)  # or its clock, and so the opponent, would wait for ever
            raise

    async def post(self, url: Url, message: bytes) -> bool:
        """Send a message, and once more if the first could not be sent."""
        for attempt in range(TRIES):
            if attempt:
                await trio.sleep(PAUSE)
            if await self._caller.post(url, message):
                return True
        return False
