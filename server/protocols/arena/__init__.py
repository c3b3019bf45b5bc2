"""The Arena's protocol: Tic-Tac-Toe and Quoridor over HTTP, with evaluations against its own opponents."""
