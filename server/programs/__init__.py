"""Programs that play or ask without being the host: local matches, trials of a bot, a child with a host.

May import: `net`, `http`, `store`, `export`, `protocols.house.messages`, `config`, `log_writer` and `exits`.
"""
