"""A host for checks that are neither about its start nor about its process for pages.

Both take a second of a processor, and are there where `Inspected` is used itself.
"""

from collections.abc import Mapping

from tests.blackbox.inspected import Inspected
from tests.server import forked


class ForkedHost(Inspected):
    """The same command, in a process that need not import anything, and shows pages itself."""

    def start(self, arguments: tuple[str, ...], environment: Mapping[str, str]) -> forked.Forked:
        return forked.Forked(
            arguments, self.folder, {"QUINTAIN_SHOW": "0", "QUINTAIN_GRADING": "false", **environment}
        )
