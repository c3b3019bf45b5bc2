"""What a bot has done, version by version: the answers to `GET /api/bots` and `GET /api/bots/{bot}`."""

from functools import partial
from typing import Any

from msgspec import structs

from server.export.json_views import moment_or_none, rounded
from server.host.appearances import Found, Index, unseen
from server.host.grouping import frozen
from server.host.versions import Rated, Version, versions
from server.http.head import HttpError
from server.http.wire import Response, json_response
from server.protocols.api.call import Look


async def career(call: Look, name: str) -> Response:
    """What a bot has done in each game, in the order of their tournaments."""
    records = [call.seen(each.record) for each in call.view.tournaments.values()]
    mine = await call.view.boards.run(partial(call.view.versions.index.of, name, records))
    if not mine:
        raise HttpError(404, unseen(name))
    rated = await call.view.versions.of_games(name, records)
    by_game: dict[str, Found] = {}
    for each in mine:
        by_game.setdefault(each[0].opened.game, []).append(each)
    index = call.view.versions.index
    work = (partial(_career, name, game, by_game[game], rated.get(game, {}), index) for game in by_game)
    games = [await call.view.boards.run(each) for each in work]
    return json_response(200, {"name": name, "games": games})


async def named(call: Look) -> Response:
    """The same for any name, also one with a /, which cannot be in a path."""
    if not (name := call.exchange.request.query.get("name", "")):
        raise HttpError(400, "expected ?name=…, the name of a bot")
    return await career(call, name)


def _career(name: str, game: str, mine: Found, rated: Rated, index: Index) -> dict[str, Any]:
    shown = [_shown(each) for each in versions(name, index.sums(name, mine), rated)]
    theirs = [record for record, _ in mine]
    latest = shown[0] if shown else {"version": None, "rating": None, "interval": None}
    said = [record.affiliations[name] for record in theirs if name in record.affiliations]
    return {
        "game": game,
        "tournaments": [record.name for record in theirs],
        "frozen": frozen(theirs),
        "affiliation": said[-1] if said else None,
        **{key: latest[key] for key in ("version", "rating", "interval")},
        "versions": shown,
    }


def _shown(version: Version) -> dict[str, Any]:
    return structs.asdict(version) | {
        "latest": moment_or_none(version.latest),
        "rating": None if version.rating is None else rounded(version.rating),
        "interval": None if version.interval is None else [*map(rounded, version.interval)],
    }
