"""`docs/why-did-my-bot-lose.md` has every ending, cause and sentence that the referee knows."""

import json
import re
from collections.abc import Iterator
from math import inf
from typing import get_args

import msgspec
import pytest
import quintain_bot

from tests.server.served import ROOT
from tournament import causes, verdicts
from tournament.events import CUT_SHORT, HOST_FAILED, Ended, Ending, Fault, Refused
from tournament.verdicts import Gone

PAGE = (ROOT / "docs/why-did-my-bot-lose.md").read_text()
NAMES = ("ann", "bob")
KINDS: dict[str, type[causes.Cause]] = {kind.__name__.lower(): kind for kind in get_args(causes.Cause)}
NO_TYPE = "type is required, and is missing; there are: hello, move, resign, state, bye"
LATE = causes.Late(0, 0, 4, 5.0, 5.1)
CUT_OFF = causes.Disconnected(0, 0, 4, "too many lines out of turn")
REFUSAL = causes.Refused(0, 0, 4, "e99", "there is no field e99")


def refused(why: str, count: int = 1) -> Refused:
    return Refused(0, 0, 4, "e99", why, count)


def gone(since: float, until: float, *, lost: bool, came: bool = True) -> Gone:
    return Gone(0, since, until, lost=lost, held=False, came=came)


def verdicts_on_ann() -> Iterator[Ended]:
    """Whatever the referee can say of her, each with the reason that the page has."""
    yield verdicts.illegal(NAMES, refused("a wall lies between e1 and e2"), [], budget=False)
    yield verdicts.illegal(NAMES, refused(REFUSAL.why, 20), [], budget=True)
    yield verdicts.out_of_time(NAMES, LATE, [], None, 0)
    yield verdicts.out_of_time(NAMES, msgspec.structs.replace(LATE, begun=24), [], None, 0)
    yield verdicts.out_of_time(NAMES, msgspec.structs.replace(LATE, meant=3), [], None, 0)
    yield verdicts.out_of_time(NAMES, msgspec.structs.replace(LATE, ignored=NO_TYPE), [], None, 0)
    yield verdicts.out_of_time(NAMES, LATE, [REFUSAL], None, 0)
    yield verdicts.out_of_time(NAMES, LATE, [REFUSAL] * 16, None, 0)
    yield verdicts.out_of_time(NAMES, msgspec.structs.replace(LATE, unanswered=31.2), [], None, 0)
    yield verdicts.out_of_time(NAMES, LATE, [], -31, 0)
    yield verdicts.out_of_time(NAMES, LATE, [CUT_OFF], -31, 0)
    yield verdicts.out_of_time(NAMES, LATE, [causes.Credited(0, 1.5, 4)], None, 0)
    yield verdicts.left(NAMES, gone(0, 30, lost=True), 30, [], void=False)
    yield verdicts.left(NAMES, gone(0, 30, lost=True), 30, [CUT_OFF], void=False)
    yield verdicts.left(NAMES, gone(0, -inf, lost=False), 0, [CUT_OFF], void=False)
    yield verdicts.left(NAMES, gone(0, -inf, lost=False), 0, [], void=False)
    yield Ended(0, 1, Ending.LEFT, verdicts.stayed_away("ann", been=True), Fault.BOT, ())
    yield Ended(0, 1, Ending.LEFT, verdicts.stayed_away("ann", been=True, sated=True), Fault.BOT, ())
    yield verdicts.left(NAMES, gone(0, 30, lost=False, came=False), 30, [], void=False)
    yield Ended(0, 1, Ending.LEFT, verdicts.shut_out("ann"), None, ())
    yield Ended(0, 1, Ending.RESIGNED, "ann resigned", None, ())
    yield verdicts.left(NAMES, gone(0, 30, lost=True), 30, [], void=True)
    yield verdicts.left(NAMES, gone(0, -inf, lost=False), 0, [], void=True)
    yield verdicts.left(NAMES, gone(0, 30, lost=False, came=False), 30, [], void=True)
    yield verdicts.both_gone([gone(0, -inf, lost=False)], 0, [], void=True)
    yield verdicts.both_gone([gone(0, 30, lost=True)], 30, [], void=True)
    yield verdicts.not_resumed(["bob"], 0, [])
    yield Ended(0, None, Ending.VOID, CUT_SHORT, Fault.HOST, ())
    yield Ended(0, None, Ending.VOID, verdicts.not_kept("bob"), Fault.HOST, ())
    yield Ended(0, None, Ending.VOID, verdicts.link_lost("bob"), Fault.HOST, ())
    yield Ended(0, None, Ending.VOID, verdicts.voided(""), None, ())
    yield Ended(0, None, Ending.VOID, HOST_FAILED, Fault.HOST, ())


VERDICTS = [*verdicts_on_ann()]


def rows(head: str) -> list[list[str]]:
    table = PAGE.partition(f"{head}\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]


def test_every_ending_is_on_the_page() -> None:
    assert [row[0] for row in rows("| ending | what it means |")] == [f"`{ending}`" for ending in Ending]


def test_the_sentences_on_the_page_are_those_of_the_referee() -> None:
    """With their endings and faults."""
    told = [row[:3] for row in rows("| `why` | `ending` | `fault` | what happened | what to do |")]
    assert told == [
        [f"*{ended.why}*", f"`{ended.ending}`", f"`{ended.fault}`" if ended.fault else ""]
        for ended in VERDICTS
    ]


def test_the_page_has_a_sentence_for_every_ending_and_fault() -> None:
    assert {ended.ending for ended in VERDICTS} == set(Ending) - {Ending.PLAYED}
    assert {ended.fault for ended in VERDICTS} == {*Fault, None}
    assert any(CUT_SHORT in ended.why for ended in VERDICTS)


def test_every_cause_has_a_heading_an_example_and_what_to_make_of_it() -> None:
    section = PAGE.partition("## By the cause\n")[2].partition("\n## ")[0]
    found = re.findall(r"^### `(\w+)`\n\n```json\n(.*?)\n```\n\n(.*)$", section, re.MULTILINE)
    assert {kind for kind, *_ in found} == set(KINDS)
    for kind, example, explained in found:
        names = {"kind", *(field.name for field in msgspec.structs.fields(KINDS[kind]))}
        assert set(json.loads(example)) == names
        assert json.loads(example)["kind"] == kind
        assert explained


@pytest.mark.parametrize("ended", VERDICTS, ids=lambda ended: f"{ended.why}, {ended.ending} by {ended.fault}")
def test_a_client_whose_bot_lost_off_the_board_says_what_to_do(ended: Ended) -> None:
    """Catches an ending that gets a new fault, of which the client has never heard."""
    end = {"ending": ended.ending, "fault": ended.fault, "cause": msgspec.to_builtins(ended.cause)}
    advice = quintain_bot._advice(end, 0, "quoridor")
    assert bool(advice) == (ended.fault is not None and ended.winner == 1)
    assert ("in brackets" in advice) == (CUT_OFF.why in ended.why)
