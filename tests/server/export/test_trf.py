"""FIDE's report file: read back by its columns, it is what the record says; another program takes it."""

from collections import Counter
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.game import Pace
from server.export.trf import LARGEST, NotInTrf, trf
from tests.server.export.bbppairings.events import EVENTS, event, falsified, kept
from tests.tournament.holding import Held, field, toss
from tournament.events import Ending
from tournament.facts import Concluded, Disqualified, Drew, Entered, Opened, Withdrew
from tournament.format import Entrant, Pairing, Terms, formats
from tournament.record import Record

DAY = 1_767_225_600.0  # 2026-01-01
RATINGS = (None, 900.0, 1500.4, 0.4, -50.0, 9_999.4, 9_999.6, 123_456.0)
ROUNDS = ("swiss", "round-robin", "double-round-robin", "knockout", "gauntlet")


class Cell(NamedTuple):
    opponent: int | None
    side: str
    result: str


class Player(NamedTuple):
    """A line `001`."""

    name: str
    rating: int | None
    points: float
    rank: int
    cells: list[Cell]


class Report(NamedTuple):
    about: dict[str, str]  # the other lines, by their numbers
    players: dict[int, Player]


def read(text: str) -> Report:
    """By the columns of FIDE's document, which counts them from 1."""
    about: dict[str, str] = {}
    players: dict[int, Player] = {}
    lines = text.split("\r\n")
    assert lines.pop() == ""
    for line in lines:
        if line[:3] == "001":
            assert line[8] == line[47] == line[84] == " "
            rating = line[48:52].strip()
            cells = [_cell(line[start : start + 8]) for start in range(91, len(line), 10)]
            players[int(line[4:8])] = Player(
                line[14:47].rstrip(),
                int(rating) if rating else None,
                float(line[80:84]),
                int(line[85:89]),
                cells,
            )
        else:
            about[line[:3]] = line[4:]
    return Report(about, players)


def _cell(text: str) -> Cell:
    assert len(text) == 8
    assert text[4] == text[6] == " "
    opponent = text[:4].strip()
    return Cell(int(opponent) if opponent else None, text[5], text[7])


def recorded(held: Held) -> Record:
    """The record of what was held, which is played at a match a minute."""
    record = Record("cup", Opened("connect-4", held.format.name, terms=held.terms))
    for entrant in held.entrants:
        record.add(Entered(entrant.name, entrant.rating))
    record.add(Drew(tuple(held.drawn)))
    for result in held.results:
        first, second, number = result.pairing.first, result.pairing.second, result.pairing.number
        if second is not None:
            winner = None if result.score[0] == 0.5 else int(result.score[0] == 0)
            moves, when = (1,) * (3 if result.played else 0), DAY + 60 * number
            record.add(
                Concluded(
                    *(f"cup-{number}", number, (first, second), winner),
                    *(Ending.PLAYED if result.played else Ending.LEFT, "so", result.score, moves),
                    began=when,
                    ended=when + 30,
                )
            )
    for entrant in held.entrants:
        if entrant.gone:
            record.add(Withdrew(entrant.name, annulled=False))
    return record


def some_event(name: str, count: int, seed: int, leave: float = 0.0, late: int = 0) -> Record:
    random = Random(seed)
    entrants = [Entrant(each.name, random.choice(RATINGS)) for each in field(count)]
    late = late if formats()[name].late else 0
    rounds = {"swiss": 5, "gauntlet": 2}.get(name)
    return recorded(
        Held(formats()[name], entrants, Terms(rounds, seed)).hold(random, toss(random), leave, late)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUNDS)
@given(
    count=st.integers(2, 9),
    seed=st.integers(0, 2**32 - 1),
    leave=st.sampled_from((0.0, 0.1)),
    late=st.integers(0, 1),
    out=st.booleans(),
)
def test_what_is_read_by_its_columns_is_what_the_record_says(
    name: str, count: int, seed: int, leave: float, late: int, out: bool
) -> None:
    record = some_event(name, count, seed, leave, late)
    if out:
        record.add(Disqualified("p0", "it cheated"))
    report = read(trf(record))
    rows = {row.name: row for row in record.standings()}
    names = {rank: player.name for rank, player in report.players.items()}
    assert sorted(names) == list(range(1, len(names) + 1))
    assert sorted(names.values()) == sorted(record.entrants)
    assert len({len(player.cells) for player in report.players.values()}) == 1
    for player in report.players.values():
        row = rows[player.name]
        assert (player.points, player.rank) == (row.points, row.rank)
        rating = round(record.entrants[player.name].rating or 0.0)
        assert player.rating == (rating if 1 <= rating <= 9_999 else None), "it has four digits"
    found = Counter(
        (names[rank], None if cell.opponent == 0 else names[cell.opponent or 0], cell.side, cell.result)
        for rank, player in report.players.items()
        for cell in player.cells
        if cell.result not in ("Z", " ")
    )
    expected: Counter[tuple[str, str | None, str, str]] = Counter()
    for result in record.adjusted():
        first, second = result.pairing.first, result.pairing.second
        if second is None:
            expected[first, None, "-", "U"] += 1
            continue
        marks = {1.0: "1", 0.5: "=", 0.0: "0"} if result.played else {1.0: "+", 0.0: "-"}
        expected[first, second, "w", marks[result.score[0]]] += 1
        expected[second, first, "b", marks[result.score[1]]] += 1
    assert found == expected


def test_columns_are_rounds_and_whoever_plays_twice_in_one_has_another() -> None:
    report = read(trf(some_event("swiss", 9, 3)))
    assert {len(player.cells) for player in report.players.values()} == {5}
    for column in range(5):
        pairs = {
            frozenset((rank, player.cells[column].opponent))
            for rank, player in report.players.items()
            if player.cells[column].opponent
        }
        assert len(pairs) == 4
    record = Record("cup", Opened("connect-4", "knockout"))
    for name in ("ada", "bob", "cyd", "dan"):
        record.add(Entered(name))
    held = Held(formats()["knockout"], list(record.entrants.values()))
    for score in ((0.5, 0.5), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        held.advance()
        held.conclude(held.open[0], score)
    cells = {player.name: player.cells for player in read(trf(recorded(held))).players.values()}
    drawn = [name for name, mine in cells.items() if mine[0].result == "="]
    assert all(cells[name][1].side != cells[name][0].side for name in drawn), "sides are swapped"
    assert all(cells[name][1] == Cell(0, "-", "Z") for name in set(cells) - set(drawn))


def test_what_is_still_to_be_played_is_blank() -> None:
    held = Held(formats()["swiss"], field(4))
    held.advance()
    held.conclude(held.open[0], (1.0, 0.0))
    cells = [player.cells for player in read(trf(recorded(held))).players.values()]
    assert sorted(mine[0].result for mine in cells) == [" ", " ", "0", "1"]
    assert sum(mine[0] == Cell(None, " ", " ") for mine in cells) == 2


def test_the_lines_about_the_tournament() -> None:
    record = some_event("swiss", 9, 3)
    about = read(trf(record)).about
    rated = sum(player.rating is not None for player in read(trf(record)).players.values())
    assert about == {
        "012": "cup",
        "022": "",
        "032": "",
        "042": "2026/01/01",
        "052": "2026/01/01",
        "062": "9",
        "072": str(rated),
        "082": "0",
        "092": "Swiss",
        "102": "",
        "122": "60 s a move",
        "132": " " * 87 + "  ".join(["26/01/01"] * 5),
        "XXR": "5",
    }


def test_a_clock_of_weeks_is_said_in_whole_seconds() -> None:
    record = Record("cup", Opened("santorini", "swiss", pace=Pace(bank=2_592_001.0)))
    assert read(trf(record)).about["122"] == "2592001 s a match"


def test_where_the_format_has_no_place_for_a_tournament_it_is_refused() -> None:
    ladder = Record("cup", Opened("connect-4", "ladder"))
    with pytest.raises(NotInTrf, match="a table of rounds, and a ladder tournament has none"):
        trf(ladder)
    table = Record("open-connect-4", Opened("connect-4", "open"))
    with pytest.raises(NotInTrf, match="a table of rounds, and an open table has none"):
        trf(table)
    many = Record("cup", Opened("connect-4", "swiss"))
    for number in range(10_000):
        many.add(Entered(f"bot {number}"))
    with pytest.raises(NotInTrf, match="10000 entrants"):
        trf(many)
    best = Held(formats()["gauntlet"], field(2), Terms(rounds=100))
    while best.advance() or best.open:
        best.conclude(best.open[0], (float(best.open[0].first == "p0"), float(best.open[0].first != "p0")))
    with pytest.raises(NotInTrf, match="p0 has 100"):
        trf(recorded(best))


def test_how_many_rounds_there_are_decides_whether_it_fits_and_not_how_many_matches() -> None:
    """Catches a Swiss of 500 that was refused because of its 2,750 matches."""
    held = Held(formats()["round-robin"], field(150))
    assert len(held.advance()) * len(held.entrants) > LARGEST
    assert read(trf(recorded(held))).about["XXR"] == "149"
    long = Record("cup", Opened("connect-4", "swiss"))
    for number in range(1_000):
        long.add(Entered(f"bot {number}"))
    long.add(Drew(tuple([Pairing(round, round, "bot 0", "bot 1") for round in range(1, 1_002)])))
    with pytest.raises(NotInTrf, match="1000 entrants and 1001 rounds are too many"):
        trf(long)


def test_a_long_name_is_cut_and_moves_no_column() -> None:
    record = Record("cup", Opened("connect-4", "round-robin"))
    for name in ("Ωmega" * 12, "b"):
        record.add(Entered(name))
    names = [player.name for player in read(trf(record)).players.values()]
    assert names == [("Ωmega" * 12)[:33], "b"]


@pytest.mark.parametrize("number", range(EVENTS))
def test_what_bbppairings_has_taken_is_what_is_exported_letter_by_letter(number: int) -> None:
    assert trf(recorded(event(number))).encode() == kept(number, "trf").read_bytes()


@pytest.mark.parametrize("number", range(EVENTS))
def test_bbppairings_has_read_who_met_whom_and_the_points(number: int) -> None:
    text = kept(number, "trf").read_bytes().decode()
    players = read(text).players
    count, *pairs = kept(number, "drawn").read_text().splitlines()
    drawn = [[*map(int, pair.split())] for pair in pairs]
    assert len(drawn) == int(count)
    assert sorted({0, *(rank for pair in drawn for rank in pair)}) == [0, *players]
    for one, other in drawn:  # 0 is the opponent in a bye, and in a round that was missed
        assert other not in [cell.opponent for cell in players[one].cells if cell.result != "Z"]
    (wrong,) = (rank for rank, player in read(falsified(text)).players.items() if player != players[rank])
    said = f"The score for player {wrong} does not match the game results."
    assert kept(number, "refused").read_text().strip().endswith(said)
