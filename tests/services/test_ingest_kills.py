"""`kill -9` in the middle of an ingest into the real servers: whatever is active is whole in every store, at any moment,
and a resumed run ends with the corpus that an undisturbed one gives."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from api import wiring
from api.home.configuration import Configuration, load
from retrieval.errors import ChannelUnavailable
from retrieval.ingest.pipeline import Ingest
from tests.services.neo4j_server import Address, neo4j_server
from tests.services.postgres_backends import schema_of
from tests.shipped_terms import shipped_terms

pytestmark = pytest.mark.services
__all__ = ["neo4j_server"]
ROOT = Path(__file__).parents[2]
FILES, KILLS, GROUP = 24, 4, 40
BOUND_S = 300
WORKER = f"""
import asyncio, sys
from pathlib import Path
from api import wiring
from api.home.configuration import load
from retrieval.ingest.label import AccessTerms
from retrieval.ingest.pipeline import Ingest
import os

async def main(home):
    names = ("POSTGIS_DSN", "NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "OPENSEARCH_URL",
             "EXHIBIT_STORES__OPENSEARCH_INDEX")
    configuration = load({{name: os.environ[name] for name in names}}, home=home)
    async with wiring.open_indexes(configuration) as (store, _, indexes):
        ingest = Ingest(terms=lambda: AccessTerms(("public",)), store=store, indexes=indexes, group_records={GROUP})
        print("ready", flush=True)
        report = await ingest.run([home / "files"], tenant="default", collection="kansas", label="public", resume=True,
            progress=lambda job: print(job.state, flush=True))
    print(report.manifest_hash, len(report.failed), flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture
def environment(
    postgres_dsn: str, neo4j_server: Address, opensearch_url: str, tmp_path: Path
) -> Iterator[dict[str, str]]:
    """All servers, with a database and names of this test's own."""
    name = schema_of(tmp_path)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield {
        "POSTGIS_DSN": conninfo.make_conninfo(postgres_dsn, dbname=name),
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USER": neo4j_server.user,
        "NEO4J_PASSWORD": neo4j_server.password,
        "OPENSEARCH_URL": opensearch_url,
        "EXHIBIT_STORES__OPENSEARCH_INDEX": name.replace("_", "-"),
    }
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def _written(home: Path) -> Path:
    (home / "files").mkdir(parents=True)
    for i in range(FILES):
        words = " ".join(f"Settler {j} of the town came to Kansas in {1850 + (i + j) % 40}." for j in range(60 + i))
        (home / "files" / f"{i:02d}.txt").write_text(words, encoding="utf-8")
    return home


async def _undisturbed(home: Path) -> tuple[str, Counter[str]]:
    """Hash of the corpus, and records per document, of a run into the folder."""
    async with wiring.open_indexes(load({}, home=home)) as (store, _, indexes):
        ingest = Ingest(terms=shipped_terms, store=store, indexes=indexes)
        report = await ingest.run([home / "files"], tenant="default", collection="kansas", label="public")
        batch = await store.batch("default", [d.document_id for d in await store.stored("default")])
    return report.manifest_hash, Counter(record.document_id for record in batch.records)


async def _whole(configuration: Configuration, expected: Counter[str]) -> int:
    """Checks that every active document is whole, in the store of record and in all channels; how many there are."""
    async with wiring.open_indexes(configuration) as (store, _, indexes):
        try:
            active = {document.document_id for document in await store.stored("default")}
        except Exception as exc:
            assert "nothing has been ingested" in str(exc)
            return 0
        batch = await store.batch("default", active)
        held = Counter(record.document_id for record in batch.records)
        assert held == Counter({document_id: expected[document_id] for document_id in active})
        for index in indexes:
            assert active <= await index.documents(), index.name
    return len(active)


@contextmanager
def _ingesting(home: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WORKER, str(home)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, cwd=ROOT
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _states(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line.strip()


def test_nothing_half_is_ever_seen_and_a_resumed_run_ends_with_the_same_corpus(
    environment: dict[str, str], tmp_path: Path
) -> None:
    expected_hash, expected = asyncio.run(_undisturbed(_written(tmp_path / "whole")))
    home = _written(tmp_path / "killed")
    configuration = load(environment, home=home)
    chance = random.Random(7)
    seen: list[int] = []
    for kill in range(KILLS):
        with _ingesting(home, environment) as process:
            # It is killed somewhere in the indexing of a group: after so many files were handed over, and a moment.
            wanted = 2 + kill * 3
            for state in _states(process):
                wanted -= state == "indexing"
                if wanted <= 0:
                    break
            time.sleep(chance.uniform(0.0, 1.0))
            process.send_signal(signal.SIGKILL)
        seen.append(asyncio.run(_whole(configuration, expected)))
    with _ingesting(home, environment) as process, _watching(configuration, expected) as watched:
        told = list(_states(process))
    assert told[-1] == f"{expected_hash} 0"
    assert asyncio.run(_whole(configuration, expected)) == FILES
    assert seen == sorted(seen)  # what is active stays
    assert seen[-1] < FILES, "no kill hit the run"
    assert watched, "nobody looked meanwhile"


@contextmanager
def _watching(configuration: Configuration, expected: Counter[str]) -> Iterator[list[int]]:
    """Looks again and again while an ingest runs."""
    ended, seen = threading.Event(), list[int]()
    faults: list[BaseException] = []

    def look() -> None:
        try:
            while not ended.is_set():
                # An index that is published in this instant may say that it is not ready; then it shows nothing.
                with suppress(ChannelUnavailable):
                    seen.append(asyncio.run(_whole(configuration, expected)))
        except BaseException as exc:
            faults.append(exc)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        ended.set()
        looking.join(BOUND_S)
    if faults:
        raise faults[0]
