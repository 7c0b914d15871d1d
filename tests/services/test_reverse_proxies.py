"""The configurations of `deploy/proxy`, run before `exhibit serve`: TLS, keys, names, addresses and streams."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from api.home.configuration import load
from api.wiring import key_store
from tests.harness import KANSAS, ingest
from tests.services.certificates import self_signed

pytestmark = pytest.mark.services
PROXY = Path(__file__).parents[2] / "deploy" / "proxy"
NAME = "maps.example.org"
ASK = {"question": "What was the population of Shawnee County in 1930?"}
NGINX = """
user root; daemon off; pid {folder}/nginx.pid; error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
{server}
}}
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def filled(name: str, *, behind: str, port: int, certificate: tuple[Path, Path]) -> str:
    """The shipped configuration with the test's ports and files; each must stand in it."""
    text = (PROXY / name).read_text("utf-8")
    changes = {
        "127.0.0.1:8484": behind,
        "443": str(port),
        "/etc/exhibit/server.pem": str(certificate[0]),
        "/etc/exhibit/server.key": str(certificate[1]),
    }
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def command(kind: str, folder: Path, text: str) -> list[str]:
    if kind == "nginx":
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, server=text), "utf-8")
        return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    plain = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
    (folder / "Caddyfile").write_text(plain + text, "utf-8")
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


@contextmanager
def running(words: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, str]]:
    """A client of the proxy that knows its name and certificate, and a key."""
    kind = request.param
    if shutil.which(kind) is None:
        pytest.skip(f"{kind} is not installed")
    folder = tmp_path_factory.mktemp(kind)
    home = folder / "home"
    asyncio.run(ingest(home, manifest=KANSAS))
    _, token = key_store(load({}, home=home)).create(name="reader", tenant="default", roles=("public_viewer",))
    kept = {k: v for k, v in os.environ.items() if not k.startswith("EXHIBIT_") or k == "EXHIBIT_CACHE"}
    settings = {"REQUIRE_KEY": "true", "TRUSTED_PROXIES": "127.0.0.1", "ALLOWED_HOSTS": NAME}
    ours = kept | {f"EXHIBIT_SERVER__{name}": value for name, value in settings.items()}
    serve = [sys.executable, "-m", "api.cli.main", "serve", "--port", "0", "--home", str(home)]
    with ExitStack() as stack:
        served = stack.enter_context(running(serve, ours))
        assert served.stderr is not None
        told = re.search(r"exhibit on http://(127\.0\.0\.1:\d+),", served.stderr.readline())
        assert told is not None
        port, certificate = free_port(), self_signed(folder / "tls")
        name = {"nginx": "nginx.conf", "caddy": "Caddyfile"}[kind]
        text = filled(name, behind=told[1], port=port, certificate=certificate)
        stack.enter_context(running(command(kind, folder, text), kept | {"HOME": str(folder)}))
        trusted = ssl.create_default_context(cafile=str(certificate[0]))
        trusted.check_hostname = False  # the certificate is of the address
        client = stack.enter_context(
            httpx.Client(verify=trusted, base_url=f"https://127.0.0.1:{port}", headers={"host": NAME}, timeout=60)
        )
        client.event_hooks["request"] = [lambda each: each.extensions.update(sni_hostname=NAME)]
        wait_for(client)
        yield client, token


def wait_for(client: httpx.Client) -> None:
    said = ""
    for _ in range(100):
        try:
            reply = client.get("/livez")
            if reply.status_code == 200:
                return
            said = reply.text
        except httpx.TransportError as exc:
            said = repr(exc)
        time.sleep(0.1)
    pytest.fail(f"the proxy does not answer: {said}")


def test_a_question_with_a_key_is_answered(site: tuple[httpx.Client, str]) -> None:
    client, token = site
    reply = client.post("/api/v1/ai/query", json=ASK, headers={"authorization": f"Bearer {token}"})
    assert (reply.status_code, "85,200" in reply.json()["answer"]) == (200, True)
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("claimed", [{}, {"x-forwarded-for": "127.0.0.1"}, {"x-forwarded-for": "::1, 127.0.0.1"}])
def test_the_proxy_is_no_credential_whatever_a_caller_claims(
    site: tuple[httpx.Client, str], claimed: dict[str, str]
) -> None:
    reply = site[0].post("/api/v1/ai/query", json=ASK, headers=claimed)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "UNAUTHORIZED")


def test_a_streamed_answer_is_passed_on(site: tuple[httpx.Client, str]) -> None:
    client, token = site
    with client.stream("POST", "/api/v1/ai/stream", json=ASK, headers={"authorization": f"Bearer {token}"}) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        events = [line for line in reply.iter_lines() if line.startswith("event:")]
    assert len(events) >= 2


def test_a_body_that_is_too_large_is_refused(site: tuple[httpx.Client, str]) -> None:
    client, token = site
    huge = json.dumps({"question": "x" * 3_000_000}).encode()
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    refused = client.post("/api/v1/ai/query", content=huge, headers=headers).status_code
    assert refused in {413, 502}  # Caddy 2.6 stops in the middle of passing it on, and says so
