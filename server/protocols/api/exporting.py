"""Exporting a tournament over the API, bit by bit.

An export is of one state, so it goes by a copy of the record, which takes some two hundred bytes a pairing.
It is made only when the journal could be read: hundreds may wait for that.

Anybody may ask for an export, and read it slowly or not at all. So for large tournaments there are a few
places (`export_places.py`), and whoever has one has to take what is written at some speed (`giving.py`).
An organiser waits for no place, and may be slow: it may be a program that takes its time. The export for
somebody who hangs up ends with the next part of it that is written. Whoever wants to know only what the head
of the answer is gets that, and nothing is copied.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import trio

from server.export.write import after_matches, before_matches, match_line
from server.export.write_facts import FactLines
from server.host.view import HeldTournament
from server.http.wire import typed
from server.protocols.api.call import Look
from server.protocols.api.giving import LARGE, Giving
from tournament.entries import Entry

LINES = "application/x-ndjson"
HEADERS = typed(LINES)
MANY = 2_000  # pairings of a large tournament: all clients that there may be can each hold a copy of less


class _Gone(Exception):
    """The client has hung up."""


async def export(call: Look, found: HeldTournament) -> None:
    """Export the tournament as of now; moves of old matches, and facts, are fetched as they are needed."""
    await found.entries(0)  # if the journal cannot be read, nothing is promised
    if call.exchange.request.method == "HEAD":
        call.exchange.stream(200, HEADERS)
        return
    with suppress(_Gone):
        if call.organiser or call.seen(found.record).last_drawn <= MANY:
            await _export(call, found)
        else:
            async with call.exports.one(call.exchange.request.peer):
                await _export(call, found)


async def _export(call: Look, found: HeldTournament) -> None:
    while found.record.drawing:  # what it has is of no one state
        await trio.lowlevel.checkpoint()
    record = call.seen(found.record).after()
    giving = Giving(call.exchange, 200, HEADERS, hurried=not call.organiser)
    written = bytearray()
    for line in before_matches(record, everything=call.organiser):
        await _add(giving, written, line)
    for name in record.endings:
        await _add(giving, written, match_line(record, await found.concluded(name)))
    await _put(giving, bytes(written))
    chain = FactLines(record.kept_as, everything=False, contacts=call.organiser)
    left, last = record.facts, 0
    while left > 0 and (rows := (await found.entries(last))[:left]):
        await _put(giving, await call.view.boards.run(partial(_lines, chain, rows)))
        left, last = left - len(rows), rows[-1].number
    await _put(giving, _line(chain.last(call.signer)))
    await _put(giving, await call.view.boards.run(lambda: _line(after_matches(record))))
    giving.close()


async def _add(giving: Giving, written: bytearray, line: dict[str, Any]) -> None:
    """Add a line to what is written, and give that if it is large: there may be a million pairings."""
    written += _line(line)
    if len(written) >= LARGE:
        await _put(giving, bytes(written))
        written.clear()


async def _put(giving: Giving, content: bytes) -> None:
    if not await giving.put(content):
        raise _Gone


def _lines(chain: FactLines, rows: Sequence[Entry]) -> bytes:
    return b"".join(map(_line, chain.lines(rows)))


def _line(shown: dict[str, Any]) -> bytes:
    return msgspec.json.encode(shown) + b"\n"
