"""The organiser's desk in a browser: pages that work without a script, for whoever logged in by a link."""
