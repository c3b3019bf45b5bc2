"""What dialects share: attendance, limits on talk, messages that are encoded once for all.

May import: `net`, `http` and `host`; no dialect.
"""
