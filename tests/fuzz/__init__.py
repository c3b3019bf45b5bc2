"""Strangers at the doors: sessions that begin as a bot's should and are then spoilt, by the thousand.

Real door code and a real host, in one process, over simulated connections on a
virtual clock. A seed and a number make a session, and so a failure is played
again by naming them.

`sessions.py` says what a session is and draws one, `mutate.py` spoils it,
`stranger.py` lives it, `ground.py` is the host that a few dozen of them meet
on and what must hold of it afterwards, `campaign.py` counts. There is a file a
door: what its bots say, and what else can be said to it.

Not here: the socket, the kernel and the process, which `tests/attacks` goes for.
"""
