"""What bots note with their moves: kept with them, within bounds, and not written where there is nothing."""

import sys

import msgspec
import pytest

from games.catalogue import catalogue
from games.game import Illegal
from server.pages.match import noted
from tournament.events import Ending
from tournament.facts import Concluded
from tournament.match import Match
from tournament.notes import FIGURE, LARGEST, MOST, Note, Noted, Taken, size
from tournament.thinking import UNTOLD

NOTES: tuple[Note, ...] = ("a fork", {"tokens": 120, "score": -0.5})


def test_whoever_learns_that_a_match_is_decided_learns_what_was_said_with_its_last_move() -> None:
    """There is no later message: a match that another process plays is told to its holder at once."""
    known: list[object] = []
    game = catalogue()["tic-tac-toe"]
    match = Match(
        game, ("ann", "bob"), 0.0, decided=lambda match, _: known.extend((match.notes, match.thinking()[0]))
    )
    for ply, field in enumerate(("NW", "C", "N", "S", "NE")):
        match.play(ply % 2, field, float(ply), thought=0.5, note=f"ply {ply}" if ply % 2 == 0 else None)
    assert known == [tuple([Noted(ply + 1, 0, f"ply {ply}") for ply in (0, 2, 4)]), (1.5, 1.0)]


def test_a_note_of_a_refused_move_is_not_kept() -> None:
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    with pytest.raises(Illegal):
        match.play(0, 9, 1.0, thought=0.5, note="the tenth column")
    assert (match.notes, match.thinking()) == ((), UNTOLD)


def test_notes_are_kept_while_there_is_room_and_a_shorter_one_after_a_longer() -> None:
    match = Match(catalogue()["connect-4"], ("ann", "bob"), 0.0)
    notes: tuple[Note, ...] = ("x" * (MOST - 10), "x" * 11, {"a": 1})
    for ply, note in enumerate(notes):
        match.play(ply % 2, 0, float(ply), note=note)
    assert [(noted.ply, noted.note) for noted in match.notes] == [(1, notes[0]), (3, notes[2])]
    assert size({"a": 1}) == FIGURE + 1


def test_a_match_without_notes_is_written_as_before_there_were_any() -> None:
    fact = Concluded("m-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "so", (1.0, 0.0))
    assert b"notes" not in msgspec.json.encode(fact)


@pytest.mark.parametrize("note", NOTES, ids=str)
def test_what_is_kept_can_be_read_back(note: Note) -> None:
    notes = (Noted(3, 1, note),)
    fact = Concluded("m-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "so", (1.0, 0.0), notes=notes)
    assert msgspec.json.decode(msgspec.json.encode(fact), type=Concluded) == fact


@pytest.mark.parametrize("figure", [LARGEST, -LARGEST, sys.float_info.max, sys.float_info.min])
def test_the_largest_figures_that_may_be_noted_fit_into_messages_and_on_pages(figure: float) -> None:
    note = msgspec.json.decode(msgspec.json.encode({"tokens": figure}), type=Taken)
    fact = Concluded("m-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "so", (1.0, 0.0), notes=(Noted(1, 0, note),))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(fact), type=Concluded) == fact
    assert noted(note).startswith("tokens ")


@pytest.mark.parametrize("figure", [LARGEST + 1, -LARGEST - 1, 10**400])
def test_no_larger_whole_number_may_be_noted(figure: int) -> None:
    """Catches a note with which a bot ended the process that played its match."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({"tokens": figure}), type=Taken)
