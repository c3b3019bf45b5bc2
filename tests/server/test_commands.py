"""The commands as their users meet them: help, exit codes, errors in one line."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import chain
from operator import getitem
from pathlib import Path
from typing import get_args

import pytest
from cyclopts import CoercionError, CycloptsError, Token
from msgspec.structs import fields

from server.__main__ import command_line
from server.commands import COMMANDS
from server.commands.play import called
from server.commands.tournament import app as tournaments
from server.host.tournament_settings import TournamentSettings
from tests.server.run import quintain
from tests.server.served import ROOT
from tournament.format import offered

SUBCOMMANDS = tuple(name for name in tournaments if not name.startswith("-"))
PAGES = [(), *((name,) for name in COMMANDS), *(("tournament", name) for name in SUBCOMMANDS)]
DOCUMENTED = (ROOT / "docs/command-line.md").read_text()
DECIDE = ("--game", "quoridor", "--format", "decide", "--entrants", "4")
OPTION = ("tournament", "create", "x", "--game", "quoridor", "--token", "any")
NOT_UTF8 = os.fsdecode(b"caf\xe9")
GIVEN = {"--game": "quoridor", "--brain": "greedy"}  # to flags that do not take any word
PLAYS = ("play", "--game", "quoridor", "--bot", "cat", "--token", "sixteen-or-more-of-it")


@pytest.fixture
def helped(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What `--help` says, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")

    def ask(*words: str) -> str:
        command_line(words)([*words, "--help"], result_action="return_value")
        return capsys.readouterr().out

    return ask


@pytest.mark.slow
@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_every_level_of_help_has_an_example_that_fits_a_terminal(
    words: tuple[str, ...], helped: Callable[..., str]
) -> None:
    lines = helped(*words).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Example"))
    example = next(line for line in lines[start + 1 :] if line.strip())
    assert example.startswith("    quintain " + " ".join(words))
    after = lines[lines.index(example) + 1]
    assert not after.strip(), "the example is longer than a line"


@pytest.mark.slow
@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_no_line_of_help_is_broken_on_a_terminal_where_it_has_a_break_of_its_own(
    words: tuple[str, ...], helped: Callable[..., str]
) -> None:
    explained = helped(*words).split("\n\n", 2)[2]  # beside the first sentence, which is one line in the code
    assert [line for line in explained.splitlines() if line.endswith(" ")] == []


@pytest.mark.slow
def test_every_setting_of_a_tournament_has_a_flag(helped: Callable[..., str]) -> None:
    flags = set(re.findall("--([a-z-]+)", helped("tournament", "create")))
    others = {"pace": {"turn", "bank", "gain"}, "options": {"option"}}
    for each in fields(TournamentSettings):
        assert flags >= others.get(each.name, {each.name.replace("_", "-")})


@pytest.mark.slow
@pytest.mark.parametrize("words", [("serve",), ("tournament", "create")], ids=" ".join)
def test_help_lists_the_formats_that_there_are(words: tuple[str, ...], helped: Callable[..., str]) -> None:
    """Catches a list that is written by hand."""
    said = " ".join(helped(*words).replace("│", " ").split())
    *first, last = offered()
    assert f"--format STR The format, round-robin unless set: {', '.join(first)} or {last}." in said


@pytest.mark.slow
def test_the_list_says_of_a_command_what_its_own_help_begins_with(helped: Callable[..., str]) -> None:
    for name, (_, summary) in COMMANDS.items():
        assert helped(name).splitlines()[2] == summary


def test_the_commands_for_tournaments_are_those_that_are_documented() -> None:
    """Catches one that is gone: what is tried here is whatever the code has."""
    documented = re.findall(r"^quintain tournament (\S+)", DOCUMENTED, re.MULTILINE)
    assert sorted(SUBCOMMANDS) == sorted(documented)


@pytest.mark.parametrize("words", PAGES[1:], ids=" ".join)
def test_every_command_is_documented(words: tuple[str, ...]) -> None:
    assert re.search(rf"^#+ `quintain {' '.join(words[:1])}`$", DOCUMENTED, re.MULTILINE)
    assert f"quintain {' '.join(words)}" in DOCUMENTED


@pytest.mark.slow
@pytest.mark.parametrize("words", PAGES[1:], ids=" ".join)
def test_every_flag_is_documented(words: tuple[str, ...], helped: Callable[..., str]) -> None:
    """Catches a flag that only `--help` knows of."""
    flags = set(re.findall(r"(?<=\s)--[a-z-]+", helped(*words).partition("─ Parameters")[2]))
    section = re.split(r"^## ", DOCUMENTED, flags=re.MULTILINE)
    (own,) = (each for each in section if each.startswith(f"`quintain {words[0]}`\n"))
    assert {flag for flag in flags if f"`{flag}`" not in own and f"`{flag} " not in own} <= {
        "--empty-option",
        *(f"--{name}" for name in ("name", "brain", "bot", "match", "first", "second")),
    }


@pytest.mark.slow
def test_help_loads_nothing_that_only_a_command_needs() -> None:
    program = (
        "import sys; from server.__main__ import command_line;"
        "command_line(['--help'])('--help', result_action='return_value');"
        "print(sorted({'trio', 'numpy', 'structlog', 'msgspec', 'httptools'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("bot", "greedy", "--game", "chess"), 2, "there is no game 'chess'"),
        (("bot", "genius", "--game", "quoridor"), 2, "genius"),
        (("bot", "greedy", "--game", "quoridor", "--url", "nowhere"), 2, "expected an address"),
        (("bot", "greedy", "--game", "quoridor", "--url", "tcp://127.0.0.1:1"), 1, "no host answers"),
        (("bot", "greedy", "--game", "quoridor", "--model", "qwen3"), 2, "are for llm, not for greedy"),
        (("bot", "greedy", "--game", "quoridor", "--token", "short"), 2, "expected a token of 16 characters"),
        (("play", "--game", "quoridor", "--bot", "./is-not-there"), 1, "cannot be started"),
        ((*PLAYS, "--record", "is-not-there/talk"), 1, "is-not-there/talk: cannot be written: No such file"),
        (("match", "brain:first", "brain:genius", "--game", "quoridor"), 2, "there is no brain 'genius'"),
        (("match", "./is-not-there", "brain:first", "--game", "quoridor"), 1, "cannot be started"),
        (("match", "OLD=1 ./a", "brain:first", "--game", "quoridor"), 1, "write: env OLD=1 ./a"),
        (("match", "brain:first", "brain:first", "--game", "quoridor", "--games", "0"), 2, "games"),
        (("check", "./is-not-there", "--game", "quoridor"), 1, "cannot be started"),
        (("check", "'", "--game", "quoridor"), 2, "this is not a command"),
        (("check", "true", "--game", "quoridor", "--slow", "3"), 2, "--slow: expected --wire as well"),
        (("config", "--template", "cup", "--json"), 2, "it takes no other flag"),
        (("config", "--template", "cup", "--data", "elsewhere"), 2, "it takes no other flag"),
        (("check", "--wire", "--game", "quoridor", "--", "'"), 2, "this is not a command"),
        (("check", "--wire", "--game", "quoridor", "--", ""), 2, "got an empty command"),
        (
            ("match", "", "brain:first", "--game", "quoridor"),
            2,
            "expected a program, and got an empty command",
        ),
        (("play", "--game", "quoridor", "--bot", "./a '"), 2, "this is not a command"),
        (("standings", "friday", "--url", "http://127.0.0.1:1"), 1, "no host answers"),
        (("admin-link", "--url", "http://127.0.0.1:1", "--token", "?"), 1, "no host answers"),
        (("admin-link", "--url", "http://127.0.0.1:1", "--data", "/nowhere"), 1, "there is none in /nowhere"),
        (("standings", "friday", "--json", "--csv"), 2, "--json and --csv do not go together"),
        (("standings", "friday", "--csv", "--trf"), 2, "--csv and --trf do not go together"),
        (
            (*OPTION, "--option", f"stuck={'[' * 100_000}", "--url", "http://127.0.0.1:1"),
            1,
            "no host answers",
        ),
        (("standings", "friday", "--url", "nowhere"), 2, "expected an address"),
        (("standings", "friday", "--url", "http://[::1"), 2, "expected an address"),
        (("standings", "friday", "--url", "http://games..example"), 2, "expected an address"),
        (("standings", "friday", "--url", "http://127.0.0.1:1/a b"), 2, "expected an address"),
        (("standings", "friday", "--url", "http://127.0.0.1:1\n"), 2, "expected an address"),
        (("standings", "friday", "--url", "http://127.0.0.1:1/ä"), 2, "expected an address"),
        (("bot", "first", "--game", "quoridor", "--url", "tcp://[::1"), 2, "expected an address"),
        (
            ("tournament", "show", "", "--url", "http://127.0.0.1:1"),
            2,
            "expected a name, and got an empty one",
        ),
        (("tournament", "start", "friday", "--data", "nowhere"), 1, "needs the organiser's token"),
        (("tournament", "create", "x", "--game", "quoridor", "--option", "walls"), 2, "NAME=VALUE"),
        (
            (*OPTION, "--option", "stuck=draws", "--option", "stuck=loses", "--url", "http://127.0.0.1:1"),
            2,
            "expected each option once, and got stuck again",
        ),
        (("standings", NOT_UTF8, "--url", "http://127.0.0.1:1"), 2, r"words in UTF-8, not 'caf\udce9'"),
        (("bot", "first", "--game", "quoridor", "--name", NOT_UTF8), 2, "expected words in UTF-8"),
        (("config", "--config", "is-not-there.toml"), 2, "is-not-there.toml: cannot be read"),
        (("demolish",), 2, "there is no command 'demolish': did you mean demo?"),
        (("xyzzy",), 2, "there is no command 'xyzzy': `quintain --help` lists them"),
        (("tournament", "strat"), 2, "there is no command 'strat': did you mean start?"),
        (("verify", "--jsn"), 2, "--jsn is no flag of this command; a file is named ./--jsn"),
        (("play", "--game", "quoridor", "--bot", "python3", "bot.py"), 2, "nothing more, and got 'bot.py'"),
        (("match", "brain:first", "--game", "quoridor"), 2, "SECOND is missing; `quintain match --help`"),
        (("tournament", "void", "friday"), 2, "MATCH is missing; `quintain tournament void --help`"),
        (("play", "--game", "quoridor"), 2, "--bot is missing; `quintain play --help`"),
        (("serve", "--rounds"), 2, "--rounds requires an argument"),
        (("tournament", "start", "--", "friday", "--url", "http://a"), 2, "'--url' has to stand before it"),
        (("tournament", "start", "friday", "--", "--data=x"), 2, "after -- no word is an option: '--data'"),
        (("new", "--", "python", "--game", "quoridor"), 2, "'--game' has to stand before it"),
        (
            ("check", "--wire", "--url", "x", "--game", "quoridor", "--", "bot", "--url", "y"),
            2,
            "Unknown option: --url",
        ),
        (("tournament", "create", "x", "--gane", "quoridor"), 2, "--game instead of --gane"),
        (("serve", "--workers", "1.5"), 2, "value for --workers: expected a whole number, not '1.5'"),
        (("serve", "--workers", "0"), 2, 'value "0" for --workers: expected 1 or more'),
        (
            ("tournament", "create", "x", *DECIDE, "--confidence", "1.0"),
            2,
            "--confidence: expected less than 1",
        ),
        (("tournament", "create", "x", *DECIDE, "--places", "5"), 2, "places can be settled, not 5"),
        (("serve", "--tournament", "x", *DECIDE, "--places", "5"), 2, "places can be settled, not 5"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    words: tuple[str, ...], code: int, reason: str, tmp_path: Path
) -> None:
    got, out, errors = quintain(*words, XDG_STATE_HOME=str(tmp_path))
    said = out + errors
    assert got == code, said
    assert reason in said
    assert "Traceback" not in said
    assert code == 1 or said.count("\n") == 1, "wrong usage is one line and nothing else"


@pytest.mark.parametrize("written", ["1.5", "2.0", "0.4", "1e3", "2,5", ""])
@pytest.mark.slow
def test_what_is_no_whole_number_is_refused_by_every_flag_that_takes_one(written: str) -> None:
    """Catches a flag of a command to come, too: the parser's own way rounds."""
    asked = refused_by_flags(int, written, f"expected a whole number, not {written!r}")
    assert {"--workers", "--tcp", "--show", "--entrants", "--seed", "--games", "--plies"} <= asked


@pytest.mark.parametrize("written", ["x", "5s", "2,5", ""])
@pytest.mark.slow
def test_what_is_no_number_is_refused_in_plain_words_by_every_flag_that_takes_one(written: str) -> None:
    """Catches `unable to convert "5s" into float`, which are the parser's own words."""
    asked = refused_by_flags(float, written, f"expected a number, not {written!r}")
    assert {"--turn", "--gain", "--think", "--seconds", "--timeout", "--slow", "--within"} <= asked


def refused_by_flags(kind: type[float], written: str, reason: str) -> set[str]:
    """The flags of all commands that take such a number: each refuses what is written, for this reason."""
    asked: set[str] = set()
    for words in PAGES:
        command = reduce(getitem, words, command_line(words))
        for flag in command.assemble_argument_collection() if command.default_command else ():
            kinds = (flag.hint, *get_args(flag.hint))
            values = [value for each in kinds for value in get_args(each)]  # of a Literal
            if kind in kinds or any(type(value) is kind for value in values):
                asked.add(flag.name)
                flag.append(Token(keyword=flag.name, value=written))
                with pytest.raises(CoercionError, match=re.escape(f"{flag.name}: {reason}")):
                    flag.convert()  # pyright: ignore[reportUnknownMemberType]
    return asked


def token_taken(token: str) -> Iterator[tuple[str, str]]:
    """Each command that takes a token, and what it takes this one for."""
    for words in PAGES:
        app = command_line(words)
        command = reduce(getitem, words, app)
        flags = command.assemble_argument_collection() if command.default_command else ()
        if "--token" in (flag.name for flag in flags):
            needed = [(flag.name, GIVEN.get(flag.name, "x")) for flag in flags if flag.required]
            given = [*words, *chain(*needed), "--token", token]
            try:
                _, bound, _ = app.parse_args(given, exit_on_error=False, print_error=False)
                yield " ".join(words), str(bound.arguments)
            except CycloptsError as error:
                yield " ".join(words), str(error)


@pytest.mark.slow
def test_a_token_may_begin_with_a_hyphen_for_every_command_that_takes_one() -> None:
    """Catches one invitation in 64 that no command could take: what begins with a hyphen is a flag."""
    for token in ("-" + "x" * 21, "--" + 7 * "a7Z"):
        took = dict(token_taken(token))
        assert all(token in taken for taken in took.values())
        assert {"bot", "play", "admin-link", "tournament invite", "tournament create"} <= {*took}


@pytest.mark.slow
def test_a_flag_is_no_token() -> None:
    """Catches `--token --json`, where the token was forgotten, and the host refused `--json` as one."""
    for flag in ("--json", "--by-invitation"):
        refused = dict(token_taken(flag))
        assert refused
        assert all(f"expected a token, not the flag {flag}" in said for said in refused.values())


@pytest.mark.parametrize(
    ("store", "shown"),
    [
        ("postgresql://ann:secret@host/name", "postgresql://ann:…@host/name"),
        ("postgresql://host/name?user=ann&password=secret", "postgresql://host/name?user=ann&password=…"),
        (
            "postgresql://ann@host/name?password=secret&sslmode=require",
            "postgresql://ann@host/name?password=…&sslmode=require",
        ),
    ],
)
def test_the_settings_in_force_are_shown_without_passwords(store: str, shown: str) -> None:
    code, out, _ = quintain("config", "--json", "--store", store)
    found = json.loads(out)
    assert code == 0
    assert found["store"] == shown
    assert found["ports"] == {"tcp": 8000, "websocket": 8001, "http": 8080}


@pytest.mark.slow
def test_neither_the_secret_of_a_webhook_nor_a_password_in_its_address_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "quintain.toml"
    file.write_text('[[webhook]]\nurl = "https://ann:pass@chat/hook?room=1"\nsecret = "ours alone"\n')
    code, out, _ = quintain("config", "--json", "--config", str(file))
    (webhook,) = json.loads(out)["webhook"]
    assert (code, webhook["url"], webhook["secret"]) == (0, "https://ann:…@chat/hook?room=1", "***")


@pytest.mark.slow
def test_whoever_reads_what_is_printed_may_go() -> None:
    """Catches a traceback after `quintain config | head`."""
    command = [sys.executable, "-m", "server", "config"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no file here is always full")
@pytest.mark.parametrize(
    "words",
    [("config",), ("--version",), ("--help",), ("play", "--help"), ("tournament", "create", "--help")],
)
def test_a_disk_that_is_full_is_said_in_a_line(words: tuple[str, ...]) -> None:
    """Catches a traceback after `quintain export --all > host.jsonl`, and a second one for what was left."""
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "server", *words],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert run.returncode == 1
    assert re.fullmatch(r"quintain: standard output cannot be written: .+\n", run.stderr)


@pytest.mark.slow
def test_what_an_encoding_has_no_letters_for_is_printed_all_the_same() -> None:
    """Catches a traceback in place of a result, and of help."""
    words = ("match", "brain:first", "brain:first", "--game", "tic-tac-toe", "--games", "2")
    for command, told in ((words, b"2 games of tic-tac-toe"), (("play", "--help"), b"quintain play")):
        run = subprocess.run(
            [sys.executable, "-m", "server", *command],
            cwd=ROOT,
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
        )
        assert (run.returncode, run.stderr) == (0, b"")
        assert told in run.stdout


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./mybot --fast", "mybot"),
        ("./mybot --depth 3", "mybot"),
        ("python3 their.py --depth 3", "their"),
        ("python3 -m their", "their"),
        ("env DEPTH=4 ./mybot", "mybot"),
        ("'./my bot' x", "mybot"),
        ("/bin/cat", "cat"),
    ],
)
def test_a_bot_is_called_what_its_program_is_called(
    command: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Catches a bot that is called --fast, or 3."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "their.py").touch()
    assert called(command) == name
