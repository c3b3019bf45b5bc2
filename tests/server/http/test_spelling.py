"""Other spellings of old paths: laws over all old paths and all ids."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.http.spelling import ID, Spelling
from server.protocols.arena.door import old_paths
from server.protocols.arena.messages import games
from server.protocols.hexagon_dots.door import HexagonDots

OLD_PATHS = (*old_paths(games()), *HexagonDots.old_paths)
SPELLING = Spelling(OLD_PATHS)

ids = st.text(min_size=1).filter(lambda text: "/" not in text)
paths = st.tuples(st.sampled_from(OLD_PATHS), ids).map(lambda pair: pair[0].replace(ID, pair[1]))


@st.composite
def misspelt(draw: st.DrawFn) -> tuple[str, str]:
    """An old path with an id as it is right, and with other capitals and perhaps a slash at the end."""
    old, name = draw(st.sampled_from(OLD_PATHS)), draw(ids)
    capitals = "".join(letter.upper() if draw(st.booleans()) else letter for letter in old)
    slash = "/" if capitals == old else draw(st.sampled_from(["", "/"]))
    return old.replace(ID, name), capitals.replace(ID, name) + slash


@given(misspelt())
def test_capitals_and_a_slash_at_the_end_are_taken_and_ids_keep_their_spelling(pair: tuple[str, str]) -> None:
    right, written = pair
    assert SPELLING.right(written) == right


@given(paths)
def test_what_is_right_has_no_other_spelling(path: str) -> None:
    assert SPELLING.right(path) is None


@given(st.one_of(st.text().map(lambda text: f"/{text}"), misspelt().map(lambda pair: pair[1])))
def test_nobody_is_sent_twice_nor_to_another_host(path: str) -> None:
    right = SPELLING.right(path)
    if right is not None:
        assert SPELLING.right(right) is None
        assert right.split("/")[1] in {"tic-tac-toe", "quoridor", "evaluations", "match", "games", "g"}


@pytest.mark.parametrize(
    "path",
    [
        *("*", "/", "//", "///", "", "//match", "//evil", "/match//", "/g//", "/G/", "//match/", "/%2fevil/"),
        *("/tic-tac-toe/", "/Tic-Tac-Toe", "/tic-tac-toe/start/", "/tic-tac-toe/Start//", "/g/1/players//"),
        *("/Santorini/join", "/Play", "/play/", "/API/games", "/Evaluations/", "/evaluations/a/b/", "/ⅿatch"),
    ],
)
def test_what_is_no_old_path_has_no_right_spelling(path: str) -> None:
    assert SPELLING.right(unquote(path)) is None
