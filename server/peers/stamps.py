"""When a relayed bot's bytes arrived, so that no clock pays for the relay.

Two hosts have no clock in common, and what is sent from one to the other may be on its way for
long. So the bot's host says how long the bot took: the seconds between the last bytes that it
handed to the bot and the first that came back. The host that referees knows when it sent those
bytes. For it, the bot's answer arrived that many seconds later, as it would have without a
relay.
"""

from collections import deque

from msgspec import Struct


class ArrivalTime(Struct, frozen=True, array_like=True):
    """When bytes of a bot came, by the clock of the bot's host."""

    handed: int  # bytes that had been handed to the bot by then, since the connection began …
    waited: float  # … and the seconds since the last of them were


class Handing:
    """At the bot's host: what the bot was handed, and when."""

    def __init__(self, now: float) -> None:
        self._handed = 0
        self._at = now

    def hand(self, size: int, now: float) -> None:
        self._handed += size
        self._at = now

    def heard(self, at: float) -> ArrivalTime:
        """The stamp for bytes that arrived at that time."""
        return ArrivalTime(self._handed, max(0.0, at - self._at))


class Sending:
    """At the host where the bot plays: what was sent to it, and when. Remembers what is on its way."""

    def __init__(self, now: float) -> None:
        self._sent = 0
        self._marks = deque([(0, now)])  # how many bytes had been sent, and when the last of them were

    def send(self, size: int, now: float) -> None:
        self._sent += size
        self._marks.append((self._sent, now))

    def arrived(self, heard: ArrivalTime, now: float) -> float:
        """When these bytes, which are here `now`, count as having arrived. Never in the future."""
        while len(self._marks) > 1 and self._marks[1][0] <= heard.handed:
            self._marks.popleft()
        return min(now, self._marks[0][1] + heard.waited)
