"""How hard hypothesis tries: `HYPOTHESIS_PROFILE=campaign` gives it a hundred times as many examples.

Under continuous integration its examples are the same each time.
"""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = 30  # for each law and each game: the laws take some seconds in all
SAME = bool(os.environ.get("CI"))
BUSY = [HealthCheck.too_slow]  # a machine that has other things to do is no fault of a test

settings.register_profile(
    "default", max_examples=EXAMPLES, deadline=None, suppress_health_check=BUSY, derandomize=SAME
)
settings.register_profile("campaign", settings.get_profile("default"), max_examples=100 * EXAMPLES)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
