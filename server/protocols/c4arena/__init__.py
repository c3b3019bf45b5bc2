"""The c4-arena's protocol: Connect-4 over a websocket."""
