"""The Arena's protocol: games over HTTP, with evaluations in some of them against its own opponents."""
