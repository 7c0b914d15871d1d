"""Hits as one text under a token budget (requirement 002)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ai.passage_search import Passed
from retrieval.bundle import count_tokens


def packed(hits: Sequence[Passed], token_budget: int) -> dict[str, Any]:
    """The context, its tokens and its sources: hits in their order, each whole; one that does not fit is left out, and
    a later and smaller one may still fit."""
    blocks: list[str] = []
    sources: list[dict[str, Any]] = []
    left_out: list[str] = []
    for hit in hits:
        item = hit.result.item
        source, chunk_id = item.evidence.first.source, item.evidence.record_id
        block = f"[{len(sources) + 1}] {source.title}\n{hit.text}"
        if count_tokens("\n\n".join([*blocks, block])) > token_budget:
            left_out.append(chunk_id)
            continue
        blocks.append(block)
        sources.append(
            {
                "n": len(sources) + 1,
                "doc_id": source.document_id,
                "chunk_id": chunk_id,
                "offset": {"start": hit.start_char, "end": hit.end_char},
                "tokens": count_tokens(block),
            }
        )
    context = "\n\n".join(blocks)
    return {"context": context, "tokens": count_tokens(context), "sources": sources, "left_out": left_out}
