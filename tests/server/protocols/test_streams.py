"""What many who watch one match cost. What they are told is in `test_api.py`."""

from types import SimpleNamespace
from typing import Any

from games.catalogue import catalogue
from server.protocols.api import streams
from tournament.match import Match


class Spectator:
    """A client's request for the events of a match, and what it is sent."""

    request = SimpleNamespace(headers={}, query={})

    def __init__(self) -> None:
        self.told: list[bytes] = []

    def authenticated(self) -> None: ...

    def on_gone(self, gone: object) -> None: ...

    def stream(self, *answer: object) -> Any:
        return SimpleNamespace(put=self.told.append, close=lambda: None)


def test_what_all_who_watch_a_match_are_told_of_an_event_is_made_once() -> None:
    """Catches drawing up a move for each of thousands: that took as long as all other moves may wait."""
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    spectators: list[Any] = [Spectator() for _ in range(3)]
    for each in spectators:
        streams.stream_match(each, SimpleNamespace(matches={"": match}), "")  # pyright: ignore
    while match.verdict is None:
        match.play(match.position.turn, match.game.write(next(iter(match.position.moves()))), 1.0)
    told = [each.told[1:] for each in spectators]  # what came after they had begun to watch
    assert [len(each) for each in told] == [match.ply + 1] * 3
    assert all(other is first for first, *others in zip(*told, strict=True) for other in others)
