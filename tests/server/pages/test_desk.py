"""The way to the desk: links that open it once, sessions, and forms that nobody else can send."""

import re

import pytest
import trio
from trio.testing import MockClock

from server.config import Settings
from server.pages.desk.door import has_desk
from server.pages.desk.sessions import LINKS, SESSIONS, Sessions
from tests.server.pages.sitting import WHERE, Browser, fields_of, sitting


async def test_a_link_opens_the_desk_once(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        link, first, second = here.link(), Browser(here.server), Browser(here.server)
        page = await first.read(link)
        answer = await first.send(page, "/admin/login")
        assert b"<h1>Tournaments</h1>" in answer.body
        again = await second.ask("POST", "/admin/login", fields_of(page, "/admin/login"))
        assert again.status == 403
        assert not second.cookies
        assert b"<h1>Tournaments</h1>" in (await first.ask("GET", "/admin")).body


async def test_to_look_at_a_link_does_not_use_it_up(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        link, preview, person = here.link(), Browser(here.server), Browser(here.server)
        for method in ("GET", "HEAD", "GET"):
            assert (await preview.ask(method, link)).status == 200
        assert not preview.cookies
        await person.send(await person.read(link), "/admin/login")


@pytest.mark.parametrize(("seconds", "status"), [(899.0, 303), (901.0, 403)])
async def test_a_link_is_good_for_a_quarter_of_an_hour(
    seconds: float, status: int, autojump_clock: MockClock
) -> None:
    async with sitting() as here:
        browser = Browser(here.server)
        page = await browser.read(here.link())
        await trio.sleep(seconds)
        answer = await browser.ask("POST", "/admin/login", fields_of(page, "/admin/login"))
        assert answer.status == status


def test_of_too_many_links_and_sessions_the_oldest_are_good_no_more() -> None:
    sessions = Sessions()
    links = [sessions.link(0.0) for _ in range(LINKS + 1)]
    assert [sessions.open(link, 1.0) is not None for link in links] == [False, *[True] * LINKS]
    opened = [sessions.open(sessions.link(0.0), 1.0) or "" for _ in range(SESSIONS + 1)]
    assert [sessions.find(secret, 1.0) is not None for secret in opened] == [False, *[True] * SESSIONS]


async def test_the_cookie_is_for_this_host_alone_and_no_script_reads_it(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        browser = Browser(here.server)
        page = await browser.read(here.link())
        answer = await browser.ask("POST", "/admin/login", fields_of(page, "/admin/login"))
        _, *kept = answer.headers["set-cookie"].split("; ")
        assert kept == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict"]
        assert len(next(iter(browser.cookies.values()))) >= 43, "256 bits"
        (secret,) = browser.cookies.values()
        assert secret not in repr(vars(here.sessions)), "only digests are remembered"


@pytest.mark.parametrize(
    ("host", "name"), [("desk.example:7080", "quintain-desk-7080"), ("desk.example", "quintain-desk")]
)
async def test_the_cookie_goes_by_the_port_that_the_browser_uses_and_not_by_the_host_s_own(
    host: str, name: str, autojump_clock: MockClock
) -> None:
    """Catches hosts behind one balancer, at different ports, that each ask for a login of their own."""
    async with sitting() as here:
        browser, seen = Browser(here.server), {"Host": host, "Origin": f"http://{host}"}
        page = await browser.read(here.link())
        await browser.ask("POST", "/admin/login", fields_of(page, "/admin/login"), **seen)
        assert list(browser.cookies) == [name]
        assert (await browser.ask("GET", "/admin", Host=host)).status == 200


async def test_behind_a_proxy_that_speaks_tls_the_cookie_is_sent_over_tls_alone(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        browser, forwarded = (
            Browser(here.server),
            {"X_Forwarded_Proto": "https", "Origin": f"https://{WHERE}"},
        )
        page = await browser.read(here.link())
        fields = fields_of(page, "/admin/login")
        answer = await browser.ask("POST", "/admin/login", fields, **forwarded)
        assert answer.headers["set-cookie"].endswith("; Secure")


async def test_a_session_ends_after_twelve_hours_and_by_logging_out(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        browser, other = await here.log_in(), await here.log_in()
        stolen = dict(browser.cookies)
        await browser.send(await browser.read("/admin"), "/admin/logout")
        browser.cookies = stolen
        await browser.read("/admin", 401)
        await trio.sleep(12 * 3600 - 1)
        page = await other.read("/admin")
        await trio.sleep(2)
        await other.read("/admin", 401)
        late = await other.ask("POST", "/admin/create", fields_of(page, "/admin/logout") | {"name": "x"})
        assert late.status == 403


ADDRESSES = ("/admin", "/admin/create", "/admin/audit", "/admin/tournaments/cup", "/admin/anything")


async def test_without_a_session_there_is_nothing_to_be_seen(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold("cup")
        browser = Browser(here.server)
        browser.cookies["quintain-desk-7080"] = "A" * 43
        for address in ADDRESSES:
            page = await browser.read(address, 401)
            assert "admin-link" in page
            assert "registering" not in page


async def test_the_desk_is_read_and_sent_forms_and_says_so(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        answer = await (await here.log_in()).ask("DELETE", "/admin/tournaments/cup", {})
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null", "Sec_Fetch_Site": ""},
        {"Origin": "null", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "null", "Sec_Fetch_Site": "none"},
        {"Origin": f"http://{WHERE}.evil.example"},
        {"Origin": f"http://{WHERE.split(':')[0]}"},
    ],
)
async def test_a_form_from_elsewhere_does_nothing(headers: dict[str, str], autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold("cup")
        browser = await here.log_in()
        page = await browser.read("/admin/tournaments/cup")
        path = "/admin/tournaments/cup/freeze"
        answer = await browser.ask("POST", path, fields_of(page, path), **headers)
        assert answer.status == 403
        assert b"Refused: this form was sent from" in answer.body
        assert here.host.tournaments["cup"].record.frozen is None
        link = Browser(here.server)
        login = fields_of(await link.read(here.link()), "/admin/login")
        assert (await link.ask("POST", "/admin/login", login, **headers)).status == 403
        assert (await link.ask("POST", "/admin/login", login)).status == 303, "it was not used up"


async def test_a_form_wants_the_token_of_its_own_session(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold("cup")
        browser, other = await here.log_in(), await here.log_in()
        path = "/admin/tournaments/cup/freeze"
        theirs = fields_of(await other.read("/admin/tournaments/cup"), path)
        for fields in ({}, {"form_token": ""}, {"form_token": "é"}, theirs):
            answer = await browser.ask("POST", path, fields)
            assert answer.status == 403
            assert b"does not belong to your session" in answer.body
        assert here.host.tournaments["cup"].record.frozen is None
        mine = fields_of(await browser.read("/admin/tournaments/cup"), path)
        silent = await browser.ask("POST", path, mine, Origin="", Sec_Fetch_Site="")
        assert silent.status == 303, "an old browser says nothing of where it is"
        path = "/admin/tournaments/cup/unfreeze"
        discreet = await browser.ask("POST", path, mine, Origin="null")
        assert discreet.status == 303, "what a browser says of a page that tells no referrer"


async def test_the_options_of_a_tournament_end_before_the_link_to_its_page(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold("cup", options={"ply_limit": 20})
        page = await (await here.log_in()).read("/admin/tournaments/cup")
    assert 'ply_limit 20. <a href="/tournaments/cup">' in page


async def test_whoever_guesses_is_slowed_down_and_counted(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        browser = Browser(here.server)
        tried = [(await browser.ask("POST", "/admin/login", {"secret": str(n)})).status for n in range(30)]
        assert tried == [403] * 5 + [429] * 25
        refused = await browser.ask("POST", "/admin/login", {"secret": "?"})
        assert (refused.status, refused.headers["retry-after"]) == (429, "12")
        good = fields_of(await browser.read(here.link()), "/admin/login")
        assert (await Browser(here.server).ask("POST", "/admin/login", good)).status == 303, (
            "the holder of a link"
        )
        assert (await browser.ask("POST", "/admin/login", good)).status == 429, "which is used up"
        await trio.sleep(60.0)
        assert (await browser.ask("POST", "/admin/login", {"secret": "?"})).status == 403
        said = [(each.fact.action, each.fact.detail) for each in here.host.audit]
    assert said == [("login refused", "")] * 5 + [("login", ""), ("login refused", "28 tries")]


def test_a_customers_64_bits_of_ipv6_are_one_address_at_the_desk_too() -> None:
    sessions = Sessions()
    tries = [sessions.may_try(f"2001:db8::{number:x}", 0.0) for number in range(1, 31)]
    assert tries == [True] * 5 + [False] * 25
    assert sessions.may_try("2001:db8:0:1::1", 0.0)


async def test_pages_of_the_desk_are_kept_by_nobody_and_shown_in_no_frame(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold("cup")
        browser = await here.log_in()
        for address in (*ADDRESSES, here.link()):
            answer = await browser.ask("GET", address)
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["referrer-policy"] == "same-origin", "no other site is told where it is"
            assert answer.headers["content-security-policy"].endswith("frame-ancestors 'none'")
            page = answer.body.decode()
            assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", page), address


@pytest.mark.parametrize(
    ("bind", "tls", "anywhere", "there"),
    [
        ("127.0.0.1", False, False, True),
        ("::1", False, False, True),
        ("localhost", False, False, True),
        ("0.0.0.0", False, False, False),  # noqa: S104
        ("10.0.0.7", False, False, False),
        ("0.0.0.0", True, False, True),  # noqa: S104
        ("0.0.0.0", False, True, True),  # noqa: S104
    ],
)
def test_the_desk_is_where_nobody_listens_in(bind: str, tls: bool, anywhere: bool, there: bool) -> None:
    assert has_desk(bind, tls=tls, anywhere=anywhere) is there
    assert Settings().admin_anywhere is False


async def test_where_there_is_no_desk_it_says_so(autojump_clock: MockClock) -> None:
    async with sitting(closed=True) as here:
        browser = Browser(here.server)
        for address in ("/admin", "/admin/login?secret=x"):
            assert "admin_anywhere = true" in await browser.read(address, 404)
        assert (await browser.ask("POST", "/admin/login", {"secret": "x"})).status == 404
        told = await here.api("POST", "/api/admin-link")
        assert (told["status"], "admin_anywhere" in told["error"]) == (409, True)


async def test_the_api_makes_a_link_for_whoever_has_the_organisers_token(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        assert (await here.api("POST", "/api/admin-link", token=None))["status"] == 401
        told = await here.api("POST", "/api/admin-link")
        browser = Browser(here.server)
        await browser.send(await browser.read(told["path"]), "/admin/login")
        assert [each.fact.action for each in here.host.audit] == ["admin-link", "login"]
