"""A running host, through its HTTP API: the commands for organisers use this.

Errors are raised as a `Failure` in the host's own words. It is a `Failure`,
too, if no host answers, or something else does: whatever is read of an answer is
what a host gives (`answers.py`), and no answer fills the memory or takes for ever.
"""

import json
import time
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPMessage,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from math import inf
from pathlib import Path
from ssl import SSLCertVerificationError, SSLError
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
)

import msgspec

from server.exits import Failure, Misuse
from server.net import causes
from server.net.addresses import http_parts, is_loopback
from server.net.escaping import safe
from server.programs import answers
from server.programs.download import Download
from server.programs.hanging_up import hanging_up
from server.programs.terminal import note
from server.store.data_folder import TOKEN, VARIABLE, can_be_sent, token_brought

REDIRECTIONS = range(300, 400)
TIMEOUT = 30.0  # seconds: a large export takes some
AT_ONCE = 0.1  # seconds before asking again whatever says to do so at once, as a proxy may
SOON = 1.0  # seconds: a host that works something out says to ask again after no more than this
LARGEST = 256_000_000  # bytes of an answer, or of all pages of a list: a page has some 300,000
COMPLAINT = 100_000  # bytes of an answer that says what is wrong
WHOLE_WITHIN = 60.0  # seconds for an answer that has begun: something may send a byte now and then …
SLOWEST = 10_000  # … and bytes of it for each second more: a large report takes long over a slow line
NAMED = {"rows": "name", "entrants": "name", "tournaments": "tournament"}  # by what is listed
SHAPES = {"rows": answers.Standings, "entrants": answers.Whole, "tournaments": answers.Tournaments}
READINGS = 10  # of a list that changes meanwhile
FLAG = "--token"
GIVEN = (FLAG, VARIABLE)  # where a token is from that was named for a command
TEXTS = ("text/csv", "text/plain", "application/x-ndjson")  # in which a host gives results to commands


class _Redirects(HTTPRedirectHandler):
    """Follows no redirection with the organiser's token: it is not for others, and no order would arrive."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if req.has_header("Authorization"):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Bounded(HTTPConnection):
    """A connection on which the head of an answer may take no longer than `TIMEOUT`, byte by byte too."""

    def getresponse(self) -> HTTPResponse:
        with hanging_up(time.monotonic() + TIMEOUT, self.sock):
            return super().getresponse()


class _BoundedTls(_Bounded, HTTPSConnection):
    pass


class _Http(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_Bounded, req)


class _Https(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_BoundedTls, req)


# A proxy of the environment knows nothing of 127.0.0.1.
_open = build_opener(ProxyHandler({}), _Redirects, _Http, _Https).open


Anything = dict[str, Any]  # the shape of an answer of which only the keys are looked at


class _Endless(Exception):
    """An answer has more than there is room for, or takes too long. The message says which."""


class Answer(dict[str, Any]):
    """A JSON object from a host, or within one. What is not in it shows that something else has answered."""

    def __init__(self, found: dict[str, Any], url: str) -> None:
        super().__init__(found)
        self._url = url

    def __missing__(self, key: str) -> Any:
        raise Failure(f"what answers at {self._url} is not a Quintain host: its answer has no {key!r}")


class Remote:
    def __init__(self, url: str, token: str | None = None, data: str = "quintain-data") -> None:
        """`token` is the organiser's; None: it is looked for where the host keeps it, once it is needed."""
        if http_parts(url) is None:
            raise Misuse(f"expected an address like http://127.0.0.1:8080, not {url!r}")
        self.url = url.rstrip("/")
        self._token = token
        self._data = data

    def get(self, *path: str, like: Any = Anything) -> Any:
        """The JSON at `/api/…`, of that shape."""
        return self._json(self._answer(Request(self._address(path))), like)  # noqa: S310 - the scheme is looked at

    def whole(self, listed: str, *path: str) -> Any:
        """The JSON at a path, with everything that it lists, from all pages.

        What changes places between two pages is on both, or on neither: then all pages are read again.
        """
        for _ in range(READINGS):
            found = self._pages(listed, *path)
            if len({each[NAMED[listed]] for each in found[listed]}) == len(found[listed]):
                return found
        raise Failure(f"what {self.url} lists changes while it is being read: ask again")

    def _pages(self, listed: str, *path: str) -> Any:
        address, room, entries, after, query = self._address(path), LARGEST, list[Any](), 0, ""
        while True:
            answer = self._answer(Request(address + query), most=room)  # noqa: S310
            room -= len(answer)
            page = self._json(answer, SHAPES[listed])
            entries += page[listed]
            if (following := page.get("next")) is None:
                page[listed] = entries
                return page
            if following <= after or not page[listed]:  # or the list would have no end
                raise self._no_host(f"its {listed} go on from {after} at {following}")
            after, query = following, f"?after={following}"

    def text(self, *path: str, query: str = "") -> str:
        return self._text(self._answer(Request(self._address(path) + query), texts=TEXTS))  # noqa: S310

    def download_for_organiser(self, into: Download, *path: str) -> None:
        """Like `text`, of any length, with the organiser's token, if there is one: they are shown more.

        What everybody may read comes with any token, so a wrong one would not be noticed: the host is asked.
        It needs none, so one that was only found in a data folder, which is of a host on this machine, goes
        to no other machine: whoever is there would have it.
        """
        headers = dict[str, str]()
        if (found := self._token_found()) is not None:
            token, origin = found
            if origin not in GIVEN and not is_loopback(urlsplit(self.url).hostname or ""):
                note(
                    f"this is what everybody may see: the token in {origin} goes to hosts at 127.0.0.1 alone"
                )
            else:
                headers = {"Authorization": f"Bearer {token}"}
                asked = Request(self._address(("organiser",)), headers=headers)  # noqa: S310
                self._answer(asked, f"; it was taken from {origin}")
        self._answer(Request(self._address(path), headers=headers), texts=TEXTS, into=into)  # noqa: S310

    def post(self, *path: str, body: dict[str, Any] | None = None, like: Any = Anything) -> Any:
        """Give an order, with the organiser's token; returns the answer, which is of that shape."""
        token, origin = self._organiser()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        asked = Request(self._address(path), _written(body or {}), headers)  # noqa: S310
        return self._json(self._answer(asked, f"; it was taken from {origin}"), like)

    def _address(self, path: tuple[str, ...]) -> str:
        if "" in path:  # what is left would lead to something else, such as a list
            raise Misuse("expected a name, and got an empty one")
        return "/".join((self.url, "api", *(quote(part, safe="") for part in path)))

    def _answer(
        self,
        request: Request,
        credentials: str = "",
        texts: Sequence[str] = (),
        most: int = LARGEST,
        into: Download | None = None,
    ) -> bytes:
        """The answer to a request; `credentials` is added to the message if they are refused.

        If there are `texts`, it is of one of these types. It has at most so many bytes, and comes soon. If it
        is to go `into` a download, it has as many as there is room for, and this returns none.
        """
        try:
            with _opened(request) as answer:
                if texts and answer.headers.get_content_type() not in texts:
                    raise self._no_host()
                if into is None:
                    return _body(answer, most)
                into.take(_parts(answer, inf))
                return b""
        except _Endless as endless:
            raise self._no_host(str(endless)) from None
        except HTTPError as error:
            if error.code in REDIRECTIONS:
                with error:
                    to = error.headers.get("Location", "another address")
                    kept = request.has_header("Authorization")
                    why = "the organiser's token is not sent on" if kept else "no answer comes from there"
                    raise Failure(
                        f"{self.url} leads to {to}, and {why}: name the address with --url"
                    ) from None
            kind = Misuse if error.code == HTTPStatus.BAD_REQUEST else Failure
            with error:
                raise kind(
                    _complaint(error) + (credentials if error.code == HTTPStatus.UNAUTHORIZED else "")
                ) from None
        except IncompleteRead:
            raise Failure(f"the host at {self.url} hung up in the middle of its answer") from None
        except HTTPException:
            raise Failure(
                f"what answers at {self.url} does not speak HTTP: expected a host's HTTP port"
            ) from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, SSLCertVerificationError):
                why = f"{reason.verify_message}; SSL_CERT_FILE names a file of those that are"
                raise Failure(f"the certificate of {self.url} is not trusted here: {why}") from None
            if isinstance(reason, SSLError):
                raise Failure(f"{self.url}: {causes.why(reason)}; a host without TLS is at http://") from None
            why = getattr(reason, "strerror", None) or reason
            raise Failure(f"no host answers at {self.url}: {why}; `quintain serve` starts one") from None
        except UnicodeDecodeError:
            raise self._no_host() from None
        except ValueError:  # of where it leads: our own address was looked at
            raise Failure(f"{self.url} leads to what is no address: name one with --url") from None

    def _json(self, answer: bytes, like: Any) -> Any:
        """The answer, of which every part that `like` names is what it says."""
        try:
            msgspec.json.decode(answer)  # takes neither numbers without a value nor halves of characters
            msgspec.json.decode(answer, type=like)
            found: object = json.loads(answer, object_hook=lambda part: Answer(part, self.url))
        except msgspec.ValidationError as error:
            raise self._no_host(str(error)) from None
        except (ValueError, RecursionError):
            raise self._no_host() from None
        return found

    def _text(self, answer: bytes) -> str:
        try:
            return answer.decode()
        except UnicodeDecodeError:
            raise self._no_host() from None

    def _no_host(self, why: str = "") -> Failure:
        if why:
            return Failure(f"what answers at {self.url} is not a Quintain host: {why}")
        return Failure(f"what answers at {self.url} is not a Quintain host")

    def _organiser(self) -> tuple[str, str]:
        """The organiser's token, and where it is from."""
        if (found := self._token_found()) is None:
            expected = f"--token, {VARIABLE}, or the host's data folder with --data"
            raise Failure(f"this needs the organiser's token: {expected}; {self._why_none()}")
        return found

    def _why_none(self) -> str:
        path = Path(self._data) / TOKEN
        try:
            path.read_bytes()
        except PermissionError as error:  # of a host that another user has started
            return f"the one in {path} cannot be read: {error.strerror}"
        except OSError:
            pass
        return f"there is none in {path}"

    def _token_found(self) -> tuple[str, str] | None:
        """The organiser's token, and where it is from; None if there is none."""
        path = Path(self._data) / TOKEN
        if token := (self._token or token_brought()).strip():
            origin = FLAG if self._token else VARIABLE
        else:
            try:
                token, origin = path.read_text(encoding="utf-8", errors="replace").strip(), str(path)
            except OSError:
                return None
        if not can_be_sent(token):
            raise Failure(f"the organiser's token is one line of ASCII, and the one from {origin} is not")
        return token, origin


def _written(body: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise Misuse("expected numbers that are finite, and got inf or nan") from None
    return text.encode()


def _opened(request: Request) -> HTTPResponse:
    """The answer. A host that is working something out is asked again, for as long as answers may take."""
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            return _open(request, timeout=TIMEOUT)
        except HTTPError as error:
            wait = soon(error) if request.get_method() == "GET" else inf
            if time.monotonic() + wait > until:
                raise
            error.close()
            time.sleep(wait)


def soon(error: HTTPError) -> float:
    """The seconds after which to ask again; infinite if not soon, or not at all."""
    said = error.headers.get("Retry-After", "")
    soon = error.code == HTTPStatus.SERVICE_UNAVAILABLE and said.isdecimal() and float(said) <= SOON
    return max(float(said), AT_ONCE) if soon else inf


def _complaint(error: HTTPError) -> str:
    """What a host says is wrong; only the status, if what answers is none."""
    try:
        found = msgspec.json.decode(_body(error, COMPLAINT), type=answers.Wrong)
    except (ValueError, RecursionError, OSError, HTTPException, _Endless):
        return f"the host answers with {error.code} {safe(error.reason)}"
    return " ".join(found.error.split())


def _body(answer: HTTPResponse | HTTPError, most: int) -> bytes:
    """What an answer has after its head; raises `_Endless`."""
    return b"".join(_parts(answer, most))


def _parts(answer: HTTPResponse | HTTPError, most: float) -> Iterator[bytes]:
    """The same in parts, as they come."""
    room, until = most, time.monotonic() + WHOLE_WITHIN
    while part := answer.read1(int(min(room + 1, 65536))):
        room -= len(part)
        until += len(part) / SLOWEST
        if room < 0:
            raise _Endless(f"its answer has more than {most:,} bytes")
        if time.monotonic() > until:
            raise _Endless(f"its answer was not whole after {WHOLE_WITHIN:.0f} s, and comes too slowly")
        yield part
    if answer.length:  # were promised, and did not come
        raise IncompleteRead(b"")
