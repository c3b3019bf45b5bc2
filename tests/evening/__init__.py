"""An organiser's evening: twelve bots, seven of which misbehave, from nothing to published standings.

`evening.py` does what an organiser does, by the command line, against a host in a process of its own;
`bots.py` has the bots, each of which misbehaves in one way. What is found out is what everybody was told:
how many commands it took, how long, and for each match that was lost the reason that its author was given.
"""
