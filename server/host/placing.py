"""Where a bot plays: where it is awaited, else where it can enter, else at the open table."""

from collections.abc import Awaitable, Callable
from heapq import nsmallest

import trio

from server.host.holding import Holding
from server.host.opening import OPEN
from server.host.reception import taken
from server.host.roll import Roll
from server.host.unwelcome import Unwelcome
from server.host.view import HeldTournament, PresentBots
from tournament.facts import Seated
from tournament.lobby import Lobby
from tournament.player import NOWHERE, Player
from tournament.record import Record
from tournament.refusals import Over, Refusal, expect_not_out, expect_not_over, takes_entrants
from tournament.tournament import Tournament

SOME = 4  # how many of the bots that are here a list names


class _Led(Exception):
    """There is nobody to be led anywhere any more."""


class Placing:
    def __init__(
        self,
        holding: Holding,
        lobby: Lobby,
        roll: Roll,
        table: Callable[[str], Awaitable[Tournament]],
        find: Callable[[str], HeldTournament | None],
    ) -> None:
        """`table` returns the open table of a game, which it opens when it is first needed.

        `find` returns a tournament by its name, whichever process holds it.
        """
        self._holding = holding
        self._lobby = lobby
        self._roll = roll
        self._table = table
        self._find = find
        self._in_turn: dict[str, trio.Lock] = {}  # by game: for those who come to its open table

    async def place(
        self,
        player: Player,
        wanted: str | None = None,
        seated: Seated | None = None,
        expect_current: Callable[[], None] = lambda: None,
        is_anothers: Callable[[Record], bool] = lambda record: False,
    ) -> Tournament:
        """Enter a player where it has to play; raises `Refusal` if it cannot.

        Whoever comes back and names no tournament stays where it is, even if it has entered several.
        Before it moves, `expect_current` may raise a reason why it goes by a later request. It enters no
        tournament in which its name `is_anothers`.
        """
        if wanted == OPEN + player.game:
            await self._opened(player.game)
        stays = self._tournament_of(player) if wanted is None else None
        while True:
            found = stays or self.tournament_for(player.name, player.game, wanted, is_anothers)
            found = found or await self._opened(player.game)
            if self._roll.alike(found.record, player.name) is not None:
                raise Refusal(
                    f"the name {player.name} is taken: in {found.record.name} another looks like it"
                )
            expect_not_out(found.record, player.name)
            try:
                await found.enter(player.name, seated=seated)
                expect_not_over(found.record)
            except Over:
                if wanted is not None:
                    raise
                stays = None  # that was so before it was let in: there may be room elsewhere
            except Refusal:
                settled = wanted is not None or stays is not None or player.name in found.record.entrants
                if settled or takes_entrants(found.record):
                    raise  # else the same one would be found again
                # Others were taken in before it, and now that is full: there may be room elsewhere
            else:
                expect_current()
                player.move_to(found.record.name)
                found.wake()
                return found

    async def _opened(self, game: str) -> Tournament:
        """The open table of a game.

        While it is being opened, others come to it. They go on in the order in which they came, and so do
        those who come when it is open already: whoever goes on enters at once, before the next one does.
        """
        turn, table = self._in_turn.get(game), self._holding.tournaments.get(OPEN + game)
        if table is not None and (turn is None or not turn.locked()):
            return table  # as for most who come: nobody waits, so no lock is needed
        if turn is None:
            turn = self._in_turn[game] = trio.Lock()
        try:
            turn.acquire_nowait()  # without a checkpoint
        except trio.WouldBlock:
            await turn.acquire()
        try:
            return await self._table(game)
        finally:
            turn.release()

    async def send_on(
        self, player: Player, is_anothers: Callable[[Record], bool] = lambda record: False
    ) -> bool:
        """Have a player whose tournament is gone play where it has entered, or else at the open table.

        It has come to no other tournament that takes entrants. Raises `Refusal` if it cannot. False: its bot
        has gone, or has come again and been led elsewhere, before its turn.
        """
        entered = (
            each
            for each in self._roll.awaiting(player.name, player.game)
            if player.name not in each.out and not is_anothers(each)
        )

        def expect_nowhere() -> None:
            if player.retired or player.place != NOWHERE:
                raise _Led

        try:
            expect_nowhere()
            wanted = next((each.name for each in entered), OPEN + player.game)
            await self.place(player, wanted, expect_current=expect_nowhere)
        except _Led:
            return False
        return True

    def tournament_for(
        self,
        name: str,
        game: str,
        wanted: str | None = None,
        is_anothers: Callable[[Record], bool] = lambda record: False,
    ) -> Tournament | None:
        """Where `place` would put a bot of that name that is nowhere yet; None is the open table."""
        current, held = self._holding.current, self._holding.tournaments
        if wanted is not None:
            if wanted in current.of(game):
                expect_not_out(current.of(game)[wanted], name)
                if is_anothers(current.of(game)[wanted]):
                    raise Refusal(taken(name))
                return held[wanted]
            raise Refusal(_not_there(wanted, game, self._find(wanted)))
        for record in self._roll.awaiting(name, game):
            if name not in record.out and not is_anothers(record):
                return held[record.name]
        return next((held[record.name] for record in current.taking(game, name)), None)

    def expects(self, name: str, game: str) -> bool:
        """Whether a tournament with an end awaits a bot of that name, or would take it in."""
        try:
            return self.tournament_for(name, game) is not None
        except Refusal:
            return False

    def expect_same_place(self, player: Player, wanted: str | None, *, goes_on: bool) -> None:
        """Raise `Unwelcome` if somebody would be taken out of its tournament, or to nowhere.

        It may if it `goes_on`, as the same bot, and is not playing. Tables and ladders have no end, and can
        be left at any time.
        """
        if wanted in (None, player.place) or (goes_on and player.seat is None):
            return
        if (here := self._tournament_of(player)) is not None:
            name, place = player.name, here.record.name
            raise Unwelcome(
                f"{name} plays in {place} over another connection, and a name plays a game in one place at a"
                f" time: come under another name, or when {place} is over"
            )
        if wanted != OPEN + player.game and wanted not in self._holding.current.of(player.game):
            held = self._find(wanted)
            raise Unwelcome(_not_there(wanted, player.game, held))  # and whoever is here still comes in

    def _tournament_of(self, player: Player) -> Tournament | None:
        """The tournament with an end that a player is in; none that is over, or that took it out."""
        here = self._holding.current.of(player.game).get(player.place or "")
        if here is None or here.format.endless or player.name in here.out:
            return None
        return self._holding.tournaments[here.name]

    def expect_alone(self, player: Player) -> None:
        """Raise `Refusal` if another bot plays there under the same name."""
        for other in self._lobby.named(player.name, player.game):
            if other is not player and other.place == player.place:
                raise Refusal(f"the name {player.name} is taken: somebody plays in {player.place} under it")

    def here(self, tournament: str) -> PresentBots:
        """The bots that are present in a tournament."""
        held = self._holding.tournaments.get(tournament)
        if held is None:
            return PresentBots()
        players = self._lobby.there(held.record.opened.game, tournament)
        names = {player.name for player in players if player.present}
        return PresentBots(len(names), tuple(nsmallest(SOME, names)))


def _not_there(wanted: str, game: str, held: HeldTournament | None) -> str:
    """Why a bot cannot play in the tournament that it names; `held` is the one of that name, if any."""
    if held is None:
        return f"there is no tournament {wanted!r} of {game} that is not over"
    if held.record.opened.game != game:
        return f"in {wanted} {held.record.opened.game} is played, and not {game}"
    return f"{wanted} is over"
