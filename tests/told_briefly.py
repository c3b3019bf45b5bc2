"""Workers of pytest tell the process that starts them what it shows, and nothing besides.

Of each test they would tell that it begins, that it was prepared, how it went, that it was cleaned up after,
and that it is over. Almost all tests have but one thing to tell: how they went. The rest is a third of what a
test costs that does nothing, and there are fifteen thousand.
"""

from collections.abc import Callable
from typing import Any

import pytest

SOON = 0.05  # seconds: what takes longer may be among the slowest that are shown at the end
TURNS = ("logstart", "logfinish")


def tell_briefly(config: pytest.Config) -> None:
    """If this process is a worker, and nobody wants to see each test begin and end."""
    if config.get_verbosity() > 0:
        return
    for plugin in config.pluginmanager.get_plugins():
        send = getattr(plugin, "sendevent", None)  # xdist's, which is no class to be imported
        if send is not None:
            plugin.sendevent = brief(send)


def brief(send: Callable[..., None]) -> Callable[..., None]:
    """The same, without what is not shown."""

    def sendevent(name: str, **told: Any) -> None:
        if name not in TURNS and not (name == "testreport" and _went_without_saying(told["data"])):
            send(name, **told)

    return sendevent


def _went_without_saying(report: dict[str, Any]) -> bool:
    """Whether it is about what comes before or after a test, and all was well and quick."""
    return report["when"] != "call" and report["outcome"] == "passed" and report["duration"] < SOON
