"""`quintain verify`: what follows is let pass, and whatever was changed is found in its line."""

import gzip
import json
import os
import subprocess
import tracemalloc
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, structs

from games.catalogue import catalogue
from games.game import Illegal, Pace, quoted
from server.export.json_views import BY_THE_ORGANISER
from server.export.read import LONGEST, SHORT, Finding
from server.export.read import lines as read_lines
from server.export.signing import Signer
from server.export.verify import Verdict, verify
from server.export.verify_lines import CHOICES, UNCHOSEN
from server.export.verify_match import ending_objections, replayed
from server.host.names import LONGEST as LONGEST_NAME
from server.store.ledger import SET
from tests.effort import IS_CAMPAIGN, tries
from tests.server.exports import exported, simulated, text, unchained
from tests.server.forked import Forked
from tests.server.served import ROOT
from tournament import entries
from tournament.causes import FIRST, LATEST, SENT, Late, Refused
from tournament.events import Ending, Fault
from tournament.facts import (
    CheckedIn,
    Concluded,
    Dealt,
    Described,
    Drew,
    EndedEarly,
    Entered,
    Kept,
    NoShow,
    Opened,
    Ordered,
    State,
    Turned,
    Withdrew,
)
from tournament.format import OPEN, Entrant, Pairing, Score, Terms, formats
from tournament.sizes import AT_ONCE

pytestmark = pytest.mark.slow

# Worlds that stall and crash, also in the middle of a commit, and in which bots leave, resign, withdraw, are
# late, illegal and disqualified, and matches are void.
SEEDS = range(1, 31) if IS_CAMPAIGN else (9, 14, 16, 19)
SMALL = 4  # a world of few lines that has most kinds of them
LARGER = pytest.param(7, marks=pytest.mark.campaign)  # of two tournaments
CHANGED = (2, 19, 7, 11)[: tries(2, 4)]  # worlds in which every field is changed
EACH = tries(1, 12)  # changes of one field, in different lines
Path_ = tuple[str | int, ...]

# What cannot be told from a file with facts and no chain, because nothing follows from it …
CURRENT = {("standings", "rules")}  # of a table that follows by today's criteria, whatever it says
ALWAYS = CURRENT | {
    ("fact", "when"),  # for people to read, as long as it does not go back
    ("match", "times"),  # as far as the clock allowed it: told by `test_more_time_than_the_clock…`
}
UNFOUNDED = {  # … and of some facts only one field,
    ("voided", "why"),  # in the organiser's words
    ("disqualified", "why"),
    ("opened", "absent"),  # "wait" is the same as nothing …
    ("opened", "group"),  # a name that several tournaments share
    ("dealt", "keys"),  # digests of tokens, by which players are known again after a restart
    (
        "dealt",
        "at",
    ),  # not there in older facts, and otherwise fits the rest as far as a clock may be set back
    ("drew", "rules"),  # where today's rules draw the same
}
# … and what a file without facts does not show besides.
WITHOUT_FACTS = {
    ("tournament", "entrants"),  # decided when it began
    ("tournament", "terms"),  # decided what was drawn
    ("tournament", "pace"),  # decides what a clock allowed
    ("tournament", "options"),  # each match has its own
    ("tournament", "group"),  # a name that several tournaments share
    ("tournament", "state"),  # `running` and `paused` are decisions
    ("standings", "state"),
    ("entrant", "rating"),  # seeds what was drawn
    ("entrant", "gone"),  # takes part in nothing that is drawn later
    ("entrant", "annulled"),  # without effect where nothing was played
    ("entrant", "disqualified"),
    ("match", "why"),  # of what the rules did not decide, in words
    ("match", "ending"),  # of what the rules did not decide
    ("match", "options"),  # that its moves fit as well
    *(
        ("match", field)
        for field in ("began", "ended", "fault", "cause", "thought", "network", "versions", "kinds")
    ),
    ("match", "pairing"),
    ("pairing", "round"),
    ("pairing", "first"),
    ("pairing", "second"),
}


def verdict(lines: list[Any]) -> Verdict:
    return verify(text(lines))


PLAYED = b'"match":"m","pairing":1,"players":["a","b"],"winner":0,"ending":"played","why":"","score":null'
TWO_FACTS = (
    b'{"type":"fact","tournament":"","when":0,"fact":{"type":"concluded",%b,"moves":%%b},'
    b'"fact":{"type":"drew","pairings":[]}}\n' % PLAYED
)
MATCH_AND_TABLE = (
    b'{"type":"match",%b,"options":{},"times":[],"moves":%%b,"type":"standings","rows":[]}\n' % PLAYED
)


@pytest.mark.parametrize("letter", ["x", "ż", "あ"])
def test_the_draw_of_the_largest_tournament_is_no_line_that_is_too_long(letter: str) -> None:
    """Catches the whole export of a round robin of 1,414 bots, refused because of its draw."""
    number = AT_ONCE // 2
    pairing = Pairing(number, number, letter * LONGEST_NAME, letter * LONGEST_NAME)
    draw = len(msgspec.json.encode([pairing])) * number
    assert draw + 1_000 < LONGEST  # with what stands around it


def test_only_a_draw_a_table_and_an_order_are_so_long_that_a_file_could_fill_the_memory() -> None:
    """Catches 3.5 GB for a file of 24 MB: a list of lists takes a hundred times as much memory as text."""
    nothing = b"[" + b",".join([b"[]"] * (SHORT // 3)) + b"]"
    for line, known in (
        (b'{"type":"match","moves":%b}\n', False),
        (b'{"type":"of a later day","found":%b}\n', False),
        (b'{"type":"fact","fact":{"type":"concluded","moves":%b}}\n', False),
        (TWO_FACTS, False),
        (MATCH_AND_TABLE, False),
        (b'{"type":"fact","tournament":"","when":0,"fact":{"type":"drew","pairings":[]},"later":%b}\n', True),
    ):
        tracemalloc.start()
        findings = list[Finding]()
        found = [*read_lines([line % nothing], findings)]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (len(found), len(findings)) == ((1, 0) if known else (0, 1))
        assert peak < 10 * SHORT


def test_an_order_may_be_about_as_many_tournaments_as_a_host_has() -> None:
    body = entries.body(Ordered("quintain archive", "archive", "friday, " * (SHORT // 8)))
    line = b'{"type":"fact","tournament":"","when":1,"fact":%b}' % body.encode()
    findings = list[Finding]()
    assert len([*read_lines([line], findings)]) == 1
    assert not findings


@pytest.mark.parametrize(
    ("facts", "everything"),
    [(True, True), (True, False), (False, False)],
    ids=["the organiser's", "the public's", "without facts"],
)
def test_whatever_a_host_has_kept_follows(facts: bool, everything: bool) -> None:
    """Catches a check that is stricter than the host: crashes, stalls, withdrawals and voids are in these."""
    tournaments = 0
    for seed in SEEDS:
        found = verdict(exported(simulated(seed), facts, everything=everything))
        assert found.findings == [], seed
        tournaments += found.tournaments
    assert tournaments >= len(SEEDS)


def test_a_file_from_before_there_were_chains_is_let_pass_and_says_that_it_has_none() -> None:
    for lines in (unchained(exported(simulated(2))), exported(simulated(2), facts=False)):
        found = verdict(lines)
        assert found.findings == []
        assert {chain.head for chain in found.chains} == {None}
        assert "carries no chain" in str(found.chains[0])


def test_a_file_from_before_a_tournament_had_choices_is_let_pass_unless_something_was_chosen() -> None:
    lines = unchained(exported(simulated(2)))
    openings = [line for line in lines if line["type"] == "tournament"]
    for opening in openings:
        for choice in CHOICES:
            chosen = opening.pop(choice)
            assert bool(verdict(lines).findings) == (chosen not in UNCHOSEN), choice
            if chosen not in UNCHOSEN:
                opening[choice] = chosen
    assert any(choice not in opening for opening in openings for choice in CHOICES)


@pytest.mark.parametrize(("format", "wrong"), [(OPEN, 0), ("ladder", 1)])
def test_an_open_table_may_say_twice_that_it_runs_as_an_early_quintain_had_it_do(
    format: str, wrong: int
) -> None:
    twice = [Opened("tic-tac-toe", format), Turned(State.RUNNING), Turned(State.RUNNING)]
    kept = [Kept("open-tic-tac-toe", when, fact) for when, fact in enumerate(twice, 1)]
    found = verdict(exported(kept)).findings
    assert [finding.why for finding in found] == wrong * ["it cannot have turned from running to running"]


def test_a_tournament_goes_on_after_its_end_only_if_something_is_left_to_play() -> None:
    states = [State.RUNNING, State.FINISHED, State.RUNNING]
    facts = [Opened("tic-tac-toe", "round-robin"), *map(Turned, states)]
    found = verdict(exported([Kept("cup", when, fact) for when, fact in enumerate(facts, 1)])).findings
    assert "it cannot have turned from finished to running" in [finding.why for finding in found]


def test_what_is_known_of_entrants_and_of_a_start_follows_without_facts_too() -> None:
    facts = [
        Opened("tic-tac-toe", "round-robin", start_at=1e9, check_in=60.0, group="cups"),
        *map(Entered, ("ann", "bob", "cas")),
        Described("ann", contact="ann@example.org"),
        *map(CheckedIn, ("ann", "bob")),
        NoShow("cas"),
    ]
    kept = [Kept("cup", when, fact) for when, fact in enumerate(facts, 1)]
    for with_facts in (True, False):
        assert verdict(exported(kept, with_facts)).findings == []


NAMES = ("ann", "bob", "cas")
DRAWN = tuple(formats()["round-robin"].draw([*map(Entrant, NAMES)], [], [], Terms()))
HELD = [Opened("tic-tac-toe", "round-robin"), *map(Entered, NAMES), Turned(State.RUNNING), Drew(DRAWN)]


def test_what_was_ended_early_follows_without_facts_too() -> None:
    ended = [*HELD, EndedEarly(), Turned(State.FINISHED)]
    kept = [Kept("cup", when, fact) for when, fact in enumerate(ended, 1)]
    for with_facts in (True, False):
        assert verdict(exported(kept, with_facts)).findings == []


@pytest.mark.parametrize("everything", [True, False], ids=["the organiser's", "the public's"])
def test_what_only_an_organiser_may_know_hides_no_result_from_the_decision_after_it(everything: bool) -> None:
    """A result was on its way to the store when its loser was withdrawn: the order is kept after it."""
    first, second = players = DRAWN[0].first, str(DRAWN[0].second)
    won = Concluded("cup-1", 1, players, 0, Ending.RESIGNED, f"{second} resigned", (1.0, 0.0), options={})
    order = Ordered(first, "withdraw", second)
    happened = [*HELD, Dealt("cup-1", 1), won, order, Withdrew(second, True)]
    kept = [Kept("cup", when, fact) for when, fact in enumerate(happened, 1)]
    assert verdict(exported(kept, everything=everything)).findings == []


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The way to everything in a line that can be changed."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from leaves(each, (*path, index))
    else:
        yield path


def changes(value: Any) -> list[Any]:
    match value:
        case bool():
            return [not value, None]
        case int() | float():
            return [value + 1, -value - 1, str(value), None]
        case str():
            return [value + "x", value[:-1], 7, None]
        case None:
            return [0, "x"]
        case _:
            return ["x", 0]


def mutations(line: dict[str, Any]) -> Iterator[tuple[Path_, Callable[[], dict[str, Any]]]]:
    """Each with what makes it: of most nobody wants to know."""
    for path in leaves(line):
        holder: Any = line
        for step in path[:-1]:
            holder = holder[step]
        options = changes(holder[path[-1]])
        for option in options:
            yield path, partial(changed_at, line, path, option)
        if isinstance(path[-1], str):
            yield path, partial(changed_at, line, path)


def changed_at(line: dict[str, Any], path: Path_, *values: Any) -> dict[str, Any]:
    """A line that has that value there, or nothing."""
    changed = deepcopy(line)
    holder: Any = changed
    *way, last = path
    for step in way:
        holder = holder[step]
    if values:
        holder[last] = values[0]
    else:
        del holder[last]
    return changed


def read(line: Any) -> list[Any]:
    return [each.read for each in read_lines(text([line]), [])]


def is_another_game_with_this_end(match: dict[str, Any]) -> bool:
    """Its moves are legal and come to the end that it tells of, though they are not those that were made."""
    game = catalogue()[match["game"]]
    position = game.opening(match["options"])
    try:
        for move in match["moves"]:
            played = game.read(move, position)
            position = position.play(played)
            if game.write(played) != move:
                return False
    except Illegal:
        return False
    outcome = position.outcome
    return outcome is not None and (outcome.winner, outcome.why) == (match["winner"], match["why"])


def missed(
    lines: list[Any], allowed: set[tuple[str, str]], chance: Random, *, chain: bool = False
) -> set[tuple[str, str]]:
    """The fields that can be changed without a finding. Of fields of a kind, `EACH` are changed."""
    fields: dict[tuple[str, ...], list[tuple[int, Path_, Callable[[], dict[str, Any]]]]] = {}
    for index, line in enumerate(lines):
        for path, make in mutations(line):
            shape = tuple(step for step in path if isinstance(step, str))
            said_by_nothing_else = (
                line["type"] == "fact" and (line["fact"]["type"], shape[-1]) in UNFOUNDED and not chain
            )
            if (line["type"], shape[0]) in allowed or shape == ("type",) or said_by_nothing_else:
                continue
            fields.setdefault((line["type"], *shape), []).append((index, path, make))
    passed: set[tuple[str, str]] = set()
    for (kind, field, *_), changes in fields.items():
        tried = 0
        for index, path, make in chance.sample(changes, len(changes)):
            changed = make()
            if not says_something_else(lines[index], path, changed, chain=chain):
                continue
            if not verdict([*lines[:index], changed, *lines[index + 1 :]]).findings:
                passed.add((kind, field))
            tried += 1
            if tried == EACH:
                break
    return passed


def says_something_else(line: dict[str, Any], path: Path_, changed: dict[str, Any], *, chain: bool) -> bool:
    """Not the same in other words, nor what could have been said as well."""
    if line["type"] in ("fact", "match") and read(changed) == read(line):
        return False  # a default, left out
    if line["type"] == "tournament" and not chain and path[0] in CHOICES and path[0] not in changed:
        return line[path[0]] not in UNCHOSEN  # else it is as before there was such a choice
    others_could_have_led_there = (
        line["type"] == "match"
        and path[0] == "moves"
        and not chain
        and (line["ending"] != "played" or is_another_game_with_this_end(changed))
    )
    return not others_could_have_led_there


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "everything"), [(2, True), (19, False), pytest.param(7, False, marks=pytest.mark.campaign)]
)
def test_every_change_of_a_field_is_found_where_the_facts_are_a_chain(seed: int, everything: bool) -> None:
    lines = exported(simulated(seed), everything=everything, signer=Signer(bytes(32)))
    assert missed(lines, CURRENT, Random(seed), chain=True) == set()


@pytest.mark.slow
@pytest.mark.parametrize("seed", CHANGED[1:])
def test_every_change_of_what_something_follows_from_is_found_without_a_chain_too(seed: int) -> None:
    assert missed(unchained(exported(simulated(seed))), ALWAYS, Random(seed)) == set()


@pytest.mark.parametrize("seed", CHANGED)
def test_what_the_other_lines_show_is_found_without_facts_too(seed: int) -> None:
    assert missed(exported(simulated(seed), False), ALWAYS | WITHOUT_FACTS, Random(seed)) == set()


@pytest.mark.parametrize("seed", [SMALL, LARGER])
@pytest.mark.parametrize("facts", [True, False], ids=["with facts", "without"])
def test_a_line_that_is_missing_doubled_or_out_of_place_is_found(facts: bool, seed: int) -> None:
    lines = exported(simulated(seed), facts)
    for index, line in enumerate(lines):
        before, after = lines[:index], lines[index + 1 :]
        assert verdict([*before, *after]).findings, f"without {line}"
        assert verdict([*before, line, line, *after]).findings, f"twice {line}"
        if line["type"] == "tournament":
            assert verdict([*after, line]).findings
        elif before[-1]["type"] == line["type"] and line["type"] in ("entrant", "pairing")[not facts :]:
            assert verdict([*before[:-1], line, before[-1], *after]).findings, f"too early {line}"


CUP = [
    {"type": "tournament", "tournament": "cup", "game": "tic-tac-toe", "format": "round-robin"}
    | {"state": "finished", "entrants": 2, "terms": {"rounds": None, "seed": 0, "lots": False}}
    | {"options": {}, "pace": {"bank": 5.0, "gain": 1.0, "turn": None}},
    *(
        {"type": "entrant", "name": name, "rating": None}
        | {"gone": False, "annulled": False, "disqualified": False}
        for name in ("ann", "bob")
    ),
    {"type": "pairing", "number": 1, "round": 1, "first": "bob", "second": "ann"},
    {"type": "match", "pairing": 1, "match": "cup-1", "game": "tic-tac-toe", "tournament": "cup", "round": 1}
    | {"players": ["bob", "ann"], "winner": 0, "ending": "played", "why": "O has three in a row"}
    | {"score": [1.0, 0.0], "plies": 5, "options": {}, "times": [1.0, 2.0, 3.0, 0.0, 3.0]}
    | {
        "moves": [{"action": "putSymbol", "position": field} for field in ("NW", "N", "W", "C", "SW")],
    },
    {"type": "standings", "tournament": "cup", "game": "tic-tac-toe", "format": "round-robin"}
    | {"state": "finished", "rows": []},
]


def cup(**changed: Any) -> list[str]:
    """What is found in the line of a match of which that is changed, or why it could not be checked."""
    lines = deepcopy(CUP)
    lines[4] |= changed
    found = verdict(lines).findings
    return [each.why for each in found if each.line == 5 or each.why.startswith("what this comes to cannot")]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        (
            {"moves": [*CUP[4]["moves"][:4], {"action": "putSymbol", "position": "C"}]},
            ["move 5,", "taken by X"],
        ),
        ({"moves": [*CUP[4]["moves"][:4], "SW"]}, ["move 5,", "not how Tic-Tac-Toe writes it"]),
        ({"moves": [*CUP[4]["moves"], CUP[4]["moves"][0]]}, ["move 6,", "over before it"]),
        (
            {"moves": CUP[4]["moves"][:4], "times": [1.0] * 4, "plies": 4},
            ["not played to an end: bob is to move"],
        ),
        ({"options": {"ply_limit": 4}}, ["move 5,", "over before it"]),
        ({"options": {"size": 4}}, ['Tic-Tac-Toe has no option "size"']),
        ({"times": [1.0, 2.0, 3.0, 0.0, 3.1]}, ["move 5 took 3.100000 seconds, and bob had 3.000000"]),
        ({"times": [1.0, 2.0, 3.0, -1.0, 3.0]}, ["move 4 cannot have taken -1.0 seconds"]),
        ({"times": [1.0]}, ["there are 1 times of 5 moves"]),
        ({"winner": 1, "score": [0.0, 1.0]}, ["by its moves it was played, the winner 0"]),
        ({"winner": 2}, ["the winner is 0, 1 or null, not 2"]),
        (
            {"ending": "void", "why": "a cable", "winner": None, "score": None},
            ["by its moves it was played"],
        ),
        ({"score": [0.5, 0.5]}, ["its score is (0.5, 0.5)", "worth (1.0, 0.0)"]),
        ({"ending": "resigned", "why": "ann resigned"}, ["by its moves it was played"]),
        ({"players": ["ann", "bob"]}, ['pairing 1 is "bob" against "ann"']),
        ({"match": "cup-1.2"}, ['the match of pairing 1 is cup-1, not "cup-1.2"']),
        ({"pairing": 2}, ["there is no pairing 2"]),
        ({"round": 2}, ["round is 2; 1 follows"]),
    ],
)
def test_what_is_wrong_with_a_match_is_said_with_its_line(changed: dict[str, Any], said: list[str]) -> None:
    found = cup(**changed)
    assert all(any(word in why for why in found) for word in said), found
    assert said or not found


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ending": "time", "why": "bob ran out of time", "winner": 1, "score": [0.0, 1.0]}, None),
        ({"ending": "time", "why": "ann ran out of time"}, "bob was to move"),
        (
            {"ending": "time", "why": "bob slept", "winner": 1, "score": [0.0, 1.0]},
            "does not say that bob lost",
        ),
        (
            {"ending": "time", "why": "ann ran out of time", "winner": 1, "score": [0.0, 1.0]},
            "does not say that bob lost",
        ),
        ({"ending": "illegal", "why": "bob: NW is taken", "winner": 1, "score": [0.0, 1.0]}, None),
        ({"ending": "illegal", "why": "ann: NW is taken"}, "bob was to move"),
        ({"ending": "resigned", "why": "ann resigned"}, None),
        ({"ending": "resigned", "why": "bob resigned"}, "does not say that ann lost"),
        ({"ending": "resigned", "why": "annabel resigned"}, "does not say that ann lost"),
        ({"ending": "resigned", "why": "?", "winner": None, "score": [0.0, 0.0]}, "only one of the two"),
        ({"ending": "left", "why": "ann left the match"}, None),
        ({"ending": "left", "why": "neither player was there", "winner": None, "score": [0.0, 0.0]}, None),
        ({"ending": "void", "why": "a cable", "winner": None, "score": None}, None),
        ({"ending": "void", "why": "a cable", "score": None}, "what is void has no winner"),
        ({"ending": "resigned", "why": f"{BY_THE_ORGANISER}: ann resigned"}, "does not say that ann lost"),
    ],
)
def test_an_ending_that_the_rules_do_not_decide_has_to_be_possible(
    changed: dict[str, Any], said: str | None
) -> None:
    unfinished = {"moves": CUP[4]["moves"][:4], "times": [1.0] * 4, "plies": 4}
    found = cup(**unfinished, **changed)
    assert (said is None and not found) or any(said is not None and said in why for why in found), found


def at(second: float) -> str:
    return f"2026-03-01T12:00:{second:06.3f}Z"


LATE = {"kind": "late", "at": at(9.2), "seat": 0, "ply": 4, "deadline": 5.0, "spent": 5.2}
REFUSED = {"kind": "refused", "at": at(5), "seat": 0, "ply": 4, "sent": "NW", "why": "NW is taken by O"}
CREDITED = {"kind": "credited", "at": at(4), "seconds": 1.0, "ply": 4}
MOST = FIRST + LATEST  # causes of a match that are kept: of these, something may be missing in the middle
VOIDED = {"ending": "void", "why": "the organiser voided it; before that: bob ran out of time"}
UNMOVED = {"moves": CUP[4]["moves"][:1], "times": [1.0], "plies": 1}
VOIDED |= {"winner": None, "score": None, "fault": None}
TIME = {"ending": "time", "why": "bob ran out of time", "winner": 1, "score": [0.0, 1.0], "fault": "bot"}
ILLEGAL = {"ending": "illegal", "why": "bob: NW is taken by O", "winner": 1, "score": [0.0, 1.0]}
ILLEGAL |= {"fault": "bot"}
LOST = {"kind": "disconnected", "at": at(4), "seat": 0, "ply": 4}
ABSENT = {"kind": "absent", "at": at(4), "seat": 0, "seconds": 3.0}
TOO_MANY = "bob: 9 moves were refused, the last, NW, because: NW is taken by O"
FLIP = {"seat": 1, "sent": "flip", "why": "flipped the table although nothing was wrong"}
FLIPPED = {"ending": "illegal", "why": f"ann: {FLIP['why']}", "fault": "bot"}
EARLY_FLIP = ILLEGAL | {"why": f"bob: {FLIP['why']}"}
EARLY_FLIP |= {"moves": CUP[4]["moves"][:3], "times": [1.0] * 3, "plies": 3}
LEGAL = '{"action":"putSymbol","position":"SW"}'
AS_TEXT = f"{quoted(LEGAL)} is not a field"  # as of a bot that sends a text in place of the object in it


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (TIME | {"cause": [LATE]}, None),
        (TIME | {"cause": [REFUSED, LATE]}, "a refused move loses in Tic-Tac-Toe, and it was time"),
        (TIME | {"cause": [LATE | {"spent": 60.0}], "began": at(0), "ended": at(9.2)}, "it lasted 9.200"),
        (TIME | {"cause": []}, "it is not told how much time bob had"),
        (TIME | {"cause": [LATE | {"seat": 1}]}, "it is not told how much time bob had"),
        (TIME | {"cause": [LATE | {"ply": 3}]}, "it is not told how much time bob had"),
        (TIME | {"cause": [LATE | {"spent": 4.9}]}, "which is in time"),
        (TIME | {"cause": [LATE | {"spent": 5.0}]}, "which is in time"),
        (TIME | {"cause": [LATE | {"deadline": 4.0}]}, "it had 5.000000 seconds for its move by its clock"),
        (TIME | {"cause": [LATE], "times": [1.0, 1.0, 2.0, 1.0]}, "it had 4.000000 seconds"),
        (TIME | {"cause": [LATE], "ended": at(9.1)}, "not in the order in which it happened"),
        (TIME | {"cause": [LATE], "fault": "host"}, "not the fault of the host"),
        (TIME | {"cause": [LATE, REFUSED]}, "not in the order in which it happened"),
        (VOIDED | {"cause": [LATE]}, None),
        (VOIDED | {"winner": 0}, "what is void has no winner"),
        (VOIDED | {"cause": [LATE], "fault": "bot"}, None),
        (VOIDED | {"why": "bob left before both had moved"}, None),
        (VOIDED | {"why": "bob left before both had moved", "fault": "bot"}, "both had moved"),
        (VOIDED | UNMOVED | {"why": "bob left before both had moved", "fault": "bot"}, None),
        (VOIDED | {"why": "neither player was there", "fault": "network"}, None),
        (VOIDED | {"why": "a cable", "fault": "host"}, None),
        (VOIDED | {"why": "a cable", "fault": "bot"}, "makes nothing void by the fault of the bot"),
        (ILLEGAL | {"cause": [REFUSED]}, None),
        (ILLEGAL | {"cause": [REFUSED | {"ply": 2}, REFUSED]}, None),
        (ILLEGAL | {"cause": [REFUSED | {"seat": 1, "sent": "SW"}, REFUSED]}, None),
        (FLIPPED | {"cause": [REFUSED | FLIP]}, None),
        (FLIPPED | {"cause": [CREDITED, REFUSED | FLIP]}, None),
        (FLIPPED | {"cause": [REFUSED | FLIP | {"ply": 3}]}, "bob was to move"),
        (EARLY_FLIP | {"cause": [REFUSED | FLIP | {"seat": 0, "ply": 3}]}, None),
        (FLIPPED | {"cause": [REFUSED | FLIP], "why": "ann: NW is taken by O"}, "bob was to move"),
        (FLIPPED | {"cause": [REFUSED | FLIP], "winner": None, "score": [0.0, 0.0]}, "bob was to move"),
        (ILLEGAL | {"cause": [REFUSED | {"sent": '{"action":"putSymbol","position":"NW"}'}]}, None),
        (ILLEGAL | {"cause": []}, "no refused move is told of"),
        (ILLEGAL | {"cause": [REFUSED | {"seat": 1}]}, "no refused move is told of"),
        (ILLEGAL | {"cause": [REFUSED | {"sent": "SW"}]}, '"SW" is said to have been refused'),
        (
            ILLEGAL | {"cause": [REFUSED | {"sent": LEGAL}]},
            "is said to have been refused after 4 moves, and is legal",
        ),
        (ILLEGAL | {"cause": [REFUSED | {"sent": LEGAL, "why": AS_TEXT}], "why": f"bob: {AS_TEXT}"}, None),
        (ILLEGAL | {"cause": [REFUSED | {"sent": LEGAL.ljust(SENT - 1)}]}, "is legal"),
        (ILLEGAL | {"cause": [REFUSED | {"sent": LEGAL.ljust(SENT)}]}, None),
        (ILLEGAL | {"cause": [REFUSED | {"sent": '"SW"'}]}, None),
        (ILLEGAL | {"cause": [REFUSED | {"ply": 5}, REFUSED]}, "has seat 0 after 5 moves, and there were 4"),
        (ILLEGAL | {"cause": [REFUSED | {"ply": -1}, REFUSED]}, "has seat 0 after -1 moves"),
        (ILLEGAL | {"cause": [LOST, REFUSED]}, None),
        (ILLEGAL | {"cause": [LOST | {"seat": 2}, REFUSED]}, "has seat 2 after 4 moves"),
        (ILLEGAL | {"cause": [LOST | {"ply": 5}, REFUSED]}, "has seat 0 after 5 moves"),
        (ILLEGAL | {"cause": [LOST] * MOST + [REFUSED]}, f"{MOST + 1} causes are told of"),
        (ILLEGAL | {"cause": [ABSENT, REFUSED]}, "somebody was waited for in vain, and it was illegal"),
        (
            ILLEGAL | {"cause": [REFUSED], "why": "bob: W is taken by O"},
            "does not say why the move was refused",
        ),
        (ILLEGAL | {"cause": [REFUSED], "why": TOO_MANY}, None),
        (ILLEGAL | {"cause": [REFUSED], "began": at(0), "ended": at(9)}, None),
        (
            ILLEGAL | {"cause": [LOST | {"at": "2026-02-28T12:00:00Z"}, REFUSED], "began": at(0)},
            "happened before it began: a clock was set back, or the file was changed",
        ),
        (ILLEGAL | {"cause": [LATE, REFUSED | {"at": at(10)}]}, "a clock ran out, and it was illegal"),
        (ILLEGAL | {"cause": [LATE, *[REFUSED | {"at": at(10)}] * (MOST - 2)]}, "a clock ran out"),
        (ILLEGAL | {"cause": [LATE, *[REFUSED | {"at": at(10)}] * (MOST - 1)]}, None),
        ({"ending": "resigned", "why": "ann resigned", "fault": "bot"}, "not the fault of the bot"),
        ({"ending": "resigned", "why": "ann resigned", "began": at(0), "ended": at(4)}, None),
        ({"ending": "resigned", "why": "ann resigned", "began": at(0), "ended": at(3)}, "it lasted 3.000"),
        ({"ending": "resigned", "why": "ann resigned", "began": at(9), "ended": at(3)}, "before it began"),
    ],
)
def test_what_led_to_an_end_is_judged_again(changed: dict[str, Any], said: str | None) -> None:
    unfinished = {"moves": CUP[4]["moves"][:4], "times": [1.0] * 4, "plies": 4}
    found = cup(**unfinished | changed)
    assert (said is None and not found) or any(said is not None and said in why for why in found), found


DEAL = Dealt("cup-1", 1, at=1000.0)
RESULT = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.RESIGNED, "bob resigned", (1.0, 0.0))
RESULT = structs.replace(RESULT, began=1000.0, ended=1060.0)
TIMED = structs.replace(RESULT, winner=1, ending=Ending.TIME, why="ann ran out of time", score=(0.0, 1.0))
PLAYED_OUT = {
    999.0: Opened("tic-tac-toe", "round-robin"),
    999.1: Entered("ann"),
    999.2: Entered("bob"),
    999.3: Turned(State.RUNNING),
    999.4: Drew((Pairing(1, 1, "ann", "bob"),)),
    1000.0: DEAL,
    1060.0: structs.replace(
        RESULT,
        ending=Ending.PLAYED,
        why="O has three in a row",
        moves=tuple({"action": "putSymbol", "position": field} for field in ("NW", "N", "W", "C", "SW")),
        times=(1.0,) * 5,
    ),
    1060.1: Turned(State.FINISHED),
}
FALLEN = Late(1060.0, 0, 0, 18.0, 18.5)


@pytest.mark.parametrize(
    ("dealt", "result", "said"),
    [
        (DEAL, RESULT, None),
        (DEAL, structs.replace(RESULT, began=1000.0 - SET, ended=1060.0 + SET), None),
        (DEAL, structs.replace(RESULT, began=1001.0), "it says it began 1 seconds after it was dealt"),
        (
            DEAL,
            structs.replace(RESULT, began=999.0 - SET),
            "it says it began 181 seconds before it was dealt: a clock was set back, or the file was changed",
        ),
        (DEAL, structs.replace(RESULT, began=None), "and does not say when it began"),
        (DEAL, structs.replace(RESULT, ended=1061.0 + SET), "this tells of what was 181.000 seconds after"),
        (structs.replace(DEAL, at=UNSET), RESULT, None),
        (structs.replace(DEAL, at=UNSET), structs.replace(RESULT, began=None), None),
        (structs.replace(DEAL, at=1500.0), RESULT, "this tells of what was 500.000 seconds after"),
        (
            structs.replace(DEAL, at=500.0),
            RESULT,
            "this was kept 500.000 seconds after the match is said to be",
        ),
        (DEAL, structs.replace(TIMED, fault=Fault.BOT, cause=(FALLEN,)), None),
        (DEAL, TIMED, "what was lost by time is somebody's fault, and nobody's is told"),
        (DEAL, structs.replace(TIMED, ending=Ending.ILLEGAL, why="ann: ?"), "what was lost by illegal is"),
        (structs.replace(DEAL, at=UNSET), structs.replace(TIMED, began=None), None),
    ],
)
def test_a_deal_and_the_end_of_its_match_tell_the_same_whatever_a_forger_has_corrected_after_them(
    dealt: Dealt, result: Concluded, said: str | None
) -> None:
    held = PLAYED_OUT | {1000.0: dealt, 1060.0: result}
    found = {each.why for each in verdict(exported([Kept("cup", *each) for each in held.items()])).findings}
    assert (said is None and not found) or any(said is not None and said in why for why in found), found


@pytest.mark.parametrize("began", [1e12, -1e12, 1e300])
def test_that_a_match_began_at_no_time_that_can_be_shown_is_said_in_its_line(began: float) -> None:
    lines = unchained(exported([Kept("cup", *each) for each in PLAYED_OUT.items()]))
    (over,) = (number for number, line in enumerate(lines) if line.get("fact", {}).get("type") == "concluded")
    lines[over]["fact"]["began"] = began
    why = f"{began:g} is no time of the years 1970 to 2999, in seconds since 1970"
    assert Finding(over + 1, why) in verdict(lines).findings


@pytest.mark.parametrize(
    ("format", "moves", "score", "worth"),
    [
        (OPEN, 1, None, True),
        (OPEN, 1, (1.0, 0.0), True),
        (OPEN, 2, (1.0, 0.0), True),
        (OPEN, 2, None, False),
        ("swiss", 1, None, False),
    ],
)
def test_only_at_a_table_without_an_end_a_match_may_count_for_nothing_until_both_have_moved(
    format: str, moves: int, score: Score | None, worth: bool
) -> None:
    opened, fact = Opened("tic-tac-toe", format), left_after(moves, score)
    match, wrong = replayed(opened, fact)
    assert match is not None
    assert (wrong, list(ending_objections(opened, match, fact, True)) == []) == ([], worth)


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        (Pace(), ["no clock was running that could have run out"]),
        (Pace(bank=5.0), []),
        (Pace(turn=5.0), []),
    ],
)
def test_nobody_is_late_where_no_clock_runs(pace: Pace, said: list[str]) -> None:
    late = structs.replace(left_after(2, (1.0, 0.0)), ending=Ending.TIME)
    assert replayed(Opened("tic-tac-toe", OPEN, pace=pace), late)[1] == said


def test_where_a_bot_may_try_again_nobody_loses_by_what_was_sent_out_of_turn() -> None:
    refused = Refused(0.0, 1, 2, "9", "it is not your turn")
    fact = structs.replace(
        left_after(2, (1.0, 0.0)), moves=(3, 3), ending=Ending.ILLEGAL, why="ann: it is not your turn"
    )
    opened, fact = Opened("connect-4", OPEN), structs.replace(fact, cause=(refused,))
    match, _ = replayed(opened, fact)
    assert match is not None
    assert list(ending_objections(opened, match, fact, True)) == [
        "bob was to move: if anybody lost by illegal, it was bob"
    ]


def left_after(moves: int, score: Score | None) -> Concluded:
    """A match that ann has left."""
    played = tuple(CUP[4]["moves"][:moves])
    times = (1.0,) * moves
    return Concluded("cup-1", 1, ("bob", "ann"), 0, Ending.LEFT, "ann left", score, played, times)


def test_where_no_pace_is_set_a_clock_is_that_of_the_game() -> None:
    lines: list[Any] = deepcopy(CUP)
    lines[0]["pace"] = None
    late = LATE | {"at": at(30), "deadline": 20.0, "spent": 20.1}
    lines[4] |= TIME | {"moves": CUP[4]["moves"][:4], "times": [1.0] * 4, "plies": 4, "cause": [late]}
    found = [each.why for each in verdict(lines).findings]
    assert not [why for why in found if "it had" in why or "cannot be worked out" in why]


def test_a_result_without_the_line_of_its_match_is_said_with_its_line() -> None:
    lines = exported(simulated(SMALL))
    at = next(index for index, line in enumerate(lines) if line["type"] == "match")
    match = lines.pop(at)["match"]
    (number,) = (
        number
        for number, line in enumerate(lines, 1)
        if line.get("fact", {}).get("match") == match and line["fact"]["type"] == "concluded"
    )
    said = [found.why for found in verdict(lines).findings if found.line == number]
    assert f'there is no line of the match "{match}"' in said


def test_lines_that_only_changed_places_are_found_as_that() -> None:
    lines = exported(simulated(SMALL))
    at = next(index for index, line in enumerate(lines) if line["type"] == "entrant")
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    said = [found.why for found in verdict(lines).findings]
    assert said == ["the lines before this are not in the order of what happened"]


def test_a_field_that_is_missing_and_one_that_should_be_are_told_from_others() -> None:
    lines = exported(simulated(SMALL))
    del lines[0]["frozen"]
    next(line for line in lines if line["type"] == "entrant")["no_show"] = True
    assert [found.why for found in verdict(lines).findings] == [
        "frozen is missing; false follows from the rest",
        "no_show is true; missing follows from the rest",
    ]


def test_a_figure_that_is_no_number_any_more_is_found() -> None:
    lines = exported(simulated(SMALL))
    rows = next(line for line in lines if line["type"] == "standings")["rows"]
    (one,) = (row for row in rows if row["points"] == 1)
    one["points"] = True
    assert [each.why for each in verdict(lines).findings] == [
        "rows[1].points is true; 1.0 follows from the rest"
    ]


def test_a_fact_that_was_kept_before_the_one_above_it_is_found() -> None:
    lines = unchained(exported(simulated(7)))
    facts = [index for index, line in enumerate(lines) if line["type"] == "fact" and line["when"] > 5.0]
    early = {**lines[facts[-1]], "when": lines[facts[-1]]["when"] - 5.0}
    found = verdict([*lines[: facts[-1]], early, *lines[facts[-1] + 1 :]]).findings
    assert [finding.line for finding in found] == [facts[-1] + 1]
    assert "seconds before what stands above it" in found[0].why


def test_a_file_of_anything_gives_sentences() -> None:
    """Catches whatever would be raised: broken lines, lines of other types, lines that are far too deep."""
    chance = Random(1)
    lines = text(exported(simulated(SMALL)))
    values = [b"null", b"-1", b"1e308", rb'"\u0000"', b"[]", b"{}", b"9" * 40, b"[" * 5000 + b"]" * 5000]
    for _ in range(tries(100, 4000)):
        broken = list(lines)
        for _ in range(chance.randint(1, 3)):
            index = chance.randrange(len(broken))
            line = broken[index]
            at = chance.randrange(len(line))
            match chance.randrange(5):
                case 0:
                    broken[index] = line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
                case 1:
                    broken[index] = line[:at]
                case 2:
                    broken[index] = chance.choice(lines)
                case 3:
                    del broken[index]
                case _:
                    parts = line.split(b":")
                    parts[chance.randrange(1, len(parts))] = chance.choice(values) + b',"x"'
                    broken[index] = b":".join(parts)
        for finding in verify(broken).findings:
            assert 1 <= finding.line <= len(broken) + 1
            assert "\n" not in finding.why
            assert len(finding.why) < 1000


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"", "there is no tournament"),
        (b"\n\n", "there is no tournament"),
        (b"[1]\n", 'expected an object with a "type"'),
        (b'{"type":"entrant"}\n', "missing required field"),
        (b'{"type":"series","games":2}\n{"type":"match","match":1}\n', "`quintain match --save`"),
        ('{"type":"entrant"}\n'.encode("utf-16"), "is in UTF-16"),
        (gzip.compress(b'{"type":"entrant"}\n', mtime=0), "is compressed"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_not_an_export_is_refused_as_such(source: bytes, said: str) -> None:
    (found,) = verify(source.splitlines(keepends=True)).findings
    assert said in found.why
    assert found.line == 1


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (b'{"type":"match","pairing"', b'{"type":"match","winner":1,"pairing"'),
        (b'"fact":{"type":"concluded"', b'"fact":{"winner":1,"type":"concluded"'),
        (b'{"action":"putSymbol"', b'{"action":"lines","action":"putSymbol"'),
        (b'"plies":5', b'"pl\\u0069es":6,"plies":5'),
    ],
)
def test_a_line_that_says_something_twice_is_found_because_some_programs_take_the_first(
    before: bytes, said: bytes
) -> None:
    lines = text(exported([Kept("cup", *each) for each in PLAYED_OUT.items()]))
    assert verify(lines).findings == []
    index = next(index for index, line in enumerate(lines) if before in line)
    lines[index] = lines[index].replace(before, said, 1)
    found = {(each.line, each.why) for each in verify(lines).findings if each.why.startswith("this says")}
    key = "action" if b"action" in said else "plies" if b"plies" in said else "winner"
    assert found == {(index + 1, f'this says "{key}" twice')}


def test_a_line_that_somebody_has_written_anew_is_read_as_before() -> None:
    lines = exported([Kept("cup", *each) for each in PLAYED_OUT.items()])
    spaced = [json.dumps(line).encode() + b" \r\n" for line in lines]
    assert verify(spaced).findings == []


def test_an_export_may_begin_with_the_mark_of_an_editor() -> None:
    lines = text(exported(simulated(SMALL)))
    assert verify([b"\xef\xbb\xbf" + lines[0], *lines[1:]]) == verify(lines)
    assert verify(lines).findings == []


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00", "2026-03-01T12:00:00"])
@pytest.mark.parametrize(
    ("line", "field"), [(0, "start_at"), (0, "rounds_at"), (4, "began"), (4, "ended"), (4, "cause")]
)
def test_a_time_without_a_zone_is_said_with_its_line_and_is_no_moment(
    line: int, field: str, when: str
) -> None:
    """Catches a time that is another moment on each machine, and one in no year, at which this ended."""
    lines: list[Any] = deepcopy(CUP)
    lines[line][field] = {"rounds_at": [when], "cause": [REFUSED | {"at": when}]}.get(field, when)
    found = verdict(lines).findings
    assert any(each.line == line + 1 and "timezone component" in each.why for each in found), found


def test_lines_of_later_days_are_passed_over() -> None:
    lines = exported(simulated(7))
    later = [{"type": "comment", "by": "somebody"}, *({**line, "colour": "green"} for line in lines)]
    found = verdict(later)
    assert found.findings == []
    plies = [line["plies"] for line in lines if line["type"] == "match"]
    assert (found.matches, found.moves) == (len(plies), sum(plies))


def test_a_hostile_number_of_rounds_is_not_drawn() -> None:
    """Catches a format that is asked for a thousand million rounds."""
    lines = exported(simulated(7))
    for line in lines:
        if line["type"] == "fact" and line["fact"]["type"] == "opened":
            line["fact"] |= {"format": "gauntlet", "terms": {"rounds": 10**9, "seed": 0, "lots": False}}
    assert any("1 to 10000 rounds" in finding.why for finding in verdict(lines).findings)


def command(*arguments: str, source: bytes = b"") -> "subprocess.CompletedProcess[str]":
    process = Forked(("verify", *arguments), ROOT, os.environ, source)
    out, errors = process.communicate()
    return subprocess.CompletedProcess(arguments, process.wait(), out, errors)


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_nothing_that_a_file_says_gets_to_a_terminal_as_it_is(flags: tuple[str, ...]) -> None:
    first, *_ = exported(simulated(7))
    said = command("-", *flags, source=b"".join(text([first | {"tournament": "cup\x9b2J\u202e"}])))
    assert said.returncode == 1
    assert "ends with 0 lines of type standings" in said.stdout
    assert said.stdout.replace("\n", "").isprintable()


def test_the_command_says_what_does_not_follow_and_ends_with_one(tmp_path: Path) -> None:
    lines = exported(simulated(7))
    file = tmp_path / "export.jsonl"
    file.write_bytes(b"".join(text(lines)))
    good = command(str(file))
    assert (good.returncode, good.stderr) == (0, "")
    assert f"\n{file}: everything follows: 2 tournaments, " in good.stdout
    index = next(index for index, line in enumerate(lines) if line["type"] == "pairing")
    lines[index]["round"] += 1
    bad = command("-", "--json", source=b"".join(text(lines)))
    found = msgspec.json.decode(bad.stdout)
    assert bad.returncode == 1
    assert index + 1 in [finding["line"] for finding in found["findings"]]
    assert found["tournaments"] == 2
    missing = command("nothing.jsonl")
    assert missing.returncode == 1
    assert missing.stderr == "quintain: nothing.jsonl: cannot be read: No such file or directory\n"
