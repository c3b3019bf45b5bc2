"""`python -m tests.docs.sentences > docs/sentences.md`: every sentence the host says to bots and organisers.

They are read off the source: what is raised for somebody's eyes, also where a constant or a function is named
that has the words, and why matches end. What is filled in when the sentence is said stands in braces. Pages,
help and the log are not here.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAD = """# Sentences

Every sentence that the host says to bots, organisers and HTTP clients when something cannot be done, and
every reason for which a match ends. `python -m tests.docs.sentences` reads them off the source. What is
filled in stands in braces. Pages, help and the log are not here, and neither are the fixed texts of the old
protocols: the pages on the protocols have these.
"""
ENDINGS = "To everybody, about how a match ended"
WHY = ("events", "match", "verdicts", "settling", "causes")  # files of the tournament that say why
AUDIENCES: Mapping[str, tuple[str, ...]] = {
    "To a bot, about its move": ("Illegal",),
    "To a bot that comes": ("Unwelcome", "ComeAgain", "BadName", "TakenOut", "HeldElsewhere", "OutOfReach"),
    "To a bot of the house protocol": ("_refuse",),
    ENDINGS: ("Outcome",),
    "To an organiser, and to a bot that asks for what only an organiser can change": (
        "Refusal",
        "NotNow",
        "NotThere",
        "Senseless",
        "NameTaken",
    ),
    "To whoever opens a tournament or a match, about options": ("BadOption",),
    "To an HTTP client": ("HttpError",),
    "To a language model and its client": ("RpcError", "Unseated", "Full"),
    "On the command line": (
        "ConfigError",
        "Unusable",
        "Unreadable",
        "Unfit",
        "Misuse",
        "Failure",
        "NothingKept",
        "Older",
        "Newer",
    ),
}
SAYING = re.compile(rf"\b(?:{'|'.join(kind for kinds in AUDIENCES.values() for kind in kinds)})\(")

Named = Mapping[str, ast.Assign | ast.FunctionDef]  # by the name that a file has for it, what has texts


@cache
def sentences() -> dict[str, list[str]]:
    """By whom they are for, each once, in the order of the alphabet."""
    found: dict[str, set[str]] = {audience: set() for audience in AUDIENCES}
    for layer in ("games", "tournament", "server"):
        for source in sorted((ROOT / layer).rglob("*.py")):
            if layer == "tournament" and source.stem in WHY:
                found[ENDINGS].update(_written(_read(source)))
            elif not SAYING.search(source.read_text(encoding="utf-8")):
                continue  # to look through a tree takes long
            named = _named(source)
            for call in (node for node in ast.walk(_read(source)) if isinstance(node, ast.Call)):
                kind = (
                    call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                )
                for audience, kinds in AUDIENCES.items():
                    if kind in kinds:
                        found[audience].update(
                            each for each in _said(call, named) if " " in each.strip("…{} ")
                        )
    return {
        audience: sorted(each, key=lambda said: (said.casefold(), said)) for audience, each in found.items()
    }


def _written(tree: ast.Module) -> Iterator[str]:
    """All that a file writes which is a sentence, and no part of a larger one or of its own documentation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return | ast.Assign | ast.Call | ast.Tuple | ast.BinOp):
            inner = [node.left, node.right] if isinstance(node, ast.BinOp) else [*ast.iter_child_nodes(node)]
            for child in inner:
                if isinstance(child, ast.expr):
                    yield from filter(_is_sentence, _texts(child, {}))


def _is_sentence(text: str) -> bool:
    """Whether it has two words of its own."""
    return " " in re.sub(r"{[^{}]*}", "x", text).strip() and len(re.findall(r"[a-z]{2,}", text)) > 1


@cache
def _read(source: Path) -> ast.Module:
    return ast.parse(source.read_text(encoding="utf-8"))


def _named(source: Path) -> Named:
    """Texts that a file has names for, its own and those that it imports."""
    found = {**_own(source)}
    for node in _read(source).body:
        if isinstance(node, ast.ImportFrom) and (imported := _source(node.module)).is_file():
            there = _own(imported)
            found |= {each.asname or each.name: there[each.name] for each in node.names if each.name in there}
    return found


def _source(module: str | None) -> Path:
    return ROOT.joinpath(*(module or "").split(".")).with_suffix(".py")


@cache
def _own(source: Path) -> Named:
    """A file's constants and functions."""
    found: dict[str, ast.Assign | ast.FunctionDef] = {}
    for node in _read(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.FunctionDef(name=name):
                found[name] = node
            case _:
                pass
    return found


@cache
def _had(node: ast.Assign | ast.FunctionDef) -> list[str]:
    """The texts of a constant, or those that a function returns."""
    if isinstance(node, ast.Assign):
        return [*_texts(node.value, {})]
    returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return))
    return [text for value in returned if value is not None for text in _texts(value, {})]


def _said(call: ast.Call, named: Named) -> Iterator[str]:
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        yield from _texts(argument, named)


def _texts(node: ast.expr, named: Named) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(map(_part, parts))
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name in named:
            yield from _had(named[name])
        case ast.BoolOp(values=values):
            for value in values:
                yield from _texts(value, named)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts(body, named)
            yield from _texts(orelse, named)
        case _:
            pass


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return f"{{{ast.unparse(part.value)}}}"
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""


def page() -> str:
    parts = [HEAD]
    for audience, said in sentences().items():
        parts.append(f"\n## {audience}\n\n" + "\n".join(f"- `{_plain(each)}`" for each in said) + "\n")
    return "".join(parts)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("`", "'")


if __name__ == "__main__":
    sys.stdout.write(page())
