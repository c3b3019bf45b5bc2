"""Who is known to hang up after each match."""

from server.host.one_match_each import REMEMBERED, OneMatchEach


def test_whoever_has_hung_up_is_known_until_it_stays() -> None:
    known = OneMatchEach()
    known.note(("santorini", "ann"))
    assert known.is_known(("santorini", "ann"))
    assert not known.is_known(("connect-4", "ann"))
    known.forget(("santorini", "ann"))
    known.forget(("santorini", "bob"))
    assert not known.is_known(("santorini", "ann"))


def test_no_more_are_remembered_than_fit_and_those_are_the_latest() -> None:
    known, names = OneMatchEach(), [("santorini", str(number)) for number in range(REMEMBERED + 1)]
    for name in (*names[:-1], names[0], names[-1]):
        known.note(name)
    assert [name for name in names if not known.is_known(name)] == [names[1]]
