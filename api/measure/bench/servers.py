"""The same corpus and questions with the stores on servers. They must hold nothing; afterwards the channels hold
nothing again, and the database, which was made for this run, can be dropped."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from api.errors import ExpectationFailed
from api.home.configuration import Configuration, load
from api.measure.bench.beside import measure_beside
from api.measure.bench.load import measure_load
from api.measure.bench.machine import disk_mib, peak_memory_mib
from api.measure.bench.model import IngestFigures, ServerFigures
from api.measure.bench.workload.questions import Question
from api.wiring import open_indexes, open_ingest
from retrieval.errors import StoreUnavailable
from retrieval.registry.store import FileJob

_NAMED = ("NEO4J_", "POSTGIS_DSN", "OPENSEARCH_", "EXHIBIT_STORES__")
_TIMES = "EXHIBIT_RETRIEVAL__DEADLINE_MS__"


def server_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Servers for the channels as the environment names them, and how long they may take."""
    return {name: value for name, value in environment.items() if name.startswith((*_NAMED, _TIMES))}


def require_empty(settings: Mapping[str, str], home: Path) -> None:
    """Raises ExpectationFailed for servers that hold somebody's corpus, before anything else is measured."""
    home.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(_require_empty(load(settings, home=home)))
    finally:
        shutil.rmtree(home)


def measure(
    settings: Mapping[str, str],
    home: Path,
    manifests: Mapping[str, Path],
    asked: Sequence[Question],
    *,
    folder: Path,
    rounds: int,
) -> ServerFigures:
    """The figures; `folder` is the home that holds the same corpus. Raises ExpectationFailed for servers that hold
    somebody's corpus, and where a file is not taken in."""
    shutil.rmtree(home, ignore_errors=True)
    return asyncio.run(_measure(load(settings, home=home), load({}, home=folder), manifests, asked, rounds))


async def _measure(
    configuration: Configuration,
    folder: Configuration,
    manifests: Mapping[str, Path],
    asked: Sequence[Question],
    rounds: int,
) -> ServerFigures:
    await _require_empty(configuration)
    try:
        ingested = await _take_in(configuration, manifests)
        load_there = await measure_load(configuration, asked, rounds=rounds)
        beside = await measure_beside(configuration, folder, asked, rounds=rounds)
        return ServerFigures(ingested, load_there, beside)
    finally:
        await _clear(configuration)


async def _require_empty(configuration: Configuration) -> None:
    async with open_indexes(configuration) as (store, _, indexes):
        await store.put_files([])  # makes the store, so that it can be read
        try:
            held = bool(await store.tenants()) or any([await index.documents() for index in indexes])
        except StoreUnavailable as exc:
            raise ExpectationFailed("the servers of the benchmark do not answer") from exc
    if held:
        raise ExpectationFailed("the servers hold a corpus; the benchmark needs a database and indexes of its own")


async def _take_in(configuration: Configuration, manifests: Mapping[str, Path]) -> IngestFigures:
    jobs: list[FileJob] = []
    started = time.perf_counter()
    async with open_ingest(configuration) as ingest:
        for tenant, manifest in manifests.items():
            jobs += (await ingest.run([], tenant=tenant, manifest=manifest)).files
    bad = [job for job in jobs if job.state != "done"]
    if bad:
        raise ExpectationFailed(f"{bad[0].path} was not ingested: {bad[0].error_code}")
    seconds = round(time.perf_counter() - started, 3)
    passages = sum(job.passages for job in jobs)
    records = passages + sum(job.observations + job.features for job in jobs)
    return IngestFigures(len(jobs), passages, records, seconds, peak_memory_mib(), disk_mib(configuration.home))


async def _clear(configuration: Configuration) -> None:
    async with open_indexes(configuration) as (_, _, indexes):
        for index in indexes:
            await index.clear()
            await index.commit()
