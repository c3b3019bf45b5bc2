"""What an organiser may say: to whom an entrant belongs, how to reach them, and why something is ordered."""

from games.game import quoted
from tournament.desk import AFFILIATION, CONTACT, About
from tournament.refusals import Senseless

WHY = 200  # characters of a reason: it may stand where a sentence of the referee does


def about(affiliation: str | None, contact: str | None) -> About:
    """The texts without spaces around them; None stands for what is not said. Raises `Senseless`."""
    return About(
        _checked("affiliation", affiliation, AFFILIATION),
        _checked("contact", contact, CONTACT),
    )


def reason(why: str) -> str:
    """Why something is ordered, in one line. Raises `Senseless`."""
    return _checked("why", " ".join(why.split()), WHY) or ""


def _checked(what: str, text: str | None, most: int) -> str | None:
    if text is None:
        return None
    text = text.strip()
    if len(text) > most:
        raise Senseless(f"{what}: expected at most {most} characters, not {len(text)}")
    if not text.isprintable():
        raise Senseless(f"{what}: expected text that can be printed, not {quoted(text)}")
    return text
