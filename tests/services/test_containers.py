"""The same server in a container: by testcontainers, and as the service of `compose.yaml`, both over podman."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import psycopg
import pytest

from api import wiring
from api.home.configuration import load
from tests.api_world import POPULATION, make_world
from tests.harness import ask
from tests.services import containers
from tests.services.postgres_server import free_port

pytestmark = pytest.mark.services
RECIPE = Path(__file__).with_name("podman.sh")
ROOT = Path(__file__).parents[2]
READY_S = 180


@pytest.fixture(scope="module")
def engine() -> Iterator[Mapping[str, str]]:
    """The environment of a container engine that answers."""
    if os.getuid() != 0:
        pytest.skip("podman is tried as root only, and this is not root")
    prepared = subprocess.run([RECIPE, "prepare"], capture_output=True, text=True, check=False)
    assert prepared.returncode == 0, prepared.stderr[-2000:]
    told = subprocess.run([RECIPE, "env"], capture_output=True, text=True, check=True).stdout
    environment = dict(line.split("=", 1) for line in told.splitlines())
    socket = Path(environment["DOCKER_HOST"].removeprefix("unix://"))
    with _served(socket), _set(environment):
        yield environment


@contextmanager
def _served(socket: Path) -> Iterator[None]:
    socket.unlink(missing_ok=True)
    process = subprocess.Popen(
        [RECIPE, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        ends = time.monotonic() + READY_S
        while not socket.exists():
            assert process.poll() is None, "podman does not serve"
            assert time.monotonic() < ends, "podman does not serve in time"
            time.sleep(0.1)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


@contextmanager
def _set(environment: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


async def _answers(dsn: str, folder: Path) -> None:
    """The whole way: ingest into the server, ask, be answered from it."""
    world = await make_world(folder, {"POSTGIS_DSN": dsn})
    patient = {"EXHIBIT_STORES__DEADLINE_MS": "30000", "EXHIBIT_RETRIEVAL__DEADLINE_MS__SPATIAL": "30000"}
    async with wiring.open_system(load({"POSTGIS_DSN": dsn} | patient, home=world.configuration.home)) as system:
        body = await ask(system, POPULATION)
    assert body["outcome"] == "ANSWER"
    assert "85,200" in body["answer"]
    assert {"postgis"} <= {citation["store"] for citation in body["citations"].values()}


async def test_a_container_of_testcontainers_holds_the_stores(engine: Mapping[str, str], tmp_path: Path) -> None:
    with containers.postgres(engine["EXHIBIT_TEST_POSTGRES_IMAGE"]) as dsn:
        await _answers(dsn, tmp_path)


def test_a_container_is_taken_where_the_engine_holds_the_image(
    engine: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = engine["EXHIBIT_TEST_POSTGRES_IMAGE"]
    assert containers.image_of("postgres") == named
    monkeypatch.delenv("EXHIBIT_TEST_POSTGRES_IMAGE")
    assert [containers.image_of(name) for name in ("postgres", "neo4j", "opensearch", "ollama")] == [None] * 4
    with closing(docker.from_env()) as client:
        client.images.get(named).tag("exhibit-postgres", "17-3.5-0.8")
        try:
            assert containers.image_of("postgres") == "exhibit-postgres:17-3.5-0.8"
        finally:
            client.images.remove("exhibit-postgres:17-3.5-0.8")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert containers.image_of("postgres") is None


def test_compose_brings_the_service_up_and_takes_it_down(engine: Mapping[str, str], tmp_path: Path) -> None:
    port = free_port()
    secret = tmp_path / "env"
    password = secrets.token_hex(16)
    needed = ("POSTGRES_SUPERUSER_PASSWORD", "NEO4J_PASSWORD", "OPENSEARCH_PASSWORD", "OPA_TOKEN")
    others = [f"{name}={secrets.token_hex(8)}" for name in needed]
    lines = [f"POSTGRES_PASSWORD={password}", f"EXHIBIT_POSTGRES_PORT={port}", *others]
    secret.write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = ["-f", str(ROOT / "compose.yaml"), "-f", str(Path(__file__).with_name("compose.local.yaml"))]
    command = [
        str(Path(sys.executable).with_name("podman-compose")),
        "--env-file",
        str(secret),
        "-p",
        f"exhibit-test-{port}",
        *files,
        "--profile",
        "postgres",
    ]
    try:
        up = subprocess.run([*command, "up", "-d"], capture_output=True, text=True, check=False, cwd=ROOT)
        assert up.returncode == 0, up.stderr[-2000:]
        dsn = f"postgresql://exhibit:{password}@127.0.0.1:{port}/exhibit"
        try:
            containers.until(lambda: psycopg.connect(dsn, connect_timeout=5).close(), psycopg.OperationalError)
        except containers.NotReady as exc:
            told = subprocess.run([*command, "logs"], capture_output=True, text=True, check=False, cwd=ROOT)
            exc.add_note(told.stdout[-3000:])
            raise
        asyncio.run(_answers(dsn, tmp_path))
        _is_held_by_row_security(dsn)
        shown = subprocess.run([*command, "ps"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
        assert shown.count(f"exhibit-test-{port}_") == 1  # the profile starts its own service and no other
    finally:
        subprocess.run([*command, "down", "-v"], capture_output=True, check=False, cwd=ROOT)


def _is_held_by_row_security(dsn: str) -> None:
    """The role of the service is an ordinary one: without a scope it sees nothing of what it wrote itself."""
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() == (False,)
        assert connection.execute("SELECT count(*) FROM exhibit.record").fetchone() == (0,)
        connection.execute("SELECT set_config('exhibit.access', 'whole', true)")
        assert connection.execute("SELECT count(*) > 0 FROM exhibit.record").fetchone() == (True,)
