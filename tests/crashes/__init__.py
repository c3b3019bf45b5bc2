"""Hosts that stop in the middle of a task step, on the store's real code and a real file.

`world.py` holds one tournament with honest bots on a virtual clock and can take
the disk as it is before any step of any task, which is all that is left of a
process that was killed there. `checks.py` goes on from such a disk and sees that
nothing that anybody was told is lost, changed or there twice.
"""
