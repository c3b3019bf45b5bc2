"""What is wrong with the hosts that share a database, in words for an organiser.

A host reports it in `/readyz`, for itself and all others. `quintain doctor` reports it without being
a host. Values in, values out.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from server.peers.leases import Peer

FAR = 5.0  # seconds between the clocks of a host and the database: with more, times in the journal mislead


class Problem(Struct, frozen=True):
    said: str
    advice: str


class Health(Struct, frozen=True):
    """The health of all hosts that were heard of within the hour."""

    registered: int
    alive: int
    problems: tuple[Problem, ...]


def health(peers: Sequence[Peer], further: Iterable[Problem] = ()) -> Health:
    """The health, from what the database says of the hosts and `further` problems that only a host knows."""
    problems = (*_dead(peers), *_mixed(peers), *_off(peers), *further)
    return Health(len(peers), sum(peer.alive for peer in peers), problems)


def named(peer: Peer) -> str:
    return f"host {peer.id} at {peer.address}"


def off(ahead: float) -> str:
    """How far a clock is from the database's, in words; "" if that does no harm."""
    if abs(ahead) < FAR:
        return ""
    return f"is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} the database's"


def _dead(peers: Sequence[Peer]) -> Iterable[Problem]:
    """The hosts that ended without a word and were not started again."""
    there = {peer.address for peer in peers if peer.alive}
    for peer in peers:
        if not (peer.alive or peer.draining or peer.starting) and peer.address not in there:
            yield Problem(f"{named(peer)} has not been heard of for {peer.age:.0f} s", "start it again")


def _mixed(peers: Sequence[Peer]) -> Iterable[Problem]:
    living = [peer for peer in peers if peer.alive]
    if len({peer.version for peer in living}) > 1:
        versions = ", ".join(f"{named(peer)} has {peer.version}" for peer in living)
        yield Problem(f"versions differ: {versions}", "have all of them run the newest")


def _off(peers: Sequence[Peer]) -> Iterable[Problem]:
    for peer in peers:
        if peer.alive and (by := off(peer.ahead)):
            yield Problem(f"the clock of {named(peer)} {by}", "set it")
