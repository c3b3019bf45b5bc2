"""The configurations of nginx, Apache and Caddy in `docs/deploy/` work: all are run, in front of a real host.

Only ports are changed, and what Debian has in other files: modules, and where temporary files are kept.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.debian import UNPACKED, tool
from tests.deploy.passing import DEPLOY, Proxied, everything, followed, linux, running
from tests.lacking import lacking
from tests.ports import free_ports
from tests.server.served import Served

pytestmark = pytest.mark.slow

FEW = 256  # files that a process may have open at first: fewer than Debian gives nginx, to need fewer clients
DEBIANS = 150  # requests that Apache has under way at once, unless a configuration says otherwise
PATIENT = {  # how each proxy says how long it waits for a host that says nothing
    "nginx.conf": r"proxy_read_timeout (\w+);",
    "apache.conf": r"^ *ProxyPass .* timeout=(\d+)",
    "haproxy.cfg": r"^ *timeout server (\w+)$",
}


def addressed(text: str, host: Served) -> str:
    """With the ports of this host."""
    for port, real in ((8000, host.tcp), (8001, host.websocket), (8080, host.http)):
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{real}")
    return text


def nginx(folder: Path, host: Served) -> tuple[list[str], int, int | None]:
    program = tool("nginx")
    module = next(Path("/").glob("usr/lib/nginx/modules/ngx_stream_module.so"), None) or next(
        UNPACKED.glob("usr/lib/nginx/modules/ngx_stream_module.so"), None
    )
    if program is None or module is None:
        lacking("there is no nginx with its stream module: tests/prepare.sh fetches Debian's")
    web, tcp = free_ports(2)
    text = addressed((DEPLOY / "nginx.conf").read_text(), host)
    text = text.replace("modules/ngx_stream_module.so", str(module))
    text = re.sub(r"listen 80\b", f"listen 127.0.0.1:{web}", text)
    text = text.replace("listen 4000", f"listen 127.0.0.1:{tcp}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    text = text.replace("http {\n", f"http {{\naccess_log off;\n{places}", 1)
    (folder / "nginx.conf").write_text(text)
    settings = f"daemon off; master_process off; pid {folder}/pid; error_log stderr;"
    return [program, "-p", str(folder), "-e", "stderr", "-c", "nginx.conf", "-g", settings], web, tcp


def apache(folder: Path, host: Served) -> tuple[list[str], int, int | None]:
    program, module = tool("apache2"), Path("usr/lib/apache2/modules/mod_proxy_http.so")
    modules = next((root / module.parent for root in (Path("/"), UNPACKED) if (root / module).exists()), None)
    if program is None or modules is None:
        lacking("there is no apache2: tests/prepare.sh fetches Debian's")
    (web,) = free_ports(1)
    text = addressed((DEPLOY / "apache.conf").read_text(), host).replace("*:80>", f"127.0.0.1:{web}>")
    names = ("mpm_event", "authz_core", "headers", "proxy", "proxy_http")
    loaded = "".join(f"LoadModule {name}_module {modules}/mod_{name}.so\n" for name in names)
    own = (
        f"ServerRoot {folder}\nDefaultRuntimeDir {folder}\nPidFile pid\nErrorLog log\nServerName localhost\n"
    )
    own += f"Listen 127.0.0.1:{web}\nUser nobody\nGroup #65534\n"  # of whom only root is asked
    own += f"MaxRequestWorkers {DEBIANS}\n"
    (folder / "apache.conf").write_text(loaded + own + text)
    return [program, "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"], web, None


def caddy(folder: Path, host: Served) -> tuple[list[str], int, int | None]:
    program = tool("caddy")
    if program is None:
        lacking("there is no caddy: tests/prepare.sh fetches Debian's")
    (web,) = free_ports(1)
    text = addressed((DEPLOY / "Caddyfile").read_text(), host)
    text = re.sub(
        r"^(\S+\.example\.org) \{", rf"http://\1:{web} {{\n\tbind 127.0.0.1", text, flags=re.MULTILINE
    )
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], web, None


@pytest.fixture(params=[nginx, apache, caddy], ids=lambda proxy: proxy.__name__)
def proxied(
    request: Any, tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Proxied]:
    monkeypatch.setenv("QUINTAIN_PROXIES", '["127.0.0.1"]')
    host = serve("--log-format", "json")
    folder = tmp_path / "proxy"
    folder.mkdir()
    command, web, tcp = request.param(folder, host)
    logged: list[dict[str, Any]] = []
    followed(host, logged)
    with running(folder, command, web):
        other = request.param is not apache
        yield Proxied(logged, web, tcp, host.tcp, tells=other, asks=other)


@linux
def test_pages_streams_long_polls_websockets_and_lines_pass_and_the_host_knows_who_comes(
    proxied: Proxied,
) -> None:
    everything(proxied)


@pytest.mark.parametrize("name", PATIENT)
def test_no_proxy_gives_up_the_request_of_a_bot_that_waits_for_a_match(name: str) -> None:
    """The host itself never does, and says nothing meanwhile: catches 75 seconds. Caddy has no such limit."""
    text = (DEPLOY / name).read_text()
    found = re.findall(PATIENT[name], text, re.MULTILINE)
    assert len(found) == (1 if name == "haproxy.cfg" else len(re.findall(r"(?i)proxy_?pass .*http://", text)))
    assert set(found) <= {"1d", "86400"}


@linux
def test_apache_has_a_thread_for_more_clients_than_it_has_by_itself(
    tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a page that nobody gets because as many as Debian expects are looking at another."""
    monkeypatch.setenv("QUINTAIN_PROXIES", '["127.0.0.1"]')
    host = serve("--log-level", "error")
    command, web, _ = apache(tmp_path, host)
    with running(tmp_path, command, web), ExitStack() as stack:
        proxied = Proxied([], web, None, host.tcp)
        for _ in range(DEBIANS + 2):
            stream = stack.enter_context(proxied.asked("GET", "/api/events"))
            assert stream.status == 200


@linux
def test_nginx_opens_as_many_files_as_its_clients_need(
    tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches bots that are told that the server has an error, as Debian gives nginx 1024 files by itself."""
    monkeypatch.setenv("QUINTAIN_PROXIES", '["127.0.0.1"]')
    host = serve("--log-level", "error")
    command, web, _ = nginx(tmp_path, host)
    own = command[-1].replace("master_process off;", "user root;")  # only a master gives its workers more
    few = ["sh", "-c", f'ulimit -S -n {FEW}; exec "$@"', "sh", *command[:-1], own]
    with running(tmp_path, few, web), ExitStack() as stack:
        proxied = Proxied([], web, None, host.tcp)
        for _ in range(FEW // 2):
            stream = stack.enter_context(proxied.asked("GET", "/api/events"))
            assert stream.status == 200
