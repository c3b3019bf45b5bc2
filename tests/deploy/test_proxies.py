"""The configurations of nginx and Caddy in `docs/deploy/` work: both are run, in front of a real host.

Only ports are changed, and where nginx finds its module and keeps its temporary files.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.debian import UNPACKED, tool
from tests.deploy.passing import DEPLOY, Proxied, everything, followed, linux, running
from tests.lacking import lacking
from tests.ports import free_ports
from tests.server.served import Served

pytestmark = pytest.mark.slow


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
        lacking("there is no nginx with its stream module: tests/deploy/prepare.sh fetches Debian's")
    web, tcp = free_ports(2)
    text = addressed((DEPLOY / "nginx.conf").read_text(), host)
    text = text.replace("modules/ngx_stream_module.so", str(module))
    text = text.replace("listen 80;", f"listen 127.0.0.1:{web};").replace(
        "listen 4000;", f"listen 127.0.0.1:{tcp};"
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    text = text.replace("http {\n", f"http {{\naccess_log off;\n{places}", 1)
    (folder / "nginx.conf").write_text(text)
    settings = f"daemon off; master_process off; pid {folder}/pid; error_log stderr;"
    return [program, "-p", str(folder), "-e", "stderr", "-c", "nginx.conf", "-g", settings], web, tcp


def caddy(folder: Path, host: Served) -> tuple[list[str], int, int | None]:
    program = tool("caddy")
    if program is None:
        lacking("there is no caddy: tests/deploy/prepare.sh fetches Debian's")
    (web,) = free_ports(1)
    text = addressed((DEPLOY / "Caddyfile").read_text(), host)
    text = re.sub(
        r"^(\S+\.example\.org) \{", rf"http://\1:{web} {{\n\tbind 127.0.0.1", text, flags=re.MULTILINE
    )
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], web, None


@pytest.fixture(params=[nginx, caddy], ids=lambda proxy: proxy.__name__)
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
        yield Proxied(logged, web, tcp, host.tcp)


@linux
def test_pages_streams_long_polls_websockets_and_lines_pass_and_the_host_knows_who_comes(
    proxied: Proxied,
) -> None:
    everything(proxied)
