"""Attacks on the ports of a running host, which goes on as if nothing were.

`attacks.py` has them, `__main__.py` carries them out in a process of its own, so
that nobody who plays meanwhile waits for them. What can be said on one
connection, in every variation, is `tests/fuzz`'s business.
"""
