"""What bots and scripts say to the host, and what it says to them.

`tcp` and `websocket` carry dialects, and `server/http` carries those that are
requests. A dialect is a value (`dialect.py`) that is found by being here
(`catalogue.py`): one file, or one folder with a module `dialect`. `api` is for
scripts, not for bots.

May import: `net`, `http`, `host`, `export` and `config`. No dialect
imports another.
"""
