"""The golden vectors: every byte string that a fixed run of the ledger produces."""

from __future__ import annotations

from typing import Any

from ledger.ledger import Ledger
from ledger.model import PART_NAMES, Kind
from ledger.provenance.document import ProvActivity, ProvAgent, ProvEntity, ProvFacts, prov_document
from tests.ledger_doubles import MemoryLedgerStore, open_ledger

QUESTION = b"What was the population of Shawnee County in 1930?"
SOURCES = (b'{"row":89,"text":"Shawnee County,85200"}', b'{"text":"Topeka is the seat."}', b"\x00\xff not text")


def prov_facts() -> ProvFacts:
    """A small run: a gate, a channel, a generation."""
    digest = "ab" * 32
    return ProvFacts(
        run_id="req-1",
        answer=ProvEntity("answer", "Answer", {"commitment": digest}),
        entities=(
            ProvEntity("question", "Question", {"commitment": digest}),
            ProvEntity("source/1", "Source", {"commitment": digest}),
            ProvEntity("source/2", "Source", {"commitment": digest}),
        ),
        activities=(
            ProvActivity("activity/gate", "Gate", 1_000, 1_001, used=("question",), agents=("agent/software",)),
            ProvActivity(
                "activity/channel-graph",
                "Channel",
                1_001,
                1_005,
                used=("question",),
                agents=("agent/software",),
                informed_by=("activity/gate",),
            ),
            ProvActivity(
                "activity/generation",
                "Generation",
                1_005,
                1_009,
                used=("source/1", "source/2"),
                agents=("agent/model", "agent/software"),
                informed_by=("activity/channel-graph",),
                attributes={"template": "sha256:" + digest},
            ),
        ),
        agents=(
            ProvAgent("agent/principal", "Principal", is_person=True, attributes={"pseudonym": "0f" * 16}),
            ProvAgent("agent/model", "Model"),
            ProvAgent("agent/software", "Software", attributes={"version": "0.1.0"}),
        ),
        generated_by="activity/generation",
        derived_from=("source/1",),
        attributed_to=("agent/model",),
    )


async def record_golden(ledger: Ledger) -> list[str]:
    """One entry of every kind, the later ones referring to the first; the ids of the entries."""
    intent = await ledger.record(
        Kind.INTENT, tenant="default", request_id="req-1", parts={"question": QUESTION, "scope": b"[]"}
    )
    await ledger.checkpoint()
    outcome = await ledger.record(
        Kind.OUTCOME,
        tenant="default",
        request_id="req-1",
        parts={"answer": b'{"outcome":"ANSWER"}', "prov": prov_document(prov_facts())},
        sources=SOURCES,
        refs=[intent.as_ref("intent")],
    )
    ids = [intent.entry_id, outcome.entry_id]
    for kind in Kind:
        if kind not in (Kind.INTENT, Kind.OUTCOME):
            name = PART_NAMES[kind][0]
            refs = [outcome.as_ref("redacts")] if kind is Kind.REDACTION else []
            ref = await ledger.record(
                kind, tenant="other", request_id=f"req-{kind}", parts={name: b'{"x":1}'}, refs=refs
            )
            ids.append(ref.entry_id)
    return ids


async def golden() -> dict[str, Any]:
    """Every byte string that a fixed run of the ledger produces."""
    ledger = await open_ledger(MemoryLedgerStore())
    first = await ledger.checkpoint()
    ids = await record_golden(ledger)
    entries = await ledger.entries()
    checkpoint = await ledger.checkpoint()
    size = len(entries)
    return {
        "vkey": ledger.vkey,
        "leaves": [entry.leaf_bytes.decode() for entry in entries],
        "leaf_hashes": [entry.leaf_hash for entry in entries],
        "empty_checkpoint": first,
        "checkpoint": checkpoint,
        "receipts": {
            "intent, nothing disclosed": await ledger.receipt(ids[0], disclose=(), size=size),
            "intent, question": await ledger.receipt(ids[0], disclose=("question",), size=size),
            "outcome, answer and source 2": await ledger.receipt(ids[1], disclose=("answer", "sources/2"), size=size),
        },
        "prov": prov_document(prov_facts()).decode(),
    }
