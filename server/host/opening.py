"""Opening tournaments: which can be held, and under which names. Each is kept before it is held."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

from msgspec import UNSET

from games.catalogue import BadCatalogue, catalogue, game_kept
from games.game import BadOption, Game, quoted
from server.host import telling
from server.net.escaping import in_quotes
from tournament.bounds import expect_bounded
from tournament.facts import AnyFact, Opened, Ordered, State, Turned
from tournament.folding import NAME, OPEN, kept_as
from tournament.format import Terms, formats, offered
from tournament.pairing.decide import aim_objection
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.rounds import objection as clock_objection
from tournament.sealing import sealed
from tournament.sizes import GROUP
from tournament.store import Store

JUST_NOW = 60.0  # seconds: whoever means "now" may have a clock that is behind


class NameTaken(Refusal):
    """There is a tournament of that name."""


def taken(name: str) -> NameTaken:
    return NameTaken(f"there is a tournament {name} already")


def no_format(format: str) -> Refusal:
    return Refusal(f"there is no format {in_quotes(format)}; there are: {', '.join(offered())}")


def check(name: str, opened: Opened) -> None:
    """Raise `Refusal` for a tournament that cannot be held."""
    if not NAME.fullmatch(name):
        raise Refusal(f"a tournament is named by letters, digits, _ . and -, 64 at most, not {quoted(name)}")
    if name.startswith(OPEN):
        raise Refusal(f"names that begin with {OPEN} are those of open tables, so not {quoted(name)}")
    if opened.game not in catalogue():
        raise Refusal(f"there is no game {in_quotes(opened.game)}; there are: {', '.join(catalogue())}")
    if opened.format not in formats():
        raise no_format(opened.format)
    fewest = formats()[opened.format].entrants
    if opened.entrants is not None and opened.entrants < fewest:
        raise Refusal(f"a {opened.format} needs {fewest} entrants or more, not {opened.entrants}")
    expect_bounded(opened)
    if formats()[opened.format].endless and opened.absent is not UNSET:
        raise Refusal(f"a {opened.format} has no end and waits for nobody, so leave absent out")
    if formats()[opened.format].endless and opened.by_invitation:
        raise Refusal(f"a {opened.format} has no end: whoever comes takes part, so leave by_invitation out")
    if why := aim_objection(opened.format, opened.entrants, opened.terms.aim):
        raise Refusal(why)
    if why := clock_objection(opened):
        raise Refusal(why)
    if opened.group is not UNSET and len(opened.group) > GROUP:
        given = len(opened.group)
        raise Refusal(f"a group has a name of at most {GROUP} characters, and this one has {given}")
    if opened.group is not UNSET and not (
        opened.group.isprintable() and opened.group == opened.group.strip() and "/" not in opened.group
    ):
        expected = "a group has a name that can be printed, without / in it or spaces around it"
        raise Refusal(f"{expected}, not {quoted(opened.group)}")
    try:
        catalogue()[opened.game].opening(opened.options)
    except BadOption as error:
        raise Refusal(str(error)) from None


def starts_in_the_past(opened: Opened, now: float) -> str:
    """What is wrong with the time at which it is to start by itself; empty if that is to come."""
    if opened.start is None or opened.start >= now - JUST_NOW:
        return ""
    key = "rounds_at" if opened.start_at is UNSET else "start_at"
    return (
        f"{key}: expected a time that is to come, and this one is past; it is in UTC unless it says otherwise"
    )


def game_of(record: Record) -> Game[Any, Any]:
    """The game of a tournament to hold; raises `BadCatalogue` if what is installed cannot go on with it."""
    game = game_kept(record.opened.game)
    if record.state is not State.FINISHED:
        try:
            game.opening(record.opened.options)
        except BadOption as error:
            raise BadCatalogue(f"the tournament {record.name} cannot go on: {error}") from None
        except Exception as error:
            why = f"{game.title} fails to begin: {error!r}"
            raise BadCatalogue(f"the tournament {record.name} cannot go on: {why}") from error
    return game


class Opening:
    def __init__(self, store: Store, wall: Callable[[], float], *, whole: bool) -> None:
        """Records are `whole` or not."""
        self._store = store
        self._wall = wall
        self._whole = whole
        self._now: set[str] = set()  # names of tournaments that are being kept
        self._used = set[str]()  # the names in the store of all tournaments, including deleted ones
        self._earlier: dict[str, int] = {}  # by name: how many there have been at least

    def note(self, records: Iterable[Record]) -> None:
        """Note tournaments that were opened before, or elsewhere."""
        self._used.update(record.kept_as for record in records)

    @contextmanager
    def alone(self, name: str) -> Generator[None]:
        """Keep others here from opening a tournament of that name; raises `NameTaken` if one already does."""
        if name in self._now:
            raise taken(name)
        self._now.add(name)
        try:
            yield
        finally:
            self._now.remove(name)

    async def open(self, name: str, opened: Opened, orders: Iterable[Ordered], when: float) -> Record:
        """Keep a new tournament, with the orders for it.

        Without a seed in its terms the host chooses one, and commits to it in public.
        """
        facts: list[AnyFact] = [*orders, *(sealed() if opened.terms.seed is None else ())]
        kept = self._unused(name)
        await self._store.keep(kept, when, [opened, *facts])
        self._used.add(kept)
        record = Record(name, opened, whole=self._whole, kept_as=kept)
        for fact in facts:
            record.add(fact)
        return record

    def _unused(self, name: str) -> str:
        """What the store calls the next tournament of that name, of which thousands may have been deleted."""
        earlier = self._earlier.get(name, 0)
        while kept_as(name, earlier) in self._used:
            earlier += 1
        self._earlier[name] = earlier
        return kept_as(name, earlier)

    async def open_table(self, game: str) -> Record:
        """Keep a new open table, which a process has yet to hold."""
        record = table_record(game, whole=self._whole)
        await self._store.keep(record.name, self._wall(), [record.opened, Turned(record.state)])
        telling.opened(record)
        return record


def table_record(game: str, *, whole: bool) -> Record:
    """What is known of an open table before anybody has come."""
    opened = Opened(game, "open", terms=Terms(lots=catalogue()[game].lots))
    record = Record(OPEN + game, opened, whole=whole)
    record.add(Turned(State.RUNNING))
    return record
