"""The files that pages are made with: stylesheet, scripts, icon.

They are read when this is imported and served from memory. Their address holds
a digest of all of them, so a browser keeps them for good and never has an old
one; scripts that import each other by relative address have it too.
"""

from hashlib import sha256
from pathlib import Path

from server.http.wire import NOSNIFF, Response, refused
from server.net.escaping import in_quotes

FOLDER = Path(__file__).parent / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
FOR_GOOD = "public, max-age=31536000, immutable"
FOR_AN_HOUR = "public, max-age=3600"

FILES = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir())}
VERSION = sha256(b"".join(name.encode() + content for name, content in FILES.items())).hexdigest()[:12]


def address(name: str) -> str:
    """The address of a file; an unknown name is a fault in a template."""
    if name not in FILES:
        raise LookupError(f"there is no file {name} in {FOLDER}")
    return f"/static/{VERSION}/{name}"


def answer(name: str, version: str | None, known: str) -> Response:
    """A file. `version` is the one that was asked for, and `known` are the tags of copies, or `*` for any."""
    content = FILES.get(name)
    if content is None:
        return refused(404, f"there is no file {in_quotes(name)}")
    tag = f'"{VERSION}"'
    kept = FOR_GOOD if version == VERSION else FOR_AN_HOUR
    headers = (
        ("Content-Type", TYPES[Path(name).suffix]),
        ("Cache-Control", kept),
        ("ETag", tag),
        NOSNIFF,
    )
    has_it = tag in known or known.strip() == "*"
    return Response(304, headers) if has_it else Response(200, headers, content)
