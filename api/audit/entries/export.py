"""Entries as documents, lines and tables: the same columns over HTTP and on the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from api.audit.entries.contents import SUMMARY
from api.audit.entries.records import entry_json
from ledger.model import DamagedEntry, Entry
from ledger.search.entry_index import EntryFacts

COLUMNS = (
    *("index", "kind", "time", "entry_id", "request_id", "outcome", "model", "actor", "rules", "leaf_hash", "replica"),
    *("rseq", "refs"),
)
CSV = "text/csv; charset=utf-8; header=present"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def found_json(entry: Entry, facts: EntryFacts | None) -> dict[str, Any]:
    """An entry with what the index knows of it."""
    known: dict[str, Any] = {"outcome": None, "model": None, "actor": None, "rules": None}
    if facts is not None:
        known = {"outcome": facts.outcome, "model": facts.model, "actor": facts.actor, "rules": list(facts.rules)}
    return entry_json(entry) | known | {"summary": None, "contents": None, "damaged": None}


def damaged_json(entry: DamagedEntry) -> dict[str, Any]:
    """All that is known of an entry whose leaf was changed."""
    return {"index": entry.index, "entry_id": entry.entry_id, "damaged": entry.detail}


def ndjson(documents: Iterable[Mapping[str, Any]]) -> str:
    """One JSON document a line."""
    return "".join(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n" for document in documents)


def csv_text(documents: Iterable[Mapping[str, Any]], *, summary: bool = False, parts: Sequence[str] = ()) -> str:
    """A table (RFC 4180), times in ISO 8601, with the columns of the summary and one for each part, if asked for; a
    cell that a spreadsheet would take for a formula begins with an apostrophe. What is not known of an entry, because
    it was changed, is empty, and the last column says so."""
    told = SUMMARY if summary else ()
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*COLUMNS, *told, *(f"part {name}" for name in parts), "damaged"])
    for document in documents:
        row = [_cell(name, document) for name in COLUMNS]
        row += [_told((document.get("summary") or {}).get(name, "")) for name in told]
        row += [plain_cell((document.get("contents") or {}).get(name)) for name in parts]
        writer.writerow([*row, plain_cell(document.get("damaged"))])
    return text.getvalue()


def _told(value: str | Sequence[str]) -> str:
    return _safe(value if isinstance(value, str) else " ".join(value))


def time_text(t_ms: int) -> str:
    """UTC milliseconds in ISO 8601."""
    return datetime.fromtimestamp(t_ms / 1000, UTC).isoformat(timespec="milliseconds")


def _cell(name: str, document: Mapping[str, Any]) -> str | int:
    match name:
        case "time":
            return time_text(document["t_ms"]) if "t_ms" in document else ""
        case "rules":
            return _safe(" ".join(document.get("rules") or ()))
        case "refs":
            return _safe(" ".join(f"{ref['rel']}:{ref['entry_id']}" for ref in document.get("refs", ())))
        case _:
            return plain_cell(document.get(name))


def documents_csv(columns: Sequence[str], documents: Iterable[Mapping[str, Any]]) -> str:
    """A table (RFC 4180) with a row for each document: lists by their words, objects as `name:value`, times in
    milliseconds as they are."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([plain_cell(name) for name in columns])
    writer.writerows([plain_cell(_words(each.get(name))) for name in columns] for each in documents)
    return text.getvalue()


def _words(value: object) -> object:
    if isinstance(value, Mapping):
        return " ".join(f"{name}:{each}" for name, each in value.items())
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def plain_cell(value: object) -> str | int:
    """A cell that no spreadsheet takes for a formula; empty for None."""
    return value if isinstance(value, int) else _safe("" if value is None else str(value))


def _safe(text: str) -> str:
    return "'" + text if text.startswith(_FORMULA) else text
