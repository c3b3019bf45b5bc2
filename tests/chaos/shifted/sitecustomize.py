"""Python imports this at its start under libfaketime, whose version 0.9.10 refuses every `time.sleep`.

It takes no absolute times for `clock_nanosleep` where it leaves monotonic clocks alone. `select` needs none.
"""

import select
import time


def sleep(seconds: float) -> None:
    select.select((), (), (), seconds)


time.sleep = sleep
