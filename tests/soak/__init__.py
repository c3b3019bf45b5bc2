"""Hours of comings and goings, to see that a host's memory does not grow with them.

`visitors.py` is who comes; `soak.py` lets them come and go and measures. The bots are
those of `make bench`, and the host is the command as it is installed.
"""
