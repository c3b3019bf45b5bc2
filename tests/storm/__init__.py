"""A storm of orders: all that an organiser can order, from many at once, while bots play and hosts die.

Hosts are real processes, in each of the forms in which they can be run. Organisers send whatever
`/openapi.json` lists, at random. Bots of all dialects come, play, stall, leave and come back,
spectators read and listen, and the host is stopped, killed and started again. What has to be so meanwhile and
afterwards is in `laws.py`.
"""
