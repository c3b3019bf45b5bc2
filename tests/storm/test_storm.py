"""A little storm in the suite; `python -m tests.storm` has as much of it as there is time for."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
import trio

from tests.effort import tries
from tests.server.served import Served
from tests.storm.effects import Effects
from tests.storm.laws import Seen, differences
from tests.storm.orders import ORDERS
from tests.storm.plan import KILL, Plan
from tests.storm.spectators import figures, rows_on_page
from tests.storm.storm import storm

ORDERS_BETWEEN = tries(8, 60)


def quiet(what: str) -> None:
    pass


@pytest.mark.slow
def test_what_was_ordered_is_in_effect_whatever_befalls_a_host(tmp_path: Path) -> None:
    """With all the processes that one host can have; the campaign has the other kinds of hosts."""
    plan = Plan(1, "workers", (KILL,), ORDERS_BETWEEN, organisers=4, visitors=4, strangers=1)
    report = trio.run(storm, plan, tmp_path, "", quiet)
    assert report.wrong == []
    assert report.scene.orders >= 2 * ORDERS_BETWEEN


def test_a_storm_has_every_order_that_the_host_takes(serve: Callable[..., Served]) -> None:
    _, listed = serve().get("/openapi.json")
    assert {path for path, methods in listed["paths"].items() if "post" in methods} == set(ORDERS)


FROZEN = ("frozen", "cup")


def test_of_orders_that_were_on_their_way_at_once_either_may_have_come_last() -> None:
    effects = Effects()
    freeze, unfreeze = effects.sent({FROZEN: True}), effects.sent({FROZEN: False})
    effects.answered(freeze, True)
    assert effects.possible(FROZEN) == {True, False}
    effects.answered(unfreeze, True)
    assert effects.possible(FROZEN) == {True, False}
    effects.answered(effects.sent({FROZEN: True}), True)
    assert effects.possible(FROZEN) == {True}


def test_an_order_without_an_answer_may_have_been_carried_out_and_a_refused_one_was_not() -> None:
    effects = Effects()
    assert effects.possible(FROZEN) is None
    effects.answered(effects.sent({FROZEN: True}), True)
    effects.sent({FROZEN: False})
    assert effects.possible(FROZEN) == {True, False}
    other = ("frozen", "other")
    effects.answered(effects.sent({other: True}), True)
    effects.answered(effects.sent({other: False}), False)
    assert effects.possible(other) == {True}


def test_what_is_not_in_effect_is_noticed() -> None:
    effects = Effects()
    for key, value in {("there", "cup"): True, ("paused", "cup"): True, FROZEN: True}.items():
        effects.answered(effects.sent({key: value}), True)
    effects.answered(effects.sent({("out", "cup", "ann"): True, ("void", "cup", "cup-1"): True}), True)
    about = {"state": "running", "frozen": True, "entrants": [{"name": "ann", "gone": False}]}
    found = differences(effects, "cup", Seen(about, {"ann": ""}, {"cup-1": "played"}), effects.now())
    assert found == [
        "('paused', 'cup') should be {True}, and is False",
        "('out', 'cup', 'ann') should be {True}, and is False",
        "('void', 'cup', 'cup-1') should be {True}, and is False",
    ]
    assert differences(effects, "cup", None, effects.now()) == [
        "('there', 'cup') should be {True}, and is False"
    ]


def test_the_rows_of_a_page_are_those_of_the_api(serve: Callable[..., Served]) -> None:
    """Of a table of entrants, in which the page writes names and figures in its own way."""
    host = serve()
    token = (host.data / "organiser-token").read_text().strip()

    def order(path: str, **body: object) -> None:
        sent = json.dumps(body)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        head += f"Authorization: Bearer {token}\r\n"
        status, said = host.ask(f"{head}Content-Length: {len(sent)}\r\n\r\n{sent}")
        assert status in (200, 201), said

    order("/api/tournaments", name="cup", game="tic-tac-toe", by_invitation=True)
    for name in ("ann <b>", "bob & co"):
        order("/api/tournaments/cup/enter", name=name, affiliation="Ω")
    order("/api/tournaments/cup/withdraw", name="bob & co")
    rows = host.read("/api/tournaments/cup/standings")["rows"]
    with urlopen(f"http://127.0.0.1:{host.http}/tournaments/cup/standings") as page:
        assert rows_on_page(page.read().decode()) == figures({row["name"]: row for row in rows})
