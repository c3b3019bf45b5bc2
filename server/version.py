"""Which version of Quintain this is."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache  # looking for it lists all that is installed, and keeps the list until garbage is collected
def own_version() -> str:
    try:
        return version("quintain")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "0+checkout"
