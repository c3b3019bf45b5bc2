"""Names of matches: of the tournament, the pairing, and which of the pairing's matches it is."""


def named(tournament: str, number: int, attempt: int) -> str:
    """The name of a pairing's match: `friday-12`; if that is played again, `friday-12.2`."""
    return f"{tournament}-{number}" if attempt == 1 else f"{tournament}-{number}.{attempt}"


def parsed(tournament: str, match: str) -> tuple[int, int]:
    """The number of a match's pairing, and of the attempt, by the match's name; (0, 0) for other names."""
    number, _, attempt = match.removeprefix(f"{tournament}-").partition(".")
    if number.isdecimal() and (attempt or "1").isdecimal():
        found = int(number), int(attempt or 1)
        if match == named(tournament, *found):
            return found
    return 0, 0
