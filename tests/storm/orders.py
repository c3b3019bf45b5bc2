"""The orders of the whole catalogue, drawn at random: a maker for each route by which something is changed.

An order says what it will have come to if it is answered with success: the values of `effects.py`.
"""

from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from msgspec import Struct

from tests.storm.effects import Key
from tests.storm.scene import GAMES, Held, Scene

FORMATS = ("round-robin", "double-round-robin", "swiss", "knockout", "gauntlet", "ladder", "decide")
PACES = (None, {"bank": None, "gain": 0.0, "turn": 2.0}, {"bank": 4.0, "gain": 0.5, "turn": None})
GROUPS = (None, "spring", "autumn")
WHY = ("", "the organiser wanted it so", "ein Grund ‹mit› Ünïcode")
STRANGERS = ("nobody", "ann b", "Ω", "x" * 40, "")  # whom no tournament has, or can have
MOST = 12  # tournaments in a storm
LATEST = 3  # tournaments that most orders are about, so that they meet
Body = dict[str, Any]


class Order(Struct, frozen=True):
    path: str
    body: Body | None
    effects: Mapping[Key, Hashable] = {}
    token: Key | None = None  # what the token in the answer is for


Maker = Callable[[Scene, Held, Random], Order]


def hold(scene: Scene, _: Held, chance: Random) -> Order:
    scene.opened += 1
    game, format = chance.choice(GAMES), chance.choice(FORMATS)
    name = f"{format}-{scene.opened}"
    body: Body = {"name": name, "game": game, "format": format, "pace": chance.choice(PACES)}
    if format == "decide":
        body |= {"games": chance.randrange(4, 20), "places": chance.choice((0, 1))}
    elif format == "swiss":
        body["rounds"] = chance.randrange(1, 4)
    if format != "ladder":
        body["absent"] = chance.choice(("wait", "settle"))
        body["by_invitation"] = chance.random() < 0.2
        if chance.random() < 0.6:
            body["entrants"] = chance.randrange(2, 7)
        if chance.random() < 0.3:
            body["start_at"] = (datetime.now(UTC) + timedelta(seconds=chance.uniform(1, 20))).isoformat()
            body["check_in"] = chance.choice((None, 30.0))
        if format not in ("decide", "gauntlet") and chance.random() < 0.2:
            body["round_every"] = chance.uniform(1.0, 3.0)
    if game == "hexagon-dots":
        body["options"] = {"rows": 3, "cols": 3, "end": "hexagons"}
    body["group"] = chance.choice(GROUPS)
    held = scene.held[name] = Held(name, game, format)
    return Order("/api/tournaments", _given(body), {("there", held.name): True})


def _given(body: Body) -> Body:
    return {key: value for key, value in body.items() if value is not None}


def simply(word: str, *kept: tuple[str, Hashable]) -> Maker:
    """An order that needs nothing but its name."""

    def made(scene: Scene, held: Held, chance: Random) -> Order:
        return Order(_path(held, word), None, {(kind, held.name): value for kind, value in kept})

    return made


def named(
    word: str, kind: str = "", value: Hashable = True, *, who: bool = False, why: bool = False
) -> Maker:
    """An order that is about somebody."""

    def made(scene: Scene, held: Held, chance: Random) -> Order:
        name = _somebody(scene, held, chance)
        effects: dict[Key, Hashable] = {(kind, held.name, name): value} if kind else {}
        body: Body = {"name": name}
        if who:
            for key in ("affiliation", "contact"):
                if chance.random() < 0.5:
                    body[key] = f"{key} {chance.randrange(100)}"
                    effects[key, held.name, name] = body[key]
        if why:
            body["why"] = chance.choice(WHY)
            if chance.random() < 0.2:
                return Order(_path(held, word), body | {"preview": True})
        return Order(
            _path(held, word), body, effects, ("token", held.game, name) if word == "invite" else None
        )

    return made


def release(scene: Scene, held: Held, chance: Random) -> Order:
    name = _somebody(scene, held, chance)
    if chance.random() < 0.5:
        return Order(_path(held, "release"), {"name": name})
    return Order(_path(held, "release"), {"name": name, "bind": True}, {}, ("token", held.game, name))


def void(scene: Scene, held: Held, chance: Random) -> Order:
    matches = scene.matches[-20:] or [f"{held.name}-1"]
    match = chance.choice(matches)
    tournament = match.rpartition("-")[0]
    body: Body = {"match": match, "why": chance.choice(WHY)}
    path = f"/api/tournaments/{tournament}/void"
    if chance.random() < 0.2:
        return Order(path, body | {"preview": True})
    return Order(path, body, {("void", tournament, match): True})


def admin_link(scene: Scene, _: Held, chance: Random) -> Order:
    return Order("/api/admin-link", None)


def _path(held: Held, word: str) -> str:
    return f"/api/tournaments/{held.name}/{word}"


def _somebody(scene: Scene, held: Held, chance: Random) -> str:
    if chance.random() < 0.05:
        return chance.choice(STRANGERS)
    return chance.choice(scene.names)


# How often each is sent; `test_storm.py` keeps this equal to what /openapi.json lists.
ORDERS: Mapping[str, tuple[Maker, float]] = {
    "/api/tournaments": (hold, 3),
    "/api/tournaments/{name}/start": (simply("start", ("started", True)), 12),
    "/api/tournaments/{name}/pause": (simply("pause", ("paused", True)), 6),
    "/api/tournaments/{name}/resume": (simply("resume", ("paused", False)), 8),
    "/api/tournaments/{name}/end": (simply("end", ("ended", True)), 2),
    "/api/tournaments/{name}/freeze": (simply("freeze", ("frozen", True)), 4),
    "/api/tournaments/{name}/unfreeze": (simply("unfreeze", ("frozen", False)), 4),
    "/api/tournaments/{name}/invite": (named("invite", "entrant", who=True), 6),
    "/api/tournaments/{name}/release": (release, 5),
    "/api/tournaments/{name}/enter": (named("enter", "entrant", who=True), 6),
    "/api/tournaments/{name}/describe": (named("describe", who=True), 5),
    "/api/tournaments/{name}/check-in": (named("check-in", "checked-in"), 4),
    "/api/tournaments/{name}/delete": (simply("delete", ("there", False)), 0.3),
    "/api/tournaments/{name}/withdraw": (named("withdraw", "out", why=True), 3),
    "/api/tournaments/{name}/disqualify": (named("disqualify", "disqualified", why=True), 2),
    "/api/tournaments/{name}/void": (void, 8),
    "/api/admin-link": (admin_link, 1),
}


def drawn(scene: Scene, chance: Random) -> Order:
    """Any order, mostly about one of the latest tournaments."""
    if not scene.held:
        return hold(scene, Held("", "", ""), chance)
    makers = [(maker, often) for maker, often in ORDERS.values() if scene.opened < MOST or maker is not hold]
    ((maker, _),) = chance.choices(makers, [often for _, often in makers])
    there = [held for held in scene.held.values() if scene.effects.possible(("there", held.name)) != {False}]
    if not there or chance.random() < 0.05:
        there = list(scene.held.values())  # some of which were deleted
    return maker(scene, chance.choice(there if chance.random() < 0.2 else there[-LATEST:]), chance)
