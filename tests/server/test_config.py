"""What an organiser may set, and what it is told when it is wrong."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import UNSET

from games.game import Pace
from server.config import Backups, Settings, settings, with_tournament
from server.exits import ConfigError
from server.host.tournament_settings import TournamentSettings
from tournament.facts import Opened
from tournament.format import Terms

WHOLE = """
bind = "0.0.0.0"
[ports]
tcp = 9000
[limits]
hello_seconds = 2.5
[[tournament]]
name = "friday"
game = "santorini"
format = "round-robin"
entrants = 8
pace = { turn = 5.0 }
options = { stuck = "draws" }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "quintain.toml"


def test_without_anything_there_are_defaults(file: Path) -> None:
    found = settings(None, {}, {})
    assert found == Settings()
    assert (found.bind, found.ports.tcp, found.ports.websocket, found.ports.http) == (
        "127.0.0.1",
        8000,
        8001,
        8080,
    )


def test_a_file_is_read_whether_it_is_named_or_just_there(file: Path) -> None:
    file.write_text(WHOLE)
    found = settings(None, {}, {})
    assert found == settings(str(file), {}, {})
    assert found.bind == "0.0.0.0"  # noqa: S104
    assert found.limits.hello_seconds == 2.5
    assert found.ports.http == 8080
    (friday,) = found.tournament
    opened = Opened(
        "santorini", "round-robin", 8, Terms(seed=None), {"stuck": "draws"}, Pace(turn=5.0), "settle"
    )
    assert friday.opened() == opened


def test_flags_are_over_the_environment_which_is_over_the_file(file: Path) -> None:
    file.write_text(WHOLE)
    environment = {
        "QUINTAIN_PORTS__TCP": "9001",
        "QUINTAIN_PORTS__HTTP": "9002",
        "QUINTAIN_BIND": "127.0.0.1",
    }
    found = settings(None, environment, {"ports": {"tcp": 9003}})
    assert (found.ports.tcp, found.ports.http, found.ports.websocket) == (9003, 9002, 8001)
    assert found.bind == "127.0.0.1"


@pytest.mark.parametrize("name", ["2026", "2026-11-29", "1.5", "true", "nan", "[x]", "two words", "7 # a"])
def test_a_text_in_the_environment_is_taken_as_it_stands_unless_it_is_in_quotes(
    file: Path, name: str
) -> None:
    assert settings(None, {"QUINTAIN_DATA": name}, {}).data == name
    assert settings(None, {"QUINTAIN_DATA": f'"{name}"'}, {}).data == name


@pytest.mark.parametrize("bind", ["::", "::1", "fe80::1%eth0", "10.0.0.7", "localhost", "lab-3.example.org."])
def test_a_host_may_listen_at_any_address_or_name(file: Path, bind: str) -> None:
    assert settings(None, {}, {"bind": bind}).bind == bind


def test_the_organisers_token_is_no_setting(file: Path) -> None:
    assert settings(None, {"QUINTAIN_TOKEN": "secret", "PATH": "/bin"}, {}) == Settings()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[ports]\nprot = 1", r"quintain.toml: ports.prot is not known; there are: tcp, websocket, http"),
        (
            "[ports]\ntcp = 70000",
            r"quintain.toml: ports.tcp: expected a whole number of 65535 or less, not 70000",
        ),
        ("bind = 4", r"quintain.toml: bind: expected a text, not 4"),
        ("bind = ", "quintain.toml: this is not TOML: "),
        (
            "proxies = ['10.0.0.1/8']",
            "proxies: expected .*, not '10.0.0.1/8', which is an address in 10.0.0.0/8$",
        ),
        (
            "proxies = ['example.org']",
            "proxies: expected an address, or a network such as 10.1.0.0/16, not 'example.org'$",
        ),
        ("hosts = ['https://example.org']", "quintain.toml: hosts: expected a name or an address"),
        ("hosts = 'example.org'", 'quintain.toml: hosts: expected a list, not "example.org"'),
        ("origins = ['example.org']", "quintain.toml: origins: expected a scheme and a host"),
        ("origins = ['null']", "quintain.toml: origins: expected a scheme and a host"),
        ("[tournament]\nname = 'x'", r"quintain.toml: expected \[\[tournament\]\], not \[tournament\]: "),
        ("[webhook]\nurl = 'x'", r"quintain.toml: expected \[\[webhook\]\], not \[webhook\]: "),
        ("tournament = 5", "quintain.toml: tournament: expected a list, not 5"),
        ("[[tournament]]\nname = 'x'", r"quintain.toml: tournament\[0\].game is required"),
        ("peers = 'here'", "quintain.toml: peers: expected ADDRESS:PORT, not 'here'"),
        (
            "peers = '10.0.0.1:0'\nadvertise = 'a b:1'",
            "quintain.toml: advertise: expected ADDRESS:PORT, not 'a b:1'",
        ),
        ("advertise = '10.0.0.1:7000'", "quintain.toml: advertise: others come to the address in peers"),
        ("peers = '10.0.0.1:7000'", "quintain.toml: peers: hosts share a PostgreSQL database"),
        ("workers = 2\nshow = 0", "quintain.toml: workers: several workers need the process for pages"),
        ("store = 'here.sqlite'", "quintain.toml: store: expected .*, not what has no :// in it$"),
        ("store = 'mysql://ann:secret@here'", "quintain.toml: store: expected postgresql://.*, not mysql$"),
        ("log_level = 'loud'", 'quintain.toml: log_level: expected one of .*, not "loud"'),
        (
            "[evaluation]\nnetworks = ['10.1.0.0/33']",
            "quintain.toml: evaluation.networks: expected an address, or a network .*, not '10.1.0.0/33'$",
        ),
        ("[evaluation]\nnetworks = ['everybody']", "quintain.toml: evaluation.networks: .*everybody"),
        ("tcp_url = 'bots.example.org'", "tcp_url: expected tcp://NAME:PORT or none, not 'bots.example.org'"),
        ("websocket_url = 'http://x'", "websocket_url: expected ws:// or wss://, a host, .*, not 'http://x'"),
        (
            "[limits]\nmessages = { credits = 0, seconds = 1.0 }",
            "limits.messages.credits: expected a whole number of 1 or more, not 0",
        ),
        ("bind = ''", "quintain.toml: bind: expected a text of 1 or more characters"),
        ("bind = '127.0.0.1:8000'", "quintain.toml: bind: expected an address .* without a port, not '127"),
        ("bind = 'not an address'", "quintain.toml: bind: expected an address .*, not 'not an address'"),
        ("data = ''", "quintain.toml: data: expected a text of 1 or more characters"),
        (r'data = "a\u0000b"', "quintain.toml: data: expected one line in UTF-8$"),
        (r'store = "postgresql://ann:\u0000@here"', "quintain.toml: store: expected one line in UTF-8$"),
        (
            2 * "[[tournament]]\nname = 'x'\ngame = 'quoridor'\n",
            r"quintain.toml: tournament\[1\].name: x is there already",
        ),
        (
            "[[tournament]]\nname = 'x'\ngame = 'y'\nentrants = 1",
            r"tournament\[0\].entrants: .* 2 or more, not 1",
        ),
    ],
)
def test_a_wrong_file_is_one_line_with_file_key_and_reason(file: Path, content: str, reason: str) -> None:
    file.write_text(content)
    with pytest.raises(ConfigError, match=reason) as error:
        settings(None, {}, {})
    assert "\n" not in str(error.value)


def test_what_is_wrong_with_the_environment_or_a_flag_says_so(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"^the environment: ports.prot is not known"):
        settings(None, {"QUINTAIN_PORTS__PROT": "1"}, {})
    with pytest.raises(
        ConfigError, match=r"^the flags: ports.http: expected a whole number of 0 or more, not -1"
    ):
        settings(None, {}, {"ports": {"http": -1}})
    not_utf8 = os.fsdecode(b"caf\xe9")
    with pytest.raises(ConfigError, match=r"^the environment: data: expected one line in UTF-8$"):
        settings(None, {"QUINTAIN_DATA": not_utf8}, {})
    with pytest.raises(ConfigError, match=r"^the flags: data: expected one line in UTF-8$"):
        settings(None, {}, {"data": not_utf8})


def test_what_does_not_go_together_names_where_the_key_at_fault_was_set_last(file: Path) -> None:
    file.write_text("workers = 2\nshow = 0\n")
    with pytest.raises(ConfigError, match=r"^the flags: workers: "):
        settings(None, {}, {"workers": 3})
    with pytest.raises(ConfigError, match=r"^the environment: workers: "):
        settings(None, {"QUINTAIN_WORKERS": "3"}, {"show": 0})
    assert settings(None, {}, {"show": 1}).workers == 2


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("5", 5.0), ('"5"', 5.0), ('"90s"', 90.0), ('"10m"', 600.0), ('"6h"', 21600.0), ('"1.5d"', 129600.0)],
)
def test_a_duration_is_seconds_or_says_its_unit(file: Path, written: str, seconds: float) -> None:
    file.write_text(f"grace = {written}\nbackups = {{ every = {written} }}\n")
    found = settings(None, {}, {})
    assert found.backups == Backups(every=seconds, keep=7)
    assert found.grace == seconds
    assert settings(None, {"QUINTAIN_GRACE": "2m"}, {}).grace == 120.0
    limits = f"hello_seconds = {written}\njunk = {{ credits = 2, seconds = {written} }}\nheaders = 7\n"
    pace = f"pace = {{ bank = {written}, gain = {written}, turn = {written} }}"
    file.write_text(f'[limits]\n{limits}[[tournament]]\nname = "cup"\ngame = "quoridor"\n{pace}\n')
    found = settings(None, {}, {})
    assert (found.limits.hello_seconds, found.limits.junk.seconds) == (seconds, seconds)
    assert found.tournament[0].pace == Pace(bank=seconds, gain=seconds, turn=seconds)


def test_a_whole_table_in_the_environment_is_written_as_in_the_file(file: Path) -> None:
    """Catches JSON, of which it was said: expected an object, not that object."""
    found = settings(None, {"QUINTAIN_BACKUPS": '{ every = "1d", keep = 3 }'}, {})
    assert (found.backups.every, found.backups.keep) == (86_400.0, 3)
    for wrong in ('{"every": "secret"}', '[{"url": "secret"}]'):
        with pytest.raises(
            ConfigError, match=r"^the environment: QUINTAIN_BACKUPS: expected what stands after"
        ) as told:
            settings(None, {"QUINTAIN_BACKUPS": wrong}, {})
        assert "secret" not in str(told.value)


def test_an_address_in_brackets_is_a_word_in_the_environment(file: Path) -> None:
    store = {"QUINTAIN_STORE": "postgresql://db/quintain"}
    assert settings(None, store | {"QUINTAIN_PEERS": "[::1]:7000"}, {}).peers == "[::1]:7000"


def test_what_bots_are_told_in_the_environment_is_nothing_to_a_host(file: Path) -> None:
    """Whoever has set it, as the README of a starter says, can start a host in the same shell."""
    assert (
        settings(None, {"QUINTAIN_URL": "tcp://games.example:8000", "QUINTAIN_NAME": "ann"}, {}) == Settings()
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('backups = { every = "1w" }', r'backups\.every: expected seconds, or "90s", .* not \'1w\'$'),
        ('backups = { every = "\u0661s" }', r"backups\.every: expected seconds, or "),
        ('grace = "soon"', r"grace: expected seconds"),
        ('[limits]\nhello_seconds = "soon"', r"limits\.hello_seconds: expected seconds, or "),
        ('[limits]\nheaders = "10m"', r"limits\.headers: expected a whole number"),
        ("[limits]\nline_bytes = -1", r"limits\.line_bytes: expected a whole number of 0 or more, not -1$"),
        ("[limits]\nidle_seconds = 0", r"limits\.idle_seconds: expected a number of more than 0, not 0$"),
        ("[limits]\nidle_seconds = nan", r"limits\.idle_seconds: expected a number of more than 0, not NaN$"),
        ("[limits]\nidle_seconds = inf", r"limits\.idle_seconds: expected a number of 31622400 or less"),
        ("grace = inf", r"grace: expected a number of 31622400 or less, not Infinity$"),
        (
            "backups = { every = inf }",
            r"backups\.every: expected a number of 31622400 or less, not Infinity$",
        ),
        (f"spread = {2**63}", r"spread: expected a whole number of 9223372036854775807 or less, not 92233"),
        (f"[limits]\nsessions = {2**64}", r"limits\.sessions: expected a whole number of 92233720368547"),
        (
            f"[limits]\njunk = {{ credits = {2**63}, seconds = 1 }}",
            r"limits\.junk\.credits: expected a whole num",
        ),
        ("[limits]\ncall_pause_seconds = -0.5", r"call_pause_seconds: expected a number of 0 or more"),
        ("[limits]\njunk = { credits = 5, seconds = 0 }", r"junk\.seconds: expected a number of more than 0"),
        (
            '[[tournament]]\nname = "cup"\ngame = "quoridor"\npace = { turn = "soon" }',
            r"tournament\[0\]\.pace\.turn: expected seconds, or ",
        ),
        ("backups = { every = 0 }", r"backups\.every: expected a number of more than 0, not 0$"),
        ("backups = { keep = 3 }", r"backups.every is required, and is missing"),
        (
            '[[webhook]]\nurl = "http://a/"\nsecret = ""',
            r"webhook\[0\]\.secret: expected a text of 1 or more characters",
        ),
        (
            '[[webhook]]\nurl = "http://a/"\nsecret = "b"\nevents = ["match.begun"]',
            r'events\[0\]: expected one of "match.ended", .*, not "match.begun"',
        ),
        ('[[webhook]]\nurl = "ftp://a/"\nsecret = "b"', r"webhook\[0\]\.url: expected http:// or https://"),
        (
            '[[webhook]]\nurl = "http://a:b/"\nsecret = "b"',
            r"webhook\[0\]\.url: expected http:// or https://",
        ),
        (
            '[[webhook]]\nurl = "http://a..b/"\nsecret = "b"',
            r"webhook\[0\]\.url: expected http:// or https://",
        ),
        (
            '[[webhook]]\nurl = "http://[::1/"\nsecret = "b"',
            r"webhook\[0\]\.url: expected http:// or https://",
        ),
        (
            '[[webhook]]\nurl = "http://a/"\nsecret = "b"\n[[webhook]]\nurl = "http://a/"\nsecret = "c"',
            r"webhook\[1\]\.url: http://a/ is there already",
        ),
        ('log_format = "xml"', r'log_format: expected one of "json", "text", not "xml"'),
    ],
)
def test_what_looks_after_a_host_is_checked_before_it_starts(file: Path, content: str, reason: str) -> None:
    file.write_text(content)
    with pytest.raises(ConfigError, match=reason):
        settings(None, {}, {})


def test_a_file_may_begin_with_the_mark_of_an_editor_and_has_to_be_text(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbfbind = "10.0.0.1"\r\n')
    assert settings(None, {}, {}).bind == "10.0.0.1"
    file.write_bytes('bind = "10.0.0.1"\n'.encode("utf-16"))
    with pytest.raises(ConfigError, match=r"^quintain\.toml: expected text in UTF-8$"):
        settings(None, {}, {})


def test_a_file_with_lists_within_lists_without_end_is_refused_in_a_line(file: Path) -> None:
    file.write_text(f"hosts = {'[' * 5000}{']' * 5000}")
    with pytest.raises(ConfigError, match=r"^quintain\.toml: lists or tables are nested too deep$"):
        settings(None, {}, {})


def test_a_file_that_was_asked_for_has_to_be_there(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing.toml: cannot be read"):
        settings("nothing.toml", {}, {})
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"quintain.toml: "):
        settings(None, {}, {})


@pytest.mark.parametrize("leads_to", ["gone.toml", "quintain.toml"])
def test_a_file_that_is_there_and_cannot_be_read_is_not_passed_over(file: Path, leads_to: str) -> None:
    """Catches a host that goes on without its settings."""
    file.symlink_to(leads_to)
    with pytest.raises(ConfigError, match=r"quintain.toml: cannot be read"):
        settings(None, {}, {})


def test_every_setting_of_a_tournament_reaches_it() -> None:
    start = datetime(2026, 3, 1, 18, tzinfo=UTC)
    wanted = TournamentSettings(
        "t", "quorum", "swiss", 9, 4, 7, {"a": 1}, Pace(bank=1.0), "wait", start, "spring"
    )
    more = ("wait", start.timestamp(), "spring")
    assert wanted.opened() == Opened("quorum", "swiss", 9, Terms(4, 7), {"a": 1}, Pace(bank=1.0), *more)


def test_a_tournament_settles_if_its_format_has_an_end_and_nothing_else_is_said() -> None:
    for format, absent in (("round-robin", "settle"), ("knockout", "settle"), ("ladder", UNSET)):
        assert TournamentSettings("t", "quorum", format).opened().absent == absent


def test_a_time_without_a_zone_is_utc(file: Path) -> None:
    for text in (
        '"2026-03-01T18:00:00Z"',
        "2026-03-01T18:00:00Z",
        "2026-03-01T18:00:00",
        "2026-03-01T19:00:00+01:00",
    ):
        file.write_text(f'[[tournament]]\nname = "t"\ngame = "quoridor"\nstart_at = {text}\n')
        (found,) = settings(None, {}, {}).tournament
        assert found.opened().start == datetime(2026, 3, 1, 18, tzinfo=UTC).timestamp()


def test_a_tournament_asked_for_by_flags_is_held_beside_those_of_the_file(file: Path) -> None:
    file.write_text(WHOLE)
    found = with_tournament(settings(None, {}, {}), {"name": "cup", "game": "quoridor", "entrants": 4})
    again = with_tournament(found, {"name": "cup", "game": "santorini", "entrants": 6})
    assert [(each.name, each.game) for each in again.tournament] == [
        ("friday", "santorini"),
        ("cup", "santorini"),
    ]
    assert [each.name for each in found.tournament] == ["friday", "cup"]
    assert found.tournament[1] == TournamentSettings("cup", "quoridor", entrants=4)


def test_a_tournament_asked_for_by_flags_that_cannot_be_held_is_refused_before_anything_is_opened() -> None:
    asked = {"name": "cup", "game": "quoridor", "format": "decide", "entrants": 4, "places": 5}
    with pytest.raises(ConfigError, match=r"^tournament cup: with 4 entrants, 0 .all. to 4 places"):
        with_tournament(settings(None, {}, {}), asked)
