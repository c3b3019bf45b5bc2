"""Templates that are compiled once, and kept where Python keeps the modules that it has compiled.

Compiling all of them takes a third of a second, and every process of a host would do so at every start. As
with modules, nothing is kept where nothing can be written, or where Python was told not to.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

FOLDER = Path(cache_from_source(__file__)).parent


class Compiled(BytecodeCache):
    """Jinja asks this before it compiles a template, and gives it the result."""

    def __init__(self, options: Mapping[str, object], folder: Path = FOLDER) -> None:
        """`options` of the environment: all on which the bytecode depends beside the template itself."""
        made_by = f"{jinja2.__version__} {sys.implementation.cache_tag} {sorted(options.items())}"
        self._made_by = sha256(made_by.encode()).hexdigest()[:16]
        self._folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load bytecode, if there is any. Jinja ignores bytecode of a different source."""
        try:
            with self._path(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except FileNotFoundError:
            pass
        except Exception:  # the file is damaged: Jinja raises all that pickle and marshal do
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        unfinished = path.with_suffix(f".{os.getpid()}")  # several processes may start at once
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(bucket.bytecode_to_string())
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)  # or each start would leave more on a full disk

    def _path(self, bucket: Bucket) -> Path:
        return self._folder / f"template-{bucket.key}-{self._made_by}.bytecode"
