"""`quintain check --wire`: a host that tries a client out, by matches in which something goes wrong."""
