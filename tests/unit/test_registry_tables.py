"""A store of an earlier version gets the table that it lacks, as the tables are declared."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from retrieval.registry.sql.tables import Base, ddl
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.registry.store import KnowledgeBase


async def written(path: Path, name: str) -> None:
    store = open_sqlite_store(path)
    await store.put_collection(KnowledgeBase(f"c-{name}", "t", name, name))
    await store.aclose()


def schema_of(path: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(path) as db:
        return db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()


async def test_a_store_of_an_earlier_version_is_brought_up_to_the_declaration(tmp_path: Path) -> None:
    path = tmp_path / "record.sqlite"
    await written(path, "one")
    declared = schema_of(path)
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE document_field")
    assert len(schema_of(path)) < len(declared)
    await written(path, "two")
    assert schema_of(path) == declared
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT name FROM collection ORDER BY name").fetchall() == [("one",), ("two",)]


def test_the_statements_of_one_table_are_among_those_of_all() -> None:
    for dialect in ("sqlite", "postgresql"):
        parts = [ddl(dialect, only=name) for name in Base.metadata.tables]
        assert all(parts)
        assert sorted(s for part in parts for s in part) == sorted(ddl(dialect))
