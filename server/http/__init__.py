"""HTTP/1.1: from bytes to a request, from an answer to bytes, and which application a request goes to.

May import: `net` and `exits`.
"""
