"""Servers of the tests in containers: where an engine answers and holds the image that the environment names
(`EXHIBIT_TEST_POSTGRES_IMAGE`, `_NEO4J_`, `_OPENSEARCH_`, `_OLLAMA_`), or else that of `compose.yaml`. Nothing is fetched.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import docker  # which testcontainers brings
import httpx
import psycopg
import yaml
from docker.errors import DockerException
from neo4j import GraphDatabase
from neo4j.exceptions import Neo4jError, ServiceUnavailable

COMPOSE = Path(__file__).parents[2] / "compose.yaml"
READY_S = 180
_ENGINE_S = 20


class NotReady(AssertionError):
    """Raised for a server that does not answer in time."""


def image_of(service: str) -> str | None:
    """The image for a service of `compose.yaml`; None where no engine answers, or it lacks the image."""
    if named := os.environ.get(f"EXHIBIT_TEST_{service.upper()}_IMAGE"):
        return named
    image: str = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"][service]["image"]
    if not _listens(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")):
        return None
    try:
        with closing(docker.from_env(timeout=_ENGINE_S)) as client:
            client.images.get(image)
    except DockerException:
        return None
    return image


def _listens(engine: str) -> bool:
    """Whether anybody is there: the client leaves its socket open where nobody is."""
    scheme, _, place = engine.partition("://")
    if scheme != "unix":
        return True
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(_ENGINE_S)
        try:
            asked.connect(place)
        except OSError:
            return False
    return True


@contextmanager
def postgres(image: str) -> Iterator[str]:
    """Its DSN, as a superuser."""
    password = secrets.token_hex(16)
    environment = {"POSTGRES_USER": "exhibit", "POSTGRES_DB": "exhibit", "POSTGRES_PASSWORD": password}
    with _running(image, 5432, environment) as address:
        dsn = f"postgresql://exhibit:{password}@{address}/exhibit"
        until(lambda: psycopg.connect(dsn, connect_timeout=5).close(), psycopg.OperationalError)
        yield dsn


@contextmanager
def neo4j(image: str) -> Iterator[tuple[str, str]]:
    """Its address and the password of the user `neo4j`."""
    password = secrets.token_hex(16)
    with _running(image, 7687, {"NEO4J_AUTH": f"neo4j/{password}"}) as address:
        uri = f"bolt://{address}"
        with GraphDatabase.driver(uri, auth=("neo4j", password)) as driver:
            until(driver.verify_connectivity, ServiceUnavailable, Neo4jError, OSError)
        yield uri, password


@contextmanager
def opensearch(image: str) -> Iterator[str]:
    """Its address; it asks for no credentials."""
    environment = {
        "discovery.type": "single-node",
        "DISABLE_SECURITY_PLUGIN": "true",
        "DISABLE_INSTALL_DEMO_CONFIG": "true",
        "OPENSEARCH_JAVA_OPTS": "-Xms512m -Xmx512m",
    }
    with _running(image, 9200, environment) as address:
        url = f"http://{address}"
        until(lambda: _succeeds(f"{url}/_cluster/health?wait_for_status=yellow"), httpx.HTTPError)
        yield url


@contextmanager
def ollama(image: str) -> Iterator[str]:
    """Its address, without a model."""
    with _running(image, 11434, {"OLLAMA_KEEP_ALIVE": "30m", "OLLAMA_NUM_PARALLEL": "1"}) as address:
        url = f"http://{address}"
        until(lambda: _succeeds(f"{url}/api/version"), httpx.HTTPError)
        yield url


@contextmanager
def _running(image: str, port: int, environment: Mapping[str, str]) -> Iterator[str]:
    """`host:port` of a container of the image, which is gone afterwards."""
    from testcontainers.core.container import DockerContainer  # reads the environment when it is imported

    container = DockerContainer(image).with_exposed_ports(port)
    for name, value in environment.items():
        container = container.with_env(name, value)
    with container:
        try:
            yield f"{container.get_container_host_ip()}:{container.get_exposed_port(port)}"
        except NotReady as exc:
            out, err = container.get_logs()
            exc.add_note(
                f"the container is {container.status}; it said:\n{(out + err).decode(errors='replace')[-3000:]}"
            )
            raise


def _succeeds(url: str) -> None:
    httpx.get(url, timeout=10, trust_env=False).raise_for_status()


def until(asked: Callable[[], object], *not_yet: type[Exception]) -> None:
    """Raises `NotReady`, from the last error, where the server does not answer in time."""
    ends_s = time.monotonic() + READY_S
    while True:
        try:
            asked()
        except not_yet as exc:
            if time.monotonic() > ends_s:
                raise NotReady(f"no answer within {READY_S} s") from exc
            time.sleep(0.2)
        else:
            return
