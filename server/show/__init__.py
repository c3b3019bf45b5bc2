"""Everything that only looks, in a process of its own, so that no look at pages slows a match down.

*Play* is the process with the doors and the matches, *show* the one that answers for pages, reads of
the API and streams. They share the journal, a feed, and the connections that play lends.
May import: `net`, `http`, `host`, `store`, `export`, `pages`, `webhooks`, `protocols.api`, `allocator`,
`interpreter`, `config`, `exits`, `logs` and `without_rich`.
"""

from server import without_rich as without_rich  # before all else of this wing
