"""What outlives the process: the journal of facts and the engines that keep it, the data folder, restoring.

May import: `config`, `supervised` and `exits`.
"""
