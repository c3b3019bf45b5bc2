"""Who looks on over the API: some listen, some are deaf, some hang up and come again.

None of them may matter to anybody who plays.
"""

import itertools
from random import Random

import trio

from tests.simulation.doors.talk import Gone, Town
from tests.simulation.doors.web import Client

PATHS = ("/api/events", "/api/matches/{0}-1/events", "/api/tournaments/{0}/standings", "/api/tournaments/{0}")
PAUSE = 60.0  # seconds, at most, before somebody looks again
LONGEST_LOOK = 100.0  # seconds, at most, that somebody looks at the same


async def look_on(name: str, how: str, town: Town, chance: Random) -> None:
    """For ever."""
    client = Client(town, name)
    while True:
        await trio.sleep(chance.uniform(0, PAUSE))
        try:
            with trio.move_on_after(chance.uniform(0, LONGEST_LOOK)):
                await _look(client, how, chance.choice(PATHS).format(town.name))
        except Gone:
            pass
        finally:
            client.close()


async def _look(client: Client, how: str, path: str) -> None:
    answer = await client.ask("GET", path)
    if answer.body:
        return
    if how == "deaf":
        await trio.sleep_forever()
    for heard in itertools.count():
        if await client.next() == "[end]" or (how == "hangs up" and heard > 3):
            return
