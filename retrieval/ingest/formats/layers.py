"""Layers of Shapefiles and FlatGeobuf, as GeoJSON in WGS 84."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from retrieval.errors import LoadError
from retrieval.ingest.formats.geojson_text import layer_text, to_wgs84
from retrieval.ingest.parsing.extras import extra
from retrieval.ingest.parsing.packed import stored_zip, unpacked
from retrieval.ingest.values import Extracted
from retrieval.media_types import SHAPEFILE_PARTS

_LARGEST_TEXT = 64 * 2**20
_LARGEST = 256 * 2**20
_SHAPES = b"\x00\x00\x27\x0a"
_FLATGEOBUF = b"fgb\x03fgb"
_NO_SYSTEM = "it names no system of coordinates; they were taken as longitude and latitude"
_WHOLE = ("OFTInteger", "OFTInteger64")


def read_shapefile(name: str, data: bytes) -> Extracted:
    """The first layer by name of a zip file that holds Shapefiles: moved by its `.prj` (without one its coordinates
    must be degrees), its words by its `.cpg`. Further layers, heights, and features whose geometry cannot be read are
    left out. Raises `LoadError`, `ReaderMissing`."""
    packed = unpacked(name, data, "Shapefile", largest=_LARGEST_TEXT)
    layers = sorted(each for each in packed.names if each.lower().endswith(".shp"))
    if not layers:
        raise LoadError(f"{name}: a zip file without a Shapefile; unpack it")
    stem = PurePosixPath(layers[0]).with_suffix("")
    parts = {
        path.suffix.lower(): each
        for each in packed.names
        if (path := PurePosixPath(each)).with_suffix("") == stem and path.suffix.lower() in SHAPEFILE_PARTS
    }
    for suffix in (".shx", ".dbf"):
        if suffix not in parts:
            raise LoadError(f"{name}: the Shapefile {stem.name[:80]!r} lacks its {suffix}")
    if packed.size(parts.values()) > _LARGEST:
        raise LoadError(f"{name}: it unpacks to more than {_LARGEST // 2**20} MiB")
    content = {suffix: packed.read(each) for suffix, each in parts.items()}
    if not content[".shp"].startswith(_SHAPES):
        raise LoadError(f"{name}: not a readable Shapefile ({stem.name[:80]!r} is not one)")
    others = tuple(f"layer {PurePosixPath(each).stem[:80]!r}; the first is read" for each in layers[1:])
    # One layer and nothing else, so that no other reader than that of Shapefiles finds something.
    layer = stored_zip({f"layer{suffix}": part for suffix, part in content.items()})
    return _read(name, "Shapefile", layer, others)


def read_flatgeobuf(name: str, data: bytes) -> Extracted:
    """The layer of a FlatGeobuf, as that of a Shapefile. Raises `LoadError`, `ReaderMissing`."""
    if not data.startswith(_FLATGEOBUF):
        raise LoadError(f"{name}: not a readable FlatGeobuf")
    return _read(name, "FlatGeobuf", data, ())


def _read(name: str, kind: str, data: bytes, others: tuple[str, ...]) -> Extracted:
    raw = extra(name, "pyogrio.raw", "maps")
    try:
        meta, numbers, geometries, columns = raw.read(data, return_fids=True, force_2d=True, datetime_as_string=True)
    except MemoryError:
        raise
    except Exception as exc:  # the parser raises whatever it meets in a file that is not what it says
        raise LoadError(f"{name}: not a readable {kind} ({type(exc).__name__})") from exc
    if geometries is None:
        raise LoadError(f"{name}: the {kind} holds no geometries")
    fields = [str(field) for field in meta["fields"]]
    values = [_values(*each) for each in zip(columns, meta["ogr_types"], strict=True)]
    rows = (
        (int(number), dict(zip(fields, (column[place] for column in values), strict=True)), geometries[place])
        for place, number in enumerate(numbers)
    )
    made = layer_text(rows, to_wgs84(name, meta["crs"] or "OGC:CRS84"))
    return replace(made, slips=(*made.slips, *others), notes=() if meta["crs"] else (_NO_SYSTEM,))


def _values(column: Any, ogr_type: str) -> list[object]:
    """A column as plain values; whole numbers among which some are missing come as floats."""
    found = column.tolist()
    if ogr_type in _WHOLE:
        return [int(each) if isinstance(each, float) and each.is_integer() else each for each in found]
    return [each if isinstance(each, str | int | float | bytes) or each is None else str(each) for each in found]
