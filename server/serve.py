"""`quintain serve`: the host with its doors open, from the ready line to the last one.

At the first signal, matches in play are kept as they stand, and go on at the next
start; those that cannot be resumed get some time to finish. A second signal stops the
host at once. Either way the standings so far are printed, and nothing that was
announced is lost.
"""

import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog
import trio

from server import allocator, certificate, figures, interpreter, ports, supervised
from server.already_there import expect_the_same, warn_of_another
from server.application import application
from server.config import NOWHERE, Settings
from server.exits import DONE, FAILED, ConfigError, Failure, Unavailable, first_of
from server.export.signing import signer
from server.host import telling
from server.host.host import Host
from server.host.measures import watch_lag
from server.host.tournament_settings import TournamentSettings
from server.http.routes import HttpDoor, spelling_of
from server.http.service import Http
from server.logs import Output, announce
from server.net import listening
from server.net.admission import Admission
from server.net.hosts import expected_hosts
from server.net.open_files import room_for_files, shortage, too_few
from server.net.proxies import Proxies
from server.pages.addresses import Addresses
from server.pages.desk.door import has_desk, login_path
from server.pages.desk.sessions import Sessions
from server.pages.rendering import warm
from server.programs.printing import printing
from server.protocols import tcp, websocket
from server.protocols.catalogue import carried, prepare
from server.protocols.dialect import Dialect, OverHttp, OverTcp, OverWebsocket, nowhere
from server.show.begin import ShowSettings, zero
from server.show.child import Started
from server.show.conduit import POSSIBLE
from server.show.draws import in_a_thread
from server.show.lending import Lending
from server.show.process import Show
from server.show.which import ShownRequests
from server.stopping import LAST, SIGNALS, Running, close, signals_to_the_end, until_the_end
from server.store import snapshots
from server.store.choice import opened
from server.store.copies import backups
from server.store.data_folder import JOURNAL, OrganiserToken, locked, organiser_token, prepared
from server.store.journal import Engine, Unreadable
from server.store.ledger import Ledger
from server.store.regular_backups import RegularBackups
from server.store.sqlite_database import unusable, warn_of_faults
from server.version import own_version
from server.webhooks import positions
from server.webhooks.delivery import deliver
from server.workers.requests import Reading
from server.workers.spread import Spread
from server.workers.starting import Started as StartedWorker
from server.workers.workers import Workers
from tournament.refusals import Refusal
from tournament.store import Stale

if TYPE_CHECKING:
    from server.peers.peering import Peering  # psycopg, which it needs, is an extra

SHUT = "the doors are shut"  # why clocks stand still at the start
SOON_READ = 200_000  # entries of a journal that show reads within some seconds
EXAMINE = 60.0  # seconds until it is tried again to look for damage in the journal
TAKEN_OVER = "peers: other hosts have gone on with what this one held, and it ends: start it again"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def serve(
    settings: Settings,
    *,
    until_done: str | None = None,
    as_json: bool = False,
    output: Output | None = None,
    first: Started | None = None,
    asked: Mapping[str, Any] | None = None,
    early: Sequence[StartedWorker] = (),
) -> int:
    """Serve until `until_done` is over or somebody stops the host; returns the exit code.

    `output` is where the log goes, if it can show a status; `first` is the process for pages, None for none;
    `early` are processes of workers that have been started. `asked` is what flags say of a tournament: if the
    one of that name contradicts it, `ConfigError` is raised before a door is opened.
    """
    allocator.give_back()
    files = _files(settings)
    folder = prepared(settings.data)
    with locked(folder):
        token = organiser_token(folder)
        if token.path is not None:
            path = str(token.path)
            announce(settings.log_format, f"the organiser's token is in {path}", output, path=path)
        if not settings.store:
            warn_of_faults()
        with closing(opened(settings, folder)) as engine:
            try:
                return await _serve(
                    settings, engine, token, files, until_done, as_json, output, first, asked, early
                )
            except* Stale:
                raise Failure(TAKEN_OVER) from None
            except* Unreadable as damaged:
                if settings.store:
                    raise
                raise unusable(folder / JOURNAL, first_of(damaged).what) from None
    return DONE  # pragma: no cover - one of these returns or raises


async def _serve(
    settings: Settings,
    engine: Engine,
    token: OrganiserToken,
    files: float,
    until_done: str | None,
    as_json: bool,
    output: Output | None,
    first: Started | None,
    asked: Mapping[str, Any] | None,
    early: Sequence[StartedWorker],
) -> int:
    tls = None if settings.tls is None else certificate.Certificate(settings.tls)
    peering = _peering(settings, engine)
    ledger = Ledger(engine) if peering is None else peering.ledger
    beside = first is not None  # whether another process does all that only looks
    data = Path(settings.data)
    if peering is None:
        load = partial(snapshots.load, engine, data, whole=not beside, told=_goes_on)
    else:
        load = partial(peering.peers.load, data, _goes_on)
    if asked is not None:
        kept = load()
        expect_the_same(asked, kept[0].values())
        load = [kept].pop  # once, so that nothing else keeps it alive
    doors = await ports.opened(settings)
    settings = ports.as_reached(settings, doors)
    host = Host(
        settings.limits,
        ledger,
        at_once=settings.matches_at_once,
        load=load,
        whole=not beside,
        grading=settings.grading,
    )
    ledger.committed = host.measures.commits.observe
    host.elsewhere = in_a_thread
    admission = Admission(
        settings.limits,
        files,
        Proxies(settings.proxies),
        expected_hosts(settings.bind, settings.hosts),
    )
    lending = Lending(settings.limits, admission)
    last = (lambda: ledger.safe) if peering is None else (lambda: peering.last)  # the latest safe entry
    show = None if first is None else Show(host, last, lending, first)
    spoken = [(dialect, way.serve(host, settings)) for dialect, way in carried(OverHttp)]
    if settings.workers > 1 or settings.peers:
        _warn_of_dialects()
    workers = _workers(settings, host, ledger, admission, show, spoken, early)
    async with trio.open_nursery() as nursery:
        if peering is not None:
            peering.peers.settled = False
            await peering.listen(nursery, settings.peers, settings.advertise, own_version())
            peering.serve(host)
        host.timekeeper.pause(SHUT)
        await nursery.start(host.run)
        nursery.start_soon(_examine, engine)
        if settings.webhook:  # where hosts share a database, it says more of a webhook that is not new
            with suppress(OSError):  # it is tried again when there is something to tell
                positions.begin(data / positions.FILE, settings.webhook, engine.last())
        await _hold_all(host, settings.tournament, asked)
        where = {name: listening.where(sockets[0]) for name, sockets in doors.items()}
        desk = has_desk(settings.bind, tls=tls is not None, anywhere=settings.admin_anywhere)
        sessions = Sessions() if desk else None
        login = None if sessions is None else lambda: login_path(sessions, trio.current_time())
        tcp_url = None if settings.tcp_url == NOWHERE else settings.tcp_url
        addresses = Addresses(**where, tcp_url=tcp_url, websocket_url=settings.websocket_url)
        doors_of_dialects = [door for _, door in spoken]
        app = application(
            host,
            settings,
            addresses,
            token.text,
            doors_of_dialects,
            sessions=sessions,
            login=login,
            key=signer(data),
            looks=show is None,
        )
        if workers is not None:
            app = workers.beside(app)
            await nursery.start(workers.run, settings, addresses, token.text, sessions)
        if peering is not None:
            app = peering.relayed(doors_of_dialects, token.text, sessions).beside(app)
            nursery.start_soon(peering.peers.run)
            nursery.start_soon(peering.watching.run, host)
            if show is not None:
                peering.watching.take = show.watch(peering.watching.want)
        if show is not None:
            which = ShownRequests(door_at_root=any("" in door.paths for door in doors_of_dialects))
            app = show.lending.beside(app, which.is_shown)
            own = (0, "") if peering is None else (peering.links.host, peering.address)
            begin = partial(ShowSettings, settings, addresses, token.text, which.door_at_root, *own, zero())
            if ledger.safe <= SOON_READ:
                await nursery.start(show.run, begin)
            else:  # bots need not wait for pages
                log.info("pages come when the journal has been read", entries=ledger.safe)
                nursery.start_soon(show.run, begin)
        if settings.backups is not None:
            mine = (lambda: True) if peering is None else peering.backs_up
            copies = RegularBackups(engine, backups(data / JOURNAL), settings.backups, mine=mine)
            nursery.start_soon(copies.run)
            host.figures.append(partial(figures.backups, copies))
        if show is None:  # otherwise show tells them
            nursery.start_soon(deliver, settings.webhook, engine, data)
        host.workers = workers
        host.figures += (
            figures.build,
            figures.process,
            partial(figures.waiting, _queues(host, ledger, lending, workers)),
            partial(figures.webhooks, settings, last),
        )
        warm_up = partial(_warm_up, peering, rates=not beside)
        if peering is not None and peering.peers.others:
            await warm_up()  # bots would wait here meanwhile, while other hosts can serve them
        else:
            nursery.start_soon(warm_up)
        if peering is not None:
            await peering.come_in()
        http = Http(app, host.guard, settings.limits)
        _let_in(doors, nursery, host, http, admission, tls, workers)
        host.timekeeper.resume(SHUT)
        if workers is not None:
            workers.let_in()
        await nursery.start(certificate.renew, tls)
        if tls is not None:
            nursery.start_soon(tls.watch)
            host.figures.append(partial(figures.certificate, tls))
        nursery.start_soon(watch_lag, host.measures.lag)
        nursery.start_soon(allocator.trim, lambda: host.timekeeper.idle)
        interpreter.calm(interpreter.LARGE_SURPLUS)
        interpreter.let_threads_in()
        if login is not None and token.made:
            link = f"http{'s' if tls else ''}://{where['http']}{login()}"
            said = f"the desk opens once, within 15 minutes, at {link}"
            announce(settings.log_format, said, output, url=link)
        listens = " ".join(f"{name}={address}" for name, address in where.items())
        with signals_to_the_end(), trio.open_signal_receiver(*SIGNALS) as signals:
            with printing():
                # In one piece, also where nothing is buffered: the log may go to the same place.
                print(f"ready {listens} data={settings.data}\n", end="", flush=True)  # noqa: T201
            supervised.notify(supervised.READY)
            async with trio.open_nursery() as watching:
                if output is not None:
                    watching.start_soon(output.tell_the_rest)
                    if output.live:
                        played = partial(_moves, host, workers)
                        watching.start_soon(telling.keep_shown, lambda: host.known, played, output.show)
                code = await until_the_end(host, workers, until_done, signals, settings.grace)
                watching.cancel_scope.cancel()
            running = Running(settings, host, workers, peering, http, show, admission, last)
            printed = await close(running, until_done, as_json, signals)
        engine.hurry(LAST)
        nursery.cancel_scope.cancel()
        return code if printed else code or FAILED
    return DONE  # pragma: no cover - a cancelled nursery ends above


async def _examine(engine: Engine) -> None:
    """Look for damage, and again later where the disk fails or no file can be opened just now."""
    while True:
        try:
            return await trio.to_thread.run_sync(engine.examine, abandon_on_cancel=True)
        except Unavailable as error:
            log.warning("the journal is yet to be examined", why=str(error), retry=EXAMINE)
        await trio.sleep(EXAMINE)


def _peering(settings: Settings, engine: Engine) -> "Peering | None":
    """The `Peering` of a host that shares its database; None if it does not."""
    if not settings.peers:
        return None
    if not POSSIBLE:
        raise ConfigError("peers: this system cannot pass connections to the process for pages")
    from server.peers.peering import Peering
    from server.store.shared import SharedPostgres

    if not isinstance(engine, SharedPostgres):
        raise TypeError("a host with peers has opened another kind of store")
    return Peering(engine, settings.store)


def _goes_on(entries: int) -> None:
    """A start reads a long journal: say so, or a service manager would end it, and begin again."""
    log.info("reading what was kept", entries=entries)
    supervised.notify(supervised.MORE_TIME)


def _workers(
    settings: Settings,
    host: Host,
    ledger: Ledger,
    admission: Admission,
    show: Show | None,
    spoken: Sequence[tuple[Dialect, HttpDoor]],
    early: Sequence[StartedWorker],
) -> Workers | None:
    """The workers beside this process, which is worker 0; raises `ConfigError` if there cannot be any."""
    if settings.workers == 1:
        return None
    if show is None:
        raise ConfigError("workers: this system cannot pass connections to other processes")
    games = [(door.paths, frozenset(dialect.games or ())) for dialect, door in spoken]
    reading = Reading(games, spelling_of(door for _, door in spoken))
    spread = Spread(host, show.teller, settings.spread)
    count, limits = settings.workers, settings.limits
    return Workers(count, host, ledger, limits, admission, show.lending, reading, spread, early)


def _let_in(
    doors: Mapping[str, Iterable[socket.socket]],
    nursery: trio.Nursery,
    host: Host,
    http: Http,
    admission: Admission,
    tls: certificate.Certificate | None,
    workers: Workers | None,
) -> None:
    """Accept connections at all doors."""
    attend = {
        "tcp": partial(tcp.attend, host),
        "websocket": partial(websocket.attend, host),
        "http": http.attend,
    }
    for name, sockets in doors.items():
        for listener in sockets:
            admit = partial(
                listening.serve,
                listener,
                attend[name],
                guard=host.guard,
                admission=admission,
                limits=host.limits,
                tls=None if tls is None or name == "tcp" else tls.now,
                headers=name != "http",  # there, proxies write X-Forwarded-For
                count=partial(host.measures.connection, name),
                before_passing_on=_nothing if workers is None else workers.catch_up,
            )
            nursery.start_soon(admit)


def _warn_of_dialects() -> None:
    """Say which dialects lead no bot to the process that it plays in."""
    for dialect, way in (*carried(OverTcp), *carried(OverWebsocket)):
        if way.wanted is nowhere:
            why = (
                "it does not say where they want to play, so only the process that they come to can take them"
            )
            log.warning("some bots of a dialect will be refused", dialect=dialect.name, why=why)


def _nothing() -> None:
    """A callback that does nothing."""


def _queues(host: Host, ledger: Ledger, lending: Lending, workers: Workers | None) -> figures.Queues:
    queues = {
        "journal": lambda: ledger.waiting,
        "thinking": lambda: host.thinker.waiting,
        "show": lambda: lending.waiting,
    }
    if workers is not None:
        queues["workers"] = lambda: workers.waiting
    return queues


def _files(settings: Settings) -> float:
    """How many files may be open; raises `ConfigError` if no host can work with so few."""
    files = room_for_files()
    if too_few(files, settings.limits):
        raise ConfigError(f"files: {shortage(files, settings.limits)}")
    if said := shortage(files, settings.limits):
        why, _, advice = said.rpartition("; ")  # together they are longer than a value in the log may be
        log.warning("some bots may find no room", why=why, advice=advice)
    return files


async def _hold_all(
    host: Host, wanted: Iterable[TournamentSettings], asked: Mapping[str, Any] | None
) -> None:
    """Hold the wanted tournaments that are not held yet; raises `ConfigError` for one that cannot be held."""
    for each in wanted:
        if not host.has(each.name):
            try:
                await host.found(each.name, each.opened())
            except Refusal as refusal:
                raise ConfigError(f"tournament {each.name}: {refusal}") from None
        elif asked is None or asked["name"] != each.name:  # flags were compared before
            warn_of_another(each, host.known[each.name].record.opened)


def _moves(host: Host, workers: Workers | None) -> int:
    """How many moves were played since the start."""
    return host.timekeeper.moves + (0 if workers is None else workers.moves)


async def _warm_up(peering: "Peering | None", *, rates: bool) -> None:
    """Do slow work before it is needed, in a thread: pages, what dialects prepare, imports."""
    await trio.to_thread.run_sync(warm, abandon_on_cancel=True)
    await prepare()
    if rates:
        await trio.to_thread.run_sync(import_module, "numpy", abandon_on_cancel=True)
    if peering is not None:
        peering.peers.settled = True
