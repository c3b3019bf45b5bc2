"""Where each module is tested: in a file of its name, in the folder that mirrors its own or above that.

    server/net/outbox.py              tests/server/net/test_outbox.py
    server/protocols/arena/battle.py  tests/server/protocols/test_battle.py

The others are in `ELSEWHERE`, which is kept complete here: a newcomer finds the
test of any module by its name, or by looking it up below. Most
modules are tested by far more than that one file.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("games", "tournament", "server")
NO_MODULES = {"__init__.py", "__main__.py"}

ELSEWHERE = {
    "games/connect4.py": "games/test_against_oracles.py",
    "games/connect4_solver.py": "games/test_perfect.py",
    "games/svg.py": "games/test_laws.py",
    "games/tictactoe.py": "games/test_against_oracles.py",
    # Tournaments
    "tournament/chain.py": "server/store/test_chain.py",
    "tournament/desk.py": "tournament/test_tournament.py",
    "tournament/eta.py": "tournament/test_forecast.py",
    "tournament/starting.py": "tournament/test_check_in.py",
    "tournament/entries.py": "server/store/test_chain.py",
    "tournament/sealing.py": "server/protocols/test_receipts_and_lots.py",
    "tournament/events.py": "tournament/test_match.py",
    "tournament/kinds.py": "server/host/test_practice.py",
    "tournament/fit_exact.py": "tournament/test_ratings.py",
    "tournament/format.py": "tournament/test_pairing.py",
    "tournament/meetings.py": "tournament/test_fit_sparse.py",
    "tournament/pairing/double_round_robin.py": "tournament/test_round_robin.py",
    "tournament/pairing/blossoms.py": "tournament/test_matching.py",
    "tournament/pairing/drawing.py": "tournament/test_pairing.py",
    "tournament/accounts.py": "tournament/test_standings.py",
    "tournament/equations.py": "tournament/test_fit_sparse.py",
    "tournament/priors.py": "tournament/test_moving_first.py",
    "tournament/circles.py": "tournament/test_strength.py",
    "tournament/bounds.py": "tournament/test_sizes.py",
    "tournament/deciding.py": "tournament/test_decide.py",
    "tournament/column_views.py": "tournament/test_columns.py",
    "tournament/posterior.py": "tournament/test_strength.py",
    "tournament/sampling.py": "tournament/test_strength.py",
    "server/export/game_views.py": "server/protocols/test_mcp.py",
    "server/export/decision_views.py": "server/test_deciding.py",
    "tournament/player.py": "tournament/test_presence.py",
    "server/commands/archive.py": "server/export/test_taking_out.py",
    "server/commands/import_match.py": "server/test_commands_host.py",
    "server/host/claims.py": "server/host/test_seats.py",
    "server/host/arrivals.py": "server/host/test_seats.py",
    "server/host/unwelcome.py": "server/host/test_reception.py",
    "server/host/visits.py": "server/host/test_reception.py",
    "server/host/happened.py": "server/peers/test_watching.py",
    "server/host/remaking.py": "server/host/test_boards.py",
    "server/host/aging.py": "server/host/test_boards.py",
    "server/peers/following.py": "server/peers/test_abroad.py",
    "server/peers/looking.py": "server/peers/test_health.py",
    "server/host/forgetting.py": "server/host/test_throw_away_names.py",
    "server/host/placing.py": "server/host/test_host.py",
    "server/host/opening.py": "server/host/test_host.py",
    "server/host/durations.py": "server/test_config.py",
    "server/protocols/api/export_places.py": "server/protocols/test_exporting.py",
    "server/protocols/api/bots.py": "server/host/test_versions.py",
    "server/host/grouping.py": "server/protocols/test_groups.py",
    "server/commands/kept_tournament.py": "server/test_commands_host.py",
    "tournament/facts.py": "tournament/test_record.py",
    "tournament/folding.py": "tournament/test_record.py",
    "tournament/match_names.py": "tournament/test_record.py",
    "tournament/results.py": "tournament/test_record.py",
    "tournament/concluding.py": "tournament/test_tournament.py",
    "tournament/draws.py": "tournament/test_tournament.py",
    "tournament/in_play.py": "tournament/test_tournament.py",
    "tournament/refusals.py": "tournament/test_tournament.py",
    "tournament/resuming.py": "tournament/test_going_on.py",
    "tournament/store.py": "tournament/test_tournament.py",
    "tournament/unplayed.py": "tournament/test_standings.py",
    # Several processes that play
    "server/host/abroad.py": "server/workers/test_handing.py",
    "server/host/group.py": "server/peers/test_hosts.py",
    "server/protocols/handed.py": "server/workers/test_workers.py",
    "server/workers/clerk.py": "server/workers/test_link.py",
    "server/workers/figures.py": "server/workers/test_directory.py",
    "server/workers/messages.py": "server/workers/test_link.py",
    "server/host/passing.py": "server/workers/test_spread.py",
    "server/protocols/passable.py": "server/workers/test_spread.py",
    "server/workers/guests.py": "server/workers/test_spread.py",
    "server/workers/match_messages.py": "server/workers/test_spread.py",
    "server/workers/store.py": "server/workers/test_link.py",
    # Hosts that share a database
    "server/peers/identity.py": "server/peers/test_links.py",
    "server/peers/messages.py": "server/peers/test_link.py",
    "server/peers/peering.py": "server/peers/test_hosts.py",
    "server/peers/requests.py": "server/peers/test_serving.py",
    # What people type
    "server/installed.py": "deploy/test_wheel.py",
    "server/commands/bot.py": "server/test_commands_host.py",
    "server/commands/check.py": "server/test_commands_host.py",
    "server/commands/configuration.py": "server/test_commands.py",
    "server/commands/demo.py": "server/test_commands_host.py",
    "server/commands/doctor.py": "server/test_keeping.py",
    "server/commands/flags.py": "server/test_commands.py",
    "server/commands/formats.py": "server/test_commands.py",
    "server/commands/games.py": "server/test_commands.py",
    "server/commands/hosts.py": "server/test_commands_host.py",
    "server/commands/tournament_entrants.py": "server/test_commands_host.py",
    "server/commands/match.py": "server/test_match_command.py",
    "server/commands/new.py": "clients/test_new.py",
    "server/commands/play.py": "server/test_commands_host.py",
    "server/commands/results.py": "server/test_commands_host.py",
    "server/commands/tournament.py": "server/test_commands_host.py",
    "server/commands/wire_check.py": "clients/test_wire_check.py",
    "server/commands/verifying.py": "server/export/test_verify.py",
    "server/application.py": "server/test_serve.py",
    "server/ports.py": "server/test_serve.py",
    "server/doctor.py": "server/test_keeping.py",
    "server/figures.py": "server/host/test_metrics.py",
    "server/version.py": "server/host/test_metrics.py",
    "server/exits.py": "server/test_commands.py",
    # What is exported and imported
    "server/export/on_disk.py": "server/test_keeping.py",
    "server/export/read.py": "server/test_keeping.py",
    "server/export/read_facts.py": "server/test_keeping.py",
    "server/export/signing.py": "server/export/test_verify_chain.py",
    "server/export/transfer.py": "server/test_keeping.py",
    "server/export/verify_causes.py": "server/export/test_verify.py",
    "server/export/verify_lines.py": "server/export/test_verify.py",
    "server/export/verify_match.py": "server/export/test_verify.py",
    "server/export/write.py": "server/test_keeping.py",
    "server/export/write_facts.py": "server/export/test_verify_chain.py",
    # The host
    "server/host/tournament_settings.py": "server/test_config.py",
    "server/host/wire_reader.py": "server/host/test_wire_log.py",
    "server/webhooks/names.py": "server/webhooks/test_delivery.py",
    "server/webhooks/positions.py": "server/webhooks/test_delivery.py",
    # HTTP
    "server/http/connection.py": "server/http/test_http.py",
    "server/http/exchange.py": "server/http/test_http.py",
    "server/http/head.py": "server/http/test_http_framing.py",
    "server/http/loan.py": "server/show/test_lending.py",
    "server/http/undecided.py": "server/peers/test_asking.py",
    "server/http/service.py": "server/http/test_http_endings.py",
    "server/net/tcp_info.py": "server/net/test_round_trip.py",
    "server/net/readiness.py": "server/net/test_sockets.py",
    "server/net/elsewhere.py": "server/peers/test_channel.py",
    "server/net/relay.py": "server/show/test_lending_tls.py",
    "server/net/served_connection.py": "server/net/test_parking.py",
    "server/net/stream_wire.py": "server/net/test_wire.py",
    "server/net/tls_wire.py": "server/net/test_wire.py",
    # Play and show
    "server/host/view.py": "server/show/test_mirror.py",
    "server/show/begin.py": "server/show/test_show.py",
    "server/show/borrowing.py": "server/show/test_lending.py",
    "server/show/ending.py": "server/show/test_show.py",
    "server/show/feed.py": "server/show/test_mirror.py",
    "server/show/process.py": "server/show/test_show.py",
    "server/show/which.py": "server/show/test_show.py",
    # Pages
    "server/pages/addressed.py": "docs/test_for_assistants.py",
    "server/pages/addresses.py": "server/pages/test_pages.py",
    "server/pages/board_grid.py": "server/pages/test_live.py",
    "server/pages/bot.py": "server/pages/test_pages.py",
    "server/pages/desk/changes.py": "server/pages/test_desk_orders.py",
    "server/pages/desk/door.py": "server/pages/test_desk.py",
    "server/pages/desk/forms.py": "server/pages/test_desk_orders.py",
    "server/pages/desk/answers.py": "server/pages/test_desk.py",
    "server/pages/desk/entrants.py": "server/pages/test_desk_lists.py",
    "server/pages/desk/place.py": "server/pages/test_desk_lists.py",
    "server/pages/desk/inside.py": "server/pages/test_desk_orders.py",
    "server/pages/desk/orders.py": "server/pages/test_desk_orders.py",
    "server/pages/desk/cookies.py": "server/pages/test_desk.py",
    "server/pages/desk/sessions.py": "server/pages/test_desk.py",
    "server/pages/door.py": "server/pages/test_pages.py",
    "server/pages/drawings.py": "server/pages/test_pages.py",
    "server/pages/fair_share.py": "server/pages/test_pages.py",
    "server/pages/files.py": "server/pages/test_pages.py",
    "server/pages/formatting.py": "server/pages/test_pages.py",
    "server/pages/game.py": "server/pages/test_pages.py",
    "server/pages/group.py": "server/protocols/test_groups.py",
    "server/pages/home.py": "server/pages/test_pages.py",
    "server/pages/matches.py": "server/pages/test_pages.py",
    "server/pages/match.py": "server/pages/test_pages.py",
    "server/pages/parts.py": "server/pages/test_live.py",
    "server/pages/protocols.py": "server/pages/test_pages.py",
    "server/pages/rendering.py": "server/pages/test_pages.py",
    "server/pages/site.py": "server/pages/test_pages.py",
    "server/pages/stories.py": "server/pages/test_pages.py",
    "server/pages/story.py": "server/pages/test_pages.py",
    "server/pages/tournament.py": "server/pages/test_pages.py",
    # Programs that are bots
    "server/programs/child.py": "server/test_commands_host.py",
    "server/programs/contestant.py": "server/programs/test_program.py",
    "server/programs/hanging_up.py": "server/programs/test_api_client.py",
    "server/programs/local_match.py": "server/programs/test_program.py",
    "server/programs/printing.py": "server/test_commands.py",
    "server/programs/report.py": "server/test_commands_host.py",
    "server/programs/trials.py": "server/programs/test_program.py",
    "server/programs/wire/carriers.py": "clients/test_wire_check.py",
    "server/programs/wire/command.py": "clients/test_wire_check.py",
    "server/programs/wire/doors.py": "clients/test_wire_check.py",
    "server/programs/wire/findings.py": "clients/test_wire_check.py",
    "server/programs/wire/client.py": "clients/test_wire_check.py",
    "server/programs/wire/rules.py": "clients/test_wire_check.py",
    "server/programs/wire/sessions.py": "clients/test_wire_check.py",
    "server/programs/wire/scripted_host.py": "clients/test_wire_check.py",
    "server/programs/wire/talk.py": "clients/test_wire_check.py",
    "server/programs/wire/trials.py": "clients/test_wire_check.py",
    # Dialects
    "server/protocols/api/changes.py": "server/protocols/test_api_lists.py",
    "server/protocols/api/paging.py": "server/protocols/test_api_lists.py",
    "server/protocols/api/call.py": "server/protocols/test_api.py",
    "server/protocols/api/door.py": "server/protocols/test_api.py",
    "server/protocols/api/answers.py": "server/protocols/test_openapi.py",
    "server/protocols/api/game_schema.py": "server/protocols/test_openapi.py",
    "server/protocols/api/orders.py": "server/protocols/test_api.py",
    "server/protocols/api/reading.py": "server/protocols/test_api.py",
    "server/protocols/api/routes.py": "server/protocols/test_api_routes.py",
    "server/protocols/api/table.py": "server/protocols/test_api_routes.py",
    "server/protocols/api/wire_log.py": "server/host/test_wire_log.py",
    "server/protocols/arena/cases.py": "server/protocols/test_evaluation.py",
    "server/protocols/arena/dialect.py": "server/protocols/test_dialect_laws.py",
    "server/protocols/arena/door.py": "server/protocols/test_arena.py",
    "server/protocols/arena/guests.py": "server/protocols/test_guest.py",
    "server/protocols/arena/invitations.py": "server/protocols/test_guest.py",
    "server/protocols/arena/messages.py": "server/protocols/test_battle.py",
    "server/protocols/c4arena/dialect.py": "server/protocols/test_dialect_laws.py",
    "server/protocols/c4arena/messages.py": "server/protocols/test_c4arena.py",
    "server/protocols/c4arena/talk.py": "server/protocols/test_c4arena.py",
    "server/protocols/c4arena/tarpit.py": "server/protocols/test_c4arena_ignored.py",
    "server/protocols/catalogue.py": "server/protocols/test_dialect_laws.py",
    "server/protocols/common/encode_once.py": "server/protocols/test_c4arena.py",
    "server/protocols/common/states.py": "server/protocols/test_attendance.py",
    "server/protocols/common/talk_budget.py": "server/protocols/test_tcp.py",
    "server/protocols/common/unwelcome.py": "server/protocols/test_wrong_tokens.py",
    "server/protocols/dialect.py": "server/protocols/test_dialect_laws.py",
    "server/protocols/handshake.py": "server/protocols/test_websocket.py",
    "server/protocols/hexagon_dots/bot.py": "server/protocols/test_hexagon_dots.py",
    "server/protocols/hexagon_dots/dialect.py": "server/protocols/test_dialect_laws.py",
    "server/protocols/hexagon_dots/door.py": "server/protocols/test_hexagon_dots.py",
    "server/protocols/hexagon_dots/gate.py": "server/protocols/test_hexagon_dots_games.py",
    "server/protocols/hexagon_dots/gates.py": "server/protocols/test_hexagon_dots_games.py",
    "server/protocols/hexagon_dots/idle.py": "server/protocols/test_hexagon_dots_games.py",
    "server/protocols/hexagon_dots/messages.py": "server/protocols/test_hexagon_dots.py",
    "server/protocols/hexagon_dots/namesakes.py": "server/protocols/test_hexagon_dots_several.py",
    "server/protocols/hexagon_dots/observers.py": "server/protocols/test_hexagon_dots_games.py",
    "server/protocols/house/dialect.py": "server/protocols/test_dialect_laws.py",
    "server/protocols/house/messages.py": "server/protocols/test_house.py",
    "server/protocols/house/sessions.py": "server/protocols/test_house_http.py",
    "server/protocols/house/talk.py": "server/protocols/test_house.py",
    "server/protocols/mcp/dialect.py": "server/protocols/test_mcp_sdk.py",
    "server/protocols/mcp/door.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/place.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/places.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/revisions.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/rpc.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/sessions.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/tools.py": "server/protocols/test_mcp.py",
    "server/protocols/mcp/words.py": "server/protocols/test_mcp.py",
    "server/protocols/santorini_memo.py": "server/protocols/test_tcp.py",
    # What is kept
    "server/store/choice.py": "server/store/test_postgres.py",
    "server/store/data_folder.py": "server/test_keeping.py",
    "server/store/postgres_database.py": "server/store/test_postgres.py",
    "server/store/postgres_reader.py": "server/store/test_postgres.py",
    "server/store/postgres_rows.py": "server/store/test_postgres.py",
    "server/store/journal.py": "server/store/test_laws.py",
    "server/store/reserve.py": "server/store/test_sqlite.py",
    "server/store/restore.py": "server/test_resume.py",
    "server/store/schema.py": "server/store/test_sqlite.py",
    "server/store/sqlite_database.py": "server/store/test_sqlite.py",
    "server/store/sqlite_reader.py": "server/store/test_sqlite.py",
}


def modules() -> list[Path]:
    """All of the project, as paths from its root."""
    found = (source.relative_to(ROOT) for layer in LAYERS for source in (ROOT / layer).rglob("*.py"))
    return sorted(module for module in found if module.name not in NO_MODULES)


def named_after(module: Path) -> Path | None:
    """The test file that has the module's name, in the folder that mirrors its own or above that one."""
    folders = (ROOT / "tests" / above for above in module.parents if above != Path())
    return next((there for each in folders if (there := each / f"test_{module.stem}.py").exists()), None)


@pytest.mark.slow
@pytest.mark.parametrize("module", modules(), ids=str)
def test_each_module_has_a_test_of_its_name_or_is_in_the_map(module: Path) -> None:
    assert named_after(module) or str(module) in ELSEWHERE, (
        f"{module} has no test: call it tests/{module.parent}/test_{module.name}, or add it to ELSEWHERE"
    )


@pytest.mark.slow
@pytest.mark.parametrize(("module", "test"), ELSEWHERE.items())
def test_the_map_names_what_is_there_and_nothing_that_needs_no_map(module: str, test: str) -> None:
    assert (ROOT / module).is_file(), f"{module} is gone: take it out of ELSEWHERE"
    assert (ROOT / "tests" / test).is_file(), f"the test of {module} is not in tests/{test}"
    assert not named_after(Path(module)), f"{module} has a test of its name: take it out of ELSEWHERE"
