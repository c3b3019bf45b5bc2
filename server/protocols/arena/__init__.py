"""The Arena's protocol: games over HTTP, and in some of them evaluations against its own opponents."""
