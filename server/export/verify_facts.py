"""Whether a fact is possible after those before it, and whether a decision follows from the rules.

If only the result of the facts is known and not the facts themselves, their order
says less: that is what `in_order` is for.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from math import inf
from unicodedata import category

from msgspec import UNSET

from games.catalogue import catalogue
from games.game import quoted
from server.export.verify_match import options_objection
from tournament.desk import AFFILIATION, CONTACT, annulled
from tournament.events import NOBODY, Ending, absences
from tournament.facts import (
    Admitted,
    AnyFact,
    Called,
    CheckedIn,
    Chose,
    Claimed,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    EndedEarly,
    Entered,
    Froze,
    NoShow,
    Opened,
    Ordered,
    Released,
    Revealed,
    RoundBegan,
    Sealed,
    Seated,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import OPEN, Pairing, formats
from tournament.pairing.decide import aim_objection
from tournament.record import Record
from tournament.refusals import has_withdrawn
from tournament.rounds import objection as clock_objection
from tournament.sealing import commitment
from tournament.sizes import EARLIEST, LATEST, NAME, SEED, YEARS, largest

ROUNDS = 10_000  # more than any tournament has: a format that is asked for more would never return
DIGEST = re.compile("[0-9a-f]{64}")
NEVER = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # categories of characters that do not change with Unicode
UNPLAYED = (Ending.LEFT, Ending.VOID)  # what a pairing comes to whose match is never dealt
SCORES = ((1, 0), (0, 1), (0.5, 0.5), (0, 0), None)
TURNS = {
    (State.REGISTERING, State.RUNNING),
    (State.RUNNING, State.PAUSED),
    (State.PAUSED, State.RUNNING),
    (State.RUNNING, State.FINISHED),
    (State.PAUSED, State.FINISHED),
    (State.REGISTERING, State.DELETED),
    (State.PAUSED, State.DELETED),
    (State.FINISHED, State.DELETED),
}


def opening_objections(opened: AnyFact | None) -> Iterator[str]:
    """Why no tournament can begin with a fact."""
    if not isinstance(opened, Opened):
        yield "the first fact of a tournament is that it was opened, and not this"
        return
    if opened.game not in catalogue():
        yield f"there is no game {quoted(opened.game)}; there are: {', '.join(catalogue())}"
    elif unwanted := options_objection(opened, opened.options):
        yield unwanted
    if opened.format not in formats():
        yield f"there is no format {quoted(opened.format)}; there are: {', '.join(formats())}"
    else:
        yield from filter(
            None, (aim_objection(opened.format, opened.entrants, opened.terms.aim), clock_objection(opened))
        )
    yield from _moment_objections(opened)
    if opened.entrants is not None and opened.entrants < 1:
        yield f"a tournament takes at least 1 entrant, not {opened.entrants}"
    if opened.group is not UNSET:
        yield from _text_objections("the name of a group", opened.group, inf)  # earlier desks took any length
    if opened.terms.rounds is not None and not 1 <= opened.terms.rounds <= ROUNDS:
        yield f"a tournament has 1 to {ROUNDS} rounds, not {opened.terms.rounds}"


def objections(record: Record, fact: AnyFact, in_order: bool) -> Iterator[str]:
    """Why a fact cannot come now. The moves of a match are not replayed here."""
    out_of_play = in_order and record.state is not State.RUNNING
    yield from _moment_objections(fact)
    match fact:
        case Opened():
            yield f"{record.name} was opened before"
        case Entered(name=name):
            yield from _name_of_nobody(name)
            if name in record.entrants:
                yield f"{quoted(name)} had entered before"
            if in_order and record.state is State.FINISHED:
                yield f"{quoted(name)} entered when it was over"
        case Turned(state=state):
            allowed = (record.state, state) in TURNS or _reopened(record, state) or _said_again(record, state)
            if in_order and not allowed:
                yield f"it cannot have turned from {record.state} to {state}"
            if state is State.FINISHED and not is_over(record):
                yield "it cannot have finished: pairings are still open"
        case Drew(pairings=pairings):
            if out_of_play:
                yield f"pairings were drawn while it was {record.state}"
            if record.ended_early:
                yield "pairings were drawn after it had been ended early"
            if record.sealed is not None and record.revealed is None:
                yield "lots were drawn by a seed that had not been revealed"
            for number, pairing in enumerate(pairings, len(record.drawn) + 1):
                yield from _pairing_objections(record, pairing, number, in_order)
        case Dealt(match=match, pairing=number, options=options):
            if out_of_play:
                yield f"{quoted(match)} was dealt while it was {record.state}"
            yield from _name_objections(record, match, number)
            if number in record.drawn and record.drawn[number].round > record.open.begun:
                yield f"{quoted(match)} was dealt before round {record.drawn[number].round} began"
            if options is not None and (unwanted := options_objection(record.opened, options)):
                yield unwanted
        case Concluded():
            yield from _concluded_objections(record, fact, in_order)
        case RoundBegan(round=round):
            if out_of_play:
                yield f"round {round} began while it was {record.state}"
            yield from _round_objections(record, round)
        case CheckedIn(name=name) | NoShow(name=name):
            yield from _check_in_objections(record, name, in_order)
        case Admitted(name=name):
            if name not in record.no_shows:
                yield f"{quoted(name)} has not been left out for not checking in"
        case Described(name=name, affiliation=affiliation, contact=contact):
            yield from _text_objections("an affiliation", affiliation, AFFILIATION)
            yield from _text_objections("a contact", contact, CONTACT)
            if name not in record.entrants:
                yield f"{quoted(name)} has not entered"
        case EndedEarly():
            if record.format.endless or record.ended_early:
                yield "it has no end that could come early, or was ended before"
            if in_order and record.state not in (State.RUNNING, State.PAUSED):
                yield f"it was ended early while it was {record.state}"
        case Withdrew(name=name) | Disqualified(name=name):
            if name not in record.entrants:
                yield f"{quoted(name)} has not entered"
            elif isinstance(fact, Disqualified) and has_withdrawn(record, name):
                pass  # its matches are lost now, instead of counting for nobody
            elif record.entrants[name].gone:
                yield f"{quoted(name)} was out before"
            if isinstance(fact, Withdrew) and fact.annulled and not record.format.annuls:
                yield f"in a {record.format.name} nobody's results are annulled"
        case Voided(match=match):
            if match not in record.matches:
                yield f"there is no match {quoted(match)} to be voided"
            elif match in record.voided or record.matches[match].score is None:
                yield f"{match} was void before"
            elif not _is_said_rightly(fact, record.matches[match]):
                yield f"{match} was another match than the one that is voided"
        case Froze(on=on):
            if on is (record.frozen is not None):
                yield f"the standings were {'' if on else 'not '}frozen before"
        case Sealed():
            if record.sealed is not None or record.entrants:
                yield "a seed is chosen once, and before anybody enters"
        case Revealed():
            yield from _seed_objections(record, fact)
        case Claimed(digest=digest):
            if not DIGEST.fullmatch(digest):
                yield f"a token has a SHA-256 for its digest, in hexadecimal, and not {quoted(digest)}"
        case Seated() | Released() | Called() | Ordered() | Chose():
            pass  # no result depends on who owns a name, or who did something


def _name_of_nobody(name: str) -> Iterator[str]:
    """Why nobody can have that name, if that is so."""
    yield from _text_objections("a name", name, NAME)
    if not name.strip():
        yield "a name has at least one character that can be seen"


def _text_objections(what: str, text: str, most: float) -> Iterator[str]:
    """What no host can have kept, whichever characters its version of Unicode knows."""
    if len(text) > most:
        yield f"{what} has at most {most} characters, and this one has {len(text)}"
    elif any(category(character) in NEVER for character in text):
        yield f"{what} has no control, invisible or bidirectional characters, and {quoted(text)} has"


def _moment_objections(fact: AnyFact) -> Iterator[str]:
    for when in _moments(fact):
        if not EARLIEST <= when < LATEST:
            yield f"{when:g} is no time of the years {YEARS[0]} to {YEARS[1]}, in seconds since 1970"


def _moments(fact: AnyFact) -> Iterator[float]:
    """The wall times of which a fact tells."""
    match fact:
        case Opened(start_at=start_at, rounds_at=rounds_at):
            if start_at is not UNSET:
                yield start_at
            yield from rounds_at or ()
        case RoundBegan(at=at):
            yield at
        case Dealt(when=float() | int() as when) | Voided(at=float() | int() as when):
            yield when
        case Concluded(began=began, ended=ended, cause=causes):
            yield from (each for each in (began, ended) if each is not None)
            yield from (cause.at for cause in causes)
        case _:
            pass


def _round_objections(record: Record, round: int) -> Iterator[str]:
    if record.round is None:
        yield "no round begins by the clock here"
        return
    if round != record.round + 1:
        yield f"round {record.round + 1} is expected here, not {round}"
    if record.open.due or record.dealt:
        yield f"round {round} cannot have begun: the one before was not over"


def _check_in_objections(record: Record, name: str, in_order: bool) -> Iterator[str]:
    if record.opened.check_in is UNSET:
        yield "nobody checks in here"
    if in_order and record.state is not State.REGISTERING:
        yield f"it was {record.state}, and {quoted(name)} could not check in any more"
    if name not in record.entrants:
        yield f"{quoted(name)} has not entered"
    elif record.entrants[name].gone:
        yield f"{quoted(name)} was out before"
    elif in_order and name in record.checked_in:
        yield f"{quoted(name)} had checked in before"


def _seed_objections(record: Record, revealed: Revealed) -> Iterator[str]:
    if record.sealed is None or record.revealed is not None:
        yield "there is no sealed seed that could be revealed now"
    elif (found := commitment(revealed)) != record.sealed:
        yield (
            f"the seed {revealed.seed} is not the one that was sealed: with its salt it has the commitment "
            f"{found}, and {quoted(record.sealed)} was shown before anybody entered"
        )
    elif record.state is State.REGISTERING:
        yield "a seed is revealed when nobody enters any more before the draw"


def _is_said_rightly(voided: Voided, match: Concluded) -> bool:
    """Whether a fact that voids a match states the match correctly, if it states it at all."""
    said = voided.players, voided.score
    return said in ((match.players, match.score), (None, None))


def is_over(record: Record) -> bool:
    """Whether everything drawn is decided; a tournament without an end is over only when it is ended."""
    return record.format.endless or not (record.open or record.dealt)


def _pairing_objections(record: Record, pairing: Pairing, number: int, in_order: bool) -> Iterator[str]:
    if pairing.number != number:
        yield f"pairing {number} is expected here, not {pairing.number}"
    if not 1 <= pairing.round <= SEED:
        yield f"there is no round {pairing.round}"
    if pairing.first == pairing.second:
        yield f"{quoted(pairing.first)} cannot meet itself"
    for name in pairing.names:
        if name not in record.entrants:
            if record.format.endless:  # where nobody enters before finishing a match
                yield from _name_of_nobody(name)
            else:
                yield f"{quoted(name)} has not entered"
        elif in_order and name in record.out:
            yield f"{quoted(name)} was out before it was drawn"


def _concluded_objections(record: Record, fact: Concluded, in_order: bool) -> Iterator[str]:
    match, number = fact.match, fact.pairing
    if match in record.matches:
        yield f"{quoted(match)} was concluded before"
    elif match not in record.dealt:
        yield from _name_objections(record, match, number)
        if in_order and fact.moves:
            yield f"{quoted(match)} has moves and was never dealt"
        elif in_order and (fact.ending not in UNPLAYED or fact.began is not None):
            yield f"{quoted(match)} was {fact.ending} and never dealt"
    elif record.dealt[match] != number:
        yield f"{match} was dealt for pairing {record.dealt[match]}, not {number}"
    if fact.winner not in (0, 1, None):
        yield f"the winner is 0, 1 or null, not {fact.winner}"
    elif in_order and fact.ending is Ending.LEFT and fact.fault is None and fact.winner is not None:
        loser, kept = fact.players[1 - fact.winner], (fact.ended, record.dealt_at.get(match))
        if kept != (None, None) and loser not in record.out:  # it is from after faults were kept
            yield f"{quoted(loser)} lost {quoted(match)} by nobody's fault, and is not out of the tournament"
    if in_order and fact.ending is Ending.VOID and fact.fault is not None:  # otherwise by an organiser
        gone = {name for name in fact.players if fact.why in (NOBODY, *absences(name))}
        if gone and gone <= record.missed(number):
            yield f"{quoted(match)} is void a second time: {quoted(fact.why)} is excused once in a pairing"
    if fact.score not in SCORES:
        yield f"no match has the score {fact.score}"
    if number in record.drawn and fact.players != record.drawn[number].names:
        names = " against ".join(map(quoted, record.drawn[number].names))
        yield f"pairing {number} is {names}, and not {' against '.join(map(quoted, fact.players))}"


def _name_objections(record: Record, match: str, number: int) -> Iterator[str]:
    """Objections to a match that begins, or that is decided without having begun."""
    if number not in record.drawn:
        yield f"there is no pairing {number}"
    elif number not in record.open:
        yield f"pairing {number} is decided, or is a bye: nothing is to be played"
    elif match != record.match_name(number):
        yield f"the match of pairing {number} is {record.match_name(number)}, not {quoted(match)}"


def _reopened(record: Record, state: State) -> bool:
    """A tournament that was over goes on when a match of it is voided."""
    return record.state is State.FINISHED and state is State.RUNNING and bool(record.open)


def _said_again(record: Record, state: State) -> bool:
    """An early Quintain kept twice that an open table runs."""
    return record.opened.format == OPEN and record.state is state is State.RUNNING


def can_be_added(record: Record, fact: AnyFact) -> bool:
    """Whether a result that is wrong in itself can be added even so, so that no later fact is blamed."""
    if not isinstance(fact, Concluded) or fact.match in record.matches:
        return False
    return record.dealt.get(fact.match) == fact.pairing or fact.pairing in record.open


def decided(record: Record, facts: Sequence[tuple[int, AnyFact]], index: int) -> str | None:
    """Why a decision, the fact of that index, does not follow from the record before it; None if it does.

    Each fact stands beside the number of its line.

    A result may be on its way to the store when something is decided: then it stands before a
    decision that was made without it. So results directly before a decision may count for it or not.
    """
    _, fact = facts[index]
    rules = f"a {record.format.name}"
    if fact == Turned(State.FINISHED) or isinstance(fact, Drew):
        most = largest(record.format, record.terms)
        if record.contestants > most and not record.format.endless:
            found = f"{rules} has {most} entrants at most, and this has {record.contestants}"
            return f"{found}: it is not drawn anew"
    if fact == Turned(State.FINISHED):
        over = record.format.endless or record.ended_early or not _drawn(record)
        return None if over else _unfinished(record, facts, index)
    if not isinstance(fact, Drew | Withdrew) or (isinstance(fact, Drew) and record.format.endless):
        return None  # what a format without an end draws depends on who was there
    if _follows(record, fact) or _followed(record, facts, index, fact):
        return None
    if isinstance(fact, Withdrew):
        return f"this is not what was done with the results of {fact.name} by the rules of {rules}"
    if fact.rules != record.format.rules:
        return other_rules(f"drawn by version {fact.rules} of the rules of {rules}", record.format.rules)
    return f"this is not what was drawn by the rules of {rules}"


def other_rules(made: str, known: int) -> str:
    """The finding about something that may well follow, but by rules of another version."""
    lack = f"this Quintain has version {known}, from which it does not follow"
    return f"this was {made}; {lack}: verify it with the Quintain that made it"


def _follows(record: Record, fact: Drew | Withdrew) -> bool:
    if isinstance(fact, Withdrew):
        return annulled(record, fact.name) == fact.annulled
    return _drawn(record) == fact.pairings


def _followed(
    record: Record, facts: Sequence[tuple[int, AnyFact]], index: int, fact: Drew | Withdrew
) -> bool:
    """Whether a decision follows if some of the results directly before it came too late for it."""
    first, late = index, 0  # of these results, and how many of them count
    while isinstance(result := facts[first - 1][1], Concluded):
        first -= 1
        late += record.results.counted.get(result.pairing) == result.match
    if first == index:
        return False
    if isinstance(fact, Drew):
        return _drew_without(record, fact, late)
    record = Record(record.name, record.opened)
    for place, (_, earlier) in enumerate(islice(facts, 1, index), 1):
        if place >= first and _follows(record, fact):
            return True
        if not any(objections(record, earlier, True)) or can_be_added(record, earlier):
            record.add(earlier)
    return False


def _drew_without(record: Record, fact: Drew, late: int) -> bool:
    """Whether it was drawn from fewer results than there are, without at most so many of the latest."""
    entrants, (drawn, results) = list(record.entrants.values()), record.past()

    @cache
    def made(count: int) -> Sequence[Pairing]:
        return tuple(record.format.draw(entrants, drawn, results[:count], record.terms))

    counts = range(len(results) - late, len(results))
    if not record.format.midway:
        return any(made(count) == fact.pairings for count in counts)
    # A knockout may be drawn thousands of times. With each result there is more to draw, or the same.
    place = bisect_left(counts, len(fact.pairings), key=lambda count: len(made(count)))
    return place < len(counts) and made(counts[place]) == fact.pairings


def _drawn(record: Record) -> tuple[Pairing, ...]:
    return tuple(record.format.draw(list(record.entrants.values()), *record.past(), record.terms))


def _unfinished(record: Record, facts: Sequence[tuple[int, AnyFact]], index: int) -> str:
    """Why a tournament whose format has more to draw is not over."""
    rules = f"a {record.format.name}"
    before = (facts[each][1] for each in reversed(range(index)))
    made = next((fact.rules for fact in before if isinstance(fact, Drew)), record.format.rules)
    if made != record.format.rules:
        return other_rules(f"held by version {made} of the rules of {rules}", record.format.rules)
    return f"it cannot have finished: by the rules of {rules} there is more to draw"
