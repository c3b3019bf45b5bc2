"""Where a request comes from, by what its browser and its proxies say."""

import pytest
from msgspec.structs import replace

from server.http.head import HttpError
from server.http.origins import NO_ORIGINS, Origins, is_from_here
from server.http.wire import Request

ASKED = Request("POST", "/", {}, {"host": "arena.example:8080"}, b"", "127.0.0.1", 0.0, False)
CLUB = Origins(["https://Club.example", "http://10.0.0.7:3000", "https://late.example:443"])


def said(request: Request = ASKED, **headers: str) -> Request:
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return replace(request, headers={**request.headers, **more})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://arena.example:8080"},
        {"origin": "https://ARENA.example:8080"},
        {"sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "none"},
        {"sec_fetch_site": "same-origin", "origin": "null"},
    ],
)
def test_the_pages_of_the_host_and_whatever_is_no_browser_are_not_foreign(headers: dict[str, str]) -> None:
    assert NO_ORIGINS.foreign(said(**headers)) == ""
    NO_ORIGINS.check(said(**headers))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"origin": ""},
        {"origin": "https://evil.example"},
        {"origin": "http://arena.example"},
        {"origin": "http://arena.example:8080.evil.example"},
        {"origin": "http://evil.example/arena.example:8080"},
        {"origin": "file://arena.example:8080"},
        {"origin": "http://arena.example:8080, http://evil.example"},
        {"origin": "null", "sec_fetch_site": "none"},
        {"origin": "http://arena.example:8080", "sec_fetch_site": "cross-site"},
        {"origin": "http://arena.example:8080", "sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": ""},
        {"origin": "http://club.example"},
        {"origin": "https://club.example:8443"},
    ],
)
def test_every_other_page_is_foreign_and_told_which_setting_would_help(headers: dict[str, str]) -> None:
    for origins in (NO_ORIGINS, CLUB):
        assert origins.foreign(said(**headers))
        with pytest.raises(HttpError, match="`origins` in quintain") as refused:
            origins.check(said(**headers))
        assert refused.value.status == 403


def test_over_tls_a_page_that_came_without_it_is_foreign() -> None:
    secure = replace(ASKED, secure=True)
    assert NO_ORIGINS.foreign(said(secure, origin="http://arena.example:8080"))
    assert not NO_ORIGINS.foreign(said(secure, origin="https://arena.example:8080"))


@pytest.mark.parametrize("origin", ["https://club.example", "http://10.0.0.7:3000", "https://late.example"])
def test_a_site_that_is_listed_is_not_foreign(origin: str) -> None:
    assert NO_ORIGINS.foreign(said(origin=origin))
    for site in ("cross-site", "same-site", "same-origin"):
        assert not CLUB.foreign(said(origin=origin, sec_fetch_site=site))


@pytest.mark.parametrize(
    "listed", ["", "null", "*", "club.example", "https://club.example/", "ftp://club.example", "https://a b"]
)
def test_what_is_no_origin_cannot_be_listed(listed: str) -> None:
    with pytest.raises(ValueError, match="expected a scheme and a host"):
        Origins([listed])


HERE = replace(ASKED, headers={"host": "localhost:8080"})


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1"])
def test_whoever_connects_over_loopback_is_on_this_machine(peer: str) -> None:
    assert is_from_here(replace(HERE, peer=peer))


@pytest.mark.parametrize(
    "request_",
    [
        replace(HERE, peer="10.0.0.1"),
        replace(HERE, peer=""),
        replace(HERE, old=True),
        ASKED,  # by a public name
        said(HERE, x_forwarded_for=""),
        said(HERE, x_forwarded_for="127.0.0.1"),
        said(HERE, x_forwarded_proto="https"),
        said(HERE, x_forwarded_by_somebody="x"),
        said(HERE, forwarded="for=127.0.0.1"),
        said(HERE, via="1.1 here"),
        said(HERE, x_real_ip="127.0.0.1"),
        said(HERE, cf_connecting_ip="127.0.0.1"),
    ],
)
def test_whoever_may_have_come_through_a_proxy_is_not(request_: Request) -> None:
    assert not is_from_here(request_)
