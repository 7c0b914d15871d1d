"""The contents of entries for a list or a table: a summary in words, and parts as recorded.

What was erased is empty. Who reads it must hold `ledger.audit` in the tenant of the entry, which every request is
asked for (`api.audit.entries.records`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ledger.entry.parts import source_number
from ledger.errors import MalformedLeaf, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Entry

SUMMARY = ("question", "answer", "cited", "sources", "place")


async def with_contents(
    document: Mapping[str, Any], entry: Entry, ledger: Ledger, *, summary: bool, parts: Sequence[str]
) -> dict[str, Any]:
    """The document of an entry with what is asked for; where a part was changed, `damaged` says what is wrong in its
    place."""
    more: dict[str, Any] = {}
    try:
        if summary:
            more["summary"] = await summary_of(entry, ledger)
        if parts:
            found = await ledger.contents(entry, parts)
            more["contents"] = {name: found[name].decode("utf-8", "replace") for name in sorted(found)}
    except (VerificationFailed, MalformedLeaf) as exc:
        more = {"damaged": str(exc)}
    return {**document, **more}


async def summary_of(entry: Entry, ledger: Ledger) -> dict[str, Any]:
    """Question, answer and place as text, and the ids of the cited and of the admitted sources. The question and the
    place of an outcome stand in its intent."""
    found = await ledger.contents(entry)
    asked = dict(found)
    for ref in entry.leaf.refs:
        if ref.rel == "intent":
            asked |= await ledger.contents(await ledger.entry(ref.id), ("question", "context"))
    body, context = _mapping(found.get("answer")), _mapping(_mapping(asked.get("context")).get("context"))
    admitted = [_mapping(data).get("document_id") for name, data in found.items() if source_number(name) is not None]
    cited = [_mapping(each).get("document_id") for each in _mapping(body.get("citations")).values()]
    return {
        "question": asked.get("question", b"").decode("utf-8", "replace"),
        "answer": str(body.get("answer") or ""),
        "cited": _sources(cited),
        "sources": _sources(admitted),
        "place": str(context.get("place") or context.get("place_id") or ""),
    }


def _sources(documents: Sequence[Any]) -> list[str]:
    """The ids of the sources of these documents, each once."""
    return sorted({str(each).rpartition("@")[0] or str(each) for each in documents if each})


def _mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object, from its bytes or as it is; empty for anything else."""
    if isinstance(value, bytes):
        value = json.loads(value) if value else None
    return value if isinstance(value, Mapping) else {}
