"""A league of attackers: twenty-four strangers, one class of attack each, against an event of honest bots.

`event.py` is the event. Who plays there is in `company.py`: bots of `honest.py`,
which say in `dialects.py`, over `wires.py`, what `scripts.py` has for them. So
the result of every honest match is known, and `judge.py` says what is missing.

`strangers.py` has the league. What its members do is in `crowds.py`,
`visitors.py`, `readers.py` and `impostors.py`, and in `tests/attacks`, whose
floods of bytes they repeat. They run in a process of their own, `attack.py`,
and `league.py` lets calm and attack take turns.
"""
