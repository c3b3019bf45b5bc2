"""The seed of a drawing of lots that the host chooses: sealed before anybody enters, revealed at the draw.

Lots depend on the seed and the names alone. So nobody who can still choose a name may know the seed,
and nobody who knows the names may choose it: the seed is shown later, and its hash at once.
"""

import secrets
from hashlib import sha256

from tournament.facts import Chose, Revealed, Sealed

BITS = 48  # of a seed: any program can read such a number from JSON
SALT = 16  # bytes that nobody guesses


def sealed() -> tuple[Sealed, Chose]:
    """A new seed: what everybody is told, and what the host keeps to itself."""
    chose = Chose(secrets.randbits(BITS), secrets.token_hex(SALT))
    return Sealed(commitment(chose)), chose


def revealed(chose: Chose) -> Revealed:
    return Revealed(chose.seed, chose.salt)


def commitment(fact: Chose | Revealed) -> str:
    """SHA-256 of the seed, a space and the salt, in hexadecimal."""
    return sha256(f"{fact.seed} {fact.salt}".encode()).hexdigest()
