"""Who is here, as a format without an end is told."""

from math import inf

from tournament.facts import Entered, Opened, Withdrew
from tournament.format import Entrant
from tournament.lobby import Lobby
from tournament.presence import Presence
from tournament.record import Record
from tournament.timekeeper import Timekeeper


async def test_a_format_is_told_of_who_is_free_and_of_one_who_is_not() -> None:
    record = Record("cup", Opened("tic-tac-toe", "ladder"))
    lobby = Lobby()
    presence = Presence(record, "tic-tac-toe", lobby, Timekeeper(inf), 30.0)
    names = ("ann", "bob", "cas", "dee", "eve")
    for name in names:
        record.add(Entered(name))
    stranger, ann, bob, cas, dee, eve = (lobby.enter(name, "tic-tac-toe") for name in ("zoe", *names))
    lobby.enter("ann", "connect-4").reserved = True
    bob.against = "ann"
    assert presence.here(presence.idle()) == [
        Entrant("ann"), Entrant("bob", against="ann"), Entrant("cas"), Entrant("dee"), Entrant("eve")
    ]  # fmt: skip
    stranger.reserved = cas.reserved = dee.reserved = True
    eve.away()
    ann.free()
    assert presence.here(presence.idle()) == [
        Entrant("ann"),
        Entrant("bob", against="ann"),
        Entrant("cas", free=False),
    ]
    record.add(Withdrew("cas", False))
    assert presence.here(presence.idle())[2:] == [Entrant("dee", free=False)]
    dee.place = "another"
    assert presence.here(presence.idle())[2:] == []
