"""A match as text that people can read, print and mail, and that can be read back.

First come lines of `key: value` about the match; then a line for each move, with its fields between
bars: its number, its seat, the move as people write it, the seconds spent, what was left on the clock,
and the move in words where a game has them. Lines that begin with # are for people only.
`docs/export.md` has an example.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from games.catalogue import catalogue
from games.game import BadOption, Illegal, Pace, quoted, typed
from server.export.json_views import causes_shown, match_shown, moment
from server.export.read import Moment, seconds
from server.export.words import LAST, before_move, in_words
from tournament.events import Ended, Ending
from tournament.facts import Concluded, Opened
from tournament.record import Record
from tournament.settling import score

FIRST_LINE = "quintain match 1"  # what the file is, and the version of its form
RESULTS = {0: "player 1 has won", 1: "player 2 has won"}
NO_WINNER = "nobody has won"
LONGEST = 4_000_000  # characters of a file that is read back
LEFT = re.compile(r"([0-9]{1,12}\.[0-9]{3}) s left")
ROUNDED = 0.002  # seconds by which what is left may be off, because it is written to the millisecond
MOVE = re.compile(r" *[0-9]+ \|")
PLAIN = re.compile(r"[^\s\"#|]([^#|\"]*[^\s\"#|])?")

Round = Annotated[int, Meta(ge=1, le=2**53 - 1)]  # any program can read such a number from JSON


class BadText(ValueError):
    """A text that is not a match. The message is for whoever wrote or sent it."""


class ReadMatch(Struct, frozen=True):
    """A match that was read back, as a store would have it, with everything else that its text says."""

    tournament: str
    round: int
    opened: Opened
    concluded: Concluded
    clocks: list[str] = []  # what it says was left on one, and does not follow from what was spent


def text(record: Record, match: Concluded) -> str:
    """The text of a match that is over, with all its moves."""
    return "\n".join((*_head(record, match), "", *_moves(record, match))) + "\n"


def _head(record: Record, match: Concluded) -> Iterator[str]:
    shown = match_shown(record, match, False)
    opened, game = record.opened, catalogue()[record.opened.game]
    yield FIRST_LINE
    yield f"match: {_plain(match.match)}"
    yield f"game: {game.name}"
    yield f"options: {msgspec.json.encode(shown['options']).decode()}"
    yield f"pace: {msgspec.json.encode(opened.pace or game.pace).decode()}"
    yield f"tournament: {_plain(record.name)}"
    yield f"format: {opened.format}"
    yield f"round: {shown['round']}"
    for number, (name, version) in enumerate(zip(match.players, match.versions, strict=True), 1):
        yield f"player {number}: {_plain(name)}"
        if version is not None:
            yield f"version {number}: {_plain(version)}"
    if match.began is not None:
        yield f"began: {moment(match.began)}"
    if match.ended is not None:
        yield f"ended: {moment(match.ended)}"
    yield f"result: {RESULTS.get(shown['winner'], NO_WINNER)}"
    yield f"ending: {shown['ending']}"
    yield f"why: {_plain(shown['why'])}"


def _moves(record: Record, match: Concluded) -> Iterator[str]:
    game = catalogue()[record.opened.game]
    pace = record.opened.pace or game.pace
    causes = causes_shown(match.cause)
    left: list[float | None] = [pace.bank, pace.bank]
    position: Any = game.opening(record.options(match))
    for ply, (written, spent) in enumerate(zip(match.moves, match.times, strict=True), 1):
        yield from (f"# {in_words(each, match.players)}" for each in before_move(causes, ply))
        move = game.read(written, position)
        seat: int = position.turn
        fields = [f"{ply:>3}", f"player {seat + 1}", game.short(move), f"{spent:.6f} s"]
        if (now := _left(left[seat], spent, pace)) is not None:
            fields.append(f"{now:.3f} s left")
        left[seat] = now
        if (said := game.spelled(move, position)) != game.short(move):
            fields.append(said)
        yield " | ".join(fields)
        position = position.play(move)
    after = (each for each in causes if each["kind"] in LAST or each.get("ply") == len(match.moves))
    yield from (f"# {each['at']} {in_words(each, match.players)}" for each in after)


def _left(had: float | None, spent: float, pace: Pace) -> float | None:
    """What is left on a clock after a move; None if there is no bank."""
    return None if had is None else max(0.0, had - spent) + pace.gain


def _plain(said: str) -> str:
    """Words as they are, or as JSON if they could be taken for something else."""
    safe = said.isprintable() and PLAIN.fullmatch(said)
    return said if safe else json.dumps(said)


def read(source: str) -> ReadMatch:
    """A match from its text; raises `BadText`. Whether it could have been played so is not checked here."""
    if len(source) > LONGEST:
        raise BadText(f"expected at most {LONGEST} characters, not {len(source)}")
    lines = [line.rstrip() for line in source.splitlines()]
    if not lines or lines[0] != FIRST_LINE:
        raise BadText(f"expected {FIRST_LINE!r} as the first line")
    told: dict[str, str] = {}
    played: list[tuple[int, str]] = []
    for number, line in enumerate(lines[1:], 2):
        key, colon, value = line.partition(": ")
        if not line or line.startswith("#"):
            continue
        if MOVE.match(line):
            played.append((number, line))
        elif colon:
            told[key] = value
        else:
            raise BadText(f"line {number}: expected a key with its value, or a move, not {quoted(line)}")
    return _read(_Told(told), played)


class _Told:
    """What the head of a text says."""

    def __init__(self, told: Mapping[str, str]) -> None:
        self._told = told

    def __call__(self, key: str) -> str:
        if key not in self._told:
            raise BadText(f"there is no line {key + ':'!r}")
        return self.optional(key) or ""

    def optional(self, key: str) -> str | None:
        value = self._told.get(key)
        if value is not None and value.startswith('"'):
            try:
                return str(json.loads(value))
            except ValueError:
                raise BadText(f"{key}: {quoted(value)} is not JSON") from None
        return value

    def as_json(self, key: str, kind: Any) -> Any:
        try:
            return msgspec.json.decode(self(key).encode(errors="surrogatepass"), type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadText(f"{key}: {error}") from None

    def when(self, key: str) -> float | None:
        if (value := self.optional(key)) is None:
            return None
        try:
            found = seconds(msgspec.convert(value, Moment))
            moment(found)  # so that it can be shown: in UTC, it may be in the year 0
        except ValueError:
            raise BadText(
                f"{key}: expected a time like 2026-03-01T12:00:00.000Z, not {quoted(value)}"
            ) from None
        return found


def _read(told: _Told, played: list[tuple[int, str]]) -> ReadMatch:
    name = told("game")
    if name not in catalogue():
        raise BadText(f"game: expected one of {', '.join(catalogue())}, not {quoted(name)}")
    game = catalogue()[name]
    options = told.as_json("options", dict[str, Any])
    opened = Opened(name, told("format"), options=options, pace=told.as_json("pace", Pace))
    ending, winner = _ending(told), _winner(told)
    moves: list[Any] = []
    times: list[float] = []
    try:
        position: Any = game.opening(options)
    except BadOption as error:
        raise BadText(f"options: {error}") from None
    left: list[float | None] = [opened.pace.bank, opened.pace.bank] if opened.pace else [None, None]
    clocks = list[str]()
    for number, line in played:
        seat: int = position.turn
        sent, spent, told_left = _played(line, number, len(moves) + 1, seat)
        if opened.pace is not None:
            left[seat] = _left(left[seat], spent, opened.pace)
        if told_left is not None and not _agree(told_left, left[seat]):
            expected = "no bank to be left" if (now := left[seat]) is None else f"{now:.3f} s left"
            clocks.append(f"line {number}: expected {expected}, not {told_left:.3f} s")
        try:
            move = game.read(sent, position)
            position = position.play(move)
        except Illegal as error:
            raise BadText(f"line {number}: {error}") from None
        moves.append(game.write(move))
        times.append(spent)
    over = Concluded(
        told("match"), 1, (told("player 1"), told("player 2")), winner, ending, told("why"),
        score(Ended(0.0, winner, ending, told("why"))), tuple(moves), tuple(times),
        began=told.when("began"), ended=told.when("ended"),
        versions=(told.optional("version 1"), told.optional("version 2")),
    )  # fmt: skip
    return ReadMatch(told("tournament"), told.as_json("round", Round), opened, over, clocks)


def _ending(told: _Told) -> Ending:
    try:
        return Ending(told("ending"))
    except ValueError:
        raise BadText(f"ending: expected one of {', '.join(Ending)}, not {quoted(told('ending'))}") from None


def _winner(told: _Told) -> int | None:
    results = {said: seat for seat, said in RESULTS.items()} | {NO_WINNER: None}
    if (said := told("result")) not in results:
        raise BadText(f"result: expected {', '.join(map(repr, results))}, not {quoted(said)}")
    return results[said]


def _agree(told: float, left: float | None) -> bool:
    return left is not None and abs(told - left) <= ROUNDED


def _played(line: str, number: int, ply: int, seat: int) -> tuple[object, float, float | None]:
    """The move of a line, the seconds spent on it, and what it says was left."""
    fields = [each.strip() for each in line.split("|")]
    if fields[:2] != [str(ply), f"player {seat + 1}"] or len(fields) < 4:
        raise BadText(f"line {number}: expected move {ply}, of player {seat + 1}, not {quoted(line.strip())}")
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) s", fields[3])
    if found is None:
        raise BadText(f"line {number}: expected the seconds spent, like 0.250000 s, not {quoted(fields[3])}")
    left = LEFT.fullmatch(fields[4]) if len(fields) > 4 else None
    return typed(fields[2]), float(found[1]), None if left is None else float(left[1])
