"""Who is refused before any application is asked: a browser with a page, everybody else with JSON."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.http import bare_page
from server.http.head import HttpError
from server.net.admission import Admission, Visitor
from server.net.hosts import Hosts
from server.net.limits import Limits
from tests.server.web import echo, get, serving
from tests.server.windowed import on_virtual_time, windowed_pair

PAGE, JSON = "text/html; charset=utf-8", "application/json; charset=utf-8"
FIREFOX = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
REFUSED = {  # with words of the reason
    "a bad escape": (get("/matches/100%"), 400, "after a percent sign come two hexadecimal digits"),
    "a byte that is no text": (get("/bots/%ff"), 400, "text has to be UTF-8"),
    "a method that is none": (get("/", method="BREW"), 405, "BREW is not a method of this host"),
    "a large body": (get("/", "Content-Length: 99999999", method="POST"), 413, "bytes"),
    "a body in bad chunks": (get("/", "Transfer-Encoding: chunked", method="POST") + b"x\r\n", 400, ""),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize(
    ("accepts", "kind"),
    [(FIREFOX, PAGE), ("aCCEPT:text/HTML", PAGE), ("Accept: */*", JSON), ("X: text/html", JSON)],
)
def test_a_browser_is_refused_with_a_page(case: str, accepts: str, kind: str) -> None:
    request, status, why = REFUSED[case]

    @on_virtual_time
    async def _() -> None:
        async with serving(echo) as server:
            lines = request.replace(b"\r\nHost: a\r\n", f"\r\nHost: a\r\n{accepts}\r\n".encode())
            answer = await server.connect().ask(lines)
        assert (answer.status, answer.headers["content-type"]) == (status, kind)
        assert why[1:].encode() in answer.body


@pytest.mark.parametrize(("accepts", "kind"), [(FIREFOX, PAGE), ("Accept: */*", JSON)])
def test_so_is_one_that_calls_the_host_by_another_name(accepts: str, kind: str) -> None:
    @on_virtual_time
    async def _() -> None:
        visitor = Visitor(Admission(Limits(), hosts=Hosts()), windowed_pair()[0], "")
        async with serving(echo) as server:
            client = server.connect(visitor=visitor)
            for answer in [await client.ask(get("/", accepts)) for _ in range(2)]:  # however often it asks
                assert (answer.status, answer.headers["content-type"]) == (421, kind)
                assert b"his host does not go by the name" in answer.body


@given(st.text())
def test_a_page_says_what_came_and_never_as_markup(came: str) -> None:
    page = bare_page.refusal(HttpError(400, came), to_browser=True).body.decode("utf-8", "replace")
    assert set(re.findall(r"<[^!/][a-z0-9]*", page)) == {
        *("<html", "<head", "<meta", "<title", "<body", "<main", "<h1", "<p")
    }
