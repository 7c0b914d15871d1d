"""Every table and column of every SQLite file that holds what is answered from is changed, one at a time: it is
reported, or what is released stays as it was; and no question ends in an error of ours.

The home holds prose, figures, shapes and relations, so that no table is empty.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from ai.focus_pipeline import answer
from api.cli.corpus.index import compared, damaged
from api.cli.main import run
from api.home.configuration import load
from api.home.identity.local_caller import local_subject
from api.problems import is_known
from api.schemas.ask import ask_of, parse_query
from api.wiring import new_id, open_system
from retrieval.errors import StoreDamaged

FILES = {
    "mill.md": "# The mill at Ashby\n\nThe mill at Ashby was built in 1832 by Thomas Reed. It has four stones.\n",
    "towns.csv": "town,year,population\nAshby,1900,1200\nAshby,1910,1500\nNorby,1900,800\nNorby,1910,950\n",
    "counties.csv": "town,county\nAshby,Ash\nNorby,Ash\n",
    "map.geojson": json.dumps(
        {
            "type": "FeatureCollection",
            "features": [
                {
                    "type": "Feature",
                    "properties": {"name": name, "kind": "town"},
                    "geometry": {
                        "type": "Polygon",
                        "coordinates": [[[x, 0], [x, 1], [x + 1, 1], [x + 1, 0], [x, 0]]],
                    },
                }
                for x, name in enumerate(("Ashby", "Norby"))
            ],
        }
    ),
}
MANIFEST = """
[[collection]]
name = "valley"
title = "The valley"

[[source]]
path = "mill.md"
source_id = "mill"
title = "The mill"
license = "CC0-1.0"
attribution = "The village"
uri = "https://example.org/mill"
collection = "valley"
label = "public"
metadata = { "shelf" = "A1" }

[[source]]
path = "towns.csv"
source_id = "towns"
title = "The towns"
license = "CC0-1.0"
collection = "valley"
label = "public"

[[source]]
path = "counties.csv"
source_id = "counties"
title = "The counties"
license = "CC0-1.0"
collection = "valley"
label = "public"

[[source.table.entity]]
role = "town"
type = "town"
id = "town:{town|slug}"
name = "{town}"

[[source.table.entity]]
role = "county"
type = "county"
id = "county:{county|slug}"
name = "{county} County"

[[source.table.relation]]
subject = "town"
predicate = "located_in"
object = "county"

[[source]]
path = "map.geojson"
source_id = "map"
title = "The map"
license = "CC0-1.0"
collection = "valley"
label = "public"
"""
QUESTIONS = (
    "Who built the mill at Ashby?",
    "What was the population of Norby in 1910?",
    "Which town had the largest population in 1910?",
    "By how much did the population of Norby change from 1900 to 1910?",
)
DATABASES = ("record.sqlite", "spatial.sqlite", "graph.sqlite")
OPERATIONAL = {"ingest_file", "ingest_job", "corpus"}
"""Tables of runs and of caches: nothing in them is of a source."""
ONLY_ASKED = {"posting", "record", "box", "class", "document"}
"""Tables of the graph and of the figures that say where to look, and state nothing."""


@dataclass(frozen=True)
class Home:
    """A home and the bytes of its databases as they were."""

    path: Path
    kept: Path

    def restore(self, name: str) -> None:
        for tail in ("-wal", "-shm", "-journal"):
            (self.path / f"{name}{tail}").unlink(missing_ok=True)
        shutil.copy2(self.kept / name, self.path / name)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("contents")
    (folder / "files").mkdir()
    for name, text in FILES.items():
        (folder / "files" / name).write_text(text, "utf-8")
    (folder / "files" / "manifest.toml").write_text(MANIFEST, "utf-8")
    path = folder / "home"
    assert run(["ingest", "--manifest", str(folder / "files" / "manifest.toml"), "--home", str(path)]) == 0
    (folder / "kept").mkdir()
    for name in DATABASES:
        with closing(apsw.Connection(str(path / name))) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy2(path / name, folder / "kept" / name)
    return Home(path, folder / "kept")


async def asked(home: Path) -> list[Any]:
    """What each question comes to: what is released, or the code of a fault that has one."""
    found: list[Any] = []
    async with open_system(load({}, home=home)) as system:
        for question in QUESTIONS:
            subject = local_subject(system.data, role="public", groups=None, tenant="default")
            request = ask_of(parse_query({"question": question}), subject=subject, request_id=new_id())
            try:
                body = (
                    await answer(request, services=system.services, profile=system.profile(request.options.profile))
                ).body
            except Exception as exc:
                cause = exc.__cause__ if exc.__cause__ is not None and not is_known(exc) else exc
                assert is_known(cause), repr(cause)
                found.append(getattr(cause, "code", "FAULT"))
            else:
                citations = body["citations"].items()
                cited = {n: {k: v for k, v in each.items() if k != "href"} for n, each in citations}
                found.append([body["outcome"], body["answer"], cited])
    return found


def columns(path: Path) -> Iterator[tuple[str, str, str]]:
    """(table, column, declared type) of a database; not of the tables behind a virtual one, nor the sums."""
    with closing(apsw.Connection(str(path))) as db:
        tables = [
            name
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            if not name.startswith(("sqlite_", "box_"))
        ]
        for table in tables:
            for _, column, kind, *_ in db.execute(f"PRAGMA table_info({table})"):
                yield table, column, kind


CHANGES: dict[str, Callable[[str, str], str]] = {
    "another text": lambda t, c: f"UPDATE {t} SET {c} = 'x' || {c} WHERE rowid IN (SELECT rowid FROM {t} LIMIT 1)",
    "another number": lambda t, c: f"UPDATE {t} SET {c} = 7000 + rowid",
    "another type": lambda t, c: f"UPDATE {t} SET {c} = CASE typeof({c}) WHEN 'blob' THEN 'x' ELSE x'ff00' END",
    "nothing": lambda t, c: f"UPDATE {t} SET {c} = NULL",
    "half of it": lambda t, c: f"UPDATE {t} SET {c} = substr({c}, 1, length({c}) / 2)",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", DATABASES)
async def test_a_changed_column_is_reported_or_changes_nothing_that_is_released(
    name: str, change: str, home: Home
) -> None:
    for each in DATABASES:
        home.restore(each)
    before = await asked(home.path)
    assert [each[0] for each in before] == ["ANSWER"] * len(QUESTIONS), before
    assert not await damaged(load({}, home=home.path))
    wrong, tried = [], 0
    for table, column, _ in list(columns(home.path / name)):
        home.restore(name)
        with closing(apsw.Connection(str(home.path / name))) as db:
            told = list(db.execute(f"SELECT CAST({column} AS BLOB), typeof({column}) FROM {table}"))
            try:
                db.execute(CHANGES[change](table, column))
            except apsw.Error:  # the file itself refuses it
                continue
            if list(db.execute(f"SELECT CAST({column} AS BLOB), typeof({column}) FROM {table}")) == told:
                continue
        tried += 1
        if not await is_right(home.path, name, table, before):
            wrong.append((table, column))
    home.restore(name)
    assert not wrong
    assert tried or change == "nothing"


ROWS = {
    "a row gone": "DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} LIMIT 1)",
    "all rows gone": "DELETE FROM {table}",
    "a row more": "INSERT INTO {table} SELECT {more} FROM {table} LIMIT 1",
}


@pytest.mark.parametrize("change", ROWS)
@pytest.mark.parametrize("name", DATABASES)
async def test_rows_that_are_gone_or_more_are_reported(name: str, change: str, home: Home) -> None:
    for each in DATABASES:
        home.restore(each)
    before = await asked(home.path)
    listed: dict[str, list[tuple[str, str]]] = {}
    for table, column, kind in columns(home.path / name):
        listed.setdefault(table, []).append((column, kind))
    wrong, tried = [], 0
    for table, held in listed.items():
        home.restore(name)
        with closing(apsw.Connection(str(home.path / name))) as db:
            [(made,)] = list(db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)))
            rowid = "WITHOUT ROWID" not in made
            key = "rowid" if rowid else held[0][0]
            more = ", ".join(f"'x' || {c}" if c in KEYS or not n else c for n, (c, _) in enumerate(held))
            if kind_of(held[0][1]) is int:
                more = ", ".join(
                    f"90 + {c}" if not n else f"'x' || {c}" if c in KEYS else c for n, (c, _) in enumerate(held)
                )
            had = list(db.execute(f"SELECT count(*) FROM {table}"))
            try:
                db.execute(ROWS[change].format(table=table, key=key, more=more))
            except apsw.Error:  # the file itself refuses it
                continue
            if list(db.execute(f"SELECT count(*) FROM {table}")) == had:
                continue
        tried += 1
        if not await is_right(home.path, name, table, before):
            wrong.append(table)
    home.restore(name)
    assert not wrong
    assert tried or change == "nothing"


KEYS = {"document_id", "record_id", "name"}


def kind_of(declared: str) -> type:
    return int if "INT" in declared else str


async def is_right(home: Path, name: str, table: str, before: list[Any]) -> bool:
    """True if the change is reported, or is of a table that states nothing and nothing else is said than before."""
    after = await asked(home)
    try:
        reported = bool(await damaged(load({}, home=home)))
    except StoreDamaged:
        reported = True
    reported = reported or not (await compared(load({}, home=home)))["consistent"]
    said = [each for each, was in zip(after, before, strict=True) if each != was and each[0] == "ANSWER"]
    # Whoever looks elsewhere may find less; nothing else may be said.
    if table == "visibility_class" and not said:  # one more class, of no document
        return True
    return reported or (table in (OPERATIONAL if name == "record.sqlite" else ONLY_ASKED) and not said)
