"""What has to be so: while there is a storm, after each start of a host, and when all is over."""

import json
from collections import Counter
from typing import Any

import trio
from msgspec import Struct

from server.export.verify import verify
from tests.chaos.told import End, Told
from tests.cluster.campaign import STALE
from tests.storm.ask import AGAIN, TRIES, asked
from tests.storm.effects import Effects, Key
from tests.storm.ground import Ground, Host
from tests.storm.scene import Held, Scene

BAD = (b'"level": "error"', b'"level": "critical"', b"Traceback")  # in a line of the log
# What hosts that share a database may say: one that gets no processor for a second has to give way.
BUSY = (STALE, b'"event": "nothing can be kept"')
KILLED = b'"code": -9, '


class Seen(Struct):
    """A tournament, as a host shows it to its organiser."""

    about: dict[str, Any]
    out: dict[str, str]  # who is out of it, and why
    endings: dict[str, str | None]  # of matches that somebody wanted to be void


async def in_effect(scene: Scene, ground: Ground) -> None:
    """Every order that was answered with success is in effect at every host."""
    async with trio.open_nursery() as looking:
        for host in ground.hosts:
            for held in list(scene.held.values()):
                looking.start_soon(_in_effect, scene, host, held)


async def _in_effect(scene: Scene, host: Host, held: Held) -> None:
    found: list[str] = []
    for _ in range(TRIES):
        before = scene.effects.now()
        if not (found := differences(scene.effects, held.name, await _seen(scene, host, held), before)):
            return
        await trio.sleep(AGAIN)
    scene.wrong += found


async def _seen(scene: Scene, host: Host, held: Held) -> Seen | None:
    about = await asked(host.http, f"/api/tournaments/{held.name}")
    rows = await asked(host.http, f"/api/tournaments/{held.name}/standings")
    if 404 in (about.status, rows.status):
        return None
    endings: dict[str, str | None] = {}
    for _, _, match in scene.effects.keys("void", held.name):
        answer = await asked(host.http, f"/api/matches/{match}")
        endings[match] = answer.json["ending"] if answer.status == 200 else f"{answer.status}"
    return Seen(about.json, {row["name"]: row.get("out", "") for row in rows.json["rows"]}, endings)


def differences(effects: Effects, tournament: str, seen: Seen | None, before: float) -> list[str]:
    """Where it is not as orders say that were answered before then."""
    found: list[str] = []

    def expect(key: Key, is_so: object) -> None:
        possible = effects.possible(key, before)
        if possible is not None and is_so not in possible:
            found.append(f"{key} should be {possible}, and is {is_so}")

    expect(("there", tournament), seen is not None)
    if seen is None:
        return found
    about = seen.about
    entrants = {each["name"]: each for each in about["entrants"]}
    expect(("started", tournament), about["state"] != "registering")
    expect(("ended", tournament), bool(about.get("ended_early")))
    expect(("frozen", tournament), about["frozen"])
    if about["state"] in ("running", "paused"):
        expect(("paused", tournament), about["state"] == "paused")
    for kind in ("entrant", "affiliation", "contact", "out", "disqualified", "checked-in"):
        for key in effects.keys(kind, tournament):
            name = key[2]
            known = entrants.get(name, {})
            is_so: object = known.get(kind, "")
            match kind:
                case "entrant":
                    is_so = bool(known)
                case "out":
                    is_so = known.get("gone", False)
                case "disqualified":
                    is_so = seen.out.get(name) == "disqualified"
                case "checked-in":
                    is_so = name not in (about["checking_in"] or {"missing": []})["missing"]
                case _:
                    pass
            expect(key, is_so)
    for match, ending in seen.endings.items():
        expect(("void", tournament, match), ending == "void")
    return found


async def at_once(scene: Scene, ground: Ground) -> None:
    """Nobody plays two matches of a tournament at once."""
    for host in ground.hosts:
        for held in list(scene.held.values()):
            answer = await asked(host.http, f"/api/tournaments/{held.name}/matches")
            listed: list[dict[str, Any]] = answer.json["matches"] if answer.status == 200 else []
            playing = Counter(name for each in listed if each["ending"] is None for name in each["players"])
            scene.wrong += (f"{name} plays twice in {held}" for name, times in playing.items() if times > 1)


def logged(host: Host, shared: bool) -> list[str]:
    """What a host has said that should never have been said. It may say that we have killed a process."""
    found: list[str] = []
    for line in host.log.read_bytes().splitlines():
        bad = any(each in line for each in BAD)
        if bad and KILLED not in line and not (shared and any(each in line for each in BUSY)):
            found.append(f"a host has logged {line.decode(errors='replace')[:3000]}")
    return found


def compared(told: Told, effects: Effects, exported: bytes) -> list[str]:
    """With all that was told: the record that is left."""
    found = list(told.verdict.complaints)
    lines = exported.splitlines(keepends=True)
    wrong = [*verify(lines).findings]
    found += (
        f"line {each.line} does not follow: {each.why}: {lines[each.line - 1].decode()[:1000]}"
        for each in wrong
    )
    kept: dict[str, End] = {}
    counting = Counter[tuple[str, int]]()
    for line in map(json.loads, lines):
        if line["type"] == "match":
            name = line["match"]
            if name in kept:
                found.append(f"{name} is in the record twice")
            kept[name] = line["winner"], line["ending"], line["why"]
            if line["score"] is not None and not effects.tried(("void", line["tournament"], name)):
                counting[line["tournament"], line["pairing"]] += 1
    for name, end in told.ends.items():
        tournament = name.rpartition("-")[0]
        voided = True in effects.tried(("void", tournament, name))
        deleted = False in effects.tried(("there", tournament))
        if name not in kept and not deleted:
            found.append(f"{name} was told as {end}, and is not in the record")
        elif name in kept and kept[name] != end and not (voided and kept[name][1] == "void"):
            found.append(f"{name} was told as {end}, and is kept as {kept[name]}")
    found += (f"pairing {pairing} counts {n} times" for pairing, n in counting.items() if n > 1)
    return found
