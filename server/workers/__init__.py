"""Several processes that play, on one machine: `--workers N`.

Worker 0 is the process with the ports, the journal and the data folder. Workers 1 … N-1 are its children,
each with a host of its own that holds some of the tournaments. Worker 0 knows which worker holds what,
passes connections on to them, and keeps their facts for them. Matches of large tournaments are lent from
one worker to another (`spread.py`). May import: `net`, `http`, `host`, `store`, `show`, `pages`,
`protocols`, `export.signing`, `application`, `allocator`, `interpreter`, `config`, `logs` and
`without_rich`.
"""

from server import without_rich as without_rich  # before all else of this wing
