"""How hard tests try: `make test` so much, and `make campaign`, which has hours, more.

Hypothesis is told the same in `conftest.py`.
"""

import os

IS_CAMPAIGN = os.environ.get("HYPOTHESIS_PROFILE") == "campaign"


def tries(usual: int, campaign: int) -> int:
    """How many there are to be in this run."""
    return campaign if IS_CAMPAIGN else usual
