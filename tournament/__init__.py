"""Who meets whom, what happened, what it adds up to. Knows games; knows no socket, page or database."""
