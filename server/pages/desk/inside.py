"""What an organiser sees at the desk, and what its forms order.

All orders go through the host and `tournament/desk.py`, which record who gave
them. `door.py` beside this has already checked who may come in.
"""

from collections.abc import Awaitable, Callable, Mapping
from inspect import signature
from typing import Any
from urllib.parse import quote

from games.catalogue import catalogue
from server.host.boards import Run
from server.host.descriptions import about
from server.host.host import Host
from server.host.opening import OPEN
from server.http.exchange import Exchange
from server.http.wire import Response
from server.pages import rendering, tables
from server.pages.desk import forms
from server.pages.desk.changes import compared
from server.pages.desk.sessions import Session
from server.pages.home import ORDER
from server.pages.paging import asked_for, page_of
from server.pages.site import Site
from tournament.check_in import opens_at
from tournament.desk import AFFILIATION, CONTACT, Desk
from tournament.events import Ending
from tournament.facts import AnyFact, State
from tournament.format import offered
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.rounds import coming
from tournament.score_sheet import board_of
from tournament.tournament import Tournament

PAGE = 100  # orders on a page of the audit
LATELY = 8  # orders on the page of a tournament
MATCHES = 30  # matches that are over, to choose from on the page of a tournament
PREVIEWED = ("withdraw", "disqualify", "void")
SOON = {"start": "Start", "pause": "Pause", "resume": "Go on"}  # orders that need no preview


class Inside:
    def __init__(self, host: Host, site: Site, run: Run) -> None:
        self._host = host
        self._site = site
        self._run = run

    # Pages

    def show(self, exchange: Exchange, session: Session, parts: list[str]) -> Awaitable[object] | None:
        query = exchange.request.query
        match parts:
            case [] | [""]:
                self._overview(exchange, session)
            case ["create"]:
                self._create(exchange, session, {**forms.EMPTY, "game": query.get("game", "")})
            case ["audit"]:
                self._audit(exchange, session)
            case ["tournaments", name] if name in self._host.tournaments:
                return self._tournament(exchange, session, self._host.tournaments[name])
            case ["tournaments", name, action] if name in self._host.tournaments and action in PREVIEWED:
                tournament = self._host.tournaments[name]
                return self._previewed(exchange, session, tournament, action, query)
            case _:
                self._nothing(exchange)
        return None

    def _overview(self, exchange: Exchange, session: Session, wrong: str = "") -> None:
        held = sorted(
            self._host.known.values(),
            key=lambda each: (each.record.name.startswith(OPEN), ORDER.index(each.record.state)),
        )
        lines = [
            {"record": each.record, "can": possible(each.record), "decided": each.record.decided}
            for each in held
        ]
        self._give(exchange, session, "overview", 409 if wrong else 200, lines=lines, wrong=wrong)

    def _create(
        self, exchange: Exchange, session: Session, given: Mapping[str, str], wrong: str = ""
    ) -> None:
        options = {
            name: {key: option.default for key, option in signature(game.start).parameters.items()}
            for name, game in catalogue().items()
        }
        kinds = {name: each.title for name, each in offered().items()}
        shown = {
            "given": given,
            "wrong": wrong,
            "options": options,
            "kinds": kinds,
            "deciding": [each.title for each in offered().values() if each.decides],
        }
        self._give(exchange, session, "create", 400 if wrong else 200, **shown)

    def _audit(self, exchange: Exchange, session: Session) -> None:
        number = asked_for(exchange.request, "page") or 1
        page, pages = page_of(len(self._host.audit), PAGE, number)
        end = len(self._host.audit) - (page - 1) * PAGE
        orders = self._host.audit[max(0, end - PAGE) : end][::-1]
        self._give(exchange, session, "audit", orders=orders, page=page, pages=pages)

    async def _tournament(
        self, exchange: Exchange, session: Session, tournament: Tournament, wrong: str = ""
    ) -> None:
        record = tournament.record.after()
        table = await self._run(
            lambda: rendering.part(
                "standings",
                tables.standings(record, board_of(record, 0.0), page=0) | {"whole": True, "frozen": False},
            )
        )
        seen: dict[str, Any] = {
            "record": record,
            "game": tournament.game,
            "can": possible(record),
            "entrants": self._entrants(tournament),
            "missing": tournament.missing(),
            "checks_in": None if record.state is not State.REGISTERING else opens_at(record.opened),
            "next_round": coming(record),
            "deletes": not record.format.endless and record.state is not State.RUNNING,
            "invites": not record.format.endless and record.state is not State.FINISHED,
            "enters": enters(record),
            "live": list(tournament.matches.values()),
            "over": [
                each
                for each in [*record.matches.values()][: -MATCHES - 1 : -1]
                if voidable(record, each.match)
            ],
            "decided": record.decided,
            "orders": [each for each in self._host.audit if each.tournament == record.name][
                : -LATELY - 1 : -1
            ],
        }
        self._give(
            exchange, session, "tournament", 409 if wrong else 200, wrong=wrong, standings=table, **seen
        )

    def _entrants(self, tournament: Tournament) -> list[dict[str, Any]]:
        record = tournament.record
        players = {each.name: each for each in self._host.lobby.players(record.opened.game) if each.present}
        since = {each.name: each.since for each in tournament.missing()}
        return [
            {
                "name": name,
                "gone": entrant.gone,
                "disqualified": name in record.disqualified,
                "here": name in players,
                "since": since.get(name),
                "invited": name in record.invited,
                "affiliation": record.affiliations.get(name, ""),
                "contact": record.contacts.get(name, ""),
                "no_show": name in record.no_shows,
                "checked_in": name in record.checked_in,
                "seated": name in record.seats and record.state is not State.FINISHED,
            }
            for name, entrant in record.entrants.items()
        ]

    async def _previewed(
        self,
        exchange: Exchange,
        session: Session,
        tournament: Tournament,
        action: str,
        asked: Mapping[str, str],
    ) -> None:
        try:
            await self._preview(exchange, session, tournament, action, asked)
        except Refusal as refusal:
            await self._tournament(exchange, session, tournament, str(refusal))

    async def _preview(
        self,
        exchange: Exchange,
        session: Session,
        tournament: Tournament,
        action: str,
        asked: Mapping[str, str],
    ) -> None:
        """Show the standings before and after; raises `Refusal` if the order cannot be carried out at all."""
        desk, record = Desk(tournament), tournament.record
        name, match, why = asked.get("name", ""), asked.get("match", ""), asked.get("why", "")
        changes: list[AnyFact] = []
        if action == "withdraw":
            changes = desk.withdrawal(name)
        elif action == "disqualify":
            changes = desk.disqualification(name, why)
        elif match not in tournament.matches:
            changes = await desk.voiding(match, why)
        lines = compared(*desk.preview(changes))
        self._give(
            exchange,
            session,
            "preview",
            record=record,
            action=action,
            name=name,
            match=match,
            why=why,
            lines=lines,
            live=match in tournament.matches,
            changed=sum(line.marked for line in lines),
            left=sum(name in each.names for each in record.open.values()) if name else 0,
        )

    # Orders

    async def order(
        self, exchange: Exchange, session: Session, parts: list[str], fields: Mapping[str, str]
    ) -> None:
        if self._host.store.trouble:
            what = f"Nothing can be kept just now, so nothing is ordered: {self._host.store.trouble}."
            give(self._site, exchange, "desk/away.html", 503, what=what)
            return
        match parts:
            case ["create"]:
                await self._open(exchange, session, fields)
            case ["tournaments", name, action] if name in self._host.tournaments:
                tournament = self._host.tournaments[name]
                try:
                    await self._act(exchange, session, tournament, action, fields)
                except Refusal as refusal:
                    await self._tournament(exchange, session, tournament, str(refusal))
            case _:
                self._nothing(exchange)

    async def _open(self, exchange: Exchange, session: Session, fields: Mapping[str, str]) -> None:
        given = {name: fields.get(name, "") for name in forms.EMPTY}
        try:
            wanted = forms.wanted(given)
            await self._host.found(wanted.name, wanted.opened(), who(exchange))
        except Refusal as refusal:
            self._create(exchange, session, given, str(refusal))
        else:
            go(exchange, f"/admin/tournaments/{wanted.name}")

    async def _act(
        self,
        exchange: Exchange,
        session: Session,
        tournament: Tournament,
        action: str,
        fields: Mapping[str, str],
    ) -> None:
        desk = Desk(tournament, who(exchange))
        name, match, why = fields.get("name", ""), fields.get("match", ""), fields.get("why", "")
        said = about(fields.get("affiliation"), fields.get("contact"))
        orders: dict[str, Callable[[], Awaitable[None]]] = {
            "start": desk.start,
            "pause": desk.pause,
            "resume": desk.resume,
            "freeze": desk.freeze,
            "unfreeze": desk.unfreeze,
            "enter": lambda: desk.enter(self._host.claims.entrant_name(tournament, name)),
            "withdraw": lambda: desk.withdraw(name),
            "disqualify": lambda: desk.disqualify(name, why),
            "void": lambda: desk.void(match, why),
            "release": lambda: desk.release(name),
            "check-in": lambda: desk.check_in(name),
            "describe": lambda: desk.describe(name, said),
            "delete": lambda: self._host.delete(tournament, who(exchange)),
        }
        if action in ("invite", "bind"):
            give_token = self._host.claims.invite if action == "invite" else self._host.claims.bind
            token = await give_token(tournament, name, who(exchange))
            hello = {"type": "hello", "name": name, "game": tournament.game.name, "token": token}
            seen: dict[str, Any] = {"record": tournament.record, "name": name, "token": token, "hello": hello}
            self._give(exchange, session, "invited", invited=action == "invite", **seen)
        elif action in orders:
            await orders[action]()
            to_all = action == "delete" or fields.get("to", "") == "overview"
            go(
                exchange,
                "/admin" if to_all else f"/admin/tournaments/{tournament.record.name}",
            )
        else:
            self._nothing(exchange)

    # Within

    def _nothing(self, exchange: Exchange) -> None:
        give(
            self._site,
            exchange,
            "desk/away.html",
            404,
            what="There is nothing at the desk under this address.",
        )

    def _give(
        self, exchange: Exchange, session: Session, template: str, status: int = 200, **seen: Any
    ) -> None:
        seen |= {
            "form_token": session.form_token,
            "trouble": self._host.store.trouble,
            "draining": self._host.draining,
            "longest": {"affiliation": AFFILIATION, "contact": CONTACT},
            "soon": SOON,
        }
        give(self._site, exchange, f"desk/{template}.html", status, **seen)


def possible(record: Record) -> list[str]:
    """Which of `SOON` can be ordered now."""
    if record.state is State.REGISTERING:
        enough = record.format.endless or record.contestants >= record.format.entrants
        return ["start"] if enough else []
    return {State.RUNNING: ["pause"], State.PAUSED: ["resume"]}.get(record.state, [])


def enters(record: Record) -> bool:
    """Whether an organiser can enter somebody by name alone."""
    if record.state is State.REGISTERING:
        return bool(record.opened.by_invitation)
    return record.format.late and record.state is not State.FINISHED


def voidable(record: Record, match: str) -> bool:
    return match not in record.voided and record.matches[match].ending is not Ending.VOID


def who(exchange: Exchange) -> str:
    return f"the organiser, at the desk from {exchange.request.peer}"


def give(
    site: Site,
    exchange: Exchange,
    template: str,
    status: int = 200,
    /,
    *more: tuple[str, str],
    **seen: Any,
) -> None:
    """Answer with a page of the desk, which no cache may keep."""
    page = site.page(template, exchange, status, **seen)
    headers = [(name, value) for name, value in page.headers if name != "Cache-Control"]
    exchange.respond(Response(page.status, (*headers, ("Cache-Control", "no-store"), *more), page.body))


def go(exchange: Exchange, where: str, *headers: tuple[str, str]) -> None:
    """Redirect the browser, so that reloading the page does not repeat the order."""
    kept = (("Location", quote(where, safe="/?=")), ("Cache-Control", "no-store"), *headers)
    exchange.respond(Response(303, own=kept))  # as its own: the cache of headers must not hold a cookie
