"""The log's promise in bodies that are views of what is recorded: made for the very body that leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ai.case.case import Services
from ledger.canonical import canonical_any
from ledger.model import EntryRef
from ledger.proofs.claim import PROMISE


async def promised(body: Mapping[str, Any], entry: EntryRef | str, services: Services) -> dict[str, Any]:
    """The body with the promise of the entry in which it is recorded, named by its id or by where it is. Raises
    LedgerUnavailable, KeyUnusable: then nothing may leave."""
    ledger = services.ledger
    ref = entry if isinstance(entry, EntryRef) else (await ledger.entry(entry)).ref
    promise = await ledger.promise(ref, answer=canonical_any(body))
    return {**body, PROMISE: promise.as_json()}
