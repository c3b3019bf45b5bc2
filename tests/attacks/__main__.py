"""`python -m tests.attacks 8000 8001 8080`: attack the host on these ports of this machine."""

from argparse import ArgumentParser

import trio

from tests.attacks.attacks import ATTACKS, FLOODS, Attack, Ports


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    for port in Ports.__struct_fields__:
        parser.add_argument(port, type=int)
    parser.add_argument("--floods", action="store_true", help="of connections, one after another")
    args = parser.parse_args()
    ports = Ports(args.tcp, args.websocket, args.http)
    trio.run(flood if args.floods else attack, ports)


async def attack(ports: Ports) -> None:
    async with trio.open_nursery() as nursery:
        for each in ATTACKS:
            nursery.start_soon(carry_out, each, ports)


async def flood(ports: Ports) -> None:
    for each in FLOODS:
        await carry_out(each, ports)


async def carry_out(attack: Attack, ports: Ports) -> None:
    try:
        await attack(ports)
    except* AssertionError as wrong:
        raise AssertionError(f"{attack.__name__}: {wrong.exceptions[0]}") from wrong


if __name__ == "__main__":
    main()
