"""Bots of the Arena as teams wrote them in a weekend: a server that is called, and a loop over the stream.

A team answers the call when the battle is over, with an error, so it plays one
battle at a time. Its commands are forms, and what they are answered is looked
at by nobody (but kept for the tests). The board is what the stream says and
nothing else: the bot's own moves are on it when they come back. Whatever it
does not expect it answers by flipping the table, a flipped table too, its own
included; so its last command comes when all is over.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from typing import Any, NamedTuple, Protocol, Self
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.hang import HANG
from tests.server.served import Served

FLIP = "(╯°□°)╯︵ ┻━┻"
Fields = Mapping[str, str]


class Mind(Protocol):
    """What a bot knows of a battle."""

    def expects(self, event: Fields) -> bool:
        """Put a move on the board, if it may be played."""
        ...

    def choice(self, me: str) -> Fields | None:
        """What to play; None if it is not that side's turn."""
        ...


class Manners(NamedTuple):
    """How a team writes addresses and bodies."""

    kind: str = "application/x-www-form-urlencoded"
    body: Callable[[Fields], str] = urlencode
    evaluate: str = "/{game}/evaluate"
    join: str = "/{game}/join"
    start: str = "/{game}/start/{battle}"
    play: str = "/{game}/play/{battle}"


class Fought(NamedTuple):
    """A battle that is over: its events without the first, and the statuses of the bot's commands."""

    battle: str
    me: str
    events: list[Fields]
    statuses: list[int]


class Team:
    """A server for one bot. `minds` says which games it plays, `at_once` whether each call has a thread."""

    def __init__(
        self,
        host: Served,
        minds: Mapping[str, Callable[[], Mind]],
        manners: Manners | None = None,
        at_once: bool = False,
    ) -> None:
        self.minds = minds
        self.manners = manners or Manners()
        self.port = host.http
        self.fought: Queue[Fought | BaseException] = Queue()
        self.scores: Queue[Any] = Queue()
        team = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                game = self.path.rsplit("/", 1)[1]
                if game not in team.minds:
                    team.scores.put(said)
                elif at_once:
                    threading.Thread(target=team.called, args=(game, said["battleId"]), daemon=True).start()
                else:
                    team.called(game, said["battleId"])
                with suppress(OSError):  # nobody may wait for the answer any more
                    self.send_error(500)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def called(self, game: str, battle: str) -> None:
        try:
            self.fought.put(self.fight(game, battle))
        except BaseException as error:
            self.fought.put(error)

    def finished(self, battles: int) -> list[Fought]:
        """The next so many battles, when they are over."""
        found = [self.fought.get(timeout=HANG) for _ in range(battles)]
        for each in found:
            if isinstance(each, BaseException):
                raise each
        return [each for each in found if isinstance(each, Fought)]

    def fight(self, game: str, battle: str) -> Fought:
        mind, statuses, events = self.minds[game](), list[int](), list[Fields]()
        stream = self.listen(self.manners.start.format(game=game, battle=battle))
        me = next(stream)["youAre"]

        def command(**fields: str) -> None:
            statuses.append(self.send(self.manners.play.format(game=game, battle=battle), fields)[0])

        self.answer(mind, me, command)
        for event in stream:
            events.append(event)
            if "winner" in event:
                continue
            if mind.expects(event):
                self.answer(mind, me, command)
            else:
                command(action=FLIP)
        return Fought(battle, me, events, statuses)

    def answer(self, mind: Mind, me: str, command: Callable[..., None]) -> None:
        if (chosen := mind.choice(me)) is not None:
            command(**chosen)

    def listen(self, path: str) -> Iterator[Any]:
        with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=HANG) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def send(self, path: str, fields: Fields) -> tuple[int, Any]:
        body = self.manners.body(fields).encode()
        kind = {"Content-Type": self.manners.kind}
        try:
            with urlopen(Request(f"http://127.0.0.1:{self.port}{path}", body, kind), timeout=HANG) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)

    def ask(self, game: str, run: str, under: str = "") -> int:
        """Ask for an evaluation; how many battles it has. `under` is what its own address ends with."""
        asked = {"teamUrl": self.url + under, "callbackUrl": f"{self.url}/score", "runId": run}
        status, said = self.send(self.manners.evaluate.format(game=game), asked)
        assert (status, said["errors"]) == (200, {}), said
        return len(said["battleIds"])

    def evaluated(self, game: str, run: str) -> dict[str, Fought]:
        """Ask for an evaluation, and wait until the score has been told: its battles, by their cases."""
        battles = self.ask(game, run)
        self.told = self.scores.get(timeout=HANG)
        return self.cases(run, self.finished(battles))

    def cases(self, run: str, fought: list[Fought]) -> dict[str, Fought]:
        """Those battles that are of one run, and how that stands."""
        with urlopen(f"http://127.0.0.1:{self.port}/evaluations/{run}", timeout=HANG) as answer:
            self.standing = json.load(answer)
        names = {case["battleId"]: case["caseType"] for case in self.standing["cases"]}
        return {names[each.battle]: each for each in fought if each.battle in names}
