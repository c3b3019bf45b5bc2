"""Organisers who do not know of each other: each sends one order after another, to any of the hosts."""

from random import Random

import trio

from tests.adversaries.wires import Gone
from tests.storm.ask import AGAIN, ask
from tests.storm.ground import Ground
from tests.storm.orders import Order, drawn
from tests.storm.scene import Scene

PAUSE = 0.1  # seconds between two orders, at most
UNDECIDED = 502  # nobody knows whether it was carried out: as good as no answer


async def organise(scene: Scene, ground: Ground, chance: Random) -> None:
    while not scene.calm:
        await order(scene, ground, drawn(scene, chance), chance)
        await trio.sleep(chance.uniform(0, PAUSE))


async def order(scene: Scene, ground: Ground, order: Order, chance: Random) -> int:
    """The status of the answer; 0 where there was none that says what came of the order."""
    effects, writes = scene.effects, scene.effects.sent(order.effects)
    try:
        answer = await ask(chance.choice(ground.hosts).http, "POST", order.path, order.body)
        if answer.status == UNDECIDED:
            raise Gone
    except OSError:
        effects.answered(writes, False)  # nobody was asked
        await trio.sleep(AGAIN)
        return 0
    except Gone:
        if order.token is not None:
            effects.sent({order.token: None})  # nobody knows that token
        return 0
    done = answer.status < 300
    effects.answered(writes, done)
    scene.orders += 1
    scene.statuses[f"{order.path.rpartition('/')[2]} {answer.status}"] += 1
    scene.answer(f"{order}", answer.status, answer.body)
    if done and order.token is not None and "token" in answer.json:
        effects.answered(effects.sent({order.token: answer.json["token"]}), True)
    return answer.status
