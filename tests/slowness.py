"""How much slower a machine is just now than those that bounds in seconds were written for.

A machine that is shared may be a third as fast as it was an hour ago, and that is
no fault of what is measured. The loop does nothing but what Python does always.
"""

from time import process_time

UNHURRIED = 0.04  # seconds that the loop takes on a machine with nothing else to do


def slowness() -> float:
    """Times slower; one where it is as fast as it should be, or faster."""
    return max(1.0, min(_loop() for _ in range(3)) / UNHURRIED)


def _loop() -> float:
    began, total = process_time(), 0
    for number in range(1_000_000):
        total += number & 3
    return process_time() - began
