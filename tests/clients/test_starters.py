"""Starters in eight languages: built as their README says, they play, come back and say what happens."""

import ast
import json
import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from protocol import Unwelcome, play

from server.commands.new import STARTERS
from tests.clients.its_socket import socket_to
from tests.clients.relay import Relay
from tests.clients.script import Script
from tests.clients.starters import (
    GAMES,
    HERE,
    LANGUAGES,
    Workshop,
    as_a_user_that_the_system_does_not_know,
    needed,
)
from tests.effort import IS_CAMPAIGN
from tests.hang import HANG, wait_for
from tests.lacking import lacking
from tests.loopback import ipv6
from tests.server.run import quintain
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow

LONGEST = {"protocol": 150, "bot": 30}  # lines
EMPTY: list[int] = [0] * 42
LONG = 400_000  # characters in a line
CONNECTIONS = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
# In two rounds there are moves enough.
LEAGUE: dict[str, Any] = {"format": "round-robin"} if IS_CAMPAIGN else {"format": "swiss", "rounds": 2}


FIND_HOMES = ("python", "javascript", "ruby")  # they ask the system where it is, if HOME does not say


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    made = Workshop(tmp_path_factory.mktemp("starters"))
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(made.build, HERE))
    yield made
    made.close()


def opened(host: Served, game: str, entrants: int, name: str = "", **more: Any) -> None:
    settings = {"name": name or game, "game": game, "entrants": entrants, "pace": {"turn": HANG}}
    body = json.dumps(settings | more)
    token = (host.data / "organiser-token").read_text().strip()
    head = "POST /api/tournaments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Authorization: Bearer {token}"
    status, answer = host.ask(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    assert status == 201, answer


Said = dict[tuple[str, str], tuple[int, str, str]]


@pytest.fixture(scope="module")
def league(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Said]]:
    """A tournament in every game, of all the languages that are here: the host, and what each bot said."""
    host = Served(tmp_path_factory.mktemp("league"))
    said: Said = {}
    for game in GAMES:
        opened(host, game, len(HERE), **LEAGUE)
        bots = {language: workshop.start(language, host.tcp, game) for language in HERE}
        for language, bot in bots.items():
            out, errors = bot.communicate(timeout=HANG)
            said[language, game] = (bot.returncode, out, errors)
    yield host, said
    host.kill()


def endings(host: Served, game: str, language: str) -> list[str]:
    """Of the matches of this language's bot."""
    _, listed = host.get(f"/api/tournaments/{game}/matches")
    return [match["ending"] for match in listed["matches"] if f"{language}-bot" in match["players"]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_starter_plays_every_game_through_a_tournament(language: str, league: tuple[Served, Said]) -> None:
    """Catches a move that is not legal: it would be refused, or lose its match."""
    needed(language)
    host, said = league
    for game in GAMES:
        code, out, errors = said[language, game]
        assert (code, errors) == (0, "")
        assert "refused" not in out
        assert set(endings(host, game, language)) == {"played"}
        assert host.get(f"/api/tournaments/{game}")[1]["state"] == "finished"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_starter_says_in_a_line_what_happens(language: str, league: tuple[Served, Said]) -> None:
    needed(language)
    host, said = league
    _, out, _ = said[language, "quoridor"]
    kept, connected, *played, over = out.splitlines()
    assert kept.startswith("the token is kept in /")
    assert re.fullmatch(rf"{language}-bot is connected to tcp://127\.0\.0\.1:\d+: quoridor", connected)
    begun = [line for line in played if re.fullmatch(r"quoridor-\d+ from ply 0: \S+ against \S+", line)]
    ended = [line for line in played if re.fullmatch(r"quoridor-\d+: (won|lost|drawn) \(.+\)", line)]
    assert len(begun) == len(ended) == len(endings(host, "quoridor", language))
    assert len(played) == len(begun) + len(ended)
    assert re.fullmatch(rf"quoridor is over: rank \d of {len(HERE)}, [\d.]+ points", over)


def test_tokens_are_for_nobody_else_to_read(workshop: Workshop, league: tuple[Served, Said]) -> None:
    kept = [file for file in workshop.states.rglob("*") if file.is_file()]
    assert len(kept) == len(HERE) * len(GAMES)
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept} == {0o600}
    assert len({file.read_text() for file in kept}) == len(kept)


@pytest.fixture
def script() -> Iterator[Script]:
    made = Script()
    yield made
    made.close()


CHOICES = {  # how a bot chooses, where something else can be put in its place in a line
    "python": "random.choice(moves)",
    "javascript": "moves[",
    "ruby": "moves.sample",
}


def came(
    workshop: Workshop, script: Script, language: str, name: str
) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """A bot that has come to the script, and its hello."""
    bot = workshop.start(language, script.port, name=name)
    script.accept()
    return bot, script.hear()


def choosing(
    workshop: Workshop, script: Script, language: str, name: str, choice: str
) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """A bot that chooses like that, and its hello. The others of that language stay as they are."""
    file = workshop.folder / language / STARTERS[language].files[0]
    usual = file.read_text()
    assert usual.count(CHOICES[language]) == 1
    file.write_text(usual.replace(CHOICES[language], choice))
    bot, hello = came(workshop, script, language, name)
    file.write_text(usual)
    return bot, hello


def until_it_is_back(script: Script, bot: subprocess.Popen[str]) -> tuple[str, str]:
    """What a bot has printed by the time that it is connected again, and has been ended."""
    script.accept()
    script.hear()
    bot.kill()
    return bot.communicate(timeout=HANG)


def asked(match: str, ply: int) -> dict[str, Any]:
    turn = {"type": "turn", "match": match, "ply": ply, "turn": "first", "last": None}
    return turn | {"state": EMPTY, "clock": [60.0, None], "news": {"of": ['a field, "unknown"', None]}}


def welcome(hello: dict[str, Any]) -> dict[str, Any]:
    """The answer to a hello, which brings a token."""
    token, place = hello["token"], {"game": "connect-4", "tournament": "cup"}
    return {"type": "welcome", "name": hello["name"], "token": token} | place


def begun(match: str, name: str, **more: Any) -> dict[str, Any]:
    begin = {"type": "begin", "match": match, "you": "first", "players": [name, "bob"]}
    return begin | {"clock": {"bank": None, "gain": 0.0, "turn": 60.0}, "state": EMPTY} | more


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_refused_move_a_lost_connection_and_the_end_are_lived_through(
    language: str, workshop: Workshop, script: Script
) -> None:
    needed(language)
    name = f"{language}-two"
    bot, hello = came(workshop, script, language, name)
    assert (hello["type"], hello["name"], hello["game"]) == ("hello", name, "connect-4")
    script.say(welcome(hello), begun("cup-1", name), asked("cup-1", 0))
    move = script.hear()
    assert (move["match"], move["ply"]) == ("cup-1", 0)
    assert move["move"] in range(7)
    script.say({"type": "refused", "match": "cup-1", "ply": 0, "reason": 'not \\ "so"'})
    assert script.hear() == {"type": "state"}
    script.say(asked("cup-1", 0), asked("cup-1", 0))
    assert script.hear()["ply"] == 0
    script.say({"type": "end", "match": "cup-1", "winner": "first", "ending": "played", "why": "four"})
    script.say(begun("cup-2", name), asked("cup-2", 0))
    assert script.hear()["match"] == "cup-2", "the same question is answered once"
    script.hang_up()

    script.accept()
    again = script.hear()
    assert (again["token"], again["tournament"]) == (hello["token"], "cup")
    script.say(welcome(hello), begun("cup-2", name, moves=[3, 3], restarted=True), asked("cup-2", 2))
    assert script.hear()["ply"] == 2
    script.say({"type": "end", "match": "cup-2", "winner": None, "ending": "void", "why": "void"})
    rows = [{"rank": 1, "name": name, "points": 1.5}, {"rank": 2, "name": "bob", "points": 0.5}]
    script.say({"type": "standings", "tournament": "cup", "final": True, "rows": rows})
    assert script.hear() == {"type": "bye"}
    script.hang_up()
    out, errors = bot.communicate(timeout=HANG)
    assert (bot.returncode, errors) == (0, "")
    connected = f"{name} is connected to tcp://127.0.0.1:{script.port}: cup"
    assert out.splitlines()[1:] == [
        connected,
        f"cup-1 from ply 0: {name} against bob",
        'refused: not \\ "so"',
        "cup-1: won (four)",
        f"cup-2 from ply 0: {name} against bob",
        "the connection is lost (the host hung up): trying again",
        connected,
        f"cup-2 from ply 2: {name} against bob",
        "cup-2: void (void)",
        "cup is over: rank 1 of 2, 1.5 points",
    ]


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
def test_standings_that_were_frozen_before_a_bot_came_are_no_trouble_for_it(
    language: str, is_there: bool, workshop: Workshop, script: Script
) -> None:
    """Catches a traceback, or "rank 0", at the end of a tournament that was played well.

    And the rank that a bot had when they were frozen, as if it were its last.
    """
    needed(language)
    bot, hello = came(workshop, script, language, f"{language}-late")
    script.say(welcome(hello))
    other = hello["name"] if is_there else "bob"
    rows = [{"rank": 1, "name": "ann", "points": 1.5}, {"rank": 2, "name": other, "points": 0.5}]
    script.say({"type": "standings", "tournament": "cup", "final": True, "frozen": True, "rows": rows})
    assert script.hear() == {"type": "bye"}
    script.hang_up()
    out, errors = bot.communicate(timeout=HANG)
    assert (bot.returncode, errors) == (0, "")
    place = "rank 2 of 2, 0.5 points" if is_there else "this bot is not in its standings"
    assert out.splitlines()[-1] == f"cup is over (its standings are frozen): {place}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is full")
@pytest.mark.parametrize("output", ["> /dev/full", ">&-"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_disk_that_is_full_costs_no_match(
    language: str, output: str, workshop: Workshop, script: Script
) -> None:
    """Catches a traceback in the middle of a tournament: of a line for the author, whose log had no room.

    And one at the very start, where there is no standard output, or lines for the author that the host got.
    """
    needed(language)
    full = ("sh", "-c", f'exec "$@" {output}', "sh")
    bot = workshop.start(language, script.port, name=f"{language}-full", under=full)
    script.accept()
    script.say(welcome(script.hear()))
    rows = [{"rank": 1, "name": f"{language}-full", "points": 0.0}]
    script.say({"type": "standings", "tournament": "cup", "final": True, "rows": rows})
    assert script.hear() == {"type": "bye"}
    script.hang_up()
    bot.communicate(timeout=HANG)


@pytest.mark.parametrize("language", LANGUAGES)
def test_whoever_is_not_welcome_is_told_why_and_gives_up(
    language: str, workshop: Workshop, script: Script
) -> None:
    needed(language)
    bot, _ = came(workshop, script, language, f"{language}-three")
    script.say({"type": "refused", "reason": "Draw is a reserved word"})
    _, errors = bot.communicate(timeout=HANG)
    script.hang_up()
    assert bot.returncode == 1
    assert "Draw is a reserved word" in errors


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_whoever_comes_to_another_port_is_told_so(language: str, workshop: Workshop, script: Script) -> None:
    """Catches "Expecting value: line 1 column 1 (char 0)" where the address has the port of HTTP."""
    needed(language)
    bot, _ = came(workshop, script, language, f"{language}-twelve")
    script.mumble("HTTP/1.1 400 Bad Request\r\n\r\n")
    script.hang_up()
    _, errors = bot.communicate(timeout=HANG)
    assert errors == f"cannot play on tcp://127.0.0.1:{script.port}: it said no message\n"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_that_is_no_message_ends_a_connection_and_no_bot(
    language: str, workshop: Workshop, script: Script
) -> None:
    """As where something between a bot and its host says a word of its own."""
    needed(language)
    name = f"{language}-thirteen"
    bot, hello = came(workshop, script, language, name)
    script.say(welcome(hello), begun("cup-1", name))
    script.mumble("the host is away\n")
    script.hang_up()
    out, errors = until_it_is_back(script, bot)
    assert "the connection is lost (" in out
    assert errors == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_whoever_is_taken_out_of_its_tournament_is_told_so_and_does_not_come_back(
    language: str, workshop: Workshop, script: Script
) -> None:
    """Catches a bot that tries again and again, or goes on at the open table."""
    needed(language)
    name, why = f"{language}-nine", "nine was withdrawn from cup: ask its organiser why"
    bot, hello = came(workshop, script, language, name)
    script.say(welcome(hello), {"type": "refused", "reason": why})
    script.hang_up()
    _, errors = bot.communicate(timeout=HANG)
    assert (bot.returncode, errors) == (1, f"cannot play on tcp://127.0.0.1:{script.port}: {why}\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_connection_is_lost_for_the_reason_that_came_last_and_for_none_from_before(
    language: str, workshop: Workshop, script: Script
) -> None:
    needed(language)
    name, stops = f"{language}-ten", "the host is about to stop: come again later"
    bot, hello = came(workshop, script, language, name)
    script.say(welcome(hello), {"type": "refused", "reason": "too much"}, begun("cup-1", name))
    script.hang_up()
    script.accept()
    script.hear()
    script.say(welcome(hello), begun("cup-1", name), asked("cup-1", 0), asked("cup-1", 2))
    script.say({"type": "refused", "reason": stops})
    script.reset()
    out, _ = until_it_is_back(script, bot)
    lost = [line for line in out.splitlines() if line.startswith("the connection is lost")]
    assert lost == [f"the connection is lost ({why}): trying again" for why in ("the host hung up", stops)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_line_that_is_cut_off_with_the_connection_is_no_message(
    language: str, workshop: Workshop, script: Script
) -> None:
    """A host that is killed may have said half of something.

    Before that it has said something long: catches a bot that looks through all that has come of a line,
    again and again, until its end is there.
    """
    needed(language)
    name = f"{language}-four"
    bot, hello = came(workshop, script, language, name)
    script.say(welcome(hello), begun("cup-1", name))
    script.say({"type": "of a later version", "text": "-" * LONG}, asked("cup-1", 0))
    assert script.hear()["type"] == "move"
    script.mumble('{"type":"turn","match":"cup-1","ply":0,"tu')
    script.hang_up()
    script.accept()
    assert script.hear()["tournament"] == "cup"
    bot.kill()
    out, errors = bot.communicate(timeout=HANG)
    script.hang_up()
    assert "the connection is lost (" in out
    assert errors == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bot_that_waits_has_the_system_look_whether_its_host_is_still_there(
    language: str, workshop: Workshop, script: Script
) -> None:
    """Catches one that waits for ever where a machine has lost its power: nobody tells it that."""
    needed(language)
    if not all(path.exists() for path in CONNECTIONS):
        lacking("this system does not say what its timers are for")
    bot, hello = came(workshop, script, language, f"{language}-waits")
    script.say(welcome(hello))

    def looks() -> bool:
        """Within twenty seconds of silence. The second kind of timer is of such looks, in hundredths."""
        lines = [line.split() for path in CONNECTIONS for line in path.read_text().splitlines()]
        ends = (f":{script.peer:04X}", f":{script.port:04X}")  # others may have had one of these ports
        (timer,) = (each[5] for each in lines if (each[1][-5:], each[2][-5:]) == ends)
        kind, left = timer.split(":")
        return kind == "02" and int(left, 16) <= 2000

    wait_for(looks)
    bot.kill()
    bot.communicate()


KEPT_ALIVE = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT")
GONE = {"go": 150}  # seconds, which Go sets by itself
HIDDEN = "this system shows nobody another's sockets"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_host_that_has_gone_without_a_word_is_noticed_within_a_minute(
    language: str, workshop: Workshop, script: Script
) -> None:
    """Catches the twelve minutes that Linux takes if it is told only when to look for the first time."""
    needed(language)
    if not hasattr(os, "pidfd_open"):
        lacking(HIDDEN)
    bot, hello = came(workshop, script, language, f"{language}-alone")
    script.say(welcome(hello), begun("cup-1", f"{language}-alone"), asked("cup-1", 0))
    assert script.hear()["type"] == "move"  # so its socket is set
    try:
        with socket_to(script.port, bot.pid) as its:
            idle, interval, count = (
                its.getsockopt(socket.IPPROTO_TCP, getattr(socket, each)) for each in KEPT_ALIVE
            )
    except PermissionError:
        lacking(HIDDEN)
    finally:
        bot.kill()
        bot.communicate()
    assert idle + interval * count <= GONE.get(language, 60)


TIMEOUT = {  # for how long a host may say nothing before its welcome: as it is written, and less of it
    "python": ("ANSWER = 15.0", "ANSWER = 0.5"),
    "javascript": ("ANSWER = 15_000", "ANSWER = 500"),
    "c": (".tv_sec = 15", ".tv_usec = 500000"),
    "cpp": ("timeval{15, 0}", "timeval{0, 500'000}"),
    "java": ("setSoTimeout(15_000)", "setSoTimeout(500)"),
    "go": ("15 * time.Second", "time.Second / 2"),
    "rust": ("from_secs(15)", "from_millis(500)"),
    "ruby": ("ANSWER = 15.0", "ANSWER = 0.5"),
}


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Workshop]:
    made = Workshop(tmp_path)
    yield made
    made.close()


def let_in(workshop: Workshop, script: Script, language: str) -> subprocess.Popen[str]:
    """A bot that was welcome in time and has moved: the first, unless the machine is too busy to say so."""
    while True:
        bot = workshop.start(language, script.port)
        script.accept()
        hello = script.hear()
        with suppress(OSError, ValueError):  # it has given up
            script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
            script.hear()
            return bot
        script.hang_up()
        bot.communicate(timeout=HANG)


@pytest.mark.parametrize(
    "language",
    [pytest.param(each, marks=[pytest.mark.campaign] * bool(STARTERS[each].build)) for each in LANGUAGES],
)
def test_a_host_that_says_nothing_is_given_up_by_whoever_is_not_welcome_yet(
    language: str, impatient: Workshop, script: Script
) -> None:
    """Catches a bot that waits for its welcome for ever, without a word, and one that waits for nothing."""
    needed(language)
    impatient.build_with(language, *TIMEOUT[language])
    welcomed = let_in(impatient, script, language)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        bot = impatient.start(language, port)
        _, errors = bot.communicate(timeout=HANG)
    told = f"cannot play on tcp://127.0.0.1:{port}: the host does not answer\n"
    assert (bot.returncode, errors) == (1, told)
    script.say(asked("cup-1", 2))
    assert script.hear()["ply"] == 2, "which was asked after a longer silence"
    script.hang_up()
    script.accept()
    script.hear()
    with pytest.raises(json.JSONDecodeError):
        script.hear()  # until it hangs up
    script.hang_up()
    out, _ = until_it_is_back(script, welcomed)
    lost = [line for line in out.splitlines() if line.startswith("the connection is lost")]
    whys = ("the host hung up", "the host does not answer")
    assert lost == [f"the connection is lost ({why}): trying again" for why in whys]


@pytest.mark.parametrize("language", ["python", "ruby"])  # where `choose` can be made to fail in a line
def test_what_goes_wrong_in_choose_is_no_lost_connection(
    language: str, workshop: Workshop, script: Script
) -> None:
    needed(language)
    bot, hello = choosing(workshop, script, language, f"{language}-six", 'open("an-opening-book")')
    script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
    out, errors = bot.communicate(timeout=HANG)
    script.hang_up()
    assert bot.returncode == 1
    assert "the connection is lost" not in out
    assert "an-opening-book" in errors


@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_a_host_refuses_is_said_in_a_line(language: str, workshop: Workshop, script: Script) -> None:
    """Catches a bot that waits until its clock is out, without a word of why nobody can read its answer."""
    needed(language)
    bot, hello = came(workshop, script, language, f"{language}-nine")
    script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
    script.hear()
    script.say({"type": "refused", "match": "cup-1", "ply": 0, "reason": "no"})
    script.hear()
    script.say({"type": "refused", "reason": "no match is being played"})  # to what asks again
    script.say(asked("cup-1", 0))
    script.hear()
    script.say({"type": "refused", "reason": "this is not JSON"})
    script.hang_up()
    out, _ = until_it_is_back(script, bot)
    assert out.splitlines()[3:] == [
        "refused: no",
        "refused: this is not JSON",
        "the connection is lost (this is not JSON): trying again",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_refused_move_is_not_why_the_host_hung_up(
    language: str, workshop: Workshop, script: Script
) -> None:
    """Catches "the connection is lost (column 3 is full)", where a host was killed."""
    needed(language)
    bot, hello = came(workshop, script, language, f"{language}-ten")
    script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
    script.hear()
    script.say({"type": "refused", "match": "cup-1", "ply": 0, "reason": "no"})
    assert script.hear() == {"type": "state"}
    script.hang_up()
    out, _ = until_it_is_back(script, bot)
    assert out.splitlines()[3:] == ["refused: no", "the connection is lost (the host hung up): trying again"]


TOO_LONG = {  # in letters of three bytes each
    "python": ("random.choice(moves)", "'字' * 3000"),
    "javascript": ("moves[Math.floor(Math.random() * moves.length)]", "'字'.repeat(3000)"),
    "ruby": ("moves.sample", "'字' * 3000"),
    "cpp": (
        "return moves[random() % moves.size()]",
        'std::string all; while (all.size() < 1000 * moves.size()) all += "字"; return "!" + all',
    ),
    "java": ("moves.get(ThreadLocalRandom.current().nextInt(moves.size()))", '"字".repeat(3000)'),
    "go": ("moves[rand.Intn(len(moves))]", "string(make([]byte, 5000))"),
    "rust": ("moves[quintain::random() as usize % moves.len()].clone()", '"字".repeat(3000)'),
}  # in C, a move has 31 characters


@pytest.mark.parametrize(
    "language",
    [pytest.param(each, marks=[pytest.mark.campaign] * bool(STARTERS[each].build)) for each in TOO_LONG],
)
def test_of_what_is_too_long_for_a_message_a_host_is_told_the_beginning(
    language: str, impatient: Workshop, script: Script
) -> None:
    """Catches a bot that a host hangs up on for as long as its clock runs, since it says the same again."""
    needed(language)
    impatient.build_with(language, *TOO_LONG[language])
    bot, hello = came(impatient, script, language, f"{language}-long")
    script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
    told = script.hear()
    assert (told["match"], told["ply"]) == ("cup-1", 0)
    assert 300 <= len(json.dumps(told, ensure_ascii=False).encode()) <= 4096
    bot.kill()
    bot.communicate(timeout=HANG)


@pytest.mark.parametrize(
    ("language", "nothing"), [("python", "None"), ("javascript", "undefined && moves["), ("ruby", "nil")]
)
def test_a_bot_that_chooses_nothing_sends_that_for_a_move(
    language: str, nothing: str, workshop: Workshop, script: Script
) -> None:
    """Catches an answer without a move, which a host refuses a hundred times a second and does not count."""
    needed(language)
    bot, hello = choosing(workshop, script, language, f"{language}-none", nothing)
    script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
    assert script.hear() == {"type": "move", "match": "cup-1", "ply": 0, "move": None}
    bot.kill()
    bot.communicate(timeout=HANG)


THOUGHTS = {  # read until somebody has written some
    "python": f"open('thoughts').read() or {CHOICES['python']}",
    "javascript": f"process.getBuiltinModule('fs').readFileSync('thoughts') && {CHOICES['javascript']}",
    "ruby": f"File.read('thoughts') && {CHOICES['ruby']}",
}


@pytest.mark.parametrize("language", CHOICES)
def test_a_bot_that_thinks_while_the_host_hangs_up_says_why_the_host_did(
    language: str, workshop: Workshop, script: Script
) -> None:
    """Catches a move that cannot be sent, if that makes a bot forget to read what had come by then."""
    needed(language)
    thoughts, stops = workshop.folder / language / "thoughts", "the host is about to stop: come again later"
    os.mkfifo(thoughts)
    bot, hello = choosing(workshop, script, language, f"{language}-eleven", THOUGHTS[language])
    script.say(welcome(hello), begun("cup-1", hello["name"]), asked("cup-1", 0))
    with thoughts.open("w"):  # opened as soon as the bot reads from it
        script.say({"type": "refused", "reason": stops})
        script.reset()
    out, errors = until_it_is_back(script, bot)
    assert f"the connection is lost ({stops}): trying again" in out.splitlines()
    assert errors == ""


@pytest.mark.parametrize("name", ['the "back\\slash"', "𝔸" * 32], ids=["quoted", "long"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_starter_plays_under_any_name_that_the_host_takes(
    language: str, name: str, workshop: Workshop, script: Script
) -> None:
    """Catches a hello that is not JSON, and a bot that does not find itself in the standings."""
    needed(language)
    bot, hello = came(workshop, script, language, name)
    assert hello["name"] == name
    row = {"rank": 1, "name": name, "points": 0}
    script.say(welcome(hello), {"type": "standings", "tournament": "cup", "final": True, "rows": [row]})
    out, errors = bot.communicate(timeout=HANG)
    assert (bot.returncode, errors) == (0, "")
    assert out.splitlines()[-1] == "cup is over: rank 1 of 1, 0 points"


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "java"])
def test_a_starter_has_its_name_in_any_locale(
    language: str, workshop: Workshop, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed(language)
    monkeypatch.setenv("LC_ALL", "C")
    bot, hello = came(workshop, script, language, "Jürgen Müller")
    bot.kill()
    bot.communicate()
    assert hello["name"] == "Jürgen Müller"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Java reads the environment as UTF-8")
def test_java_says_in_a_line_what_it_cannot_read_in_a_locale(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container where no locale is set. Catches a traceback that speaks of malformed input."""
    needed("java")
    monkeypatch.setenv("LC_ALL", "C")
    bot = workshop.start("java", url="tcp://127.0.0.1:1", name="Jürgen Müller")
    _, errors = bot.communicate(timeout=HANG)
    assert bot.returncode == 1
    assert errors.count("\n") == 1
    assert "LC_ALL=C.UTF-8" in errors


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_folder_for_tokens_that_is_set_to_nothing_is_not_set(
    language: str, workshop: Workshop, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the XDG specification has it; else tokens land in the root, or wherever the bot was started."""
    needed(language)
    monkeypatch.setattr(workshop, "states", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    bot = workshop.start(language, script.port, name="seven")
    script.accept()
    token = script.hear()["token"]
    bot.kill()
    bot.communicate()
    kept = tmp_path / ".local/state/quintain-bot/127.0.0.1-connect-4-seven"
    assert kept.read_text().strip() == token


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_token_that_cannot_be_kept_is_said_in_a_line(
    language: str, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a traceback; and a bot that names a file in which there is no token."""
    needed(language)
    monkeypatch.setattr(workshop, "states", "/dev/null")
    bot = workshop.start(language, url="tcp://127.0.0.1:1")
    out, errors = bot.communicate(timeout=HANG)
    assert bot.returncode == 1
    assert errors.count("\n") == 1
    assert "/dev/null/quintain-bot" in out + errors
    assert "is kept in" not in out


def test_a_program_that_plays_hears_of_a_token_that_cannot_be_kept_as_of_all_that_keeps_it_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches the end of the program, which nobody hears of where a thread plays."""
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    with pytest.raises(Unwelcome, match=r"^the token cannot be kept in /dev/null/quintain-bot/"):
        play("connect-4", lambda turn: 3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_token_whose_file_a_power_cut_has_emptied_is_kept_anew(
    language: str, workshop: Workshop, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a bot that has no token at any start, and is told where it is kept."""
    needed(language)
    monkeypatch.setattr(workshop, "states", tmp_path)
    kept = tmp_path / "quintain-bot/127.0.0.1-connect-4-seven"
    kept.parent.mkdir()
    kept.touch(0o600)
    bot = workshop.start(language, script.port, name="seven")
    script.accept()
    token = script.hear()["token"]
    bot.kill()
    bot.communicate()
    assert len(token) >= 16
    assert kept.read_text().strip() == token


@pytest.mark.parametrize(("name", "file", "end"), [("seven", "seven", "\r\n"), ("seven/9", "seven_9", "\n")])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_token_that_its_author_has_written_down_is_brought(
    language: str,
    name: str,
    file: str,
    end: str,
    workshop: Workshop,
    script: Script,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As whoever is invited does, in the file that the invitation names.

    Catches a hello that breaks off where an editor has ended the line, one with half of the end of a line
    in its token, and a folder for half of a name.
    """
    needed(language)
    monkeypatch.setattr(workshop, "states", tmp_path)
    kept = tmp_path / f"quintain-bot/127.0.0.1-connect-4-{file}"
    kept.parent.mkdir()
    kept.write_text(f"as-the-invitation-has-it{end}", newline="")
    bot = workshop.start(language, script.port, name=name)
    script.accept()
    token = script.hear()["token"]
    bot.kill()
    bot.communicate()
    assert token == "as-the-invitation-has-it"


@pytest.mark.parametrize("language", LANGUAGES)
def test_ctrl_c_ends_a_bot_without_a_traceback(language: str, workshop: Workshop, script: Script) -> None:
    needed(language)
    bot, _ = came(workshop, script, language, f"{language}-five")
    bot.send_signal(signal.SIGINT)
    _, errors = bot.communicate(timeout=HANG)
    script.hang_up()
    assert bot.returncode in (-signal.SIGINT, 128 + signal.SIGINT)
    assert errors == ""


@pytest.mark.campaign
def test_a_host_that_is_killed_and_started_again_is_survived(workshop: Workshop, tmp_path: Path) -> None:
    if len(HERE) < 2:
        needed("ruby")
    host = Served(tmp_path)
    relay = Relay(host.tcp)
    opened(host, "quoridor", len(HERE))
    bots = {language: workshop.start(language, relay.port, "quoridor") for language in HERE}
    wait_for(lambda: host.get("/api/tournaments/quoridor")[1]["state"] == "running")
    host.kill()
    relay.cut()
    host = Served(tmp_path)
    relay.lead_to(host.tcp)
    for language, bot in bots.items():
        out, errors = bot.communicate(timeout=HANG)
        assert (language, bot.returncode) == (language, 0), out + errors
        assert "the connection is lost" in out
    _, standings = host.get("/api/tournaments/quoridor/standings")
    assert [row["played"] for row in standings["rows"]] == [len(HERE) - 1] * len(HERE)
    host.kill()
    relay.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_starter_is_short(language: str) -> None:
    folder = ROOT / "clients" / language
    protocol = {"java": "Quintain.java", "python": "protocol.py"}.get(language, "quintain.*")
    for pattern, longest in ((protocol, LONGEST["protocol"]), ("[bB]ot.*", LONGEST["bot"])):
        found = list(folder.glob(pattern))
        assert found
        for file in found:
            assert len(file.read_text().splitlines()) <= longest, file


def test_the_starter_in_python_needs_nothing_but_an_old_one(workshop: Workshop) -> None:
    files = list((workshop.folder / "python").glob("*.py"))
    trees = [ast.parse(file.read_text(), feature_version=(3, 9)) for file in files]
    named = {
        name.split(".")[0]
        for node in chain.from_iterable(map(ast.walk, trees))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
        )
    }
    assert named <= sys.stdlib_module_names | {file.stem for file in files}


def test_the_bot_in_python_can_use_the_package_instead_as_its_readme_says(
    workshop: Workshop, league: tuple[Served, Said]
) -> None:
    host, _ = league
    opened(host, "tic-tac-toe", 2, "packaged")
    folder = workshop.folder / "python"
    _, _, end = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    for written, ours in (("games.example:8001", f"127.0.0.1:{host.websocket}"), ('"ann"', '"packaged"')):
        assert written in end
        end = end.replace(written, ours)
    head, _ = (folder / "bot.py").read_text().split('if __name__ == "__main__":')
    bot = subprocess.Popen(
        [sys.executable, "-c", head + end, "tic-tac-toe"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "clients/python"), "XDG_STATE_HOME": str(workshop.folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    other = workshop.start("python", host.tcp, "tic-tac-toe", name="beside")
    out, _ = bot.communicate(timeout=HANG)
    other.communicate(timeout=HANG)
    assert (bot.returncode, other.returncode) == (0, 0)
    assert "packaged is over: rank " in out


def test_the_bot_in_python_has_a_house_bot_come_as_its_readme_says(
    workshop: Workshop, league: tuple[Served, Said]
) -> None:
    """And leaves after so many matches."""
    host, _ = league
    folder = workshop.folder / "python"
    play, _, _ = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    asked_for = ', against="greedy", matches=10'
    assert asked_for in play
    bot = (folder / "bot.py").read_text()
    assert play.replace(asked_for, "") in bot
    (folder / "bot.py").write_text(bot.replace(play.replace(asked_for, ""), play))
    running = workshop.start("python", host.tcp, name="practises")
    out, errors = running.communicate(timeout=HANG)
    (folder / "bot.py").write_text(bot)
    assert (running.returncode, errors) == (0, "")
    assert len(re.findall(r" from ply \d+: .*greedy", out)) == 10
    assert len(re.findall(r": (?:won|lost|drawn) \(", out)) == 10


def test_the_program_in_the_readme_of_the_bot_in_python_plays_a_match_without_a_host(
    workshop: Workshop,
) -> None:
    folder = workshop.folder / "python"
    _, lines, _ = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    (folder / "lines.py").write_text(lines)
    command = workshop.commands("python")[-1]
    assert command.startswith("quintain match ")
    words = [*shlex.split(command)[1:], "--games", "2", "--json"]
    code, out, errors = quintain(*words, folder=folder)
    (folder / "lines.py").unlink()
    assert code == 0, errors
    assert set(re.findall(r'"ending": ?"(\w+)"', out)) == {"played"}


@ipv6
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_address_may_be_of_ipv6(language: str, workshop: Workshop) -> None:
    needed(language)
    script = Script("::1")
    bot = workshop.start(language, name="eight", url=f"tcp://[::1]:{script.port}")
    script.accept()
    assert script.hear()["name"] == "eight"
    bot.kill()
    bot.communicate()
    script.close()
    assert (workshop.states / "quintain-bot/::1-connect-4-eight").exists()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_address_may_end_with_a_slash(language: str, workshop: Workshop, script: Script) -> None:
    """As browsers write it; catches a bot for which the port is no number then."""
    needed(language)
    bot = workshop.start(language, name="nine", url=f"tcp://127.0.0.1:{script.port}/")
    script.accept()
    assert script.hear()["name"] == "nine"
    bot.kill()
    bot.communicate()
    assert (workshop.states / "quintain-bot/127.0.0.1-connect-4-nine").exists()


def test_in_a_browser_an_address_leads_to_where_browsers_go(tmp_path: Path) -> None:
    """Catches `wss://arena.example.org`, as pages say where a proxy is before the host: it led to 8001."""
    needed("javascript")
    told = f"""
        const [url, exit] = [process.argv[2], process.exit];
        globalThis.WebSocket = class {{ constructor(url) {{ console.log(String(url)); exit(0) }} }};
        globalThis.localStorage = {{}};
        globalThis.process = undefined; // which no browser has
        const {{ play }} = await import({str(ROOT / "clients/javascript/quintain.mjs")!r});
        await play("connect-4", () => 3, {{ url, quiet: true }});
    """
    (script := tmp_path / "page.mjs").write_text(told)
    for url, leads in (
        (["wss://arena.example.org"], "wss://arena.example.org/play"),
        (["wss://arena.example.org:443"], "wss://arena.example.org/play"),
        (["ws://127.0.0.1:9000"], "ws://127.0.0.1:9000/play"),
        ([], "ws://127.0.0.1:8001/play"),
    ):
        found = subprocess.run(["node", script, *url], capture_output=True, text=True)
        assert (found.stdout, found.stderr) == (f"{leads}\n", "")


def test_in_a_browser_that_keeps_nothing_a_token_lasts_as_long_as_the_program(tmp_path: Path) -> None:
    """Such a browser raises when it is asked for its local storage."""
    needed("javascript")
    told = f"""
        const {{ exit }} = process;
        globalThis.WebSocket = class {{ constructor() {{ exit(0) }} }};
        Object.defineProperty(globalThis, "localStorage", {{ get() {{ throw new Error("not here") }} }});
        globalThis.process = undefined; // which no browser has
        const {{ play }} = await import({str(ROOT / "clients/javascript/quintain.mjs")!r});
        await play("connect-4", () => 3);
    """
    (script := tmp_path / "page.mjs").write_text(told)
    found = subprocess.run(["node", script], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("the token is kept in this program alone\n", "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_address_need_not_have_a_port(language: str, workshop: Workshop) -> None:
    """It is the usual one then. What is wrong with these addresses is their name."""
    needed(language)
    urls = ("tcp://no_such_host.invalid", "tcp://no_such_host.invalid/")
    for url, bot in [(url, workshop.start(language, url=url)) for url in urls]:
        _, errors = bot.communicate(timeout=HANG)
        assert bot.returncode == 1
        assert errors.startswith(f"cannot play on {url}: ")
        assert "expected an address" not in errors
    assert (workshop.states / f"quintain-bot/no_such_host.invalid-connect-4-{language}-bot").exists()


@ipv6
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_may_have_addresses_at_which_nobody_listens(
    language: str, workshop: Workshop, script: Script, tmp_path: Path
) -> None:
    """Catches a bot that tries the first alone, such as ::1 of a `localhost` whose host has no IPv6."""
    needed(language)
    hosts = tmp_path / "hosts"
    hosts.write_text("::1 both\n127.0.0.1 both\n")
    mounted = f'mount --bind {hosts} /etc/hosts && exec "$@"'
    see = ["unshare", "--map-root-user", "--mount", "sh", "-c", mounted, "-"]
    if not shutil.which("unshare") or subprocess.run([*see, "true"], capture_output=True).returncode != 0:
        lacking("no names of our own: nobody but root may have other files here")
    bot = workshop.start(language, name="ten", url=f"tcp://both:{script.port}", under=see)
    script.accept()
    assert script.hear()["name"] == "ten"
    bot.kill()
    bot.communicate()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_no_address_is_told_what_one_looks_like(language: str, workshop: Workshop) -> None:
    """Catches a bot that takes half of it for a name, or none for this machine."""
    needed(language)
    urls = ("127.0.0.1:8000", "tcp://", "nonsense", *(["ws://127.0.0.1:1"] * (language != "javascript")))
    for url, bot in [(url, workshop.start(language, url=url)) for url in urls]:
        _, errors = bot.communicate(timeout=HANG)
        assert bot.returncode == 1
        assert errors == f"cannot play on {url}: expected an address like tcp://127.0.0.1:8000\n"


def test_a_websocket_address_is_refused_in_a_line_where_node_has_none(workshop: Workshop) -> None:
    """Before Node 22. Catches "WebSocket is not defined", of which an author does not know what to make."""
    needed("javascript")
    bot = workshop.start("javascript", url="ws://127.0.0.1:1")
    _, errors = bot.communicate(timeout=HANG)
    assert errors.startswith("cannot play on ws://127.0.0.1:1")


# Java looks whether it may write, and Linux tells it of no right of root's.
@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "java"])
def test_without_a_home_the_token_is_kept_where_the_bot_is(language: str, workshop: Workshop) -> None:
    """As in some containers, and under some service managers.

    Catches a traceback, and a folder that is called (null).
    """
    needed(language)
    alone = ("env", "-u", "HOME", "-u", "XDG_STATE_HOME")
    if language in FIND_HOMES:
        alone = (*as_a_user_that_the_system_does_not_know(), *alone)
    out, _ = workshop.start(language, url="tcp://127.0.0.1:1", under=alone).communicate(timeout=HANG)
    path = out.splitlines()[0].removeprefix("the token is kept in ")
    assert path.removeprefix("./") == f".local/state/quintain-bot/127.0.0.1-connect-4-{language}-bot"
    assert (workshop.folder / language / path).read_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_address_that_leads_nowhere_is_told_in_a_line(language: str, workshop: Workshop) -> None:
    """Catches a traceback: of half a pair of brackets, and of a library that does not take every name."""
    needed(language)
    urls = ("tcp://no_such_host.invalid:8000", "tcp://no such host:8000", "tcp://[::1:80x")
    for url, bot in [(url, workshop.start(language, url=url)) for url in urls]:
        _, errors = bot.communicate(timeout=HANG)
        assert bot.returncode == 1
        assert errors.startswith(f"cannot play on {url}: ")
        assert errors.count("\n") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_port_that_is_none_is_said_to_be_wrong(language: str, workshop: Workshop) -> None:
    """Catches a bot that goes to 34463 for 99999, with its token."""
    needed(language)
    urls = ("tcp://127.0.0.1:80x", "tcp://127.0.0.1:99999")
    why = r"(expected an address like tcp://127.0.0.1:8000|.*(invalid|unknown) port.*)\n"
    for url, bot in [(url, workshop.start(language, url=url)) for url in urls]:
        _, errors = bot.communicate(timeout=HANG)
        assert bot.returncode == 1
        assert re.fullmatch(re.escape(f"cannot play on {url}: ") + why, errors), errors


def test_whatever_is_run_is_what_is_built_anew(workshop: Workshop) -> None:
    """A starter leaves nothing behind in `clients/`: it is built in a folder of its own."""
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "clients"], cwd=ROOT, capture_output=True, text=True
    )
    assert not [name for name in tracked.stdout.splitlines() if name.endswith((".class", ".o", "/bot"))]
