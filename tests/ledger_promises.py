"""Answers with their promises from logs in memory, and logs that do not keep them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ledger.entry.leaf import encode_leaf
from ledger.ledger import Ledger
from ledger.merkle.tree import hash_leaf
from ledger.model import Checkpoint, Kind, Leaf
from ledger.stores.store import NewEntry
from tests.ledger_doubles import MemoryLedgerStore, open_ledger

ANSWER = {"outcome": "ANSWER", "answer": "85 200 — Shawnee", "bbox": [-96.0, 38.5, 1e-7, 39.25], "request_id": "r"}


def recorded(body: Mapping[str, Any]) -> bytes:
    """The part `answer`, as RFC 8785 writes these very values."""
    said = json.dumps(
        {**body, "bbox": [-96, 38.5, 0, 39.25]}, sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    return said.replace("[-96,38.5,0,39.25]", "[-96,38.5,1e-7,39.25]").encode()


async def answered(ledger: Ledger, number: int = 0) -> dict[str, Any]:
    """A released body: recorded, then promised."""
    request = f"r{number}"
    body = {**ANSWER, "request_id": request}
    entry = await ledger.record(
        Kind.OUTCOME, tenant="default", request_id=request, parts={"answer": recorded(body)}, sources=[b"one"]
    )
    promise = await ledger.promise(entry, answer=recorded(body))
    return json.loads(json.dumps({**body, "timings_ms": {"gate": 0.1}, "promise": promise.as_json()}))


async def exported(ledger: Ledger) -> dict[str, bytes]:
    """The files of the log as it is now."""
    return {path: data async for path, data in ledger.export(await latest(ledger))}


async def latest(ledger: Ledger) -> Checkpoint:
    await ledger.checkpoint()
    return await ledger.latest_checkpoint()


async def a_twin() -> Ledger:
    """A log with the same keys in another store: what the signer of a dropped entry shows to the world."""
    return await open_ledger(MemoryLedgerStore(), first_id=500)


async def a_log_of_one(change: Callable[[Leaf], Leaf]) -> Ledger:
    """A log with the same keys whose only entry is that of a twin, changed before anything was signed."""
    twin, store = MemoryLedgerStore(), MemoryLedgerStore()
    await answered(await open_ledger(twin, first_id=500), 100)
    leaf = change(twin.entries[0].leaf)
    entry = NewEntry(leaf, encode_leaf(leaf), twin.entries[0].parts)
    store.frontier, made = store.frontier.append(hash_leaf(entry.leaf_bytes))
    store.tree.update(made)
    store.entries.append(entry)
    return await open_ledger(store)
