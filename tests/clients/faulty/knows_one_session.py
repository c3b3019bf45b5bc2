"""Does not know that a session can be over: an answer other than 200 is the end of it."""

from client import main, quintain_bot

Http = quintain_bot._Http
asked = Http._ask


def ask(self: "Http", *request: object) -> "tuple[int, bytes]":
    status, answer = asked(self, *request)
    if status not in (200, 201):
        raise SystemExit(answer.decode())
    return status, answer


Http._ask = ask
main("http")
