"""Hexagon Dots over HTTP: games have addresses, and requests are held until it is the bot's turn."""
