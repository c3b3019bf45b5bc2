"""The entrance to the desk at `/admin`: who may come in, and whose forms are taken.

A link shows a page with one button, because programs that follow links before people
do must not use them up. The button spends the link and opens a session. `inside.py`
has what is seen inside, and `orders.py` what is ordered there.
"""

import hmac
from collections.abc import Awaitable

import trio

from server.host.boards import Run, in_a_thread
from server.host.host import Host
from server.http.exchange import Exchange
from server.http.head import form
from server.http.origins import NO_ORIGINS, Origins
from server.http.sharing import READS
from server.http.wire import Request
from server.net.addresses import is_loopback
from server.net.escaping import safe
from server.pages.addresses import HOST, over_tls
from server.pages.desk.answers import give, go
from server.pages.desk.cookies import cookie
from server.pages.desk.inside import Inside
from server.pages.desk.orders import Orders
from server.pages.desk.sessions import LOGINS, SESSION_SECONDS, Session, Sessions
from server.pages.site import Site

CLOSED = (
    "There is no desk here: it is open where the host listens on loopback only, where it speaks TLS, "
    "or where admin_anywhere = true is configured."
)
LOG_IN = "This needs a login. On the host's machine, quintain admin-link prints a link that opens the desk."
SPENT = "This link is not valid, or no longer valid: each opens the desk once, within 15 minutes."
TOO_MANY = "Too many logins were tried from your address: wait for a minute."
FORGED = "This form does not belong to your session: reload the page that it is on, and send it again."
STRAY = "The desk is read with GET, and orders are sent with its forms."
AGAIN = ("Retry-After", f"{LOGINS.seconds / LOGINS.credits:.0f}")


def has_desk(bind: str, *, tls: bool, anywhere: bool) -> bool:
    """Whether a host that listens at `bind` has a desk: its cookies may cross no network in the clear."""
    return tls or anywhere or is_loopback(bind)


def login_path(sessions: Sessions, now: float) -> str:
    """Where a new link leads, on this host."""
    return f"/admin/login?secret={sessions.link(now)}"


class DeskDoor:
    paths = frozenset({"admin"})

    def __init__(
        self,
        host: Host,
        site: Site,
        sessions: Sessions | None,
        origins: Origins = NO_ORIGINS,
        *,
        run: Run = in_a_thread,
    ) -> None:
        """Without `sessions` there is no desk, and every page of it says so."""
        self._host = host
        self._site = site
        self._sessions = sessions
        self._origins = origins
        self._inside = Inside(host, site, run)
        self._orders = Orders(host, site, self._inside)

    def answer(self, exchange: Exchange) -> Awaitable[object] | None:
        request, sessions = exchange.request, self._sessions
        if sessions is None:
            self._turn_away(exchange, 404, CLOSED)
        elif request.method in READS:
            return self._read(exchange, sessions, request.path.strip("/").split("/")[1:])
        elif request.method != "POST":
            self._turn_away(exchange, 405, STRAY, ("Allow", ", ".join(sorted({*READS, "POST"}))))
        elif where := self._origins.foreign(request):
            own = safe(request.headers.get("host", ""))
            what = f"Refused: this form was sent from {where}, and the desk is at {own}."
            self._turn_away(exchange, 403, what)
        else:
            fields = {name: text.strip() for name, text in form(request.body).items()}
            return self._take(exchange, sessions, request.path.strip("/").split("/")[1:], fields)
        return None

    def _read(self, exchange: Exchange, sessions: Sessions, parts: list[str]) -> Awaitable[object] | None:
        if parts == ["login"]:
            give(self._site, exchange, "desk/login.html", secret=exchange.request.query.get("secret", ""))
            return None
        if (session := self._session(exchange, sessions)) is None:
            self._turn_away(exchange, 401, LOG_IN)
            return None
        return self._inside.show(exchange, session, parts)

    def _take(
        self, exchange: Exchange, sessions: Sessions, parts: list[str], fields: dict[str, str]
    ) -> Awaitable[object] | None:
        if parts == ["login"]:
            return self._log_in(exchange, sessions, fields.get("secret", ""))
        if (session := self._session(exchange, sessions)) is None:
            self._turn_away(exchange, 403, LOG_IN)
        elif not hmac.compare_digest(fields.get("form_token", "").encode(), session.form_token.encode()):
            self._turn_away(exchange, 403, FORGED)
        elif parts == ["logout"]:
            return self._log_out(exchange, sessions)
        else:
            return self._orders.order(exchange, session, parts, fields)
        return None

    def _session(self, exchange: Exchange, sessions: Sessions) -> Session | None:
        return sessions.find(_kept(exchange.request), trio.current_time())

    # In and out

    async def _log_in(self, exchange: Exchange, sessions: Sessions, secret: str) -> None:
        now, who = trio.current_time(), f"somebody from {exchange.request.peer}"
        opened = sessions.open(secret, now)  # first: others may have guessed from the same address
        if opened is None:
            may = sessions.may_try(exchange.request.peer, now)
            if tries := sessions.refused(now):
                await self._host.note(who, "login refused", "" if tries == 1 else f"{tries} tries")
            if may:
                self._turn_away(exchange, 403, SPENT)
            else:
                self._turn_away(exchange, 429, TOO_MANY, AGAIN)
            return
        await self._host.note(who, "login")
        exchange.authenticated()
        go(exchange, "/admin", _set_cookie(exchange, opened, SESSION_SECONDS))

    async def _log_out(self, exchange: Exchange, sessions: Sessions) -> None:
        sessions.close(_kept(exchange.request))
        await self._host.note(f"the organiser, at the desk from {exchange.request.peer}", "logout")
        go(exchange, "/admin/login", _set_cookie(exchange, "", 0))

    def _turn_away(self, exchange: Exchange, status: int, what: str, *headers: tuple[str, str]) -> None:
        give(self._site, exchange, "desk/away.html", status, *headers, what=what)


def _cookie_name(request: Request) -> str:
    """With the port that the browser uses: it sends cookies to all ports, and another host may be on one.

    Where the host itself listens does not matter: behind a balancer, another one may listen at another port.
    """
    asked = HOST.fullmatch(request.headers.get("host", ""))
    return f"quintain-desk-{asked[2][1:]}" if asked and asked[2] else "quintain-desk"


def _kept(request: Request) -> str:
    """The secret of the session that the browser has kept."""
    return cookie(request, _cookie_name(request))


def _set_cookie(exchange: Exchange, value: str, seconds: float) -> tuple[str, str]:
    secure = "; Secure" if over_tls(exchange.request) else ""
    kept = f"Path=/; Max-Age={seconds:.0f}; HttpOnly; SameSite=Strict{secure}"
    return "Set-Cookie", f"{_cookie_name(exchange.request)}={value}; {kept}"
