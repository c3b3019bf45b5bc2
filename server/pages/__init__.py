"""What people see of a host in a browser: pages, and the stream that keeps them up to date.

May import: `net`, `http`, `host`, `export`, `protocols` and `exits`.
"""
