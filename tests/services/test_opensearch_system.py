"""The sample corpus in the folder and with its full text on OpenSearch: the same questions, the same answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch
from typer.testing import CliRunner

from api import wiring
from api.cli.main import app
from api.home.configuration import Configuration, load
from retrieval.model import Query
from retrieval.scope import Scope
from tests.golden.test_kansas import ABSTAINED, ANSWERED
from tests.services.opensearch_backend import DEADLINE_S, RUN, wipe
from tests.services.sample_corpus import answered, ingested

pytestmark = pytest.mark.services
QUESTIONS = (*ANSWERED, *ABSTAINED)
# Shared machines are slow.
DEADLINES = {f"EXHIBIT_RETRIEVAL__DEADLINE_MS__{name}": "60000" for name in ("GRAPH", "SPATIAL", "FULLTEXT", "VECTOR")}


@dataclass(frozen=True)
class Both:
    """What each question gave in the folder and on the server, and the hashes of the two corpora."""

    embedded: Mapping[str, dict[str, Any]]
    real: Mapping[str, dict[str, Any]]
    hashes: tuple[str, str]
    configuration: Configuration


@pytest.fixture(scope="module")
def both(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    environment = {"OPENSEARCH_URL": opensearch_url, "EXHIBIT_STORES__OPENSEARCH_INDEX": f"{RUN}-kansas", **DEADLINES}
    yield asyncio.run(_both(tmp_path_factory.mktemp("both"), environment))
    asyncio.run(wipe(opensearch_url))


async def _both(folder: Path, environment: Mapping[str, str]) -> Both:
    embedded, real = load(DEADLINES, home=folder / "a"), load(environment, home=folder / "b")
    hashes = await ingested(embedded), await ingested(real)
    return Both(await answered(embedded, QUESTIONS), await answered(real, QUESTIONS), hashes, real)


def test_the_corpus_has_one_hash_whichever_store_indexes_it(both: Both) -> None:
    assert both.hashes[0] == both.hashes[1]


def test_the_server_answered(both: Both) -> None:
    assert "'opensearch'" in str(both.real)
    assert "'opensearch'" not in str(both.embedded)
    assert not (both.configuration.home / "fulltext").exists()
    assert [x["limitations"] for x in both.real.values()] == [x["limitations"] for x in both.embedded.values()]


def test_the_same_outcomes_and_computed_answers(both: Both) -> None:
    for question in QUESTIONS:
        embedded, real = both.embedded[question], both.real[question]
        assert real["outcome"] == embedded["outcome"], question
        kinds = {citation["kind"] for citation in embedded["citations"].values()}
        if kinds & {"computed", "observation"}:
            assert real["answer"] == embedded["answer"], question


def test_the_same_first_citation_for_nine_of_ten_questions(both: Both) -> None:
    differ = [q for q in QUESTIONS if _first(both.embedded[q]) != _first(both.real[q])]
    assert len(differ) <= 0.1 * len(QUESTIONS), differ


async def test_the_same_passages_are_found(both: Both, tmp_path: Path) -> None:
    """Of what the folder's index ranks among its first ten, the server finds nine of ten among its first twenty."""
    folder = load(DEADLINES, home=both.configuration.home.with_name("a"))
    found = []
    for configuration, top_k in ((folder, 10), (both.configuration, 20)):
        async with wiring.open_system(configuration) as system:
            scope = Scope.of("default", await system.services.store.classes("default"))
            (channel,) = (c for c in system.services.channels if c.name == "fulltext")
            runs = [await channel.search(Query(question, scope, top_k)) for question in QUESTIONS]
            found.append([{hit.record_id for hit in run.hits} for run in runs])
    shared = sum(len(a & b) for a, b in zip(*found, strict=True))
    assert shared >= 0.9 * sum(map(len, found[0]))


def test_doctor_and_rebuild_speak_of_the_server(
    both: Both, monkeypatch: pytest.MonkeyPatch, opensearch_url: str
) -> None:
    home = ["--home", str(both.configuration.home), "--json"]
    for name, value in {**DEADLINES, "EXHIBIT_STORES__OPENSEARCH_INDEX": f"{RUN}-kansas"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENSEARCH_URL", opensearch_url)
    assert CliRunner().invoke(app, ["index", "rebuild", *home]).exit_code == 0
    found = _findings(["doctor", *home])
    assert found["server fulltext"]["state"] == "ok", found
    assert found["index fulltext"]["state"] == "ok", found
    asyncio.run(_spoil(opensearch_url))
    found = _findings(["doctor", *home])
    assert found["index fulltext"]["state"] == "failed"
    assert found["index fulltext"]["next"] == "exhibit index rebuild"
    assert CliRunner().invoke(app, ["index", "rebuild", *home]).exit_code == 0
    assert _findings(["doctor", *home])["index fulltext"]["state"] == "ok"
    monkeypatch.setenv("OPENSEARCH_URL", "http://127.0.0.1:1")
    found = _findings(["doctor", *home])
    assert found["server fulltext"]["state"] == "failed"
    assert "cannot be reached" in found["server fulltext"]["detail"]
    assert "OPENSEARCH_URL" in found["server fulltext"]["next"]


async def _spoil(url: str) -> None:
    """Somebody else changes the mapping of an index."""
    async with AsyncOpenSearch(url, timeout=DEADLINE_S) as client:
        versions = [name for name in await client.indices.get_alias(index=f"{RUN}-kansas-*") if "-state" not in name]
        await client.indices.put_mapping(index=versions[0], body={"properties": {"extra": {"type": "keyword"}}})


def _findings(arguments: list[str]) -> dict[str, dict[str, Any]]:
    return {finding["name"]: finding for finding in json.loads(CliRunner().invoke(app, arguments).stdout)}


def _first(body: Mapping[str, Any]) -> Any:
    for citation in body["citations"].values():
        return {k: citation.get(k) for k in ("kind", "record_id", "quote", "locator", "operation", "result")}
    return None
