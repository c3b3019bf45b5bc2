"""What bots say of how long they thought."""

from games.catalogue import catalogue
from games.game import Pace
from tournament.match import Match


def test_what_the_bots_say_they_spent_is_known_only_if_they_say_it_of_every_move() -> None:
    played = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0, pace=Pace())
    for number, spent in enumerate((0.75, None, 0.5, 1.0)):
        played.play(number % 2, number, number + 1.0, thought=spent)
    assert played.thinking() == ((1.25, None), (0.75, None))


def test_whoever_says_that_it_spent_more_than_the_clock_saw_has_lost_nothing_on_the_way() -> None:
    """Catches a negative time on the way, which nobody could read."""
    played = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0, pace=Pace())
    played.play(0, 3, 1.0, thought=1.5)
    assert played.thinking() == ((1.5, None), (0.0, None))
