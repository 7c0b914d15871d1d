"""The sample corpus taken in, and asked, by one configuration or another: what is compared between stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from api import wiring
from api.home.configuration import Configuration
from api.measure.demonstration import without_identity
from tests.harness import KANSAS, ask


async def ingested(configuration: Configuration) -> str:
    """The manifest hash of the corpus, by the report of its ingest, which is that of the store."""
    async with wiring.open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=KANSAS)
    assert not report.failed
    async with wiring.open_indexes(configuration) as (store, _, _):
        assert await store.manifest_hash("default") == report.manifest_hash
    return report.manifest_hash


async def answered(configuration: Configuration, questions: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The body of each question's answer, without ids and times."""
    async with wiring.open_system(configuration) as system:
        return {question: without_identity(await ask(system, question)) for question in questions}
