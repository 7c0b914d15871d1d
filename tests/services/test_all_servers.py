"""The sample corpus in the folder and on Neo4j, PostgreSQL, OpenSearch and OPA at once: the same questions, the same
outcomes, the same places cited."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from api.home.configuration import Configuration, load
from policy.authoring.server_bundle import server_bundle
from tests.golden.test_kansas import ABSTAINED, ANSWERED
from tests.opa_server import TOKEN, OpaServer, pinned_opa, serving
from tests.services import test_neo4j_same_run, test_opensearch_system
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture
from tests.services.opensearch_backend import RUN, wipe
from tests.services.sample_corpus import answered, ingested

pytestmark = pytest.mark.services
DATABASE = "kansas_on_all"
PREFIX = f"{RUN}-all"
QUESTIONS = tuple(dict.fromkeys((*ANSWERED, *ABSTAINED, *test_neo4j_same_run.QUESTIONS)))
PATIENT = {
    **test_opensearch_system.DEADLINES,
    "EXHIBIT_STORES__DEADLINE_MS": "60000",
    "EXHIBIT_POLICY__DEADLINE_MS": "60000",
}


@dataclass(frozen=True)
class Both:
    """What each question gave in the folder and on the servers, and the hashes of the two corpora."""

    embedded: Mapping[str, dict[str, Any]]
    real: Mapping[str, dict[str, Any]]
    hashes: tuple[str, str]


@pytest.fixture(scope="module")
def both(
    postgres_dsn: str,
    neo4j_server: Address,  # noqa: F811
    opensearch_url: str,
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {DATABASE}".encode())
    folder = tmp_path_factory.mktemp("all")
    with serving(OpaServer(pinned_opa(pytestconfig), folder), server_bundle()) as opa:
        environment = {
            **PATIENT,
            "POSTGIS_DSN": conninfo.make_conninfo(postgres_dsn, dbname=DATABASE),
            "NEO4J_URI": neo4j_server.uri,
            "NEO4J_USER": neo4j_server.user,
            "NEO4J_PASSWORD": neo4j_server.password,
            "OPENSEARCH_URL": opensearch_url,
            "EXHIBIT_STORES__OPENSEARCH_INDEX": PREFIX,
            "OPA_URL": opa.url,
            "EXHIBIT_STORES__OPA_TOKEN": TOKEN,
        }
        yield asyncio.run(_both(load(PATIENT, home=folder / "a"), load(environment, home=folder / "b")))
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)".encode())
    asyncio.run(wipe(opensearch_url))


async def _both(embedded: Configuration, real: Configuration) -> Both:
    hashes = await ingested(embedded), await ingested(real)
    return Both(await answered(embedded, QUESTIONS), await answered(real, QUESTIONS), hashes)


def test_the_corpus_has_one_hash(both: Both) -> None:
    assert both.hashes[0] == both.hashes[1]


def test_every_store_answered_from_its_server(both: Both) -> None:
    stores = {store for body in both.real.values() for store in _stores(body)}
    assert stores >= {"neo4j", "postgis", "pgvector", "opensearch"}
    assert not stores & {"sqlite", "tantivy", "numpy"}
    assert {body["policy"]["engine"] for body in both.real.values()} == {"opa:1.22.0"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_outcome_and_the_same_figures(both: Both, question: str) -> None:
    embedded, real = both.embedded[question], both.real[question]
    assert (real["outcome"], real["limitations"]) == (embedded["outcome"], embedded["limitations"])
    if {citation["kind"] for citation in embedded["citations"].values()} & {"computed", "observation"}:
        assert real["answer"] == embedded["answer"]
        assert list(map(_cited, real["citations"].values())) == list(map(_cited, embedded["citations"].values()))


def test_the_same_first_citation(both: Both) -> None:
    differ = {q for q in QUESTIONS if _first(both.embedded[q]) != _first(both.real[q])}
    assert not differ


def _stores(body: Mapping[str, Any]) -> set[str]:
    return {item["store"] for item in (*body["evidence"], *body["citations"].values())}


def _first(body: Mapping[str, Any]) -> Any:
    return next(map(_cited, body["citations"].values()), None)


def _cited(citation: Mapping[str, Any]) -> dict[str, Any]:
    """What is cited, without where it lay."""
    return {name: value for name, value in citation.items() if name not in {"store", "channel", "score"}}
