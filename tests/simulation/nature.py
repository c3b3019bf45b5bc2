"""How a bot behaves: composed of ways to think and of vices, each with the likelihood that it is tempted.

Whoever has no vice but the harmless ones is honest: it answers every prompt
legally and in time, and must never lose but by the rules of the game.
"""

from collections.abc import Mapping

from msgspec import Struct

from tournament.player import GRACE

THINKING = ("quick", "slow", "dithers", "exact", "queued")  # all of them in time
TIMING = ("hair", "late", "silent")  # vices at a prompt: none of them in time
TALKING = ("junk", "illegal", "resigns", "quits", "retires")  # what comes in place of a move
COMING = ("lags", "misses")  # when a match is dealt: late for it, within the patience and not
WANDERING = ("blinks", "strays", "departs", "doubles")  # at any time
CHATTING = ("interrupts", "concedes")  # out of turn
VICES = (*TIMING, *TALKING, *COMING, *WANDERING, *CHATTING)
HARMLESS = ("lags", "blinks", "doubles", "interrupts")


class Nature(Struct, frozen=True):
    thinking: tuple[str, ...] = ("quick",)
    vices: Mapping[str, float] = {}
    comes: float = 0.0  # seconds after the beginning; inf: never
    returns: float = 5.0  # seconds after the host is back from a crash

    @property
    def honest(self) -> bool:
        return max(self.comes, self.returns) < GRACE and all(vice in HARMLESS for vice in self.vices)
