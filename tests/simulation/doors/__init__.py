"""Whole tournaments through the real doors, over a simulated network on a virtual clock.

What `tests/simulation/` is to the referee this is to the host: bots know their
wire and nothing else, connections are slow, cut in pieces, reset and pulled.
`plan.py` draws what happens, `town.py` is the host with its doors and the
network before them, `store.py` takes its time, `talk.py` and `web.py` with what
rests on them (`seeds.py`, `house.py`, `sessions.py`, `battles.py`, `dots.py`)
are the bots' sides of the wires, `bots.py` misbehaves, `spectators.py` looks on,
and `world.py` lets it happen and looks at what came of it.

Not here: crashes of the host, its stalls and what organisers do; those are the
referee's simulation's.
"""
