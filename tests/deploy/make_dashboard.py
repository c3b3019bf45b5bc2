"""Writes `docs/deploy/grafana.json`: `python -m tests.deploy.make_dashboard`. A test compares the two."""

import json
from pathlib import Path
from typing import Any

DASHBOARD = Path(__file__).parents[2] / "docs/deploy/grafana.json"

# Title, unit, and what is drawn: an expression, and what a line of it is called.
PANELS: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("Matches in play", "short", [("sum by (game) (quintain_matches_playing)", "{{game}}")]),
    ("Moves per second", "ops", [("sum by (game) (rate(quintain_moves_total[1m]))", "{{game}}")]),
    ("Bots that are connected", "short", [("sum by (game) (quintain_players)", "{{game}}")]),
    ("Bots that are missing", "short", [("sum by (game) (quintain_players_missing)", "{{game}}")]),
    (
        "Matches ended per minute",
        "short",
        [("sum by (ending) (rate(quintain_matches_over_total[5m])) * 60", "{{ending}}")],
    ),
    (
        "Void matches in an hour, by fault",
        "short",
        [("sum by (fault) (increase(quintain_matches_void_total[1h]))", "{{fault}}")],
    ),
    (
        "Moves, from arrival to announcement",
        "s",
        [
            (f"histogram_quantile({q}, sum by (le) (rate(quintain_move_seconds_bucket[5m])))", f"{q}")
            for q in (0.5, 0.99)
        ],
    ),
    (
        "Lag of the event loop",
        "s",
        [
            (f"histogram_quantile({q}, sum by (le) (rate(quintain_loop_lag_seconds_bucket[5m])))", f"{q}")
            for q in (0.5, 0.99)
        ],
    ),
    (
        "A commit",
        "s",
        [
            (f"histogram_quantile({q}, sum by (le) (rate(quintain_commit_seconds_bucket[5m])))", f"{q}")
            for q in (0.5, 0.99)
        ],
    ),
    ("Queues", "short", [("sum by (queue) (quintain_queue_length)", "{{queue}}")]),
    ("Connections", "short", [("sum by (door) (quintain_connections)", "{{door}}")]),
    (
        "New connections per second",
        "ops",
        [("sum by (door) (rate(quintain_connections_total[1m]))", "{{door}}")],
    ),
    (
        "Exceptions and stalls",
        "short",
        [
            ("increase(quintain_exceptions_total[10m])", "exceptions"),
            ("increase(quintain_stalled_seconds_total[10m])", "stalled, s"),
        ],
    ),
    ("Processor", "percentunit", [('rate(process_cpu_seconds_total{job="quintain"}[1m])', "{{instance}}")]),
    ("Memory", "bytes", [('process_resident_memory_bytes{job="quintain"}', "{{instance}}")]),
    (
        "Open files",
        "short",
        [('process_open_fds{job="quintain"}', "open"), ('process_max_fds{job="quintain"}', "allowed")],
    ),
    (
        "Age of the latest backup",
        "s",
        [("time() - quintain_backup_last_success_timestamp_seconds", "{{instance}}")],
    ),
    ("Webhooks: entries not yet delivered", "short", [("quintain_webhook_behind_entries", "{{webhook}}")]),
]


def dashboard() -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    panels = [
        {
            "id": number + 1,
            "type": "timeseries",
            "title": title,
            "datasource": source,
            "gridPos": {"x": 8 * (number % 3), "y": 8 * (number // 3), "w": 8, "h": 8},
            "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
            "targets": [
                {"refId": chr(65 + place), "expr": expression, "legendFormat": legend}
                for place, (expression, legend) in enumerate(targets)
            ],
        }
        for number, (title, unit, targets) in enumerate(PANELS)
    ]
    variable = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return {
        "title": "Quintain",
        "uid": "quintain",
        "schemaVersion": 39,
        "refresh": "15s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [variable]},
        "panels": panels,
    }


def text() -> str:
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    DASHBOARD.write_text(text())
