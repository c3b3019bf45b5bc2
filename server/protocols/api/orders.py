"""An organiser's orders over the API: to hold a tournament, and what to do with it.

Each function answers one route of `table.py`. The organiser's token has been
checked before.
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial

import msgspec
from msgspec import Struct

from server.export.json_views import out_shown, unrated
from server.host.descriptions import about, reason
from server.host.names import BadName, checked
from server.host.opening import NameTaken
from server.host.tournament_settings import TournamentSettings
from server.http.head import RETRY_SOON, HttpError
from server.http.wire import NO_STORE, Response, json_response
from server.protocols.api.call import Call
from server.protocols.api.reading import summary
from tournament import refusals
from tournament.desk import NOTHING, Desk
from tournament.facts import AnyFact
from tournament.record import Record
from tournament.standings import Row
from tournament.tournament import Tournament


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    """Whom or what an order is about. Each order takes only the fields that it uses.

    With `preview` nothing is done: the answer is the standings before and after. Only withdraw, disqualify
    and void have a preview.
    """

    name: str | None = None  # of an entrant to withdraw, disqualify or release, of a bot to invite or enter
    match: str | None = None  # to void
    why: str = ""
    bind: bool = False  # a released name to a new token, instead of to whoever comes next
    preview: bool = False
    # Of a bot to invite, enter or describe. If left out, what was said before stays.
    affiliation: str | None = None  # which everybody sees
    contact: str | None = None  # which nobody but the organiser sees


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of an order that is about no tournament and needs nothing but its name."""


Carry = Callable[[Call, Tournament, Order], Awaitable[Response]]
NOTHING_SAID = Order()


class Carried(Struct, frozen=True):
    """How an order is carried out, and the fields that it takes. If there are any, it needs the first."""

    carry: Carry
    fields: tuple[str, ...]

    async def __call__(self, call: Call, tournament: Tournament, order: Order) -> Response:
        """Refuse an order with any other field: its sender expects something that would not be done."""
        for field in order.__struct_fields__:
            if field in self.fields or getattr(order, field) == getattr(NOTHING_SAID, field):
                continue
            if field == "preview":
                raise HttpError(400, "only withdraw, disqualify and void have a preview; nothing was done")
            raise HttpError(400, f"this order takes no `{field}`; nothing was done")
        return await self.carry(call, tournament, order)


def taking(*fields: str) -> Callable[[Carry], Carried]:
    """An order that takes these fields. If there are any, it needs the first."""
    return partial(Carried, fields=fields)


async def hold(call: Call, settings: TournamentSettings) -> Response:
    try:
        tournament = await call.host.found(settings.name, settings.opened(), call.by)
    except NameTaken as taken:
        raise HttpError(409, str(taken)) from None
    except refusals.NotNow as refusal:
        raise _later(refusal) from None
    except refusals.Refusal as refusal:
        raise HttpError(400, str(refusal)) from None
    location = ("Location", f"/api/tournaments/{settings.name}")
    return json_response(201, summary(tournament, tournament.eta()), location)


def simply(do: Callable[[Desk], Awaitable[None]]) -> Carried:
    """An order that needs nothing but its name."""

    @taking()
    async def answer(call: Call, tournament: Tournament, order: Order) -> Response:
        with as_conflict():
            await do(Desk(tournament, call.by))
        return await _carried_out(tournament)

    return answer


@taking("name", "affiliation", "contact")
async def invite(call: Call, tournament: Tournament, order: Order) -> Response:
    name = _named(order, tournament, "the bot to invite")
    with as_conflict():
        said = about(order.affiliation, order.contact)
        token = await call.host.claims.invite(tournament, name, call.by, said)
    return json_response(201, {"name": name, "token": token}, NO_STORE)


@taking("name", "bind")
async def release(call: Call, tournament: Tournament, order: Order) -> Response:
    name = _named(order, tournament, "the entrant whose name to release")
    with as_conflict():
        if order.bind:
            token = await call.host.claims.bind(tournament, name, call.by)
            return json_response(201, {"name": name, "token": token}, NO_STORE)
        await Desk(tournament, call.by).release(name)
    return await _carried_out(tournament)


@taking()
async def delete(call: Call, tournament: Tournament, order: Order) -> Response:
    with as_conflict():
        await call.host.delete(tournament, call.by)
    return await _carried_out(tournament)


@taking("name", "affiliation", "contact")
async def enter(call: Call, tournament: Tournament, order: Order) -> Response:
    asked = _named(order, tournament, "the bot to enter")
    with as_conflict():
        said = about(order.affiliation, order.contact)
        await call.host.claims.enter(tournament, asked, call.by, said)
    return await _carried_out(tournament)


@taking("name", "affiliation", "contact")
async def describe(call: Call, tournament: Tournament, order: Order) -> Response:
    name = _named(order, tournament, "the entrant to describe")
    with as_conflict():
        said = about(order.affiliation, order.contact)
        if said == NOTHING:
            raise HttpError(400, 'expected {"affiliation": …} or {"contact": …} as well, or both')
        await Desk(tournament, call.by).describe(name, said)
    return await _carried_out(tournament)


@taking("name")
async def check_in(call: Call, tournament: Tournament, order: Order) -> Response:
    name = _named(order, tournament, "the entrant who has checked in")
    with as_conflict():
        await Desk(tournament, call.by).check_in(name)
    return await _carried_out(tournament)


@taking("name", "why", "preview")
async def withdraw(call: Call, tournament: Tournament, order: Order) -> Response:
    name, desk = _named(order, tournament, "the entrant to withdraw"), Desk(tournament, call.by)
    with as_conflict():
        why = reason(order.why)
        if order.preview:
            return await _preview(call, desk, desk.withdrawal(name), name)
        await desk.withdraw(name, why)
    return await _carried_out(tournament)


@taking("name", "why", "preview")
async def disqualify(call: Call, tournament: Tournament, order: Order) -> Response:
    name, desk = _named(order, tournament, "the entrant to disqualify"), Desk(tournament, call.by)
    with as_conflict():
        why = reason(order.why)
        if order.preview:
            return await _preview(call, desk, desk.disqualification(name, why), name)
        await desk.disqualify(name, why)
    return await _carried_out(tournament)


@taking("match", "why", "preview")
async def void(call: Call, tournament: Tournament, order: Order) -> Response:
    match, desk = order.match, Desk(tournament, call.by)
    if match is None:
        raise HttpError(400, 'expected {"match": …}, the match to void')
    with as_conflict():
        why = reason(order.why)
        if order.preview:
            in_play = match in tournament.matches  # a match in play counts for nothing yet
            return await _preview(call, desk, [] if in_play else await desk.voiding(match, why))
        await desk.void(match, why)
    return await _carried_out(tournament)


async def admin_link(call: Call, asked: Nothing) -> Response:
    if call.login is None:
        raise HttpError(409, "this host has no desk: it needs loopback, TLS, or admin_anywhere = true")
    await call.host.note(call.by, "admin-link")
    return json_response(201, {"path": call.login()}, NO_STORE)


async def _carried_out(tournament: Tournament) -> Response:
    """The tournament after an order. Others get their turns meanwhile: the order has changed the forecast."""
    return json_response(200, summary(tournament, await tournament.foresee()))


@contextmanager
def as_conflict() -> Generator[None]:
    """Answer with a conflict where the tournament refuses, unless another status says more."""
    try:
        yield
    except refusals.NotThere as refusal:
        raise HttpError(404, str(refusal)) from None
    except refusals.Senseless as refusal:
        raise HttpError(400, str(refusal)) from None
    except refusals.NotNow as refusal:
        raise _later(refusal) from None
    except refusals.Refusal as refusal:
        raise HttpError(409, str(refusal)) from None


def _later(refusal: refusals.NotNow) -> HttpError:
    return HttpError(503, str(refusal), RETRY_SOON)


def _named(order: Order, tournament: Tournament, who: str) -> str:
    """Whom the order is about; raises `HttpError` where that is a name which nobody can have."""
    if (name := order.name) is None:
        raise HttpError(400, f'expected {{"name": …}}, {who}')
    if name in tournament.record.entrants or tournament.is_newcomer(name):
        return name  # which may be one that is reserved by now
    try:
        return checked(name)
    except BadName as error:
        raise HttpError(400, str(error)) from None


async def _preview(call: Call, desk: Desk, changes: list[AnyFact], name: str = "") -> Response:
    """What it would change, and what would follow from it if an entrant of that `name` were out."""
    to_play = desk.to_play(changes, name)
    before, after = await call.host.boards.previewed(partial(desk.preview, changes, _rows))
    return json_response(200, {"before": before, "after": after, "to_play": to_play})


def _rows(record: Record, rows: Sequence[Row]) -> msgspec.Raw:
    """A table as JSON. Each row is encoded by itself: nothing else runs while megabytes are."""
    order = record.format.order
    encoded = [msgspec.json.encode(unrated(row, order) | out_shown(record, row.name)) for row in rows]
    return msgspec.Raw(b"[" + b",".join(encoded) + b"]")
