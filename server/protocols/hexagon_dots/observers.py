"""Those who watch a game of Hexagon Dots over HTTP: each is streamed the Game, and then every change.

There may be thousands of them, and the loop that tells them is the one that plays. So a few are told at once,
and the others some at a time, with pauses. What has happened by an observer's turn it is told together.
"""

from functools import partial
from itertools import islice

import trio
from msgspec.json import encode

from server.host.host import Host
from server.http.exchange import Chunks
from server.protocols.hexagon_dots.messages import delta
from tournament.match import Match

AT_A_TIME = 50  # observers: telling one takes some ten microseconds
PAUSE = 0.005  # seconds between two lots: thousands are told within one, in a tenth of the time that there is
NOTHING = -1  # in place of a number of plies: the match had not begun


class Observers:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._told: dict[Chunks, int] = {}  # after how many plies each of them was told of the match last
        self._behind: dict[Chunks, None] = {}  # those who are to be told something, in this order
        self._telling = False  # whether a task tells them

    def add(self, chunks: Chunks, told: int) -> None:
        """Somebody was shown the Game after so many plies, and watches from now on."""
        self._told[chunks] = told
        chunks.exchange.on_gone(partial(self._forget, chunks))

    def tell(self, match: Match) -> None:
        """Tell all of them what is new in the match. After its end, nothing follows."""
        if not self._told:
            return
        self._behind |= dict.fromkeys(self._told)  # those who wait already keep their turn
        if not self._telling:
            self._tell_some(match)
            if self._behind:
                self._telling = True
                self._host.guard.start_soon(self._tell_others, match)

    def close(self) -> None:
        """Nothing more will happen here."""
        for chunks in tuple(self._told):
            chunks.close()
        self._told.clear()

    def _forget(self, chunks: Chunks) -> None:
        self._told.pop(chunks, None)

    async def _tell_others(self, match: Match) -> None:
        try:
            while self._behind:
                await trio.sleep(PAUSE)
                self._tell_some(match)
        finally:
            self._telling = False

    def _tell_some(self, match: Match) -> None:
        over, lines = match.log.closed, dict[int, bytes]()  # by how much those were told for whom they are
        for chunks in tuple(islice(self._behind, AT_A_TIME)):
            del self._behind[chunks]
            told = self._told.get(chunks)
            if told is None or (told == match.ply and not over):
                continue
            if told not in lines:
                lines[told] = encode(delta(match, max(told, 0))) + b"\n"
            chunks.put(lines[told])
            self._told[chunks] = match.ply
            if over:
                chunks.close()
