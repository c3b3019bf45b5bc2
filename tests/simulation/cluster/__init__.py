"""Several hosts on one virtual clock and one simulated database, with the real leases and the real ledger.

A seed decides everything: how many hosts there are and how wrong their clocks go, who is
killed or stopped, whose way to the database or to another host is cut, when the database
is away, and which of its answers are lost. `plan.py` draws it, `database.py` is the
database, `host.py` a host with a referee that plays, and `world.py` lets it happen and
knows what must hold. `planted.py` breaks it to see whether that is noticed.

Not here: SQL, which `tests/server/peers` and `tests/server/store` try on a real server.
"""
