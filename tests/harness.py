"""The whole product in a folder, for tests that ask questions: ingest through the public pipeline, ask through the
orchestrator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ai.case.case import Services
from ai.focus_pipeline import answer
from ai.model import Ask, MapContext, Options
from api import wiring
from api.home.configuration import load
from policy.model import Subject
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.report import IngestReport
from tests.shipped_terms import shipped_terms

KANSAS = Path(__file__).parents[1] / "examples" / "kansas" / "manifest.toml"


async def ingest(
    home: Path, *, paths: Sequence[Path] = (), manifest: Path | None = None, tenant: str = "default", **access: str
) -> IngestReport:
    """Takes files into the home, as `exhibit ingest` does; a failed file fails the test."""
    await asyncio.to_thread(home.mkdir, parents=True, exist_ok=True)
    async with wiring.open_indexes(load({}, home=home)) as (store, _, indexes):
        report = await Ingest(terms=shipped_terms, store=store, indexes=indexes).run(
            paths, tenant=tenant, manifest=manifest, **access
        )
    assert not report.failed, report.failed
    return report


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[wiring.System]:
    """The home's system, with the default settings."""
    async with wiring.open_system(load({}, home=home)) as system:
        yield system


def subject(
    system: wiring.System,
    role: str = "public_viewer",
    *,
    tenant: str = "default",
    groups: Sequence[str] = (),
    id: str = "tester",
) -> Subject:
    """A subject of that role."""
    return Subject.of(id=id, tenant=tenant, roles=(role,), groups=tuple(groups), data=system.data)


async def ask(
    system: wiring.System,
    question: str,
    *,
    role: str = "public_viewer",
    tenant: str = "default",
    groups: Sequence[str] = (),
    context: MapContext = MapContext(),  # noqa: B008  frozen
    options: Options = Options(),  # noqa: B008  frozen
    services: Services | None = None,
) -> dict[str, Any]:
    """The wire body for one question."""
    request = Ask(
        request_id=wiring.new_id(),
        question=question,
        subject=subject(system, role, tenant=tenant, groups=groups),
        context=context,
        options=options,
    )
    answered = await answer(request, services=services or system.services, profile=system.profile(options.profile))
    return dict(answered.body)


def with_services(system: wiring.System, **changes: Any) -> Services:
    """The system's services with some of them replaced."""
    return replace(system.services, **changes)


def settled(body: dict[str, Any]) -> str:
    """A body without ids, times and receipts: equal for equal answers."""
    kept = {key: value for key, value in body.items() if key not in {"request_id", "timings_ms", "promise"}}
    kept["provenance"] = {k: v for k, v in body["provenance"].items() if k not in {"entry_id", "receipt"}}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False).replace(body["provenance"]["entry_id"], "")
