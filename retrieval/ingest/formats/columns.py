"""Parquet: a table as CSV, and with geometries (GeoParquet 1.0) a layer as GeoJSON in WGS 84."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from retrieval.errors import LoadError
from retrieval.ingest.formats.geojson_text import layer_text, to_wgs84
from retrieval.ingest.parsing.extras import extra
from retrieval.ingest.parsing.table_text import table_text
from retrieval.ingest.values import Extracted
from retrieval.media_types import CSV

_MOST_CELLS = 10_000_000
_LARGEST = 256 * 2**20


def read_parquet(name: str, data: bytes) -> Extracted:
    """The columns as CSV, lists and groups as JSON, without columns of bytes; with geometries, a feature a row. Raises
    `LoadError`, `ReaderMissing`."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the others reserve more than a file in quarantine may have
    parquet = extra(name, "pyarrow.parquet", "parquet")
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        _require_size(name, file.metadata)
        columns = {each.name: each for each in file.schema_arrow if not str(each.type).endswith("binary") and each.name}
        stated = (file.schema_arrow.metadata or {}).get(b"geo")
        geo = _geometries(name, json.loads(stated)) if stated else None
        wanted = [*columns, *([geo[0]] if geo else ())]
        table = file.read(columns=wanted, use_threads=False)
        if missing := {*wanted}.difference(table.column_names):
            raise LoadError(f"{name}: the Parquet file states columns that it does not hold: {min(missing)[:80]!r}")
        rows = table.to_pylist()
    except (LoadError, MemoryError):
        raise
    except Exception as exc:  # the parser raises whatever it meets in a file that is not what it says
        raise LoadError(f"{name}: not a readable Parquet file ({type(exc).__name__})") from exc
    if geo is None:
        return Extracted(table_text(list(columns), ([row[each] for each in columns] for row in rows)), form=CSV)
    place, system = geo
    features = (
        (number, {each: _plain(row[each]) for each in columns if each != place}, row[place])
        for number, row in enumerate(rows)
    )
    return layer_text(features, to_wgs84(name, json.dumps(system) if isinstance(system, dict) else system))


def _require_size(name: str, metadata: Any) -> None:
    """Raises `LoadError` for a file that says itself that it is too large to be read."""
    size = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    if metadata.num_rows * max(metadata.num_columns, 1) > _MOST_CELLS or size > _LARGEST:
        raise LoadError(f"{name}: it holds more than {_MOST_CELLS:,} cells or {_LARGEST // 2**20} MiB")


def _geometries(name: str, geo: Mapping[str, Any]) -> tuple[str, object]:
    """The column of geometries and the system of their coordinates."""
    column = geo["primary_column"]
    told = geo["columns"][column]
    if told.get("encoding") != "WKB":
        raise LoadError(f"{name}: geometries are read as WKB, not as {str(told.get('encoding'))[:40]}")
    return column, told.get("crs", "OGC:CRS84") or "OGC:CRS84"


def _plain(value: object) -> object:
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return float(value)
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case _:
            return value if value is None or isinstance(value, int | float | str | bytes) else str(value)
