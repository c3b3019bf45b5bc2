"""`python -m tests.server.show.borrower 5`: a show in a process of its own, which is to be killed.

5 is the descriptor of its conduit.

What is below `/held` is never answered, what is below `/stream` begun and never ended, the rest at once.
"""

import socket
import sys

import trio

from server.http.exchange import Exchange
from server.net.guard import Guard
from server.net.limits import Limits
from server.show.borrowing import Borrowing
from tests.server.show.lent import is_shown, says


def answer(exchange: Exchange) -> None:
    path = exchange.request.path
    if path.startswith("/stream"):
        exchange.stream().put(b"so far")
    elif not path.startswith("/held"):
        says("show")(exchange)


async def main(number: int) -> None:
    with socket.socket(fileno=number) as conduit:
        async with trio.open_nursery() as nursery:
            await Borrowing(conduit, answer, Guard(nursery), Limits(), is_shown).run()


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
