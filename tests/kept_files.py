"""Every kept database file of a home, each with a planted next version: one step of real statements, through the
machinery that a release would use.

    python -m tests.kept_files NAME PATH     brings that file to its planted version, for tests that kill it
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from api.home import request_records
from api.home.identity import keys
from api.home.kept_file import KeptSchema, bring_up_to_date
from ledger.stores.sqlite import schema as sqlite_schema
from ledger.witnesses import sqlite as witness_sqlite
from retrieval.registry import sqlite as record_sqlite

ROWS = 200_000


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of a home or of a witness, today's schema, and a table of it that always has rows."""

    path: str
    schema: KeptSchema
    table: str

    def planted(self, rows: int = 100) -> KeptSchema:
        """The next version: a table with `rows` rows, and a column more."""
        step = (
            "CREATE TABLE planted (n INTEGER PRIMARY KEY, word TEXT NOT NULL)",
            f"WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {rows})"
            " INSERT INTO planted SELECT n, 'word ' || n FROM up",
            f"ALTER TABLE {self.table} ADD COLUMN planted TEXT",
        )
        version = self.schema.version
        return replace(self.schema, version=version + 1, steps={**self.schema.steps, version: step})


KEPT: Mapping[str, KeptFile] = {
    "record": KeptFile(
        "home/record.sqlite",
        KeptSchema("record", record_sqlite.SCHEMA_VERSION, record_sqlite.STEPS),
        "document",
    ),
    "ledger": KeptFile(
        "home/ledger.sqlite", KeptSchema("ledger", sqlite_schema.SCHEMA_VERSION, sqlite_schema.STEPS), "leaves"
    ),
    "witness": KeptFile(
        "witness/witness.sqlite", KeptSchema("witness", witness_sqlite.SCHEMA_VERSION, witness_sqlite.STEPS), "seen"
    ),
    "keys": KeptFile("home/api-keys.sqlite", keys.SCHEMA, "api_key"),
    "requests": KeptFile("home/requests.sqlite", request_records.SCHEMA, "repeat"),
}


if __name__ == "__main__":
    bring_up_to_date(Path(sys.argv[2]), KEPT[sys.argv[1]].planted(ROWS))
