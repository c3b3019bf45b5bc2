"""The host: connections, dialects, pages, the journal, and the command. Each folder is a wing."""

import gc

from server.interpreter import SURPLUS

gc.set_threshold(SURPLUS)  # what imports make stays, and looking through it takes an eighth of each start
