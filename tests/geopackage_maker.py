"""GeoPackages for tests, as small as they can be."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing

import shapely
from shapely.geometry.base import BaseGeometry

_TABLES = """
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT,
  organization_coordsys_id INTEGER, definition TEXT, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, srs_id INTEGER);
CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER,
  z TINYINT, m TINYINT);
"""
Row = tuple[Mapping[str, object], BaseGeometry | bytes | None]


def blob_of(shape: BaseGeometry, srs: int = 4326, envelope: int = 0) -> bytes:
    """A geometry blob, with no envelope or one of x and y."""
    bounds = struct.pack("<4d", *(shape.bounds[n] for n in (0, 2, 1, 3))) if envelope else b""
    return b"GP\x00" + bytes([envelope << 1 | 1]) + struct.pack("<i", srs) + bounds + bytes(shapely.to_wkb(shape))


def geopackage_of(layers: Mapping[str, Sequence[Row]], *, epsg: int = 4326, more: str = "") -> bytes:
    """A file of these layers, each feature with its properties and its geometry; `more` is SQL to run at the end."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(_TABLES)
        made.execute("INSERT INTO gpkg_spatial_ref_sys VALUES ('s', ?, 'EPSG', ?, 'd', '')", (epsg, epsg))
        for layer, rows in layers.items():
            names = list(dict.fromkeys(name for properties, _ in rows for name in properties))
            columns = "".join(f', "{name}"' for name in names)
            made.execute(f'CREATE TABLE "{layer}" (fid INTEGER PRIMARY KEY, geom BLOB{columns})')
            made.execute("INSERT INTO gpkg_contents VALUES (?, 'features', ?)", (layer, epsg))
            made.execute("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', 'GEOMETRY', ?, 0, 0)", (layer, epsg))
            for number, (properties, shape) in enumerate(rows, 1):
                blob = blob_of(shape, epsg) if isinstance(shape, BaseGeometry) else shape
                values = [number, blob, *(properties.get(name) for name in names)]
                made.execute(f'INSERT INTO "{layer}" VALUES ({", ".join("?" * len(values))})', values)
        made.executescript(more)
        made.commit()
        return bytes(made.serialize())
