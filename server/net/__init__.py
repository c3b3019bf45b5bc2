"""Connections, and nothing about what is said over them: sockets, listening, framing, limits, calling out.

May import: `exits`.
"""
