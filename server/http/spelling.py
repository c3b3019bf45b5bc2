"""How old paths may be spelt: with capitals in the fixed part, and with a slash at the end.

The old systems accepted both, so there are bots that write both. A door declares
its old paths, such as `/evaluations/*`, where `*` stands for an id: ids keep
their spelling. A path has one right spelling, by which it is served: many clients
follow no redirect.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from server.http.wire import Request

ID = "*"


class Spelling:
    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths = [path.split("/")[1:] for path in paths]

    def right(self, path: str) -> str | None:
        """The right spelling of an old path; None if it is right already, or not an old path."""
        parts = path.split("/")[1:]
        if len(parts) > 1 and not parts[-1]:
            parts.pop()
        for fixed in self._paths:
            if len(fixed) == len(parts) and all(map(_fits, parts, fixed)):
                right = "/" + "/".join(
                    part if word == ID else word for part, word in zip(parts, fixed, strict=True)
                )
                return None if right == path else right
        return None

    def rightly(self, request: Request) -> Request:
        """The request with its path spelt rightly, for code that looks at what it is about."""
        path = request.path
        if not path.endswith("/") and path == path.lower():
            return request  # as nearly always
        right = self.right(path)
        return request if right is None else replace(request, path=right)


def _fits(part: str, fixed: str) -> bool:
    return bool(part) if fixed == ID else part.lower() == fixed
