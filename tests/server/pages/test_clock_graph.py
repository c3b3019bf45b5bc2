"""The picture of the time that moves took: what it says in words, and that it stays small."""

from xml.etree import ElementTree

import pytest

from games.catalogue import catalogue
from games.game import Pace
from server.pages.clock_graph import BARS, clock_graph
from server.pages.story import Ply, Story
from tests.server.pages.gallery import GAME, TAG


def graph_of(plies: int, pace: Pace) -> ElementTree.Element:
    story = Story.__new__(Story)
    story.players, story.game = ("ann", "<bob>"), catalogue()[GAME]
    story.plies = [
        Ply(number, (number - 1) % 2, "4", 0.5 if number == 7 else 0.1, (0.0, 0.0))
        for number in range(1, plies + 1)
    ]
    return ElementTree.fromstring(clock_graph(story, pace).replace('data-cursor=""', ""))  # noqa: S314 - ours


def test_the_graph_says_in_words_who_took_how_long() -> None:
    graph = graph_of(9, Pace(turn=5.0))
    assert graph.attrib["role"] == "img"
    assert graph.findtext("title") == (
        "Time spent on each move: ann 0.90 s in all, 0.50 s at most, for move 7; "
        "<bob> 0.40 s in all, 0.10 s at most, for move 2"
    )


@pytest.mark.parametrize("plies", [1, 9, BARS, BARS + 1, 5000])
def test_the_graph_has_a_bar_for_each_move_up_to_a_bound(plies: int) -> None:
    graph = graph_of(plies, Pace(bank=60.0, gain=0.1))
    bars = sum(
        each.attrib["d"].count("z") for each in graph.iter("path") if "graph-seat" in each.attrib["class"]
    )
    assert bars == plies if plies <= BARS else bars <= 2 * BARS
    assert len(TAG.findall(ElementTree.tostring(graph).decode())) < 30


def test_the_clocks_of_a_whole_match_go_down_by_what_was_spent_and_up_by_the_gain() -> None:
    lines = [each.attrib["points"] for each in graph_of(2, Pace(bank=1.0, gain=0.05)).iter("polyline")]
    first, second = ([float(point.split(",")[1]) for point in line.split()] for line in lines)
    assert first[0] == second[0] == second[1] < first[1] == first[2] == second[2]
    assert not list(graph_of(2, Pace(turn=1.0)).iter("polyline"))
