"""Flags that ask for a tournament of which there is one already: the same, or another."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields
from structlog.testing import capture_logs

from games.game import Pace
from server.already_there import SAID, expect_the_same, warn_of_another
from server.exits import ConfigError
from server.host.tournament_settings import TournamentSettings
from tests.server.run import quintain
from tournament.facts import Opened, State, Turned
from tournament.format import Terms
from tournament.record import Record

CUP: dict[str, Any] = {"name": "cup", "game": "santorini"}


def there(state: State = State.FINISHED) -> list[Record]:
    record = Record("cup", Opened("santorini", "swiss", 8, Terms(rounds=5)))
    record.add(Turned(state))
    return [Record("other", Opened("quoridor", "knockout")), record]


@pytest.mark.parametrize("more", [{}, {"format": "swiss", "entrants": 8, "rounds": 5}, {"group": "spring"}])
def test_what_the_flags_say_and_what_they_leave_out_is_the_same(more: dict[str, Any]) -> None:
    expect_the_same(CUP | more, there())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"game": "connect-4"}, "of another game: santorini"),
        ({"format": "round-robin"}, "of another format: swiss"),
        ({"entrants": 4}, "for another number of entrants: 8"),
        ({"rounds": 4, "format": "knockout"}, "of another format: swiss, of another number of rounds: 5"),
        ({"absent": "settle"}, "with another policy on absent bots: wait"),
        ({"start_at": "2026-03-01T18:00:00Z"}, "starting at another time: not set"),
        ({"rounds_at": ["2026-03-01T18:00:00Z"]}, "with other times of rounds: not set"),
        ({"round_every": "30m"}, "with rounds at other distances: not set"),
        ({"check_in": "15m"}, "with another time to check in: not set"),
        ({"by_invitation": True}, "by invitation: no"),
    ],
)
def test_what_differs_is_said(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        expect_the_same(CUP | more, there())
    assert str(error.value) == (
        f"there is a tournament cup already, {said}; take another name or leave the flags out"
    )


@pytest.mark.parametrize(
    ("setting", "here", "asked", "said"),
    [
        ("round_every", 2_592_000.0, 2_592_001.0, "with rounds at other distances: 2592000 s"),
        ("check_in", 1_209_601.0, 1_209_600.0, "with another time to check in: 1209601 s"),
        ("pace", {"bank": 2_592_000.0}, {"bank": 2_592_001.0}, "at another pace: bank 2592000"),
        ("confidence", 0.9999999, 0.9999998, "of another confidence: 0.9999999"),
    ],
)
def test_figures_that_differ_by_little_are_told_apart_and_said_whole(
    setting: str, here: Any, asked: Any, said: str
) -> None:
    cup = {"name": "cup", "game": "santorini", "format": "decide" if setting == "confidence" else "swiss"}
    cup |= {} if setting in ("pace", "confidence") else {"start_at": "2026-03-01T18:00:00Z"}
    opened = msgspec.convert(cup | {setting: here}, TournamentSettings).opened()
    expect_the_same(cup | {setting: here}, [Record("cup", opened)])
    with pytest.raises(ConfigError, match=f"there is a tournament cup already, {said};"):
        expect_the_same(cup | {setting: asked}, [Record("cup", opened)])


def test_every_setting_is_compared_but_for_the_name_and_the_group() -> None:
    assert set(SAID) == {each.name for each in fields(TournamentSettings)} - {"name", "group"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"confidence": 0.99}, "of another confidence: 0.95"),
        ({"places": 0}, "with other places to settle: 1"),
        ({"within": 5}, "with other differences that count: 20"),
        ({"games": 10}, "with another number of matches: not set"),
    ],
)
def test_a_ranking_that_is_to_be_decided_otherwise_is_another_tournament(
    more: dict[str, Any], said: str
) -> None:
    """Catches a host that goes on until something is certain that nobody has asked for any more."""
    wanted = CUP | {"format": "decide"}
    there = Record("cup", TournamentSettings(**wanted).opened())
    expect_the_same(wanted | {"confidence": 0.95}, [there])
    with pytest.raises(ConfigError, match=said):
        expect_the_same(wanted | more, [there])


def test_a_name_that_is_free_again_may_be_used_for_anything() -> None:
    expect_the_same(CUP | {"game": "connect-4"}, there(State.DELETED))
    expect_the_same(CUP | {"name": "new"}, there())


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"game": "connect-4"}, ["of another game: santorini"]),
        (
            {"format": "round-robin", "entrants": 9},
            ["of another format: swiss", "for another number of entrants: 8"],
        ),
        ({"pace": Pace(turn=9.0)}, ["at another pace: bank 60, gain 2"]),
        ({"options": {"stuck": "draws", "ply_limit": 9}}, ["with other options: stuck draws"]),
        ({"seed": 8}, ["with another seed: 7"]),
        (
            {"check_in": "1m", "absent": "wait"},
            ["with another policy on absent bots: settle", "with another time to check in: not set"],
        ),
    ],
)
def test_what_a_configuration_asks_for_in_vain_is_logged_a_line_for_each(
    wanted: dict[str, Any], said: list[str]
) -> None:
    """Catches a difference that is cut off, as long words in the log are."""
    there: dict[str, Any] = CUP | {"format": "swiss", "entrants": 8, "rounds": 5, "seed": 7}
    there |= {"options": {"stuck": "draws"}, "pace": Pace(bank=60.0, gain=2.0)}
    opened = TournamentSettings(**there).opened()
    with capture_logs() as logged:
        warn_of_another(TournamentSettings(**there), opened)
        warn_of_another(TournamentSettings(**CUP, format="swiss"), opened)
    assert not logged, "what it leaves out is no difference"
    with capture_logs() as logged:
        warn_of_another(TournamentSettings(**(CUP | {"format": "swiss"} | wanted)), opened)
    assert [warning["it"] for warning in logged] == said


@pytest.mark.slow
def test_a_tournament_that_was_changed_in_the_configuration_stays_as_it_is_and_that_is_logged(
    serve: Any, tmp_path: Path
) -> None:
    for entrants in (8, 9):
        listed = f"[[tournament]]\nname = 'cup'\ngame = 'quoridor'\nentrants = {entrants}\n"
        (tmp_path / "quintain.toml").write_text(listed)
        host = serve()
        assert host.read("/api/tournaments/cup")["wanted"] == 8
        host.process.terminate()
        code, _, errors = host.end()
        assert code == 0
        assert ("for another number of entrants: 8" in errors) == (entrants == 9)


@pytest.mark.slow
def test_a_host_does_not_start_for_another_tournament_of_the_name_and_goes_on_with_the_same(
    serve: Any, tmp_path: Path
) -> None:
    cup = ("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2")
    for _ in range(2):
        host = serve(*cup)
        host.process.terminate()
        assert host.end()[0] == 0
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    other = ("--tournament", "cup", "--game", "connect-4", "--until-done")
    code, out, errors = quintain("serve", *ports, *other, folder=tmp_path)
    assert (code, out) == (2, "")
    assert "there is a tournament cup already, of another game: tic-tac-toe; " in errors
    assert "Traceback" not in errors
