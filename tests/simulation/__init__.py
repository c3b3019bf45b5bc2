"""Whole tournaments on a virtual clock, played by honest and by misbehaving bots, with the real code.

A seed decides everything: what is played, by whom, what they get up to, when
the organiser steps in and when the host stalls or crashes. `plan.py` draws it,
`world.py` lets it happen, `bots.py` misbehaves, `sheet.py` keeps count for one
seat, `disk.py` is the store, `oracles.py` knows what must hold of the facts,
and `planted.py` breaks the real code to see whether that is noticed.

Not here: sockets, doors and anything on a wire.
"""
