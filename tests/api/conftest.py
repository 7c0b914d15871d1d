"""The application over one small home, opened once; clients on loopback, from afar, and with keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager
from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api.http.app import create_app
from tests.api_world import World, make_world

Connect = Callable[..., httpx.AsyncClient]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return await make_world(tmp_path_factory.mktemp("edge"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def app(world: World) -> AsyncIterator[FastAPI]:
    application = create_app(world.configuration)
    async with LifespanManager(application, startup_timeout=60, shutdown_timeout=60):
        yield application


@pytest.fixture(scope="session")
def connect(app: FastAPI, world: World) -> Connect:
    """A client: with the named key or none, from this address."""

    def make(key: str | None = None, *, address: str = "127.0.0.1", host: str = "127.0.0.1") -> httpx.AsyncClient:
        headers = {} if key is None else {"authorization": f"Bearer {world.tokens[key]}"}
        transport = httpx.ASGITransport(app=app, client=(address, 50_000), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers)

    return make


@pytest.fixture
def client(connect: Connect) -> httpx.AsyncClient:
    """Nobody in particular, on loopback."""
    return connect()


@pytest.fixture(scope="session")
def exporter() -> InMemorySpanExporter:
    """Keeps what this process traces; the provider of a process can be set once."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return kept


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    """Nothing traced yet."""
    exporter.clear()
    return exporter


@pytest.fixture(scope="session")
def home(world: World) -> Path:
    return world.configuration.home
