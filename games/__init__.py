"""The rules, and nothing else: imports no clock, socket, thread or event loop."""
