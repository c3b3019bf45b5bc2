"""A worker's words to worker 0. What is said while sockets are read is one packet, for which it wakes once.

Worker 0 has it before any bot hears what follows from it. So whoever brings a secret to it, or a name,
finds that worker 0 knows it.
"""

from typing import cast

from msgspec import Struct

from server.net.readiness import readiness
from server.show.conduit import Conduit
from server.workers.messages import OfWorker, Several, ToWorker


class Saying:
    def __init__(self, conduit: Conduit[ToWorker]) -> None:
        self._conduit = conduit
        self._unsaid: list[OfWorker] = []

    def say(self, message: Struct) -> None:
        self._unsaid.append(cast("OfWorker", message))
        sockets = readiness()
        if len(self._unsaid) > 1 and sockets is not None and sockets.gathering:
            return  # the first of them will be sent with all
        if sockets is None or not sockets.first(self._say_all):
            self._say_all()

    def _say_all(self) -> None:
        unsaid, self._unsaid = self._unsaid, []
        if len(unsaid) == 1:
            self._conduit.say(unsaid[0])
        elif unsaid:
            self._conduit.say(Several(tuple(unsaid)))
