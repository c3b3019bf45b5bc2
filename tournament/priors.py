"""What is believed of the strengths in a large field before anybody has played."""

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Prior(Protocol):
    """What is believed of each strength beforehand."""

    def at(self, strengths: "Floats") -> tuple["Floats", "Floats"]:
        """By how much it pulls each towards 0, and by how much that grows with the strength."""
        ...


class DrawnGames(Struct, frozen=True):
    """So many drawn games against an average opponent."""

    many: float

    def at(self, strengths: "Floats") -> tuple["Floats", "Floats"]:
        import numpy as np

        half = np.tanh(strengths / 2)
        return self.many * half / 2, self.many * (1 - half**2) / 4


class Normal(Struct, frozen=True):
    """A normal distribution."""

    sure: float  # one by its variance

    def at(self, strengths: "Floats") -> tuple["Floats", "Floats"]:
        import numpy as np

        return self.sure * strengths, np.full(len(strengths), self.sure)
