"""Large events and a long past: until a host takes bots in and shows a page, and its slowest pages.

`make bench ARGS="pages"`. Journals are made quickly, as in `past.py`, which has the rows of two million
matches. A round robin of a thousand is opened by the first start, which draws it, and resumed by
the second; of the others all has been read once by then. Every page is asked for once and then several
times, and so are answers of the API. The slowest is named: the one at first, and the one by the
median of the later times. Nobody plays meanwhile.

Seconds are those of the processor, of play and of show together, so that who else uses the machine
matters little; those of the wall, until bots are let in, stand beside.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from itertools import count
from operator import itemgetter
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

import psycopg
from msgspec import Struct, json

from server.store.postgres import Postgres
from tests.bench import past
from tests.bench.past import JOURNAL, MATCHES, NAMES, STYLES, Row, Shape, row
from tests.bench.server import SHOWS, Server, memory_of, quintain
from tests.server.store import postgresql
from tournament.facts import Entered, Opened, State, Turned

ENTRANTS, PAIRINGS = 1_000, 499_500  # of the round robin
CLIMBERS, CLIMBED = 20_000, 200_000  # names of the ladder, and matches that were played there
GAME, CUP = "connect-4", "cup"
TIMES = 5
LOOK = 0.02  # seconds between two looks whether it shows something
WAIT = 1800.0  # seconds until a start has failed
AGAIN = 503
MB = 1_000_000


class Event(Struct, frozen=True):
    """What is kept, and what there is to look at."""

    rows: Callable[[], Iterator[Row]]
    tournament: str
    bot: str
    match: str = ""
    drawn: int = 0  # pairings that have to be drawn before all is there

    @property
    def pages(self) -> list[str]:
        about, numbers = f"/tournaments/{self.tournament}", ("", "?page=50")
        found = ["/", "/wall", f"/wall/{self.tournament}", about, f"/bots/{self.bot}", f"/games/{GAME}"]
        found += [f"{about}/{table}{page}" for table in ("standings", "schedule") for page in numbers]
        lists = [f"/api{about}{part}" for part in ("", "/standings", "/matches", "/feed")]
        if self.match:
            found += [f"/matches/{self.match}", f"/api/matches/{self.match}"]
        return [*found, "/api/tournaments", *lists, f"/api/bots/{self.bot}"]


def bench() -> None:
    starts = f"{'the wall':>10}{'bots':>9}{'pages':>9}"
    print(f"{'':42}{starts}{'MB':>7}{'of show':>9}{'slowest at first, and later':>30}")
    for name, event in EVENTS.items():
        with TemporaryDirectory() as folder:
            past.write_rows(Path(folder, JOURNAL), event.rows())
            _tell(name, event, folder)
    name, event = next(iter(EVENTS.items()))
    with TemporaryDirectory() as folder, _kept_in_postgresql(event) as url:
        _tell(f"{name}, PostgreSQL", event, folder, "--store", url)


@contextmanager
def _kept_in_postgresql(event: Event) -> Iterator[str]:
    with postgresql.running() as server:
        url = server.database()
        Postgres(url).close()
        into = "COPY journal (number, tournament, at, kind, key, body) FROM STDIN"
        with psycopg.connect(url) as session, session.cursor() as cursor, cursor.copy(into) as copied:
            for each in event.rows():
                copied.write_row(each)
        server.execute("ANALYZE", url)
        yield url


def _tell(name: str, event: Event, folder: str, *flags: str) -> None:
    for which in ("first", "again"):
        begun = time.perf_counter()
        with quintain(folder, *flags) as server:
            wall, look = time.perf_counter() - begun, Looking(server)
            ready = server.seconds()
            look.until_there(event)
            shown = look.worked()
            took = {path: [look.seconds(path) for _ in range(1 + TIMES)] for path in event.pages}
            memory = f"{server.memory() / MB:7.0f}{look.memory() / MB:9.0f}"
            server.process.terminate()
            server.process.wait()
        starts = f"{wall:7.2f} s{ready:7.2f} s{shown:7.2f} s"
        print(f"{f'{name}, {which}':42}{starts}{memory}{_slowest(took)}", flush=True)


def _slowest(took: Mapping[str, list[float]]) -> str:
    first = {path: times[0] for path, times in took.items()}
    later = {path: median(times[1:]) for path, times in took.items()}
    worst = [max(each.items(), key=itemgetter(1)) for each in (first, later)]
    return "".join(f"{seconds * 1000:8.0f} ms {path}" for path, seconds in worst)


class Looking:
    """Somebody who looks at pages."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._connection = HTTPConnection(*server.address("http"), timeout=WAIT)

    def until_there(self, event: Event) -> None:
        """Until its page is shown, and all is drawn."""
        until = time.perf_counter() + WAIT
        while time.perf_counter() < until:
            with suppress(HTTPException, OSError):
                status, body = self._get(f"/api/tournaments/{event.tournament}")
                if status == 200 and json.decode(body)["open"] >= event.drawn:
                    return
            time.sleep(LOOK)
        raise TimeoutError(f"{event.tournament} is not shown after {WAIT:g} s")

    def seconds(self, path: str) -> float:
        """Of the processor, until it is answered: whoever is told to come again for the standings does."""
        before = self.worked()
        while (found := self._get(path))[0] == AGAIN:
            time.sleep(LOOK)
        took, (status, body) = self.worked() - before, found
        if status != 200:
            raise RuntimeError(f"GET {path} has status {status}: {body[:200]!r}")
        return took

    def worked(self) -> float:
        """Seconds of the processor that play and show have had."""
        return self._server.seconds_in_all()

    def memory(self) -> int:
        """Bytes that the process for pages has in memory."""
        return sum(map(memory_of, self._server.children(SHOWS)))

    def _get(self, path: str) -> tuple[int, bytes]:
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


def _round_robin() -> Iterator[Row]:
    numbers = count(1)
    for fact in (Opened(GAME, "round-robin"), *map(Entered, _names(ENTRANTS)), Turned(State.RUNNING)):
        yield row(next(numbers), CUP, fact)


def _ladder() -> Iterator[Row]:
    random, numbers = Random(20), count(1)
    for fact in (Opened(GAME, "ladder"), Turned(State.RUNNING), *map(Entered, _names(CLIMBERS))):
        yield row(next(numbers), CUP, fact)
    shapes = [Shape(random) for _ in range(STYLES)]
    for match in range(1, CLIMBED + 1):
        one, other = random.sample(range(CLIMBERS), 2)
        for kind, key, body in random.choice(shapes).bodies(CUP, "bot", match, one, other):
            number = next(numbers)
            yield number, CUP, float(number), kind, key, body


def _names(many: int) -> Iterator[str]:
    return (f"bot-{number}" for number in range(many))


EVENTS: Mapping[str, Event] = {
    f"{MATCHES:,} matches": Event(
        lambda: past.rows(MATCHES, NAMES), f"open-{GAME}", f"{GAME}-7", f"open-{GAME}-{MATCHES // 10}"
    ),
    f"round robin of {ENTRANTS:,}": Event(_round_robin, CUP, "bot-7", drawn=PAIRINGS),
    f"ladder of {CLIMBERS:,}, {CLIMBED:,} matches": Event(_ladder, CUP, "bot-7", f"{CUP}-{CLIMBED // 2}"),
}
