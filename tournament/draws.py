"""What a format adds to a tournament. The format is asked only when its answer can have changed."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec import structs

from tournament.facts import Drew, Revealed
from tournament.format import Entrant, Pairing, Terms
from tournament.presence import Presence
from tournament.record import Record
from tournament.sealing import revealed

Elsewhere = Callable[[Record, Callable[[], Sequence[Pairing]]], Awaitable[Sequence[Pairing]]]

RandomBits = Callable[[int], int]  # returns a number of so many random bits

SECRET = 128  # bits of a seed that nobody is told: too many to try all of them
FEW = 30  # entrants …
SHORT = 1_000  # … and pairings, with all that were drawn before: such a draw is quick


async def draw_here(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
    """Draw here and now."""
    return draw()


def as_drawn(record: Record, pairings: Iterable[Pairing]) -> Drew:
    """The fact that the format's present rules have added these pairings."""
    return Drew(tuple(pairings), record.format.rules)


def reveals(record: Record) -> Iterator[Revealed]:
    """The seed that the host has chosen, if nobody was told it yet: kept just before the first draw by it.

    Until then entrants may come or go, and choose a name that suits a seed that they know.
    """
    if record.chose is not None and record.revealed is None:
        yield revealed(record.chose)


def with_secret_lots(terms: Terms, random_bits: RandomBits) -> Terms:
    """Terms by which nobody can compute beforehand what lots decide in a tournament without an end.

    There names come and go between lots, so that no seed can be told to anybody: a bot could choose its
    name to suit it. Nothing is ever drawn again there either, so the seed is not kept.
    """
    return structs.replace(terms, seed=random_bits(SECRET)) if terms.lots else terms


class Draws:
    def __init__(
        self, record: Record, presence: Presence, elsewhere: Elsewhere, random_bits: RandomBits
    ) -> None:
        """Draws that take long are made `elsewhere`, where they hold up nobody."""
        self._record = record
        self._presence = presence
        self._elsewhere = elsewhere
        self._asked: tuple[int, int] | None = None  # arrivals and matches when the format was last asked
        self._put_off: Sequence[Pairing] = ()  # what it returned then, for a round that may not begin yet
        self._endless_terms = with_secret_lots(record.terms, random_bits)

    def put_off(self, drawn: Sequence[Pairing]) -> None:
        """Return the same draw as long as nothing changes: it is not kept before its round begins."""
        self._put_off = drawn

    async def drawn(self, room: float) -> Sequence[Pairing]:
        """What the format adds now; `room` is how many more matches can be played at once.

        Without an end, nothing is drawn that cannot begin, or before what was drawn earlier: a table with
        more bots than may play would draw for ever.
        """
        record = self._record
        if record.format.endless:
            if room <= 0 or record.open or len(idle := self._presence.idle()) < 2:
                return ()
            return record.format.draw(self._presence.here(idle), *record.past(), self._endless_terms)
        now = record.arrivals, record.ended if record.format.midway else 0
        if now == self._asked and (record.open or record.dealt):
            self._put_off = ()
            return ()
        if now == self._asked and self._put_off:
            return self._put_off
        self._asked, self._put_off = now, ()
        entrants = list(record.entrants.values())
        draw = partial(_draw, record, entrants)
        return draw() if _is_quick(record) else await self._elsewhere(record, draw)


def _is_quick(record: Record) -> bool:
    """Whether a draw holds up nobody. A few entrants may meet ten thousand times."""
    entrants, rounds = len(record.entrants), record.format.rounds
    at_the_start = 0 if rounds is None else rounds(entrants, record.opened.terms) * entrants // 2
    few = entrants <= FEW and record.last_drawn + at_the_start <= SHORT
    return few and not record.format.decides


def _draw(record: Record, entrants: Sequence[Entrant]) -> Sequence[Pairing]:
    """Draw by the record as it is now. Its past is copied here and not before: there may be much of it."""
    return record.format.draw(entrants, *record.past(), record.secret_terms)
