"""The doors: what is said when, on each transport, for any game. One file a transport or an old protocol."""
