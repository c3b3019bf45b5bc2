"""The wire log of a match over HTTP, with a status for each reason not to show it.

The API answers with one seat's side; the page, which is `server/pages/wire.py`,
asks here for the same tapes.
"""

from collections.abc import Mapping

from server.host.wire_log import Tape
from server.host.wire_reader import (
    NotKept,
    NoToken,
    TooManyGuesses,
    Unreadable,
    WireReader,
    WrongToken,
    messages_of,
)
from server.http.head import BEARER, HttpError, retry_after
from server.http.wire import NO_STORE, Response, json_response
from server.net.escaping import in_quotes
from server.protocols.api.call import Call
from tournament.tournament import Tournament

STATUS: Mapping[type[Unreadable], int] = {NoToken: 401, WrongToken: 403, NotKept: 404, TooManyGuesses: 429}


def tapes(reader: WireReader, match: str, token: bytes, peer: str) -> Mapping[int, Tape]:
    """The tapes, by seat, that a token entitles its owner to read; raises `HttpError` if none."""
    try:
        return reader.open(match, token, peer)
    except Unreadable as why:
        told = (retry_after(why.seconds),) if isinstance(why, TooManyGuesses) else ()
        told = (BEARER,) if isinstance(why, NoToken) else told
        raise HttpError(STATUS[type(why)], str(why), *told) from None


def side(call: Call, tournament: Tournament, match: str) -> Response:
    """What was said over a seat; without `seat`, over the first one that the token opens."""
    request = call.exchange.request
    readable = tapes(call.wires, match, call.token, request.peer)
    asked = request.query.get("seat", str(min(readable)))
    if asked not in ("0", "1"):
        raise HttpError(400, f"seat is 0 or 1, not {in_quotes(asked)}")
    if (tape := readable.get(int(asked))) is None:
        if call.organiser:  # who may read all that there is
            raise HttpError(404, f"what was said over seat {asked} was not recorded")
        raise HttpError(403, f"what was said over seat {asked} is not yours to read, or was not recorded")
    shown = {"match": match, "seat": int(asked), "name": tape.name, "messages": messages_of(tape)}
    return json_response(200, shown | {"omitted": tape.omitted}, NO_STORE)
