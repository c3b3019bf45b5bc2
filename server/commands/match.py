"""`quintain match`: two programs, or house brains, against each other here, and what the score means."""

from collections.abc import Callable
from contextlib import closing
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
from cyclopts import Parameter
from cyclopts.validators import Number
from msgspec import structs

from games.game import Game, Pace, quoted
from server.commands.flags import Count, Decimal, Flag, Positive, Seed, Whole
from server.commands.games import GameName, game_named
from server.exits import DONE, INTERRUPTED, Misuse
from server.net.escaping import json_line
from server.programs.interrupts import Interrupts, later
from server.programs.openings import Openings, RandomOpenings, in_turn, listed, start
from server.programs.saved import Saved, Terms, continued, keeping, saved
from server.programs.series import Setting, series
from server.programs.tally import Played, Tally
from server.programs.terminal import progress, say
from server.programs.verdict import as_json, in_words
from tournament.sprt import BadTest, Model, Sprt

GAMES = 10
SPRT_GAMES = 100_000  # at most, where a test decides when to stop
THINK = 0.1  # seconds
SETTINGS = ("elo0", "elo1", "alpha", "beta")
MODELS: tuple[Model, ...] = get_args(Model)
Seconds = Annotated[float | None, Decimal, Parameter(validator=Number(gte=0))]


def match(
    first: str,
    second: str,
    *,
    game: GameName,
    games: Count = None,
    concurrency: Annotated[int, Whole, Parameter(validator=Number(gte=1))] = 1,
    plies: Annotated[int | None, Whole, Parameter(validator=Number(gte=0))] = None,
    openings: str | None = None,
    sprt: str | None = None,
    turn: Positive = None,
    bank: Positive = None,
    gain: Seconds = None,
    think: Seconds = None,
    seed: Seed = None,
    save: str | None = None,
    resume: str | None = None,
    json: Flag = False,
) -> int:
    """Have two programs play each other here, without a host.

    They play pairs of games: the same opening twice, with the sides exchanged.
    A program that exits or is too slow loses that game and is restarted for the
    next. The result is the difference in Elo, with an interval that holds the
    true value 95 times in 100, unless --sprt has ended the match. Pairs that
    repeat an earlier pair move by move count once in it. Ctrl-C ends the match
    with what is known so far.

    Example: is the new version better, and by how much?

        quintain match ./new ./old --game connect-4 --games 100 --plies 4

    Parameters
    ----------
    first
        A program and its arguments, or brain:random, brain:first, brain:greedy, brain:alphabeta.
    second
        The other one.
    games
        How many games: 10 unless set; with --sprt, at most this many.
    concurrency
        How many games at a time.
    plies
        Begin each pair with this many random moves that leave neither side a quick win.
    openings
        Begin each pair with the next line of this file: moves in their short form.
    sprt
        Stop when this test is decided: elo0=0,elo1=10,alpha=0.05,beta=0.05; model=logistic for plain Elo.
    turn
        Seconds for a move. Unless it or --bank is set, the clocks are those of the game.
    bank
        Seconds for a whole game.
    gain
        Seconds that are added to the bank after each move.
    think
        Seconds that a house brain may take for a move: 0.1 unless set.
    seed
        For random openings and house brains: a different seed gives different games.
    save
        Keep each game in this file as soon as it is over.
    resume
        Continue the games that --save has kept in this file, under the same conditions.
    json
        The result as a JSON object, with every game.
    """
    if save == "":  # as of a variable of a shell that is not set: the games would be kept nowhere
        raise Misuse("--save: expected the name of a file, and got an empty one")
    rules, names = game_named(game), (first, second if first != second else f"{second} (2)")
    asked = Terms(
        game=game,
        players=names,
        plies=plies or None,
        openings=openings,
        pace=_pace(turn, bank, gain),
        think=_finite("--think", think),
        seed=seed,
        sprt=sprt,
        games=games,
    )
    before = Saved(asked, [], 0)
    if resume is not None and (resume != save or Path(resume).exists()):
        before = saved(resume)
        asked = continued(before.terms, asked, resume)
    terms, begin = _settled(rules, asked)
    setting = Setting(
        game=rules,
        commands=(first, second),
        names=names,
        pace=terms.pace or rules.pace,
        think=terms.think or 0.0,
        seed=terms.seed or 0,
        openings=begin,
    )
    test = None if terms.sprt is None else sprt_of(terms.sprt)
    tally = Tally()
    for played in before.matches:
        tally.add(played)
    most = terms.games or (GAMES if test is None else SPRT_GAMES)
    onto = before.whole > 0 and save in (None, resume)
    with keeping(save or resume, before, onto=onto, terms=terms) as keep:
        stopped = _play(setting, tally, test, most, concurrency, keep)
    say(json_line(as_json(game, tally, test)) if json else in_words(game, names, tally, test))
    return INTERRUPTED if stopped else DONE


def _play(
    setting: Setting,
    tally: Tally,
    test: Sprt | None,
    most: int,
    concurrency: int,
    keep: Callable[[Played], None],
) -> bool:
    """Play the missing matches, until it is decided; True if it was interrupted."""
    title = " – ".join(setting.names)
    missing = (number for number in range(1, most + 1) if number not in tally.matches)
    if _decided(test, tally):
        return False
    try:
        with (
            Interrupts(),
            progress(title, most, len(tally.matches)) as step,
            closing(series(setting, missing, concurrency)) as results,
        ):
            for played in results:
                with later():  # so that every match that is kept is counted
                    keep(played)
                    changed = tally.add(played)
                step(f"{title}  +{tally.wins} ={tally.draws} -{tally.losses}")
                if changed and _decided(test, tally):
                    break
    except KeyboardInterrupt:
        return True
    return False


def _decided(test: Sprt | None, tally: Tally) -> bool:
    return test is not None and test.state(test.ratio(tally.distinct)) != "open"


def _settled(rules: Game[Any, Any], terms: Terms) -> tuple[Terms, Openings]:
    """The complete terms, and the openings of pairs."""
    terms = structs.replace(
        terms,
        pace=terms.pace or rules.pace,
        think=THINK if terms.think is None else terms.think,
        seed=terms.seed or 0,
    )
    if terms.openings is None:
        return terms, RandomOpenings(rules, terms.plies, terms.seed or 0) if terms.plies else start
    if terms.plies is not None:
        raise Misuse("expected --plies or --openings, and got both")
    lines = listed(rules, terms.openings)
    digest = blake2b(msgspec.json.encode(lines), digest_size=16).hexdigest()
    if terms.digest not in (None, digest):
        raise Misuse(f"{terms.openings}: its openings are not those that the saved matches began with")
    return structs.replace(terms, digest=digest), in_turn(lines)


def _pace(turn: float | None, bank: float | None, gain: float | None) -> Pace | None:
    """The clocks that were asked for; None: the game's own."""
    for flag, value in (("--turn", turn), ("--bank", bank), ("--gain", gain)):
        _finite(flag, value)
    if gain is not None and bank is None:
        raise Misuse("--gain adds to a bank: expected --bank as well")
    return None if turn is bank is None else Pace(turn=turn, bank=bank, gain=gain or 0.0)


def _finite(flag: str, value: float | None) -> float | None:
    if value is not None and not isfinite(value):
        raise Misuse(f"expected a number of seconds for {flag}, and got {value}")
    return value


def sprt_of(text: str) -> Sprt:
    """The test for which `--sprt` asks; raises `Misuse`."""
    given: dict[str, str] = {}
    for each in text.split(","):
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals or name in given:
            raise Misuse(f"--sprt: expected each setting once, as elo0=0,elo1=10, and got {quoted(each)}")
        given[name] = value
    model = given.pop("model", "normalized")
    if model not in MODELS:
        raise Misuse(f"--sprt: there is no model {quoted(model)}; there are: {', '.join(MODELS)}")
    for name in given:
        if name not in SETTINGS:
            known = ", ".join((*SETTINGS, "model"))
            raise Misuse(f"--sprt: there is no setting {quoted(name)}; there are: {known}")
    for name in ("elo0", "elo1"):
        if name not in given:
            raise Misuse(f"--sprt: {name} is missing")
    try:
        return Sprt(**{name: _number(name, value) for name, value in given.items()}, model=model)
    except BadTest as error:
        raise Misuse(f"--sprt: {error}") from None


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise Misuse(f"--sprt: expected a number for {name}, and got {quoted(value)}") from None
