"""The house protocol: any game over TCP, websockets and HTTP, with tokens to come back over any of them."""
