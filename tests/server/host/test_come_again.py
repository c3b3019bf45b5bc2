"""Refusals that are not meant for ever: clients know them by their words, or by their status."""

from typing import Any, cast

import protocol
import pytest
import quintain_bot
from trio.testing import MockClock

from server.exits import Unavailable
from server.host.host import Host
from server.host.unwelcome import ELSEWHERE, STOPPING, ComeAgain, PlaysElsewhere, Unwelcome
from server.peers.ledger import no_answer
from server.peers.link import OUT_OF_REACH
from server.protocols.common.unwelcome import status_of
from tests.server.transcripts import hosting
from tournament.events import HOST_FAILED
from tournament.refusals import NotNow, Refusal

AWAY = str(no_answer(Unavailable("connection refused")))


@pytest.mark.parametrize("why", [HOST_FAILED, ELSEWHERE, STOPPING, OUT_OF_REACH, AWAY])
def test_whoever_may_come_again_is_told_so_in_words_that_its_client_knows(why: str) -> None:
    said = str(ComeAgain(why))
    assert said.startswith(why)
    for known in (quintain_bot.SOON, protocol.LATER):
        assert sum(said.count(words) for words in known) == 1
    assert status_of(ComeAgain(why), 409, draining=False)[0] == 503
    assert status_of(Unwelcome(why), 409, draining=False)[0] == 409


class Others:
    """Other processes, one of which holds the table; or the database, which does not answer."""

    def __init__(self, why: Refusal | None) -> None:
        self._why = why

    def entered(self, name: str, game: str) -> tuple[()]:
        return ()

    async def opens(self, game: str) -> bool:
        if self._why is not None:
            raise self._why
        return False

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"nobody was to ask for {name}")


@pytest.mark.parametrize(("why", "kind"), [(None, PlaysElsewhere), (NotNow(AWAY), ComeAgain)])
async def test_a_bot_for_which_there_is_no_place_here_just_now_may_come_again(
    why: Refusal | None, kind: type[ComeAgain], autojump_clock: MockClock
) -> None:
    """Catches a client that stays away for good, as all places were taken on its way to another worker."""
    async with hosting({}) as (host, _):
        cast("Host", host).abroad = cast("Any", Others(why))
        with pytest.raises(kind) as told:
            await host.arrive("ann", "tic-tac-toe")
        assert any(words in str(told.value) for words in quintain_bot.SOON)
        assert not host.reception.held("ann", "tic-tac-toe")
