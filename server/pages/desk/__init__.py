"""The organiser's desk in a browser: pages that work without a script, after a login by a link."""
