"""Retrieval without an answer: the pipeline's own front half, ending at the admitted items, for requirements 000 and
002.

Same gate, scope, intent, channels, bundle and evidence point as a question; no model. The `retrieval` entry is durable
before anything leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ai.canonical import canonical
from ai.case.case import Case, RequestFault, Services
from ai.case.profiles import Profile
from ai.errors import AIError
from ai.focus_pipeline import check_gate, decide_scope, narrow, read_question, search
from ai.model import Ask
from ai.record.retrieval_record import record_retrieval, record_retrieval_fault, whole
from ai.search.passage_search import ShapedHit
from ai.search.reads import StoreReads
from ai.search.result import SearchResult
from ai.search.surface import MOST_NAMED, Surface, decide, show, surface_profile
from ledger.errors import LedgerError
from ledger.model import EntryRef
from ledger.proofs.promise import Promise
from policy.errors import PolicyError
from retrieval.bundle import GatheredRuns
from retrieval.errors import RetrievalError


@dataclass(frozen=True, slots=True)
class RetrievalOutcome:
    """The released outcome: the surface's body, the hits behind it (`passed` where the surface shapes hits), where it
    is recorded, and the log's promise of that."""

    body: Mapping[str, Any]
    found: SearchResult
    passed: tuple[ShapedHit, ...]
    entry: EntryRef
    promise: Promise

    @property
    def promised(self) -> dict[str, Any]:
        """The body with the promise beside it."""
        return {**self.body, "promise": self.promise.as_json()}


async def retrieve(ask: Ask, *, services: Services, profile: Profile, surface: Surface) -> RetrievalOutcome:
    """Search on the ground of `profile`, decide, record, and only then give back what the surface shows of it.

    Raises `LedgerUnavailable` when nothing could be recorded, and `RequestFault` (with the entry and the cause) when an
    engine or a store failed, or where requirement 002's surfaces have nothing to show for it; that is recorded too.
    """
    case = Case.of(ask, services=services, profile=surface_profile(surface, ask, profile))
    try:
        case = await check_gate(case, services)
        case = await decide_scope(case, services)
        case = await read_question(case, services)
        case = await narrow(case, services)
        gathered = await look(case, surface, services)
        reads = StoreReads(case, services)
        found = await decide(case, surface, gathered, reads, services)
        shown = await show(found, surface, reads, services)
        given = reads.given(named=tuple(gathered.records) if surface.ids and gathered is not None else ())
        entry = await record_retrieval(found, surface, shown.body, given, services)
        promise = await services.ledger.promise(entry, answer=canonical(whole(shown.body)))
        return RetrievalOutcome(shown.body, found, shown.passed, entry, promise)
    except LedgerError:
        raise
    except Exception as exc:
        entry = await record_retrieval_fault(case, exc, services)
        if isinstance(exc, PolicyError | AIError | RetrievalError):
            raise RequestFault(ask.request_id, entry.entry_id, exc) from exc
        raise


async def look(case: Case, surface: Surface, services: Services) -> GatheredRuns | None:
    """The records that the channels find, or that answer to the names; None where nothing is looked for."""
    if not case.decided.allowed:
        return None
    if surface.ids:
        return await _named(case, surface.ids, services)
    return await search(case, services) if surface.searches else None


async def _named(case: Case, ids: tuple[str, ...], services: Services) -> GatheredRuns:
    """Chunks, and all passages of documents, in the order of the names. What is not there and what is not admitted is
    left out alike."""
    wanted: list[str] = []
    for each in dict.fromkeys(ids):
        wanted += (await services.store.passages(each, scope=case.scope))[:MOST_NAMED] or (each,)
    records = await services.store.fetch(wanted, scope=case.scope)
    return GatheredRuns((), {each: records[each] for each in dict.fromkeys(wanted) if each in records})
