"""No tuple is made of a generator: a host that runs for long would keep more and more that nobody uses.

Python begins such a tuple with room for ten and then changes its size. Once it is freed, it is kept for the
next tuple of its own size, of which there are then one too many, up to two thousand of each. Tuples that
are made of a list have their size from the beginning. See `docs/decisions.md`, "Tuples in stock".
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("games", "tournament", "server")
LAZY = {"map", "filter", "zip", "enumerate"}


def of_unknown_size(code: str) -> Iterator[str]:
    """The calls in functions that make a tuple of what does not know its length."""
    if "tuple(" not in code:
        return  # to parse all takes seconds
    for function in ast.walk(ast.parse(code)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                match node:
                    case ast.Call(ast.Name("tuple"), [ast.GeneratorExp()]):
                        yield ast.unparse(node)
                    case ast.Call(ast.Name("tuple"), [ast.Call(ast.Name(name))]) if name in LAZY:
                        yield ast.unparse(node)
                    case _:
                        pass


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_tuples_are_made_of_what_knows_its_length(layer: str) -> None:
    sources = sorted((ROOT / layer).rglob("*.py"))
    found = {str(source.relative_to(ROOT)): set(of_unknown_size(source.read_text())) for source in sources}
    assert sources
    assert not {source: calls for source, calls in found.items() if calls}, "write tuple([… for …])"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("tuple(each for each in all)", True),
        ("tuple(map(str, all))", True),
        ("tuple([each for each in all])", False),
        ("tuple(all)", False),
    ],
)
def test_what_has_no_length_is_found(code: str, found: bool) -> None:
    assert any(of_unknown_size(f"def function(all):\n    return {code}")) == found
