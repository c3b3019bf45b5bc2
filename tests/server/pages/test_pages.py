"""What is on the pages, for whom and under which headers; all of it without a script."""

import json
import re
from collections.abc import Callable
from html import unescape
from itertools import pairwise
from typing import NoReturn
from urllib.parse import quote

import pytest
import trio
from msgspec import structs
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from games.catalogue import catalogue
from games.game import Pace
from server.commands.results import listed
from server.exits import Unavailable
from server.host.opening import OPEN
from server.http.routes import routed
from server.net.limits import Limits
from server.pages import files, formatting, game, match, protocols, rendering
from server.pages.addressed import NOT_OVER_TCP
from server.pages.addresses import Addresses
from server.pages.fair_share import ALONE, REST, FairShare
from server.pages.formatting import DAY, FEW
from server.pages.home import summaries
from server.pages.matches import FRAMES
from server.pages.rendering import part
from server.pages.story import Story
from server.protocols.catalogue import dialects
from tests.server.pages.gallery import GAME, TAG, Gallery, gallery
from tests.server.web import get, serving
from tests.tournament.world import first, play, silent
from tournament.archived_record import put_in_archive
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Drew, Entered, State, Turned
from tournament.format import Pairing
from tournament.remembered import Abridged
from tournament.verdicts import shut_out, stayed_away

pytestmark = pytest.mark.slow

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}


EMOJI = re.compile("[↔-↙↩↪⏏⏩-⏺▪▫▶◀◻-◾☀-⛿](?!\ufe0e)")  # unless what follows says that it is text


def test_no_sign_on_a_page_is_drawn_as_an_emoji() -> None:
    """Phones have pictures for some, and `font-variant-emoji` says nothing to browsers of before 2025."""
    templates = (path.read_bytes() for path in rendering.TEMPLATES.rglob("*.html"))
    for written in (*templates, *files.FILES.values()):
        text = unescape(written.decode()).replace(r"\ufe0e", "\ufe0e")
        assert not EMOJI.search(text), text


async def played(here: Gallery, *names: str, format: str = "round-robin") -> None:
    """A tournament that is over."""
    await here.hold(entrants=len(names), format=format)
    await here.come(*names)
    await trio.sleep(200.0)


async def test_of_many_tournaments_of_a_bot_or_a_group_few_are_named_and_a_list_has_them_all(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        names = [f"week-{number}" for number in range(FEW + 2)]
        for name in names:
            (await here.hold(name, group="a & b")).record.add(Entered("ann/1 & co"))
        await here.hold("elsewhere", group="another")
        for of in ("bot=ann%2F1+%26+co", "group=a+%26+b"):
            kind, _, name = of.partition("=")
            page = await here.read(f"/{kind}s/?name={name}")
            assert re.findall(r"/tournaments/([^\"?]+)", page) == names[2:]
            (address,) = re.findall(r'<a href="(/tournaments\?[^"]+)">2 earlier ones</a>', page)
            listed = await here.read(address)
            assert re.findall(r"/tournaments/([^\"]+)", listed) == names
            await here.read(f"/tournaments?{kind}=nobody", status=404)
        paged = part(
            "tournaments", summaries(here.host, 1) | {"whole": True, "pages": 2, "address": "?bot=ann&"}
        )
        assert '<a href="?bot=ann&amp;page=2" rel="next">' in paged


ADDRESSES = (
    "/",
    "/tournaments",
    "/tournaments/cup",
    "/tournaments/cup/standings",
    "/tournaments/cup/schedule",
    "/matches/cup-1",
    "/matches/cup-1?ply=3",
    "/embed/matches/cup-1",
    "/bots/ann",
    "/games/tic-tac-toe",
    "/protocols/house",
)


async def test_a_list_of_what_is_long_over_has_no_table_made(autojump_clock: MockClock) -> None:
    """Catches a page of a hundred tournaments for which as many tables with ratings were made."""
    async with gallery() as here:
        await played(here, "ann", "bob")
        record = here.host.tournaments["cup"].record
        (winner,) = [row.name for row in record.standings() if row.rank == 1]
        put_in_archive(record)
        for address in ("/", "/tournaments"):
            assert re.search(f"won by .*{winner}", await here.read(address))
        assert here.host.boards.made == 0


async def test_a_curve_is_not_said_to_be_surer_than_it_is(autojump_clock: MockClock) -> None:
    """Unlike strengths, whose intervals are tested: `docs/standings.md` has the figures of both."""
    async with gallery() as here:
        await played(here, "ann", "bob", "cas")
        (said,) = re.findall(r"<p[^>]*>(Elo, match by match[^<]*)</p>", await here.read("/bots/ann"))
    assert "95 times in 100" not in said
    assert "68 to 99 times in 100" in said


async def test_every_page_has_a_title_a_description_and_a_strict_policy(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob", "cas")
        for address in ADDRESSES:
            answer = await here.ask(address)
            page, policy = answer.body.decode(), answer.headers["content-security-policy"]
            assert answer.status == 200, address
            assert HEADERS.items() <= answer.headers.items(), address
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert re.search(r"<title>[^<]+</title>", page), address
            for name in ("og:title", "og:description", "og:url", "og:image"):
                assert re.search(rf'<meta property="{name}" content="[^"]+">', page), (address, name)
            assert 'rel="icon"' in page
            assert "default-src 'self'" in policy
            assert "unsafe" not in policy
            framed = address.startswith("/embed/")
            assert policy.endswith("frame-ancestors *" if framed else "frame-ancestors 'none'")


async def test_the_preview_of_a_link_to_a_position_is_of_that_position(autojump_clock: MockClock) -> None:
    """Elsewhere, people see the preview of a link before they follow it, or instead."""
    async with gallery() as here:
        await played(here, "ann", "bob")
        for query in ("", "?ply=3"):
            page = await here.read(f"/matches/cup-1{query}")
            for name, at in (("url", "/matches/cup-1"), ("image", "/matches/cup-1/board.svg")):
                said = re.search(f'property="og:{name}" content="http://[^/]+([^"]*)"', page)
                assert said is not None
                assert said[1] == at + query


async def test_no_page_has_a_script_or_style_of_its_own(autojump_clock: MockClock) -> None:
    """The policy would forbid it, silently: the page would be broken."""
    async with gallery() as here:
        await played(here, "ann", "bob", "cas")
        for address in ADDRESSES:
            page = await here.read(address)
            assert not re.search(r"<script(?![^>]* src=)", page), address
            assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page), address
            for source in re.findall(r'(?:src|href)="([^"]*)"', page):
                assert source.startswith(("/", "?", "#")), (address, source)


async def test_everything_that_a_page_links_to_is_there(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob", "cas")
        links: set[str] = set()
        for address in ADDRESSES:
            page = await here.read(address)
            base = address.partition("?")[0]
            links |= {
                base + link if link[0] == "?" else link
                for link in re.findall(r'(?:src|href)="([^"]*)"', page)
            }
        for link in sorted(link.partition("#")[0].replace("&amp;", "&") for link in links if link[0] != "#"):
            answer = await here.ask(link)
            assert answer.status == 200, link


@pytest.mark.parametrize("over", [False, True], ids=["they play", "they have left before both had moved"])
async def test_nothing_links_to_a_bot_of_whom_nothing_is_known(over: bool, autojump_clock: MockClock) -> None:
    """Everybody is in a first match, which may count for nothing; Bob has a page in the end."""
    table, names = f"open-{GAME}", ("bob", "cas", "dan", "eve")
    async with gallery() as here:
        visits = [await here.host.arrive(name, GAME) for name in names]
        for visit in visits:
            here.nursery.start_soon(play, visit.player, silent)
        await trio.sleep(1.0)
        addresses = ["/", f"/wall/{table}", f"/tournaments/{table}", f"/tournaments/{table}/schedule"]
        addresses += (f"/matches/{match}" for match in here.host.tournaments[table].matches)
        if over:
            for visit in visits:
                visit.leave(for_good=True)
            await trio.sleep(1.0)
            await played(here, "bob", "zoe")
            addresses.append("/bots/bob")
        pages = [await here.read(address) for address in addresses]
        assert sum(len(re.findall("(cas|dan|eve)</span>", page)) for page in pages) >= len(names)
        for link in {link for page in pages for link in re.findall(r'href="(/bots/[^"]*)"', page)}:
            assert (await here.ask(link)).status == 200, link


async def test_the_standings_and_the_last_positions_can_be_read_without_a_script(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await here.hold(entrants=3)
        await here.come("ann", "bob", "cas")
        await trio.sleep(9.5)
        home, cup = await here.read("/"), await here.read("/tournaments/cup")
        matches = here.host.tournaments["cup"].matches
        (name,) = matches
        live = await here.read(f"/matches/{name}")
        board = catalogue()[GAME].draw(
            matches[name].position, catalogue()[GAME].read(matches[name].moves[-1], None)
        )
    for page in (home, cup, live):
        assert board in page
    assert ">running</span>" in cup
    assert re.search(r"1 of 3 matches is over, 1 in play", cup)
    for name in ("ann", "bob", "cas"):
        assert f'<a href="/bots/{name}" dir="auto">{name}</a>' in cup


@pytest.mark.parametrize(
    ("format", "said"), [("swiss", True), ("knockout", True), ("decide", True), ("round-robin", False)]
)
async def test_pages_say_which_rounds_the_matches_are_of_that_they_count_unless_all_are_drawn(
    format: str, said: bool, autojump_clock: MockClock
) -> None:
    """Catches a first round of which pages speak as if it was the whole tournament."""
    async with gallery() as here:
        await here.hold(entrants=4, format=format)
        await here.come("ann", "bob", "cas", "dan", behave=silent)
        await trio.sleep(9.5)
        pages = [await here.read(address) for address in ("/tournaments/cup", "/wall/cup", "/")]
    if format == "decide":
        pages.pop()  # the first page says it with the time to go, which nobody knows there
    for page in pages:
        assert (re.search("[1-9] rounds? (of [2-9] )?drawn", page) is not None) is said, page


async def test_a_ply_has_an_address_and_that_board(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob")
        moves = (await here.host.tournaments["cup"].concluded("cup-1")).moves
        position, game = catalogue()[GAME].start(), catalogue()[GAME]
        for ply, written in enumerate(moves, 1):
            move = game.read(written, position)
            position = position.play(move)
            page = await here.read(f"/matches/cup-1?ply={ply}")
            assert game.draw(position, move) in page
            assert f"move {ply} of {len(moves)}: {game.short(move)}" in page
            picture = await here.read(f"/matches/cup-1/board.svg?ply={ply}")
            assert picture.startswith("<svg ")
        beyond = await here.read("/matches/cup-1?ply=999")
    assert f"move {len(moves)} of {len(moves)}" in beyond


async def test_the_page_of_a_game_tells_this_hosts_own_limits(autojump_clock: MockClock) -> None:
    for refusals, told in ((7, "the last of 7 in a match loses it"), (1, "An illegal move loses the match")):
        async with gallery(Limits(refusals=refusals, hello_seconds=12.5)) as here:
            page = await here.read("/games/connect-4")
        text = " ".join(unescape(re.sub("<[^>]*>", " ", page)).split())
        assert told in text
        assert "Paste the hello within 12.5 seconds" in text


async def test_the_page_of_the_house_protocol_has_the_addresses_of_this_host(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        request = b"GET /protocols/house HTTP/1.1\r\nHost: arena.example:9\r\n\r\n"
        page = (await here.server.connect().ask(request)).body.decode()
    for address in (
        "tcp://arena.example:7000",
        "ws://arena.example:7001/play",
        "http://arena.example:9/play",
    ):
        assert f"<code>{address}</code>" in page
    assert not re.search(r"\b80(00|01|80)\b", page)


@pytest.mark.parametrize("name", catalogue())
async def test_every_game_has_a_page_with_rules_and_a_match_to_type(
    name: str, autojump_clock: MockClock
) -> None:
    async with gallery() as here:
        request = f"GET /games/{name} HTTP/1.1\r\nHost: arena.example:9\r\n\r\n".encode()
        page = (await here.server.connect().ask(request)).body.decode()
    rules = catalogue()[name]
    assert f"<h1>{rules.title}</h1>" in page
    assert f"&#34;game&#34;:&#34;{name}&#34;" in page
    assert "nc arena.example 7000" in page
    opponent = f"quintain bot greedy --game {name} --tournament {OPEN}{name} --url tcp://arena.example:7000"
    assert opponent in page
    assert 'id="connect-title"' in page, "where pages of tournaments lead"
    typed = re.findall(r'<li class="typed"><b>(.*?)</b>', page)
    assert len(typed) > 1
    assert "<svg" in page
    text = " ".join(unescape(re.sub("<[^>]*>", "", page)).split())
    assert " ".join(re.sub("[`*]", "", rules.rules).split()) in text
    for dialect in dialects().values():
        able = dialect.games is None or name in dialect.games
        assert (f"{dialect.title} over " in text) == able, dialect.name


@pytest.mark.parametrize("name", catalogue())
async def test_whoever_types_the_match_on_the_page_of_a_game_enters_no_tournament(
    name: str, autojump_clock: MockClock
) -> None:
    """They entered one that took entrants, and so did the opponent; the page said that neither would."""
    async with gallery() as here:
        cup = await here.hold(game=name)
        typed = re.findall(r'<li class="typed"><b>(.*?)</b>', await here.read(f"/games/{name}"))
        hello = json.loads(unescape(typed[0]))
        visit = await here.host.arrive(hello["name"], hello["game"], tournament=hello.get("tournament"))
        assert visit.player.place == OPEN + name
        assert not cup.record.entrants


async def test_the_page_of_quoridor_shows_how_a_wall_is_written(autojump_clock: MockClock) -> None:
    """Whoever writes a bot from it alone has to know that a wall is another action than a step."""
    async with gallery() as here:
        page = unescape(await here.read("/games/quoridor"))
    assert '{"action":"move","position":"' in page
    assert re.search(r'<code>(\w+)</code></td><td><code>{"action":"putWall","position":"\1"}', page)


@pytest.mark.parametrize("name", catalogue())
def test_the_notation_has_a_move_of_every_length_that_moves_have(name: str) -> None:
    each = catalogue()[name]
    shown = {len(short) for short, _ in game.about(name)["moves"]}
    assert shown >= {len(each.short(move)) for move in each.start().moves()}


def test_html_and_scripts_in_the_rules_of_a_game_are_text() -> None:
    shown = game.html("<b>Nim</b> <script>go()</script> [take](javascript:go())")
    assert re.findall("<.*?>", shown) == ["<p>", "</p>"]


async def test_the_addresses_are_those_of_this_host(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        asked = await here.read("/")
        home, inner, odd = [
            (
                await here.server.connect().ask(
                    f"GET / HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\n\r\n".encode()
                )
            ).body.decode()
            for host in ("[::1]:7080", "my_host:7080", "a;b")
        ]
    assert "nc a 7000" in asked
    assert "nc ::1 7000" in home
    assert "ws://[::1]:7001/play" in home
    assert "http://[::1]:7080/play" in home
    assert "nc my_host 7000" in inner, "as containers and Windows name machines"
    assert "nc 127.0.0.1 7000" in odd


async def test_where_a_proxy_has_other_names_and_ports_bots_are_told_those(autojump_clock: MockClock) -> None:
    elsewhere = Addresses(tcp_url="tcp://bots.example.org:4000", websocket_url="wss://arena.example.org")
    async with gallery(addresses=elsewhere) as here:
        home, game = await here.read("/"), await here.read("/games/connect-4")
        protocol, assistants = await here.read("/protocols/house"), await here.read("/for-assistants.md")
    for page in (home, game, protocol):
        assert "nc bots.example.org 4000" in page
    for page in (game, protocol, assistants):
        assert "tcp://bots.example.org:4000" in page
    for page in (home, protocol, assistants):
        assert "wss://arena.example.org/play" in page
    assert '"bots.example.org", 4000' in assistants


async def test_a_host_that_bots_do_not_reach_over_tcp_tells_nobody_to_come_that_way(
    autojump_clock: MockClock,
) -> None:
    """Where pages speak of it all the same, they say on which machine it works."""
    nowhere = Addresses(tcp="127.0.0.1:7000", tcp_url=None, websocket_url="wss://arena.example.org")
    async with gallery(addresses=nowhere) as here:
        home, game = await here.read("/"), await here.read("/games/connect-4")
        house, memo = await here.read("/protocols/house"), await here.read("/protocols/santorini")
        arena, assistants = await here.read("/protocols/arena"), await here.read("/for-assistants.md")
    for page in (home, game):
        assert "nc " not in page
        assert "tcp://" not in page
        assert "wss://arena.example.org/play" in page
    assert "--url wss://arena.example.org</pre>" in game
    for page in (house, memo, assistants):
        assert "127.0.0.1" in page
        assert page.count(NOT_OVER_TCP) == 1
    assert NOT_OVER_TCP not in arena


@pytest.mark.parametrize("proto", ["https", "HTTPS", "https, http", "https,https"])
async def test_behind_a_proxy_that_speaks_tls_the_addresses_do_so_too(
    proto: str, autojump_clock: MockClock
) -> None:
    """But for that of the websocket port: the proxy has another name for that, or none.

    Of several proxies, the first is the one with which the browser speaks.
    """
    async with gallery() as here:
        page = await here.read("/", f"X-Forwarded-Proto: {proto}")
        other = await here.read("/", f"X-Forwarded-Proto: http, {proto}")
    assert "curl https://a/play" in page
    assert "curl http://a/play" in other
    assert "ws://a:7001/play" in page


async def test_whoever_reads_gets_pages_and_bots_get_what_they_always_got(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        made = await here.server.connect().ask(
            b'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 19\r\n\r\n{"rows":3,"cols":3}', "POST"
        )
        listed = await here.ask("/games")
        wrong = await here.server.connect().ask(b"POST /tournaments/cup HTTP/1.1\r\nHost: a\r\n\r\n", "POST")
    assert made.status == 201
    assert listed.headers["content-type"].startswith("application/json")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, HEAD")


async def test_what_is_not_there_is_a_page_for_browsers(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        for path in (
            "/tournaments/none",
            "/matches/none-1",
            "/matches/x",
            "/bots/zoe",
            "/games/chess",
            "/games/chess/play",
            "/protocols/x",
        ):
            page = await here.read(path, status=404)
            assert "<h1>Nothing here</h1>" in page
        browser, program = await here.ask("/elsewhere"), await here.ask("/elsewhere", "Accept: */*")
    assert (browser.status, browser.headers["content-type"][:9]) == (404, "text/html")
    assert (program.status, program.headers["content-type"][:16]) == (404, "application/json")


async def test_where_bots_look_for_games_of_hexagon_dots_browsers_find_all_games(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        for path in ("/games", "/games/"):
            page = await here.read(
                path, "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
            )
            assert all(f'href="/games/{name}"' in page for name in catalogue())
            in_java = "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"
            for program in (in_java, "Accept: */*", "Accept: application/json", "Accept:"):
                listed = await here.ask(path, program)
                assert (listed.status, listed.body) == (200, b'{"games":[]}')


async def test_a_page_may_be_asked_for_with_a_slash_at_the_end(autojump_clock: MockClock) -> None:
    """As people write addresses, and as the API and the old paths take them."""
    async with gallery() as here:
        await played(here, "ann", "bob")
        for path in ("/tournaments", "/tournaments/cup", "/matches/cup-1", "/bots/ann", "/wall/cup"):
            title = re.compile("<title>[^<]+</title>")
            assert title.findall(await here.read(f"{path}/")) == title.findall(await here.read(path))


async def test_head_is_get_without_a_body(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        client = here.server.connect()
        for address in ("/", "/favicon.ico", "/protocols/house", "/nowhere"):
            asked = get(address, "Accept: text/html", method="HEAD")
            whole, head = await here.ask(address), await client.ask(asked, "HEAD")
            assert (head.status, head.headers) == (whole.status, whole.headers), address
            assert int(head.headers["content-length"]) == len(whole.body) > 0, address
            assert await client.now() == b"", address
        live, stream = (
            await client.ask(get("/live?page=/", method="HEAD"), "HEAD"),
            await here.watch("page=/"),
        )
        head, _, body = (await stream.client.now()).partition(b"\r\n\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:])
        assert (live.status, live.headers, await client.now()) == (200, fields, b"")
        assert body


BROWSERS = (
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept: text/html, text/plain, text/sgml, text/css, */*;q=0.01",
    "Accept: TEXT/HTML",
)
PROGRAMS = (
    "Accept: */*",  # curl, Python's requests, and Ruby
    "Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3\r\nAccept: */*\r\nUser-Agent: Ruby",
    "Accept: application/json",
    "User-Agent: of a program that says nothing else",
)


@pytest.mark.parametrize("headers", [*BROWSERS, *PROGRAMS])
async def test_the_root_is_a_page_for_browsers_and_the_list_of_games_for_programs(
    headers: str, autojump_clock: MockClock
) -> None:
    async with gallery() as here:
        client = here.server.connect()
        asked = headers.split("\r\n")
        answer = await client.ask(get("/", *asked))
        head = await client.ask(get("/", *asked, method="HEAD"), "HEAD")
    kind = answer.headers["content-type"]
    assert (answer.status, head.status, head.headers) == (200, 200, answer.headers)
    if headers in BROWSERS:
        assert kind == "text/html; charset=utf-8"
        assert b"<title>" in answer.body
    else:
        assert kind == "application/json; charset=utf-8"
        assert answer.body == b"[]"


async def test_where_no_door_is_at_the_root_it_is_a_page_for_everybody(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        app = routed((), here.pages)
        async with serving(app) as server:
            answer = await server.connect().ask(get("/", "Accept: */*"))
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


async def test_files_are_kept_for_good_under_an_address_that_changes_with_them(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        page = await here.read("/")
        (sheet,) = re.findall(r'href="(/static/[0-9a-f]+/quintain\.css)"', page)
        first = await here.ask(sheet)
        again = await here.ask(sheet, f"If-None-Match: {first.headers['etag']}")
        old = await here.ask("/static/0123456789ab/quintain.css")
        missing = await here.ask("/static/0123456789ab/nothing.css")
    assert first.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    assert (again.status, again.body) == (304, b"")
    assert (old.status, old.headers["cache-control"]) == (200, "public, max-age=3600")
    assert missing.status == 404


@pytest.mark.parametrize("path", ["/favicon.ico", "/robots.txt"])
async def test_a_file_that_has_no_version_in_its_address_is_not_sent_again_to_whoever_has_it(
    autojump_clock: MockClock, path: str
) -> None:
    async with gallery() as here:
        first = await here.ask(path)
        again = [await here.ask(path, f"If-None-Match: {tag}") for tag in (first.headers["etag"], "*")]
        other = await here.ask(path, 'If-None-Match: "another"')
    assert [(answer.status, answer.body) for answer in again] == [(304, b"")] * 2
    assert (first.status, other.status) == (200, 200)


async def test_a_name_or_a_reason_is_text_wherever_it_stands(autojump_clock: MockClock) -> None:
    evil = "<img src=x onerror=alert(1)>\"'&{{7*7}}"
    async with gallery() as here:
        tournament = await here.hold(format="gauntlet")
        record = tournament.record
        facts = spoilt(evil)
        await here.host.store.keep("cup", 0.0, facts)
        for fact in facts:
            record.add(fact)
        for address in (
            "/",
            "/tournaments/cup",
            "/tournaments/cup/schedule",
            "/matches/cup-1",
            "/embed/matches/cup-1",
        ):
            page = await here.read(address)
            assert "<img src=x" not in page, address
            assert "{{7*7}}" in page or address == "/", address
        for name in record.entrants:
            page = await here.read(formatting.bot_address(name))
            assert "<img src=x" not in page
            assert "&lt;img src=x onerror=alert(1)&gt;" in page or name != evil


def spoilt(name: str) -> tuple[AnyFact, ...]:
    """A match of somebody with that name, which is also why it ended."""
    return (
        Entered(name),
        Entered("a/b"),
        Entered(".."),
        Turned(State.RUNNING),
        Drew((Pairing(1, 1, name, "a/b"),)),
        Concluded("cup-1", 1, (name, "a/b"), 1, Ending.ILLEGAL, f"{name}: {name}", (0.0, 1.0), (), ()),
    )


@pytest.mark.parametrize("name", ["ann", "a/b", "..", ".", "ü b", "%41", "a?b#c", "a\\b", "&amp;"])
async def test_every_bot_has_a_page_whatever_it_is_called(name: str, autojump_clock: MockClock) -> None:
    async with gallery() as here:
        record = (await here.hold()).record
        record.add(Entered(name))
        address = formatting.bot_address(name)
        page = await here.read(address)
        escaped = await here.read(f"/bots/{quote(name, safe='')}") if name not in (".", "..") else page
    assert "<h1>" in page
    for each in (page, escaped):  # the preview of a link to it leads to nobody else's page
        assert re.findall(r'"og:url" content="http://[^/]+(.*)">', each) == [address]


async def test_an_open_table_says_that_nobody_came_yet_only_while_nobody_did(
    autojump_clock: MockClock,
) -> None:
    """Catches "nobody yet" beside matches that were played, and "nobody has entered" over two that play."""
    async with gallery() as here:
        assert (await here.read("/")).count("<em>nobody yet</em>") == len(catalogue())
        visits = [await here.host.arrive(name, GAME) for name in ("ann", "bob")]
        for visit in visits:
            here.nursery.start_soon(play, visit.player, silent)
        await trio.sleep(1.0)
        table = await here.read(f"/tournaments/open-{GAME}")
        assert table.count('<article class="card') == 1
        assert "Nobody has entered" not in table
        assert "No match that counts is over yet." in table
        await trio.sleep(20.0)
        for visit in visits:
            visit.leave()
        await trio.sleep(20.0)
        home = await here.read("/")
    assert home.count("<em>nobody now</em>") == 1
    assert home.count("<em>nobody yet</em>") == len(catalogue()) - 1


@pytest.mark.parametrize("address", ["/", "/matches/cup-1"])
async def test_whoever_is_taken_out_in_the_middle_of_a_match_was_there(
    address: str, autojump_clock: MockClock
) -> None:
    """Catches "bob was not there" over a match in which bob was playing."""
    async with gallery() as here:
        tournament = await here.hold(entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(2.5)
        assert 2 <= tournament.matches["cup-1"].ply < 5, "both have moved, and it is not over"
        await Desk(tournament).disqualify("bob", "two bots in one")
        await wait_all_tasks_blocked()
        page = await here.read(address)
    assert "ann wins: bob was taken out" in page
    assert "was not there" not in page


async def test_a_voided_match_says_so_and_what_it_was_before(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob")
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        page = await here.read("/matches/cup-1")
    assert "Void: counts for nothing" in page
    assert "ann has three in a row" in page


@pytest.mark.parametrize("open_before", [True, False])
async def test_a_voided_match_is_no_victory_among_what_has_just_ended(
    autojump_clock: MockClock, open_before: bool
) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob")
        if open_before:
            assert "ann wins" in await here.read("/")
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        page = await here.read("/")
    assert '<a href="/matches/cup-1">Void: counts for nothing</a>' in page
    assert "ann wins" not in page


@pytest.mark.parametrize("address", ["/", "/tournaments/cup", "/wall", "/wall/cup"])
async def test_a_board_that_is_still_shown_gives_no_points_once_its_match_is_void(
    autojump_clock: MockClock, address: str
) -> None:
    """Where nothing else is played, the board stays beside those that are."""
    async with gallery() as here:
        desk = Desk(await here.hold(entrants=2))
        await here.come("ann", "bob")
        await trio.sleep(0.5)
        await desk.pause()
        watcher = await here.watch(f"page={address}")
        await trio.sleep(60.0)
        await watcher.look()
        assert '<b class="score">1</b>' in watcher.parts["place-0"]
        await desk.void("cup-1", "a cable")
        await trio.sleep(1.0)
        await watcher.look()
        page = await here.read(address)
    for card in (watcher.parts["place-0"], page):
        assert "score" not in card
        assert "<span>void</span>" in card


async def test_a_bot_is_not_said_to_be_graded_where_nothing_is(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob")
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        first = await here.read("/bots/ann")
        await trio.sleep(1.0)
        assert "being graded" not in await here.read("/bots/ann"), first


@pytest.mark.parametrize("practises", [True, False])
async def test_the_page_of_a_bot_says_why_the_matches_that_it_lists_are_not_in_its_record(
    practises: bool, autojump_clock: MockClock
) -> None:
    """It said "0 matches" above one."""
    async with gallery() as here:
        if practises:
            visit = await here.host.arrive("ann", GAME, against="random", practises=True)
            here.nursery.start_soon(play, visit.player, first)
            await trio.sleep(50.0)
        else:
            await played(here, "ann", "bob")
        page = await here.read("/bots/ann")
    assert practises is ("No match that counts is over yet." in page)
    assert practises is ("counts for nobody" in page)
    assert "0 matches" not in page


async def test_a_bot_without_moves_is_not_said_to_be_graded(autojump_clock: MockClock) -> None:
    """Not even while the moves of others are."""
    async with gallery() as here:
        tournament = await here.hold(entrants=3)
        here.nursery.start_soon(play, (await here.host.arrive("cyd", GAME)).player, silent)
        await here.come("ann", "bob")
        await trio.sleep(300.0)
        assert tournament.record.state is State.FINISHED
        pages = {name: await here.read(f"/bots/{name}") for name in ("cyd", "ann")}
        assert ["being graded" in page for page in pages.values()] == [False, True]


async def test_an_ending_is_told_in_words_about_the_players(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.hold(entrants=2)
        await here.come("ann")
        await here.come("bob", behave=silent)
        await trio.sleep(300.0)
        page = await here.read("/matches/cup-1")
    assert "ann wins on time: bob ran out of it" in page


def test_a_figure_that_a_bot_noted_has_all_its_digits() -> None:
    assert match.noted({"tokens": 1234567, "score": -0.25}) == "tokens 1,234,567, score -0.25"


@pytest.mark.parametrize("name", [GAME, "quoridor"])
async def test_nothing_is_said_of_how_well_a_match_without_moves_was_played(
    autojump_clock: MockClock, name: str
) -> None:
    async with gallery() as here:
        await here.hold(entrants=2, game=name)
        await here.come("ann", "bob", game=name, behave=silent)
        await trio.sleep(300.0)
        page = await here.read("/matches/cup-1")
        printed = listed(json.loads(await here.read("/api/matches/cup-1")))
    assert "on time" in page
    assert "Against perfect play" not in page + printed
    assert not re.search("an estimate|estimate of how well", page + printed, re.IGNORECASE)


async def test_a_replay_is_given_in_pieces_that_have_every_position(autojump_clock: MockClock) -> None:
    """Catches an answer that is larger than what is kept for a slow reader, and a frame too few."""
    async with gallery() as here:
        await here.hold(entrants=2, game="hexagon-dots", options={"rows": 9, "cols": 9})
        await here.come("ann", "bob", game="hexagon-dots")
        await trio.sleep(2000.0)
        plies = here.host.tournaments["cup"].record.matches["cup-1"].plies
        boards: list[str] = []
        answers = 0
        while len(boards) <= plies:
            answer = await here.ask(f"/matches/cup-1/frames?from={len(boards)}")
            assert len(answer.body) < 1 << 20
            told = re.findall(r'"ply":(\d+),"board":"((?:[^"\\]|\\.)*)"', answer.body.decode())
            assert [int(ply) for ply, _ in told] == list(range(len(boards), len(boards) + len(told)))
            boards += [board for _, board in told]
            answers += 1
    assert len(boards) == plies + 1
    assert len(set(boards)) == len(boards)
    assert answers > 1


async def test_one_answer_has_as_many_positions_of_a_replay_as_are_drawn_in_a_moment(
    autojump_clock: MockClock,
) -> None:
    """Catches pictures of which all are drawn for one answer, because it has only links to them."""
    async with gallery() as here:
        await here.hold(entrants=2, game="hexagon-dots", options={"rows": 31, "cols": 31})
        await here.come("ann", "bob", game="hexagon-dots")
        await trio.sleep(30.5)
        told = json.loads(await here.read("/matches/cup-1/frames"))
        drawn = [
            len(await here.read(f"/matches/cup-1/board.svg?ply={each['ply']}")) for each in told["frames"]
        ]
    assert all(each["board"].startswith("<img") for each in told["frames"])
    assert 1 < len(drawn) < told["plies"]
    assert sum(drawn[:-1]) < 2 * FRAMES


async def test_a_board_of_thousands_of_elements_is_one_picture_on_a_page(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.hold(entrants=2, game="hexagon-dots", options={"rows": 31, "cols": 31})
        await here.come("ann", "bob", game="hexagon-dots")
        await trio.sleep(10.5)
        page = await here.read("/matches/cup-1")
        home = await here.read("/")
        picture = await here.read("/matches/cup-1/board.svg?ply=4")
        early = await here.read("/matches/cup-1?ply=1")
    assert '<img src="/matches/cup-1/board.svg?ply=10" alt="Hexagon Dots, after 10 moves">' in page
    assert 'alt="Hexagon Dots, after 1 move">' in early
    assert len(TAG.findall(page)) < 200
    assert len(TAG.findall(home)) < 300
    assert "prefers-color-scheme:dark" in picture


async def test_a_page_of_a_large_tournament_stays_within_two_thousand_elements(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await here.hold(entrants=60, game="connect-4", format="double-round-robin")
        await here.come(*(f"bot{number:02}" for number in range(60)), game="connect-4")
        await trio.sleep(200.0)
        sizes = {
            path: len(TAG.findall(await here.read(path))) for path in ("/", "/tournaments/cup", "/bots/bot07")
        }
        whole = await here.read("/tournaments/cup/standings")
        schedule = await here.read("/tournaments/cup/schedule?page=7")
    assert max(sizes.values()) <= 2000, sizes
    assert whole.count("<tr") == 61
    assert schedule.count("<tr") == 101


@pytest.mark.parametrize("name", protocols.SOURCES)
async def test_the_pages_on_protocols_are_there_offline(name: str, autojump_clock: MockClock) -> None:
    async with gallery() as here:
        page = await here.read(f"/protocols/{name}")
        for link in re.findall(r'href="(/protocols/[^"#]+)', page):
            assert (await here.ask(link)).status == 200, link
    assert f">{protocols.title(name)}</h1>" in page.replace("&quot;", '"')
    assert 'href=""' not in page


@pytest.mark.parametrize("name", protocols.SOURCES)
def test_a_link_into_a_page_on_a_protocol_leads_to_a_heading_of_it(name: str) -> None:
    for there, anchor in re.findall(r'href="(?:/protocols/([^"#]+))?#([^"]+)"', protocols.shown(name)):
        assert re.search(rf'<h\d id="{re.escape(anchor)}">', protocols.shown(there or name)), anchor


@pytest.mark.parametrize(
    ("put", "expected"),
    [
        (lambda: formatting.explained("the board is full", ["ann", "bob"]), "The board is full."),
        (
            lambda: formatting.explained("ann stands on the third floor", ["ann", "bob"]),
            "ann stands on the third floor.",
        ),
        (lambda: formatting.points(3.5), "3½"),
        (lambda: formatting.points(0.5), "½"),
        (lambda: formatting.points(0), "0"),
        (lambda: formatting.points(-0.5), "−½"),
        (lambda: formatting.points(-1.5), "−1½"),
        (lambda: formatting.points(1714.5), "1,714½"),
        (lambda: formatting.count(2000), "2,000"),
        (lambda: formatting.points(-2), "−2"),
        (lambda: formatting.tie_break(2.5), "2½"),
        (lambda: formatting.tie_break(2.25), "2.25"),
        (lambda: formatting.tie_break(4 + 2 * 0.01), "4.02"),
        (lambda: formatting.tie_break(4 + 0.01), "4.01"),
        (lambda: formatting.tie_break(1_000_000.25), "1,000,000.25"),
        (
            lambda: formatting.pace(Pace(bank=30 * DAY, gain=0.5)),
            "2,592,000 s for the match, 0.5 s more after each move",
        ),
        (lambda: formatting.pace(Pace(turn=366 * DAY)), "31,622,400 s a move"),
        (lambda: formatting.seconds(0.0123), "12 ms"),
        (lambda: formatting.seconds(0.0004), "< 1 ms"),
        (lambda: formatting.seconds(1.2345), "1.23 s"),
        (lambda: formatting.clock(None), "∞"),
        (lambda: formatting.clock(61.9), "1:01"),
        (lambda: formatting.clock(19.94), "19.9"),
        (lambda: formatting.duration(59.2), "60 s"),
        (lambda: formatting.duration(90), "2 min"),
        (lambda: formatting.duration(2 * 3600), "2 h"),
        (lambda: formatting.duration(1.5 * 86400), "1.5 days"),
        (lambda: formatting.duration(86400), "1 day"),
        (lambda: formatting.over(0, 1), "0 of 1 match is over"),
        (lambda: formatting.over(1, 3), "1 of 3 matches is over"),
        (lambda: formatting.over(0, 1200), "0 of 1,200 matches are over"),
        (lambda: formatting.sentence("there is no match 'x'"), "There is no match 'x'."),
        (lambda: formatting.stopped("The cable broke."), "The cable broke."),
        (lambda: formatting.stopped('not "this is no …'), 'not "this is no …'),
        (lambda: formatting.signed(-12.6), "−13"),
        (lambda: formatting.signed(1.2), "+1"),
        (lambda: formatting.percent(0.004), "< 1 %"),
        (lambda: formatting.percent(1.0), "100 %"),
        (lambda: formatting.chance(0.305), "30 %"),
        (lambda: formatting.chance(1.0), "> 99 %"),
        (lambda: formatting.headline(("ann", "bob"), None, Ending.LEFT), "Both have lost"),
        (lambda: formatting.headline(("ann", "bob"), 0, Ending.RESIGNED), "ann wins: bob resigned"),
        (lambda: formatting.headline(("ann", "bob"), 0, Ending.LEFT), "ann wins: bob was not there"),
        (
            lambda: formatting.headline(("ann", "bob"), 0, Ending.LEFT, shut_out("bob")),
            "ann wins: bob was taken out",
        ),
        (
            lambda: formatting.headline(
                ("ann", "bob"), 0, Ending.LEFT, stayed_away("bob", been=True, sated=True)
            ),
            "ann wins: bob wanted no more matches",
        ),
        (lambda: formatting.reason("X is here", Ending.PLAYED, ("ann", "bob"), ("O", "X")), "bob is here"),
        (lambda: formatting.reason("X is here", Ending.ILLEGAL, ("ann", "bob"), ("O", "X")), "X is here"),
    ],
)
def test_figures_and_endings_are_put_as_people_do(put: Callable[[], str], expected: str) -> None:
    assert put() == expected


async def test_a_match_that_is_long_over_is_fetched_and_shown_whole(autojump_clock: MockClock) -> None:
    """Of those, a record does not even have what led to their ends: all that is in the store."""
    async with gallery() as here:
        await played(here, "ann", "bob")
        matches = here.host.tournaments["cup"].record.matches
        whole = matches["cup-1"]
        matches["cup-1"] = Abridged(
            *(getattr(whole, field) for field in Concluded.__struct_fields__[:7]), length=whole.plies
        )
        page, bot = await here.read("/matches/cup-1?ply=2"), await here.read("/bots/ann")
        frames = await here.read("/matches/cup-1/frames")
    assert f"move 2 of {whole.plies}" in page
    assert page.count("<li value=") == whole.plies
    assert frames.count('"board"') == whole.plies + 1
    assert f'<td class="figure">{whole.plies}</td>' in bot


async def test_one_story_may_be_told_to_several_at_once(autojump_clock: MockClock) -> None:
    """Catches moves that are there twice when two ask for a long match that nobody had asked for."""
    async with gallery() as here:
        await here.hold(entrants=2, game="hexagon-dots", options={"rows": 15, "cols": 15})
        await here.come("ann", "bob", game="hexagon-dots")
        await trio.sleep(3000.0)
        cup = here.host.tournaments["cup"]
        over = await cup.concluded("cup-1")
        story = Story(cup.record, over, here.host.guard.report)
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(match.completed, story)
    assert [ply.number for ply in story.plies] == list(range(1, over.plies + 1))
    assert story.positions[-1].outcome is not None


@pytest.mark.parametrize("rest", [ALONE, REST])
async def test_what_takes_long_is_done_one_after_the_other_with_rest_between(
    rest: float, autojump_clock: MockClock
) -> None:
    worked: list[tuple[float, float]] = []

    async def run(work: Callable[[], float]) -> None:
        begun = trio.current_time()
        await trio.sleep(work())
        worked.append((begun, trio.current_time()))

    turns = FairShare(run, rest)
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(turns.aside, lambda: lambda: 0.1)
    assert worked[0] == pytest.approx((0.0, 0.1))
    for (_, ended), (begun, _) in pairwise(worked):
        assert begun - ended == pytest.approx(0.1 * rest)


async def test_while_the_journal_cannot_be_read_whoever_asks_for_it_is_told_to_come_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a failing disk that is taken for a fault of ours: the gallery ends with none caught."""

    async def away(tournament: str, match: str | int) -> NoReturn:
        raise Unavailable("quintain.sqlite: the disk fails")

    async with gallery() as here:
        await played(here, "ann", "bob")
        path, export = "/matches/cup-1", "/api/tournaments/cup/export"
        store = here.host.store
        answers, store.concluded, store.entries = (store.concluded, store.entries), away, away
        for address in (path, f"/embed{path}", f"{path}/frames", f"/api{path}", export):
            told = await here.ask(address)
            assert (told.status, told.headers["retry-after"]) == (503, "1")
            assert "cannot read its journal just now" in told.body.decode()
            assert "the disk" not in told.body.decode()
            assert told.body.startswith(b"<!doctype html") == (not address.startswith("/api"))
        store.concluded, store.entries = answers
        assert [(await here.ask(address)).status for address in (path, export)] == [200, 200]


@pytest.mark.parametrize("path", ["/matches/cup-1", "/embed/matches/cup-1", "/matches/cup-1/frames"])
async def test_a_match_whose_tournament_is_deleted_while_it_is_read_is_no_more(
    autojump_clock: MockClock, path: str
) -> None:
    """Catches a fault of ours where there is none: the gallery ends with none caught."""
    async with gallery() as here:
        await played(here, "ann", "bob")
        answer = here.host.store.concluded

        async def slow(tournament: str, match: str) -> Concluded:
            await here.host.delete(here.host.tournaments["cup"], "the organiser")
            return await answer(tournament, match)

        here.host.store.concluded = slow
        assert (await here.ask(path)).status == 404


async def test_every_column_of_the_standings_is_explained_below_them(autojump_clock: MockClock) -> None:
    """Not only where a pointer rests: a finger, a keyboard and paper have none."""
    async with gallery() as here:
        await played(here, "ann", "bob")
        page = await here.read("/tournaments/cup")
    table, _, below = page.partition('<table class="standings">')[2].partition("</table>")
    text = re.sub("<[^>]+>", "", unescape(below))
    titles = re.findall(r'<th scope="col" class="figure[^"]*" title="([^"]*)">([^<]+)</th>', table)
    assert len(titles) >= 5
    for _, title in titles:
        assert f"{title}: " in text or f"{title} is " in text, title


async def test_the_graph_of_a_match_says_what_it_shows(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await played(here, "ann", "bob")
        page = await here.read("/matches/cup-1")
    assert "The time spent on each move, and below it what was left on the clocks." in page


@pytest.mark.parametrize("part", ["draw", "show", "short", "evaluate"])
def test_a_game_that_fails_leaves_its_page_with_its_rules(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a page that is only a status of 500, of a game that may be played all the same."""

    def fail(*_: object) -> NoReturn:
        raise KeyError("?")

    odd = structs.replace(catalogue()[GAME], name="odd", title="Odd", **{part: fail})
    monkeypatch.setattr(game, "catalogue", lambda: {"odd": odd})
    game.about.cache_clear()
    with capture_logs() as logs:
        seen = game.about("odd")
    game.about.cache_clear()
    assert "<p>" in seen["rules"]
    assert {log["game"] for log in logs} == {"odd"}
    if part in ("draw", "evaluate"):
        assert seen["board"] == "<span>Odd fails to draw this board</span>"
    if part == "draw":
        assert seen["moves"]
        assert seen["example"]


async def test_the_page_of_a_game_that_fails_says_so_where_something_is_missing(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Catches a page that tells people to paste a hello, and shows none."""

    def fail(*_: object) -> NoReturn:
        raise KeyError("?")

    odd = structs.replace(catalogue()[GAME], title="Odd", draw=fail, show=fail, short=fail)
    monkeypatch.setattr(game, "catalogue", lambda: {GAME: odd})
    game.about.cache_clear()
    async with gallery() as here:
        with capture_logs():
            page = await here.read(f"/games/{GAME}")
    game.about.cache_clear()
    assert re.findall("Odd fails to [^<]*", page) == [
        "Odd fails to draw this board",
        "Odd fails to show its moves",
        "Odd fails to show an example",
    ]


def test_a_game_that_fails_leaves_the_file_for_assistants_to_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> NoReturn:
        raise KeyError("?")

    other = structs.replace(catalogue()[GAME], name="other", title="Other")
    odd = structs.replace(other, name="odd", title="Odd", show=fail)
    monkeypatch.setattr(game, "catalogue", lambda: {"odd": odd, "other": other})
    with capture_logs() as logs:
        texts = [game.with_games("before\n## Trying it\nafter", ("odd", "other")) for _ in range(2)]
    assert texts[0] == texts[1]
    assert "### Odd: `odd`\n\nThis game fails on this host.\n\n### Other: `other`\n" in texts[0]
    assert [log["game"] for log in logs] == ["odd"], "it is told once, however often somebody asks"
