"""What show keeps of a match that is over: little, because it keeps it as long as the host lives."""

import tracemalloc

import pytest

from server.pages.bot import Index
from tests.soak.soak import KEPT
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened
from tournament.format import Pairing
from tournament.record import Record
from tournament.score_sheet import ScoreSheet

pytestmark = pytest.mark.slow

NAMES = "abcdefgh"
FEW, MANY = 10_000, 30_000


def match(number: int) -> tuple[AnyFact, ...]:
    """The match of a pairing: no two are the same."""
    players = NAMES[number % 8], NAMES[(number // 8 + number + 1 + number // 64 % 6) % 8]
    if players[0] == players[1]:
        players = "a", "b"
    moves = (number, 1, 2, 3, 4, 5)
    over = Concluded(
        f"cup-{number}",
        number,
        players,
        0,
        Ending.PLAYED,
        f"{players[1]} left the match",
        (1.0, 0.0),
        moves,
        (0.5,) * len(moves),
        {"cols": 5, "rows": 5},  # its own, as all matches of Hexagon Dots have, and no two share them
        began=number / 2,
        ended=number / 2 + 1.5,
    )
    return Drew((Pairing(number, number, *players),)), Dealt(over.match, number), over


@pytest.mark.campaign
def test_what_is_kept_of_a_match_with_its_place_on_boards_and_pages_is_little() -> None:
    record, sheet, index = Record("cup", Opened("tic-tac-toe", "open")), ScoreSheet(), Index()
    for name in NAMES:
        record.add(Entered(name))
    taken: list[int] = []
    tracemalloc.start()
    try:
        for number in range(1, MANY + 1):
            for fact in match(number):
                record.add(fact)
            if number in (FEW, MANY):
                sheet.board(record, 0.0)
                index.find(record, "a")
                taken.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert (taken[1] - taken[0]) / (MANY - FEW) < KEPT[1]
