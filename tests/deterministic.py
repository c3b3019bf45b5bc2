"""Whose turn it is among trio's tasks: a lot that is drawn anew in each run, unless a seed decides it."""

import trio


def take_turns_by(seed: int) -> None:
    """From now on tasks take turns in an order that this seed decides."""
    trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING = True
    trio._core._run._r.seed(seed)
