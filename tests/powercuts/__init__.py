"""Power cuts: what SQLite has asked a disk to write, and what of it a disk has after the power went.

`disk.py` stands between SQLite and its files and knows what was synchronised;
`cuts.py` cuts the power, makes the files as they may be afterwards and reads them.
"""
