"""The organiser's desk in a browser: pages that work without a script, for who has logged in by a link."""
