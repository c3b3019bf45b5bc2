"""A series in a file: what was kept is read back, torn lines are cut off, and anything else is refused."""

from pathlib import Path

import pytest
from msgspec import structs
from msgspec.json import encode

from games.game import Pace
from server.exits import Failure, Misuse
from server.programs.saved import Saved, Terms, continued, keeping, saved
from tests.server.programs.series_played import FIRST, SECOND, played
from tests.server.store.faults import little_room

TERMS = Terms(game="connect-4", players=("a", "b"), plies=4, pace=Pace(turn=1.0), think=0.1, seed=7, games=10)
ONE, TWO, THREE = played(1, FIRST), played(2, SECOND), played(3, FIRST)


def kept(path: Path) -> str:
    """A file with two matches."""
    with keeping(str(path), Saved(TERMS, [], 0), onto=False) as keep:
        keep(ONE)
        keep(TWO)
    return str(path)


def test_what_was_kept_is_read_back(tmp_path: Path) -> None:
    found = saved(kept(tmp_path / "series"))
    assert (found.terms, found.matches) == (TERMS, [ONE, TWO])


def test_a_match_is_in_the_file_as_soon_as_it_has_been_kept(tmp_path: Path) -> None:
    path = tmp_path / "series"
    with keeping(str(path), Saved(TERMS, [], 0), onto=False) as keep:
        keep(ONE)
        assert saved(str(path)).matches == [ONE]


@pytest.mark.parametrize("cut", range(1, 12))
def test_wherever_the_last_line_was_torn_the_rest_goes_on(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "series"
    kept(path)
    path.write_bytes(path.read_bytes()[: -10 * cut] if cut > 1 else path.read_bytes()[:-1])
    found = saved(str(path))
    assert found.matches == [ONE]
    with keeping(str(path), found, onto=True) as keep:
        keep(THREE)
    assert saved(str(path)).matches == [ONE, THREE]


def test_a_torn_line_goes_even_if_it_is_longer_than_what_comes(tmp_path: Path) -> None:
    path = tmp_path / "series"
    kept(path)
    path.write_bytes(path.read_bytes() + b'{"type":"match","why":"' + b"long " * 1000)
    with keeping(str(path), saved(str(path)), onto=True) as keep:
        keep(THREE)
    assert path.read_bytes().endswith(b"}\n")
    assert saved(str(path)).matches == [ONE, TWO, THREE]


@pytest.mark.parametrize("onto", [True, False])
def test_two_do_not_keep_matches_in_one_file_at_a_time(onto: bool, tmp_path: Path) -> None:
    """Catches two that go on with the same file: each wrote over what the other had kept."""
    path = kept(tmp_path / "series")
    before = saved(path)
    with keeping(path, before, onto=True) as keep:
        with pytest.raises(Failure, match="another command keeps matches there"):
            keeping(path, before, onto=onto).__enter__()
        keep(THREE)
    assert saved(path).matches == [ONE, TWO, THREE]
    with pytest.raises(Failure, match="another command keeps matches there"):
        keeping(path, before, onto=True).__enter__()  # it has ended since, and what it has kept is there
    assert saved(path).matches == [ONE, TWO, THREE]


def test_a_match_that_found_room_only_in_part_is_not_kept(tmp_path: Path) -> None:
    """Catches a file in which the next match, when there is room again, is in the middle of a line."""
    path = tmp_path / "series"
    whole = len(Path(kept(path)).read_bytes())
    with (
        keeping(str(path), saved(str(path)), onto=True) as keep,
        little_room(whole + 20),
        pytest.raises(Failure, match="cannot be written: File too large"),
    ):
        keep(THREE)
    assert saved(str(path)).matches == [ONE, TWO]


def test_all_of_it_can_be_kept_in_another_file_too(tmp_path: Path) -> None:
    before = saved(kept(tmp_path / "old"))
    with keeping(str(tmp_path / "new"), before, onto=False) as keep:
        keep(THREE)
    assert saved(str(tmp_path / "new")).matches == [ONE, TWO, THREE]
    assert saved(str(tmp_path / "old")).matches == [ONE, TWO]


def test_a_series_that_goes_on_to_another_end_has_that_end_from_then_on(tmp_path: Path) -> None:
    path = kept(tmp_path / "series")
    for games in (20, 30):
        before = saved(path)
        with keeping(path, before, onto=True, terms=structs.replace(before.terms, games=games)):
            pass
        assert saved(path) == structs.replace(
            before, terms=structs.replace(TERMS, games=games), whole=Path(path).stat().st_size
        )
    with keeping(path, saved(path), onto=True) as keep:
        keep(THREE)
    assert (saved(path).terms.games, saved(path).matches) == (30, [ONE, TWO, THREE])
    with Path(path).open("ab") as file:
        file.write(encode(structs.replace(TERMS, seed=8)) + b"\n")
    with pytest.raises(Misuse, match="line 7: expected the seed that it was saved with, 7, and got 8"):
        saved(path)


def test_nothing_that_is_there_already_is_overwritten(tmp_path: Path) -> None:
    path = kept(tmp_path / "series")
    with pytest.raises(Misuse, match="--resume"), keeping(path, Saved(TERMS, [], 0), onto=False):
        pass
    assert saved(path).matches == [ONE, TWO]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"match":1', b'"match":0', "line 2: "),
        (b'"match":2', b'"match":1', "line 3: match 1 is in an earlier line already"),
        (b'"winner":0', b'"winner":7', "line 2: "),
        (b'"moves":[', b'"moves":' + b"[" * 100_000, "line 2: "),
        (b'"plies":4', b'"handicap":4', "line 1: "),  # of a later version: nobody knows what it means
        (b'{"type":"series"', b"{", "line 1: "),
        (b'{"type":"match"', b"\n", "line 2: "),
        (b"connect-4", b"connect-\xff", "line 1: "),
    ],
)
def test_a_line_that_is_not_as_it_was_written_is_refused_with_its_number(
    old: bytes, new: bytes, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "series"
    kept(path)
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(Misuse) as refused:
        saved(str(path))
    assert f"{path}, {why}" in str(refused.value)


@pytest.mark.parametrize("content", [b"", b'{"type":"series"'])
def test_a_file_without_a_whole_line_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "series").write_bytes(content)
    with pytest.raises(Misuse, match="not one whole line"):
        saved(str(tmp_path / "series"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("game", "quoridor"),
        ("players", ("a", "c")),
        ("pace", Pace(turn=2.0)),
        ("plies", 5),
        ("openings", "openings.txt"),
        ("seed", 8),
        ("think", 0.2),
    ],
)
def test_a_series_goes_on_under_its_own_conditions_only(name: str, value: object) -> None:
    asked = Terms(game="connect-4", players=("a", "b"))
    assert continued(TERMS, asked, "series") == TERMS, "what nobody asks for stays as it was"
    with pytest.raises(Misuse, match=f"series: expected the {name} that it was saved with"):
        continued(TERMS, structs.replace(asked, **{name: value}), "series")


def test_a_series_that_goes_on_may_end_elsewhere() -> None:
    asked = Terms(game="connect-4", players=("a", "b"), games=100, sprt="elo0=0,elo1=5")
    on = continued(TERMS, asked, "series")
    assert (on.games, on.sprt, on.seed) == (100, "elo0=0,elo1=5", 7)


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere" / "series")
    with pytest.raises(Failure, match="cannot be written"), keeping(nowhere, Saved(TERMS, [], 0), onto=False):
        pass
