"""The host's knowledge as JSON for others, and back: views, exports, and what `verify` finds in an export.

May import: `store` and `exits`.
"""
