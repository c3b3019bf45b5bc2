"""The host that some sessions meet on, and what must hold of it while they go on and when they are over.

Every batch of sessions has a host of its own, so that what is left behind can be
counted. Two honest bots play a match there meanwhile, which must come to its end
as if nobody else were there; a third plays at an open table against whoever
comes, and loses there by no other way than by playing.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from random import Random

import structlog
import trio
import trio.testing
from msgspec import Struct

from server.host.host import Host
from server.host.opening import OPEN
from server.host.thinker import Thinker
from server.net.admission import Admission, Visitor
from server.net.wire import Wire
from server.protocols.common.tournament_end import TournamentEnds
from tests.fuzz.mutate import spoilt
from tests.fuzz.sessions import Tongue, draw
from tests.fuzz.spectator import Spectator
from tests.fuzz.stranger import Pack, Stranger, said_its_last
from tests.server.transcripts import at_once, grade_at_once
from tests.server.windowed import End, Weather, windowed_pair
from tournament.events import Ending, absences
from tournament.facts import Concluded, Opened
from tournament.player import Player
from tournament.timekeeper import Timekeeper

STARTS = 20.0  # virtual seconds in which the sessions of a batch begin
LONGEST = 200.0  # … that one may last
MATCH = 1000.0  # … in which honest bots come to an end
FAREWELL = 8000.0  # … after which nobody who is gone is remembered: an open table calls bots for an hour

PAIR = ("honest-1", "honest-2")
PLAYING = "quiet"  # the tournament of those two
REGULAR = "honest-3"  # at an open table
HONEST = (*PAIR, REGULAR)
NAMES = 8  # of so many sessions each has a name of its own; the others share these:
SHARED = ("ann", "bob", PAIR[0])

# The network, and how many bytes a session sends at most: what comes in small pieces takes time.
LONG_BREATH, BREATH = 250_000, 1200
WEATHERS = (
    *((Weather(), LONG_BREATH) for _ in range(6)),
    (Weather(piece=3), BREATH),
    (Weather(latency=0.05, jitter=0.3, piece=40), BREATH),
    (Weather(window=300), BREATH),
    (Weather(window=2000, piece=500), LONG_BREATH),
)

who: ContextVar[str] = ContextVar("who", default="the host")  # causes what is being done


class Served(Struct):
    """A door of one host. The rest is what is known only behind it."""

    attend: Callable[[Wire, Visitor], Awaitable[object]]
    waits: Callable[["Attended"], bool] = lambda attended: attended.known  # it may do so for ever
    left: Callable[[], Mapping[str, int]] = dict[str, int]  # what should be nothing when all are gone
    called: Callable[[], Collection[Player]] = tuple[Player]  # who is here without a connection


class Door(Struct, frozen=True, kw_only=True):
    """What there is to say to a door, and how it is opened."""

    name: str
    tongues: tuple[Tongue, ...]
    odd: tuple[Tongue, ...] = ()  # that no honest bot speaks
    pack: Pack
    serve: Callable[[Host], Served]
    timeout: float = 25.0  # seconds, more than any limit of a connection


class Attended(Visitor):
    """A connection that a door attends to."""

    def __init__(self, admission: Admission, wire: End, stranger: Stranger) -> None:
        super().__init__(admission, wire, "")
        self.stranger = stranger
        self.known = False
        self.ends = (wire, wire.other)

    def authenticated(self) -> None:
        self.known = True
        super().authenticated()


class Ground:
    def __init__(self, door: Door, foreign: Sequence[Tongue], seed: int) -> None:
        """`foreign` is what is spoken at other doors."""
        self.complaints: list[str] = []
        self._door = door
        self._tongues = (*door.tongues, *door.odd)
        self._all_tongues = (*self._tongues, *foreign)
        self._seed = seed
        self._spectator = Spectator()
        self._attended: dict[Attended, None] = {}
        self._strangers: list[Stranger] = []

    @property
    def events(self) -> int:
        """How much has happened in matches."""
        return self._spectator.events

    async def hold(self, numbers: range) -> None:
        """Let these sessions happen. What is wrong is in `complaints` afterwards."""
        host = self._host = Host(
            timekeeper=Timekeeper(inf), thinker=Thinker(children=0, waiting=0), wall=trio.current_time
        )
        host.boards.run, host.grader.grade = at_once, grade_at_once
        self._admission = Admission(host.limits)
        host.on_begun.append(self._spectator.watch)
        with _overheard(self._complain):
            async with trio.open_nursery() as nursery:
                await nursery.start(host.run)
                self._served = self._door.serve(host)
                await self._let_honest_bots_come(nursery, f"{self._seed} {self._door.name} {numbers.start}")
                async with trio.open_nursery() as sessions:
                    for number in numbers:
                        sessions.start_soon(self._session, number)
                await self._look_for_hangs()
                for stranger in self._strangers[len(HONEST) :]:
                    stranger.close()
                await self._let_honest_bots_finish()
                await trio.sleep(FAREWELL)
                self._look_for_what_is_left()
                for misled in self._spectator.misled:
                    self._complain(misled)
                nursery.cancel_scope.cancel()

    def _complain(self, complaint: str) -> None:
        self.complaints.append(f"{who.get()}: {complaint}")

    # Who comes

    async def _session(self, number: int) -> None:
        who.set(f"session {number}")
        random = Random(f"{self._seed} {self._door.name} {number}")
        steps = spoilt(draw(self._tongues, random), self._all_tongues, random)
        name = random.choice((*(f"s{number}" for _ in range(NAMES)), *SHARED))
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        stranger = self._come(name, random, *random.choice(WEATHERS), address)
        await trio.sleep(STARTS * random.random())
        with trio.move_on_after(LONGEST):
            await stranger.live(steps)

    async def _let_honest_bots_come(self, nursery: trio.Nursery, seed: str) -> None:
        random, tongues = Random(seed), self._door.tongues
        tongue, another = random.choice(tongues), random.choice(tongues)
        await self._host.open(PLAYING, Opened(tongue.game, "round-robin", len(PAIR)))
        for name in HONEST:
            who.set(name)
            bot = self._come(name, Random(f"{seed} {name}"), Weather(), LONG_BREATH, "192.0.2.1")
            bot.plays_in = PLAYING if name in PAIR else OPEN + another.game
            nursery.start_soon(bot.play, tongue if name in PAIR else another)
            await trio.testing.wait_all_tasks_blocked()
        who.set("the host")

    async def _let_honest_bots_finish(self) -> None:
        tournament = self._host.tournaments[PLAYING]
        with trio.move_on_after(MATCH):
            await tournament.finished()
        endings = [match.ending for match in tournament.record.matches.values()]
        if endings != [Ending.PLAYED]:
            self._complain(f"the honest bots' match should have been played; it was {endings}")
        for tournament in self._host.tournaments.values():
            for match in tournament.record.matches.values():
                if (
                    REGULAR in match.players
                    and match.ending is not Ending.PLAYED
                    and (match.winner is None or match.players[match.winner] != REGULAR)
                    and not _was_alone(match)
                ):
                    self._complain(f"an honest bot should not have lost like this: {match}")
        for honest in self._strangers[: len(HONEST)]:
            honest.close()

    def _come(self, name: str, random: Random, weather: Weather, breath: int, address: str) -> Stranger:
        def connect() -> End:
            wire, end = windowed_pair(weather, seed=random.getrandbits(32), peer=address)
            attended = Attended(self._admission, wire, stranger)
            self._attended[attended] = None
            self._host.guard.start_soon(self._attend, attended)
            return end

        stranger = Stranger(name, PAIR[1], self._host, connect, self._door.pack, random, breath)
        self._strangers.append(stranger)
        return stranger

    async def _attend(self, attended: Attended) -> None:
        try:
            await self._served.attend(attended.wire, attended)
        finally:
            del self._attended[attended]
            attended.leave()
            attended.wire.close()

    # What must hold

    async def _look_for_hangs(self) -> None:
        """Nobody says anything any more, so that nobody without a right to it is attended to for long."""
        await trio.sleep(self._door.timeout)
        if suspects := self._suspects():
            await trio.sleep(self._door.timeout)
            for attended, why in self._suspects().items():
                if attended in suspects:
                    self._complain(f"hang: {attended.stranger.name} {why} after {self._door.timeout:g} s")

    def _suspects(self) -> dict[Attended, str]:
        for stranger in self._strangers:
            stranger.listen()
        suspects: dict[Attended, str] = {}
        honest = self._strangers[: len(HONEST)]
        for attended in (each for each in self._attended if each.stranger not in honest):
            wire, end = attended.ends
            if said_its_last(end):
                suspects[attended] = "has hung up, and is attended to"
            elif said_its_last(wire):
                suspects[attended] = "was told the end, and is attended to"
            elif not self._served.waits(attended):
                suspects[attended] = "is attended to, for no good reason"
        return suspects

    def _look_for_what_is_left(self) -> None:
        host, reception, called = self._host, self._host.reception, self._served.called()

        def gone(players: Iterable[Player | None]) -> int:
            """How many of them nobody waits for or calls: what is known of them should be forgotten."""
            return sum(
                bool(each) and each not in called and not host.roll.awaits(each.name, each.game)
                for each in players
            )

        left = {
            "connections": len(self._attended),
            "tasks": len(host.guard._nursery.child_tasks),
            "players": gone(host.lobby.players()),
            "visits": gone(visit.player for visits in reception._visits.values() for visit in visits),
            "claims": gone(claim.player for claim in reception._claims.values()),
            "matches": sum(len(tournament.matches) for tournament in host.tournaments.values()),
            "who wait for the end of a tournament": len(self._waiting_for_an_end()),
            **self._served.left(),
        }
        for what, count in left.items():
            if count:
                self._complain(f"left behind: {count} {what}")
        if host.guard.caught and not self.complaints:
            self._complain(f"caught by the guard: {dict(host.guard.caught)}")

    def _waiting_for_an_end(self) -> list[object]:
        """Of tournaments that have no end or have had it."""
        waiting = [each._waiting for each in self._host.on_fact if isinstance(each, TournamentEnds)]
        return [
            one
            for by_name in waiting
            for name, all_of_them in by_name.items()
            for one in all_of_them
            if name == PLAYING or name.startswith(OPEN)
        ]


@contextmanager
def _overheard(complain: Callable[[str], None]) -> Iterator[None]:
    """Have whatever is logged as an error be a complaint. All is logged that would be in earnest."""

    def hear(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        if method == "error":
            told = structlog.processors.format_exc_info(logger, method, event)
            complain("\n".join(f"{value}" for value in told.values()))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[hear], wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    try:
        yield
    finally:
        structlog.configure(**before)


def _was_alone(match: Concluded) -> bool:
    """Whether it counts for nothing because the other one was gone before both had moved, or never came."""
    other = next(name for name in match.players if name != REGULAR)
    return match.ending is Ending.VOID and match.why in absences(other)
