"""The Kansas corpus, ingested once for a test process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api import wiring
from tests.harness import KANSAS, ingest, opened


@pytest.fixture(scope="session")
def kansas_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds the sample corpus; tests that change it copy it first."""
    home = tmp_path_factory.mktemp("kansas") / "home"
    asyncio.run(ingest(home, manifest=KANSAS))
    return home


@pytest_asyncio.fixture
async def kansas(kansas_home: Path) -> AsyncIterator[wiring.System]:
    """The system over the sample corpus."""
    async with opened(kansas_home) as system:
        yield system
