"""Bugs of the kinds that clusters have always had, planted into the real code and the simulated database."""

from collections.abc import Callable
from math import inf

from server.peers import leases
from server.peers.keeping import LeaseKeeper
from server.peers.leases import Change, Granted, Leases
from server.peers.stamps import ArrivalTime, Sending
from server.store.ledger import Ledger
from tests.simulation.cluster.database import Database
from tests.simulation.cluster.plan import draw
from tests.simulation.cluster.world import simulate
from tests.simulation.planted import Patches, planted


def renewed_too_late() -> Patches:
    """A host counts its second from when it was told, and all of it, as if the answer took no time."""
    renew = LeaseKeeper.renew

    async def renew_late(self: LeaseKeeper) -> None:
        await renew(self)
        self.leases.until = self._now() + leases.LENGTH

    return {(LeaseKeeper, "renew"): renew_late}


def written_without_an_epoch() -> Patches:
    """Rows say nothing of a lease, and the database takes them."""
    return {
        (Leases, "epoch"): lambda self, tournament: 0,
        (Database, "fence"): lambda self, tournament, row: None,
    }


def two_owners_for_a_moment() -> Patches:
    """The database lets others have what was not renewed for half of the time."""
    return {
        (Database, "lapsed"): lambda self, host: (
            host is None or self.hosts[host].expiry < self.now() + leases.LENGTH / 2
        )
    }


def never_unsure() -> Patches:
    """A host believes that it holds what it has held until it hears that it does not."""
    granted = Leases.granted

    def for_ever(self: Leases, sent: float, answer: Granted) -> Change:
        change = granted(self, sent, answer)
        self.until = inf
        return change

    return {(Leases, "granted"): for_ever}


def never_patient() -> Patches:
    """The host to which the database comes back first takes over from those that could not renew."""
    return {(Leases, "patient"): lambda self, now: False}


def what_was_robbed_meanwhile_is_kept() -> Patches:
    """A tournament that another host has held in between is gone on with, as if nothing had happened."""
    granted = Leases.granted

    def forgiving(self: Leases, sent: float, answer: Granted) -> Change:
        change = granted(self, sent, answer)
        both = set(change.gained) & set(change.lost)
        return Change(
            tuple(name for name in change.gained if name not in both),
            tuple(name for name in change.lost if name not in both),
        )

    return {(Leases, "granted"): forgiving}


def stamped_at_the_wrong_end() -> Patches:
    """What a relayed bot said arrived when it arrived where the match is."""

    def late(self: Sending, heard: ArrivalTime, now: float) -> float:
        return now

    return {(Sending, "arrived"): late}


def moves_left_behind() -> Patches:
    """A host that is stopped lets go of its tournaments before it has kept what was played last."""

    async def nothing(self: Ledger) -> None:
        pass

    return {(Ledger, "keep_moves"): nothing}


BUGS = (
    renewed_too_late,
    written_without_an_epoch,
    two_owners_for_a_moment,
    never_unsure,
    never_patient,
    what_was_robbed_meanwhile_is_kept,
    stamped_at_the_wrong_end,
    moves_left_behind,
)


def seeds_until_found(bug: Callable[[], Patches], seeds: range) -> tuple[int, str] | None:
    """How many of the seeds it takes to notice a bug, and the first complaint; None if they all pass."""
    with planted(bug):
        for count, seed in enumerate(seeds, 1):
            if complaints := simulate(draw(seed)).complaints:
                return count, complaints[0]
    return None
