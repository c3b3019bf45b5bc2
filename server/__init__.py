"""The doors and the house."""
