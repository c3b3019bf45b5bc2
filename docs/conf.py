"""Sphinx: `make docs`."""

project = "Quintain"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # a transcript is in no language that a highlighter knows
