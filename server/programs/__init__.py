"""Programs that play or ask without being the host: local matches, trials of a bot, a child with a host.

May import: `net`, `store`, `export`, `config`, `exits`, and the words of the house protocol.
"""
