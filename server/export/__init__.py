"""What the host knows, put into JSON for others, and back: views, exports, and what `verify` thinks of one.

May import: `store` and `exits`.
"""
