"""Which page of a long list is shown."""

import pytest

from server.pages.paging import page_of

SIZE = 10


@pytest.mark.parametrize("total", [0, 1, 9, 10, 11, 100, 101])
def test_the_pages_hold_the_whole_list_and_none_but_the_first_is_empty(total: int) -> None:
    _, pages = page_of(total, SIZE, 1)
    assert pages * SIZE >= total
    assert pages == 1 or (pages - 1) * SIZE < total


@pytest.mark.parametrize(("asked", "shown"), [(-3, 1), (0, 1), (1, 1), (2, 2), (3, 3), (4, 3), (10**9, 3)])
def test_the_page_that_is_shown_is_the_nearest_that_there_is(asked: int, shown: int) -> None:
    assert page_of(25, SIZE, asked) == (shown, 3)
