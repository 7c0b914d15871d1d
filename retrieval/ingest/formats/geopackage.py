"""A feature table of a GeoPackage (OGC 12-128), as GeoJSON in WGS 84."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from retrieval.errors import LoadError
from retrieval.files.sqlite_file import quoted
from retrieval.ingest.formats.geojson_text import (
    GEOMETRY_FAULTS,
    Move,
    collection_text,
    feature_text,
    geometry_text,
    to_wgs84,
)
from retrieval.ingest.values import Extracted

_ENVELOPES = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}
"""Bytes of the envelope by its indicator (clause 2.1.3)."""
_HEAD = 8
_MOST_STEPS = 100
"""Millions of steps of SQLite's machine: a million features of ten columns take about fifteen. A view may never end."""
_FEATURES = """
SELECT c.table_name, g.column_name, upper(s.organization), s.organization_coordsys_id
FROM gpkg_contents c JOIN gpkg_geometry_columns g USING (table_name) JOIN gpkg_spatial_ref_sys s ON s.srs_id = g.srs_id
WHERE c.data_type = 'features'
  AND EXISTS (SELECT 1 FROM sqlite_master m WHERE m.type = 'table' AND m.name = c.table_name)
ORDER BY c.table_name
"""


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """One layer: its table, its column of geometries, and the authority's code of their coordinates."""

    name: str
    geometry: str
    organization: str
    code: int


def read_geopackage(name: str, data: bytes) -> Extracted:
    """The first layer by name as a FeatureCollection; features whose geometry cannot be read and further layers are
    left out. Columns of bytes are no properties. Raises `LoadError`."""
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(_without_wal(data))
            steps = iter(range(_MOST_STEPS))
            database.set_progress_handler(lambda: next(steps, None) is None, 1_000_000)
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA cell_size_check = ON")
            tables = [FeatureTable(*row) for row in database.execute(_FEATURES)]
            if not tables:
                raise LoadError(f"{name}: the GeoPackage holds no layer of features")
            left_out: list[str] = []
            features = list(_features(name, database, tables[0], left_out))
            others = [f"layer {table.name!r}; the first is read" for table in tables[1:]]
    except (sqlite3.Error, UnicodeDecodeError) as exc:
        raise LoadError(f"{name}: not a readable GeoPackage ({exc})") from exc
    return Extracted(collection_text(features), slips=(*left_out, *others))


def _without_wal(data: bytes) -> bytes:
    """The database as one without a write-ahead log, which a file in memory cannot have (format bytes 18 and 19)."""
    return data[:18] + b"\x01\x01" + data[20:] if data[18:20] == b"\x02\x02" else data


def _features(name: str, database: sqlite3.Connection, table: FeatureTable, left_out: list[str]) -> Iterator[str]:
    move = to_wgs84(name, f"{table.organization}:{table.code}")
    columns = [(row[1], row[5]) for row in database.execute(f"PRAGMA table_info({quoted(table.name)})")]
    keys = [column for column, place in columns if place]
    if table.geometry not in dict(columns) or len(keys) != 1:
        raise LoadError(f"{name}: the layer {table.name!r} has no geometry or no id")
    database.row_factory = sqlite3.Row
    for row in database.execute(f"SELECT * FROM {quoted(table.name)} ORDER BY {quoted(keys[0])}"):  # noqa: S608
        try:
            geometry = _geometry(row[table.geometry], move)
        except GEOMETRY_FAULTS as exc:
            left_out.append(f"feature {row[keys[0]]}: the geometry cannot be read ({exc})")
            continue
        properties = {name: value for name, value in dict(row).items() if name not in (keys[0], table.geometry)}
        yield feature_text(row[keys[0]], properties, geometry)


def _geometry(blob: object, move: Move) -> str:
    """GeoJSON of a geometry blob, in two dimensions; `null` where there is none. Raises ValueError or an error of
    shapely."""
    if blob is None:
        return "null"
    if not isinstance(blob, bytes) or blob[:2] != b"GP" or len(blob) < _HEAD:
        raise ValueError("no GeoPackage geometry")
    flags = blob[3]
    if flags & 0b10000:
        raise ValueError("it is empty")
    envelope = _ENVELOPES.get(flags >> 1 & 0b111)
    if envelope is None:
        raise ValueError("an unknown envelope")
    return geometry_text(blob[_HEAD + envelope :], move)
