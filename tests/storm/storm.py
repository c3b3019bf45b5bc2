"""One storm, from the first start of its hosts to the last."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import trio
from msgspec import Struct

from tests.chaos.bots import Stranger
from tests.chaos.web_bots import ArenaBot, DotsBot
from tests.cluster.bots import FourBot
from tests.hang import HANG
from tests.storm.ask import AGAIN, asked
from tests.storm.ground import Ground, Host, ground
from tests.storm.laws import at_once, compared, in_effect, logged
from tests.storm.orders import Order
from tests.storm.organisers import order, organise
from tests.storm.plan import Plan
from tests.storm.scene import Scene
from tests.storm.spectators import Listener, agree, read, watch
from tests.storm.visitors import Visitor

LATE = ("late one", "late two")  # bots that come to a table when the storm is over
READERS = 2
LOOKS = 100  # at what a host has open: a stream whose reader is gone is noticed by its heartbeat …
ENOUGH = 40  # … and after so many looks with the same result nothing more is about to be noticed

Say = Callable[[str], None]


class Report(Struct):
    plan: Plan
    done: int  # orders that were answered with success
    befell: dict[str, int]
    wrong: list[str]
    scene: Scene


async def storm(plan: Plan, folder: Path, store: str, say: Say) -> Report:
    """All of it; `say` is told how far it is."""
    chance = plan.chance
    names = tuple(f"b{number}" for number in range(plan.visitors))
    scene = Scene(chance, names)
    async with ground(plan.kind, folder, store) as hosts:
        await Storm(plan, scene, hosts, chance, say).run()
        wrong = [*hosts.wrong, *scene.wrong]
        for host in hosts.hosts:
            wrong += logged(host, plan.kind == "hosts")
        exported = await hosts.hosts[0].command("export", "--all")
        wrong += await trio.to_thread.run_sync(compared, scene.told, scene.effects, exported)
        await hosts.hosts[0].command("doctor")
    done = sum(count for status, count in scene.statuses.items() if status.split()[1] < "300")
    return Report(plan, done, hosts.befell, list(dict.fromkeys(wrong)), scene)


class Storm:
    def __init__(self, plan: Plan, scene: Scene, ground: Ground, chance: Random, say: Say) -> None:
        self._plan = plan
        self._say = say
        self._scene = scene
        self._ground = ground
        self._chance = chance

    async def run(self) -> None:
        scene, hosts, chance = self._scene, self._ground, self._chance
        await hosts.begin()
        async with trio.open_nursery() as attended:
            attended.start_soon(hosts.look_after)
            listeners = [Listener(scene, host) for host in hosts.hosts]
            async with trio.open_nursery() as looking:
                for listener in listeners:
                    looking.start_soon(listener.run)
                for number in range(READERS):
                    looking.start_soon(read, scene, hosts, Random(f"{chance.random()} {number}"))
                    looking.start_soon(watch, scene, hosts, Random(f"{chance.random()} {number}"))
                async with trio.open_nursery() as playing:
                    self._gather(playing)
                    async with trio.open_nursery() as ordering:
                        for _ in range(self._plan.organisers):
                            ordering.start_soon(organise, scene, hosts, Random(chance.random()))
                        for fault in self._plan.faults:
                            await self._more_orders()
                            self._say(fault)
                            await hosts.befall(fault, chance)
                            self._say("is everything in effect?")
                            await in_effect(scene, hosts)
                            await at_once(scene, hosts)
                        await self._more_orders()
                        scene.calm = True
                    self._say("all play to the end")
                    await self._to_the_end()
                    self._say("somebody comes late")
                    await self._late(playing)
                    playing.cancel_scope.cancel()
                self._say("nobody plays")
                await self._quiet()
                self._say("do all say the same?")
                scene.wrong += await agree(scene, hosts, listeners)
                looking.cancel_scope.cancel()
            await in_effect(scene, hosts)
            left = [await self._sockets(host) for host in hosts.hosts]
            attended.cancel_scope.cancel()
        self._say("the hosts are started once more")
        for host in hosts.hosts:
            await hosts.end(host)
        await hosts.begin()
        await in_effect(scene, hosts)
        fresh = [await self._sockets(host) for host in hosts.hosts]
        if any(len(many) > len(few) for many, few in zip(left, fresh, strict=True)):
            scene.wrong.append(
                f"hosts had {left} sockets when nobody was there any more, and {fresh} at a start"
            )
        for host in hosts.hosts:
            await hosts.end(host)

    def _gather(self, playing: trio.Nursery) -> None:
        scene, hosts, chance = self._scene, self._ground, self._chance
        for name in scene.names:
            playing.start_soon(Visitor(name, scene, hosts, Random(f"{chance.random()} {name}")).run)
        for number in range(self._plan.strangers):
            host = hosts.hosts[number % len(hosts.hosts)]
            playing.start_soon(Stranger(f"s{number}", host.tcp, chance).run)
            playing.start_soon(FourBot(f"f{number}", host.websocket, chance).run)
            playing.start_soon(DotsBot(f"d{number}", host.http, scene.told, chance).run)
            playing.start_soon(ArenaBot(f"a{number}", host.http, chance).run)

    async def _more_orders(self) -> None:
        enough = self._scene.orders + self._plan.orders
        with trio.fail_after(HANG):
            while self._scene.orders < enough:  # noqa: ASYNC110 - nobody tells
                await trio.sleep(AGAIN)

    async def _to_the_end(self) -> None:
        """Have all tournaments that can come to an end come to it: all bots are there, and play."""
        states: dict[str, str] = {}
        with trio.move_on_after(HANG):
            while True:
                states = {
                    name: state for name in list(self._scene.held) if (state := await self._helped(name))
                }
                if not states:
                    break
                await trio.sleep(AGAIN)
        self._scene.wrong += (f"{name} does not come to its end: {state}" for name, state in states.items())

    async def _helped(self, name: str) -> str:
        """What a tournament still needs; empty if it is over, or has no end."""
        scene, port = self._scene, self._ground.hosts[0].http
        answer = await asked(port, f"/api/tournaments/{name}")
        if answer.status == 404:
            scene.held.pop(name)
            return ""
        found = answer.json
        if found["frozen"]:
            await self._order(name, "unfreeze", "frozen", False)
        match found["state"]:
            case "registering":
                await self._order(name, "delete", "there", False)
            case "paused":
                await self._order(name, "resume", "paused", False)
            case "running" if found["format"] != "ladder":
                absent = {each["name"] for each in found["missing"]}
                for entrant in found["entrants"]:
                    who = entrant["name"]
                    due = scene.awaited.setdefault(who, [])
                    lost = None in (scene.effects.possible(("token", found["game"], who)) or ())
                    if who in absent and (who not in scene.names or lost) and not entrant["gone"]:
                        await self._order(name, "withdraw", "out", True, who)
                    elif name not in due and not entrant["gone"]:
                        due.append(name)
            case _:
                for due in scene.awaited.values():
                    if name in due:
                        due.remove(name)
                return ""
        return f"{found}"

    async def _order(self, tournament: str, word: str, kind: str, value: bool, name: str = "") -> None:
        key = (kind, tournament, name) if name else (kind, tournament)
        path = f"/api/tournaments/{tournament}/{word}"
        await order(
            self._scene,
            self._ground,
            Order(path, {"name": name} if name else None, {key: value}),
            self._chance,
        )

    async def _late(self, playing: trio.Nursery) -> None:
        """Whoever comes to a table now is dealt a match there, and plays it."""
        before = len(self._scene.told.ends)
        for name in LATE:
            playing.start_soon(Visitor(name, self._scene, self._ground, self._chance).sit, "tic-tac-toe")
        with trio.move_on_after(HANG) as waiting:
            while not all(name in self._scene.seated for name in LATE):  # noqa: ASYNC110 - nobody tells
                await trio.sleep(AGAIN)
        if waiting.cancelled_caught:
            self._scene.wrong.append(
                f"of {LATE}, only {self._scene.seated} were dealt a match, after {before}"
            )

    async def _quiet(self) -> None:
        """Wait until nobody is there any more."""
        with trio.move_on_after(HANG) as waiting:
            while found := await self._busy():  # noqa: ASYNC110 - nobody tells
                await trio.sleep(AGAIN)
        if waiting.cancelled_caught:
            self._scene.wrong.append(f"all bots are gone, and there is still {found}")

    async def _busy(self) -> list[str]:
        found: list[str] = []
        for host in self._ground.hosts:
            listed = (await asked(host.http, "/api/tournaments")).json["tournaments"]
            found += (each["tournament"] for each in listed if each["playing"])
            metrics = (await asked(host.http, "/metrics")).body.decode().splitlines()
            found += (
                line for line in metrics if line.startswith("quintain_players{") and not line.endswith(" 0")
            )
        return found

    async def _sockets(self, host: Host) -> list[str]:
        """What it has open when nothing is asked of it: the fewest of some looks."""
        fewest, same = host.sockets(), 0
        for _ in range(LOOKS):
            await trio.sleep(AGAIN)
            found = host.sockets()
            same = same + 1 if len(found) == len(fewest) else 0
            fewest = min(fewest, found, key=len)
            if same == ENOUGH:
                break
        return fewest
