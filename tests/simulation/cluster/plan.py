"""What is to happen in one seed."""

from random import Random

from msgspec import Struct

CALM = 1.5  # seconds at the beginning in which nothing goes wrong
TROUBLED = 6.0  # seconds after that in which something may begin
LONGEST = 3.0  # seconds for which it may last
KINDS = ("kill", "stop", "cut", "database", "answers", "slow", "link", "drain")


class Trouble(Struct, frozen=True):
    at: float
    what: str  # one of KINDS
    host: int  # whom it befalls; of no meaning for the database
    seconds: float  # for which it lasts; after a kill or a drain, until the host is started again

    @property
    def until(self) -> float:
        return self.at + self.seconds


class Plan(Struct, frozen=True):
    seed: int
    rates: tuple[float, ...]  # of the hosts' clocks
    database_rate: float
    tournaments: tuple[str, ...]
    latency: float  # seconds to the database, one way, at most
    troubles: tuple[Trouble, ...]


def draw(seed: int) -> Plan:
    chance = Random(f"cluster {seed}")
    hosts = chance.choice((2, 2, 3, 3, 4))
    troubles = [
        Trouble(
            chance.uniform(CALM, CALM + TROUBLED),
            chance.choice(KINDS),
            chance.randrange(hosts),
            chance.choice((0.3, 0.8, 1.2, 2.0, LONGEST)),
        )
        for _ in range(chance.randint(1, 5))
    ]
    return Plan(
        seed,
        tuple(chance.uniform(0.99, 1.01) for _ in range(hosts)),
        chance.uniform(0.99, 1.01),
        tuple(f"cup-{number}" for number in range(chance.randint(1, 4))),
        chance.choice((0.001, 0.01, 0.06)),
        tuple(sorted(troubles, key=lambda trouble: trouble.at)),
    )
