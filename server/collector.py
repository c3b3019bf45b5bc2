"""How often the garbage collector looks: for both processes, once all that they begin with is there."""

import gc


def calm() -> None:
    """Collect less often: what is here now stays, and with a thousand matches most objects live long."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 1_000)
