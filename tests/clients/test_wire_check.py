"""`quintain check --wire`: sound clients pass, and each fault of the others is found, and nothing else."""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from games.catalogue import catalogue
from server.commands.new import STARTERS
from server.pages.addressed import ASSISTANTS
from server.programs.wire import rules
from server.programs.wire.client import Client
from server.programs.wire.command import Command
from server.programs.wire.doors import Doors
from server.programs.wire.findings import Findings, findings
from server.programs.wire.scripted_host import ScriptedHost
from server.programs.wire.talk import pieces
from server.programs.wire.trials import TRIALS, Terms, Trial
from tests.clients.starters import HERE, PATH, Workshop
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG
from tests.server.forked import Forked
from tests.server.run import quintain
from tests.server.served import ROOT

pytestmark = pytest.mark.slow

FAULTY = ROOT / "tests/clients/faulty"
PYTHON = (sys.executable, "-S", "-E")  # these clients need nothing that is installed
CONNECT4 = catalogue()["connect-4"]
STRAYS = 3  # how often a client of another test may come to a port that was its host's
TERMS = Terms(CONNECT4, HANG, 0.05)
PLAYS, IN_PIECES, UNKNOWN, REFUSED, BACK, RESTARTED, FORGETS, GIVES_WAY, WAITS, VOID, END = (
    trial.name for trial in TRIALS
)
# What a client does in another way over each transport: what it makes of messages is the same code.
CARRYING = [each for each in TRIALS if IS_CAMPAIGN or each.name in (PLAYS, IN_PIECES, BACK, GIVES_WAY)]
CLIENT = """
import random, sys
import quintain_bot
from legal_moves import legal_moves
url, game = sys.argv[1:]
choose = lambda turn: random.choice(legal_moves(game, turn))
quintain_bot.run(choose, game=game, name="ann", url=url)
"""

# By the fault: the trials in which that client fails, the sentence that it breaks, and words of the finding.
FOUND: dict[str, tuple[Sequence[str], str, str]] = {
    "cannot_say_hello": ([PLAYS], rules.READABLE, "game is required, and is missing"),
    "says_too_much": ([PLAYS], rules.CARRIED["tcp"], "a line may have 4096 bytes"),
    "never_answers": ([PLAYS], rules.IN_TIME, "no answer came within 0.3 s at ply 0"),
    "counts_from_one": ([PLAYS], rules.REFUSED["retry"], "there is no column 7; the columns are 0 to 6"),
    "takes_pieces_for_lines": ([IN_PIECES], rules.CARRIED["tcp"], "JSONDecodeError: Unterminated string"),
    "knows_every_field": ([UNKNOWN], rules.UNKNOWN, "AssertionError: what is this?"),
    "fails_at_a_refusal": ([REFUSED], rules.REFUSED["retry"], "exit code 1; its last words: this cannot be"),
    "does_not_come_back": (
        [BACK, RESTARTED, FORGETS],
        rules.COME_BACK,
        "it did not come back: it ended with exit code 0",
    ),
    "forgets_its_token": ([BACK, RESTARTED, FORGETS], rules.COME_BACK, 'with the token "another-token-each'),
    "fails_when_it_is_back": ([BACK, RESTARTED, FORGETS], rules.COME_BACK, "its last words: this has begun"),
    "comes_back_once": ([RESTARTED], rules.RESTARTED, "its last words: nobody is there"),
    "wants_a_welcome": ([RESTARTED], rules.RESTARTED, "its last words: it does not want me"),
    "counts_for_itself": ([FORGETS], rules.FORGET, "it answered ply 4, and the match is at ply 2"),
    "fights_for_its_place": ([GIVES_WAY], rules.TAKEN_OVER, "it came back"),
    "answers_for_both": ([WAITS], rules.ANSWERS, "it moved at ply 0, where it is not asked"),
    "wants_a_winner": ([VOID], rules.VOID, "'NoneType' object has no attribute 'upper'"),
    "fails_at_the_standings": ([END], rules.STANDINGS, "StopIteration"),
    "wants_whole_frames": ([IN_PIECES], rules.CARRIED["websocket"], "AssertionError: half a frame"),
    "knows_one_session": ([BACK], rules.COME_BACK, "the session is over: the connection was lost"),
}
DOORS = {"wants_whole_frames": "{websocket}", "knows_one_session": "{http}"}  # the others come over TCP


@pytest.fixture
def doors() -> Iterator[Doors]:
    with closing(Doors()) as opened:
        yield opened


def tried(doors: Doors, *words: str, terms: Terms = TERMS, trials: Sequence[Trial] = TRIALS) -> Findings:
    return findings(doors, lambda: Command(words, doors.addresses), terms, trials=trials)


def text(page: str) -> str:
    return " ".join((ROOT / "docs/protocols" / page).read_text().replace("**", "").split())


def sentences() -> list[str]:
    named = [value for name, value in vars(rules).items() if name.isupper()]
    return [each for rule in named for each in ([rule] if isinstance(rule, str) else rule.values())]


@pytest.mark.parametrize("sentence", sentences())
def test_each_sentence_is_the_protocols(sentence: str) -> None:
    assert sentence in text("house.md")


def test_each_faulty_client_is_tried() -> None:
    assert {each.stem for each in FAULTY.glob("*.py")} == {*FOUND, "sound", "client"}


@pytest.mark.parametrize("fault", FOUND)
def test_each_fault_is_found_and_nothing_else(fault: str, doors: Doors) -> None:
    """In `make campaign` by all trials; else by those that matter, after the one that everybody passes."""
    broken, rule, words = FOUND[fault]
    terms = structs.replace(TERMS, timeout=0.3) if fault == "never_answers" else TERMS
    trials = [trial for trial in TRIALS if IS_CAMPAIGN or trial.name in (PLAYS, *broken)]
    command = (*PYTHON, str(FAULTY / f"{fault}.py"), DOORS.get(fault, "{tcp}"))
    (found,) = tried(doors, *command, terms=terms, trials=trials).found
    assert list(found.trials) == broken, found
    assert found.rule == rule
    assert words in found.why
    assert found.exchange, "what was said is shown"


def test_a_sound_client_passes_every_trial_and_is_told_nothing_that_the_schema_does_not_have(
    doors: Doors,
) -> None:
    parts = json.loads((ROOT / "docs/protocols/house.schema.json").read_text())["$defs"]
    schema = jsonschema.Draft202012Validator(parts["ToBot"] | {"$defs": parts})
    kinds = set[str]()
    for trial in TRIALS:
        command = Command([*PYTHON, str(FAULTY / "sound.py"), "{tcp}"], doors.addresses)
        client = Client(doors, command, HANG)
        host = ScriptedHost(client, CONNECT4)
        host.welcome()
        trial.run(host, TERMS)
        host.finish()
        client.hang_up("")
        command.end()
        doors.cut()
        for line in client.exchange:
            if line.by == "host":
                schema.validate(json.loads(line.text))
                kinds.add(json.loads(line.text)["type"])
    assert kinds == {"welcome", "begin", "turn", "refused", "end", "standings"}


@pytest.mark.parametrize(
    ("url", "game", "trials"),
    [
        ("tcp://{tcp}", "santorini", TRIALS),
        ("ws://{websocket}", "quoridor", CARRYING),
        ("http://{http}", "tic-tac-toe", CARRYING),
    ],
    ids=["tcp", "ws", "http"],
)
def test_the_python_client_passes_over_every_transport(
    url: str,
    game: str,
    trials: Sequence[Trial],
    doors: Doors,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "clients/python"))
    terms = Terms(catalogue()[game], HANG, 0.05)
    command = (sys.executable, "-c", CLIENT, url, game)
    assert tried(doors, *command, terms=terms, trials=trials).found == ()


@pytest.mark.parametrize("language", HERE if IS_CAMPAIGN else sorted({HERE[0], HERE[-1]}))
def test_a_starter_passes(
    language: str, doors: Doors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python and another of those that are here, and in `make campaign` all."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", PATH)
    workshop = Workshop(tmp_path)
    workshop.build(language)
    run = workshop.commands(language)[1 if STARTERS[language].build else 0]
    assert tried(doors, "sh", "-c", f"cd {tmp_path / language} && exec {run} connect-4").found == ()


def test_the_bot_on_the_page_for_assistants_passes(doors: Doors, tmp_path: Path) -> None:
    """It waits for a second before it comes back: what makes it do that is left to `make campaign`."""
    (bot,) = re.findall(r"^```python\n(.*?)^```$", ASSISTANTS, re.MULTILINE | re.DOTALL)
    there = '"127.0.0.1", {}, "connect-4"'
    port = int(doors.addresses["tcp"].split(":")[1])
    assert there.format(8000) in bot
    (tmp_path / "bot.py").write_text(bot.replace(there.format(8000), there.format(port)))
    trials = [each for each in TRIALS if IS_CAMPAIGN or each.name not in (BACK, RESTARTED, FORGETS)]
    assert tried(doors, *PYTHON, str(tmp_path / "bot.py"), trials=trials).found == ()


def test_the_command_says_what_broke_with_the_exchange_and_the_sentence() -> None:
    """And its exit code, as that of `quintain check`, says whether something did."""
    words = ("--", *PYTHON, str(FAULTY / "counts_from_one.py"), "{tcp}")
    code, out, errors = quintain("check", "--wire", "--game", "connect-4", *words)
    assert (code, errors) == (1, "")
    broke, _, _, why, trial, rule, *exchange = out.splitlines()
    assert broke == f"BROKE  {PLAYS}"
    assert "1. its move 7 at ply 0 is illegal: there is no column 7" in why
    assert PLAYS in trial
    assert f'"{rules.REFUSED["retry"]}"' in rule
    assert exchange[-1] == "1 fault was found."
    assert re.search(r'^ +bot> \{"type": "move", .*"move": 7\}$', out, re.MULTILINE)
    assert re.search(r'^ +bot< \{"type":"turn",', out, re.MULTILINE)


def test_what_was_found_can_be_had_as_json() -> None:
    words = ("--json", "--", *PYTHON, str(FAULTY / "cannot_say_hello.py"), "{tcp}")
    code, out, _ = quintain("check", "--wire", "--game", "connect-4", *words)
    told = json.loads(out)
    assert (code, told["ok"], told["game"]) == (1, False, "connect-4")
    assert told["checks"] == [{"check": PLAYS, "ok": False}]
    (found,) = told["findings"]
    assert found["protocol"] == rules.READABLE
    assert found["exchange"][-1] == {"by": "bot", "text": '{"type": "hello", "name": "ann"}'}


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--wire", "--", "./is-not-there"), 1, "./is-not-there: cannot be started"),
        (("--wire", "--", ""), 2, "expected a program"),
        ((), 2, "expected one program"),
        (("./one", "./two"), 2, "expected one program"),
    ],
)
def test_what_cannot_be_tried_is_said_in_a_line(words: Sequence[str], code: int, why: str) -> None:
    got, out, errors = quintain("check", "--game", "quoridor", *words)
    assert (got, out) == (code, "")
    assert why in errors
    assert "Traceback" not in errors


def test_without_a_command_the_addresses_are_printed_and_whoever_comes_is_tried() -> None:
    said, codes = tried_without_a_command()
    for _ in range(STRAYS):
        if (
            "HTTP" in said
        ):  # which no bot here speaks: whoever came seeks a host of before, on a port that was free
            said, codes = tried_without_a_command()
    assert said.endswith("Nothing broke.\n")
    assert codes == [0] * (1 + len(TRIALS))


def tried_without_a_command() -> tuple[str, list[int]]:
    """What the command says of sound bots that come by themselves; its exit code, and theirs."""
    words = ("check", "--wire", "--game", "connect-4", "--slow", "0.05")
    check = Forked(words, ROOT, os.environ)
    line = check.stdout.readline()
    found = re.fullmatch(r"tcp=(\S+) websocket=127\.0\.0\.1:\d+ http=127\.0\.0\.1:\d+\n", line)
    assert found is not None, line
    bots: list[subprocess.Popen[bytes]] = []
    try:
        for asked in check.stderr:
            assert asked.startswith("waiting for the client")
            bots.append(subprocess.Popen([*PYTHON, str(FAULTY / "sound.py"), found[1]]))
        said = check.stdout.read()
        codes = [check.wait(HANG)]
        if codes == [0]:
            codes += [bot.wait(HANG) for bot in bots]
    finally:
        for bot in bots:
            bot.kill()
            bot.wait()
        check.stdout.close()
        check.stderr.close()
    return said, codes


@given(content=st.binary(min_size=1), count=st.integers(1, 9))
def test_pieces_are_the_whole_and_none_is_empty(content: bytes, count: int) -> None:
    cut = list(pieces(content, count))
    assert b"".join(cut) == content
    assert all(cut)
    assert len(cut) == 1 or count > 1


def test_letters_are_cut_and_the_end_of_a_line_comes_by_itself() -> None:
    assert list(pieces("Zoë\n".encode(), 3))[-2:] == [b"\xab", b"\n"]


def test_over_http_a_stream_is_told_what_a_poll_is(doors: Doors) -> None:
    client = http.client.HTTPConnection(doors.addresses["http"], timeout=HANG)
    client.request("POST", "/play", json.dumps({"type": "hello", "name": "ann", "game": "connect-4"}))
    while not doors.arrived:
        doors.pump(HANG)
    session = doors.arrived.popleft()
    session.say([b'{"type":"welcome"}', b'{"type":"refused"}', b'{"type":"end"}'])
    answer = client.getresponse()
    place = answer.headers["Location"]
    name = place.removeprefix("/play/")
    assert (answer.status, json.loads(answer.read())) == (201, {"type": "welcome", "seq": 1, "session": name})
    client.request("GET", f"{place}?after=1")
    look(doors)
    told = client.getresponse().read()
    assert told == b'[{"type":"refused","seq":2},{"type":"end","seq":3}]'
    client.request("GET", place, headers={"Last-Event-ID": "2"})
    look(doors)
    session.say([b'{"type":"standings"}'])
    events = client.getresponse()
    assert events.headers["Content-Type"] == "text/event-stream"
    lines = b"".join(events.readline() for _ in range(6))
    assert lines == b'id: 3\ndata: {"type":"end","seq":3}\n\nid: 4\ndata: {"type":"standings","seq":4}\n\n'
    client.close()


def look(doors: Doors) -> None:
    """Take what has been sent, which is there already."""
    for _ in range(5):
        doors.pump(1.0)


def test_a_port_is_nobody_elses_while_the_host_is_down(doors: Doors) -> None:
    host, port = doors.addresses["tcp"].split(":")
    doors.crash()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), HANG)
    doors.open()
    socket.create_connection((host, int(port)), HANG).close()
