"""Attackers who want what is not theirs: a seat, a name, an organiser's rights, a call.

Whatever they get is noted, and nothing of it may ever happen.
"""

import secrets
from collections.abc import Iterator
from itertools import count
from urllib.parse import urlencode
from uuid import uuid4

import trio

from tests.adversaries.company import CUPS, TABLES
from tests.adversaries.ground import FORWARDED, Ground, fresh, somewhere
from tests.adversaries.honest import Pair, token
from tests.adversaries.wires import Frames, Gone, Lines
from tests.attacks.attacks import connected
from tests.blackbox.test_calls import FOREIGN, REBOUND, SENT_AS, STRANGERS

SWAPS = {  # letters, and what looks like them
    "a": "аɑａᴀꓮ",
    "b": "Ьｂʙꓐ",
    "d": "ԁｄᴅꓓ",
    "i": "1lІıｉ",
    "l": "1Iӏｌʟ",
    "o": "0оοᴏｏꓳ",
    "t": "тτｔᴛꓔ",
}
UNSEEN = "\u200b\u3164\u2800\u00ad\ufe0f"
RESERVED = (
    "organiser",
    "0rganiser",
    "h0st",
    "the host",
    "Arena",
    "the Arenа",
    "Draw",
    "rand0m",
    "aima",
    "ａima",
)
ANSWER = 2.0  # seconds in which an impostor over an old protocol, which says no welcome, would be dealt to
OWNERS = (*CUPS, *TABLES)
_turns = count()


def _next_victim() -> tuple[Pair, str]:
    turn = next(_turns)
    pair = OWNERS[turn % len(OWNERS)]
    return pair, pair.names[turn // len(OWNERS) % 2]


async def squatters(ground: Ground) -> None:
    """Under an honest bot's name: with a wrong token and without, in every dialect."""
    pair, name = _next_victim()
    if ground.planted:
        pair, name = TABLES[0], TABLES[0].names[0]
        await _claim(ground, pair, name, token=token(name, pair.game))
    for more in ({}, {"token": secrets.token_urlsafe(16)}, {"tournament": pair.tournament}):
        await _claim(ground, pair, name, **more)
    await _claim(ground, pair, fresh("intruder"), tournament=pair.tournament, stranger="yes")
    answer = await ground.ask("POST", "/play", {"type": "hello", "name": name, "game": pair.game})
    _note(ground, answer.status == 201, f"the seat of {name} in {pair.game}, over HTTP")
    match pair.game:
        case "santorini":
            wire = Lines(await connected(ground.ports.tcp))  # from the same machine: its seat is never free
            await wire.send(name.encode() + b"\n")
            await _dealt(ground, wire, b"[", name, pair)
        case "connect-4":
            frames = Frames(await connected(ground.ports.websocket))
            await frames.open("/", f"{FORWARDED}: {somewhere()}")
            await frames.say({"type": "start", "id": name})
            await _dealt(ground, frames, b'{"type":"state"', name, pair)
        case "hexagon-dots":
            at = (await ground.ask("GET", "/match")).headers.get("location", "")
            answer = await ground.ask("POST", f"{at}/players", {"name": name})
            _note(ground, answer.status == 200, f"the seat of {name} in {pair.game}")
        case game:
            for more in ({}, {"token": secrets.token_urlsafe(16)}):
                answer = await ground.ask("POST", f"/{game}/join", {"name": name, **more})
                _note(ground, answer.status in (200, 202), f"the seat of {name} in {pair.game}, in the Arena")


async def _claim(ground: Ground, pair: Pair, name: str, stranger: str = "", **more: str) -> None:
    """In the house protocol. A stranger under a name of its own may play, but not in a full tournament."""
    wire, answer = await ground.hello(name, pair.game, **more)
    await trio.aclose_forcefully(wire.stream)
    full = not stranger or pair in CUPS
    _note(
        ground, full and answer["type"] == "welcome", f"the seat of {stranger or name} in {pair.tournament}"
    )


async def _dealt(ground: Ground, wire: Lines | Frames, sign: bytes, name: str, pair: Pair) -> None:
    async with wire.stream:
        with trio.move_on_after(ANSWER):
            said = await (wire.until(b"\n") if isinstance(wire, Lines) else _payload(wire))
            _note(ground, said.startswith(sign), f"the seat of {name} in {pair.game}, in its old protocol")


async def _payload(wire: Frames) -> bytes:
    _, size = await wire.exactly(2)
    return await wire.exactly(int.from_bytes(await wire.exactly(2)) if size == 126 else size)


def _note(ground: Ground, got: bool, what: str) -> None:
    if got:
        ground.through[what] += 1


async def look_alikes(ground: Ground) -> None:
    """Names that people would take for those of honest bots, or for the host's own."""
    pair, name = _next_victim()
    for other in (*alike(name), *RESERVED):
        wire, answer = await ground.hello(other, pair.game)
        await trio.aclose_forcefully(wire.stream)
        _note(ground, answer["type"] == "welcome", f"the name {other!a} in {pair.game}, beside {name}")
        ground.tries["look-alikes"] += 1


def alike(name: str) -> Iterator[str]:
    yield name.upper()
    yield name[:1] + UNSEEN[len(name) % len(UNSEEN)] + name[1:]
    for place, letter in enumerate(name):
        for other in SWAPS.get(letter, ""):
            yield name[:place] + other + name[place + 1 :]


async def guessers(ground: Ground) -> None:
    """Tokens of the organiser and of bots, links to the desk, names of battles, sessions and turns."""
    pair, name = _next_victim()
    guess = secrets.token_urlsafe(32)
    bearer = {"Authorization": f"Bearer {guess}"}
    for order in ("pause", "withdraw", "freeze", "release"):
        path, body = f"/api/tournaments/{pair.tournament}/{order}", {"name": name}
        answer = await ground.ask("POST", path, body, **bearer)
        _note(ground, answer.status < 400, f"to {order} {pair.tournament}")
    form = urlencode({"secret": guess}).encode()
    answer = await ground.ask("POST", "/admin/login", form, Content_Type="application/x-www-form-urlencoded")
    _note(ground, "set-cookie" in answer.headers, "the desk")
    wire, said = await ground.hello(name, pair.game, token=guess)
    await trio.aclose_forcefully(wire.stream)
    _note(ground, said["type"] == "welcome", f"the seat of {name} in {pair.game}, by a guess")
    move = {"action": "putSymbol", "position": "C"}
    for path in (f"/tic-tac-toe/play/{uuid4()}", f"/quoridor/play/{uuid4()}", f"/play/{guess}"):
        answer = await ground.ask("POST", path, move)
        _note(ground, answer.status < 400, f"{path.rpartition('/')[0]}, by a guess")
    listed = await ground.ask("GET", "/", Accept="application/json")
    for game in listed.json[:4] if listed.status == 200 else ():
        line = [{"row": 0, "col": 0}, {"row": 0, "col": 1}]
        answer = await ground.ask("POST", f"/{game['id']}/moves", line, X_Turn_Token=guess[:32])
        _note(ground, answer.status < 400, "a turn of Hexagon Dots, by a guess")


async def callers(ground: Ground) -> None:
    """Have the host call what is beside it, from behind a proxy."""
    for header, value in STRANGERS.items():
        for url in (ground.internal, ground.internal.replace("127.0.0.1", "localhost")):
            await _call(ground, {"teamUrl": url}, **{header: value})
            await _call(ground, {"teamUrl": url, "callbackUrl": url}, **{header: value})


async def foreign_pages(ground: Ground) -> None:
    """A page of another site, or one whose name now points at the host, has it call somebody."""
    for kind in SENT_AS:
        for origin in filter(None, FOREIGN):
            await _call(ground, {"teamUrl": ground.internal}, Origin=origin, Content_Type=kind)
        for host in REBOUND:
            await _call(
                ground, {"teamUrl": ground.internal}, Host=host, Origin=f"http://{host}", Content_Type=kind
            )
        cup = {"name": fresh("foreign"), "game": "quoridor"}
        answer = await ground.ask("POST", "/api/tournaments", cup, Origin=FOREIGN[0], Content_Type=kind)
        _note(ground, answer.status < 400, "a tournament, from a foreign page")


async def _call(ground: Ground, body: dict[str, str], **headers: str) -> None:
    for path in ("/tic-tac-toe/evaluate", "/quoridor/join"):
        try:
            answer = await ground.ask("POST", path, {"name": fresh("called"), **body}, **headers)
        except Gone:
            continue
        _note(ground, answer.status < 400, f"a call, by {path} with {' '.join(headers)}")
