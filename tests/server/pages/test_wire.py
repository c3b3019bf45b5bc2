"""The wire log of a match: who may read it, on a page, as a text and by the API."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.boards import Run, Work
from server.host.wire_reader import NOT_KEPT, Unreadable
from server.http.wanted import LINGER
from server.net.limits import Limits, Rate
from server.protocols.api.wire_log import STATUS
from server.protocols.dialect import Channel
from server.protocols.house.talk import HouseTalk
from server.protocols.santorini_memo import Memo
from tests.server.pages.gallery import TOKEN, Gallery, gallery
from tests.server.transcripts import at_once
from tests.server.web import Answer, get

HERS, HIS = "ann's own, to be kept", "bob's own, to be kept"
MATCH = "open-santorini-1"
NASTY = '{"type":"move","move":"<b>\\u001b[2J</b>"}'


def ignore(*_: object) -> None:
    """Nobody listens."""


@asynccontextmanager
async def played(limits: Limits | None = None, run: Run = at_once) -> AsyncIterator[Gallery]:
    """Ann, who said something that is no move, and Bob at a table, where she has resigned."""
    async with gallery(limits, run) as here:
        bots = [HouseTalk(Channel(here.host, ignore, ignore, "192.0.2.1")) for _ in range(2)]
        for bot, name, token in zip(bots, ("ann", "bob"), (HERS, HIS), strict=True):
            hello = {"type": "hello", "name": name, "game": "santorini", "token": token}
            bot.hear(msgspec.json.encode(hello), trio.current_time())
            await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(2.5)
        for said in (
            NASTY,
            msgspec.json.encode({"type": "hello", "token": HERS}).decode(),
            '{"type":"resign"}',
        ):
            bots[0].attendance.tape.heard(said.encode(), trio.current_time())  # as a port does
            bots[0].hear(said.encode(), trio.current_time())
        await trio.sleep(1.0)
        yield here
        for bot in bots:
            bot.gone()


async def ask(here: Gallery, token: str | None, query: str = "", match: str = MATCH) -> Answer:
    headers = [] if token is None else [f"Authorization: Bearer {token}"]
    return await here.ask(f"/api/matches/{match}/wire{query}", *headers)


async def send(here: Gallery, token: str, match: str = MATCH, peer: str = "192.0.2.1", **more: str) -> Answer:
    body = urlencode({"token": token} | more).encode()
    request = get(f"/matches/{match}/wire", f"Content-Length: {len(body)}", method="POST") + body
    return await here.server.connect(peer=peer).ask(request, "POST")


def said(answer: Answer) -> Any:
    return msgspec.json.decode(answer.body)


async def test_a_bots_token_opens_its_own_side_and_the_organisers_both(autojump_clock: MockClock) -> None:
    async with played() as here:
        hers, his = await ask(here, HERS), await ask(here, HIS)
        assert (hers.status, his.status) == (200, 200)
        assert hers.headers["cache-control"] == "no-store"
        log = said(hers)
        assert (log["match"], log["seat"], log["name"], log["omitted"]) == (MATCH, 0, "ann", 0)
        assert {"at": 2.5, "from": "bot", "text": NASTY} in log["messages"]
        assert (said(his)["seat"], said(his)["name"]) == (1, "bob")
        assert not [each for each in said(his)["messages"] if each["from"] == "bot"]
        assert (await ask(here, HERS, "?seat=0")).body == hers.body
        assert (await ask(here, TOKEN, "?seat=0")).body == hers.body
        assert (await ask(here, TOKEN, "?seat=1")).body == his.body
        for token, query in ((HERS, "?seat=1"), (HIS, "?seat=0")):
            refused = await ask(here, token, query)
            assert refused.status == 403
            assert b"messages" not in refused.body


async def test_a_log_keeps_only_the_digests_of_the_tokens_that_open_it(autojump_clock: MockClock) -> None:
    async with played() as here:
        owners = {seat: tape.owner for seat, tape in here.host.wires.of(MATCH).items()}
        assert owners == {seat: sha256(token.encode()).digest() for seat, token in enumerate((HERS, HIS))}


async def test_without_a_token_or_with_a_wrong_one_nothing_is_shown(autojump_clock: MockClock) -> None:
    async with played() as here:
        await here.host.arrive("eve", "santorini", token="eve's own, and no other")
        for token, status in ((None, 401), ("", 401), ("wrong", 403), ("eve's own, and no other", 403)):
            answer = await ask(here, token)
            assert answer.status == status
            assert ("www-authenticate" in answer.headers) == (status == 401)
            assert [*said(answer)] == ["error"]
            page = await send(here, token or "")
            assert page.status == status
            assert b"<table" not in page.body
            assert page.headers["cache-control"] == "no-store"


def test_every_reason_why_a_log_cannot_be_read_has_a_status() -> None:
    assert set(STATUS) == set(Unreadable.__subclasses__())


async def test_wrong_tokens_are_counted_and_right_ones_are_not(autojump_clock: MockClock) -> None:
    async with played(Limits(wrong_tokens=Rate(3, 60.0))) as here:
        statuses = [(await ask(here, f"guess {n}")).status for n in range(4)]
        assert statuses == [403, 403, 403, 429]
        assert (await send(here, "guess")).status == 429
        assert (await ask(here, "guess 5")).headers["retry-after"] == "20"
        assert (await ask(here, HERS)).status == 200
        await trio.sleep(60.0)
        assert (await ask(here, "guess")).status == 403


async def test_what_is_no_longer_kept_or_never_was_is_reported_as_such(autojump_clock: MockClock) -> None:
    async with played() as here:
        assert (await ask(here, HERS, match="open-santorini-7")).status == 404
        assert (await send(here, HERS, "nowhere-1")).status == 404
        assert (await ask(here, HERS, "?seat=2")).status == 400
        here.host.wires.most = 0
        here.host.wires.make_room()
        gone = await ask(here, HERS)
        assert (gone.status, said(gone)) == (404, {"error": NOT_KEPT})
        assert (await send(here, HERS)).status == 404


async def test_the_organiser_may_read_everything_so_a_side_that_nobody_recorded_is_missing(
    autojump_clock: MockClock,
) -> None:
    """Catches an organiser who is told to bring another token for an opponent of the host's own."""
    async with gallery() as here:
        bot = HouseTalk(Channel(here.host, ignore, ignore, "192.0.2.1"))
        hello = {"type": "hello", "name": "ann", "game": "santorini", "token": HERS, "against": "random"}
        bot.hear(msgspec.json.encode(hello), trio.current_time())
        await trio.sleep(2.5)
        for token, status in ((TOKEN, 404), (HERS, 403)):
            answers = [await ask(here, token, f"?seat={seat}") for seat in (0, 1)]
            assert sorted(each.status for each in answers) == [200, status]
        bot.gone()


async def test_the_log_of_a_bot_without_a_token_is_the_organisers_alone(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        for name in (b"ann", b"bob"):
            memo = Memo(Channel(here.host, ignore, ignore, "192.0.2.1"))
            memo.hear(name, trio.current_time())
            await trio.testing.wait_all_tasks_blocked()
        assert (await ask(here, "")).status == 401
        assert (await ask(here, "None")).status == 403
        assert said(await ask(here, TOKEN, "?seat=1"))["name"] == "bob"


@pytest.mark.parametrize("form", ["page", "text"])
async def test_what_was_said_is_put_in_words_where_nobody_waits_for_it(
    form: str, autojump_clock: MockClock
) -> None:
    """Catches a bot whose author had all matches stand still: what it says may be made to take long."""
    begun, free = trio.Event(), trio.Event()

    async def run(work: Work) -> Any:
        begun.set()
        await free.wait()
        return work()

    async with played(run=run) as here, trio.open_nursery() as nursery:

        async def read() -> None:
            assert (await send(here, HERS, **{"as": form})).status == 200
            assert free.is_set()

        nursery.start_soon(read)
        await begun.wait()
        assert (await here.ask("/healthz")).status == 200
        assert (await send(here, "wrong")).status == 403
        free.set()


async def test_nobody_waits_for_what_was_said_to_clients_that_have_hung_up(autojump_clock: MockClock) -> None:
    worked = list[float]()

    async def run(work: Work) -> Any:
        worked.append(trio.current_time())
        await trio.sleep(1.0)
        return work()

    async with played(run=run) as here:
        body = urlencode({"token": HERS}).encode()
        request = get(f"/matches/{MATCH}/wire", f"Content-Length: {len(body)}", method="POST") + body
        for _ in range(50):
            client = here.server.connect()
            await client.end.send_all(request)
            await trio.testing.wait_all_tasks_blocked()
            await client.end.aclose()
        await trio.sleep(2 * LINGER)
        begun = trio.current_time()
        assert (await send(here, HERS)).status == 200
    assert len(worked) < 5
    assert begun <= worked[-1]


async def test_whoever_reads_what_was_said_waits_for_one_request_of_others_at_most(
    autojump_clock: MockClock,
) -> None:
    worked = list[float]()

    async def run(work: Work) -> Any:
        worked.append(trio.current_time())
        await trio.sleep(1.0)
        return work()

    async with played(run=run) as here, trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(send, here, HERS)
        await trio.testing.wait_all_tasks_blocked()
        assert (await send(here, HIS, peer="198.51.100.1")).status == 200
        assert len(worked) == 2


async def test_the_page_shows_every_message_as_text_and_no_token(autojump_clock: MockClock) -> None:
    async with played() as here:
        form = await here.read(f"/matches/{MATCH}")
        assert f'method="post" action="/matches/{MATCH}/wire"' in form
        assert 'type="password"' in form
        answer = await send(here, HERS)
        page = answer.body.decode()
        assert answer.status == 200
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        log = said(await ask(here, HERS))["messages"]
        assert len(re.findall(r'<tr class="from-', page)) == len(log)
        assert '<td class="figure">2.500</td><td>bot</td>' in page
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        assert "ann&#39;…" in page
        assert "ann&#39;s own" not in page
        assert ">bob, " not in page
        assert ">bob, " in (await send(here, TOKEN)).body.decode()
        assert (await here.ask(f"/matches/{MATCH}/wire")).status == 200  # the form alone
        assert b"<table" not in (await here.ask(f"/matches/{MATCH}/wire")).body


async def test_a_lost_message_is_mentioned_wherever_the_others_are_shown(autojump_clock: MockClock) -> None:
    async with played(Limits(wire_log_seat_bytes=2048)) as here:
        here.host.wires.of(MATCH)[0].told(b"x" * 1900)
        omitted = said(await ask(here, HERS))["omitted"]
        assert omitted > 1
        assert f"… {omitted} earlier messages are not kept" in (await send(here, HERS)).body.decode()
        text = await send(here, HERS, **{"as": "text"})
        assert f"# … {omitted} earlier messages are not kept\n" in text.body.decode()


async def test_the_text_has_a_message_a_line_and_is_a_file(autojump_clock: MockClock) -> None:
    async with played() as here:
        here.host.wires.of(MATCH)[0].heard("one\r\n\x1b[2J\u202etwo".encode(), trio.current_time())
        answer = await send(here, HERS, **{"as": "text"})
        lines = answer.body.decode().splitlines()
        log = said(await ask(here, HERS))["messages"]
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{MATCH}-wire.txt"'
    assert answer.headers["cache-control"] == "no-store"
    assert lines[0] == f"# {MATCH}, seat 0, ann: seconds, who, what"
    assert len(lines) == len(log) + 1
    assert lines[-1] == "    3.500 bot  one\\r\\n\\x1b[2J\\u202etwo"


@pytest.mark.parametrize("path", ["/matches/open-santorini-1", "/matches/open-santorini-1/frames"])
async def test_nothing_else_of_a_match_is_sent_to(path: str, autojump_clock: MockClock) -> None:
    async with played() as here:
        assert (await here.ask(path, "Content-Length: 0", method="POST")).status == 405
