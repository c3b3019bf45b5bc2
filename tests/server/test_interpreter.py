"""No process looks for garbage again and again while it imports."""

import pytest

from tests.server.test_without_rich import printed

FEW = 40  # collections; there are some two hundred otherwise


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["server.__main__, server.serve", "server.show.__main__", "server.workers.__main__"]
)
def test_garbage_is_hardly_looked_for_while_all_is_imported(first: str) -> None:
    """Catches an order of imports in which the setting comes too late."""
    program = f"import gc, {first}; print(sum(each['collections'] for each in gc.get_stats()))"
    assert int(printed(program)) < FEW
