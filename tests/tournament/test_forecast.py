"""What a forecast costs. How right it is, is measured over simulated events (`tests/simulation`)."""

from math import inf

from games.catalogue import catalogue
from tests.steps import steps_taken
from tournament.facts import Dealt, Drew, Entered, Opened
from tournament.forecast import Forecast
from tournament.format import Pairing
from tournament.match import Match
from tournament.record import Record

GAME = catalogue()["tic-tac-toe"]


def cost(entrants: int, playing: int) -> int:
    """The steps of a forecast for a round of which so many matches are left, all of them in play."""
    record = Record("cup", Opened("tic-tac-toe", "swiss"))
    names = [f"bot-{number}" for number in range(entrants)]
    for name in names:
        record.add(Entered(name))
    pairs = enumerate(zip(names[::2], names[1::2], strict=True), 1)
    pairings = [Pairing(number, 1, first, second) for number, (first, second) in pairs][:playing]
    record.add(Drew(tuple(pairings)))
    forecast = Forecast(record)
    matches: list[Match] = []
    for pairing in pairings:
        record.add(Dealt(name := record.match_name(pairing.number), pairing.number))
        matches.append(Match(GAME, (pairing.first, pairing.second or ""), 0.0, name=name))
        forecast.note(pairing.names, 60.0)

    def look() -> None:
        assert forecast.left(matches, {}, lambda name, pairings: 0.0, inf, 20.0) is not None

    return steps_taken(look)


def test_whoever_has_nothing_to_play_costs_a_forecast_nothing() -> None:
    assert cost(400, 2) < 2 * cost(40, 2)
