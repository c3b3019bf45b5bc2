"""The host: connections, dialects, pages, the journal, and the command. Each folder is a wing."""
