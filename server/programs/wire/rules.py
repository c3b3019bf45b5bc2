"""The sentences of the protocol to which a client is held, word for word from `docs/protocols/house.md`."""

from collections.abc import Mapping
from types import MappingProxyType

Rule = str | Mapping[str, str]  # a sentence, or one for each door or for each cost of an illegal move

# Rules that hold all the time.
SAY_HELLO = "Five seconds after connecting, a bot without an accepted hello is disconnected."
READABLE = "The host answers every fault with a `refused` and a reason, and nothing else happens."
MODERATE = "100 in 20 seconds; the answer to a question is free"
OWN_TOKEN = "You may bring one of your own in the first hello, of 16 characters or more."  # noqa: S105 - a sentence
ANSWERS = "the answer to a `turn` that names your seat"
IN_TIME = (
    "Your clock runs from the moment at which a `turn` with your seat is sent to you"
    " until the moment at which your answer arrives."
)
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "retry": (
            "you are told why, and try again while the clock runs on;"
            " the twentieth refused move in one match loses it."
        ),
        "forfeit": "an illegal move loses the match",
    }
)
STAYS = "a bot that says `bye` has left at once"

# Rules that are tried.
NAMED = (
    "A bot that names the question that it answers, by `match` and `ply`, is safe from every misunderstanding"
)
CARRIED: Mapping[str, str] = MappingProxyType(
    {
        "tcp": r"TCP | a line, ended by `\n`",
        "websocket": "websocket | a text frame",
        "http": "HTTP | the body of a `POST`; an event of a stream, or of a long poll",
    }
)
UNKNOWN = "More fields may be added over time. Ignore those that you do not know."
COME_BACK = (
    "Come back within 30 seconds, with the same `name` and `token`,"
    " and you are told everything you need to go on."
)
RESTARTED = (
    "Come back with the same `name` and `token`, and keep trying until somebody answers:"
    " you have 30 seconds from when the host lets bots in."
)
FORGET = "`moves` in that `begin` is what was kept: forget every move that comes after them"
TAKEN_OVER = "A bot that is told so stays away: two that take over from each other never get to move."
EVERY_CHANGE = "after every change, to both"
VOID = "A match that is void counts for nothing; nobody has won it, and it is not a draw."
STANDINGS = "At the end of its tournament a bot is sent the standings."


def sentence(rule: Rule, *kinds: str) -> str:
    """The sentence of a rule for the first of these kinds that it has."""
    return rule if isinstance(rule, str) else next(rule[kind] for kind in kinds if kind in rule)
