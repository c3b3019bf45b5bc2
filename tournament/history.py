"""The history of a table without an end, match by match, in eight bytes each.

A record forgets matches that are long over (`record.py`) and keeps what they add up to
(`tally.py`). If an entrant is disqualified or a match is voided, the sums have to be
worked out anew. That is why the history knows of every match who met whom and how it
went.

A match is one number: both names by their numbers, what the match came to, and how far
the number of its pairing is from its place here. Matches end nearly in the order in
which they were drawn, so that distance is small; where it is not, it is kept apart.
No names are kept of a match that counts for nobody: strangers have such matches under
ever new ones.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from sys import intern

from tournament.format import Pairing, Result, Score

NAME = 24  # bits for the number of a name: 16 million
KIND = 3  # bits for what it came to
SHIFT = 64 - 2 * NAME - KIND  # bits for how far a pairing's number is from its place
FAR = 1 << SHIFT - 1
STRAY = 0  # in place of the distance: it is too large for these bits
PIECE = 4096  # matches that are kept together: what is full never changes, and is shared by copies

NAMES, KINDS, SHIFTS = (1 << NAME) - 1, (1 << KIND) - 1, (1 << SHIFT) - 1
NOBODY = NAMES  # in place of the numbers of names
NOTHING: tuple[Score, bool] = ((0.0, 0.0), False)
CAME_TO: tuple[tuple[Score, bool] | None, ...] = (  # by kind: the score, and whether a move was made
    None,  # counts for nobody
    NOTHING,
    ((1.0, 0.0), False),
    ((0.0, 1.0), False),
    ((0.5, 0.5), False),
    ((1.0, 0.0), True),
    ((0.0, 1.0), True),
    ((0.5, 0.5), True),
)
KIND_OF: Mapping[object, int] = {came_to: kind for kind, came_to in enumerate(CAME_TO)}


class History:
    """Matches in the order in which they ended. They are added, and may be taken back."""

    def __init__(self) -> None:
        self.names: list[str] = []  # by number
        self.taken_back: set[int] = set()  # places of matches that no longer count
        self.strays: dict[int, int] = {}  # by place: numbers of pairings that are far from it
        self._numbers: dict[str, int] = {}  # by name
        self._full: list[array[int]] = []
        self._latest = array("Q")

    def __len__(self) -> int:
        return PIECE * len(self._full) + len(self._latest)

    def __copy__(self) -> "History":
        """A cheap copy: pieces that are full are shared."""
        other = History()
        other.names, other._numbers = self.names.copy(), self._numbers.copy()
        other.taken_back, other.strays = self.taken_back.copy(), self.strays.copy()
        other._full, other._latest = self._full.copy(), self._latest[:]
        return other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and self._known == other._known

    def __contains__(self, name: str) -> bool:
        """Whether anybody of that name has played one of these matches that counted."""
        return name in self._numbers

    def add(self, result: Result, *, counts: bool) -> None:
        """Add what came of a pairing."""
        number, place = result.pairing.number, len(self)
        shift = number - place + FAR
        if not STRAY < shift <= SHIFTS:
            self.strays[place] = number
            shift = STRAY
        names = [self._number(name) for name in result.pairing.names] if counts else [NOBODY]
        played = result.played and result.score != (0, 0)  # 0–0 says nothing about strength either way
        kind = KIND_OF[result.score, played] if counts else 0
        # For a bye, the same name twice
        self._latest.append(((names[0] << NAME | names[-1]) << KIND | kind) << SHIFT | shift)
        if len(self._latest) == PIECE:
            self._full.append(self._latest)
            self._latest = array("Q")

    def take_back(self, number: int) -> bool:
        """Make the match of that pairing no longer count; False if it did not count anyway."""
        place = self._place(number)
        if place is None or place in self.taken_back or not self._at(place) >> SHIFT & KINDS:
            return False
        self.taken_back.add(place)
        return True

    def append(self, result: Result) -> None:
        """Add a result that counts."""
        self.add(result, counts=True)

    def __getitem__(self, place: int) -> Result:
        """The result of that match, without its round and digest; 0–0 of nobody if it does not count."""
        packed = self._at(place)
        shift, names = packed & SHIFTS, packed >> SHIFT + KIND
        number = self.strays[place] if shift == STRAY else place + shift - FAR
        if (came_to := CAME_TO[packed >> SHIFT & KINDS]) is None:
            return Result(Pairing(number, 0, "", None), *NOTHING)
        first, second = names >> NAME, names & NAMES
        met = Pairing(number, 0, self.names[first], None if first == second else self.names[second])
        return Result(met, *came_to)

    def __iter__(self) -> Iterator[Result]:
        return (self[place] for place in range(len(self)))

    def read(self, start: int, end: int) -> Iterator[Result]:
        """The results that count, of the matches between these places."""
        for place in range(start, min(end, len(self))):
            if place not in self.taken_back and self._at(place) >> SHIFT & KINDS:
                yield self[place]

    # As data

    def packed(self) -> bytes:
        return b"".join(piece.tobytes() for piece in (*self._full, self._latest))

    @classmethod
    def unpacked(
        cls, names: Iterable[str], packed: bytes, taken_back: set[int], strays: dict[int, int]
    ) -> "History":
        history = cls()
        history.names = [*map(intern, names)]
        history._numbers = {name: number for number, name in enumerate(history.names)}
        history.taken_back, history.strays = taken_back, strays
        size = PIECE * history._latest.itemsize
        for start in range(0, len(packed), size):
            piece = array("Q", packed[start : start + size])
            if len(piece) == PIECE:
                history._full.append(piece)
            else:
                history._latest = piece
        return history

    # Within

    @property
    def _known(self) -> tuple[object, ...]:
        return self.names, self.taken_back, self.strays, self._full, self._latest

    def _at(self, place: int) -> int:
        piece, index = divmod(place, PIECE)
        return self._full[piece][index] if piece < len(self._full) else self._latest[index]

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            if number >= NOBODY:
                raise OverflowError(f"a table has room for {NOBODY} names, and {name} is one more")
            self.names.append(name)
        return number

    def _place(self, number: int) -> int | None:
        """Where the match of a pairing is: usually near its number."""
        for place, stray in self.strays.items():
            if stray == number:
                return place
        for far in range(FAR + 1):
            for place in (number - far, number + far):
                if 0 <= place < len(self) and self._at(place) & SHIFTS == number - place + FAR != STRAY:
                    return place
        return None
