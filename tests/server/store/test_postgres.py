"""PostgreSQL as a store: what is not the same for every engine."""

import os
import re
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import repeat
from pathlib import Path

import psycopg
import pytest

from server.exits import FAILED, ConfigError, Unavailable
from server.store import postgres, postgres_database, postgres_reader
from server.store.journal import Jot
from server.store.postgres import Astray, Postgres
from server.store.postgres_database import where
from tests.hang import HANG, wait_for
from tests.server.served import ROOT
from tests.server.store.postgresql import Server
from tournament.entries import Entry
from tournament.store import Conflict

pytestmark = pytest.mark.slow


def entry(number: int, key: str | None = None, body: str = "{}") -> Entry:
    return Entry(number, "cup", 1.0, "entered", key, body)


def write_one(engine: Postgres) -> None:
    engine.write([entry(1)])


def cut(server: Server) -> None:
    """End every session of hosts, as a restart does."""
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quintain'"
    )


def cut_as_it_waits(server: Server, statement: str) -> None:
    """End the session of a host that waits for a lock with that statement."""
    waiting = f"FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query = '{statement}'"
    wait_for(lambda: server.execute(f"SELECT pg_terminate_backend(pid) {waiting}"))


def test_what_is_taken_out_is_gone_even_if_the_server_goes_away_as_it_tidies_up(
    server: Server, url: str
) -> None:
    """Catches an archive that fails after all has been deleted, as if nothing had been."""
    with closing(Postgres(url)) as engine, psycopg.connect(url) as other:
        engine.write([entry(1)])
        other.execute("LOCK TABLE journal IN SHARE UPDATE EXCLUSIVE MODE")  # as the server's own vacuum
        mark = Entry(2, "", 2.0, "ordered", None, "{}")
        with ThreadPoolExecutor(1) as beside:
            cutting = beside.submit(cut_as_it_waits, server, "VACUUM journal")
            engine.take_out(["cup"], mark)
            cutting.result()
        assert [each.number for each in engine.kept()] == [2]
        assert engine.write([entry(3)])


@pytest.mark.usefixtures("hasty")
def test_a_second_host_on_a_database_is_refused_in_a_line(url: str) -> None:
    first = Postgres(url)
    with pytest.raises(
        ConfigError, match=r"^postgresql://127\.0\.0\.1:\d+/test\d+: .*: another host .* --peers$"
    ):
        Postgres(url)
    first.write([entry(1)])
    first.close()
    second = Postgres(url)
    assert second.last() == 1
    second.close()


def test_a_session_that_is_cut_is_opened_again_without_anybody_noticing(server: Server, url: str) -> None:
    engine = Postgres(url)
    for number in range(1, 6):
        engine.write([entry(number, f"entered {number}")])
        cut(server)
        assert engine.last() == number
    assert [each.number for each in engine.kept()] == [1, 2, 3, 4, 5]
    assert [each.number for each in engine.kept(3)] == [4, 5]
    engine.close()


def test_the_draw_of_a_thousand_is_kept_in_about_as_much_memory_as_it_has_letters(url: str) -> None:
    """Catches 1.6 GB for one of 38 MB, which a host took in the middle of play."""
    body = '{"first":"ann","second":"bob"},' * 200_000
    rows = [entry(1, "a", "{}"), entry(2, "b", body), entry(3, "c", "{}"), entry(4, None, body)]
    engine = Postgres(url)
    tracemalloc.start()
    try:
        first = engine.write(rows)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(body)
    finally:
        tracemalloc.stop()
    assert list(engine.kept()) == rows
    assert engine.write(rows) == first, "they are there already"
    assert engine.write([*rows, entry(5, "d", body)])[:4] == first
    with pytest.raises(Conflict):
        engine.write([entry(2, "b", body + " ")])
    engine.close()


@pytest.mark.usefixtures("hasty")
def test_a_commit_whose_outcome_nobody_knows_is_tried_again_and_is_there_once(
    server: Server, url: str
) -> None:
    """Catches a retry that keeps a second time what had gone through before the session was cut."""
    engine = Postgres(url)
    server.execute(
        "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;"
        " CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON journal INITIALLY DEFERRED FOR EACH ROW"
        " WHEN (new.number = 1) EXECUTE FUNCTION cut()",
        url,
    )
    with pytest.raises(Unavailable):
        engine.write([entry(1)])
    server.execute("DROP TRIGGER cut ON journal", url)
    for _ in range(2):
        engine.write([entry(1), entry(2, "entered ann")])
        cut(server)
    assert [each.number for each in engine.kept()] == [1, 2]
    engine.close()


@pytest.mark.usefixtures("hasty")
def test_a_host_that_lost_its_lock_to_another_writes_no_more(server: Server, url: str) -> None:
    """Catches a host that comes back to a database which another has gone on with meanwhile."""
    engine = Postgres(url)
    engine.write([entry(1)])
    cut(server)
    other = Postgres(url)
    with pytest.raises(Unavailable, match="another host is using it"):
        engine.write([entry(2)])
    other.write([entry(2), entry(3)])
    other.close()
    with pytest.raises(Astray, match="another host has written"):
        engine.write([entry(2)])
    engine.close()


@pytest.mark.usefixtures("hasty")
def test_a_server_that_is_away_is_unavailable_and_what_was_to_be_kept_can_be_kept_later(
    server: Server,
) -> None:
    engine = Postgres(server.database())
    server.stop()
    with pytest.raises(Unavailable, match=r"^postgresql://127\.0\.0\.1:\d+/test\d+: "):
        engine.write([entry(1)])
    with pytest.raises(Unavailable, match=r"^postgresql://127\.0\.0\.1:\d+/test\d+: "):
        next(engine.jotted())  # all at once, in a session of its own
    server.start()
    engine.write([entry(1)])
    assert engine.last() == 1
    engine.close()


def test_a_backup_from_a_server_that_goes_away_is_a_failure_that_may_pass(
    server: Server, url: str, tmp_path: Path
) -> None:
    """Anything else would end the host that makes it."""
    engine = Postgres(url)
    engine.write([entry(1)])

    server.stop()
    try:
        with pytest.raises(Unavailable):
            engine.backup(tmp_path / "copy.sqlite")
    finally:
        server.start()
    assert not list(tmp_path.iterdir())
    engine.close()


def test_a_restart_in_the_middle_of_a_write_is_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = (0.0, *repeat(0.1, round(HANG / 0.1)))  # a busy machine takes its time for a restart
    monkeypatch.setattr(postgres_database, "WAITS", patient)
    engine = Postgres(server.database())
    server.stop()
    back = threading.Timer(0.2, server.start)
    back.start()
    engine.write([entry(1), Jot("cup-1", 1, '["C"]', "[0.5]")])
    engine.write([Jot("cup-1", 1, '["C","N"]', "[0.5,0.5]")])
    back.join()
    assert [each.moves for each in engine.jotted()] == ['["C","N"]']
    engine.close()


def test_a_newer_schema_is_refused(server: Server, url: str) -> None:
    Postgres(url).close()
    server.execute("INSERT INTO quintain_schema VALUES (99)", url)
    with pytest.raises(ConfigError, match=r"newer Quintain \(schema 99; this one knows \d+\)"):
        Postgres(url)


@pytest.mark.usefixtures("hasty")
def test_nothing_listening_is_said_in_a_line_and_no_password_is_in_it() -> None:
    url = "postgresql://ann:secret@127.0.0.1:1/cup"
    with pytest.raises(Unavailable) as refused:
        Postgres(url)
    assert refused.value.code == FAILED, (
        "whatever looks after the host starts it again, as the server may come"
    )
    assert "\n" not in str(refused.value)
    assert "postgresql://127.0.0.1:1/cup" in str(refused.value)
    assert "secret" not in str(refused.value)
    assert where("postgresql://%zz") == "postgresql://"


@pytest.mark.usefixtures("hasty")
def test_a_start_at_a_standby_that_has_not_taken_over_yet_is_a_failure_that_may_pass(
    server: Server, url: str
) -> None:
    """Catches exit code 2, after which systemd starts a host no more: machines come up together."""
    Postgres(url).close()
    name = url.rpartition("/")[2]
    server.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(Unavailable, match="read-only") as refused:
        Postgres(url)
    assert refused.value.code == FAILED
    server.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    Postgres(url).close()


@pytest.mark.usefixtures("hasty")
def test_a_host_that_finds_the_journal_locked_does_not_keep_itself_out_afterwards(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "STATEMENT", 100)
    engine = Postgres(url)
    engine.write([entry(1)])
    with psycopg.connect(url) as somebody:
        somebody.execute("LOCK TABLE journal IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match="statement timeout"):
            engine.write([entry(2)])
    engine.write([entry(2)])
    assert engine.last() == 2
    engine.close()


@pytest.mark.parametrize("do", [write_one, Postgres.last])
def test_a_server_that_stands_still_is_waited_for_no_longer_once_the_host_ends(
    server: Server, url: str, do: Callable[[Postgres], object]
) -> None:
    with closing(Postgres(url)) as engine, ThreadPoolExecutor(1) as threads:
        engine.last()  # there is a session for either
        with server.standing_still():
            done = threads.submit(do, engine)
            engine.hurry(0.0)
            with pytest.raises(Unavailable, match="has not answered in time"):
                done.result(HANG)


def test_whoever_reads_waits_no_longer_than_a_while_for_a_server_that_stands_still_and_reads_on_after_that(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a page that never came, and one more thread that waited with each request for one."""
    monkeypatch.setattr(postgres_reader, "SILENCE", 0.2)
    monkeypatch.setattr(postgres_database, "LONG", 0.1)
    with closing(Postgres(url)) as engine, ThreadPoolExecutor(3) as threads:
        engine.write([entry(1)])
        with server.standing_still():
            for read in [threads.submit(engine.last) for _ in range(3)]:
                with pytest.raises(Unavailable, match=r"not answered in time|others wait|timeout expired"):
                    read.result(HANG)
        assert engine.last() == 1


def test_rights_that_are_taken_away_from_a_host_are_trouble_that_passes_when_they_are_back(
    server: Server, url: str
) -> None:
    role = f"host_of_{url.rpartition('/')[2]}"
    server.execute(f"CREATE ROLE {role} LOGIN; GRANT ALL ON SCHEMA public TO {role}", url)
    engine = Postgres(url.replace("quintain@", f"{role}@"))
    engine.write([entry(1, "entered 1"), Jot("cup-2", 1, "[1]", "[0.5]")])
    server.execute(f"REVOKE ALL ON journal, jotted FROM {role}", url)
    for use in (
        lambda: engine.write([entry(2, "entered 2"), Jot("cup-2", 2, "[2]", "[0.5]")]),
        engine.last,
        lambda: list(engine.jotted()),
    ):
        with pytest.raises(Unavailable, match="permission denied"):
            use()
    server.execute(f"GRANT ALL ON journal, jotted TO {role}", url)
    engine.write([entry(2, "entered 2"), Jot("cup-2", 2, "[2]", "[0.5]")])
    assert ([each.number for each in engine.kept()], len(list(engine.jotted()))) == ([1, 2], 2)
    engine.close()


def test_a_database_that_is_not_there_is_a_fault_in_the_address(url: str) -> None:
    """To start again would not help, and whatever looks after the host is told so."""
    with pytest.raises(ConfigError, match=r"cannot be used: .*\"nowhere\" does not exist"):
        Postgres(f"{url.rpartition('/')[0]}/nowhere")


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    "address",
    [
        "ann:SE%zzCRET@127.0.0.1:1/cup",
        "ann:SE CRET@127.0.0.1:1/cup",
        "ann:SECRET@[::1/cup",
        "127.0.0.1:1/SECRET@host/cup",  # somebody's password begins with a digit and a /
        "127.0.0.1:1/cup?password=SE%zzCRET",
        "127.0.0.1:1/cup?password=SE&CRET",
        "127.0.0.1:1/cup?password=SECRET&CRET",
        "127.0.0.1:1/cup?passwort=SECRET%zz",
    ],
)
def test_no_part_of_a_password_is_told_where_an_address_cannot_be_read(address: str) -> None:
    """Catches what a client says of such an address: it quotes it."""
    with pytest.raises(ConfigError, match=r"^postgresql://: this database cannot be used: ") as refused:
        Postgres(f"postgresql://{address}")
    assert not re.search("SE|CRET", str(refused.value))


@pytest.mark.parametrize("address", ["ann:SE@CRET@host/cup", "ann:1/SECRET@host/cup", "ann:SECRET/cup"])
def test_an_address_in_which_a_password_may_be_anywhere_is_not_shown(address: str) -> None:
    assert where(f"postgresql://{address}") == "postgresql://"


def test_what_cannot_be_read_in_an_address_is_told_where_that_is_not_the_password() -> None:
    with pytest.raises(ConfigError, match=r'cannot be used: .*"sslmod"$'):
        Postgres("postgresql://ann:secret@127.0.0.1:1/cup?sslmod=require")
    with pytest.raises(ConfigError, match="in a password % is written %25"):
        Postgres("postgresql://ann:sec%ret@127.0.0.1:1/cup?sslmode=require")


def test_a_host_with_synchronous_commit_off_has_it_on_for_what_it_keeps(server: Server, url: str) -> None:
    server.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET synchronous_commit = off")
    engine = Postgres(url)
    assert engine._writer is not None
    assert engine._writer.execute("SHOW synchronous_commit").fetchone() == ("on",)
    engine.close()


def test_people_with_psql_find_tables_they_can_read(server: Server, url: str) -> None:
    engine = Postgres(url)
    bodies = {
        "opened": '{"type":"opened","game":"tic-tac-toe","format":"swiss","entrants":4}',
        "entered": '{"type":"entered","name":"ann","rating":null}',
        "drew": '{"type":"drew","pairings":[{"number":1,"round":1,"first":"ann","second":null}]}',
        "concluded": '{"match":"cup-1","players":["ann","bob"],"winner":0,"ending":"played","why":"w",'
        '"score":[1,0],"moves":[1,2]}',
        "ordered": '{"by":"eve","action":"void","detail":"cup-1"}',
    }
    engine.write(
        [
            Entry(number, "cup", 1.0, *each)
            for number, each in enumerate(((k, None, b) for k, b in bodies.items()), 1)
        ]
    )
    for view in ("tournaments", "entrants", "pairings", "matches", "orders"):
        assert len(server.execute(f"TABLE {view}", url)) == 1, view
    engine.close()


def test_what_psycopg_is_missing_for_is_said_in_a_line(tmp_path: Path) -> None:
    """Catches a traceback from `quintain doctor` and from a host with peers, which import others first."""
    modules = ("server.store.postgres", "server.store.shared", "server.store.duties", "server.peers.registry")
    (tmp_path / "psycopg.py").write_text("raise ImportError('planted')")
    (tmp_path / "each.py").write_text(
        "import importlib, sys\n"
        "for module in sys.argv[1:]:\n"
        "    try: importlib.import_module(module)\n"
        "    except Exception as error: print(type(error).__name__, error, sep=': ')\n"
        "    for other in [name for name in sys.modules if name.startswith('server.')]:\n"
        "        del sys.modules[other]\n"  # as in a process of its own, in which nothing has failed yet
    )
    run = subprocess.run(
        [sys.executable, str(tmp_path / "each.py"), *modules],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    said = "a store at postgresql:// needs psycopg: install quintain with the extra postgres (planted)"
    assert run.stdout.splitlines() == [f"ConfigError: {said}"] * len(modules), run.stderr


def test_sessions_are_closed(server: Server, url: str) -> None:
    engine = Postgres(url)
    list(engine.kept())
    engine.close()
    name, query = url.rpartition("/")[2], "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        wait_for(lambda: connection.execute(query, (name,)).fetchone() == (0,), "the end of all sessions")
