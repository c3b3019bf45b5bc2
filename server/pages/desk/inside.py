"""What an organiser sees at the desk: its pages, and what a decision would change.

`door.py` beside this has already checked who may come in; `orders.py` carries out what the forms order.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import islice
from typing import Any

from games.catalogue import catalogue
from server.host.boards import WAIT, NoBoard, Run
from server.host.descriptions import WHY
from server.host.host import Host
from server.host.names import LONGEST
from server.host.opening import OPEN
from server.host.view import HeldTournament
from server.http.exchange import Exchange
from server.pages import rendering, tables
from server.pages.desk import forms
from server.pages.desk.answers import give, page
from server.pages.desk.changes import Comparison, compared
from server.pages.desk.entrants import listed
from server.pages.desk.place import back, place
from server.pages.desk.sessions import Session
from server.pages.home import ORDER
from server.pages.paging import asked_for, page_of
from server.pages.site import Site
from server.protocols.api import giving
from tournament.check_in import opens_at
from tournament.desk import AFFILIATION, CONTACT, Desk
from tournament.facts import AnyFact, Kept, State, Withdrew
from tournament.format import OPEN as OPEN_TABLE
from tournament.format import offered
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.rounds import coming
from tournament.score_sheet import Board
from tournament.tournament import Tournament

PAGE = 100  # tournaments on a page of the overview, and orders on one of the audit
LATELY = 8  # orders on the page of a tournament
MISSING = 5  # entrants who are missing, in a sentence: a part of the list of entrants has all of them
MATCHES = 30  # matches in play, and as many that are over, to choose from on the page of a tournament
PREVIEWED = ("withdraw", "disqualify", "void")


class Inside:
    def __init__(self, host: Host, site: Site, run: Run) -> None:
        self._host = host
        self._site = site
        self._run = run

    def show(self, exchange: Exchange, session: Session, parts: list[str]) -> Awaitable[object] | None:
        query = exchange.request.query
        match parts:
            case [] | [""]:
                return self._overview(exchange, session)
            case ["create"]:
                self.create(exchange, session, {**forms.EMPTY, "game": query.get("game", "")})
            case ["audit"]:
                self._audit(exchange, session)
            case ["tournaments", name] if name in self._host.tournaments:
                return self.tournament(exchange, session, self._host.tournaments[name])
            case ["tournaments", name, "standings"] if name in self._host.tournaments:
                return self._standings(exchange, session, self._host.tournaments[name].record)
            case ["tournaments", name, "delete" | "end" as action] if name in self._host.tournaments:
                record = self._host.tournaments[name].record
                self.give(exchange, session, action, record=record, decided=record.decided)
            case ["tournaments", name, action] if name in self._host.tournaments and action in PREVIEWED:
                tournament = self._host.tournaments[name]
                return self._preview(exchange, session, tournament, action, query)
            case _:
                self.nothing(exchange)
        return None

    async def _overview(self, exchange: Exchange, session: Session) -> None:
        where, known = place(exchange.request), [*self._host.known.values()]
        records = await self._run(partial(_in_order, known, where.named))
        number, pages = page_of(len(records), PAGE, where.page)
        games = catalogue()
        lines = [
            {
                "record": record,
                "game": games[record.opened.game].title,
                "can": possible(record),
                "decided": record.decided,
            }
            for record in records[(number - 1) * PAGE : number * PAGE]
        ]
        seen: dict[str, Any] = {
            "lines": lines,
            "where": where,
            "page": number,
            "pages": pages,
            "total": len(known),
        }
        await self._give_long(exchange, session, "overview", **seen)

    def create(self, exchange: Exchange, session: Session, given: Mapping[str, str], wrong: str = "") -> None:
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
            "limits": self._host.limits,
        }
        self.give(exchange, session, "create", 400 if wrong else 200, **shown)

    def _audit(self, exchange: Exchange, session: Session) -> None:
        number = asked_for(exchange.request, "page") or 1
        number, pages = page_of(len(self._host.audit), PAGE, number)
        end = len(self._host.audit) - (number - 1) * PAGE
        orders = self._host.audit[max(0, end - PAGE) : end][::-1]
        self.give(exchange, session, "audit", orders=orders, page=number, pages=pages)

    async def tournament(
        self, exchange: Exchange, session: Session, tournament: Tournament, wrong: str = ""
    ) -> None:
        """Show a tournament, and what was `wrong` with an order for it."""
        record, where = tournament.record, place(exchange.request)
        board = await self._board(record)
        table = None if board is None else await self._run(partial(_table, record, board))
        entrants = await listed(tournament, self._host.lobby, where, self._run)
        orders = await self._run(partial(_latest_orders, self._host.audit, record.name))
        latest = (record.matches[name] for name in reversed(record.recent))
        missing = tournament.missing()
        seen: dict[str, Any] = {
            "record": record,
            "game": tournament.game,
            "can": possible(record),
            "listed": entrants,
            "missing": missing[:MISSING],
            "more_missing": max(0, len(missing) - MISSING),
            "checks_in": None if record.state is not State.REGISTERING else opens_at(record.opened),
            "next_round": coming(record),
            "wanting": tables.wanting(record),
            "awaited": waits_for_all(tournament),
            "limits": self._host.limits,
            "ends": ends(record),
            "deletes": record.opened.format != OPEN_TABLE and record.state is not State.RUNNING,
            "invites": not record.format.endless and record.state is not State.FINISHED,
            "enters": enters(record),
            "live": [*islice(tournament.matches.values(), MATCHES)],
            "playing": len(tournament.matches),
            "over": [each for each in islice(latest, MATCHES) if voidable(record, each.match)],
            "decided": record.decided,
            "orders": orders,
        }
        seen |= {"wrong": wrong, "standings": table, "late": _is_late(record, board)}
        await self._give_long(exchange, session, "tournament", 409 if wrong else 200, **seen)

    async def _standings(self, exchange: Exchange, session: Session, record: Record) -> None:
        board, number = await self._board(record), asked_for(exchange.request, "page") or 1
        table = None if board is None else await self._run(partial(_table, record, board, number))
        await self._give_long(
            exchange, session, "standings", record=record, standings=table, late=_is_late(record, board)
        )

    async def _board(self, record: Record) -> Board | None:
        """The present standings, or the latest if these take long; None if there are none yet.

        Whoever has an order to give in the middle of a large event does not wait for its strengths. The page
        says of standings that they are late, so here they may be those of before the end.
        """
        try:
            return await self._host.boards.current(record, WAIT)
        except NoBoard:
            return self._host.boards.known(record)

    async def _preview(
        self,
        exchange: Exchange,
        session: Session,
        tournament: Tournament,
        action: str,
        asked: Mapping[str, str],
    ) -> None:
        """Show the standings before and after, or why the order cannot be carried out at all."""
        desk, record, where = Desk(tournament), tournament.record, place(exchange.request)
        name, match, why = asked.get("name", ""), asked.get("match", ""), asked.get("why", "")
        live = action == "void" and match in tournament.matches  # and counts for nothing yet
        changes: list[AnyFact] = []
        try:
            if action == "withdraw":
                changes = desk.withdrawal(name)
            elif action == "disqualify":
                changes = desk.disqualification(name, why)
            elif not live:
                changes = await desk.voiding(match, why)
        except Refusal as refusal:
            await self.tournament(exchange, session, tournament, str(refusal))
            return
        change: Comparison | None = None
        if not live:
            ranked = partial(desk.preview, changes, lambda _, rows: rows)
            change = await self._run(partial(compared, *await self._host.boards.previewed(ranked)))
        annulled = any(isinstance(each, Withdrew) and each.annulled for each in changes)
        await self._give_long(
            exchange,
            session,
            "preview",
            record=record,
            action=action,
            name=name,
            match=match,
            why=why,
            where=where,
            back=back(record, where),
            change=change,
            live=live,
            again=not (record.format.endless or record.ended_early),
            annulled=annulled,
            left=desk.to_play(changes, name),
        )

    def nothing(self, exchange: Exchange) -> None:
        """Say that there is no such page, and no such order."""
        what = "There is nothing at the desk under this address."
        give(self._site, exchange, "desk/away.html", 404, what=what)

    def give(
        self, exchange: Exchange, session: Session, template: str, status: int = 200, **seen: Any
    ) -> None:
        """Answer with a page for whoever has that session; its forms are good in that session only."""
        give(self._site, exchange, f"desk/{template}.html", status, **seen, **self._framed(session))

    async def _give_long(
        self, exchange: Exchange, session: Session, template: str, status: int = 200, **seen: Any
    ) -> None:
        """As `give`, for a page of a hundred lines or more, which takes its time: it is made in a thread."""
        seen |= self._framed(session)
        made = partial(page, self._site, exchange, f"desk/{template}.html", status, **seen)
        if (rest := giving.give(exchange, await self._run(made))) is not None:
            await rest

    def _framed(self, session: Session) -> dict[str, Any]:
        """What every page of the desk has."""
        return {
            "form_token": session.form_token,
            "trouble": self._host.store.trouble,
            "draining": self._host.draining,
            "longest": {"name": LONGEST, "affiliation": AFFILIATION, "contact": CONTACT, "why": WHY},
        }


def possible(record: Record) -> list[str]:
    """Which orders that need no preview can be given now."""
    if record.state is State.REGISTERING:
        enough = record.format.endless or record.contestants >= record.format.entrants
        return ["start"] if enough else []
    if record.ended_early:
        return []
    return {State.RUNNING: ["pause"], State.PAUSED: ["resume"]}.get(record.state, [])


def waits_for_all(tournament: Tournament) -> bool:
    """Whether it begins by itself when it is full, but not without some who are missing."""
    opened, registering = tournament.record.opened, tournament.record.state is State.REGISTERING
    fills = opened.entrants is not None and opened.start is None
    return registering and fills and tournament.awaits_the_invited


def ends(record: Record) -> bool:
    """Whether it can be ended early."""
    begun = record.state in (State.RUNNING, State.PAUSED)
    return begun and not (record.format.endless or record.ended_early)


def enters(record: Record) -> bool:
    """Whether an organiser can enter somebody by name alone."""
    if record.ended_early:
        return False
    if record.state is State.REGISTERING:
        return bool(record.opened.by_invitation)
    return record.format.late and record.state is not State.FINISHED


def voidable(record: Record, match: str) -> bool:
    return match not in record.voided and record.matches[match].score is not None


def _is_late(record: Record, board: Board | None) -> bool:
    return board is not None and board.version < record.version


def _in_order(known: Iterable[HeldTournament], named: str) -> list[Record]:
    """The tournaments whose names contain that, as an organiser looks for them: open tables come last."""
    found = [each.record for each in known if named.casefold() in each.record.name.casefold()]
    return sorted(found, key=lambda record: (record.name.startswith(OPEN), ORDER.index(record.state)))


def _table(record: Record, board: Board, page: int | None = None) -> object:
    """The top of the table, or a page of it, as it stands now."""
    seen = tables.standings(record, board, page) | {"whole": page is not None, "frozen": False}
    return rendering.part("standings", seen | {"address": f"/admin/tournaments/{record.name}/standings"})


def _latest_orders(audit: Sequence[Kept], tournament: str) -> list[Kept]:
    return [*islice((each for each in reversed(audit) if each.tournament == tournament), LATELY)]
