"""What dialects share: attendance, how much talk is put up with, words that are encoded once for all.

May import: `net`, `http` and `host`; no dialect.
"""
