"""The HTTP API, for scripts and organisers: reading, streams of events, and control."""
