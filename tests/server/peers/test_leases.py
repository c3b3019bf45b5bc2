"""Leases without a database: what a host may believe, and for how long."""

import pytest
from msgspec.structs import replace

from server.peers.leases import (
    AFTER,
    EVERY,
    LENGTH,
    NOT_HELD,
    SHORT,
    SOON,
    Change,
    Granted,
    Lease,
    Leases,
    Peer,
)

US, THEM = 1, 2
PEERS = (Peer(US, "a:1", "aa", "", "1"), Peer(THEM, "b:1", "bb", "", "1"))


def leases(**held: Lease) -> Leases:
    """Of a host that was granted these at 0."""
    found = Leases()
    found.host = US
    found.granted(0.0, Granted(1, PEERS, held))
    return found


def test_a_host_is_sure_from_when_it_asked_and_not_from_when_it_was_told() -> None:
    host = Leases()
    assert not host.sure(0.0)
    host.granted(10.0, Granted(1, PEERS, {}))
    assert host.sure(10.0 + SHORT * LENGTH - 0.001)
    assert not host.sure(10.0 + SHORT * LENGTH)


def test_a_host_stops_before_the_database_lets_others_go_on_even_if_its_clock_is_slow_by_a_twentieth() -> (
    None
):
    assert SHORT * LENGTH / 0.95 < LENGTH


def test_a_host_is_patient_until_it_was_sure_for_as_long_as_leases_last_and_none_of_its_requests_failed() -> (
    None
):
    host = Leases()
    assert host.patient(0.0)
    for sent in (0.0, 0.8, 1.6):
        host.granted(sent, Granted(1, PEERS, None))
    assert not host.patient(1.6)
    host.failed()
    assert host.patient(1.6)
    for sent in (1.7, 2.5, 2.7):
        host.granted(sent, Granted(1, PEERS, None))
    assert host.patient(2.7)
    assert not host.patient(1.701 + LENGTH / SHORT)


def test_a_host_whose_request_was_granted_after_its_lease_had_lapsed_is_patient_with_the_very_next_one() -> (
    None
):
    """A database that hangs in a commit and goes on fails nobody, and by then all leases have lapsed."""
    host = Leases()
    for sent in (0.0, 0.8, 1.6):
        host.granted(sent, Granted(1, PEERS, None))
    assert host.patient(1.6 + LENGTH)
    host.granted(1.6 + LENGTH, Granted(1, PEERS, None))
    assert host.patient(1.6 + LENGTH + 0.1)


def test_what_another_thread_was_granted_counts_unless_leases_have_changed_hands_since() -> None:
    """Catches a host that goes on deciding matches that another one has taken over."""
    host = leases(cup=Lease(US, 3))
    host.still_held(0.5, 1)
    assert host.sure(0.499 + SHORT * LENGTH)
    assert not host.sure(0.5 + SHORT * LENGTH)
    host.still_held(0.6, 2)
    assert not host.sure(0.5 + SHORT * LENGTH), "it may have lost something by then"
    host.granted(0.6, Granted(2, PEERS, {"cup": Lease(THEM, 4)}))
    host.still_held(0.7, 2)
    assert host.sure(0.699 + SHORT * LENGTH)
    host.still_held(0.2, 2)
    assert host.sure(0.699 + SHORT * LENGTH), "an answer that comes late takes nothing back"


def test_an_answer_that_comes_late_takes_nothing_back() -> None:
    host = leases()
    host.granted(5.0, Granted(1, PEERS, None))
    host.granted(4.0, Granted(1, PEERS, None))
    assert host.sure(5.0 + SHORT * LENGTH - 0.001)


def test_what_is_gained_and_lost_is_told_once() -> None:
    host = leases(cup=Lease(US, 3), league=Lease(THEM, 4))
    assert dict(host.held) == {"cup": 3}
    taken = Granted(2, PEERS, {"cup": Lease(THEM, 5), "league": Lease(US, 6)})
    assert host.granted(1.0, taken) == Change(gained=("league",), lost=("cup",))
    assert host.granted(1.2, taken) == Change()
    assert host.granted(1.4, Granted(2, PEERS, None)) == Change()


def test_what_was_lost_and_won_again_meanwhile_is_both() -> None:
    """Catches a host that goes on with what another host has gone on with in between."""
    host = leases(cup=Lease(US, 3))
    assert host.granted(9.0, Granted(2, PEERS, {"cup": Lease(US, 5)})) == Change(("cup",), ("cup",))
    assert host.epoch("cup") == 5


def test_what_is_not_held_has_an_epoch_that_no_lease_has() -> None:
    host = leases(cup=Lease(THEM, 3))
    assert host.epoch("cup") == host.epoch("league") == NOT_HELD < 0
    assert host.epoch("") == 0  # what is ordered of the host itself belongs to no tournament


def test_a_tournament_is_found_at_its_holder_if_that_is_alive_and_somebody_else() -> None:
    host = leases(cup=Lease(THEM, 3), league=Lease(US, 4), nobodys=Lease(None, 2))
    assert host.holder("cup") == PEERS[1]
    assert host.holder("league") is host.holder("nobodys") is host.holder("other") is None
    dead = Peer(THEM, "b:1", "bb", "", "1", alive=False)
    host.granted(1.0, Granted(1, (PEERS[0], dead), None))
    assert host.holder("cup") is None


def test_a_host_is_heard_of_no_later_than_the_database_could_say_so() -> None:
    """Catches heartbeats of just now on a list of hosts, while the database has been away for minutes."""
    host = Leases()
    assert host.seen(5.0) == ()
    host.granted(10.0, Granted(1, (replace(PEERS[0], age=0.1), PEERS[1]), {}))
    assert [peer.age for peer in host.seen(10.0)] == pytest.approx([0.1, 0.0])
    assert [peer.age for peer in host.seen(310.0)] == pytest.approx([300.1, 300.0])


def test_who_holds_what_is_made_anew_only_when_it_has_changed() -> None:
    """Catches a dictionary of all tournaments that ever were, made for each one that a list shows."""
    host, held = Leases(), {"cup": Lease(US, 1), "league": Lease(THEM, 1), "nobodys": Lease(None, 1)}
    host.granted(0.0, Granted(1, PEERS, held))
    at = host.holders()
    assert at == {"cup": "a:1", "league": "b:1"}
    host.granted(1.0, Granted(1, tuple([replace(peer, age=0.5) for peer in PEERS]), None))
    assert host.holders() is at, "another heartbeat"
    host.granted(2.0, Granted(1, (PEERS[0], replace(PEERS[1], alive=False)), None))
    assert host.holders() == {"cup": "a:1"}
    host.granted(3.0, Granted(2, PEERS, {**held, "nobodys": Lease(US, 2)}))
    assert host.holders() == {"cup": "a:1", "league": "b:1", "nobodys": "a:1"}


def hearing(left: float, *holders: int | None, since: float = 0.0) -> Leases:
    """Of a host that has heard the database until 0, and then that those of the other host lapse so soon."""
    host = Leases()
    host.host = US
    held = {f"cup-{number}": Lease(holder, 1) for number, holder in enumerate(holders)}
    peers = (PEERS[0], Peer(THEM, "b:1", "bb", "", "1", alive=left > 0, left=left))
    for sent in (since, since / 2, 0.0):
        host.granted(sent, Granted(1, peers, held))
    return host


def test_a_host_asks_again_when_the_leases_of_another_lapse_and_not_only_a_quarter_of_a_second_later() -> (
    None
):
    assert hearing(0.9, US, THEM, since=-1.6).next_request(0.0, 0.1) == EVERY, "both renew"
    assert hearing(0.13, US, since=-1.6).next_request(0.0, 0.1) == EVERY, "it holds nothing"
    lapses = hearing(0.13, THEM, since=-1.6).next_request(0.0, 0.1)
    assert lapses == pytest.approx(0.1 + 0.13 + AFTER), "from when it was told"


def test_a_host_asks_again_when_the_first_of_several_others_lapses() -> None:
    """Catches a tournament that stands still for longer because the leases of a third host lapse later."""
    host = hearing(0.2, THEM, since=-1.6)
    third = Peer(3, "c:1", "cc", "", "1", left=0.1)
    held = {"cup": Lease(THEM, 1), "league": Lease(third.id, 1)}
    host.granted(0.0, Granted(2, (*host.peers, third), held))
    assert host.next_request(0.0, 0.1) == pytest.approx(0.1 + third.left + AFTER)


def test_a_host_asks_again_soon_while_something_waits_that_it_may_take() -> None:
    assert hearing(-0.1, US, THEM, since=-1.6).next_request(0.0, 0.1) == 0.1 + SOON
    assert hearing(0.9, US, None).next_request(0.0, 0.1) == 0.1 + SOON, "what was given up"


def test_a_host_that_is_patient_asks_no_sooner_for_what_it_may_not_take_yet() -> None:
    host, sent = hearing(-0.1, THEM), 0.0
    while host.patient(sent):
        before, sent = sent, host.next_request(sent, sent)
        assert before < sent <= before + EVERY
        host.granted(sent, Granted(1, host.peers, None))
    assert sent == pytest.approx(LENGTH / SHORT), "it asks in the moment in which it is patient no longer"
