"""What the forms of the desk order.

All orders go through the host and `tournament/desk.py`, which record who gave them. `door.py` beside this
has already checked who that is. After an order the browser is led to a page, so that loading it again
repeats nothing; what is refused is said on the page on which it was asked for.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from server.host.descriptions import about, reason
from server.host.host import Host
from server.http.exchange import Exchange
from server.pages.desk import forms
from server.pages.desk.answers import give, go
from server.pages.desk.inside import Inside
from server.pages.desk.place import back, place
from server.pages.desk.sessions import Session
from server.pages.site import Site
from tournament.desk import Desk
from tournament.refusals import Refusal
from tournament.tournament import Tournament


class Orders:
    def __init__(self, host: Host, site: Site, inside: Inside) -> None:
        self._host = host
        self._site = site
        self._inside = inside

    async def order(
        self, exchange: Exchange, session: Session, parts: list[str], fields: Mapping[str, str]
    ) -> None:
        """Carry out what a form orders; `parts` are those of its address."""
        if self._host.store.trouble:
            what = f"Nothing can be kept just now, so nothing is ordered: {self._host.store.trouble}."
            give(self._site, exchange, "desk/away.html", 503, what=what)
            return
        exchange.decides = True
        match parts:
            case ["create"]:
                await self._open(exchange, session, fields)
            case ["tournaments", name, action] if name in self._host.tournaments:
                tournament = self._host.tournaments[name]
                try:
                    await self._act(exchange, session, tournament, action, fields)
                except Refusal as refusal:
                    await self._inside.tournament(exchange, session, tournament, str(refusal))
            case _:
                self._inside.nothing(exchange)

    async def _open(self, exchange: Exchange, session: Session, fields: Mapping[str, str]) -> None:
        given = {name: fields.get(name, "") for name in forms.EMPTY}
        try:
            wanted = forms.wanted(given)
            await self._host.found(wanted.name, wanted.opened(), who(exchange))
        except Refusal as refusal:
            self._inside.create(exchange, session, given, str(refusal))
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
        name, match, why = fields.get("name", ""), fields.get("match", ""), reason(fields.get("why", ""))
        said = about(fields.get("affiliation"), fields.get("contact"))
        orders: dict[str, Callable[[], Awaitable[None]]] = {
            "start": desk.start,
            "pause": desk.pause,
            "resume": desk.resume,
            "end": desk.end,
            "freeze": desk.freeze,
            "unfreeze": desk.unfreeze,
            "enter": lambda: self._host.claims.enter(tournament, name, who(exchange)),
            "withdraw": lambda: desk.withdraw(name, why),
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
            seen["back"] = back(tournament.record, place(exchange.request))
            self._inside.give(exchange, session, "invited", invited=action == "invite", **seen)
        elif action in orders:
            await orders[action]()
            to_all = action == "delete" or fields.get("to", "") == "overview"
            where = place(exchange.request)
            go(exchange, f"/admin{where.query}" if to_all else back(tournament.record, where))
        else:
            self._inside.nothing(exchange)


def who(exchange: Exchange) -> str:
    return f"the organiser, at the desk from {exchange.request.peer}"
