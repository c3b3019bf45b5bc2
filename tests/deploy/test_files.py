"""The files in `docs/deploy/` fit the host, and tools find no fault with them where there are such tools."""

import json
import re
import shutil
import ssl
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme

from server import figures
from server.certificate import Certificate
from server.config import Settings, Tls
from server.exits import MISUSED
from server.host.exposition import exposition
from server.host.metrics import metrics
from server.store.regular_backups import RegularBackups
from server.supervised import DOORS
from tests.deploy.debian import tool
from tests.deploy.make_dashboard import DASHBOARD, text
from tests.hang import HANG
from tests.lacking import lacking
from tests.server.protocols.room import room
from tests.server.test_certificate import issue

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "docs/deploy"
FIGURE = re.compile(r"\b(quintain_\w+|process_\w+)\b")
OFTEN, SELDOM = "evaluation_interval: 30s\n", "evaluation_interval: 10m\n"


def run(*command: str) -> str:
    """What a command says; it has to succeed."""
    done = subprocess.run(command, cwd=DEPLOY, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_prometheus_takes_the_alert_rules_and_each_fires_when_it_should(tmp_path: Path) -> None:
    """What takes days is evaluated less often: every half a minute of them takes a processor for seconds."""
    if (promtool := tool("promtool")) is None:
        lacking("there is no promtool: tests/prepare.sh fetches Debian's prometheus")
    run(promtool, "check", "rules", "alerts.yml")
    shutil.copy(DEPLOY / "alerts.yml", tmp_path)
    head, *tests = re.split(
        r"^(?=  - interval: )", (DEPLOY / "alerts.test.yml").read_text(), flags=re.MULTILINE
    )
    assert OFTEN in head
    days = [test for test in tests if re.search(r"eval_time: \d+h", test)]
    minutes = [test for test in tests if test not in days]
    for name, parts in (("days", [head.replace(OFTEN, SELDOM), *days]), ("minutes", [head, *minutes])):
        (tmp_path / f"{name}.yml").write_text("".join(parts))
        run(promtool, "test", "rules", str(tmp_path / f"{name}.yml"))


def test_every_alert_is_tried() -> None:
    rules, tried = (DEPLOY / "alerts.yml").read_text(), (DEPLOY / "alerts.test.yml").read_text()
    alerts = set(re.findall(r"- alert: (\w+)", rules))
    assert alerts
    assert alerts == set(re.findall(r"alertname: (\w+)", tried))


async def test_alerts_and_dashboard_ask_for_figures_that_there_are(
    autojump_clock: Any, tmp_path: Path
) -> None:
    async with room() as here:
        told = await metrics(here.host) + exposition(every_other_figure(tmp_path))
    there = set(re.findall(r"^# TYPE (\w+) ", told, re.MULTILINE))
    there |= {f"{name}_bucket" for name in there}
    asked = set(FIGURE.findall((DEPLOY / "alerts.yml").read_text() + DASHBOARD.read_text()))
    assert asked
    assert asked <= there


def every_other_figure(folder: Path) -> Any:
    hook = {"url": "http://a", "secret": "b"}
    settings = msgspec.convert({"webhook": [hook], "backups": {"every": 1.0}, "data": str(folder)}, Settings)
    assert settings.backups is not None
    engine: Any = None  # nothing is asked of it
    yield from figures.build()
    yield from figures.process()
    yield from figures.waiting({"journal": lambda: 0})
    yield from figures.webhooks(settings, lambda: 0)
    yield from figures.backups(RegularBackups(engine, folder, settings.backups))
    issue(trustme.CA(), folder)
    yield from figures.certificate(Certificate(Tls(str(folder / "host.pem"), str(folder / "host.key"))))


def test_the_dashboard_is_what_its_program_writes() -> None:
    assert DASHBOARD.read_text() == text(), "write it anew with `python -m tests.deploy.make_dashboard`"
    panels = json.loads(text())["panels"]
    assert len({panel["title"] for panel in panels}) == len(panels)


def test_systemd_takes_the_units_and_finds_the_service_hardened() -> None:
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("there is no systemd-analyze: only systems with systemd have it")
    said = run(analyze, "security", "--offline=true", str(DEPLOY / "quintain.service"))
    exposure = re.search(r"exposure level for quintain.service: ([0-9.]+)", said)
    assert exposure is not None, said
    assert float(exposure[1]) < 2.0, said


def test_the_service_is_nobody_gains_nothing_writes_only_its_data_and_cannot_take_all_memory() -> None:
    """Catches the loss of one of these, which a rating of all protections together hides."""
    lines = (DEPLOY / "quintain.service").read_text().splitlines()
    expected = {"DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "StateDirectory=quintain"}
    assert expected <= {*lines}
    assert "MemoryMax" in {line.partition("=")[0] for line in lines}


def test_the_service_is_not_started_again_with_a_configuration_that_cannot_be_used() -> None:
    """Catches a host that is started every two seconds until somebody looks."""
    lines = (DEPLOY / "quintain.service").read_text().splitlines()
    assert {"Restart=on-failure", f"RestartPreventExitStatus={MISUSED}"} <= {*lines}


def test_the_service_runs_nothing_but_quintain_and_the_shell() -> None:
    """Catches a reload that fails where there is no /bin/kill: small systems are without it."""
    lines = (DEPLOY / "quintain.service").read_text().splitlines()
    programs = [line.partition("=")[2].split()[0] for line in lines if line.startswith("Exec")]
    assert set(programs) == {"/opt/quintain/.venv/bin/quintain", "/bin/sh"}


def test_the_service_is_started_again_for_as_long_as_what_makes_it_fail_lasts() -> None:
    """Catches a disk that is full for a minute: systemd gives up after five starts in ten seconds."""
    lines = (DEPLOY / "quintain.service").read_text().splitlines()
    assert "StartLimitIntervalSec=0" in lines[: lines.index("[Service]")]


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_the_container_is_healthy_with_and_without_a_certificate(secure: bool) -> None:
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", "")
    found = re.search(r"^HEALTHCHECK --\S+ --\S+ CMD (.+)$", text, re.MULTILINE)
    assert found is not None
    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            trustme.CA().issue_cert("bots.example.org").configure_cert(context)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        command = found[1].replace("/opt/quintain/bin/python", sys.executable)
        command = command.replace(":8080", f":{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            assert subprocess.run(["sh", "-c", command], timeout=HANG).returncode == 0
            unknown = command.replace("/healthz", "/nowhere")
            assert (
                subprocess.run(["sh", "-c", unknown], timeout=HANG, stderr=subprocess.DEVNULL).returncode != 0
            )
        finally:
            server.shutdown()
            thread.join()


def test_the_sockets_are_those_that_the_host_takes_and_the_service_wants_them() -> None:
    service = (DEPLOY / "quintain.service").read_text()
    names = [f"quintain-{door}.socket" for door in DOORS]
    assert f"Requires={' '.join(names)}\n" in service
    for door, name in zip(DOORS, names, strict=True):
        unit = (DEPLOY / name).read_text()
        assert f"FileDescriptorName={door}\n" in unit
        assert f"ListenStream=127.0.0.1:{getattr(Settings().ports, door)}\n" in unit


def test_the_containerfile_copies_what_is_there_and_runs_as_nobody_in_particular() -> None:
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    copied = [
        source
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    ]
    assert copied
    assert all((ROOT / source).exists() for source in copied)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    made_of = {"README.md", "LICENSE", ".gitignore", *build["only-include"], *build["force-include"]}
    folders = [Path(source) for source in copied]
    missing = [each for each in made_of if not any(Path(each).is_relative_to(folder) for folder in folders)]
    assert missing == [], "what the wheel is made of, and what it is made without"
    assert "USER 10001" in lines
    assert not [line for line in lines if line.startswith("FROM") and line.split()[1].endswith("latest")]
    if (linter := shutil.which("hadolint")) is not None:
        run(linter, "Containerfile")
