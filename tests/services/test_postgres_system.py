"""The sample corpus in the folder and in PostgreSQL: the same questions, the same answers, the same places cited."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from api.home.configuration import load
from tests.golden.test_kansas import ABSTAINED, ANSWERED
from tests.services.sample_corpus import answered, ingested

pytestmark = pytest.mark.services

QUESTIONS = (*ANSWERED, *ABSTAINED)
READER = "exhibit_reader"


@dataclass(frozen=True)
class Both:
    """What each question gave in the folder and on the server, and the hashes of the two corpora; `home` is the folder
    of the second."""

    embedded: dict[str, dict[str, Any]]
    real: dict[str, dict[str, Any]]
    hashes: tuple[str, str]
    home: Path


@pytest.fixture(scope="module")
def both(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    name = "kansas_corpus"
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {name}".encode())
    folder = tmp_path_factory.mktemp("both")
    dsn = conninfo.make_conninfo(postgres_dsn, dbname=name)
    yield asyncio.run(_both(folder, dsn))
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
        connection.execute(f"DROP ROLE {READER}".encode())


async def _both(folder: Path, dsn: str) -> Both:
    embedded, real = load({}, home=folder / "a"), load({"POSTGIS_DSN": dsn}, home=folder / "b")
    hashes = await ingested(embedded), await ingested(real)
    reading = load({"POSTGIS_DSN": await asyncio.to_thread(_reader, dsn)}, home=folder / "b")
    return Both(await answered(embedded, QUESTIONS), await answered(reading, QUESTIONS), hashes, reading.home)


def _reader(dsn: str) -> str:
    """A role that can read the corpus and do nothing else: what answers questions needs no more."""
    password = "reads-only"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"DROP ROLE IF EXISTS {READER}".encode())
        connection.execute(f"CREATE ROLE {READER} LOGIN PASSWORD '{password}'".encode())
        connection.execute(f"GRANT USAGE ON SCHEMA exhibit TO {READER}".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA exhibit TO {READER}".encode())
    return conninfo.make_conninfo(dsn, user=READER, password=password)


def test_the_corpus_has_one_hash_whichever_store_holds_it(both: Both) -> None:
    assert both.hashes[0] == both.hashes[1]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_outcome_answer_and_first_citation(both: Both, question: str) -> None:
    embedded, real = both.embedded[question], both.real[question]
    assert real["outcome"] == embedded["outcome"], real["limitations"]
    assert real["answer"] == embedded["answer"]
    assert _first(real) == _first(embedded)
    assert [x["code"] for x in real["limitations"]] == [x["code"] for x in embedded["limitations"]]


def test_the_real_stores_answered(both: Both) -> None:
    assert "'pgvector'" in str(both.real)
    assert "'pgvector'" not in str(both.embedded)


def _first(body: dict[str, Any]) -> Any:
    for citation in body["citations"].values():
        return {k: citation.get(k) for k in ("kind", "record_id", "quote", "locator", "operation", "result")}
    return None


def test_no_part_of_the_corpus_lies_in_the_folder(both: Both) -> None:
    found = {path.name for path in both.home.iterdir()}
    assert "ledger.sqlite" in found
    assert not found & {"record.sqlite", "spatial.sqlite", "vector"}
