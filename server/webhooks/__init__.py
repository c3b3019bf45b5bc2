"""Telling other services what happens, from the journal: in order, signed, at least once, over restarts.

It runs where it holds no match up: in the process for pages, or beside the matches if there is none.
May import: `net.causes`, `net.tls`, `net.trusted`, `store`, `export.json_views`, `config` and `exits`.
"""
