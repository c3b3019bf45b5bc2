"""What runs as long as the host does: tournaments and tables, who may come in under which name, the wire log.

It speaks no protocol and opens no file. May import: `net`.
"""
