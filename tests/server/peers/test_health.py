"""What is wrong with hosts that share a database: values, and what hosts and the doctor say."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from server.config import settings
from server.doctor import Severity, examination
from server.exits import Unavailable
from server.peers.health import FAR, health
from server.peers.leases import Card, Peer
from server.peers.looking import look
from server.peers.registry import PostgresRegistry
from tests.server.store.postgresql import Server

ONE, OTHER = (Peer(number, f"10.0.0.{number}:7000", "", "", "1.0") for number in (1, 2))
MINUTE = 60.0


def said(*peers: Peer) -> str:
    return "; ".join(problem.said for problem in health(peers).problems)


def test_nothing_is_said_of_hosts_that_are_well_and_a_host_that_was_told_to_stop_is_well() -> None:
    stopped = replace(OTHER, alive=False, draining=True)
    assert said(ONE, OTHER) == said(ONE, stopped) == said(ONE, replace(OTHER, ahead=FAR / 2)) == ""
    assert (health((ONE, stopped)).registered, health((ONE, stopped)).alive) == (2, 1)


def test_a_host_that_died_is_named_until_one_is_there_again() -> None:
    dead = replace(OTHER, alive=False, age=12.3)
    assert said(ONE, dead) == "host 2 at 10.0.0.2:7000 has not been heard of for 12 s"
    assert said(ONE, dead, replace(OTHER, id=3)) == ""
    assert said(ONE, replace(dead, starting=True)) == "", "it has not died: it is not ready yet"
    assert said(ONE, replace(dead, ahead=MINUTE)) == said(ONE, dead), "nobody can set its clock"


def test_versions_that_differ_are_named_and_those_of_the_dead_are_not() -> None:
    newer = replace(OTHER, version="1.1")
    assert "host 1 at 10.0.0.1:7000 has 1.0, host 2 at 10.0.0.2:7000 has 1.1" in said(ONE, newer)
    assert said(ONE, replace(newer, alive=False, draining=True)) == ""


@pytest.mark.parametrize(("ahead", "words"), [(MINUTE, "60 s ahead of"), (-MINUTE, "60 s behind")])
def test_a_clock_that_is_far_off_is_named(ahead: float, words: str) -> None:
    assert (
        said(ONE, replace(OTHER, ahead=ahead))
        == f"the clock of host 2 at 10.0.0.2:7000 is {words} the database's"
    )


# On a real database


@pytest.fixture
def join(url: str) -> Iterator[Callable[..., tuple[PostgresRegistry, int]]]:
    with ExitStack() as stack:

        def join(fingerprint: str, version: str = "1.0", **more: Any) -> tuple[PostgresRegistry, int]:
            registry = stack.enter_context(closing(PostgresRegistry(url, **more)))
            return registry, registry.register(Card(f"{fingerprint}:1", fingerprint, "", version))

        yield join


def examined(url: str, tmp_path: Path) -> dict[str, list[tuple[Severity, str]]]:
    ports = {"tcp": 0, "websocket": 0, "http": 0}
    found = settings(None, {}, {"data": str(tmp_path / "data"), "ports": ports, "store": url})
    answers: dict[str, list[tuple[Severity, str]]] = {}
    for answer in examination(found):
        assert answer.advice or answer.state is Severity.OK, answer
        answers.setdefault(answer.about, []).append((answer.state, answer.said))
    return answers


@pytest.mark.slow
def test_every_host_and_the_doctor_know_whose_clock_is_off_and_whose_version_is_another(
    url: str, join: Callable[..., tuple[PostgresRegistry, int]], tmp_path: Path
) -> None:
    (one, first), (late, second) = join("aa"), join("bb", "0.9", wall=lambda: 0.0)
    one.renew(first, -1, willing=True)
    late.renew(second, -1, willing=True)
    granted = one.renew(first, -1, willing=True)
    assert "s behind the database's" in said(*granted.peers)
    assert "has 0.9" in said(*granted.peers)
    found = examined(url, tmp_path)
    assert found["hosts"][0] == (Severity.OK, "2 were heard of within the hour, of which 2 live")
    assert [text for _, text in found["hosts"][1:]] == [
        each.said for each in health(look(url).peers).problems
    ]
    assert len(found["hosts"]) == 3
    assert found["database"][0][0] is Severity.OK


@pytest.mark.slow
def test_the_doctor_says_that_a_database_is_read_only_full_or_away_and_changes_nothing_there(
    server: Server, url: str, tmp_path: Path
) -> None:
    name = url.rpartition("/")[2]
    before = server.execute("SELECT count(*) FROM pg_class", url)
    assert examined(url, tmp_path)["database"][0][0] is Severity.OK
    assert server.execute("SELECT count(*) FROM pg_class", url) == before
    server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    state, text = examined(url, tmp_path)["database"][0]
    assert (state, "read-only" in text) == (Severity.FAULT, True)
    server.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    fill(url)
    state, text = examined(url, tmp_path)["database"][0]
    assert (state, "No space left on device" in text) == (Severity.FAULT, True)
    assert examined(f"{url}-is-not-there", tmp_path)["database"][0][0] is Severity.FAULT


def fill(url: str) -> None:
    """Have the server refuse new tables as it does when its disk is full."""
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(
            "CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$"
        )
        session.execute("CREATE EVENT TRIGGER full_disk ON ddl_command_end EXECUTE FUNCTION full_disk()")


@pytest.mark.slow
def test_a_host_whose_number_has_become_another_s_is_told_so(
    url: str, join: Callable[..., tuple[PostgresRegistry, int]]
) -> None:
    """Catches two hosts that both hold what one number holds, after a database was put back."""
    registry, host = join("aa")
    registry.renew(host, -1, willing=True)
    with psycopg.connect(url) as session:
        session.execute("UPDATE hosts SET fingerprint = 'bb' WHERE id = %s", (host,))
    with pytest.raises(Unavailable, match=f"knows no host {host} with this host's certificate"):
        registry.renew(host, -1, willing=True)
