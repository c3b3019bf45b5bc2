"""Which entrants of a tournament are here, and how long the tournament has waited for the others.

It looks at the lobby and at the record, and decides nothing: the tournament asks
which pairings have waited too long, and closes them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, islice
from math import inf

import trio
from msgspec import Struct, structs

from tournament import rounds
from tournament.absences import Absences
from tournament.delays import Delays
from tournament.deserted import Deserted
from tournament.facts import (
    Admitted,
    AnyFact,
    Concluded,
    Dealt,
    Disqualified,
    Drew,
    Entered,
    RoundBegan,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import Entrant, Pairing
from tournament.lobby import Lobby
from tournament.player import Player
from tournament.record import Record
from tournament.timekeeper import Timekeeper
from tournament.waiting import Sought

PIECE = 250  # entrants that are looked at before other tasks get their turn: about a millisecond
PAUSED = 0.5  # seconds, at the least, between two looks at whoever is absent, while all clocks stand still


class Missing(Struct, frozen=True):
    """An entrant that is awaited and not here."""

    name: str
    since: float  # wall time


class AbsentEntrant(Struct, frozen=True):
    """An entrant that is not here. What is told of it is made once: there may be thousands."""

    since: float
    told: Missing


class Presence:
    def __init__(
        self,
        record: Record,
        game: str,
        lobby: Lobby,
        timekeeper: Timekeeper,
        grace: float,
        newcomers: Mapping[str, Entrant] | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`newcomers` take part in a format without an end and are not in the record yet."""
        self._newcomers: Mapping[str, Entrant] = {} if newcomers is None else newcomers
        self._record = record
        self._game = game
        self._lobby = lobby
        self._timekeeper = timekeeper
        self._wall = wall
        self._heard: dict[str, None] = {}  # names about which something has changed since the last look
        self._absent: dict[str, AbsentEntrant] = {}  # whoever has been away longest first
        self._going_on = -inf  # since when nothing is put off: whoever was absent before was not waited for
        self._absences = Absences(grace) if record.opened.settles else Delays(grace)
        self._deserted = Deserted(grace)
        # Entrants who are here and have not gone for good, also those who want no more matches
        self._here: set[str] = set()
        self._arrived: set[str] = set()  # those who have been here since this was last asked for
        self.been: set[str] = set()  # those who have been here since the host was started
        # Who plays in the next round, as of when, and as it was drawn, where that was told
        self._next: tuple[object, Set[str] | None] = None, None
        self._foreseen: tuple[Sequence[Pairing], Set[str]] = (), frozenset()
        self._free: set[str] = set()  # those who were idle when last looked at, and not dealt to since
        self._sought: Sought = {}  # those of these with perhaps something to play

    def here(self, idle: Iterable[Player]) -> list[Entrant]:
        """The entrants that a format without an end is given: the `idle` ones, perhaps one that is busy.

        They are in the order of arrival. If many are free, these are some that have waited longest. An
        entrant that is here several times is listed once for each opponent that it came for.
        """
        entrants = ((player, self._entrant(player.name)) for player in idle)
        free = [self._shown(entrant, player) for player, entrant in entrants if entrant is not None]
        if self._record.format.choosy:
            return free  # there it makes no difference who is busy, and a look for it might pass by thousands
        return [*free, *islice(self._busy(), 1)]

    def _shown(self, entrant: Entrant, player: Player) -> Entrant:
        """The entrant, with what a format without an end needs to know of one that is free."""
        last = self._lobby.reputation.comes_last(self._game, entrant.name, trio.current_time())
        if player.against is None and not last:
            return entrant
        return structs.replace(entrant, against=player.against, last=last)

    def _entrant(self, name: str) -> Entrant | None:
        return self._record.entrants.get(name) or self._newcomers.get(name)

    def _busy(self) -> Iterator[Entrant]:
        """The entrants who are here and playing, or about to play."""
        record = self._record
        playing = (name for number in record.dealt.values() for name in record.drawn[number].names)
        players = chain.from_iterable(self._lobby.named(name, self._game) for name in playing)
        there = (self._lobby.there(self._game, place) for place in (record.name, None))
        for player in chain(players, *there):
            if player.present and player.rested and not player.idle and self._plays_here(player):
                entrant = self._entrant(player.name)
                if entrant is not None and not entrant.gone:
                    yield structs.replace(entrant, free=False)

    def idle(self) -> list[Player]:
        """The entrants of a format without an end who can be dealt to now, in the order of arrival.

        If there are many, these are some that have waited longest.
        """
        record = self._record
        return self._lobby.idle(self._game, record.name, self._takes_part, choosy=record.format.choosy)

    def _takes_part(self, player: Player) -> bool:
        entrant = self._entrant(player.name) if self._plays_here(player) else None
        return entrant is not None and not entrant.gone

    # For formats that end: who is here and who is not, kept up to date name by name

    def heard(self, *names: str) -> None:
        """Something has changed about these: they may be here, gone or free, or have something to play."""
        if not self._record.format.endless:
            self._heard.update((name, None) for name in names if name in self._record.entrants)

    def changed(self, player: Player) -> None:
        """A player came, went or is free. One that has come is not absent, however soon it goes again."""
        name = player.name
        if not self._record.format.endless and name in self._record.entrants:
            self._note(name, self.named(name))
            self._heard[name] = None

    def heard_of_all(self) -> None:
        self.heard(*self._record.entrants)

    def told(self, fact: AnyFact) -> None:
        """A fact was added to the record."""
        match fact:  # the most frequent first: trying a class that a fact does not have takes long
            case Concluded(score=None, players=players):
                self.heard(*players)
            case RoundBegan():
                self._foreseen = (), frozenset()
                self._more_to_play()
            case Drew():
                self._more_to_play()
            case Concluded():
                pass
            case Dealt():
                self._deserted.renew(self._unstalled())
            case Entered(name=name) | Admitted(name=name) | Withdrew(name=name) | Disqualified(name=name):
                self.heard(name)
            case Voided(match=match):
                self.heard(*self._record.players(match))
            case Turned(state=State.RUNNING):
                self._going_on = trio.current_time()
                self.pause()
                self._more_to_play()
            case _:
                pass

    async def catch_up(self) -> None:
        """Look at those about whom something has changed, a few at a time, before others ask for all of them.

        At a start, and when a round begins, these are all entrants.
        """
        while self.lags:
            names = [*islice(self._heard, PIECE)]
            for name in names:
                del self._heard[name]
            self._look_at(names)
            await trio.lowlevel.checkpoint()

    @property
    def lags(self) -> bool:
        """Whether there are so many to look at that this is only done in `catch_up`."""
        return len(self._heard) > PIECE

    @property
    def absent(self) -> Set[str]:
        """The entrants who are not here."""
        self._catch_up()
        return self._absent.keys()

    def arrived(self) -> Set[str]:
        """The entrants who have been here since this was last asked, however soon they went again."""
        self._catch_up()
        arrived, self._arrived = self._arrived, set[str]()
        return arrived

    def missing(self, played: Iterable[Iterable[str]] = ()) -> dict[str, Missing]:
        """The entrants who are awaited and not here, longest first; not those who have checked in.

        An entrant that plays one of the matches that are `played` is awaited there, whatever else it has
        to play. These are looked at only if somebody is not here, because this is asked for again and
        again. While something has changed about many, it is as of before (`lags`).
        """
        if not self.lags:
            self._catch_up()
        if not self._absent:
            return {}
        record, playing = self._record, {name for names in played for name in names}
        # Looked up here and not for each: there may be ten thousand, and all matches wait meanwhile.
        out, checked_in, due = record.out, record.checked_in, record.open.players
        soon = record.state is State.REGISTERING
        between = not (record.open.due or record.dealt) and rounds.coming(record) is not None
        next_players = self._next_players() if between else frozenset[str]()
        return {
            name: away.told
            for name, away in self._absent.items()
            if name not in out
            and (name not in checked_in if soon else name in next_players or name in due or name in playing)
        }

    def foresee(self, drawn: Sequence[Pairing]) -> None:
        """Know what the next round will be if nobody comes or goes before it begins."""
        if drawn is not self._foreseen[0]:
            self._foreseen = drawn, rounds.players_of(drawn)

    def _next_players(self) -> Set[str]:
        """Who meets somebody in the next round, worked out when that may have changed.

        In a large knockout nobody is known before it is drawn, which is done where it holds up no match.
        """
        now = self._record.arrivals, self._record.ended, self._record.round
        if self._next[0] != now:
            self._next = now, rounds.next_players(self._record)
        return self._foreseen[1] if self._next[1] is None else self._next[1]

    def waited(self, name: str) -> float:
        """Seconds for which the tournament has waited for somebody who is absent."""
        now, away = trio.current_time(), self._absent.get(name)
        return now - max(now if away is None else away.since, self._going_on)

    def wants_no_more(self, name: str) -> bool:
        """Whether somebody has been dealt as many matches as it had asked for, and has not gone for good."""
        return any(each.matches_left == 0 for each in self.named(name))

    def wait_left(self, name: str, pairings: int) -> float:
        """Seconds for which this many pairings of an absent entrant hold up the others, if it stays away."""
        wait = self._absences.wait_left(name, pairings, self._now())
        return wait + self._deserted.left(self._unstalled()) if wait else wait

    def meetings(self) -> Iterator[tuple[Pairing, tuple[Player, Player]]]:
        """The pairings that can be played now, in the order of drawing, with nobody twice.

        Each pairing that is taken has to be dealt; the rest are there the next time.
        """
        self._catch_up()
        while self._sought:
            for pairing in self._record.open.meetings(self._free, self._sought):
                self._free.difference_update(pairing.names)
                for name in pairing.names:
                    self._absences.came(name)
                first, second = (self._free_under(name) for name in pairing.names)
                if not (first and second):  # one of them is busy elsewhere after all: look again without it
                    self.heard(*pairing.names)
                    self._catch_up()
                    break
                yield (
                    pairing,
                    (whoever_came_for(second[0].name, first), whoever_came_for(first[0].name, second)),
                )

    @property
    def more_can_meet(self) -> bool:
        """Whether there may be more to deal than was taken from `meetings`."""
        self._catch_up()
        return bool(self._sought)

    def _catch_up(self) -> None:
        heard, self._heard = self._heard, {}
        self._look_at(heard)

    def _look_at(self, names: Iterable[str]) -> None:
        for name in names:
            here = self.named(name)
            self._note(name, here)
            if name not in self._record.out and any(each.idle for each in here):
                self._free.add(name)
                self._seek(name)
            else:
                self._free.discard(name)
                self._sought.pop(name, None)

    def _more_to_play(self) -> None:
        """Anybody who had nothing to play may have something now. Who is here and free is known."""
        self.heard(*self._absent)
        for name in self._free:
            self._seek(name)

    def _seek(self, name: str) -> None:
        """Somebody is free, perhaps for what it has to play."""
        if (first := self._record.open.first(name)) is not None:
            self._sought[name] = first
        self._absences.free(name)

    def _note(self, name: str, players: Sequence[Player]) -> None:
        here = any(each.present for each in players)
        if here:
            self._absent.pop(name, None)
            self._arrived.add(name)
            self.been.add(name)
        elif name not in self._absent:
            self._absent[name] = AbsentEntrant(trio.current_time(), Missing(name, round(self._wall(), 3)))
        stays = here or any(each.matches_left == 0 for each in players)
        if stays and name not in self._record.out:
            self._here.add(name)
        else:
            self._here.discard(name)
        if here:
            self._absences.came(name)
        else:
            self._absences.went(name, plays=self._record.open.count(name) > 0, now=self._now())

    def knows(self, name: str) -> bool:
        """Whether a player of that name is here or may come back: of thousands, the first will do."""
        return any(map(self._plays_here, self._lobby.named(name, self._game)))

    def named(self, name: str) -> list[Player]:
        return [each for each in self._lobby.named(name, self._game) if self._plays_here(each)]

    def _free_under(self, name: str) -> list[Player]:
        return [each for each in self.named(name) if each.idle]

    def settled(self, length: float, *, playing: bool) -> list[Pairing]:
        """The pairings that are over because an entrant is absent, unless `more_can_meet`.

        `length` is about how many seconds a match takes, and `playing` is whether there are any.
        """
        now = trio.current_time()
        self._timekeeper.catch_up(now)
        if self._timekeeper.paused or now < self._timekeeper.listens_until:
            return []
        due = bool(self._record.open.due)
        if self._deserted.look(self._unstalled(), deserted=due and not self._here):
            return []
        return self._absences.settled(self._now(), self._free, self._record.open, length, playing=playing)

    def wait_for_nobody(self) -> None:
        """Stop waiting: nothing more could be played now, even if somebody came."""
        self._absences.put_off()

    def pause(self) -> None:
        """Wait for nobody until the tournament goes on, and then anew."""
        self._catch_up()  # with those who enter, a few at a time, and not with thousands when it begins
        self._absences.forget()
        self._deserted.renew(self._unstalled())

    @property
    def waits_until(self) -> float:
        """When the next pairing is overdue, if nobody comes or goes."""
        now = trio.current_time()
        stalled, deserted = self._timekeeper.stalled, self._deserted
        until = -inf if self._absences.more else self._absences.until + deserted.stood + stalled
        if deserted.until < inf:  # whoever is not waited for yet will be when the clock goes on
            until = deserted.until + stalled
        if self._timekeeper.paused:
            return max(until, now + PAUSED)
        return self._timekeeper.listens_until if now < self._timekeeper.listens_until else until

    def _now(self) -> float:
        """By a clock that stands still whenever the host does, and for a while if nobody is here."""
        return self._deserted.now(self._unstalled())

    def _unstalled(self) -> float:
        return trio.current_time() - self._timekeeper.stalled

    def _plays_here(self, player: Player) -> bool:
        return player.place in (None, self._record.name)


def whoever_came_for(opponent: str, players: list[Player]) -> Player:
    """The one of a name's players that wants only that opponent; else one that takes anybody."""
    return max(players, key=lambda player: (player.against == opponent, player.against is None))
