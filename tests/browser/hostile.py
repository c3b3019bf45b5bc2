"""`python -m tests.browser.hostile`: a host whose bots bear scripts for names, and lose for such reasons.

Doors would refuse most of these names, and so they are put into the record
itself: what a page shows must not depend on who was let in.
"""

import trio

from server.host.host import Host
from server.http.routes import routed
from server.http.service import Http
from server.logs import set_up
from server.net.admission import Admission
from server.net.limits import Limits
from server.net.listening import listeners, serve, where
from server.pages.addresses import Addresses
from server.pages.door import Pages
from server.protocols.api.door import Api
from tests.tournament.world import first, play
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Drew, Entered, Kept, Opened, State, Turned
from tournament.format import Pairing
from tournament.store import Memory

GAME = "tic-tac-toe"
MOVES = [{"action": "putSymbol", "position": field} for field in ("NW", "N", "W", "C")]
LIVE = 6  # of them play before the spectator's eyes

VECTORS = (
    "<script>ran()</script>",
    "<ScRiPt >ran()</sCrIpT>",
    "<script src=data:text/javascript,ran()></script>",
    "<script\x20type=module>ran()</script>",
    "<img src=x onerror=ran()>",
    "<img/src='x'/onerror=ran()>",
    "<image href=x onerror=ran()>",
    "<svg onload=ran()>",
    "<svg/onload=ran()//",
    "<svg><script>ran()</script></svg>",
    "<svg><script href=data:,ran() /></svg>",
    "<svg><animate onbegin=ran() attributeName=x dur=1s>",
    "<svg><a href=javascript:ran()><text y=20>x</text></a>",
    "<svg><foreignObject><img src=x onerror=ran()></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=ran()>",
    "<math href=javascript:ran()>x</math>",
    "<iframe srcdoc='<script>parent.ran()</script>'>",
    "<iframe src=javascript:parent.ran()>",
    "<object data=javascript:ran()>",
    "<embed src=javascript:ran()>",
    "<details open ontoggle=ran()>",
    "<video><source onerror=ran()>",
    "<audio src onerror=ran()>",
    "<input autofocus onfocus=ran()>",
    "<select autofocus onfocus=ran()>",
    "<marquee onstart=ran()>",
    "<body onload=ran()>",
    "<a href=javascript:ran() autofocus>x</a>",
    "<form action=javascript:ran()><input type=submit autofocus>",
    "<meta http-equiv=refresh content='0;url=javascript:ran()'>",
    "<base href=//localhost:1/>",
    "<link rel=stylesheet href=data:text/css,*{color:red}>",
    "<style>@import'data:text/css,*{color:red}';</style>",
    "<div style=animation-name:pulse onanimationstart=ran()>",
    "<noscript><p title='</noscript><img src=x onerror=ran()>'>",
    "<template shadowrootmode=open><script>ran()</script></template>",
    "<x onpointerenter=ran() autofocus tabindex=1 onfocus=ran()>x",
    "{{constructor.constructor('ran()')()}}",
    "${ran()}",
    "javascript:ran()",
    "+ADw-script+AD4-ran()+ADw-/script+AD4-",
)
AROUND = (
    "{}",
    '">{}',
    "'>{}",
    "</title></table></svg>{}",
    "--></style></script>{}",
)
PAYLOADS = tuple(
    around.format(vector) if "{}" in around else around for around in AROUND for vector in VECTORS
)


def facts() -> list[AnyFact]:
    """A round robin of all of them, in which each meets the next."""
    pairs = list(zip(PAYLOADS, PAYLOADS[1:] + PAYLOADS[:1], strict=True))
    pairings = tuple(Pairing(n, 1, one, other) for n, (one, other) in enumerate(pairs, 1))
    known: list[AnyFact] = [Opened(GAME, "round-robin"), *map(Entered, PAYLOADS)]
    known += [Turned(State.RUNNING), Drew(pairings)]
    for pairing in pairings:
        names, why = (pairing.first, pairing.second or ""), f"{pairing.first}: {pairing.second}"
        ending, winner = (Ending.ILLEGAL, 0) if pairing.number % 2 else (Ending.PLAYED, 1)
        times = (0.1,) * len(MOVES)
        score = (1.0, 0.0) if winner == 0 else (0.0, 1.0)
        known.append(
            Concluded(
                f"evil-{pairing.number}", pairing.number, names, winner, ending, why, score, (*MOVES,), times
            )
        )
    return [*known, Turned(State.FINISHED)]


async def main() -> None:
    set_up("error")  # its first line says where it listens
    host = Host(store=Memory(Kept("evil", 0.0, fact) for fact in facts()), grading=False)
    (listener,) = await listeners("127.0.0.1", 0, Limits())
    async with trio.open_nursery() as nursery:
        await nursery.start(host.run)
        pages = Pages(host, Addresses(http=where(listener)))
        http = Http(routed((Api(host, "t"),), pages), host.guard, host.limits)
        table = await host.table(GAME)
        for name in PAYLOADS[:: len(PAYLOADS) // LIVE]:
            await table.enter(name)
            player = host.lobby.enter(name, GAME)
            player.move_to(table.record.name)
            nursery.start_soon(play, player, first)
        table.wake()
        for held in host.tournaments.values():
            await host.boards.exact(held.record.public)  # on a busy machine a page would say "in a second"
        print(f"ready http={where(listener)}", flush=True)
        await serve(
            listener, http.attend, guard=host.guard, admission=Admission(host.limits), limits=host.limits
        )


if __name__ == "__main__":
    trio.run(main)
