"""JSON and NDJSON: lists of objects as a table, features as GeoJSON, everything else as a line for each value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from retrieval.errors import LoadError
from retrieval.ingest.formats.load import decode_mostly
from retrieval.ingest.parsing.runs import Run, text_of
from retrieval.ingest.parsing.table_text import table_text
from retrieval.ingest.values import Extracted
from retrieval.media_types import CSV, GEOJSON

_MOST_COLUMNS = 4096
_MOST_CELLS = 4_000_000
_DEEPEST = 40
Objects = list[dict[str, Any]]


def read_json(name: str, data: bytes) -> Extracted:
    """One value. A list of objects, or an object with one such list, is a table whose columns are the names, those of
    objects inside joined by a point. Raises `LoadError`."""
    text, slips = decode_mostly(name, data)
    value = _value(name, text)
    if isinstance(value, dict) and value.get("type") == "FeatureCollection":
        return Extracted(text, slips=slips, form=GEOJSON)
    if isinstance(value, dict) and value.get("type") == "Feature":
        return Extracted(_collection([value]), slips=slips, form=GEOJSON)
    objects = _objects(value)
    if objects is None:
        found = text_of(_lines(name, value))
        return Extracted(found.text, blocks=found.blocks, slips=slips)
    return Extracted(_table(name, objects), slips=slips, form=CSV)


def read_json_lines(name: str, data: bytes) -> Extracted:
    """A value a line, all of them objects; a line that is none is left out and told. Raises `LoadError` where those
    are more than the others."""
    text, slips = decode_mostly(name, data)
    objects: Objects = []
    left_out: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip().lstrip("\x1e")
        if not stripped:
            continue
        try:
            value = _value(name, stripped)
        except LoadError as exc:
            left_out.append(f"line {number}: {str(exc).removeprefix(f'{name}: ')}")
            continue
        if isinstance(value, dict):
            objects.append(value)
        else:
            left_out.append(f"line {number}: no object")
    if len(left_out) > len(objects):
        raise LoadError(f"{name}: {left_out[0]}")
    if objects and all(each.get("type") == "Feature" for each in objects):
        return Extracted(_collection(objects), slips=(*slips, *left_out), form=GEOJSON)
    return Extracted(_table(name, objects), slips=(*slips, *left_out), form=CSV)


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError as exc:
        raise LoadError(f"{name}: it nests too deep to be read") from exc
    except ValueError as exc:
        reason = f"{exc.msg} at character {exc.pos}" if isinstance(exc, json.JSONDecodeError) else str(exc)[:80]
        raise LoadError(f"{name}: not valid JSON ({reason})") from exc


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _collection(features: Objects) -> str:
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in features)
    return f'{{"type": "FeatureCollection", "features": [\n{lines}\n]}}\n'


def _objects(value: object) -> Objects | None:
    """The rows of a value: the list that it is, or the only list of objects that it holds."""
    if isinstance(value, list):
        return value if value and all(isinstance(each, dict) for each in value) else None
    if not isinstance(value, dict):
        return None
    found = [each for inside in value.values() if isinstance(inside, list) and (each := _objects(inside))]
    return found[0] if len(found) == 1 else None


def _table(name: str, objects: Objects) -> str:
    rows = [dict(_cells(name, each)) for each in objects]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if len(columns) > _MOST_COLUMNS:
        raise LoadError(f"{name}: a table with more than {_MOST_COLUMNS} columns")
    if len(columns) * len(rows) > _MOST_CELLS:
        raise LoadError(f"{name}: a table of more than {_MOST_CELLS:,} cells")
    return table_text(columns, ([row.get(column) for column in columns] for row in rows))


def _cells(name: str, value: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    if depth > _DEEPEST:
        raise LoadError(f"{name}: it nests too deep to be read")
    for key, inside in value.items():
        column = f"{before}{key}"
        if isinstance(inside, dict) and inside:
            yield from _cells(name, inside, f"{column}.", depth + 1)
        else:
            yield column, inside


def _lines(name: str, value: object, before: str = "", depth: int = 0) -> Iterator[Run]:
    """A run for each value, named by the way to it."""
    if depth > _DEEPEST:
        raise LoadError(f"{name}: it nests too deep to be read")
    match value:
        case dict():
            for key, inside in value.items():
                yield from _lines(name, inside, f"{before}.{key}" if before else str(key), depth + 1)
        case list():
            if any(isinstance(each, dict | list) for each in value):
                for number, inside in enumerate(value, 1):
                    yield from _lines(name, inside, f"{before} {number}".strip(), depth + 1)
            elif value:
                yield Run(f"{before}: {'; '.join(map(_word, value))}" if before else "; ".join(map(_word, value)))
        case None:
            return
        case _:
            yield Run(f"{before}: {_word(value)}" if before else _word(value))


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
