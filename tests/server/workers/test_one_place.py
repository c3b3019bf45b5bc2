"""One name in two tournaments that two workers hold, over real sockets: it plays in one place at a time."""

import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from server.host.visits import REPLACED
from tests.hang import HANG, wait_for
from tests.server.served import Served
from tests.server.test_matrix import TRANSPORTS, Talk, Tcp, Websocket, open_tournament

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on"),
]

GAME, OTHER = "connect-4", "santorini"  # whose tables are held by two workers, too
WEEK = ("monday", "friday")  # each is held by a worker of its own
HOW = ("release", "invite")  # an organiser replaces a token
OVER = "over"
TOKEN = "ann-keeps-this-secret"
STILL_HERE = re.compile("somebody is here|over another connection|come again")
NOT_BOTH = "ann plays in {} over another connection, and a name plays a game in one place at a time"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("host"), "--workers", "2", "--show", "1")
    # Opened while nobody has come, two at a time are held by different workers: who has entered weighs, too.
    for how in (*HOW, OVER):
        for day in WEEK:
            any_number = {"name": f"{day}-{how}", "game": GAME}
            assert ordered(served, "", any_number)[0] == 201
    for name in (*WEEK, "tuesday"):  # the third makes the worker with the table of the other game another one
        open_tournament(served, name, GAME)
    for name in WEEK:
        open_tournament(served, f"{name}{OTHER}", OTHER)
    yield served
    served.kill()


def answered(talk: Talk, tournament: str | None, token: str = TOKEN, game: str = GAME) -> dict[str, Any]:
    talk.say({"type": "hello", "name": "ann", "game": game, "tournament": tournament, "token": token})
    return talk.hear()


def ordered(host: Served, path: str, order: dict[str, Any]) -> tuple[int, Any]:
    token, content = (host.data / "organiser-token").read_text().strip(), json.dumps(order)
    return host.ask(
        f"POST /api/tournaments{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(content)}\r\n\r\n{content}"
    )


class Leaving(Tcp):
    def leave(self) -> None:
        """Leave, and wait until the host has heard that."""
        self.say({"type": "bye"})
        while self._lines.readline():
            pass
        self.close()


@pytest.mark.parametrize("first", TRANSPORTS)
def test_whoever_is_in_one_tournament_is_refused_in_another_and_may_go_on_when_it_has_left(
    first: str, host: Served
) -> None:
    for here, elsewhere in (WEEK, WEEK[::-1]):
        one = TRANSPORTS[first](host)
        assert answered(one, here)["tournament"] == here
        other = Leaving(host)
        assert answered(other, elsewhere)["reason"].startswith(NOT_BOTH.format(here))
        assert "is taken" in answered(other, elsewhere, "a token that is another")["reason"]
        assert answered(other, None)["tournament"] == here, "it takes over where it is"
        assert one.hear()["reason"] == REPLACED
        one.close()
        other.leave()
        again = Leaving(host)
        assert answered(again, elsewhere)["tournament"] == elsewhere
        again.leave()


@pytest.mark.parametrize("second", [Tcp, Websocket])
@pytest.mark.parametrize("with_token", [False, True])
def test_whoever_has_entered_one_tournament_and_gone_may_play_in_another_with_or_without_its_token(
    second: type[Tcp | Websocket], with_token: bool, host: Served
) -> None:
    """Catches a bot that is told that there is no such tournament, or to come again and again."""
    week = [f"{day}-{second.__name__}-{with_token}" for day in WEEK]
    for name in week:  # they take any number
        assert ordered(host, "", {"name": name, "game": GAME})[0] == 201
    for number, (here, elsewhere) in enumerate((week, week[::-1], (week[0], f"open-{GAME}"))):
        hello = {"type": "hello", "name": f"{second.__name__}{number}{with_token}", "game": GAME}
        one, answers = Tcp(host), list[dict[str, Any]]()
        one.say(hello | {"tournament": here})
        told = one.hear()
        assert told["tournament"] == here
        one.close()
        if with_token:
            hello["token"] = told["token"]

        def is_in() -> bool:
            other = second(host)
            other.say(hello | {"tournament": elsewhere})  # noqa: B023 - it is called at once
            answers.append(other.hear())  # noqa: B023
            other.close()
            return not STILL_HERE.search(answers[-1].get("reason", ""))  # noqa: B023

        wait_for(is_in, "the end of its first connection")
        assert answers[-1]["type"] == "welcome", answers
        assert answers[-1]["tournament"] == (None if elsewhere.startswith("open-") else elsewhere)


@pytest.mark.parametrize("game", [GAME, OTHER])
def test_whoever_sits_at_the_open_table_takes_over_from_itself_in_a_tournament(
    game: str, host: Served
) -> None:
    for day in WEEK:  # one of them is held by the worker with the table
        tournament = f"{day}{game.removeprefix(GAME)}"
        table, cup = Tcp(host), Leaving(host)
        assert answered(table, f"open-{game}", game=game)["tournament"] is None
        assert answered(cup, tournament, game=game)["tournament"] == tournament
        assert table.hear()["reason"] == REPLACED
        table.close()
        cup.leave()


def test_whoever_names_a_tournament_that_is_over_is_told_so_in_any_worker(host: Served) -> None:
    """Catches an author who looks for a slip in the name, and came a day late."""
    for day in WEEK:
        over = f"{day}-{OVER}"
        for name in ("pen", "quill"):
            assert ordered(host, f"/{over}/invite", {"name": name})[0] == 201
        for order in ("start", "end"):
            assert ordered(host, f"/{over}/{order}", {})[0] == 200
        one = Leaving(host)
        assert answered(one, over)["reason"] == f"{over} is over"
        assert answered(one, over, game=OTHER)["reason"] == f"in {over} {GAME} is played, and not {OTHER}"
        one.leave()


@pytest.mark.parametrize("how", HOW)
def test_a_token_that_an_organiser_has_replaced_is_of_no_use_in_any_worker(how: str, host: Served) -> None:
    """Catches one that was stolen, and lets the thief play in the tournaments of the other workers."""
    week = [f"{day}-{how}" for day in WEEK]
    hello = {"type": "hello", "name": f"{how}-ann", "game": GAME, "token": TOKEN}
    for name in week:
        one = Leaving(host)
        one.say(hello | {"tournament": name})
        assert one.hear()["tournament"] == name
        one.leave()
    order = {"name": hello["name"], "bind": True} if how == "release" else {"name": hello["name"]}
    answers = list[tuple[int, Any]]()

    def is_replaced() -> bool:
        answers.append(ordered(host, f"/{week[0]}/{how}", order))
        assert "takes part in" not in str(answers[-1][1]), "one worker holds both"
        return answers[-1][0] == 201

    wait_for(is_replaced, "its worker to hear that the bot has left the other tournament")
    told = answers[-1][1]

    def is_out() -> bool:
        thief = Leaving(host)
        thief.say(hello | {"tournament": week[1]})
        kind = thief.hear()["type"]
        thief.leave()
        return kind == "refused"

    wait_for(is_out, "the other worker to hear of it")
    again = Leaving(host)
    again.say(hello | {"tournament": week[1], "token": told["token"]})
    assert again.hear()["tournament"] == week[1]
    again.leave()


def test_one_of_two_connections_that_race_for_two_tournaments_is_refused(host: Served) -> None:
    for _ in range(10):
        talks = [Leaving(host), Leaving(host)]
        with ThreadPoolExecutor(2) as threads:
            both = [threads.submit(answered, *each) for each in zip(talks, WEEK, strict=True)]
            told = [each.result(HANG) for each in both]
        assert sorted(each["type"] for each in told) == ["refused", "welcome"], told
        for talk, message in zip(talks, told, strict=True):
            if message["type"] == "welcome":
                talk.leave()
            talk.close()
