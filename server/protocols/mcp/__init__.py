"""The Model Context Protocol: a seat for a language model, which plays by calling tools."""
