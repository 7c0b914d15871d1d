"""From the ledger to the graph of answers.

The ledger is the outbox: an answer is recorded before it is released, and the graph keeps, in the transaction that
takes notes in, how far it has read. So a crash of either side loses no answer and doubles none; what a redaction took
out of the ledger leaves the graph the same way.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from ai.model import Outcome
from ledger.erasure.redaction import REDACTS
from ledger.errors import LedgerError, PartErased, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Entry, Kind
from retrieval.errors import ChannelError
from retrieval.graph.answers import AnswerGraph, AnswerNote, CitedSource

PAGE = 100
POLL_S = 1.0
REST_S = 30.0
FAREWELL_S = 1.0
_LOG = logging.getLogger("exhibit.answers")


def name_of(ledger: Ledger) -> str:
    """The name of this log in the graph: its origin, and a pseudonym that no other key ring gives."""
    return f"{ledger.origin}#{ledger.pseudonym('answers', ledger.origin)}"


async def publish(ledger: Ledger, graph: AnswerGraph) -> int:
    """Takes everything in that the graph does not have yet; returns how far it has read. Raises `ChannelError`,
    `LedgerError`; then what was taken in stays, and the next call goes on."""
    log = name_of(ledger)
    position = await graph.position(log)
    while entries := await ledger.entries(after=position, limit=PAGE):
        notes = [note for entry in entries if (note := await _note_of(entry, ledger)) is not None]
        position = entries[-1].index
        await graph.put(log, notes, erased=_erased(entries), position=position)
    return position


@asynccontextmanager
async def publishing(ledger: Ledger, graph: AnswerGraph) -> AsyncIterator[None]:
    """Publishes meanwhile, and once more at the end, for at most a second: what is left waits in the ledger. Closes the
    graph."""
    running = asyncio.create_task(_keep_publishing(ledger, graph))
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        with suppress(TimeoutError, ChannelError, LedgerError):  # the next process takes in what is left
            async with asyncio.timeout(FAREWELL_S):
                await publish(ledger, graph)
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                await graph.aclose()


async def _keep_publishing(ledger: Ledger, graph: AnswerGraph) -> None:
    position = -1
    while True:
        try:
            if await ledger.entries(after=position, limit=1):
                position = await publish(ledger, graph)
            rest_s = POLL_S
        except (ChannelError, LedgerError) as exc:
            _LOG.warning("answers wait in the ledger: %s", exc.code)
            rest_s = REST_S
        await asyncio.sleep(rest_s)


async def _note_of(entry: Entry, ledger: Ledger) -> AnswerNote | None:
    """The note of a released answer; None for any other entry, and for one whose answer was erased."""
    if entry.leaf.kind is not Kind.OUTCOME:
        return None
    try:
        body = json.loads(await ledger.part(entry.leaf.entry_id, "answer"))
    except PartErased:
        return None
    except VerificationFailed:  # one entry that was tampered with must not keep all later ones waiting
        _LOG.error("the answer of entry %s does not verify and is not noted", entry.leaf.entry_id)
        return None
    return _note(entry, body) if body.get("outcome") == Outcome.ANSWER else None


def _note(entry: Entry, body: dict[str, Any]) -> AnswerNote:
    made, decided = body["provenance"], body["policy"]
    return AnswerNote(
        entry_id=entry.leaf.entry_id,
        t_ms=entry.leaf.t_ms,
        tenant=entry.leaf.tenant,
        commitment=entry.leaf.parts["answer"],
        model=made["model"] or "",
        model_digest=made["model_digest"] or "",
        bundle_digest=decided["bundle_digest"],
        effect=decided["effect"],
        reasons=tuple(reason["code"] for reason in decided["reasons"]),
        sources=tuple(CitedSource(c["chunk_id"], c["document_id"], c["source_id"]) for c in body["citations"].values()),
    )


def _erased(entries: Sequence[Entry]) -> set[str]:
    """The entries of which something was redacted."""
    redactions = [entry.leaf for entry in entries if entry.leaf.kind is Kind.REDACTION]
    return {ref.id for leaf in redactions for ref in leaf.refs if ref.rel == REDACTS}
